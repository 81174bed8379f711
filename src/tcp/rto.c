/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/rto.h"

#include "base/timer.h"

void tcp_rto_init(struct tcp_rto *r)
{
	*r = (struct tcp_rto){.base = TCP_RTO_INITIAL};
}

void tcp_rto_sample(struct tcp_rto *r, uint64_t rtt)
{
	uint64_t var;

	if (rtt == 0)
		rtt = 1;
	if (r->srtt == 0) { /* section 2.2 */
		r->srtt = rtt;
		r->rttvar = rtt / 2;
	} else { /* section 2.3: beta = 1/4, alpha = 1/8 */
		uint64_t diff = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt;

		r->rttvar = r->rttvar - r->rttvar / 4 + diff / 4;
		r->srtt = r->srtt - r->srtt / 8 + rtt / 8;
		if (r->srtt == 0)
			r->srtt = 1;
	}
	var = 4 * r->rttvar;
	r->base = r->srtt + (var > TIMER_TICK_NS ? var : TIMER_TICK_NS);
	if (r->base < TCP_RTO_MIN)
		r->base = TCP_RTO_MIN;
	if (r->base > TCP_RTO_MAX)
		r->base = TCP_RTO_MAX;
}

uint64_t tcp_rto_get(const struct tcp_rto *r)
{
	uint64_t t = r->base << r->backoff;

	return t > TCP_RTO_MAX ? TCP_RTO_MAX : t;
}

void tcp_rto_expired(struct tcp_rto *r)
{
	if (tcp_rto_get(r) < TCP_RTO_MAX)
		r->backoff++;
}
