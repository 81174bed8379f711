/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file session.h
 * Sessions that servers have given us tickets for (RFC 8446 section 2.2): a later connection to the
 * same server needs no certificates and no signatures then. Each is used once.
 */
#ifndef TLS_SESSION_H
#define TLS_SESSION_H

#include "base/ip_addr.h"

#include <openssl/ssl.h>

/** Servers that are known. One more takes the place of another. */
#define TLS_SESSION_COUNT 64

struct tls_session {
	struct ip_endpoint server;
	SSL_SESSION *session; /**< NULL: there is none */
};

/** Zero-initialised is empty. It belongs to one set of credentials. */
struct tls_session_list {
	struct tls_session of[TLS_SESSION_COUNT];
	unsigned next; /**< whose place is taken */
};

/** Keep @p session, which is ours from now on, for @p server, in place of an earlier one. */
void tls_session_put(
	struct tls_session_list *l, const struct ip_endpoint *server, SSL_SESSION *session);

/** @return the session, which is the caller's from now on; NULL: there is none. */
SSL_SESSION *tls_session_take(struct tls_session_list *l, const struct ip_endpoint *server);

void tls_session_clear(struct tls_session_list *l);

#endif
