/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_send.h
 * What sendmsg() says to memif's driver (DPDK 22.11). A server greets whoever connects to its
 * socket, from the EAL's interrupt thread, which watches the new descriptor already. If that first
 * message cannot be sent, because the peer was killed meanwhile or is hostile, the driver closes
 * and frees what the thread goes on watching: a panic, which ends the process. Is the message sent,
 * the thread finds the end of the connection by itself, and all is well. So no such failure is
 * told: who stands in front of sendmsg() in a process with DPDK passes its results through here.
 *
 * Header only, and without DPDK: the preloaded library links libc alone.
 */
#ifndef DPDK_PORT_MEMIF_SEND_H
#define DPDK_PORT_MEMIF_SEND_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/** Is @p fd of the kind that memif's control channels are? */
static inline bool memif_send_is_channel(int fd)
{
	int type, domain;
	socklen_t len = sizeof type, domain_len = sizeof domain;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET &&
	       getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) == 0 &&
	       domain == AF_UNIX;
}

/** The length of each of memif's messages. */
#define MEMIF_SEND_OCTETS 128

/** May @p m be one of memif's messages? Few of a program's own are as long. */
static inline bool memif_send_is_message(const struct msghdr *m)
{
	return m && m->msg_iovlen == 1 && m->msg_iov && m->msg_iov->iov_len == MEMIF_SEND_OCTETS;
}

/**
 * @param n  what the real sendmsg() of @p m, on behalf of the driver, has returned; errno is its
 *           reason
 * @return @p n, or the length of the message if its receiver is gone.
 */
static inline ssize_t memif_send_told(int fd, const struct msghdr *m, ssize_t n)
{
	int reason = errno;
	size_t len = 0;

	if (n >= 0 || (reason != EPIPE && reason != ECONNRESET && reason != ECONNREFUSED) ||
		!memif_send_is_channel(fd)) {
		errno = reason;
		return n;
	}
	for (size_t i = 0; i < m->msg_iovlen; i++)
		len += m->msg_iov[i].iov_len;
	return (ssize_t)len;
}

#endif
