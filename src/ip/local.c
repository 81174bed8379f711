/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/local.h"

#include "base/container_of.h"
#include "ip/arp.h"
#include "ip/nd.h"
#include "ip/stack.h"

#include <errno.h>

#define SECOND UINT64_C(1000000000)

/* RFC 5227 section 1.1. */
#define PROBE_NUM            3
#define PROBE_INTERVAL_NS    SECOND
#define ANNOUNCE_WAIT_NS     (2 * SECOND)
#define ANNOUNCE_NUM         2
#define ANNOUNCE_INTERVAL_NS (2 * SECOND)
#define DEFEND_INTERVAL_NS   (10 * SECOND)

#define DAD_TRANSMITS  1u /* RFC 4862 section 5.1: DupAddrDetectTransmits */
#define DAD_RETRANS_NS SECOND

/* An address that another station had is tried again: who claimed it may have been forged, or may
 * be gone. First it is asked for as a neighbour's is: by a probe an owner that is only just probing
 * for it would give it up (RFC 4862 section 5.4.3). The first wait, and the longest. */
#define RETRY_QUESTIONS  1u
#define RETRY_FIRST_NS   (10 * SECOND)
#define RETRY_LONGEST_NS (640 * SECOND)

struct local_addr *local_find(struct ip_stack *s, const struct ip_addr *a)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		struct local_addr *l = &s->local.a[i];

		if (ip_addr_equal(&l->addr, a))
			return l->state == LOCAL_DUPLICATE ? NULL : l;
	}
	return NULL;
}

bool ip_addr_is_local(const struct ip_stack *s, const struct ip_addr *a)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		if (ip_addr_equal(&s->local.a[i].addr, a))
			return s->local.a[i].state != LOCAL_DUPLICATE;
	}
	return false;
}

bool ip_addr_is_configured(const struct ip_stack *s, const struct ip_addr *a)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		if (ip_addr_equal(&s->local.a[i].addr, a))
			return true;
	}
	return false;
}

bool local_is_broadcast(const struct ip_stack *s, const struct ip_addr *dst)
{
	uint32_t v4 = load_be32(dst->b + 12);

	if (!ip_addr_is_v4(dst))
		return false;
	if (v4 == UINT32_MAX)
		return true;
	for (unsigned i = 0; i < s->local.n; i++) {
		const struct local_addr *l = &s->local.a[i];
		uint32_t host;

		/* RFC 3021: /31 has none; /32 neither. */
		if (!ip_addr_is_v4(&l->addr) || l->prefix_len > 30)
			continue;
		host = l->prefix_len ? UINT32_MAX >> l->prefix_len : UINT32_MAX;
		/* All ones, and all zeros as 4.2BSD had it (RFC 1122 section 3.3.6). */
		if (ip_addr_in_prefix(dst, &l->addr, l->prefix_len) &&
			((v4 & host) == host || (v4 & host) == 0))
			return true;
	}
	return false;
}

static unsigned local_common_bits(const struct ip_addr *a, const struct ip_addr *b)
{
	for (unsigned i = 0; i < 16; i++) {
		uint8_t x = a->b[i] ^ b->b[i];

		if (x)
			return 8 * i + (unsigned)__builtin_clz(x) - 24;
	}
	return 128;
}

/* fe80::/10 and ff02::/16 (RFC 4291 sections 2.5.6, 2.7). */
static bool local_is_link_scope(const struct ip_addr *a)
{
	return ip_addr_is_link_local(a) || (a->b[0] == 0xff && (a->b[1] & 15) == 2);
}

struct local_addr *local_source(
	struct ip_stack *s, const struct ip_addr *remote, const struct ip_addr *hop)
{
	struct local_addr *best = NULL;
	unsigned best_score = 0;

	for (unsigned i = 0; i < s->local.n; i++) {
		struct local_addr *l = &s->local.a[i];
		unsigned score = 1;

		if (ip_addr_is_v4(&l->addr) != ip_addr_is_v4(remote) || l->state == LOCAL_DUPLICATE)
			continue;
		/* RFC 6724 section 5: rule 1 the same address, rule 2 the scope, rule 8 the longest
		 * prefix. Before the last one the subnet of the next hop (rule 5.5 in spirit). */
		if (ip_addr_equal(&l->addr, remote))
			return l;
		if (ip_addr_is_link_local(&l->addr) == local_is_link_scope(remote))
			score += 1024;
		if (ip_addr_in_prefix(hop, &l->addr, l->prefix_len))
			score += 512;
		if (!ip_addr_is_v4(remote))
			score += local_common_bits(&l->addr, remote);
		if (score > best_score) {
			best = l;
			best_score = score;
		}
	}
	return best;
}

int ip_source(struct ip_stack *s, const struct ip_addr *remote, struct ip_addr *src)
{
	struct ip_addr hop = *remote;
	struct local_addr *l;

	if (!ip_addr_is_local(s, remote) && route_next_hop(s, remote, &hop) < 0)
		return -ENETUNREACH;
	l = local_source(s, remote, &hop);
	if (!l)
		return -ENETUNREACH;
	*src = l->addr;
	return 0;
}

/* Probe, then announce (RFC 5227 sections 2.1, 2.3); solicit, then be sure (RFC 4862). */
static void local_step_v4(struct local_addr *l, uint64_t now)
{
	struct timer_wheel *w = l->stack->cfg.wheel;

	if (l->sent < PROBE_NUM) {
		arp_probe(l->stack, &l->addr);
		l->sent++;
		timer_start(w, &l->timer,
			now + (l->sent < PROBE_NUM ? PROBE_INTERVAL_NS : ANNOUNCE_WAIT_NS));
		return;
	}
	l->state = LOCAL_PREFERRED;
	arp_announce(l->stack, &l->addr);
	l->sent++;
	if (l->sent < PROBE_NUM + ANNOUNCE_NUM)
		timer_start(w, &l->timer, now + ANNOUNCE_INTERVAL_NS);
}

static void local_assign_v6(struct local_addr *l)
{
	struct ip_stack *s = l->stack;
	char text[IP_ADDR_STRLEN];

	if (l->state == LOCAL_DUPLICATE) {
		log_printf(s->cfg.log, LOG_LEVEL_INFO,
			"ip: nobody else claims our address %s any more: it is used",
			ip_addr_format(&l->addr, text));
		ip_paths_changed(s);
	}
	l->state = LOCAL_PREFERRED;
	l->retry = 0;
	/* RFC 4861 section 7.2.6: a node that knows an old link-layer address of it learns ours. */
	nd_announce(s, &l->addr);
}

/* Another for each station, address and moment. */
static uint64_t local_random(const struct local_addr *l, uint64_t now)
{
	struct {
		uint64_t now;
		struct ip_addr addr;
		uint8_t mac[8];
	} of = {.now = now, .addr = l->addr};

	memcpy(of.mac, l->stack->cfg.mac, ETH_ADDR_LEN);
	return siphash(&l->stack->key, &of, sizeof of);
}

static void local_probe_v6(struct local_addr *l, uint64_t now)
{
	uint64_t nonce = local_random(l, now);

	memcpy(l->nonce, &nonce, sizeof l->nonce);
	nd_probe(l->stack, &l->addr, l->nonce);
}

bool local_has_probed(
	const struct ip_stack *s, const struct ip_addr *a, const uint8_t nonce[ND_NONCE_LEN])
{
	for (unsigned i = 0; i < s->local.n; i++) {
		const struct local_addr *l = &s->local.a[i];

		if (ip_addr_equal(&l->addr, a))
			return memcmp(l->nonce, nonce, sizeof l->nonce) == 0;
	}
	return false;
}

static void local_step_v6(struct local_addr *l, uint64_t now)
{
	struct ip_stack *s = l->stack;
	unsigned questions = l->state == LOCAL_DUPLICATE ? RETRY_QUESTIONS : 0;

	if (l->sent < questions + DAD_TRANSMITS + l->claimed) {
		if (l->sent < questions)
			nd_solicit(s, &l->addr, NULL);
		else
			local_probe_v6(l, now);
		l->sent++;
		timer_start(s->cfg.wheel, &l->timer, now + DAD_RETRANS_NS);
		return;
	}
	local_assign_v6(l);
	if (!ip_addr_is_link_local(&l->addr))
		return;
	/* First without, now with an address of our own to speak from (RFC 3590). */
	membership_repeat(&s->mld, now);
	nd_find_routers(s, now);
}

static void local_timer(struct timer *timer, uint64_t now)
{
	struct local_addr *l = container_of(timer, struct local_addr, timer);

	if (ip_addr_is_v4(&l->addr))
		local_step_v4(l, now);
	else
		local_step_v6(l, now);
}

/* Before the probe, as answers come to the group (RFC 4862 section 5.4.2). */
static void local_join_group(const struct local_addr *l, uint64_t now)
{
	struct ip_addr group = nd_group(&l->addr);

	if (!ip_addr_is_v4(&l->addr) && ip_group_join(l->stack, &group, now) < 0)
		log_printf(l->stack->cfg.log, LOG_LEVEL_ERROR,
			"ip: too many groups: neighbours may not find us");
}

void local_begin_again(struct ip_stack *s, uint64_t now)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		struct local_addr *l = &s->local.a[i];

		/* Before there was a link nobody heard the probes. */
		l->held = s->linked &&
			  (l->state == LOCAL_PREFERRED || (l->held && l->state == LOCAL_TENTATIVE));
		/* What another station has is not used before nobody answers for it. */
		if (l->state != LOCAL_DUPLICATE)
			l->state = LOCAL_TENTATIVE;
		l->claimed = false;
		l->sent = 0;
		l->retry = 0;
		local_timer(&l->timer, now);
	}
}

/* fe80::/64 and the EUI-64 of the MAC (RFC 4862 section 5.3, RFC 4291 appendix A). */
static struct ip_addr local_link_local(const uint8_t mac[6])
{
	return (struct ip_addr){
		{0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}};
}

/* RFC 4862 section 5.4.5: then another station has our MAC as well. */
static bool local_is_of_mac(const struct ip_stack *s, const struct ip_addr *a)
{
	const struct ip_addr ll = local_link_local(s->cfg.mac);

	return ip_addr_equal(a, &ll);
}

/* Twice as long each time, and by up to a half more or less: two that try to have it at the same
 * time would do so again. What only our MAC gives waits for another link; routers are looked for
 * without it, as any address of ours may ask for them (RFC 4861 section 4.1). */
static void local_retry_later(struct local_addr *l, uint64_t now)
{
	struct ip_stack *s = l->stack;

	l->retry = l->retry ? 2 * l->retry : RETRY_FIRST_NS;
	if (l->retry > RETRY_LONGEST_NS)
		l->retry = RETRY_LONGEST_NS;
	l->held = l->claimed = false;
	l->sent = 0;
	if (local_is_of_mac(s, &l->addr)) {
		timer_stop(s->cfg.wheel, &l->timer);
		nd_find_routers(s, now);
		return;
	}
	timer_start(s->cfg.wheel, &l->timer, now + l->retry / 2 + local_random(l, now) % l->retry);
}

void local_stay_away(struct ip_stack *s, const struct ip_addr *a, uint64_t now)
{
	for (unsigned i = 0; i < s->local.n; i++) {
		struct local_addr *l = &s->local.a[i];

		if (l->state == LOCAL_DUPLICATE && l->sent && ip_addr_equal(&l->addr, a)) {
			s->stats.nd_conflicts++;
			local_retry_later(l, now);
		}
	}
}

static const char *local_what_becomes(const struct local_addr *l)
{
	return local_is_of_mac(l->stack, &l->addr) ? ": it cannot be used"
						   : ": it cannot be used; it is tried again later";
}

void local_conflict(
	struct ip_stack *s, struct local_addr *l, const uint8_t *mac, bool yield, uint64_t now)
{
	bool v4 = ip_addr_is_v4(&l->addr);
	bool tried = yield && !v4 && l->state == LOCAL_TENTATIVE;
	bool duplicate = tried && (!l->held || l->sent > DAD_TRANSMITS);
	bool first = !l->defended || now - l->defended >= DEFEND_INTERVAL_NS;
	char text[IP_ADDR_STRLEN];

	if (v4)
		s->stats.arp_conflicts++;
	else
		s->stats.nd_conflicts++;
	if (first || duplicate)
		log_printf(s->cfg.log, LOG_LEVEL_ERROR,
			"ip: our address %s is also claimed by " ETH_ADDR_FORMAT "%s",
			ip_addr_format(&l->addr, text), ETH_ADDR_ARGS(mac),
			duplicate ? local_what_becomes(l) : "");
	if (duplicate) {
		/* RFC 4862 section 5.4.5. */
		l->state = LOCAL_DUPLICATE;
		local_retry_later(l, now);
		ip_paths_changed(s);
		return;
	}
	if (tried)
		l->claimed = true;
	/* RFC 5227 section 2.4(c): the address was given by a person and is kept; not more than
	 * one defence in ten seconds, lest two hosts fight at wire speed. */
	if (!first)
		return;
	l->defended = now;
	if (v4)
		arp_announce(s, &l->addr);
	else if (l->state != LOCAL_TENTATIVE) /* else it is when the probing ends */
		nd_announce(s, &l->addr);
}

static int local_check(const struct ip_stack *s, const struct ip_addr *a, unsigned prefix_len)
{
	if (prefix_len > (ip_addr_is_v4(a) ? 32 : 128) || ip_addr_is_any(a) ||
		ip_addr_is_multicast(a) || ip_addr_is_loopback(a))
		return -EINVAL;
	/* RFC 1122 section 3.2.1.3: 240/4 is not for hosts, all ones is broadcast. */
	if (ip_addr_is_v4(a) && a->b[12] >= 240)
		return -EINVAL;
	for (unsigned i = 0; i < s->local.n; i++) {
		if (ip_addr_equal(&s->local.a[i].addr, a))
			return -EEXIST;
	}
	return s->local.n == LOCAL_MAX ? -ENOSPC : 0;
}

static int local_add(struct ip_stack *s, const struct ip_addr *a, unsigned prefix_len, uint64_t now)
{
	struct route subnet = {
		.prefix = *a,
		.prefix_len = prefix_len,
		.origin = ROUTE_CONNECTED,
		.expires = TIMER_NEVER,
	};
	struct local_addr *l;
	int rc = local_check(s, a, prefix_len);

	if (rc < 0)
		return rc;
	rc = route_insert(s, &subnet);
	if (rc < 0 && rc != -EEXIST) /* two addresses may share a subnet */
		return rc;
	l = &s->local.a[s->local.n++];
	*l = (struct local_addr){.addr = *a, .prefix_len = prefix_len, .stack = s};
	timer_init(&l->timer, local_timer);
	if (ip_addr_is_v4(a))
		memcpy(&s->local.v4[s->local.n_v4++], a->b + 12, 4);
	ip_paths_changed(s);
	if (s->cfg.no_link) { /* nobody there to have the same address, or to be told */
		l->state = LOCAL_PREFERRED;
		return 0;
	}
	local_join_group(l, now);
	local_timer(&l->timer, now);
	return 0;
}

int ip_addr_add(struct ip_stack *s, const struct ip_addr *a, unsigned prefix_len, uint64_t now)
{
	struct ip_addr ll = local_link_local(s->cfg.mac);
	int rc = local_add(s, a, prefix_len, now);

	/* RFC 4291 section 2.8: a node with IPv6 has a link-local address. */
	if (rc == 0 && !s->cfg.no_link && !ip_addr_is_v4(a) && !ip_addr_is_local(s, &ll))
		(void)local_add(s, &ll, 64, now);
	return rc;
}

void local_fini(struct ip_stack *s)
{
	for (unsigned i = 0; i < s->local.n; i++)
		timer_stop(s->cfg.wheel, &s->local.a[i].timer);
}
