/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sealed.h
 * An iWARP connection inside of TLS 1.3 (RFC 8446), opened with a key log: between TCP's text in
 * order and MPA's. The content of a record is a piece of text, at the record's place in TCP's
 * sequence space, so that what acknowledges the record acknowledges the content.
 *
 * Records of the handshake are not opened: the first that the application's keys open is the first
 * of MPA. Likewise changes of keys are found by a record behind them, and the place behind a hole
 * by the number of the record there, which must be near. A record that is not whole says nothing:
 * how much text of MPA it has is not known, as it may be of TLS itself, or have padding.
 */
#ifndef PCAP_SEALED_H
#define PCAP_SEALED_H

#include "pcap/keylog.h"
#include "pcap/reassembly.h"

#include <stddef.h>

struct connection;
struct sealed;
struct stream;

/** Why a connection inside of TLS is not judged. */
enum sealed_why {
	SEALED_NOT,        /**< it is not inside of TLS, as far as can be seen */
	SEALED_NO_HELLO,   /**< its ClientHello is not in the capture, or not whole */
	SEALED_NO_SECRETS, /**< they are not in the key log */
	SEALED_NO_RECORD,  /**< none that may be of the application is whole in the capture */
	SEALED_NO_KEY,     /**< the secrets open no record */
	SEALED_NO_START,   /**< there is no start-up frame of MPA in it */
	SEALED_WHYS
};

/** Was this program built with OpenSSL? */
bool sealed_is_available(void);

/** Does TLS begin with this text, the first of a direction? */
bool sealed_begins(const struct piece *p);

/** Does a segment with this text seem to begin with a record? */
bool sealed_seems(const uint8_t *text, size_t len);

/** Does a ClientHello begin with this segment's text? */
bool sealed_is_client_hello(const struct packet *p);

/**
 * A connection whose client is @p client.
 * @param log whose secrets are used; it stays.
 * @return NULL: no memory, or this was built without OpenSSL.
 */
struct sealed *sealed_new(struct connection *c, const struct stream *client, struct keylog *log);

/** Process text of a direction: what is in it comes by stream_take_text(). */
void sealed_text(struct sealed *x, struct stream *s, const struct piece *p);

/** True if a record of this direction was opened. */
bool sealed_has_opened(const struct sealed *x, const struct stream *s);

/** Why nothing of @p c, which ends, was taken for MPA. */
enum sealed_why sealed_why(const struct connection *c);

/** Octets of memory that it has. */
size_t sealed_memory(const struct sealed *x);

/** NULL is allowed. */
void sealed_free(struct sealed *x);

#endif
