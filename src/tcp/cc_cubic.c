/* SPDX-License-Identifier: BSD-2-Clause */
/* CUBIC (RFC 8312). Time within a period is counted in ms, windows in bytes. */
#include "tcp/cc.h"

#define CWND_MAX 0x40000000u
#define MS       UINT64_C(1000000)

/** Cube root, rounded down. */
static uint64_t cube_root(uint64_t x)
{
	uint64_t lo = 0, hi = UINT64_C(1) << 21;

	while (lo < hi) {
		uint64_t mid = (lo + hi + 1) / 2;

		if (mid * mid * mid <= x)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

static void init(struct tcp_cc *cc)
{
	cc->u.cubic.epoch = 0;
	cc->u.cubic.w_max = 0;
}

static void start_epoch(struct tcp_cc *cc, uint64_t now)
{
	uint64_t missing = 0;

	cc->u.cubic.epoch = now;
	cc->u.cubic.w_est = cc->cwnd;
	cc->u.cubic.est_acked = 0;
	if (cc->u.cubic.w_max > cc->cwnd)
		missing = (cc->u.cubic.w_max - cc->cwnd) / cc->smss;
	else
		cc->u.cubic.w_max = cc->cwnd;
	/* RFC 8312 equation 2: K = cubic_root((W_max - cwnd) / C), C = 0.4; in ms. */
	cc->u.cubic.k = cube_root(missing * 5 / 2 * UINT64_C(1000000000));
}

/** RFC 8312 equation 1: W_cubic(t) = C (t - K)^3 + W_max. */
static uint32_t w_cubic(const struct tcp_cc *cc, uint64_t t)
{
	bool below = t < cc->u.cubic.k;
	uint64_t d = below ? cc->u.cubic.k - t : t - cc->u.cubic.k;
	uint64_t delta;

	if (d > 100000)
		d = 100000; /* 10^15, times 65,535: still fits */
	delta = d * d * d / 1000 * 4 / 10 / 1000 * cc->smss / 1000;
	if (below)
		return delta < cc->u.cubic.w_max ? cc->u.cubic.w_max - (uint32_t)delta : 0;
	return delta > CWND_MAX ? CWND_MAX : cc->u.cubic.w_max + (uint32_t)delta;
}

/** Section 4.2: what AIMD with the same decrease would have: alpha = 3 (1 - 0.7) / (1 + 0.7). */
static void friendly(struct tcp_cc *cc, uint32_t acked)
{
	cc->u.cubic.est_acked += acked;
	while (cc->u.cubic.est_acked >= cc->u.cubic.w_est) {
		cc->u.cubic.est_acked -= cc->u.cubic.w_est;
		cc->u.cubic.w_est += cc->smss * 9 / 17;
	}
}

static void ack(struct tcp_cc *cc, uint32_t acked, uint64_t srtt, uint64_t now)
{
	uint32_t target;
	uint64_t step;

	if (cc->cwnd < cc->ssthresh)
		acked = tcp_cc_slow_start(cc, acked);
	if (!acked || cc->cwnd >= CWND_MAX)
		return;
	if (!cc->u.cubic.epoch)
		start_epoch(cc, now);
	friendly(cc, acked);
	target = w_cubic(cc, (now + srtt - cc->u.cubic.epoch) / MS);
	if (target < cc->u.cubic.w_est)
		target = cc->u.cubic.w_est;
	if (target > cc->cwnd + cc->cwnd / 2)
		target = cc->cwnd +
			 cc->cwnd / 2; /* section 4.1: at most half as much again per RTT */
	if (target <= cc->cwnd)
		return;
	/* Section 4.3: (W_cubic(t + RTT) - cwnd) / cwnd for each segment acknowledged. */
	step = (uint64_t)(target - cc->cwnd) * acked / cc->cwnd;
	cc->cwnd += step ? (uint32_t)step : 1;
}

static void reduce(struct tcp_cc *cc, uint32_t flight)
{
	uint32_t w = cc->cwnd;

	/* Section 4.6, fast convergence: give way when the maximum fell. */
	if (w < cc->u.cubic.w_max)
		cc->u.cubic.w_max = (uint32_t)((uint64_t)w * 17 / 20);
	else
		cc->u.cubic.w_max = w;
	cc->u.cubic.epoch = 0;
	/* Section 4.5: beta = 0.7; of what was in flight, as RFC 5681 equation 4 has it. */
	if (flight < w)
		w = flight;
	cc->ssthresh = tcp_cc_floor(cc, (uint32_t)((uint64_t)w * 7 / 10));
}

static void congestion(struct tcp_cc *cc, uint32_t flight, uint64_t now)
{
	reduce(cc, flight);
	cc->cwnd = cc->ssthresh;
}

static void timeout(struct tcp_cc *cc, uint32_t flight, uint64_t now)
{
	reduce(cc, flight);
	cc->cwnd = cc->smss;
}

const struct tcp_cc_ops tcp_cc_cubic = {
	.name = "cubic", .init = init, .ack = ack, .congestion = congestion, .timeout = timeout};
