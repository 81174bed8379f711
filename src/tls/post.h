/* SPDX-License-Identifier: BSD-2-Clause */
/** @file post.h Handshake messages after the handshake (RFC 8446 section 4.6). */
#ifndef TLS_POST_H
#define TLS_POST_H

#include "tls/conn.h"

/**
 * KeyUpdates of a peer in a second. An honest one sends one in millions of records; but to make
 * keys costs us as much as some hundred records do, and the peer 27 bytes.
 */
#define TLS_UPDATES_MAX 100

/**
 * Take the content of a record of handshake messages. Tickets are ignored. A KeyUpdate changes the
 * keys of what follows; more than TLS_UPDATES_MAX of them are refused.
 * @return false: the connection has failed.
 */
bool tls_post_input(struct tls_conn *c, const uint8_t *bytes, size_t len);

/** True if a message is incomplete: nothing else may come in between (section 5.1). */
static inline bool tls_post_is_partial(const struct tls_conn *c)
{
	return c->post.header_len != 0;
}

/** Send our KeyUpdate, and new keys are used from then on. @return false: there is no room. */
bool tls_post_send_update(struct tls_conn *c);

#endif
