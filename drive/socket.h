/* SPDX-License-Identifier: BSD-2-Clause */
/** @file socket.h A socket: a connection, or a listener with its queue, under a number. */
#ifndef DRIVE_SOCKET_H
#define DRIVE_SOCKET_H

#include "drive/host.h"

/** What readable() is to take. */
struct sock_want {
	uint8_t *to;
	size_t room, got;
	bool peek;
};

struct sock {
	struct uiwarp_tcp *h;
	int family;
	struct llp *llp; /**< NULL: no connection, or it has ended */
	struct llp_listener *listener;
	int backlog;
	struct sock *next;                    /**< in its listener's queue */
	struct sock *waiting, **waiting_tail; /**< not accepted yet; they have no number */
	unsigned n_waiting;

	struct ip_endpoint local;       /**< that it is bound to */
	struct ip_endpoint last;        /**< of its connection that has ended */
	struct ip_endpoint remote;      /**< of one that waits to be accepted, or was */
	const char *congestion_control; /**< its name in tcp_cc_find()'s table; never NULL */
	uint8_t tos;
	bool bound : 1, v6only : 1;
	bool begun : 1;     /**< connect() was called, or accept() returned it */
	bool connected : 1; /**< it is or was established */
	bool eof : 1;       /**< the peer closed its side */
	bool shut_read : 1, shut_write : 1;
	bool write_blocked : 1;
	int error;         /**< why it ended; negative errno, reported once */
	size_t send_limit; /**< UIWARP_TCP_SEND_BUFFER; 0: none of its own */

	size_t unread;         /**< bytes in the LLP's queue, of those that it has shown last */
	uint64_t taken;        /**< bytes from there, in all */
	struct sock_want want; /**< of who resumes the LLP now; no room: nothing is taken */
	/** Unread bytes, saved when the peer closed its side. */
	uint8_t *rest;
	size_t rest_len, rest_at;
};

/** @return the socket, or NULL. */
struct sock *sock_get(const struct uiwarp_tcp *h, int s);

/** How many bytes the socket's own limit lets it queue now. */
size_t sock_send_room(const struct sock *s);

/** The upcalls of a socket's connection. */
extern const struct llp_user_ops sock_ops;

#endif
