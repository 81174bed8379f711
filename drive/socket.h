/* SPDX-License-Identifier: BSD-2-Clause */
/** @file socket.h A socket: a connection, or a listener with its queue, under a number. */
#ifndef DRIVE_SOCKET_H
#define DRIVE_SOCKET_H

#include "drive/host.h"

struct sock {
	struct uiwarp_tcp *h;
	int family;
	struct llp *llp; /**< NULL: no connection, or it has ended */
	struct llp_listener *listener;
	int backlog;
	struct sock *next; /**< in its listener's queue */
	struct sock *waiting,
		**waiting_tail; /**< accept() has not taken them; they have no number */
	unsigned n_waiting;

	struct ip_endpoint local;
	const char *congestion_control; /**< its name in tcp_cc_find()'s table; never NULL */
	uint8_t tos;
	bool bound : 1, v6only : 1;
	bool begun : 1;     /**< connect() was called, or it came by accept() */
	bool connected : 1; /**< was established, whatever it is now */
	bool eof : 1;       /**< the peer closed its side: no more bytes than are here */
	bool shut_read : 1, shut_write : 1;
	bool write_blocked : 1;
	int error; /**< why it ended; negative errno, told once */

	size_t unread; /**< bytes in the LLP's queue */
	/** What recv() wants of readable(). */
	struct {
		uint8_t *to;
		size_t room, got;
		bool peek;
	} want;
	/** Bytes that would go with the connection: saved when the peer closed its side. */
	uint8_t *rest;
	size_t rest_len, rest_at;
};

/** @return the socket, or NULL. */
struct sock *sock_get(const struct uiwarp_tcp *h, int s);

/** A socket without a number. NULL: no memory. */
struct sock *sock_new(struct uiwarp_tcp *h, int family);

/** Free it, and what it queued. The connection must be gone. */
void sock_free(struct sock *s);

/** What a socket's connection tells it. */
extern const struct llp_user_ops sock_ops;

#endif
