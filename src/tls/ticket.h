/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ticket.h
 * A client's tickets (RFC 8446 section 4.6.1). What a ticket stands for comes out of secrets that
 * OpenSSL has and does not give, so its handshake stays until the first record that is none.
 */
#ifndef TLS_TICKET_H
#define TLS_TICKET_H

#include "tls/conn.h"

/**
 * The next record of a client has been opened, while its handshake stays: a ticket is shown to
 * OpenSSL as it came; behind anything else the handshake is freed.
 * @param header, at, body the record, as for tls_record_open().
 * @param type, content, len what is in it.
 */
void tls_ticket_see(struct tls_conn *c, const uint8_t *header, struct tls_cursor at, uint32_t body,
	uint8_t type, const uint8_t *content, uint32_t len);

#endif
