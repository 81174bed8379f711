/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fd_room.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/** One above the highest number to keep. */
static int fd_room_end(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 >= FD_ROOM)
		return FD_ROOM;
	if (limit.rlim_cur / 2 >= FD_ROOM_LEFT)
		return (int)(limit.rlim_cur / 2);
	return limit.rlim_cur <= FD_ROOM_LEFT ? 0 : (int)(limit.rlim_cur - FD_ROOM_LEFT);
}

void fd_room_keep(struct fd_room *r)
{
	int end = fd_room_end();
	int fd = eventfd(0, EFD_CLOEXEC);

	/* Each is the lowest that is free. */
	for (r->count = 0; fd >= 0 && fd < end; fd = fcntl(fd, F_DUPFD_CLOEXEC, 0))
		r->fd[r->count++] = fd;
	if (fd >= 0)
		close(fd);
}

void fd_room_give_back(struct fd_room *r)
{
	int err = errno;

	while (r->count > 0)
		close(r->fd[--r->count]);
	errno = err;
}

int fd_move_up(int fd)
{
	int flags = fcntl(fd, F_GETFD);
	int up;

	if (fd >= (int)FD_ROOM || flags < 0)
		return fd;
	up = fcntl(fd, flags & FD_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, (int)FD_ROOM);
	if (up < 0)
		return fd;
	close(fd);
	return up;
}
