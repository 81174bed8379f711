/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 5681 with appropriate byte counting; recovery itself (RFC 6582, 6675) is in loss.c. */
#include "tcp/cc.h"

#define CWND_MAX 0x40000000u

static void init(struct tcp_cc *cc)
{
	cc->u.newreno.acked = 0;
}

static void ack(struct tcp_cc *cc, uint32_t acked, uint64_t srtt, uint64_t now)
{
	if (cc->cwnd < cc->ssthresh)
		acked = tcp_cc_slow_start(cc, acked);
	if (!acked || cc->cwnd >= CWND_MAX)
		return;
	/* RFC 5681 section 3.1: one segment for each window of bytes acknowledged. */
	cc->u.newreno.acked += acked;
	if (cc->u.newreno.acked >= cc->cwnd) {
		cc->u.newreno.acked -= cc->cwnd;
		cc->cwnd += cc->smss;
	}
}

static void congestion(struct tcp_cc *cc, uint32_t flight, uint64_t now)
{
	cc->ssthresh = tcp_cc_floor(cc, flight / 2); /* RFC 5681, equation 4 */
	cc->cwnd = cc->ssthresh;                     /* RFC 6675 section 5, step 4.2 */
	cc->u.newreno.acked = 0;
}

static void timeout(struct tcp_cc *cc, uint32_t flight, uint64_t now)
{
	cc->ssthresh = tcp_cc_floor(cc, flight / 2);
	cc->cwnd = cc->smss; /* the loss window */
	cc->u.newreno.acked = 0;
}

const struct tcp_cc_ops tcp_cc_newreno = {
	.name = "newreno", .init = init, .ack = ack, .congestion = congestion, .timeout = timeout};
