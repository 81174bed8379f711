/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/claim.h"

#include "base/siphash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** The driver's default of a memif's socket. */
#define MEMIF_SOCKET "/run/memif.sock"

#define CLAIM_PREFIX "address."

/** An owner locks all; a sweep the second byte, so that it is not taken for an owner. */
static const struct flock claim_own = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
static const struct flock claim_sweeping = {
	.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1};

/** Of 0.1 ms each, for others to remove a file, and a sweep to be done with one. */
#define CLAIM_TRIES 20000

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
	/* net_af_packet's, net_af_xdp's, net_tap's, net_pcap's: whichever stands on one.
	 * net_vhost's is the path of a socket. */
	if (!claim_argument(port, "iface", value, sizeof value) || strchr(value, '/'))
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

/** What stands for an address of an interface, in a VLAN of it. */
static void claim_name(
	char name[CLAIM_NAME], const char *interface, uint16_t vlan, const struct ip_addr *a)
{
	static const struct siphash_key key = {0};
	char what[CONFIG_MAX_PORT + 128], text[IP_ADDR_STRLEN];

	snprintf(what, sizeof what, "%lu %s %u %s", claim_namespace(), interface, vlan,
		ip_addr_format(a, text));
	snprintf(name, CLAIM_NAME, CLAIM_PREFIX "%016" PRIx64, siphash(&key, what, strlen(what)));
}

/* ---- one file -------------------------------------------------------------------------------- */

/** Locks of the process: with flock() a child after fork() would have them as well. */
static bool claim_lock(int fd, const struct flock *range)
{
	struct flock lock = *range;

	return fcntl(fd, F_SETLK, &lock) == 0;
}

/** @return whether somebody has it for good, and not for sweeping; @p owner gets the process. */
static bool claim_has_owner(int fd, pid_t *owner)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	bool has = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

	*owner = lock.l_pid;
	return has;
}

/**
 * Lock the file @p name.
 * @return a descriptor; -EADDRINUSE, with its owner; -EAGAIN: it is being removed; or another
 * errno.
 */
static int claim_try(int directory, const char *name, pid_t *owner)
{
	int fd = openat(directory, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc = -EAGAIN;

	if (fd < 0)
		return -errno;
	if (claim_lock(fd, &claim_own)) {
		if (slot_file_is_there(fd, directory, name))
			return fd;
	} else if (errno != EAGAIN && errno != EACCES) {
		rc = -errno;
	} else if (claim_has_owner(fd, owner) && slot_file_is_there(fd, directory, name)) {
		rc = -EADDRINUSE;
	}
	close(fd);
	return rc;
}

/** As claim_try(), until what others remove is gone, or it is seen that somebody has it. */
static int claim_lock_file(int directory, const char *name, pid_t *owner)
{
	static const struct timespec pause = {.tv_nsec = 100000};
	int fd = claim_try(directory, name, owner);

	for (unsigned i = 0; fd == -EAGAIN && i < CLAIM_TRIES; i++) {
		nanosleep(&pause, NULL);
		fd = claim_try(directory, name, owner);
	}
	return fd;
}

/** Remove the file @p name if that lock of it is ours, or can be; and close it. */
static void claim_remove(int fd, int directory, const char *name, const struct flock *range)
{
	if (claim_lock(fd, range) && slot_file_is_there(fd, directory, name))
		unlinkat(directory, name, 0);
	close(fd);
}

/* ---- those of a process ---------------------------------------------------------------------- */

static void claim_refuse(
	const struct config *cfg, const struct ip_addr *a, pid_t owner, struct config_error *e)
{
	char comm[64] = "", path[64], text[IP_ADDR_STRLEN];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)owner);
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof comm, f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(e->text, sizeof e->text,
		"address %s on port %.160s is in use by process %d%s%s%s: each process, and each "
		"end "
		"of a memif, needs one of its own (\"%%{slot}\" in uiwarp.conf(5) gives it)",
		ip_addr_format(a, text), cfg->port, (int)owner, *comm ? " (" : "", comm,
		*comm ? ")" : "");
}

static int claim_take_all(
	struct claim *c, const char *interface, const struct config *cfg, struct config_error *e)
{
	for (unsigned i = 0; i < cfg->num_addresses; i++) {
		const struct ip_addr *a = &cfg->address[i].addr;
		char *name = c->held[c->n].name;
		pid_t owner = 0;
		int fd;

		claim_name(name, interface, cfg->vlan, a);
		fd = claim_lock_file(c->directory, name, &owner);
		if (fd == -EADDRINUSE) {
			claim_refuse(cfg, a, owner, e);
			return fd;
		}
		if (fd >= 0)
			c->held[c->n++].fd = fd;
	}
	return 0;
}

static void claim_remove_all(struct claim *c)
{
	while (c->n) {
		c->n--;
		claim_remove(c->held[c->n].fd, c->directory, c->held[c->n].name, &claim_own);
	}
	close(c->directory);
}

int claim_take(
	struct claim *c, const char *directory, const struct config *cfg, struct config_error *e)
{
	char interface[CONFIG_MAX_PORT + 64];
	int rc;

	c->n = 0;
	if (!claim_interface(cfg->port, interface, sizeof interface))
		return 0;
	c->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->directory < 0)
		return 0;
	rc = claim_take_all(c, interface, cfg, e);
	if (rc != 0 || c->n == 0)
		claim_remove_all(c);
	return rc;
}

void claim_release(struct claim *c)
{
	if (c->n)
		claim_remove_all(c);
}

int claims_take(struct claim c[SLOT_PLACES], const struct slot_places *p, const struct config *cfg,
	struct config_error *e)
{
	int rc = 0;

	for (unsigned i = 0; i < SLOT_PLACES; i++)
		c[i].n = 0;
	for (unsigned i = 0; i < p->n && rc == 0; i++)
		rc = claim_take(&c[i], p->path[i], cfg, e);
	if (rc != 0)
		claims_release(c);
	return rc;
}

void claims_release(struct claim c[SLOT_PLACES])
{
	for (unsigned i = 0; i < SLOT_PLACES; i++)
		claim_release(&c[i]);
}

/* ---- those of others ------------------------------------------------------------------------- */

static bool claim_is_name(const char *name)
{
	const size_t prefix = strlen(CLAIM_PREFIX);

	return strncmp(name, CLAIM_PREFIX, prefix) == 0 && strlen(name) == prefix + 16 &&
	       strspn(name + prefix, "0123456789abcdef") == 16;
}

void claim_sweep(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	int fd;

	if (!d)
		return;
	while ((entry = readdir(d))) {
		if (!claim_is_name(entry->d_name))
			continue;
		/* Whatever has the name: neither a FIFO nor a device is waited for. */
		fd = openat(dirfd(d), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0)
			claim_remove(fd, dirfd(d), entry->d_name, &claim_sweeping);
	}
	closedir(d);
}
