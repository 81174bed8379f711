/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_eventfd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

int memif_eventfd_check(int fd)
{
	static const char kind[] = "anon_inode:[eventfd]";
	char path[32], name[sizeof kind];
	ssize_t n;

	/* fstat() would ask the file system, which may be the peer's (FUSE). */
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof name);
	if (n < 0)
		return -ENOSYS;
	return n == sizeof kind - 1 && !memcmp(name, kind, (size_t)n) ? 0 : -EBADFD;
}

int memif_eventfd_watch(int fd)
{
	/* Each write is an edge, whatever the counter is. */
	struct epoll_event e = {.events = EPOLLIN | EPOLLET};
	int err, watch = epoll_create1(EPOLL_CLOEXEC);

	if (watch >= 0 && epoll_ctl(watch, EPOLL_CTL_ADD, fd, &e) == 0)
		return watch;
	err = -errno;
	if (watch >= 0)
		close(watch);
	return err;
}

void memif_eventfd_take(int watch)
{
	struct epoll_event e;

	if (epoll_wait(watch, &e, 1, 0) < 0)
		return; /* a signal of the program's; it stays readable */
}
