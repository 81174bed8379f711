/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/claim.h"

#include "base/siphash.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** The driver's default of a memif's socket. */
#define MEMIF_SOCKET "/run/memif.sock"

/** The value of "key=" in a device's arguments, up to @p len - 1 bytes. @return false: none. */
static bool claim_argument(const char *device, const char *key, char *value, size_t len)
{
	char pattern[32];
	const char *at;

	snprintf(pattern, sizeof pattern, ",%s=", key);
	at = strstr(device, pattern);
	if (!at)
		return false;
	at += strlen(pattern);
	snprintf(value, len, "%.*s", (int)strcspn(at, ","), at);
	return true;
}

/** What the port stands on, as other processes may name it too. @return false: nothing shared. */
static bool claim_interface(const char *port, char *name, size_t len)
{
	char value[CONFIG_MAX_PORT], id[16] = "0";

	if (strncmp(port, "net_memif", 9) == 0) {
		if (!claim_argument(port, "socket", value, sizeof value))
			snprintf(value, sizeof value, "%s", MEMIF_SOCKET);
		claim_argument(port, "id", id, sizeof id);
		snprintf(name, len, "memif %s %s", value, id);
		return true;
	}
	if ((strncmp(port, "net_af_", 7) != 0 && strncmp(port, "net_tap", 7) != 0) ||
		!claim_argument(port, "iface", value, sizeof value))
		return false;
	snprintf(name, len, "interface %s", value);
	return true;
}

/** Interfaces of one name in two network namespaces are two. */
static unsigned long claim_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/net", &st) == 0 ? (unsigned long)st.st_ino : 0;
}

static int claim_open(const char *directory, const char *interface, const struct ip_addr *a)
{
	static const struct siphash_key key = {0};
	char what[CONFIG_MAX_PORT + 128], path[CONFIG_MAX_PATH + 64], text[IP_ADDR_STRLEN];

	snprintf(what, sizeof what, "%lu %s %s", claim_namespace(), interface,
		ip_addr_format(a, text));
	snprintf(path, sizeof path, "%s/address.%016" PRIx64, directory,
		siphash(&key, what, strlen(what)));
	/* The files stay: one that was deleted could be locked by its old name and its new one. */
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/** Whose the lock is: it belongs to an open file, and cannot tell itself. "PID NAME\n". */
static void claim_sign(int fd)
{
	char text[64];
	int n = snprintf(
		text, sizeof text, "%d %.40s\n", (int)getpid(), program_invocation_short_name);

	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
		return;
}

/** What claim_sign() wrote, or nothing of it yet: " N (NAME)". */
static void claim_owner(int fd, char *text, size_t len)
{
	char line[64], *name;
	ssize_t n = pread(fd, line, sizeof line - 1, 0);
	long pid;

	*text = '\0';
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	pid = strtol(line, &name, 10);
	if (pid <= 0 || pid > INT_MAX)
		return;
	name += *name == ' ';
	for (char *c = name; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	snprintf(text, len, " %ld%s%s%s", pid, *name ? " (" : "", name, *name ? ")" : "");
}

static void claim_refuse(
	const struct config *cfg, const struct ip_addr *a, int fd, struct config_error *e)
{
	char owner[96], text[IP_ADDR_STRLEN];

	claim_owner(fd, owner, sizeof owner);
	snprintf(e->text, sizeof e->text,
		"address %s on port %.160s is in use by %sprocess%s: each process, and each end of "
		"a memif, needs one of its own (\"%%{slot}\" in uiwarp.conf(5) gives it)",
		ip_addr_format(a, text), cfg->port, *owner ? "" : "another ", owner);
}

/** @return 0, or -EADDRINUSE with a sentence in @p e. */
static int claim_address(struct claim *c, const char *directory, const char *interface,
	const struct config *cfg, const struct ip_addr *a, struct config_error *e)
{
	/* Of the open file, not of the process: a second one in this process is refused too, and
	 * whoever else opens and closes the file takes nothing away. */
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = claim_open(directory, interface, a);

	if (fd < 0)
		return 0;
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
		claim_sign(fd);
		c->fd[c->n++] = fd;
		return 0;
	}
	if (errno != EAGAIN && errno != EACCES) {
		close(fd);
		return 0;
	}
	claim_refuse(cfg, a, fd, e);
	close(fd);
	return -EADDRINUSE;
}

int claim_take(
	struct claim *c, const char *directory, const struct config *cfg, struct config_error *e)
{
	char interface[CONFIG_MAX_PORT + 64];

	*c = (struct claim){.n = 0};
	if (!claim_interface(cfg->port, interface, sizeof interface))
		return 0;
	for (unsigned i = 0; i < cfg->num_addresses; i++) {
		int r = claim_address(c, directory, interface, cfg, &cfg->address[i].addr, e);

		if (r) {
			claim_release(c);
			return r;
		}
	}
	return 0;
}

void claim_release(struct claim *c)
{
	struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	while (c->n) {
		int fd = c->fd[--c->n];

		/* Expressly: a child that is yet to forget its copy would keep it. */
		fcntl(fd, F_OFD_SETLK, &lock);
		close(fd);
	}
}

void claim_forget(struct claim *c)
{
	while (c->n)
		close(c->fd[--c->n]);
}
