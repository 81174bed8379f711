/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/claim.h"

#include "base/siphash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
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

static void claim_refuse(const struct config *cfg, const struct ip_addr *a,
	const struct flock *lock, struct config_error *e)
{
	char comm[64] = "", path[64], text[IP_ADDR_STRLEN];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)lock->l_pid);
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof comm, f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(e->text, sizeof e->text,
		"address %s on port %.160s is in use by process %d%s%s%s: each process, and each "
		"end "
		"of a memif, needs one of its own (\"%%{slot}\" in uiwarp.conf(5) gives it)",
		ip_addr_format(a, text), cfg->port, (int)lock->l_pid, *comm ? " (" : "", comm,
		*comm ? ")" : "");
}

int claim_take(
	struct claim *c, const char *directory, const struct config *cfg, struct config_error *e)
{
	char interface[CONFIG_MAX_PORT + 64];

	*c = (struct claim){.n = 0};
	if (!claim_interface(cfg->port, interface, sizeof interface))
		return 0;
	for (unsigned i = 0; i < cfg->num_addresses; i++) {
		const struct ip_addr *a = &cfg->address[i].addr;
		/* Of the process: flock() would have a child after fork() keep it as well. */
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		int fd = claim_open(directory, interface, a);

		if (fd < 0)
			continue;
		if (fcntl(fd, F_SETLK, &lock) == 0) {
			c->fd[c->n++] = fd;
			continue;
		}
		if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) {
			claim_refuse(cfg, a, &lock, e);
			close(fd);
			claim_release(c);
			return -EADDRINUSE;
		}
		close(fd);
	}
	return 0;
}

void claim_release(struct claim *c)
{
	while (c->n)
		close(c->fd[--c->n]);
}
