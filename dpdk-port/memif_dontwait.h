/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_dontwait.h
 * What memif's driver (DPDK 22.11) would wait for in calls on its sockets, which all block. It
 * makes them in the EAL's interrupt thread, and who closes a port waits for that thread. So who
 * stands in front of these calls in a process with DPDK has none of them wait:
 *
 * - sendmsg(): who sends and does not read what it is answered.
 * - connect(): a server that was stopped, or does not accept, and has as many connections waiting
 * as its backlog takes.
 * - recvmsg(): that thread takes several events at a time, and looks for the handler of each by the
 *   descriptor's number. Where a descriptor is closed before its event is looked at, and another
 *   channel gets that number, the driver is called for one to which nothing has come
 *   (memif_driver_has_input()).
 *
 * Header only, and without DPDK: the preloaded library links libc alone.
 */
#ifndef DPDK_PORT_MEMIF_DONTWAIT_H
#define DPDK_PORT_MEMIF_DONTWAIT_H

#include "dpdk-port/memif_send.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

/** The @p flags of a sendmsg() or recvmsg() of memif's. There is room for a greeting in each new
 * channel. */
static inline int memif_dontwait_flags(int fd, int flags)
{
	int error = errno;

	if (memif_send_is_channel(fd))
		flags |= MSG_DONTWAIT;
	errno = error;
	return flags;
}

/** Of memif's messages, the one that asks for nothing. */
#define MEMIF_DONTWAIT_ACK 1

/**
 * @param n  what recvmsg() of @p m, one of memif's messages, with such flags has returned
 * @return true: nothing has come, and @p m is made an acknowledgment, which changes nothing. The
 *         driver would take an error for the end of the connection.
 */
static inline bool memif_dontwait_is_idle(int fd, struct msghdr *m, ssize_t n)
{
	const uint16_t kind = MEMIF_DONTWAIT_ACK;
	int error = errno;
	bool idle = n < 0 && error == EAGAIN && memif_send_is_channel(fd);

	errno = error;
	if (!idle)
		return false;
	memset(m->msg_iov->iov_base, 0, MEMIF_SEND_OCTETS);
	memcpy(m->msg_iov->iov_base, &kind, sizeof kind);
	m->msg_controllen = 0;
	m->msg_flags = 0;
	return true;
}

typedef int memif_dontwait_connect_fn(int fd, const struct sockaddr *to, socklen_t len);

/** connect() for memif's driver, by the @p real one. @return -1 with EAGAIN where that would wait.
 */
static inline int memif_dontwait_connect(
	memif_dontwait_connect_fn *real, int fd, const struct sockaddr *to, socklen_t len)
{
	int flags = memif_send_is_channel(fd) ? fcntl(fd, F_GETFL) : -1, r, error;

	if (flags < 0)
		return real(fd, to, len);
	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	r = real(fd, to, len);
	error = errno;
	(void)fcntl(fd, F_SETFL, flags);
	errno = error;
	return r;
}

#endif
