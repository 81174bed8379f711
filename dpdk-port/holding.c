/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/holding.h"

#include "dpdk-port/memif.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/** memif's default, an abstract one. */
#define HOLDING_MEMIF_SOCKET "/run/memif.sock"

static void holding_copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		len = 0; /* not a socket's name */
	memcpy(to, from, len);
	to[len] = '\0';
}

struct holding holding_of(const char *device, const char *interface)
{
	static const char *const keys[] = {",socket=", ",path=", ",iface=/"};
	struct holding h = {"", ""};

	holding_copy(h.interface, sizeof h.interface, interface, strlen(interface));
	if (memif_is_named(device))
		strcpy(h.socket, HOLDING_MEMIF_SOCKET);
	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *at = strstr(device, keys[i]);

		if (!at)
			continue;
		at = strchr(at, '=') + 1;
		holding_copy(h.socket, sizeof h.socket, at, strcspn(at, ","));
		break;
	}
	return h;
}

/** The name of a socket of ours, or of its peer; an abstract one begins with a zero. */
static bool holding_is_named(const struct holding *h, const struct sockaddr_un *sun, socklen_t len)
{
	const char *path = sun->sun_path;
	size_t room = sizeof sun->sun_path;

	if (len <= offsetof(struct sockaddr_un, sun_path) || sun->sun_family != AF_UNIX)
		return false;
	if (!*path) {
		path++;
		room--;
	}
	return strncmp(path, h->socket, room) == 0;
}

static bool holding_is_socket(const struct holding *h, int fd)
{
	struct sockaddr_un sun = {0};
	socklen_t len = sizeof sun;

	if (!*h->socket)
		return false;
	if (getsockname(fd, (struct sockaddr *)&sun, &len) == 0 && holding_is_named(h, &sun, len))
		return true;
	memset(&sun, 0, sizeof sun);
	len = sizeof sun;
	return getpeername(fd, (struct sockaddr *)&sun, &len) == 0 &&
	       holding_is_named(h, &sun, len);
}

/** A queue of the TAP. The device's number first: others may take the request for another. */
static bool holding_is_tap(const struct holding *h, int fd, const struct stat *st)
{
	struct ifreq ifr = {0};

	return *h->interface && S_ISCHR(st->st_mode) && st->st_rdev == makedev(10, 200) &&
	       ioctl(fd, TUNGETIFF, &ifr) == 0 &&
	       strncmp(ifr.ifr_name, h->interface, IFNAMSIZ) == 0;
}

static bool holding_has(const struct holding *h, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	return S_ISSOCK(st.st_mode) ? holding_is_socket(h, fd) : holding_is_tap(h, fd, &st);
}

static void holding_set_private(int fd)
{
	fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void holding_end(int fd)
{
	close(fd);
}

/** The number that @p name is; -1: none. */
static int holding_number(const char *name)
{
	int n = 0;

	if (!*name)
		return -1;
	for (; *name; name++) {
		if (*name < '0' || *name > '9' || n > (INT32_MAX - 9) / 10)
			return -1;
		n = n * 10 + (*name - '0');
	}
	return n;
}

/** readdir() takes memory, which a child after fork() of a process with threads had better not. */
static void holding_each(const struct holding *h, void (*act)(int fd))
{
	alignas(struct dirent64) char buf[4096];
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (dir < 0)
		return;
	while ((n = syscall(SYS_getdents64, dir, buf, sizeof buf)) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent64 *e = (const void *)(buf + at);
			int fd = holding_number(e->d_name);

			if (fd >= 0 && fd != dir && holding_has(h, fd))
				act(fd);
			at += e->d_reclen;
		}
	}
	close(dir);
}

void holding_close(const struct holding *h)
{
	if (*h->socket || *h->interface)
		holding_each(h, holding_end);
}

void holding_keep_private(const struct holding *h)
{
	if (*h->socket || *h->interface)
		holding_each(h, holding_set_private);
}
