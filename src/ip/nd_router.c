/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/container_of.h"
#include "ip/icmp_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/nd_priv.h"
#include "ip/stack.h"

#define SECOND UINT64_C(1000000000)

/* RFC 7559 section 2: the first wait for an answer, and the longest. */
#define RS_FIRST_WAIT_NS   (4 * SECOND)
#define RS_LONGEST_WAIT_NS (3600 * SECOND)

static const struct ip_addr nd_all_routers = {{0xff, 0x02, [15] = 2}};

/* ---- solicitations ------------------------------------------------------------------------ */

/* RFC 8415 section 15: twice as long each time, and by up to a tenth more or less. */
static uint64_t nd_next_wait(struct ip_stack *s, uint64_t now)
{
	uint64_t wait = s->rs_wait ? 2 * s->rs_wait : RS_FIRST_WAIT_NS;

	if (wait > RS_LONGEST_WAIT_NS)
		wait = RS_LONGEST_WAIT_NS;
	return wait - wait / 10 + siphash(&s->key, &now, sizeof now) % (wait / 5);
}

static void nd_solicit_routers(struct timer *timer, uint64_t now)
{
	struct ip_stack *s = container_of(timer, struct ip_stack, rs_timer);
	const struct local_addr *l = local_source(s, &nd_all_routers, &nd_all_routers);

	/* Others may have all our addresses, which are tried again. */
	if (l)
		nd_send(s, &(struct nd_message){.type = ICMPV6_RS,
				   .src = &l->addr,
				   .dst = &nd_all_routers,
				   .option = local_is_sure(l) ? ND_OPT_SOURCE : 0});
	/* Until one is heard, though others be known: those may be of another link, and a switch
	 * may drop all that is sent in the first half minute. */
	s->rs_wait = nd_next_wait(s, now);
	timer_start(s->cfg.wheel, timer, now + s->rs_wait);
}

void nd_init(struct ip_stack *s)
{
	timer_init(&s->rs_timer, nd_solicit_routers);
}

void nd_fini(struct ip_stack *s)
{
	timer_stop(s->cfg.wheel, &s->rs_timer);
}

void nd_find_routers(struct ip_stack *s, uint64_t now)
{
	s->rs_wait = 0;
	nd_solicit_routers(&s->rs_timer, now);
}

/* ---- advertisements ----------------------------------------------------------------------- */

bool nd_is_other(struct ip_stack *s, const struct ip_neighbour *n, const struct ip_addr *addr,
	const uint8_t *mac)
{
	const struct route *r = route_of_router(s, addr);

	if (n && n->answered)
		return !eth_addr_equal(n->eth, mac);
	return r && !eth_addr_equal(r->station, mac);
}

static uint64_t nd_lifetime_end(uint64_t now, uint32_t seconds)
{
	if (seconds == 0)
		return 0;
	return seconds == UINT32_MAX ? TIMER_NEVER : now + seconds * SECOND;
}

static void nd_take_prefix(struct ip_stack *s, const uint8_t *mac, const uint8_t *p, uint64_t now)
{
	struct route r = {
		.prefix = ip_addr_from_v6(p + ND_OPT_PREFIX_ADDR),
		.prefix_len = p[ND_OPT_PREFIX_BITS],
		.origin = ROUTE_ADVERTISED,
		.expires = nd_lifetime_end(now, load_be32(p + ND_OPT_PREFIX_VALID)),
	};

	/* RFC 4861 section 6.3.4: the link-local prefix is ignored. A prefix that swallows all or
	 * our form of IPv4 is nobody's link. */
	if (!(p[ND_OPT_PREFIX_FLAGS] & ND_OPT_PREFIX_ON_LINK) || r.prefix_len > 128 ||
		r.prefix_len < 16 || ip_addr_is_link_local(&r.prefix) ||
		ip_addr_is_multicast(&r.prefix) || ip_addr_is_v4(&r.prefix))
		return;
	memcpy(r.station, mac, sizeof r.station);
	route_advertise(s, &r, now);
}

static void nd_take_mtu(struct ip_stack *s, const uint8_t *p)
{
	uint32_t mtu = load_be32(p + ND_OPT_MTU_VALUE);

	/* RFC 4861 section 6.3.4: between the least and the link's own. */
	if (mtu < IPV6_MIN_MTU || mtu > s->cfg.mtu || mtu == s->mtu_v6)
		return;
	s->mtu_v6 = (uint16_t)mtu;
	ip_paths_changed(s);
}

/* RFC 4191 section 2.2: the value that is reserved is taken for medium. */
static int8_t nd_preference(uint8_t flags)
{
	switch (flags & ND_RA_PREFERENCE) {
	case ND_RA_PREFERENCE_HIGH:
		return 1;
	case ND_RA_PREFERENCE_LOW:
		return -1;
	default:
		return 0;
	}
}

/* A router of several stations need not say whose it is (RFC 4861 section 6.2.3), so that another
 * one than the known one may prolong the route; more it may not. */
static void nd_hear_other(struct route *def, const struct route *known)
{
	def->preference = known->preference;
	memcpy(def->station, known->station, sizeof def->station);
	if (def->expires < known->expires)
		def->expires = known->expires;
}

/* RFC 4861 section 6.3.4. */
static void nd_take_router(struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p,
	const struct nd_options *o, uint64_t now)
{
	const uint8_t *mac = o->source ? o->source : rx->src_mac;
	struct route def = {.prefix_len = 0,
		.has_gateway = true,
		.gateway = rx->src,
		.origin = ROUTE_ADVERTISED,
		.preference = nd_preference(p[ND_RA_FLAGS]),
		.expires = nd_lifetime_end(now, load_be16(p + ND_RA_LIFETIME))};
	const struct route *known = route_of_router(s, &rx->src);
	struct ip_neighbour *n =
		o->source ? neighbour_get(s, &rx->src, now) : neighbour_find(s, &rx->src);

	memcpy(def.station, mac, sizeof def.station);
	if (known && nd_is_other(s, n, &rx->src, mac))
		nd_hear_other(&def, known);
	/* RFC 4861 section 6.3.7: who is no default router does not end the search for one. */
	if (def.expires)
		timer_stop(s->cfg.wheel, &s->rs_timer);
	route_advertise(s, &def, now);
	if (n)
		n->router = true;
	if (o->source)
		(void)neighbour_learn(
			s, n, &(struct neighbour_news){.mac = o->source, .override = true}, now);
}

void nd_ra_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now)
{
	struct nd_options o;

	if (len < ND_RA_LEN || !ip_addr_is_link_local(&rx->src) ||
		!nd_parse_options(&o, p + ND_RA_LEN, len - ND_RA_LEN)) {
		s->stats.rx_bad_header++;
		return;
	}
	nd_take_router(s, rx, p, &o, now);
	if (o.mtu)
		nd_take_mtu(s, o.mtu);
	for (unsigned i = 0; i < o.prefixes; i++)
		nd_take_prefix(s, o.source ? o.source : rx->src_mac, o.prefix[i], now);
}
