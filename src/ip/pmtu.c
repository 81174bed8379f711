/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/pmtu.h"

#include "base/container_of.h"
#include "ip/ipv6_wire.h"
#include "ip/stack.h"

#define LIFETIME_NS (UINT64_C(600) * 1000000000) /* RFC 1191 section 6.3, RFC 8201 section 5.2 */

/*
 * The default of RFC 9293 section 3.7.1. A lower MTU of an IPv4 path counts as this one, because of
 * the attack in RFC 5927 section 7.1. A lower one of IPv6 does not come here (RFC 8201 section 4).
 */
#define MIN_MTU_V4 576

uint16_t pmtu_link(const struct ip_stack *s, const struct ip_addr *dst)
{
	return ip_addr_is_v4(dst) ? s->cfg.mtu : s->mtu_v6;
}

static unsigned pmtu_bucket(const struct ip_stack *s, const struct ip_addr *dst)
{
	return siphash(&s->key, dst, sizeof *dst) % PMTU_BUCKETS;
}

static void pmtu_schedule(struct ip_stack *s)
{
	const struct pmtu_entry *e = &s->pmtu.e[0][0];
	uint64_t first = TIMER_NEVER;

	for (unsigned i = 0; i < PMTU_BUCKETS * PMTU_WAYS; i++) {
		if (e[i].mtu && e[i].expires < first)
			first = e[i].expires;
	}
	timer_start(s->cfg.wheel, &s->pmtu.expiry, first);
}

static void pmtu_expire(struct timer *timer, uint64_t now)
{
	struct ip_stack *s = container_of(timer, struct ip_stack, pmtu.expiry);
	struct pmtu_entry *e = &s->pmtu.e[0][0];

	for (unsigned i = 0; i < PMTU_BUCKETS * PMTU_WAYS; i++) {
		if (e[i].mtu && e[i].expires <= now)
			e[i].mtu = 0;
	}
	ip_paths_changed(s);
	pmtu_schedule(s);
}

void pmtu_init(struct ip_stack *s)
{
	timer_init(&s->pmtu.expiry, pmtu_expire);
}

void pmtu_fini(struct ip_stack *s)
{
	timer_stop(s->cfg.wheel, &s->pmtu.expiry);
}

uint16_t pmtu_get(const struct ip_stack *s, const struct ip_addr *dst)
{
	const struct pmtu_entry *e = s->pmtu.e[pmtu_bucket(s, dst)];
	uint16_t mtu = pmtu_link(s, dst);

	for (unsigned i = 0; i < PMTU_WAYS; i++) {
		if (e[i].mtu && ip_addr_equal(&e[i].dst, dst))
			return e[i].mtu < mtu ? e[i].mtu : mtu;
	}
	return mtu;
}

uint16_t pmtu_lower(struct ip_stack *s, const struct ip_addr *dst, uint16_t mtu, uint64_t now)
{
	struct pmtu_entry *e = s->pmtu.e[pmtu_bucket(s, dst)];
	struct pmtu_entry *slot = e;
	uint16_t least = ip_addr_is_v4(dst) ? MIN_MTU_V4 : IPV6_MIN_MTU;
	uint16_t known = pmtu_get(s, dst);

	if (mtu < least)
		mtu = least;
	/* RFC 8201 section 4: a message never raises the path MTU. */
	if (mtu >= known)
		return known;
	for (unsigned i = 0; i < PMTU_WAYS; i++) {
		if (e[i].mtu && ip_addr_equal(&e[i].dst, dst)) {
			slot = &e[i];
			break;
		}
		/* Else a free one, else the oldest. */
		if (slot->mtu && (!e[i].mtu || e[i].expires < slot->expires))
			slot = &e[i];
	}
	*slot = (struct pmtu_entry){.dst = *dst, .mtu = mtu, .expires = now + LIFETIME_NS};
	ip_paths_changed(s);
	pmtu_schedule(s);
	return mtu;
}
