/* SPDX-License-Identifier: BSD-2-Clause */
/* CUBIC (RFC 9438). Time within a period is counted in ms, windows in bytes. */
#include "tcp/cc.h"

#include "tcp/seq.h"

#define MS UINT64_C(1000000)

/** The longest time to be cubed, in ms: 10^15, times 65,535, still fits. */
#define T_MAX 100000
/**
 * Until a loss shows the path's capacity, grow by a 20th in each round trip: after an early end of
 * slow start the convex curve would take a minute to fill a long fat path. Linux does the same.
 */
#define UNKNOWN_GROWTH 20
/** A round trip longer than the least by this part of it: packets queue, the path is full. */
#define QUEUE_PART 16

/** Cube root, rounded down; @p x below 2^63. */
static uint32_t cubic_root(uint64_t x)
{
	uint64_t lo = 0, hi = (UINT64_C(1) << 21) - 1;

	while (lo < hi) {
		uint64_t mid = (lo + hi + 1) / 2;

		if (mid * mid * mid <= x)
			lo = mid;
		else
			hi = mid - 1;
	}
	return (uint32_t)lo;
}

static void cubic_init(struct tcp_cc *cc, uint64_t now)
{
}

/** A time that is never 0, which stands for none. It comes round, but differences are right. */
static uint32_t cubic_ms_of(uint64_t now)
{
	uint32_t ms = (uint32_t)(now / MS);

	return ms ? ms : 1;
}

/** RFC 9438 section 4.2: W_max as it was, or the window now if there is none (section 4.8). */
static void cubic_start_epoch(struct tcp_cc *cc, uint32_t now)
{
	struct tcp_cubic *q = &cc->u.cubic;
	uint64_t missing = q->w_max > cc->cwnd ? q->w_max - cc->cwnd : 0;

	q->epoch = now;
	q->paused = 0;
	q->w_est = cc->cwnd;
	q->acked = 0;
	q->origin = u32_max(q->w_max, cc->cwnd);
	/* Equation 2: K = cubic_root((W_max - cwnd_epoch) / C), C = 0.4 segments / s^3; in ms. */
	q->k = cubic_root(missing * 5 / 2 / cc->smss * UINT64_C(1000000000));
}

/** Equation 1: W_cubic(t) = C (t - K)^3 + W_max. */
static uint32_t cubic_w_cubic(const struct tcp_cc *cc, uint32_t t)
{
	const struct tcp_cubic *q = &cc->u.cubic;
	bool below = t < q->k;
	uint64_t d = u64_min(below ? q->k - t : t - q->k, T_MAX);
	uint64_t delta = d * d * d / 1000 * 4 / 10 / 1000 * cc->smss / 1000;

	if (below)
		return delta < q->origin ? q->origin - (uint32_t)delta : 0;
	return delta > TCP_CWND_MAX ? TCP_CWND_MAX : q->origin + (uint32_t)delta;
}

/**
 * Section 4.3: what AIMD with the same decrease would have; from the window before the reduction
 * on it grows like Reno.
 */
static void cubic_grow_w_est(struct tcp_cc *cc, uint32_t acked)
{
	struct tcp_cubic *q = &cc->u.cubic;

	q->acked += acked;
	while (q->acked >= cc->cwnd) {
		q->acked -= cc->cwnd;
		/* alpha = 3 (1 - 0.7) / (1 + 0.7), or 1. */
		q->w_est += q->w_est < q->cwnd_prior ? cc->smss * 9 / 17 : cc->smss;
	}
}

/** Where the window shall be one round trip from now: sections 4.4 and 4.5. */
static uint32_t cubic_target(const struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	uint32_t ms = cubic_ms_of(a->now + a->srtt);
	uint32_t w = cubic_w_cubic(cc, ms - cc->u.cubic.epoch);

	w = u32_min(w, cc->cwnd + cc->cwnd / 2);
	if (!cc->u.cubic.w_max)
		w = u32_max(w, cc->cwnd + cc->cwnd / UNKNOWN_GROWTH);
	return w;
}

static void cubic_avoid(struct tcp_cc *cc, const struct tcp_cc_ack *a, uint32_t acked)
{
	struct tcp_cubic *q = &cc->u.cubic;
	uint32_t now = cubic_ms_of(a->now), w;
	uint64_t gain;

	if (!q->epoch)
		cubic_start_epoch(cc, now);
	if (q->paused) { /* section 4.2: t has no part of the time without a use for the window */
		q->epoch += now - q->paused;
		q->paused = 0;
	}
	cubic_grow_w_est(cc, acked);
	if (cubic_w_cubic(cc, now - q->epoch) < q->w_est && q->w_est > cc->cwnd)
		cc->cwnd = q->w_est; /* the Reno-friendly region */
	w = cubic_target(cc, a);
	if (w <= cc->cwnd)
		return;
	/* (target - cwnd) / cwnd for each byte acknowledged; what the division leaves is kept. */
	gain = (uint64_t)(w - cc->cwnd) * acked + cc->quota;
	cc->quota = (uint32_t)(gain % cc->cwnd);
	cc->cwnd += (uint32_t)(gain / cc->cwnd);
}

static void cubic_ack(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	uint32_t acked = a->acked;

	cc->queue = a->srtt > a->min_rtt + a->min_rtt / QUEUE_PART;
	if (!tcp_cc_may_grow(cc, a)) {
		if (!cc->u.cubic.paused)
			cc->u.cubic.paused = cubic_ms_of(a->now);
		return;
	}
	if (cc->cwnd < cc->ssthresh)
		acked = tcp_cc_slow_start(cc, a);
	if (cc->cwnd >= cc->ssthresh && acked)
		cubic_avoid(cc, a, u32_min(acked, cc->cwnd));
}

/**
 * What section 4.6 takes beta of. The window, which it allows where an unused one does not grow;
 * what is in flight falls short of it by fractions of a segment, and by what left before the loss
 * showed: nothing for large windows, a fifth for small ones. What was in flight, if the window is
 * not in use, or doubles while packets queue: then much of it has not been tried yet.
 */
static uint32_t cubic_window_tried(const struct tcp_cc *cc, uint32_t in_flight)
{
	bool doubles = cc->cwnd < cc->ssthresh;

	if (doubles && !cc->queue)
		return cc->cwnd;
	return u32_min(cc->cwnd, doubles ? in_flight : in_flight + 3 * cc->smss);
}

/**
 * Section 4.7, fast convergence: when the maximum fell, leave room for a new flow, if we have "been
 * using all the network bandwidth". Where nothing queues we have not; the loss was chance.
 */
static uint32_t cubic_plateau(const struct tcp_cc *cc)
{
	bool fell = cc->cwnd < cc->u.cubic.w_max;

	return fell && cc->queue ? (uint32_t)((uint64_t)cc->cwnd * 17 / 20) : cc->cwnd;
}

static void cubic_congestion(
	struct tcp_cc *cc, enum tcp_cc_signal why, uint32_t in_flight, uint64_t now)
{
	struct tcp_cubic *q = &cc->u.cubic;
	uint32_t w = cubic_window_tried(cc, in_flight);

	cc->u.prior_cubic = *q;
	q->w_max = cubic_plateau(cc);
	q->cwnd_prior = cc->cwnd;
	q->epoch = 0;
	cc->quota = 0;
	/* beta = 0.7; RFC 8511: less for a mark than for a loss, as a marking queue is a short one.
	 */
	cc->ssthresh = tcp_cc_floor(cc, (uint64_t)w * (why == TCP_CC_ECN ? 85 : 70) / 100);
}

/** Section 4.8: and the plateau is where avoidance begins again. */
static void cubic_timeout(struct tcp_cc *cc, uint32_t in_flight, uint64_t now)
{
	cubic_congestion(cc, TCP_CC_LOSS, in_flight, now);
	cc->u.cubic.w_max = 0;
	cc->cwnd = cc->smss;
}

/** Section 4.9. */
static void cubic_undo(struct tcp_cc *cc, uint64_t now)
{
	cc->u.cubic = cc->u.prior_cubic;
	cc->u.hystart = (struct tcp_hystart){0}; /* which may go on, with a new round */
}

static void cubic_restart(struct tcp_cc *cc, uint64_t idle, uint64_t now)
{
	struct tcp_cubic *q = &cc->u.cubic;

	if (q->epoch && !q->paused)
		q->paused = cubic_ms_of(now - idle);
}

const struct tcp_cc_ops tcp_cc_cubic = {.name = "cubic",
	.init = cubic_init,
	.ack = cubic_ack,
	.congestion = cubic_congestion,
	.timeout = cubic_timeout,
	.undo = cubic_undo,
	.restart = cubic_restart};
