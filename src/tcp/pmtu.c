/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/pmtu.h"

#include "tcp/loss.h"
#include "tcp/output.h"
#include "tcp/undo.h"

#include <stdlib.h>

/** RFC 8899 section 5.1.2: BASE_PLPMTU, and what IPv4 falls to when not even that passes. */
#define BASE_V4 1200
#define BASE_V6 1280 /* also the least of IPv6 */
#define MIN_V4  576
/** RFC 8899 section 5.1.2: MAX_PROBES. */
#define MAX_PROBES 3
/** Transmissions of a segment that failed before the path is suspected (RFC 8899 section 4.3). */
#define REXMITS_OF_SUSPICION 2
/** RFC 8899 section 5.1.1: PMTU_RAISE_TIMER. */
#define RAISE_INTERVAL (UINT64_C(600000) * TCP_MS)
/** A probe that is smaller than this above what passes anyway is not worth its packet. */
#define GAIN_MIN 32

/** Sizes that links and tunnels have: what a search tries, and RFC 1191's plateaus. */
static const uint16_t tcp_pmtu_sizes[] = {576, 1006, 1280, 1320, 1360, 1400, 1420, 1440, 1450, 1460,
	1472, 1480, 1492, 1500, 2002, 4352, 6000, 8166, 8900, 8950, 8976, 9000, 9180, 9216};
#define SIZES (sizeof tcp_pmtu_sizes / sizeof tcp_pmtu_sizes[0])

static uint32_t tcp_pmtu_ip_header(const struct tcp_conn *c)
{
	return ip_addr_is_v4(&c->id.remote) ? 20 : 40;
}

/** Headers of a full segment. */
static uint32_t tcp_pmtu_overhead(const struct tcp_conn *c)
{
	return tcp_pmtu_ip_header(c) + TCP_HEADER_LEN + (c->ts_on ? TCP_TS_LEN : 0);
}

/** The largest packet that this connection could send if the path took it. */
static uint16_t tcp_pmtu_most(const struct tcp_conn *c)
{
	uint32_t peers = c->peer_mss + tcp_pmtu_ip_header(c) + TCP_HEADER_LEN;

	return (uint16_t)u32_min(u32_min(c->path.mtu, peers), c->s->room + tcp_pmtu_overhead(c));
}

static struct tcp_pmtu *tcp_pmtu_get(struct tcp_conn *c)
{
	if (!c->pmtu)
		c->pmtu = calloc(1, sizeof *c->pmtu);
	return c->pmtu;
}

void tcp_pmtu_free(struct tcp_conn *c)
{
	free(c->pmtu);
	c->pmtu = NULL;
}

static void tcp_pmtu_use(struct tcp_conn *c, uint16_t mtu)
{
	c->mtu = mtu;
	tcp_conn_update_emss(c);
}

/** Look for sizes above the present one, @p high at most and first. */
static void tcp_pmtu_search(struct tcp_conn *c, uint16_t high)
{
	struct tcp_pmtu *p = tcp_pmtu_get(c);

	if (!p)
		return;
	p->high = high;
	p->size = 0;
	p->tries = 0;
	p->try_high = true;
	p->raise_at = 0;
}

void tcp_pmtu_path_changed(struct tcp_conn *c)
{
	uint16_t mtu = c->path.mtu;

	c->path_mtu = mtu;
	if (mtu <= c->mtu) {
		tcp_pmtu_use(c, mtu);
		if (c->pmtu)
			tcp_pmtu_search(c, tcp_pmtu_most(c));
		return;
	}
	/* RFC 1191 section 6.3 raises it and waits for messages, which may not come. Where probes
	 * cannot tell, that is all that one can do. */
	if (!c->sack_on)
		tcp_pmtu_use(c, mtu);
	else if (tcp_pmtu_most(c) > c->mtu)
		tcp_pmtu_search(c, tcp_pmtu_most(c));
}

/** Believe that packets larger than @p mtu do not pass. */
static void tcp_pmtu_fall(struct tcp_conn *c, uint16_t mtu)
{
	tcp_pmtu_use(c, mtu);
	for (uint32_t i = 0; i < c->sendq.nxt; i++) /* each piece has its own chances */
		tcp_sendq_at(&c->sendq, i)->rexmits = 0;
	c->largest_acked = (uint16_t)u32_min(c->largest_acked, c->emss);
	c->big_len = (uint16_t)u32_min(c->big_len, c->emss);
	tcp_loss_too_big(c);
}

/* ---- messages ------------------------------------------------------------------------------ */

static uint16_t tcp_pmtu_plateau_below(uint16_t size)
{
	unsigned i = SIZES - 1;

	while (i && tcp_pmtu_sizes[i] >= size)
		i--;
	return tcp_pmtu_sizes[i];
}

static void tcp_pmtu_believe(struct tcp_conn *c, uint16_t mtu)
{
	if (c->pmtu)
		c->pmtu->claimed = 0;
	c->s->stats.path_too_big++;
	ip_path_too_big(c->s->cfg.ip, &c->path, mtu, c->s->now);
	c->path_mtu = c->path.mtu;
	if (c->path.mtu >= c->mtu)
		return;
	tcp_pmtu_fall(c, c->path.mtu);
	if (c->pmtu)
		tcp_pmtu_search(c, tcp_pmtu_most(c));
}

/** About a probe: no need to wait for what does not come. */
static bool tcp_pmtu_probe_too_big(struct tcp_conn *c, uint32_t seq, uint16_t mtu)
{
	struct tcp_pmtu *p = c->pmtu;

	if (!p || !p->size || seq != p->seq || mtu >= p->size)
		return false;
	p->high = (uint16_t)u32_max(mtu, c->mtu);
	p->try_high = true;
	p->size = 0;
	p->tries = 0;
	return true;
}

bool tcp_pmtu_too_big(struct tcp_conn *c, uint32_t seq, uint16_t mtu)
{
	uint32_t i = tcp_sendq_find(&c->sendq, seq), size;
	uint16_t least = ip_addr_is_v4(&c->id.remote) ? MIN_V4 : BASE_V6;
	const struct tcp_record *r;
	struct tcp_pmtu *p;

	if (!tcp_synchronized(c) || i >= c->sendq.count)
		return false; /* a SYN is never too big */
	r = tcp_sendq_at(&c->sendq, i);
	size = r->len + tcp_pmtu_overhead(c);
	if (!mtu)
		mtu = tcp_pmtu_plateau_below((uint16_t)size);
	if (mtu < least)
		mtu = least;
	/* RFC 5927 section 7.2: it must be smaller than what was sent. */
	if (mtu >= c->mtu || mtu >= size)
		return tcp_pmtu_probe_too_big(c, seq, mtu);
	/* Initial discovery: nothing that large has ever passed. */
	if (c->largest_acked + tcp_pmtu_overhead(c) <= mtu) {
		tcp_pmtu_believe(c, mtu);
		return true;
	}
	/* A path that did take more: wait for the loss that must follow, if it is true. */
	p = tcp_pmtu_get(c);
	if (!p)
		return false;
	if (!p->high)
		p->high = tcp_pmtu_most(c);
	p->claimed = mtu;
	p->claimed_seq = seq;
	return true;
}

/** Record @p r is lost: is that what a message told? */
static bool tcp_pmtu_claim_holds(const struct tcp_conn *c, const struct tcp_record *r)
{
	const struct tcp_pmtu *p = c->pmtu;

	return p && p->claimed && seq_leq(r->seq, p->claimed_seq) &&
	       seq_lt(p->claimed_seq, tcp_record_end(r)) &&
	       r->len + tcp_pmtu_overhead(c) > p->claimed;
}

/* ---- black holes --------------------------------------------------------------------------- */

/**
 * Nothing as large as @p r has arrived since its transmission before the last. As timeouts double,
 * that was half as long before the last one as has passed since.
 */
static bool tcp_pmtu_large_vanish(const struct tcp_conn *c, const struct tcp_record *r)
{
	uint64_t since = r->sent_at - u64_min((c->s->now - r->sent_at) / 2, r->sent_at);

	uint32_t now = c->s->now_ms;

	return r->len > TCP_PMTU_SMALL &&
	       (c->big_len < r->len || now - c->big_ms > now - (uint32_t)(since / TCP_MS));
}

static bool tcp_pmtu_black_hole(struct tcp_conn *c, const struct tcp_record *r)
{
	uint32_t size = r->len + tcp_pmtu_overhead(c);
	bool v4 = ip_addr_is_v4(&c->id.remote);
	uint16_t base = v4 ? BASE_V4 : BASE_V6;

	if (v4 && size <= BASE_V4)
		base = MIN_V4;
	if (size <= base)
		return false;
	c->s->stats.black_holes++;
	/* It may have been an outage: then what failed passes again. */
	if (!c->pmtu || c->pmtu->high < size || c->pmtu->raise_at)
		tcp_pmtu_search(c, (uint16_t)size);
	else
		tcp_pmtu_search(c, c->pmtu->high);
	tcp_pmtu_fall(c, base);
	return true;
}

bool tcp_pmtu_suspect(struct tcp_conn *c, uint32_t i)
{
	const struct tcp_record *r = tcp_sendq_at(&c->sendq, i);

	if (tcp_pmtu_claim_holds(c, r)) {
		tcp_pmtu_believe(c, c->pmtu->claimed);
		return true;
	}
	return r->rexmits >= REXMITS_OF_SUSPICION && tcp_pmtu_large_vanish(c, r) &&
	       tcp_pmtu_black_hole(c, r);
}

/* ---- search -------------------------------------------------------------------------------- */

/** What lies between is tried only if it is worth its packets. */
static bool tcp_pmtu_too_little(const struct tcp_conn *c, uint16_t size)
{
	return size < c->mtu + GAIN_MIN && size < c->pmtu->high;
}

/** The size to try next, or 0: no more. */
static uint16_t tcp_pmtu_candidate(const struct tcp_conn *c)
{
	const struct tcp_pmtu *p = c->pmtu;
	unsigned lo = 0, hi = SIZES;

	if (p->try_high)
		return p->high;
	while (lo < SIZES && tcp_pmtu_sizes[lo] <= c->mtu)
		lo++;
	while (hi > lo && tcp_pmtu_sizes[hi - 1] > p->high)
		hi--;
	/* The middle; or what is above it, if only that is worth it. */
	for (lo += (hi - lo) / 2; lo < hi; lo++) {
		if (!tcp_pmtu_too_little(c, tcp_pmtu_sizes[lo]))
			return tcp_pmtu_sizes[lo];
	}
	return 0;
}

static void tcp_pmtu_end_search(struct tcp_conn *c)
{
	struct tcp_pmtu *p = c->pmtu;

	if (c->mtu >= tcp_pmtu_most(c) && !p->claimed) {
		tcp_pmtu_free(c);
		return;
	}
	p->size = 0;
	p->raise_at = c->s->now + RAISE_INTERVAL;
}

/**
 * What is in flight decides how large a probe can be, so that they differ. What a smaller one says
 * holds for a larger one too, but not the other way round: so the largest is what MAX_PROBES have
 * spoken against.
 */
static void tcp_pmtu_probe_lost(struct tcp_conn *c)
{
	struct tcp_pmtu *p = c->pmtu;

	p->lost = p->tries && p->lost > p->size ? p->lost : p->size;
	p->size = 0;
	if (++p->tries < MAX_PROBES)
		return;
	p->tries = 0;
	p->try_high = false;
	p->high = p->lost - 1;
}

/** Could the answer to the probe still come? */
static bool tcp_pmtu_awaits_answer(const struct tcp_conn *c)
{
	const struct tcp_pmtu *p = c->pmtu;

	return seq_lt(c->snd_una, p->seq + p->len) ||
	       c->s->now - p->sent_at < 3 * c->rto.srtt + TCP_RTO_MIN;
}

static void tcp_pmtu_send_probe(struct tcp_conn *c, uint16_t size)
{
	struct tcp_pmtu *p = c->pmtu;
	uint32_t len = size - tcp_pmtu_overhead(c), flight = tcp_flight(c);

	/* With less in flight, a smaller size is tried. */
	if (len > flight)
		len = flight;
	size = (uint16_t)(len + tcp_pmtu_overhead(c));
	if (tcp_pmtu_too_little(c, size))
		return;
	if (tcp_send_copy(c, c->snd_nxt - len, len))
		return;
	c->s->stats.pmtu_probes++;
	p->size = size;
	p->seq = c->snd_nxt - len;
	p->len = len;
	p->sent_at = c->s->now;
}

void tcp_pmtu_consider(struct tcp_conn *c)
{
	struct tcp_pmtu *p = c->pmtu;
	uint16_t size;

	if (p->claimed && seq_gt(c->snd_una, p->claimed_seq))
		p->claimed = 0; /* it arrived: the message was wrong, or forged */
	if (p->raise_at) {
		if (c->s->now < p->raise_at)
			return;
		tcp_pmtu_search(c, tcp_pmtu_most(c));
		if (!c->sack_on) /* try it; a black hole will be found again */
			tcp_pmtu_use(c, p->high);
	}
	if (p->size && tcp_pmtu_awaits_answer(c))
		return;
	if (p->size)
		tcp_pmtu_probe_lost(c);
	p->high = (uint16_t)u32_min(p->high, tcp_pmtu_most(c));
	size = c->sack_on && p->high > c->mtu ? tcp_pmtu_candidate(c) : 0;
	if (!size)
		tcp_pmtu_end_search(c);
	else if (!tcp_ca_recovering(c) && !c->sendq.sacked && !c->fin_queued && tcp_flight(c))
		tcp_pmtu_send_probe(c, size);
}

void tcp_pmtu_sack(struct tcp_conn *c, struct tcp_segment *seg)
{
	struct tcp_pmtu *p = c->pmtu;
	struct tcp_range dup;

	/* The text itself may be reported as well, when something before it was lost. */
	if (!p->len || !tcp_undo_dsack(seg, &dup) || dup.left != p->seq ||
		dup.right != p->seq + p->len)
		return;
	seg->n_sack--;
	for (unsigned i = 0; i < seg->n_sack; i++)
		seg->sack[i] = seg->sack[i + 1];
	if (!p->size)
		return;
	c->s->stats.pmtu_raised++;
	tcp_pmtu_use(c, p->size);
	p->size = 0;
	p->tries = 0;
	p->try_high = false;
	if (c->mtu >= p->high)
		tcp_pmtu_end_search(c);
}
