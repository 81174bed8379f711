/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/route.h"

#include "base/container_of.h"
#include "ip/neighbour.h"
#include "ip/stack.h"

#include <errno.h>

/** RFC 4191 section 3.5: a router is probed at most once a minute. */
#define POLL_INTERVAL_NS (60 * UINT64_C(1000000000))

/** How long a prefix keeps its place after a neighbour there, or its router, answered last. */
#define PREFIX_KEEP_NS (600 * UINT64_C(1000000000))

/*
 * There are only a few routes. A sorted array is fastest for these, and paths keep their results
 * until the generation changes.
 */

static bool route_same_prefix(const struct route *a, const struct route *b)
{
	return a->prefix_len == b->prefix_len && ip_addr_equal(&a->prefix, &b->prefix);
}

static struct ip_addr route_mask(const struct ip_addr *a, unsigned prefix_len)
{
	unsigned bits = prefix_len + (ip_addr_is_v4(a) ? 96 : 0);
	struct ip_addr m = *a;

	for (unsigned i = 0; i < 16; i++) {
		if (bits >= 8 * i + 8)
			continue;
		m.b[i] &= bits > 8 * i ? (uint8_t)(0xff00 >> (bits - 8 * i)) : 0;
	}
	return m;
}

static bool route_goes_before(const struct route *a, const struct route *b)
{
	if (a->prefix_len != b->prefix_len)
		return a->prefix_len > b->prefix_len;
	if (a->origin != b->origin)
		return a->origin < b->origin;
	return a->preference > b->preference;
}

/* Default routers are several (RFC 4861 section 6.3.6); of another prefix a person means one. */
static bool route_may_be_beside(const struct route *a, const struct route *b)
{
	return a->prefix_len == 0 && a->has_gateway && b->has_gateway &&
	       !ip_addr_equal(&a->gateway, &b->gateway);
}

static struct route *route_find_same(struct route_table *t, const struct route *r)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct route *x = &t->r[i];

		if (!route_same_prefix(x, r))
			continue;
		if (r->origin != ROUTE_ADVERTISED && x->origin != ROUTE_ADVERTISED &&
			!route_may_be_beside(x, r))
			return x;
		if (r->origin == x->origin && r->has_gateway == x->has_gateway &&
			(!r->has_gateway || ip_addr_equal(&x->gateway, &r->gateway)))
			return x;
	}
	return NULL;
}

/** @return the number of the advertised routes of @p r's kind. */
static unsigned *route_advertised(struct route_table *t, const struct route *r)
{
	return r->has_gateway ? &t->routers : &t->prefixes;
}

static bool route_is_crowded(struct route_table *t, const struct route *r)
{
	return *route_advertised(t, r) >= (r->has_gateway ? ROUTE_ROUTERS_MAX : ROUTE_PREFIXES_MAX);
}

static void route_remove_at(struct ip_stack *s, unsigned i)
{
	struct route_table *t = &s->routes;

	if (t->r[i].origin == ROUTE_ADVERTISED)
		--*route_advertised(t, &t->r[i]);
	t->n--;
	memmove(&t->r[i], &t->r[i + 1], (t->n - i) * sizeof t->r[0]);
	ip_paths_changed(s);
}

static void route_schedule(struct ip_stack *s)
{
	uint64_t first = TIMER_NEVER;

	for (unsigned i = 0; i < s->routes.n; i++)
		first = s->routes.r[i].expires < first ? s->routes.r[i].expires : first;
	timer_start(s->cfg.wheel, &s->routes.expiry, first);
}

static void route_expire(struct timer *timer, uint64_t now)
{
	struct ip_stack *s = container_of(timer, struct ip_stack, routes.expiry);

	for (unsigned i = s->routes.n; i-- > 0;) {
		if (s->routes.r[i].expires <= now)
			route_remove_at(s, i);
	}
	route_schedule(s);
}

/** RFC 4861 section 6.3.6: of the routes of @p r's prefix, the one to use. */
static const struct route *route_best(const struct route_table *t, const struct route *r)
{
	const struct route *best = NULL;

	for (unsigned i = 0; i < t->n; i++) {
		const struct route *x = &t->r[i];

		if (route_same_prefix(x, r) && (!best || (best->left && x->left < best->left)))
			best = x;
	}
	return best;
}

/**
 * The host MUST NOT probe a router in the absence of traffic that it would have sent to it if that
 * were reachable (RFC 4191 section 3.5).
 */
static bool route_is_missed(struct ip_stack *s, const struct route *r)
{
	const struct route *best = route_best(&s->routes, r);
	const struct ip_neighbour *n;

	if (!r->left || best <= r || best->left)
		return false;
	n = neighbour_find(s, &best->gateway);
	return n && n->used >= s->routes.polled;
}

static void route_start_poll(struct ip_stack *s, uint64_t now)
{
	s->routes.polled = now;
	timer_start(s->cfg.wheel, &s->routes.poll, now + POLL_INTERVAL_NS);
}

static void route_poll(struct timer *timer, uint64_t now)
{
	struct ip_stack *s = container_of(timer, struct ip_stack, routes.poll);
	bool left = false;

	for (unsigned i = 0; i < s->routes.n; i++) {
		const struct route *r = &s->routes.r[i];

		left |= r->left != 0;
		if (route_is_missed(s, r))
			neighbour_poll(neighbour_get(s, &r->gateway, now), now);
	}
	if (left)
		route_start_poll(s, now);
}

void route_init(struct ip_stack *s)
{
	timer_init(&s->routes.expiry, route_expire);
	timer_init(&s->routes.poll, route_poll);
}

void route_fini(struct ip_stack *s)
{
	timer_stop(s->cfg.wheel, &s->routes.expiry);
	timer_stop(s->cfg.wheel, &s->routes.poll);
}

int route_insert(struct ip_stack *s, const struct route *r)
{
	struct route_table *t = &s->routes;
	struct route add = *r;
	unsigned i;

	add.prefix = route_mask(&r->prefix, r->prefix_len);
	if (route_find_same(t, &add))
		return -EEXIST;
	if (t->n == ROUTE_MAX)
		return -ENOSPC;
	if (add.origin == ROUTE_ADVERTISED) {
		if (route_is_crowded(t, &add))
			return -ENOSPC;
		++*route_advertised(t, &add);
	}
	for (i = 0; i < t->n && !route_goes_before(&add, &t->r[i]); i++)
		;
	memmove(&t->r[i + 1], &t->r[i], (t->n - i) * sizeof t->r[0]);
	t->r[i] = add;
	t->n++;
	ip_paths_changed(s);
	route_schedule(s);
	return 0;
}

static bool route_was_reached_of_late(const struct route *r, uint64_t now)
{
	return r->reached && now - r->reached <= PREFIX_KEEP_NS;
}

/* Of a prefix: did the station advertise it of a router that answers? */
static bool route_is_of_reached_router(
	const struct route_table *t, const struct route *r, uint64_t now)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct route *x = &t->r[i];

		if (x->origin == ROUTE_ADVERTISED && x->has_gateway && !x->left &&
			route_was_reached_of_late(x, now) && eth_addr_equal(x->station, r->station))
			return true;
	}
	return false;
}

/* May @r give way to @newcomer? A router in use may only when it does not answer; one that has
 * answered, likewise. The prefixes of a router that answers are kept from other stations, not from
 * the newer ones of its own. */
static bool route_may_go(const struct route_table *t, const struct route *r,
	const struct route *newcomer, uint64_t now)
{
	if (!r->has_gateway)
		return !route_was_reached_of_late(r, now) &&
		       (eth_addr_equal(r->station, newcomer->station) ||
			       !route_is_of_reached_router(t, r, now));
	return r->left || (!r->reached && route_best(t, r) != r);
}

/* The newest goes, so that those that come late drive out one another. But of a router that answers
 * the one that it says no more. */
static bool route_prefix_goes_sooner(
	const struct route_table *t, const struct route *a, const struct route *b, uint64_t now)
{
	bool kept = route_is_of_reached_router(t, a, now);

	if (kept != route_is_of_reached_router(t, b, now))
		return !kept;
	return kept ? a->heard < b->heard : a->since >= b->since;
}

/* @a is behind @b in the table. */
static bool route_goes_sooner(
	const struct route_table *t, const struct route *a, const struct route *b, uint64_t now)
{
	if (!a->has_gateway)
		return route_prefix_goes_sooner(t, a, b, now);
	if (!a->reached != !b->reached)
		return !a->reached;
	if (!a->left != !b->left)
		return a->left != 0;
	return a->expires < b->expires;
}

/** @return of the advertised routes of @p r's kind the one that gives way; NULL: none does. */
static struct route *route_spare(struct route_table *t, const struct route *r, uint64_t now)
{
	struct route *spare = NULL;

	for (unsigned i = 0; i < t->n; i++) {
		struct route *x = &t->r[i];

		if (x->origin == ROUTE_ADVERTISED && x->has_gateway == r->has_gateway &&
			route_may_go(t, x, r, now) &&
			(!spare || route_goes_sooner(t, x, spare, now)))
			spare = x;
	}
	return spare;
}

static const struct ip_addr *route_told_by(const struct route *r)
{
	return r->has_gateway ? &r->gateway : &r->prefix;
}

static void route_log_crowded(
	struct ip_stack *s, const struct route *r, const char *kind, const struct route *instead)
{
	char text[IP_ADDR_STRLEN], gone[IP_ADDR_STRLEN];
	enum log_level level = log_level_of_count(++s->routes.crowded);

	ip_addr_format(route_told_by(r), text);
	if (instead)
		log_printf(s->cfg.log, level, "ip: too many %s: %s takes the place of %s, which %s",
			kind, text, ip_addr_format(route_told_by(instead), gone),
			instead->left      ? "does not answer"
			: instead->reached ? "was not reached of late"
					   : "was never reached");
	else
		log_printf(s->cfg.log, level, "ip: too many %s: %s is ignored", kind, text);
}

static void route_insert_advertised(struct ip_stack *s, const struct route *r, uint64_t now)
{
	struct route_table *t = &s->routes;
	const struct ip_neighbour *n = r->has_gateway ? neighbour_find(s, &r->gateway) : NULL;
	const char *kind = r->has_gateway ? "default routers" : "prefixes";
	bool crowded = route_is_crowded(t, r);
	struct route *spare = crowded ? route_spare(t, r, now) : NULL;
	struct route add = *r;

	add.reached = n && n->answered ? now : 0;
	add.since = add.heard = now;
	if (spare) {
		route_log_crowded(s, r, kind, spare);
		route_remove_at(s, (unsigned)(spare - t->r));
	}
	if (route_insert(s, &add) < 0)
		route_log_crowded(s, r, crowded ? kind : "routes", NULL);
}

/* Who else says it, too, does not take a prefix from a router that answers. */
static void route_prolong(
	struct ip_stack *s, struct route *known, const struct route *r, uint64_t now)
{
	known->expires = r->expires;
	if (r->has_gateway || eth_addr_equal(known->station, r->station) ||
		!route_is_of_reached_router(&s->routes, known, now)) {
		memcpy(known->station, r->station, sizeof known->station);
		known->heard = now;
	}
	route_schedule(s);
}

void route_advertise(struct ip_stack *s, const struct route *r, uint64_t now)
{
	struct route key = *r;
	struct route *known;

	key.prefix = route_mask(&r->prefix, r->prefix_len);
	known = route_find_same(&s->routes, &key);
	if (known && r->expires && known->preference != r->preference) {
		key.left = known->left;
		key.reached = known->reached;
		key.since = known->since;
		key.heard = now;
		route_remove_at(s, (unsigned)(known - s->routes.r));
		(void)route_insert(s, &key);
	} else if (known && r->expires) {
		route_prolong(s, known, r, now);
	} else if (known) {
		route_remove_at(s, (unsigned)(known - s->routes.r));
		route_schedule(s);
	} else if (r->expires) {
		route_insert_advertised(s, r, now);
	}
}

const struct route *route_of_router(struct ip_stack *s, const struct ip_addr *gateway)
{
	return route_find_same(&s->routes,
		&(struct route){
			.has_gateway = true, .gateway = *gateway, .origin = ROUTE_ADVERTISED});
}

static bool route_holds(const struct route *r, const struct ip_addr *a)
{
	return ip_addr_in_prefix(a, &r->prefix, r->prefix_len);
}

static const struct route *route_find(const struct ip_stack *s, const struct ip_addr *dst)
{
	const struct route_table *t = &s->routes;
	unsigned i = 0;

	while (i < t->n && !route_holds(&t->r[i], dst))
		i++;
	if (i == t->n)
		return NULL;
	return t->r[i].left ? route_best(t, &t->r[i]) : &t->r[i];
}

int route_next_hop(const struct ip_stack *s, const struct ip_addr *dst, struct ip_addr *hop)
{
	const struct route *r = route_find(s, dst);

	if (!r)
		return -ENETUNREACH;
	*hop = r->has_gateway ? r->gateway : *dst;
	return 0;
}

bool route_is_on_link(const struct ip_stack *s, const struct ip_addr *a)
{
	const struct route *r = route_find(s, a);

	return r && !r->has_gateway;
}

bool route_is_gateway(const struct ip_stack *s, const struct ip_addr *a)
{
	for (unsigned i = 0; i < s->routes.n; i++) {
		if (s->routes.r[i].has_gateway && ip_addr_equal(&s->routes.r[i].gateway, a))
			return true;
	}
	return false;
}

void route_leave_gateway(struct ip_stack *s, const struct ip_addr *gateway, uint64_t now)
{
	struct route_table *t = &s->routes;
	char text[IP_ADDR_STRLEN];
	bool known = false, another = false;

	t->lefts++;
	for (unsigned i = 0; i < t->n; i++) {
		struct route *r = &t->r[i];
		bool used;

		if (!r->has_gateway || !ip_addr_equal(&r->gateway, gateway))
			continue;
		used = route_best(t, r) == r;
		r->left = t->lefts;
		known = true;
		another |= used && route_best(t, r) != r;
	}
	if (known && !timer_running(&t->poll))
		route_start_poll(s, now);
	if (!another)
		return;
	log_printf(s->cfg.log, LOG_LEVEL_INFO, "ip: the next router is used instead of %s",
		ip_addr_format(gateway, text));
	ip_paths_changed(s);
}

void route_return_to_gateway(struct ip_stack *s, const struct ip_addr *gateway, uint64_t now)
{
	struct route_table *t = &s->routes;
	char text[IP_ADDR_STRLEN];
	bool used = false;

	for (unsigned i = 0; i < t->n; i++) {
		struct route *r = &t->r[i];
		bool before;

		if (!r->has_gateway || !ip_addr_equal(&r->gateway, gateway))
			continue;
		r->reached = now;
		if (!r->left)
			continue;
		before = route_best(t, r) == r;
		r->left = 0;
		used |= !before && route_best(t, r) == r;
	}
	if (!used)
		return;
	log_printf(s->cfg.log, LOG_LEVEL_INFO, "ip: %s answers again, and is used",
		ip_addr_format(gateway, text));
	ip_paths_changed(s);
}

void route_keep_prefixes(struct ip_stack *s, const struct ip_addr *neighbour, uint64_t now)
{
	for (unsigned i = 0; i < s->routes.n; i++) {
		struct route *r = &s->routes.r[i];

		if (!r->has_gateway && route_holds(r, neighbour))
			r->reached = now;
	}
}

int ip_route_add(struct ip_stack *s, const struct ip_addr *prefix, unsigned prefix_len,
	const struct ip_addr *gateway)
{
	struct route r = {
		.prefix = *prefix,
		.prefix_len = prefix_len,
		.origin = ROUTE_STATIC,
		.expires = TIMER_NEVER,
	};

	if (prefix_len > (ip_addr_is_v4(prefix) ? 32 : 128) || ip_addr_is_multicast(prefix))
		return -EINVAL;
	if (gateway) {
		if (ip_addr_is_v4(gateway) != ip_addr_is_v4(prefix) || ip_addr_is_any(gateway) ||
			ip_addr_is_multicast(gateway))
			return -EINVAL;
		if (!route_is_on_link(s, gateway) || ip_addr_is_local(s, gateway))
			return -ENETUNREACH;
		r.has_gateway = true;
		r.gateway = *gateway;
	}
	return route_insert(s, &r);
}
