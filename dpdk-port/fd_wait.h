/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fd_wait.h
 * What DPDK 22.11's interrupt thread does without a descriptor: where epoll_create() gives it none
 * it ends the process; where accept() gives memif's listener none it comes again at once, without
 * an end; and where recvmsg() has no room for the descriptor of a peer's memory that one is lost.
 * The program may have all descriptors in use for a moment, and that thread has time. So who stands
 * in front of these calls in a process with DPDK has it wait, by these functions.
 *
 * Header only, and without DPDK: the preloaded library links libc alone.
 */
#ifndef DPDK_PORT_FD_WAIT_H
#define DPDK_PORT_FD_WAIT_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/** Between two looks. */
#define FD_WAIT_NS 50000000

/** Looks for a message: others wait for that thread, too. */
#define FD_WAIT_LOOKS 40

/** Tells the user, once, that DPDK waits. */
typedef void fd_wait_tell_fn(void);

/** True if a call failed with @p error because there was no descriptor. */
static inline bool fd_wait_helps(int error)
{
	return error == EMFILE || error == ENFILE;
}

/** Until the next look. Keeps errno. */
static inline void fd_wait(fd_wait_tell_fn *tell)
{
	int error = errno;

	tell();
	nanosleep(&(struct timespec){.tv_nsec = FD_WAIT_NS}, NULL);
	errno = error;
}

/** True if @p m, for recvmsg(), has room for a descriptor, as memif's has, and datagrams' has not.
 */
static inline bool fd_wait_takes_one(const struct msghdr *m)
{
	return m && m->msg_controllen >= CMSG_LEN(sizeof(int)) && !m->msg_name;
}

/** Before such a recvmsg() of @p fd: until there is a descriptor, but not for long. */
static inline void fd_wait_for_one(int fd, fd_wait_tell_fn *tell)
{
	int error = errno;

	for (unsigned i = 0; i < FD_WAIT_LOOKS; i++) {
		int one = fcntl(fd, F_DUPFD_CLOEXEC, 0);

		if (one >= 0)
			close(one);
		if (one >= 0 || !fd_wait_helps(errno))
			break;
		fd_wait(tell);
	}
	errno = error;
}

/** accept() for DPDK gave @p result: who had no descriptor comes again, but not at once. @return
 * it.
 */
static inline int fd_wait_accepted(int result, fd_wait_tell_fn *tell)
{
	if (result < 0 && fd_wait_helps(errno))
		fd_wait(tell);
	return result;
}

/** epoll_create() for DPDK, by the @p real one. @return never -1 for want of a descriptor. */
static inline int fd_wait_epoll_create(int (*real)(int), int size, fd_wait_tell_fn *tell)
{
	int fd = real(size);

	while (fd < 0 && fd_wait_helps(errno)) {
		fd_wait(tell);
		fd = real(size);
	}
	return fd;
}

#endif
