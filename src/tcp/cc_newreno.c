/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 5681 with appropriate byte counting (RFC 3465); what happens in recovery is in loss.c. */
#include "tcp/cc.h"

#include "tcp/seq.h"

static void newreno_init(struct tcp_cc *cc, uint64_t now)
{
}

static void newreno_ack(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	uint32_t acked = a->acked;

	if (!tcp_cc_may_grow(cc, a))
		return;
	if (cc->cwnd < cc->ssthresh)
		acked = tcp_cc_slow_start(cc, a);
	if (cc->cwnd < cc->ssthresh)
		return;
	/* RFC 5681 section 3.1: one segment for each window of bytes acknowledged. */
	cc->quota += u32_min(acked, cc->cwnd);
	if (cc->quota >= cc->cwnd) {
		cc->quota -= cc->cwnd;
		cc->cwnd += cc->smss;
	}
}

/** RFC 5681 equation 4: half; RFC 8511: four fifths, as a marking queue is a short one. */
static void newreno_congestion(
	struct tcp_cc *cc, enum tcp_cc_signal why, uint32_t in_flight, uint64_t now)
{
	cc->ssthresh =
		tcp_cc_floor(cc, why == TCP_CC_ECN ? (uint64_t)in_flight * 4 / 5 : in_flight / 2);
	cc->quota = 0;
}

static void newreno_timeout(struct tcp_cc *cc, uint32_t in_flight, uint64_t now)
{
	cc->ssthresh = tcp_cc_floor(cc, in_flight / 2);
	cc->cwnd = cc->smss; /* the loss window */
	cc->quota = 0;
}

const struct tcp_cc_ops tcp_cc_newreno = {.name = "newreno",
	.init = newreno_init,
	.ack = newreno_ack,
	.congestion = newreno_congestion,
	.timeout = newreno_timeout};
