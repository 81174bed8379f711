/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sealed.h
 * An iWARP connection inside of TLS 1.3 (RFC 8446), opened with a key log: between TCP's text in
 * order and MPA's. The content of a record is a piece of text, at the record's place in TCP's
 * sequence space, so that what acknowledges the record acknowledges the content.
 *
 * Records of the handshake are not opened: the first that the application's keys open is the first
 * of MPA. Likewise a change of keys is found by a record behind it, and the place behind a hole by
 * the number of the record there, which must be near. A record that is not whole says nothing: how
 * much text of MPA it has is not known, as it may be of TLS itself, or have padding.
 */
#ifndef PCAP_SEALED_H
#define PCAP_SEALED_H

#include "pcap/keylog.h"
#include "pcap/reassembly.h"

#include <stddef.h>

struct connection;
struct sealed;
struct stream;

/** Was this program built with OpenSSL? */
bool sealed_is_available(void);

/** Does TLS begin with this text, the first of a direction? */
bool sealed_begins(const struct piece *p);

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

/** Octets of memory that it has. */
size_t sealed_memory(const struct sealed *x);

/** NULL is allowed. */
void sealed_free(struct sealed *x);

#endif
