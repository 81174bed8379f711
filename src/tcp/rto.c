/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/rto.h"

void tcp_rto_init(struct tcp_rto *r)
{
	*r = (struct tcp_rto){.base = TCP_RTO_INITIAL};
}

/** Fixed point, so that small weights do not round to none. Round trips are less than 2^40 ns. */
#define FRACTION 20
#define RTT_MAX  (UINT64_C(1) << 40)

/** Fixed point: @p whole and @p frac, and 2^-shift of the way to @p to. */
static uint64_t tcp_rto_approach(uint64_t whole, uint64_t frac, uint64_t to, unsigned shift)
{
	int64_t x = (int64_t)(whole << FRACTION | frac);

	return (uint64_t)(x + (((int64_t)(to << FRACTION) - x) >> shift));
}

void tcp_rto_sample_often(struct tcp_rto *r, uint64_t rtt, unsigned log2)
{
	uint64_t var;

	rtt = rtt == 0 ? 1 : rtt < RTT_MAX ? rtt : RTT_MAX;
	if (r->srtt == 0) { /* section 2.2 */
		r->srtt = rtt;
		r->rttvar = rtt / 2;
	} else { /* section 2.3: beta = 1/4, alpha = 1/8 */
		uint64_t diff = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt, x;

		x = tcp_rto_approach(r->rttvar, r->rttvar_frac, diff, 2 + log2);
		r->rttvar = x >> FRACTION;
		r->rttvar_frac = x & ((1u << FRACTION) - 1);
		x = tcp_rto_approach(r->srtt, r->srtt_frac, rtt, 3 + log2);
		r->srtt = x >> FRACTION;
		r->srtt_frac = x & ((1u << FRACTION) - 1);
		if (r->srtt == 0)
			r->srtt = 1;
	}
	var = 4 * r->rttvar;
	r->base = r->srtt + (var > TCP_RTO_MIN ? var : TCP_RTO_MIN);
	if (r->base > TCP_RTO_MAX)
		r->base = TCP_RTO_MAX;
	tcp_rto_collapse(r);
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

void tcp_rto_progress(struct tcp_rto *r)
{
	while (r->backoff > r->kept + 1u && tcp_rto_get(r) > TCP_RTO_KEPT)
		r->backoff--;
	r->kept = r->backoff;
}
