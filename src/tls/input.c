/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/input.h"

#include "tls/input_priv.h"
#include "tls/starved.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the stream --------------------------------------------------------------------------- */

/**
 * A peer that does not renew its keys by itself is asked to in time (section 5.5): ours renews them
 * twice as often.
 */
static void tls_input_ask_update(struct tls_conn *c)
{
	if (c->rx_asked || c->tx_closed ||
		c->rx.seq < 2 * tls_direction_records_max(&c->rx, c->stack->records_max))
		return;
	c->rx_asked = c->update_asks = c->update_owed = true;
	(void)tls_conn_send_owed(c);
	llp_push(c->below);
}

/** @param out room for @p all octets and a record. */
static void tls_input_stream_into(
	struct tls_conn *c, struct tls_input_bytes *b, uint8_t *out, size_t all, size_t *need)
{
	bool waits = c->starved && !c->starved_in && c->rx_stalled;

	if (waits && !tls_input_has_come(c, b, out))
		return;
	tls_starved_end(c);
	c->rx_stalled = false;
	tls_input_records(c, b, out, all, need);
	/* The room that was asked for may not have been needed. */
	if (!c->dead && c->kept.room != 0 && c->kept.len == 0)
		tls_kept_clear(&c->stack->kept, &c->kept);
}

/** @return false: there is no memory. */
static bool tls_input_with_scratch(struct tls_conn *c, struct tls_input_bytes *b, size_t *need)
{
	struct tls_stack *s = c->stack;
	uint8_t *out;

	if (!s->scratch_used) {
		s->scratch_used = true;
		tls_input_stream_into(c, b, s->scratch, TLS_SCRATCH_ALL, need);
		s->scratch_used = false;
		return true;
	}
	out = malloc(TLS_SCRATCH_FULL + TLS_CIPHERTEXT_MAX);
	if (!out)
		return false;
	tls_input_stream_into(c, b, out, TLS_SCRATCH_FULL, need);
	free(out);
	return true;
}

/**
 * Section 6.1: what is behind a close_notify is ignored. But the LLP below is not done with before
 * the user is, or has less than it needs: else closed() would come before all was read.
 */
static void tls_input_behind_end(const struct tls_conn *c, struct tls_input_bytes *b)
{
	b->left = c->kept.len != 0 && c->kept.len >= c->need;
}

static void tls_input_stream(struct tls_conn *c, struct tls_input_bytes *b, size_t *need)
{
	if (c->rx_closed) {
		tls_input_behind_end(c, b);
		return;
	}
	if (tls_starved_is_in_vain(c))
		return;
	if (!tls_input_with_scratch(c, b, need)) {
		tls_starved_end(c);
		tls_starved_begin(c, false, true);
		return;
	}
	if (c->dead || c->released)
		return;
	if (c->starved) /* behind the end, there is no more to need */
		*need = !c->starved_in && !c->below_eof && c->rx_wait.until > b->left
				? c->rx_wait.until
				: 0;
	if (c->rx_closed)
		tls_input_behind_end(c, b);
	else
		tls_input_ask_update(c);
	if (c->below_eof && c->rx_stalled)
		tls_input_eof_waits(c);
	else if (c->below_eof)
		tls_input_eof(c);
}

/* ---- before ------------------------------------------------------------------------------ */

/** A handshake costs us as much as it costs the peer, who need not prove anything before. */
static bool tls_input_may_begin(struct tls_conn *c)
{
	struct tls_stack *s = c->stack;
	struct ip_addr peer;

	if (!c->server || !s->config.handshakes_per_peer)
		return true;
	peer = tls_conn_peer(c);
	return tls_rate_take(&s->rate, &peer, s->now(s->now_ctx));
}

/** The first byte of a stream says whether it is TLS: MPA's is an 'M'. */
static void tls_input_first_byte(struct tls_conn *c, uint8_t byte)
{
	if (byte == TLS_HANDSHAKE) {
		if (tls_input_may_begin(c))
			tls_conn_begin(c);
		else
			tls_conn_refuse(c);
	} else if (c->stack->config.mode == TLS_REQUIRED) {
		tls_conn_fail(c, -1, -EPROTO, "the peer does not speak TLS, which is required");
	} else {
		c->stack->stats.clear++;
		tls_conn_go_clear(c);
	}
}

static void tls_input_handshake(struct tls_conn *c, struct tls_input_bytes *b)
{
	while (b->left != 0 && c->state == TLS_CONN_HANDSHAKE) {
		size_t run = b->at.v->len - b->at.off;
		size_t used = tls_handshake_input(c->handshake, b->at.v->base + b->at.off, run);

		b->left -= used;
		b->at.off += used;
		if (b->at.off == b->at.v->len)
			b->at = (struct tls_cursor){b->at.v + 1, 0};
		tls_conn_continue(c);
		if (used < run)
			break;
	}
}

size_t tls_input(
	struct tls_conn *c, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct tls_input_bytes b = {.at = {v, 0}, .left = total};

	*need = 0;
	if (c->state == TLS_CONN_WAITS)
		tls_input_first_byte(c, *v->base);
	if (c->state == TLS_CONN_HANDSHAKE)
		tls_input_handshake(c, &b);
	if (c->state == TLS_CONN_CLEAR)
		return c->llp.user_ops->readable(c->llp.user, v, n, total, need);
	if (c->state == TLS_CONN_OPEN)
		tls_input_stream(c, &b, need);
	else
		c->rx_stalled = b.left != 0;
	return total - b.left;
}

void tls_input_eof_waits(struct tls_conn *c)
{
	if (c->rx_closed || c->dead || (c->state != TLS_CONN_OPEN && c->state != TLS_CONN_CLEAR))
		return;
	if (c->llp.user_ops && c->llp.user_ops->eof_waits)
		c->llp.user_ops->eof_waits(c->llp.user);
}

/** The peer has done its part of the handshake, and the rest of ours waits for room. */
static bool tls_input_is_behind_handshake(const struct tls_conn *c)
{
	return c->state == TLS_CONN_HANDSHAKE && c->handshake->state == TLS_HANDSHAKE_DONE;
}

void tls_input_eof(struct tls_conn *c)
{
	c->below_eof = true;
	if (c->rx_closed || c->dead)
		return;
	if (c->state == TLS_CONN_CLEAR) {
		c->llp.user_ops->eof(c->llp.user);
	} else if (tls_input_is_behind_handshake(c)) {
		return; /* told of when what we owe has room */
	} else if (c->state != TLS_CONN_OPEN) {
		tls_conn_fail(c, -1, -ECONNRESET, "the peer closed before or in the handshake");
	} else if (c->starved) {
		tls_starved_end(c);
		llp_resume(c->below);
	} else if (c->rx_stalled) {
		tls_input_eof_waits(c);
	} else {
		c->stack->stats.truncated++;
		tls_conn_fail(c, -1, -ECONNRESET,
			"the stream was cut off: there was no close_notify before its end");
	}
}
