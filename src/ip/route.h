/* SPDX-License-Identifier: BSD-2-Clause */
/** @file route.h One routing table for both families, longest prefix first. */
#ifndef IP_ROUTE_H
#define IP_ROUTE_H

#include "ip/eth_wire.h"
#include "ip/ip.h"

#define ROUTE_MAX 64

/* Limits of ROUTE_ADVERTISED among them, lest one kind leaves the other no place. RFC 4861 section
 * 6.3.4: at least two default routers. */
#define ROUTE_PREFIXES_MAX 12
#define ROUTE_ROUTERS_MAX  8

/** The origin of a route. Among equal prefixes the smaller one is preferred. */
enum route_origin { ROUTE_CONNECTED, ROUTE_STATIC, ROUTE_ADVERTISED };

struct route {
	struct ip_addr prefix;
	unsigned prefix_len; /**< in the family's own bits */
	bool has_gateway;
	struct ip_addr gateway;
	enum route_origin origin;
	int8_t preference; /**< a router's own: 1 high, 0 medium, -1 low (RFC 4191 section 2.1) */
	uint8_t station[ETH_ADDR_LEN]; /**< that advertised it */
	uint64_t expires;              /**< ns; TIMER_NEVER */
	uint64_t since;                /**< ns, when it was advertised first */
	uint64_t heard;                /**< ns, when its station advertised it last */
	uint64_t reached; /**< ns, when the gateway, or a neighbour of the prefix, last answered
			     when it was asked, or there was progress through it; 0: never */
	uint32_t left;    /**< not 0: the gateway does not answer; the smallest was left first */
};

struct route_table {
	struct route r[ROUTE_MAX];
	unsigned n;
	unsigned prefixes, routers; /**< how many of them are ROUTE_ADVERTISED */
	uint64_t crowded;           /**< how often there were more than may be */
	uint32_t lefts;             /**< how often a gateway was left */
	struct timer expiry;
	struct timer poll; /**< runs while gateways are left */
	uint64_t polled;   /**< when it was started last */
};

void route_init(struct ip_stack *s);

/** @return 0, -EEXIST (same prefix and, if advertised or a default, same gateway), -ENOSPC. */
int route_insert(struct ip_stack *s, const struct route *r);

/**
 * Insert an advertised route, or update its lifetime and preference; or remove it, if its @p
 * expires is 0. If there are too many default routers, the new one takes the place of one that was
 * never reached and is not in use, or of one that was left: of those never reached first, and of
 * those left first among them, the one that would end first. A prefix takes the place of one where
 * no neighbour was reached of late, and that no router's station advertised which answers: of the
 * newest of them; or else of one of its own station: of that which this has not advertised for
 * longest. If there is none the new one is ignored.
 */
void route_advertise(struct ip_stack *s, const struct route *r, uint64_t now);

/** @return the default route that @p gateway advertises; NULL: none. */
const struct route *route_of_router(struct ip_stack *s, const struct ip_addr *gateway);

/** Find the next hop to @p dst. @return 0 or -ENETUNREACH. */
int route_next_hop(const struct ip_stack *s, const struct ip_addr *dst, struct ip_addr *hop);

/**
 * @p gateway does not answer: routes of the same prefix by other gateways are better now, those
 * that a person gave before those advertised (RFC 1122 section 3.3.1.5). If none answers, the one
 * that was left first is the best (RFC 4861 section 6.3.6). While packets go to another gateway
 * instead, this one is asked for once a minute (RFC 4191 section 3.5).
 */
void route_leave_gateway(struct ip_stack *s, const struct ip_addr *gateway, uint64_t now);

/**
 * @p gateway has answered when it was asked, or there was progress through it: its routes are as
 * good as before it was left.
 */
void route_return_to_gateway(struct ip_stack *s, const struct ip_addr *gateway, uint64_t now);

/**
 * A neighbour has answered when it was asked, or there is progress through it: the prefixes that it
 * is on the link by stay known for a while. All of them, lest a longer one that is forged keeps
 * that from the link's own.
 */
void route_keep_prefixes(struct ip_stack *s, const struct ip_addr *neighbour, uint64_t now);

/** True if @p a is on the link by a route without gateway. */
bool route_is_on_link(const struct ip_stack *s, const struct ip_addr *a);

/** True if a route goes through @p a. */
bool route_is_gateway(const struct ip_stack *s, const struct ip_addr *a);

void route_fini(struct ip_stack *s);

#endif
