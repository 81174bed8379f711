/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a stream: each is opened, and some are no content. */
#include "base/bytes.h"
#include "tls/input_priv.h"
#include "tls/post.h"
#include "tls/ticket.h"

#include <errno.h>
#include <stdio.h>

static const struct tls_input_fault tls_input_is_clear = {
	TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO, "a record in the clear behind the handshake"};
static const struct tls_input_fault tls_input_is_long = {
	TLS_ALERT_RECORD_OVERFLOW, -EPROTO, "a record that is too long"};
static const struct tls_input_fault tls_input_is_short = {
	TLS_ALERT_BAD_RECORD_MAC, -EBADMSG, "a record without content"};
static const struct tls_input_fault tls_input_is_forged = {
	TLS_ALERT_BAD_RECORD_MAC, -EBADMSG, "a record that was forged or damaged"};

/** @return NULL, or why it breaks the rules. */
static const struct tls_input_fault *tls_input_check_header(const uint8_t *header, uint32_t body)
{
	/* Section 5.1: the version is ignored. It is authenticated all the same. */
	if (header[0] != TLS_APPLICATION_DATA)
		return &tls_input_is_clear;
	if (body > TLS_CIPHERTEXT_MAX)
		return &tls_input_is_long;
	return body <= TLS_TAG_LEN ? &tls_input_is_short : NULL;
}

void tls_input_fail(struct tls_conn *c, const struct tls_input_fault *fault)
{
	tls_conn_fail(c, (int)fault->alert, fault->error, fault->reason);
}

/** Section 5.4: take off the padding and the type. @return the type; 0: there is none. */
static uint8_t tls_input_strip(const uint8_t *text, uint32_t *len)
{
	while (*len != 0 && text[*len - 1] == 0)
		(*len)--;
	return *len != 0 ? text[--*len] : 0;
}

bool tls_input_open(struct tls_conn *c, struct tls_input_bytes *b, uint8_t *out, uint8_t *type,
	uint32_t *len, size_t *need)
{
	struct tls_cursor at = b->at, sealed;
	uint8_t header[TLS_HEADER_LEN];
	uint32_t body;

	*need = TLS_HEADER_LEN;
	if (b->left < TLS_HEADER_LEN)
		return false;
	tls_cursor_copy(&at, header, sizeof header);
	body = load_be16(header + TLS_AT_LENGTH);
	b->fault = tls_input_check_header(header, body);
	if (b->fault)
		return false;
	*need = TLS_HEADER_LEN + body;
	if (b->left < *need)
		return false;
	if (!tls_record_open(&c->rx, header, &at, body, out, len))
		b->fault = &tls_input_is_forged;
	/* RFC 8446 section 5.4: with its padding. */
	else if (*len > c->content_max + TLS_TYPE_LEN)
		b->fault = &tls_input_is_long;
	if (b->fault)
		return false;
	sealed = b->at;
	b->at = at;
	b->left -= *need;
	*need = 0;
	*type = tls_input_strip(out, len);
	if (c->handshake) {
		tls_cursor_copy(&sealed, header, sizeof header);
		tls_ticket_see(c, header, sealed, body, *type, out, *len);
	}
	return true;
}

/* ---- records that are not content -------------------------------------------------------- */

/** Alerts that mean: you are not believed. */
static bool tls_input_is_refusal(uint8_t alert)
{
	return (alert >= 40 && alert <= 51 && alert != TLS_ALERT_ILLEGAL_PARAMETER &&
		       alert != TLS_ALERT_DECODE_ERROR) ||
	       alert == 70 || alert == 71 || alert == 115 || alert == 116;
}

static void tls_input_alert(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	char reason[128];

	if (len != TLS_ALERT_LEN) {
		tls_conn_fail(c, TLS_ALERT_DECODE_ERROR, -EPROTO, "an alert of a wrong length");
		return;
	}
	if (bytes[1] == TLS_ALERT_USER_CANCELED)
		return; /* RFC 8446 section 6.1: a close_notify follows */
	if (bytes[1] != TLS_ALERT_CLOSE_NOTIFY) {
		snprintf(reason, sizeof reason, "the peer sent the alert \"%s\"",
			SSL_alert_desc_string_long(bytes[1]));
		tls_conn_fail(
			c, -1, tls_input_is_refusal(bytes[1]) ? -EKEYREJECTED : -EPROTO, reason);
		return;
	}
	c->rx_closed = true;
	c->llp.user_ops->eof(c->llp.user);
}

void tls_input_control(struct tls_conn *c, uint8_t type, const uint8_t *bytes, size_t len)
{
	if (type == TLS_ALERT && !tls_post_is_partial(c))
		tls_input_alert(c, bytes, len);
	else if (type == TLS_HANDSHAKE && len != 0)
		(void)tls_post_input(c, bytes, len);
	else
		tls_conn_fail(c, TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO,
			"a record of a type that may not be here");
}
