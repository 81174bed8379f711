/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/cc.h"

#include "tcp/seq.h"

#include <stddef.h>
#include <string.h>

/** Far above what a scaled window can be; sums of it and a segment do not wrap. */
#define SSTHRESH_INFINITE 0x7fffffffu

static const struct tcp_cc_ops *const tcp_cc_table[] = {
	&tcp_cc_cubic, &tcp_cc_newreno, &tcp_cc_bbr};

const struct tcp_cc_ops *tcp_cc_find(const char *name)
{
	if (!name)
		return tcp_cc_table[0];
	for (size_t i = 0; i < sizeof tcp_cc_table / sizeof tcp_cc_table[0]; i++)
		if (strcmp(tcp_cc_table[i]->name, name) == 0)
			return tcp_cc_table[i];
	return NULL;
}

uint32_t tcp_cc_initial_window(uint32_t smss)
{
	return u32_min(10 * smss, u32_max(2 * smss, 14600));
}

void tcp_cc_init(
	struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t smss, bool syn_lost, uint64_t now)
{
	*cc = (struct tcp_cc){.ops = ops, .smss = smss, .ssthresh = SSTHRESH_INFINITE};
	/* RFC 6928 section 2, where one retransmission is no loss yet; RFC 5681 section 3.1. */
	cc->cwnd = syn_lost ? smss : tcp_cc_initial_window(smss);
	ops->init(cc, now);
}

void tcp_cc_fini(struct tcp_cc *cc)
{
	if (cc->ops && cc->ops->fini)
		cc->ops->fini(cc);
	cc->ops = NULL;
}

void tcp_cc_switch(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint64_t now)
{
	struct tcp_cc old = *cc;
	/* Recovery leaves 0 when all is believed lost, with which no module can begin. */
	uint32_t cwnd = u32_max(old.cwnd, old.smss);

	if (ops == cc->ops) /* it would forget the path */
		return;
	if (!tcp_cc_begun(cc)) {
		cc->ops = ops;
		return;
	}
	tcp_cc_fini(cc);
	*cc = (struct tcp_cc){.ops = ops,
		.smss = old.smss,
		.cwnd = cwnd,
		.ssthresh = old.ops->owns_cwnd ? cwnd : old.ssthresh};
	ops->init(cc, now);
}

void tcp_cc_on_ack(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	cc->ops->ack(cc, a);
}

static void tcp_cc_remember(struct tcp_cc *cc)
{
	cc->prior_cwnd = cc->cwnd;
	cc->prior_ssthresh = cc->ssthresh;
	cc->used = 0;
}

void tcp_cc_congestion(struct tcp_cc *cc, enum tcp_cc_signal why, uint32_t in_flight, uint64_t now)
{
	tcp_cc_remember(cc);
	cc->ops->congestion(cc, why, in_flight, now);
}

void tcp_cc_timeout(struct tcp_cc *cc, uint32_t in_flight, uint64_t now)
{
	tcp_cc_remember(cc);
	cc->ops->timeout(cc, in_flight, now);
}

void tcp_cc_recovered(struct tcp_cc *cc, uint64_t now)
{
	if (cc->ops->recovered)
		cc->ops->recovered(cc, now);
}

void tcp_cc_undo(struct tcp_cc *cc, uint64_t now)
{
	if (!cc->prior_cwnd)
		return;
	/* RFC 4015 section 3.2 would start below it, to avoid a burst: pacing does that. */
	cc->cwnd = u32_max(cc->cwnd, cc->prior_cwnd);
	cc->ssthresh = cc->prior_ssthresh;
	cc->prior_cwnd = 0;
	if (cc->ops->undo)
		cc->ops->undo(cc, now);
}

void tcp_cc_confirm(struct tcp_cc *cc)
{
	if (!cc->ops->owns_cwnd)
		cc->prior_cwnd = 0;
}

/**
 * RFC 5681 section 4.1: after an idle RTO the window is out of date. It is halved for each (RFC
 * 2861 section 3.1), down to the restart window. Slow start then goes up to three quarters of the
 * old one.
 */
static void tcp_cc_decay(struct tcp_cc *cc, uint64_t idle, uint64_t rto)
{
	uint32_t restart = u32_min(cc->cwnd, tcp_cc_initial_window(cc->smss));

	if (idle < rto)
		return;
	cc->ssthresh = u32_max(cc->ssthresh, cc->cwnd / 4 * 3);
	cc->used = 0;
	for (; idle >= rto && cc->cwnd > restart; idle -= rto)
		cc->cwnd = u32_max(cc->cwnd / 2, restart);
}

void tcp_cc_restart(struct tcp_cc *cc, uint64_t idle, uint64_t rto, uint64_t now)
{
	if (!cc->ops->owns_cwnd)
		tcp_cc_decay(cc, idle, rto);
	if (cc->ops->restart)
		cc->ops->restart(cc, idle, now);
}

void tcp_cc_set_smss(struct tcp_cc *cc, uint32_t smss)
{
	cc->smss = smss;
	if (cc->cwnd < smss)
		cc->cwnd = smss;
}

uint64_t tcp_cc_pacing_rate(const struct tcp_cc *cc, uint32_t in_flight, uint64_t srtt)
{
	uint64_t window = u32_max(cc->cwnd, in_flight);

	if (cc->ops->owns_cwnd)
		return cc->pacing_rate;
	if (!srtt)
		return 0;
	/* Fast enough that pacing is never what limits: in slow start the window doubles in each
	 * round trip; after it, a fifth more than the window fills gaps that others leave. */
	window = cc->cwnd < cc->ssthresh / 2 ? window * 2 : window + window / 5;
	return window * UINT64_C(1000000000) / srtt;
}

void tcp_cc_get_info(const struct tcp_cc *cc, struct tcp_cc_info *out)
{
	*out = (struct tcp_cc_info){.name = "", .phase = ""};
	if (cc->ops)
		out->name = cc->ops->name;
	if (!tcp_cc_begun(cc))
		return;
	out->phase = cc->cwnd < cc->ssthresh ? "slow start" : "avoidance";
	if (cc->ops->info)
		cc->ops->info(cc, out);
}

bool tcp_cc_may_grow(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	if (a->in_recovery || cc->cwnd >= TCP_CWND_MAX)
		return false;
	cc->used = u32_max(cc->used, a->prior_in_flight);
	return a->cwnd_limited || (cc->cwnd < cc->ssthresh && cc->cwnd / 2 < cc->used);
}

uint32_t tcp_cc_slow_start(struct tcp_cc *cc, const struct tcp_cc_ack *a)
{
	enum tcp_hystart_growth growth = TCP_HYSTART_FULL;
	uint32_t n = u32_min(a->acked, cc->ssthresh - cc->cwnd);

	/* RFC 9406 section 4.3: for the first slow start only; later, ssthresh tells when. */
	if (cc->ssthresh == SSTHRESH_INFINITE)
		growth = tcp_hystart_ack(&cc->u.hystart, a->rtt, a->snd_una, a->snd_nxt);
	if (growth == TCP_HYSTART_DONE) {
		cc->ssthresh = cc->cwnd;
		return a->acked;
	}
	cc->cwnd += growth == TCP_HYSTART_CSS ? n / TCP_HYSTART_CSS_DIVISOR : n;
	return a->acked - n;
}

uint32_t tcp_cc_floor(const struct tcp_cc *cc, uint64_t w)
{
	return w > 2 * cc->smss ? (uint32_t)w : 2 * cc->smss;
}
