/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout is Bernstein's: base hash + the peer's ISN + step << 24 + (hash of the step + index of
 * the MSS) mod 2^24. So our ISN grows with time and with the peer's, as RFC 9293 section 3.4.1
 * asks.
 */
#include "tcp/cookies.h"

#define LOW_BITS 24
#define LOW_MASK ((1u << LOW_BITS) - 1)
/** Steps for which a cookie holds: 64 to 128 s, more than any SYN,ACK and its ACK need. */
#define STEPS_GOOD 2

/** Bits of the timestamp that are ours: 4 of window scale (15: none), SACK, ECN. */
#define STAMP_BITS   6
#define STAMP_MASK   ((1u << STAMP_BITS) - 1)
#define STAMP_SACK   16u
#define STAMP_ECN    32u
#define STAMP_WSCALE 15u

/** What peers have: tunnels, IPv6's default, Ethernet with and without PPPoE, jumbo frames. */
static const uint16_t tcp_cookies_mss_table[] = {216, 536, 1220, 1360, 1440, 1460, 8940, 8960};
#define MSS_COUNT (sizeof tcp_cookies_mss_table / sizeof tcp_cookies_mss_table[0])

static uint32_t tcp_cookies_hash(
	const struct siphash_key *key, const struct tcp_tuple *id, uint32_t irs, uint64_t step)
{
	const struct {
		struct tcp_tuple id;
		uint32_t irs;
		uint64_t step;
	} in = {*id, irs, step};

	_Static_assert(sizeof in == sizeof *id + 4 + 8, "hashed as bytes");
	return (uint32_t)siphash(key, &in, sizeof in);
}

static uint64_t tcp_cookies_step_of(uint64_t now)
{
	return now / TCP_COOKIE_STEP;
}

void tcp_cookies_init(struct tcp_cookies *k, const struct random_source *r)
{
	*k = (struct tcp_cookies){.any = false};
	r->fill(r->ctx, &k->base_key, sizeof k->base_key);
}

/** The secret of @p step, drawn when its period begins to be used. */
static const struct siphash_key *tcp_cookies_secret_for(
	struct tcp_cookies *k, const struct random_source *r, uint64_t step)
{
	uint64_t period = step / TCP_COOKIE_STEPS_PER_SECRET;
	unsigned i = period & 1;

	if (k->period[i] != period + 1) {
		r->fill(r->ctx, &k->secret[i], sizeof k->secret[i]);
		k->period[i] = period + 1;
	}
	return &k->secret[i];
}

static uint32_t tcp_cookies_mss_index(uint16_t mss)
{
	uint32_t i = MSS_COUNT - 1;

	while (i && tcp_cookies_mss_table[i] > mss)
		i--;
	return i;
}

uint32_t tcp_cookie_make(struct tcp_cookies *k, const struct random_source *r,
	const struct tcp_tuple *id, uint32_t irs, uint16_t mss, uint64_t now)
{
	uint64_t step = tcp_cookies_step_of(now);
	uint32_t low = tcp_cookies_hash(tcp_cookies_secret_for(k, r, step), id, irs, step) +
		       tcp_cookies_mss_index(mss);

	k->step = step;
	k->any = true;
	return tcp_cookies_hash(&k->base_key, id, 0, 0) + irs + ((uint32_t)step << LOW_BITS) +
	       (low & LOW_MASK);
}

bool tcp_cookies_about(const struct tcp_cookies *k, uint64_t now)
{
	return k->any && tcp_cookies_step_of(now) - k->step < STEPS_GOOD;
}

uint16_t tcp_cookie_check(const struct tcp_cookies *k, const struct tcp_tuple *id, uint32_t irs,
	uint32_t iss, uint64_t now)
{
	uint32_t rest = iss - tcp_cookies_hash(&k->base_key, id, 0, 0) - irs, i;
	uint64_t step = tcp_cookies_step_of(now), age = (step - (rest >> LOW_BITS)) & 0xff, period;

	if (!tcp_cookies_about(k, now) || age >= STEPS_GOOD || age > step)
		return 0;
	step -= age;
	period = step / TCP_COOKIE_STEPS_PER_SECRET;
	if (k->period[period & 1] != period + 1)
		return 0;
	i = (rest - tcp_cookies_hash(&k->secret[period & 1], id, irs, step)) & LOW_MASK;
	return i < MSS_COUNT ? tcp_cookies_mss_table[i] : 0;
}

uint32_t tcp_cookie_stamp(uint32_t tsval, const struct tcp_cookie_options *o)
{
	uint32_t bits = o->has & TCP_HAS_WSCALE ? o->wscale : STAMP_WSCALE, stamp;

	if (o->has & TCP_HAS_SACK_PERMITTED)
		bits |= STAMP_SACK;
	if (o->ecn)
		bits |= STAMP_ECN;
	stamp = (tsval & ~STAMP_MASK) | bits;
	/* The segments after it must not look older (RFC 7323 section 5). */
	return seq_gt(stamp, tsval) ? stamp - (STAMP_MASK + 1) : stamp;
}

bool tcp_cookie_unstamp(uint32_t tsecr, uint32_t tsval, struct tcp_cookie_options *o)
{
	const uint32_t oldest = STEPS_GOOD * (uint32_t)(TCP_COOKIE_STEP / 1000000) + STAMP_MASK + 1;
	uint32_t bits = tsecr & STAMP_MASK;

	if (tsval - tsecr > oldest)
		return false;
	*o = (struct tcp_cookie_options){.ecn = (bits & STAMP_ECN) != 0};
	if ((bits & STAMP_WSCALE) != STAMP_WSCALE) {
		o->has |= TCP_HAS_WSCALE;
		o->wscale = bits & STAMP_WSCALE;
	}
	if (bits & STAMP_SACK)
		o->has |= TCP_HAS_SACK_PERMITTED;
	return true;
}
