/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/rate.h"

#include "tcp/conn.h"

/** Of intervals kept for people: a shift instead of a division. */
#define INTERVAL_SHIFT 10

void tcp_rate_on_sent(struct tcp_conn *c, struct tcp_record *r, uint32_t in_flight)
{
	struct tcp_rate *rate = &c->rate;

	/* Section 3.2: a flight begins, and with it a sample that has nothing before. */
	if (tcp_flight(c) == 0)
		rate->first_sent_at = rate->delivered_at = c->s->now;
	r->first_sent_at = rate->first_sent_at;
	r->delivered_at = rate->delivered_at;
	r->delivered = rate->delivered;
	r->tx_in_flight = in_flight + tcp_record_space(r);
	r->tx_lost = c->sendq.total_lost;
	r->flags &= (uint8_t)~TCP_REC_APP_LIMITED;
	if (rate->app_limited)
		r->flags |= TCP_REC_APP_LIMITED;
}

void tcp_rate_app_limited(struct tcp_conn *c, uint32_t in_flight)
{
	c->rate.app_limited = true;
	c->rate.app_limited_until = c->rate.delivered + in_flight;
}

static void tcp_rate_count(struct tcp_conn *c, uint32_t delivered)
{
	struct tcp_rate *rate = &c->rate;

	if (!delivered)
		return;
	rate->delivered += delivered;
	rate->delivered_at = c->s->now;
	if (rate->app_limited && seq_gt(rate->delivered, rate->app_limited_until))
		rate->app_limited = false;
}

void tcp_rate_take(struct tcp_conn *c, const struct tcp_delivery *d, struct tcp_rate_sample *out)
{
	struct tcp_rate *rate = &c->rate;
	const struct tcp_record *r = &d->newest;

	*out = (struct tcp_rate_sample){0};
	tcp_rate_count(c, d->delivered);
	out->total_delivered = rate->delivered;
	if (!d->any)
		return;
	rate->first_sent_at = r->sent_at;
	out->prior_delivered = r->delivered;
	out->delivered = rate->delivered - r->delivered;
	out->tx_in_flight = r->tx_in_flight;
	/* Losses may have been taken back since. */
	if (seq_gt(c->sendq.total_lost, r->tx_lost))
		out->lost = c->sendq.total_lost - r->tx_lost;
	out->app_limited = (r->flags & TCP_REC_APP_LIMITED) != 0;
	/* Section 3.3: no faster than it was sent, so that compressed ACKs do not deceive. */
	out->interval =
		u64_max(r->sent_at - r->first_sent_at, rate->delivered_at - r->delivered_at);
	/* What is faster than any round trip answers an earlier transmission. */
	if (out->interval < tcp_min_rtt_get(&c->rec.min_rtt))
		out->interval = 0;
	if (!out->interval)
		return;
	rate->last_delivered = out->delivered;
	rate->last_interval =
		(uint32_t)u64_min(out->interval >> INTERVAL_SHIFT, UINT32_MAX - 1) + 1;
}

uint32_t tcp_rate_newly_lost(struct tcp_conn *c)
{
	int32_t n = (int32_t)(c->sendq.total_lost - c->rate.told_lost);

	c->rate.told_lost = c->sendq.total_lost;
	return n > 0 ? (uint32_t)n : 0;
}

uint64_t tcp_rate_last(const struct tcp_rate *r)
{
	return r->last_interval ? r->last_delivered * (UINT64_C(1000000000) >> INTERVAL_SHIFT) /
					  r->last_interval
				: 0;
}
