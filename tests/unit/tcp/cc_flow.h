/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cc_flow.h A sender that always has text, to drive a congestion control module with. */
#ifndef TESTS_UNIT_TCP_CC_FLOW_H
#define TESTS_UNIT_TCP_CC_FLOW_H

#include "host.h"

#define SMSS 1000

struct cc_flow {
	struct tcp_cc cc;
	uint64_t now, rtt;
	uint64_t queued; /**< what the round trip is longer by than the least */
	uint32_t una;
	bool unlimited; /**< cwnd does not hold us back */
};

static inline void flow_init(struct cc_flow *f, const struct tcp_cc_ops *ops, uint64_t rtt)
{
	*f = (struct cc_flow){.now = MS, .rtt = rtt, .una = 0xffff0000u};
	tcp_cc_init(&f->cc, ops, SMSS, false, f->now);
}

/** @p acked bytes are acknowledged by one ACK, which shows the round trip @p rtt. */
static inline void flow_ack_rtt(struct cc_flow *f, uint32_t acked, uint64_t rtt)
{
	static const struct tcp_rate_sample none;
	uint32_t flight = f->unlimited ? f->cc.cwnd / 4 : f->cc.cwnd;
	struct tcp_cc_ack a = {.now = f->now,
		.srtt = f->rtt + f->queued,
		.min_rtt = f->rtt,
		.rtt = rtt,
		.acked = acked,
		.delivered = acked,
		.prior_in_flight = flight,
		.in_flight = flight > acked ? flight - acked : 0,
		.snd_una = f->una += acked,
		.snd_nxt = f->una + flight,
		.cwnd_limited = !f->unlimited,
		.rate = &none};

	tcp_cc_on_ack(&f->cc, &a);
}

static inline void flow_ack(struct cc_flow *f, uint32_t acked)
{
	flow_ack_rtt(f, acked, f->rtt);
}

/** Acknowledge whole windows, segment by segment, one for each round trip, @p rounds of them. */
static inline void flow_run(struct cc_flow *f, unsigned rounds)
{
	while (rounds--) {
		uint32_t w = f->cc.cwnd;

		f->now += f->rtt;
		for (uint32_t done = 0; done < w; done += SMSS)
			flow_ack(f, SMSS);
	}
}

#endif
