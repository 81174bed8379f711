/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BBR's model of the path. In three points it is more patient than the draft, for paths that lose
 * packets without being full:
 *
 * - The lower bounds come down only after a round that lost more than the threshold, not after any
 *   loss: at 1 % of random loss every round of a long path has one.
 * - A few segments lost are not yet a rate: what chance makes of the threshold's rate, by twice its
 *   standard deviation, does not count. At 1 % of random loss one window in a hundred of two
 *   hundred segments loses more than 2 %, and Startup has several such windows.
 * - A round trip that exceeds the shortest known by a 128th, and by the time of what leaves
 *   together at either end, shows that no queue stands: PROBE_RTT, which would empty it, is put
 * off.
 */
#include "tcp/cc_bbr.h"
#include "tcp/pace.h"
#include "tcp/seq.h"

#define MS UINT64_C(1000000)

/* Draft sections 2.7 and 2.8. */
#define LOSS_THRESH_DIVISOR 50  /**< BBR.LossThresh: 2 % */
#define BETA                179 /**< BBR.Beta: 0.7 */
#define HEADROOM            38  /**< BBR.Headroom: 0.15 */
#define FULL_BW_COUNT       3
#define STARTUP_LOSS_EVENTS 6
#define EXTRA_ACKED_ROUNDS  10
#define MIN_RTT_LEN         (10000 * MS)
#define PROBE_RTT_INTERVAL  (5000 * MS)
/** More than half of what is delivered is marked. */
#define ECN_THRESH_DIVISOR 2
#define ECN_ALPHA_WEIGHT   16
#define ECN_FACTOR         3

void bbr_model_init(struct tcp_cc *cc, uint64_t now)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->min_rtt = b->probe_rtt_min = UINT64_MAX;
	b->min_rtt_at = b->probe_rtt_min_at = now;
	b->inflight_hi = BBR_INFINITE;
	b->ecn_alpha = BBR_UNIT;
	bbr_reset_lower_bounds(b);
}

uint64_t bbr_max_bw(const struct tcp_bbr *b)
{
	return u64_max(b->max_bw[0], b->max_bw[1]);
}

void bbr_next_bw_cycle(struct tcp_bbr *b)
{
	if (!b->max_bw[1])
		return; /* nothing was measured in it */
	b->max_bw[0] = b->max_bw[1];
	b->max_bw[1] = 0;
}

void bbr_start_round(struct tcp_bbr *b, uint32_t delivered)
{
	b->next_round = delivered;
}

void bbr_reset_congestion_signals(struct tcp_bbr *b)
{
	b->loss_round_lost = b->loss_round_ce = 0;
	b->loss_events = 0;
	b->bw_latest = 0;
	b->inflight_latest = 0;
}

void bbr_reset_lower_bounds(struct tcp_bbr *b)
{
	b->bw_lo = UINT64_MAX;
	b->inflight_lo = BBR_INFINITE;
}

void bbr_reset_full_bw(struct tcp_bbr *b, uint64_t full_bw)
{
	b->full_bw = full_bw;
	b->full_bw_count = 0;
	b->full_bw_now = false;
}

/* ---- volumes ----------------------------------------------------------------------------- */

uint32_t bbr_bdp(const struct tcp_cc *cc, uint64_t bw, uint32_t gain)
{
	const struct tcp_bbr *b = cc->u.bbr;
	uint64_t us = b->min_rtt / 1000;

	if (b->min_rtt == UINT64_MAX)
		return tcp_cc_initial_window(cc->smss);
	/* Below 2^64 up to 10 Tbit/s times 15 s. */
	bw = bw * us / 1000000 * gain / BBR_UNIT;
	return (uint32_t)u64_min(bw, TCP_CWND_MAX);
}

uint32_t bbr_inflight(const struct tcp_cc *cc, uint64_t bw, uint32_t gain)
{
	const struct tcp_bbr *b = cc->u.bbr;
	/* And a pair while the pipe is probed. */
	uint32_t quanta = 3 * tcp_pace_quantum(bw, cc->smss);

	if (b->state == BBR_UP)
		quanta += 2 * cc->smss;
	return u32_max(bbr_bdp(cc, bw, gain) + quanta, 4 * cc->smss);
}

uint32_t bbr_target_inflight(const struct tcp_cc *cc)
{
	return u32_min(bbr_bdp(cc, cc->u.bbr->bw, BBR_UNIT), cc->cwnd);
}

uint32_t bbr_inflight_with_headroom(const struct tcp_cc *cc)
{
	uint32_t hi = cc->u.bbr->inflight_hi, room;

	if (hi == BBR_INFINITE)
		return hi;
	room = u32_max((uint32_t)((uint64_t)hi * HEADROOM / BBR_UNIT), cc->smss);
	return u32_max(hi > room ? hi - room : 0, 4 * cc->smss);
}

/* ---- what an ACK tells ------------------------------------------------------------------- */

/**
 * Is @p lost, of @p all, more than a healthy path that is not full loses? Of losses at random the
 * variance, in segments, is what is expected.
 */
static bool bbr_exceeds(const struct tcp_cc *cc, uint32_t lost, uint32_t all)
{
	uint64_t expected = all / LOSS_THRESH_DIVISOR, excess = lost - expected;

	return lost > cc->smss && lost > expected && excess * excess > 4 * expected * cc->smss;
}

bool bbr_inflight_too_high(const struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	return bbr_exceeds(cc, a->rate->lost, a->rate->tx_in_flight) || cc->u.bbr->too_much_marked;
}

static void bbr_update_round(struct tcp_cc *cc, const struct tcp_rate_sample *s)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->round_start = seq_geq(s->prior_delivered, b->next_round);
	if (!b->round_start)
		return;
	bbr_start_round(b, s->total_delivered);
	b->rtt_slack = b->min_rtt / 128;
	if (b->bw)
		b->rtt_slack +=
			2 * tcp_pace_quantum(b->bw, cc->smss) * UINT64_C(1000000000) / b->bw;
	b->round_count++;
	b->rounds_since_probe++;
}

/** Draft section 5.5.10.3: bounds that hold until the next probe. */
static void bbr_adapt_lower_bounds(struct tcp_cc *cc)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint32_t cut = BBR_UNIT - b->ecn_alpha / ECN_FACTOR;

	if (bbr_probes_bandwidth(b) || (!b->too_much_lost && !b->loss_round_ce))
		return;
	if (b->inflight_lo == BBR_INFINITE)
		b->inflight_lo = cc->cwnd;
	if (b->loss_round_ce)
		b->inflight_lo = (uint32_t)((uint64_t)b->inflight_lo * cut / BBR_UNIT);
	if (!b->too_much_lost)
		return;
	if (b->bw_lo == UINT64_MAX)
		b->bw_lo = bbr_max_bw(b);
	b->bw_lo = u64_max(b->bw_latest, b->bw_lo * BETA / BBR_UNIT);
	b->inflight_lo =
		u32_max(b->inflight_latest, (uint32_t)((uint64_t)b->inflight_lo * BETA / BBR_UNIT));
}

/** A round of losses and marks is over: what was their share? */
static void bbr_close_loss_round(struct tcp_cc *cc, const struct tcp_rate_sample *s)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint32_t delivered = s->total_delivered - b->loss_round_delivered;
	uint32_t share =
		delivered ? (uint32_t)((uint64_t)b->loss_round_ce * BBR_UNIT / delivered) : 0;

	share = u32_min(share, BBR_UNIT);
	b->too_much_lost = bbr_exceeds(cc, b->loss_round_lost, delivered + b->loss_round_lost);
	b->too_much_marked = share > BBR_UNIT / ECN_THRESH_DIVISOR;
	b->ecn_alpha = (b->ecn_alpha * (ECN_ALPHA_WEIGHT - 1) + share) / ECN_ALPHA_WEIGHT;
	bbr_adapt_lower_bounds(cc);
	if (b->state == BBR_STARTUP && b->loss_events >= STARTUP_LOSS_EVENTS && b->too_much_lost) {
		/* Draft section 5.3.1.3: the queue overflows. */
		b->full_bw_reached = true;
		b->inflight_hi = u32_max(bbr_bdp(cc, bbr_max_bw(b), BBR_UNIT), b->inflight_latest);
	}
	b->loss_round_lost = b->loss_round_ce = 0;
	b->loss_round_delivered = s->total_delivered;
	b->loss_events = 0;
}

static void bbr_update_congestion(struct tcp_cc *cc, const struct tcp_cc_ack *a, uint64_t rate)
{
	struct tcp_bbr *b = cc->u.bbr;
	const struct tcp_rate_sample *s = a->rate;

	b->bw_latest = u64_max(b->bw_latest, rate);
	b->inflight_latest = u32_max(b->inflight_latest, s->delivered);
	b->loss_round_lost += a->lost;
	if (a->lost && b->loss_events < UINT8_MAX)
		b->loss_events++;
	if (a->ece)
		b->loss_round_ce += a->delivered;
	b->loss_round_start = seq_geq(s->prior_delivered, b->loss_round);
	if (!b->loss_round_start)
		return;
	b->loss_round = s->total_delivered;
	bbr_close_loss_round(cc, s);
}

static void bbr_max_update(struct bbr_max *m, uint32_t v, uint32_t round, uint32_t len)
{
	if (round - m->since >= len / 2) {
		m->old = m->young;
		m->young = 0;
		m->since = round;
	}
	m->young = u32_max(m->young, v);
}

/** Draft section 5.5.9: how much more is acknowledged at a time than the rate explains. */
static void bbr_update_aggregation(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint64_t us = u64_min((a->now - b->extra_since) / 1000, 100 * 1000000);
	uint64_t expected = b->bw * us / 1000000;
	uint32_t len = b->full_bw_reached ? EXTRA_ACKED_ROUNDS : 2;

	if (b->extra_delivered <= expected) {
		b->extra_delivered = 0;
		b->extra_since = a->now;
		expected = 0;
	}
	b->extra_delivered = u32_min(b->extra_delivered + a->delivered, TCP_CWND_MAX);
	bbr_max_update(&b->extra_acked, u32_min(b->extra_delivered - (uint32_t)expected, cc->cwnd),
		b->round_count, len);
}

/** Draft section 5.3.1.2: three rounds in which the rate did not grow by a quarter. */
static void bbr_check_full_bw(struct tcp_bbr *b, const struct tcp_rate_sample *s, uint64_t rate)
{
	if (b->full_bw_now || s->app_limited)
		return;
	if (rate >= b->full_bw + b->full_bw / 4) {
		bbr_reset_full_bw(b, rate);
		return;
	}
	if (!b->round_start)
		return;
	b->full_bw_now = ++b->full_bw_count >= FULL_BW_COUNT;
	b->full_bw_reached |= b->full_bw_now;
}

void bbr_update_model(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint64_t rate = tcp_rate_of(a->rate);

	/* It may begin in the middle of a connection, at any count. */
	if (!b->bw)
		b->next_round = b->loss_round = b->loss_round_delivered = a->rate->prior_delivered;
	bbr_update_round(cc, a->rate);
	if (rate >= bbr_max_bw(b) || !a->rate->app_limited)
		b->max_bw[1] = u64_max(b->max_bw[1], rate);
	bbr_update_congestion(cc, a, rate);
	bbr_update_aggregation(cc, a);
	bbr_check_full_bw(b, a->rate, rate);
	b->bw = u64_min(bbr_max_bw(b), b->bw_lo);
}

void bbr_advance_latest(struct tcp_bbr *b, const struct tcp_cc_ack *a)
{
	if (!b->loss_round_start)
		return;
	b->bw_latest = tcp_rate_of(a->rate);
	b->inflight_latest = a->rate->delivered;
	b->loss_round_start = false;
}

bool bbr_update_min_rtt(struct tcp_bbr *b, const struct tcp_cc_ack *a)
{
	bool due = a->now - b->probe_rtt_min_at > PROBE_RTT_INTERVAL;

	if (a->rtt && (a->rtt < b->probe_rtt_min || due)) {
		b->probe_rtt_min = a->rtt;
		b->probe_rtt_min_at = a->now;
	} else if (a->rtt && a->rtt - b->min_rtt <= b->rtt_slack) {
		b->probe_rtt_min_at = b->min_rtt_at = a->now;
	}
	if (b->probe_rtt_min < b->min_rtt || a->now - b->min_rtt_at > MIN_RTT_LEN) {
		b->min_rtt = b->probe_rtt_min;
		b->min_rtt_at = b->probe_rtt_min_at;
	}
	return due;
}
