/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/ticket.h"

#include "base/bytes.h"

#include <openssl/crypto.h>
#include <string.h>

/** Tickets of a connection that are looked at: OpenSSL's servers send two. */
#define TLS_TICKETS_MAX 4

void tls_ticket_see(struct tls_conn *c, const uint8_t *header, struct tls_cursor at, uint32_t body,
	uint8_t type, const uint8_t *content, uint32_t len)
{
	uint8_t *record = NULL;

	/* Messages may lie across records, or several in one: then there is no ticket for us. */
	if (type == TLS_HANDSHAKE && len > TLS_MESSAGE_HEADER_LEN &&
		content[0] == TLS_NEW_SESSION_TICKET &&
		len == TLS_MESSAGE_HEADER_LEN + tls_message_body_len(content) &&
		c->rx.seq <= TLS_TICKETS_MAX)
		record = OPENSSL_malloc(TLS_HEADER_LEN + body);
	if (record) {
		memcpy(record, header, TLS_HEADER_LEN);
		tls_cursor_copy(&at, record + TLS_HEADER_LEN, body);
		tls_handshake_take_ticket(c->handshake, record, TLS_HEADER_LEN + body);
		OPENSSL_free(record);
		return;
	}
	tls_handshake_free(c->handshake);
	c->handshake = NULL;
}
