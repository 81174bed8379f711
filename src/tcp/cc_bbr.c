/* SPDX-License-Identifier: BSD-2-Clause */
/* BBR's state machine (draft-ietf-ccwg-bbr section 5.3) and what follows from it: how fast, how
 * much. */
#include "tcp/cc_bbr.h"
#include "tcp/seq.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)

/* Draft section 2: gains in 1/256. */
#define STARTUP_PACING_GAIN 709 /**< 4 ln 2 = 2.77 */
#define DRAIN_PACING_GAIN   90  /**< 0.35 */
#define DOWN_PACING_GAIN    230 /**< 0.9 */
#define UP_PACING_GAIN      320 /**< 1.25 */
#define CWND_GAIN           512 /**< 2 */
#define UP_CWND_GAIN        576 /**< 2.25 */
#define PROBE_RTT_CWND_GAIN 128 /**< 0.5 */
#define BETA                179 /**< 0.7 */
#define PACING_MARGIN       100 /**< a 100th below the bandwidth: queues drain */
#define PROBE_RTT_TIME      (200 * MS)
#define PROBE_WAIT          (2000 * MS)
/** Rounds after which Reno would have grown as much as we probe for (section 5.3.3.5.1). */
#define RENO_ROUNDS_MAX 63
#define UP_ROUNDS_MAX   30

static uint32_t bbr_draw(struct tcp_bbr *b)
{
	b->seed = b->seed * 1664525 + 1013904223;
	return b->seed >> 8;
}

static void bbr_enter(
	struct tcp_bbr *b, enum bbr_state state, uint32_t pacing_gain, uint32_t cwnd_gain)
{
	b->state = (uint8_t)state;
	b->pacing_gain = pacing_gain;
	b->cwnd_gain = cwnd_gain;
}

static void bbr_init(struct tcp_cc *cc, uint64_t now)
{
	struct tcp_bbr *b = calloc(1, sizeof *b);

	if (!b) { /* without its model it cannot be; the connection can */
		cc->ops = &tcp_cc_newreno;
		cc->ops->init(cc, now);
		return;
	}
	cc->u.bbr = b;
	b->seed = (uint32_t)(now / 1000);
	b->extra_since = now;
	bbr_model_init(cc, now);
	bbr_enter(b, BBR_STARTUP, STARTUP_PACING_GAIN, CWND_GAIN);
}

static void bbr_fini(struct tcp_cc *cc)
{
	free(cc->u.bbr);
	cc->u.bbr = NULL;
}

/* ---- ProbeBW ------------------------------------------------------------------------------ */

static void bbr_start_down(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;

	bbr_reset_congestion_signals(b);
	b->up_growth = 0;
	/* Section 5.3.3.5.3: at some time from two seconds on, lest flows probe in step. */
	b->rounds_since_probe = bbr_draw(b) & 1;
	b->probe_wait = PROBE_WAIT + bbr_draw(b) % 1000 * MS;
	b->cycle_at = a->now;
	b->ack_phase = BBR_ACKS_PROBE_STOPPING;
	bbr_start_round(b, a->rate->total_delivered);
	bbr_enter(b, BBR_DOWN, DOWN_PACING_GAIN, CWND_GAIN);
}

static void bbr_start_cruise(struct tcp_bbr *b)
{
	bbr_enter(b, BBR_CRUISE, BBR_UNIT, CWND_GAIN);
}

static void bbr_start_refill(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;

	bbr_reset_lower_bounds(b);
	b->up_rounds = 0;
	b->up_rest = 0;
	b->ack_phase = BBR_ACKS_REFILLING;
	bbr_start_round(b, a->rate->total_delivered);
	bbr_enter(b, BBR_REFILL, BBR_UNIT, CWND_GAIN);
}

/** Double what inflight_hi grows by in a round. */
static void bbr_raise_slope(struct tcp_cc *cc)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->up_growth = (uint32_t)u64_min((uint64_t)cc->smss << b->up_rounds, cc->cwnd);
	if (b->up_rounds < UP_ROUNDS_MAX)
		b->up_rounds++;
}

static void bbr_start_up(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->probe_samples = true;
	b->ack_phase = BBR_ACKS_PROBE_STARTING;
	b->cycle_at = a->now;
	bbr_start_round(b, a->rate->total_delivered);
	bbr_reset_full_bw(b, tcp_rate_of(a->rate));
	bbr_enter(b, BBR_UP, UP_PACING_GAIN, UP_CWND_GAIN);
	bbr_raise_slope(cc);
}

/** The time has come, or Reno would have sent more by now. */
static bool bbr_time_to_probe(const struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	const struct tcp_bbr *b = cc->u.bbr;
	uint32_t reno = bbr_target_inflight(cc) / cc->smss;

	return a->now - b->cycle_at > b->probe_wait ||
	       b->rounds_since_probe >= u32_min(reno, RENO_ROUNDS_MAX);
}

static bool bbr_time_to_cruise(const struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	return a->in_flight <= bbr_inflight_with_headroom(cc) &&
	       a->in_flight <= bbr_inflight(cc, bbr_max_bw(cc->u.bbr), BBR_UNIT);
}

/** Section 5.3.3.5.4: the bound rises as far as it is used. */
static void bbr_probe_inflight_upward(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint64_t gain = (uint64_t)a->delivered * b->up_growth + b->up_rest;
	b->up_rest = (uint32_t)(gain % cc->cwnd);
	b->inflight_hi = (uint32_t)u64_min(b->inflight_hi + gain / cc->cwnd, TCP_CWND_MAX);
	if (b->round_start)
		bbr_raise_slope(cc);
}

static void bbr_handle_inflight_too_high(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint32_t least = (uint32_t)((uint64_t)bbr_target_inflight(cc) * BETA / BBR_UNIT);

	b->probe_samples = false; /* one reaction to one probe */
	if (!a->rate->app_limited)
		b->inflight_hi = u32_max(a->rate->tx_in_flight, least);
	if (b->state == BBR_UP)
		bbr_start_down(cc, a);
}

/** Section 5.5.10.2: what the last probe found the path to take. */
static void bbr_adapt_upper_bounds(struct tcp_cc *cc, const struct tcp_cc_ack *a, bool at_bound)
{
	struct tcp_bbr *b = cc->u.bbr;

	if (b->ack_phase == BBR_ACKS_PROBE_STARTING && b->round_start)
		b->ack_phase = BBR_ACKS_PROBE_FEEDBACK;
	if (b->ack_phase == BBR_ACKS_PROBE_STOPPING && b->round_start) {
		b->probe_samples = false;
		b->ack_phase = BBR_ACKS_INIT;
		if (bbr_in_probe_bw(b) && !a->rate->app_limited)
			bbr_next_bw_cycle(b);
	}
	if (bbr_inflight_too_high(cc, a)) {
		if (b->probe_samples)
			bbr_handle_inflight_too_high(cc, a);
		return;
	}
	if (b->inflight_hi == BBR_INFINITE)
		return;
	b->inflight_hi = u32_max(b->inflight_hi, u32_min(a->rate->tx_in_flight, TCP_CWND_MAX));
	if (b->state == BBR_UP && at_bound)
		bbr_probe_inflight_upward(cc, a);
}

static void bbr_probe_up(struct tcp_cc *cc, const struct tcp_cc_ack *a, bool at_bound)
{
	struct tcp_bbr *b = cc->u.bbr;

	/* While our own bound holds us back, the rate says nothing of the path. */
	if (at_bound)
		bbr_reset_full_bw(b, tcp_rate_of(a->rate));
	else if (b->full_bw_now)
		bbr_start_down(cc, a);
}

static void bbr_update_cycle(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;
	bool at_bound = a->cwnd_limited && cc->cwnd >= b->inflight_hi; /* before it moves */

	if (!b->full_bw_reached)
		return;
	bbr_adapt_upper_bounds(cc, a, at_bound);
	switch ((enum bbr_state)b->state) {
	case BBR_DOWN:
		if (bbr_time_to_probe(cc, a))
			bbr_start_refill(cc, a);
		else if (bbr_time_to_cruise(cc, a))
			bbr_start_cruise(b);
		break;
	case BBR_CRUISE:
		if (bbr_time_to_probe(cc, a))
			bbr_start_refill(cc, a);
		break;
	case BBR_REFILL:
		if (b->round_start)
			bbr_start_up(cc, a);
		break;
	case BBR_UP:
		bbr_probe_up(cc, a, at_bound);
		break;
	case BBR_STARTUP:
	case BBR_DRAIN:
	case BBR_PROBE_RTT:
		break;
	}
}

/* ---- the other states --------------------------------------------------------------------- */

static void bbr_check_startup_and_drain(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;

	if (b->state == BBR_STARTUP && b->full_bw_reached)
		bbr_enter(b, BBR_DRAIN, DRAIN_PACING_GAIN, CWND_GAIN);
	if (b->state == BBR_DRAIN && a->in_flight <= bbr_inflight(cc, bbr_max_bw(b), BBR_UNIT))
		bbr_start_down(cc, a);
}

static uint32_t bbr_probe_rtt_cwnd(const struct tcp_cc *cc)
{
	return u32_max(bbr_bdp(cc, cc->u.bbr->bw, PROBE_RTT_CWND_GAIN), 4 * cc->smss);
}

static void bbr_leave_probe_rtt(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->probe_rtt_min_at = a->now;
	cc->held_back = false;
	cc->cwnd = u32_max(cc->cwnd, b->saved_cwnd);
	bbr_reset_lower_bounds(b);
	if (b->full_bw_reached) {
		bbr_start_down(cc, a);
		bbr_start_cruise(b);
	} else {
		bbr_enter(b, BBR_STARTUP, STARTUP_PACING_GAIN, CWND_GAIN);
	}
}

/** Section 5.3.4.3: low for 200 ms and a round trip, which show the path without our queue. */
static void bbr_probe_rtt(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;

	if (!b->probe_rtt_done_at) {
		if (a->in_flight > bbr_probe_rtt_cwnd(cc))
			return;
		b->probe_rtt_done_at = a->now + PROBE_RTT_TIME;
		b->probe_rtt_round_done = false;
		bbr_start_round(b, a->rate->total_delivered);
		return;
	}
	b->probe_rtt_round_done |= b->round_start;
	if (b->probe_rtt_round_done && a->now > b->probe_rtt_done_at)
		bbr_leave_probe_rtt(cc, a);
}

static void bbr_check_probe_rtt(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;
	bool due = bbr_update_min_rtt(b, a);

	if (b->state != BBR_PROBE_RTT && due && !b->idle_restart) {
		bbr_enter(b, BBR_PROBE_RTT, BBR_UNIT, PROBE_RTT_CWND_GAIN);
		/* After a timeout the window from before it is what to come back to. */
		b->saved_cwnd = b->after_timeout ? u32_max(b->saved_cwnd, cc->cwnd) : cc->cwnd;
		b->probe_rtt_done_at = 0;
		b->ack_phase = BBR_ACKS_PROBE_STOPPING;
		bbr_start_round(b, a->rate->total_delivered);
		cc->held_back = true; /* what is measured meanwhile is our doing */
	}
	if (b->state == BBR_PROBE_RTT)
		bbr_probe_rtt(cc, a);
	if (a->delivered)
		b->idle_restart = false;
}

/* ---- how fast, how much ------------------------------------------------------------------- */

static void bbr_set_pacing(struct tcp_cc *cc, uint32_t gain)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint64_t rate = b->bw * gain / BBR_UNIT;

	rate -= rate / PACING_MARGIN;
	/* Never slower than the smallest window in a round trip: after an outage samples tell of
	 * next to nothing, and pacing by them would keep it so. */
	if (b->min_rtt != UINT64_MAX && bbr_bdp(cc, rate, BBR_UNIT) < 4 * cc->smss)
		rate = 4 * cc->smss * UINT64_C(1000000) / u64_max(b->min_rtt / 1000, 1);
	if (rate && (b->full_bw_reached || rate > cc->pacing_rate))
		cc->pacing_rate = rate;
}

/** Section 5.6.4.7. */
static uint32_t bbr_bound_by_model(const struct tcp_cc *cc, uint32_t w)
{
	const struct tcp_bbr *b = cc->u.bbr;
	uint32_t cap = BBR_INFINITE;

	if (b->state == BBR_CRUISE || b->state == BBR_PROBE_RTT)
		cap = bbr_inflight_with_headroom(cc);
	else if (bbr_in_probe_bw(b))
		cap = b->inflight_hi;
	cap = u32_max(u32_min(cap, b->inflight_lo), 4 * cc->smss);
	w = u32_min(w, cap);
	return b->state == BBR_PROBE_RTT ? u32_min(w, bbr_probe_rtt_cwnd(cc)) : w;
}

static void bbr_set_cwnd(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;
	uint32_t most = bbr_inflight(cc, b->bw, b->cwnd_gain), w = cc->cwnd;

	most += u32_max(b->extra_acked.young, b->extra_acked.old);
	if (b->after_timeout) { /* one for one, until recovery is over */
		cc->cwnd = u32_min(w + a->delivered, most);
		return;
	}
	if (b->full_bw_reached)
		w = u32_min(w + a->delivered, most);
	else if (w < most || a->rate->total_delivered < 2 * tcp_cc_initial_window(cc->smss))
		w += a->delivered;
	w = u32_min(u32_max(w, 4 * cc->smss), TCP_CWND_MAX);
	cc->cwnd = bbr_bound_by_model(cc, w);
}

static void bbr_ack(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	struct tcp_bbr *b = cc->u.bbr;

	if (!cc->pacing_rate && a->srtt) /* section 5.6.2: until the first sample */
		cc->pacing_rate = (uint64_t)cc->cwnd * STARTUP_PACING_GAIN / BBR_UNIT *
				  UINT64_C(1000000000) / a->srtt;
	if (!a->rate->interval) { /* a loss, or nothing that can be relied on */
		b->loss_round_lost += a->lost;
		return;
	}
	bbr_update_model(cc, a);
	bbr_check_startup_and_drain(cc, a);
	bbr_update_cycle(cc, a);
	bbr_check_probe_rtt(cc, a);
	bbr_advance_latest(b, a);
	b->bw = u64_min(bbr_max_bw(b), b->bw_lo);
	bbr_set_pacing(cc, b->pacing_gain);
	bbr_set_cwnd(cc, a);
}

/* ---- what else happens -------------------------------------------------------------------- */

static void bbr_save_for_undo(struct tcp_cc *cc)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->undo_bw_lo = b->bw_lo;
	b->undo_inflight_lo = b->inflight_lo;
	b->undo_inflight_hi = b->inflight_hi;
}

/** The model sees losses and marks itself; this is only where an undo would lead back to. */
static void bbr_congestion(
	struct tcp_cc *cc, enum tcp_cc_signal why, uint32_t in_flight, uint64_t now)
{
	bbr_save_for_undo(cc);
}

static void bbr_timeout(struct tcp_cc *cc, uint32_t in_flight, uint64_t now)
{
	struct tcp_bbr *b = cc->u.bbr;

	bbr_save_for_undo(cc);
	if (b->state != BBR_PROBE_RTT)
		b->saved_cwnd = cc->cwnd;
	cc->cwnd = cc->smss;
	bbr_reset_full_bw(b, 0);
	b->after_timeout = true;
}

static void bbr_recovered(struct tcp_cc *cc, uint64_t now)
{
	struct tcp_bbr *b = cc->u.bbr;

	if (b->after_timeout && b->state != BBR_PROBE_RTT)
		cc->cwnd = u32_max(cc->cwnd, b->saved_cwnd);
	b->after_timeout = false;
}

/** Section 5.5.10.5. */
static void bbr_undo(struct tcp_cc *cc, uint64_t now)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->loss_round_lost = 0;
	b->too_much_lost = false;
	b->after_timeout = false;
	bbr_reset_full_bw(b, 0);
	b->bw_lo = u64_max(b->bw_lo, b->undo_bw_lo);
	b->inflight_lo = u32_max(b->inflight_lo, b->undo_inflight_lo);
	b->inflight_hi = u32_max(b->inflight_hi, b->undo_inflight_hi);
}

/** Section 5.4.1: at the rate that is known, without a gain. */
static void bbr_restart(struct tcp_cc *cc, uint64_t idle, uint64_t now)
{
	struct tcp_bbr *b = cc->u.bbr;

	b->idle_restart = true;
	b->extra_since = now;
	b->extra_delivered = 0;
	if (bbr_in_probe_bw(b))
		bbr_set_pacing(cc, BBR_UNIT);
}

static void bbr_info(const struct tcp_cc *cc, struct tcp_cc_info *out)
{
	static const char *const phase[] = {"Startup", "Drain", "ProbeBW_DOWN", "ProbeBW_CRUISE",
		"ProbeBW_REFILL", "ProbeBW_UP", "ProbeRTT"};

	out->phase = phase[cc->u.bbr->state];
	out->bandwidth = cc->u.bbr->bw;
}

const struct tcp_cc_ops tcp_cc_bbr = {.name = "bbr",
	.owns_cwnd = true,
	.init = bbr_init,
	.fini = bbr_fini,
	.ack = bbr_ack,
	.congestion = bbr_congestion,
	.timeout = bbr_timeout,
	.recovered = bbr_recovered,
	.undo = bbr_undo,
	.restart = bbr_restart,
	.info = bbr_info};
