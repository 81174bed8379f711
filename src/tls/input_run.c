/* SPDX-License-Identifier: BSD-2-Clause */
/* Records with content that are shown together, and those that stay below. */
#include "tls/input_priv.h"
#include "tls/post.h"
#include "tls/starved.h"

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

		if (!tls_input_open(c, b, r->out, &type, &len, &need)) {
			tls_input_fail(c, b->fault); /* OpenSSL has failed */
			return false;
		}
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

bool tls_input_has_come(struct tls_conn *c, const struct tls_input_bytes *b, uint8_t *out)
{
	const struct tls_wait w = c->rx_wait;
	uint64_t seq = c->rx.seq;
	size_t content = w.content, opened, partial;
	struct tls_input_bytes at;
	uint8_t type = TLS_APPLICATION_DATA;
	uint32_t len;
	bool all;

	if (b->left < w.until)
		return false;
	if (c->need <= content)
		return true;
	at = (struct tls_input_bytes){
		.at = tls_input_behind(b->at, w.octets), .left = b->left - w.octets};
	c->rx.seq = w.seq;
	while (content < c->need && tls_input_open(c, &at, out, &type, &len, &partial) &&
		type == TLS_APPLICATION_DATA)
		content += len;
	opened = b->left - at.left;
	all = content >= c->need || type != TLS_APPLICATION_DATA || at.fault;
	if (!all)
		tls_input_want(c, opened, b->left, c->rx.seq, content, partial);
	c->rx.seq = seq;
	return all;
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

void tls_input_records(
	struct tls_conn *c, struct tls_input_bytes *b, uint8_t *out, size_t all, size_t *need)
{
	struct tls_input_run r = {.out = out, .all = all};
	const struct tls_input_fault *fault;
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
	fault = b->fault;
	if (!c->dead && !c->released && tls_input_end_run(c, b, &r, fault || c->below_eof) && fault)
		tls_input_fail(c, fault);
}
