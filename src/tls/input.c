/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/input.h"

#include "base/bytes.h"
#include "tls/post.h"
#include "tls/starved.h"
#include "tls/ticket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** So much is kept of a user that does not want it now; the rest waits below, in the window. */
#define TLS_KEPT_IDLE 16384

/* ---- content for the user ---------------------------------------------------------------- */

/** @return how many of the bytes of both pieces the user is done with. */
static size_t tls_input_show_both(struct tls_conn *c, struct llp_iov first, struct llp_iov second)
{
	size_t total = first.len + second.len, done = 0, used;

	do {
		struct llp_iov v[2];
		size_t need = 0;
		unsigned n = 0;

		if (done < first.len)
			v[n++] = (struct llp_iov){
				.base = first.base + done, .len = first.len - done};
		if (second.len != 0) {
			size_t off = done > first.len ? done - first.len : 0;

			v[n++] = (struct llp_iov){
				.base = second.base + off, .len = second.len - off};
		}
		c->resume = false;
		c->showing = true;
		used = c->llp.user_ops->readable(c->llp.user, v, n, total - done, &need);
		c->showing = false;
		if (c->dead || c->released)
			return total;
		done += used < total - done ? used : total - done;
		c->need = need;
	} while (c->resume && used != 0 && done < total);
	return done;
}

/** @return how many bytes the user is done with. */
static size_t tls_input_show(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	return tls_input_show_both(
		c, (struct llp_iov){.base = bytes, .len = len}, (struct llp_iov){0});
}

/** @return false: there is no memory, or no share of it. */
static bool tls_input_keep(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	struct tls_kept *k = &c->kept;
	size_t want = k->len + len;

	if (k->at != 0)
		memmove(k->bytes, k->bytes + k->at, k->len);
	k->at = 0;
	if (want > k->room && !tls_starved_have_room(c, want))
		return false;
	memcpy(k->bytes + k->len, bytes, len);
	k->len += len;
	return true;
}

static void tls_input_use_kept(struct tls_conn *c, size_t used)
{
	struct tls_kept *k = &c->kept;

	k->at += used;
	k->len -= used;
	if (k->len == 0)
		tls_kept_clear(&c->stack->kept, k);
}

void tls_input_show_kept(struct tls_conn *c)
{
	struct tls_kept *k = &c->kept;
	size_t used;

	if (k->len == 0 || (k->len < c->need && !c->below_eof && !c->rx_closed))
		return;
	used = tls_input_show(c, k->bytes + k->at, k->len);
	if (c->dead || c->released)
		return;
	tls_input_use_kept(c, used);
}

/**
 * There is no memory to keep content in: show it behind what is kept.
 * @return how many bytes of it the user is done with.
 */
static size_t tls_input_show_behind_kept(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	struct tls_kept *k = &c->kept;
	size_t before = k->len, used;

	if (before + len < c->need && !c->below_eof)
		return 0;
	used = tls_input_show_both(c, (struct llp_iov){.base = k->bytes + k->at, .len = before},
		(struct llp_iov){.base = bytes, .len = len});
	if (c->dead || c->released)
		return len;
	tls_input_use_kept(c, used < before ? used : before);
	return used < before ? 0 : used - before;
}

/**
 * Verified content, in its turn.
 * @return how much of it is done with: all that the user is, and the rest if it can be kept.
 */
static size_t tls_input_deliver(struct tls_conn *c, const uint8_t *bytes, size_t len)
{
	size_t used;

	if (len == 0)
		return 0;
	if (c->kept.len != 0 && tls_input_keep(c, bytes, len)) {
		tls_input_show_kept(c);
		return len;
	}
	used = c->kept.len == 0 ? tls_input_show(c, bytes, len)
				: tls_input_show_behind_kept(c, bytes, len);
	if (c->dead || c->released || used == len)
		return len;
	if (c->kept.len == 0 && tls_input_keep(c, bytes + used, len - used))
		return len;
	return used;
}

/** The user has enough to do with what is kept. */
static bool tls_input_is_full(const struct tls_conn *c)
{
	return c->kept.len >= (c->need > c->kept.len ? TLS_KEPT_MAX : TLS_KEPT_IDLE);
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

static void tls_input_control(struct tls_conn *c, uint8_t type, const uint8_t *bytes, size_t len)
{
	if (type == TLS_ALERT && !tls_post_is_partial(c))
		tls_input_alert(c, bytes, len);
	else if (type == TLS_HANDSHAKE && len != 0)
		(void)tls_post_input(c, bytes, len);
	else
		tls_conn_fail(c, TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO,
			"a record of a type that may not be here");
}

/* ---- records ----------------------------------------------------------------------------- */

/** Bytes that came and are not done with. */
struct tls_input_bytes {
	struct tls_cursor at;
	size_t left;
};

/** @return false: it breaks the rules, and the connection has failed. */
static bool tls_input_check_header(struct tls_conn *c, const uint8_t *header, uint32_t body)
{
	/* Section 5.1: the version is ignored. It is authenticated all the same. */
	if (header[0] != TLS_APPLICATION_DATA)
		tls_conn_fail(c, TLS_ALERT_UNEXPECTED_MESSAGE, -EPROTO,
			"a record in the clear behind the handshake");
	else if (body > TLS_CIPHERTEXT_MAX)
		tls_conn_fail(c, TLS_ALERT_RECORD_OVERFLOW, -EPROTO, "a record that is too long");
	else if (body <= TLS_TAG_LEN)
		tls_conn_fail(c, TLS_ALERT_BAD_RECORD_MAC, -EBADMSG, "a record without content");
	else
		return true;
	return false;
}

/** Section 5.4: take off the padding and the type. @return the type; 0: there is none. */
static uint8_t tls_input_strip(const uint8_t *text, uint32_t *len)
{
	while (*len != 0 && text[*len - 1] == 0)
		(*len)--;
	return *len != 0 ? text[--*len] : 0;
}

/**
 * Open the next record, if it is whole.
 * @param[out] type, len of its content, which is in @p out.
 * @return false: it is not whole, then @p need says how much is needed; or the connection has
 *         failed.
 */
static bool tls_input_open(struct tls_conn *c, struct tls_input_bytes *b, uint8_t *out,
	uint8_t *type, uint32_t *len, size_t *need)
{
	struct tls_cursor at = b->at, sealed;
	uint8_t header[TLS_HEADER_LEN];
	uint32_t body;

	*need = TLS_HEADER_LEN;
	if (b->left < TLS_HEADER_LEN)
		return false;
	tls_cursor_copy(&at, header, sizeof header);
	body = load_be16(header + TLS_AT_LENGTH);
	if (!tls_input_check_header(c, header, body))
		return false;
	*need = TLS_HEADER_LEN + body;
	if (b->left < *need)
		return false;
	if (!tls_record_open(&c->rx, header, &at, body, out, len)) {
		tls_conn_fail(c, TLS_ALERT_BAD_RECORD_MAC, -EBADMSG,
			"a record that was forged or damaged");
		return false;
	}
	sealed = b->at;
	b->at = at;
	b->left -= *need;
	*need = 0;
	if (*len > TLS_CONTENT_MAX + TLS_TYPE_LEN) {
		tls_conn_fail(c, TLS_ALERT_RECORD_OVERFLOW, -EPROTO, "a record that is too long");
		return false;
	}
	*type = tls_input_strip(out, len);
	if (c->handshake) {
		tls_cursor_copy(&sealed, header, sizeof header);
		tls_ticket_see(c, header, sealed, body, *type, out, *len);
	}
	return true;
}

/** Content that is opened and was not shown yet, and where it begins. */
struct tls_input_run {
	uint8_t *out; /**< room for @p all bytes and a record */
	size_t have, full, all;
	struct tls_input_bytes from;
	uint64_t seq;
	bool control;   /**< a record that is no content is behind it */
	size_t partial; /**< of the record behind it that is not whole: so long it will be; or 0 */
};

static void tls_input_begin_run(
	const struct tls_conn *c, const struct tls_input_bytes *b, struct tls_input_run *r)
{
	r->have = 0;
	r->control = false;
	r->partial = 0;
	r->full = TLS_SCRATCH_FULL;
	r->from = *b;
	r->seq = c->rx.seq;
}

/**
 * Back to the first record of the run that the user is not done with: the others need not be opened
 * again. @return that there are others.
 */
static bool tls_input_pass_shown(
	struct tls_conn *c, struct tls_input_bytes *b, const struct tls_input_run *r)
{
	bool any = false;

	*b = r->from;
	c->rx.seq = r->seq;
	while (c->rx_shown != 0) {
		const struct tls_input_bytes before = *b;
		uint64_t seq = c->rx.seq;
		uint32_t len;
		uint8_t type;
		size_t need;

		if (!tls_input_open(c, b, r->out, &type, &len, &need))
			return false; /* OpenSSL has failed */
		if (len > c->rx_shown) {
			*b = before;
			c->rx.seq = seq;
			break;
		}
		c->rx_shown -= len;
		any = true;
	}
	return any;
}

/**
 * Records stay below. They are opened again when an FPDU may be whole; or, if the user has enough
 * and does not want it, when as much has come as was opened: a peer must not have us open the same
 * records with each octet that it sends.
 * @param opened octets of those, of @p waits that are there. @param seq of the record behind those.
 * @param left octets of content that the user has left.
 */
static void tls_input_want(
	struct tls_conn *c, size_t opened, size_t waits, uint64_t seq, size_t left, size_t partial)
{
	size_t more = c->need > left ? c->need - left : waits;

	if (more < partial)
		more = partial;
	c->rx_wait = (struct tls_wait){
		.octets = opened, .seq = seq, .content = left, .until = opened + more};
}

static struct tls_cursor tls_input_behind(struct tls_cursor at, size_t octets)
{
	while (octets != 0 && octets >= at.v->len - at.off) {
		octets -= at.v->len - at.off;
		at = (struct tls_cursor){at.v + 1, 0};
	}
	at.off += octets;
	return at;
}

/**
 * Of the records that stay below, open those that have come since, each once, to see what content
 * is in them: it may be less than their octets, or none.
 * @param out room for a record.
 * @return that all are to be opened again: an FPDU may be whole, or something else follows.
 */
static bool tls_input_has_come(struct tls_conn *c, const struct tls_input_bytes *b, uint8_t *out)
{
	const struct tls_wait w = c->rx_wait;
	uint64_t seq = c->rx.seq;
	size_t content = w.content, opened, partial;
	struct tls_input_bytes at;
	uint8_t type = TLS_APPLICATION_DATA;
	uint32_t len;

	if (b->left < w.until)
		return false;
	if (c->need <= content)
		return true;
	at = (struct tls_input_bytes){tls_input_behind(b->at, w.octets), b->left - w.octets};
	c->rx.seq = w.seq;
	while (content < c->need && tls_input_open(c, &at, out, &type, &len, &partial) &&
		type == TLS_APPLICATION_DATA)
		content += len;
	if (c->dead)
		return false;
	opened = b->left - at.left;
	if (content < c->need && type == TLS_APPLICATION_DATA)
		tls_input_want(c, opened, b->left, c->rx.seq, content, partial);
	c->rx.seq = seq;
	return content >= c->need || type != TLS_APPLICATION_DATA;
}

/**
 * Show the run, and begin another; or let it grow.
 * @param last no content follows for which the user could wait.
 * @return false: the connection is over, or some of the run stays below, and @p b is back there.
 */
static bool tls_input_end_run(
	struct tls_conn *c, struct tls_input_bytes *b, struct tls_input_run *r, bool last)
{
	size_t before = c->rx_shown < r->have ? c->rx_shown : r->have, done = before, behind, left;
	uint64_t seq = c->rx.seq;
	bool more;

	done += tls_input_deliver(c, r->out + before, r->have - before);
	if (c->dead || c->released)
		return false;
	/* Half an FPDU before the end is of no use to anybody. */
	if (done < r->have && !(last && c->need != 0)) {
		c->rx_shown = done;
		if (r->have >= r->full && r->full < r->all) {
			r->full = r->all;
			return true;
		}
		behind = b->left;
		left = c->kept.len + r->have - done;
		more = tls_input_pass_shown(c, b, r);
		tls_input_want(c, b->left - behind, b->left, seq, left, r->partial);
		if (more && r->have >= r->full) {
			/* Now there is room for the rest of what began behind them. */
			tls_input_begin_run(c, b, r);
			r->full = r->all;
			return true;
		}
		if (!c->dead)
			tls_starved_begin(c, r->all == TLS_SCRATCH_ALL && !r->control,
				r->all != TLS_SCRATCH_ALL);
		return false;
	}
	c->rx_shown -= before;
	tls_input_begin_run(c, b, r);
	return true;
}

/** Does no content follow this record, which is none? */
static bool tls_input_is_last(uint8_t type, const uint8_t *bytes, size_t len)
{
	return type == TLS_ALERT && (len == 0 || bytes[len - 1] != TLS_ALERT_USER_CANCELED);
}

/** Open records, as many as are whole, and show their content. */
static void tls_input_records(
	struct tls_conn *c, struct tls_input_bytes *b, uint8_t *out, size_t all, size_t *need)
{
	struct tls_input_run r = {.out = out, .all = all};
	uint8_t type;
	uint32_t len;

	tls_input_begin_run(c, b, &r);
	while (!c->dead && !c->released && !c->rx_closed && b->left != 0) {
		uint8_t *text = out + r.have;

		if (tls_input_is_full(c)) {
			c->rx_stalled = true;
			break;
		}
		if (!tls_input_open(c, b, text, &type, &len, need)) {
			r.partial = *need;
			break;
		}
		if (type == TLS_APPLICATION_DATA && !tls_post_is_partial(c)) {
			r.have += len;
			if (r.have >= r.full && !tls_input_end_run(c, b, &r, false))
				return;
			continue;
		}
		r.control = true;
		if (!tls_input_end_run(c, b, &r, tls_input_is_last(type, text, len)))
			return;
		tls_input_control(c, type, text, len);
		tls_input_begin_run(c, b, &r);
	}
	if (!c->dead && !c->released)
		(void)tls_input_end_run(c, b, &r, c->below_eof);
}

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
	struct tls_input_bytes b = {{v, 0}, total};

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
