/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file session.h
 * Sessions that servers have given us tickets for (RFC 8446 section 2.2): a later connection to the
 * same server needs no certificates and no signatures then. Each is used once. And those that we
 * have given tickets for: a ticket is the name of one, so that neither giving nor taking it costs
 * what encoding and decoding a session with its certificate does.
 */
#ifndef TLS_SESSION_H
#define TLS_SESSION_H

#include "base/ip_addr.h"

#include <openssl/ssl.h>

/** Servers that are known. One more takes the place of another. */
#define TLS_SESSION_COUNT 64
/** Tickets of ours that are good, at most; a power of two. A new one takes the place of another. */
#define TLS_SESSION_GIVEN 256

struct tls_session {
	struct ip_endpoint server;
	SSL_SESSION *session; /**< NULL: there is none */
};

/** Zero-initialised is empty. It belongs to one set of credentials. */
struct tls_session_list {
	struct tls_session of[TLS_SESSION_COUNT];
	unsigned next; /**< whose place is taken */
};

/** The same, of those that we have given tickets for. Their names are random. */
struct tls_session_given {
	SSL_SESSION *of[TLS_SESSION_GIVEN]; /**< by name. NULL: there is none */
};

/** Keep @p session, which is ours from now on, for @p server, in place of an earlier one. */
void tls_session_put(
	struct tls_session_list *l, const struct ip_endpoint *server, SSL_SESSION *session);

/** @return the session, which is the caller's from now on; NULL: there is none. */
SSL_SESSION *tls_session_take(struct tls_session_list *l, const struct ip_endpoint *server);

void tls_session_clear(struct tls_session_list *l);

/** Keep @p session, which is ours from now on, and which a client gets a ticket for. */
void tls_session_give(struct tls_session_given *g, SSL_SESSION *session);

/** @return the session that a client has a ticket for, which stays ours; NULL: there is none. */
SSL_SESSION *tls_session_find_given(
	const struct tls_session_given *g, const uint8_t *name, unsigned len);

void tls_session_clear_given(struct tls_session_given *g);

#endif
