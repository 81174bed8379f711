/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/post.h"

#include <errno.h>

static bool tls_post_refuse(struct tls_conn *c, enum tls_alert alert, const char *reason)
{
	tls_conn_fail(c, (int)alert, -EPROTO, reason);
	return false;
}

/** The header of a message is there. */
static bool tls_post_begin(struct tls_conn *c)
{
	struct tls_post *p = &c->post;
	uint32_t len = tls_message_body_len(p->header);

	p->body_left = len;
	if (p->header[0] == TLS_KEY_UPDATE) {
		if (len == TLS_KEY_UPDATE_LEN)
			return true;
		return tls_post_refuse(c, TLS_ALERT_DECODE_ERROR, "a KeyUpdate of a wrong length");
	}
	if (p->header[0] == TLS_NEW_SESSION_TICKET && !c->server) {
		if (len == 0)
			p->header_len = 0;
		return true;
	}
	return tls_post_refuse(
		c, TLS_ALERT_UNEXPECTED_MESSAGE, "a handshake message behind the handshake");
}

/** Is this one more than a peer may have us make keys for? */
static bool tls_post_is_flooded(struct tls_conn *c)
{
	struct tls_post *p = &c->post;
	int64_t now = c->stack->time();

	if (p->updates_at != now)
		p->updates = 0;
	p->updates_at = now;
	return ++p->updates > TLS_UPDATES_MAX;
}

/** RFC 8446 section 4.6.3. @param last nothing follows in this record. */
static bool tls_post_take_update(struct tls_conn *c, uint8_t request, bool last)
{
	c->post.header_len = 0;
	if (request > TLS_UPDATE_REQUESTED)
		return tls_post_refuse(
			c, TLS_ALERT_ILLEGAL_PARAMETER, "a KeyUpdate that asks for something else");
	/* Section 5.1: messages do not span a change of keys. */
	if (!last)
		return tls_post_refuse(
			c, TLS_ALERT_UNEXPECTED_MESSAGE, "a KeyUpdate that is not the last");
	if (tls_post_is_flooded(c))
		return tls_post_refuse(c, TLS_ALERT_UNEXPECTED_MESSAGE, "KeyUpdates without end");
	if (!tls_suite_next_secret(c->rx.suite, c->secrets->rx) ||
		!tls_direction_key(&c->rx, c->rx.suite, c->secrets->rx, false))
		return tls_post_refuse(c, TLS_ALERT_INTERNAL_ERROR, "OpenSSL makes no keys");
	c->stack->stats.updates_received++;
	c->rx_asked = false;
	/* One answer does for all that were asked for since (section 4.6.3). */
	if (request == TLS_UPDATE_REQUESTED && !c->tx_closed) {
		c->update_owed = true;
		(void)tls_conn_send_owed(c);
		llp_push(c->below);
	}
	return true;
}

bool tls_post_input(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	struct tls_post *p = &c->post;

	while (len != 0) {
		if (p->header_len < TLS_MESSAGE_HEADER_LEN) {
			p->header[p->header_len++] = *bytes++;
			len--;
			if (p->header_len == TLS_MESSAGE_HEADER_LEN && !tls_post_begin(c))
				return false;
		} else if (p->header[0] == TLS_KEY_UPDATE) {
			if (!tls_post_take_update(c, *bytes++, --len == 0))
				return false;
		} else {
			uint32_t n = p->body_left < len ? p->body_left : (uint32_t)len;

			bytes += n;
			len -= n;
			p->body_left -= n;
			if (p->body_left == 0)
				p->header_len = 0;
		}
	}
	return true;
}
