/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/neighbour_priv.h"

#include "base/container_of.h"
#include "ip/arp.h"
#include "ip/icmp.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/nd.h"
#include "ip/stack.h"

#include <errno.h>
#include <rte_mbuf.h>

#define SECOND UINT64_C(1000000000)

/* RFC 4861 section 10. */
#define REACHABLE_TIME_NS         (30 * SECOND)
#define RETRANS_TIMER_NS          SECOND
#define DELAY_FIRST_PROBE_TIME_NS (5 * SECOND)
#define MAX_SOLICIT               3

/* To find the owner of an address: soon enough for a router that takes over from another one. */
#define VERIFY_TIMER_NS (SECOND / 4)

#define FAILED_HOLD_NS SECOND         /* how long a failure is remembered */
#define UNUSED_LIFE_NS (600 * SECOND) /* entries that nobody uses go */

void neighbour_arm(struct ip_neighbour *n, uint64_t deadline)
{
	timer_start(n->stack->cfg.wheel, &n->timer, deadline);
}

void neighbour_set_state(struct ip_neighbour *n, enum neighbour_state state)
{
	n->state = (uint8_t)state;
	/* STALE is left on use: its first packet must come by neighbour_output(). */
	n->direct = state == NEIGHBOUR_REACHABLE || state == NEIGHBOUR_DELAY ||
		    state == NEIGHBOUR_PROBE;
}

static void neighbour_solicit(
	struct ip_neighbour *n, const uint8_t *mac, uint64_t now, uint64_t patience)
{
	n->probes++;
	if (ip_addr_is_v4(&n->addr))
		arp_solicit(n->stack, &n->addr, mac);
	else
		nd_solicit(n->stack, &n->addr, mac);
	neighbour_arm(n, now + patience);
}

static void neighbour_start_resolution(struct ip_neighbour *n, uint64_t now)
{
	neighbour_set_state(n, NEIGHBOUR_INCOMPLETE);
	n->polled = n->answered = false;
	n->probes = 0;
	neighbour_solicit(n, NULL, now, RETRANS_TIMER_NS);
}

static void neighbour_start_poll(struct ip_neighbour *n, uint64_t now)
{
	neighbour_start_resolution(n, now);
	n->polled = true;
	n->probes = MAX_SOLICIT; /* RFC 4191 section 3.5: a single one */
}

const uint8_t *neighbour_asked_mac(const struct ip_neighbour *n)
{
	switch ((enum neighbour_asked)n->asked) {
	case NEIGHBOUR_ASK_PROVEN:
		return n->proven;
	case NEIGHBOUR_ASK_RIVAL:
		return n->rival;
	case NEIGHBOUR_ASK_ALL:
		return NULL;
	case NEIGHBOUR_ASK_CURRENT:
		break;
	}
	return n->eth;
}

static void neighbour_probe(struct ip_neighbour *n, uint64_t now)
{
	/* Nobody else waits to be believed: then there is no hurry. */
	bool hurry = n->has_rival || n->asked != NEIGHBOUR_ASK_CURRENT;

	neighbour_solicit(
		n, neighbour_asked_mac(n), now, hurry ? VERIFY_TIMER_NS : RETRANS_TIMER_NS);
}

void neighbour_start_probe(struct ip_neighbour *n, enum neighbour_asked asked, uint64_t now)
{
	neighbour_set_state(n, NEIGHBOUR_PROBE);
	n->asked = (uint8_t)asked;
	n->probes = 0;
	neighbour_probe(n, now);
}

void neighbour_become_stale(struct ip_neighbour *n, uint64_t now)
{
	neighbour_set_state(n, NEIGHBOUR_STALE);
	neighbour_arm(n, now + UNUSED_LIFE_NS);
}

void neighbour_become_reachable(struct ip_neighbour *n, uint64_t now)
{
	neighbour_set_state(n, NEIGHBOUR_REACHABLE);
	n->confirmed = now;
	neighbour_arm(n, now + REACHABLE_TIME_NS);
}

/* By another router, if there is one whose address is known. @return false: @p m was not sent. */
static bool neighbour_redirect(
	struct ip_stack *s, const struct ip_addr *from, struct rte_mbuf *m, uint64_t now)
{
	const uint8_t *h = rte_pktmbuf_mtod_offset(m, const uint8_t *, ETH_LEN);
	struct ip_addr dst =
		ip_addr_is_v4(from) ? ip_addr_from_v4(h + IPV4_DST) : ip_addr_from_v6(h + IPV6_DST);
	struct ip_addr hop;
	struct ip_neighbour *n;

	if (route_next_hop(s, &dst, &hop) < 0)
		return false;
	n = neighbour_find(s, &hop);
	if (!n || !neighbour_is_known(n))
		return false;
	(void)neighbour_output(s, n, m, now);
	return true;
}

/* RFC 4861 section 7.2.2: the packets that waited are answered by "address unreachable". */
static void neighbour_fail(struct ip_neighbour *n, uint64_t now)
{
	struct ip_stack *s = n->stack;
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = neighbour_take_queue(n, queue);
	const struct ip_addr addr = n->addr; /* another neighbour may take the entry's place */
	char text[IP_ADDR_STRLEN];

	if (!n->polled) {
		s->stats.neighbour_failed++;
		log_printf(s->cfg.log, LOG_LEVEL_INFO, "ip: %s does not answer %s",
			ip_addr_format(&addr, text), ip_addr_is_v4(&addr) ? "ARP" : "ND");
	}
	neighbour_set_state(n, NEIGHBOUR_FAILED);
	neighbour_arm(n, now + FAILED_HOLD_NS);
	route_leave_gateway(s, &addr, now);
	for (unsigned i = 0; i < queued; i++) {
		if (neighbour_redirect(s, &addr, queue[i], now))
			continue;
		icmp_report_own(s, queue[i], now);
		rte_pktmbuf_free(queue[i]);
	}
}

/* The station that was asked is not there. */
static void neighbour_unanswered(struct ip_neighbour *n, uint64_t now)
{
	switch ((enum neighbour_asked)n->asked) {
	case NEIGHBOUR_ASK_PROVEN:
		n->has_proven = false;
		neighbour_start_probe(n, NEIGHBOUR_ASK_CURRENT, now);
		return;
	case NEIGHBOUR_ASK_RIVAL:
		n->has_rival = false;
		neighbour_start_probe(n, NEIGHBOUR_ASK_CURRENT, now);
		return;
	case NEIGHBOUR_ASK_CURRENT:
		if (!n->has_rival)
			break;
		neighbour_move(n, n->rival, now);
		n->has_rival = false; /* it was silent */
		neighbour_start_probe(n, NEIGHBOUR_ASK_CURRENT, now);
		return;
	case NEIGHBOUR_ASK_ALL:
		break;
	}
	/* Its address may have moved to another MAC: ask everybody before giving up (RFC 7048
	 * section 3). But another router need not wait for that. */
	route_leave_gateway(n->stack, &n->addr, now);
	neighbour_start_resolution(n, now);
}

/* Progress and answers that were not asked for only write down the time. */
static void neighbour_stay_reachable(struct ip_neighbour *n, uint64_t now)
{
	if (n->confirmed + REACHABLE_TIME_NS <= now) {
		neighbour_become_stale(n, now);
		return;
	}
	if (n->answered)
		neighbour_prove(n, now);
	neighbour_arm(n, n->confirmed + REACHABLE_TIME_NS);
}

void neighbour_expire(struct timer *timer, uint64_t now)
{
	struct ip_neighbour *n = container_of(timer, struct ip_neighbour, timer);

	switch ((enum neighbour_state)n->state) {
	case NEIGHBOUR_INCOMPLETE:
		if (n->probes < MAX_SOLICIT)
			neighbour_solicit(n, NULL, now, RETRANS_TIMER_NS);
		else
			neighbour_fail(n, now);
		break;
	case NEIGHBOUR_REACHABLE:
		neighbour_stay_reachable(n, now);
		break;
	case NEIGHBOUR_DELAY:
		neighbour_start_probe(n, NEIGHBOUR_ASK_CURRENT, now);
		break;
	case NEIGHBOUR_PROBE:
		if (n->probes < MAX_SOLICIT)
			neighbour_probe(n, now);
		else
			neighbour_unanswered(n, now);
		break;
	case NEIGHBOUR_FREE:
		break;
	case NEIGHBOUR_NEW:
	case NEIGHBOUR_STALE:
	case NEIGHBOUR_FAILED:
		neighbour_release(n->stack, n);
		break;
	}
}

static void neighbour_send_now(struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now)
{
	n->used = now;
	memcpy(rte_pktmbuf_mtod(m, void *), n->eth, ETH_LEN);
	ip_transmit(n->stack, m);
}

int neighbour_output(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now)
{
	switch ((enum neighbour_state)n->state) {
	case NEIGHBOUR_FREE:
	case NEIGHBOUR_FAILED:
		rte_pktmbuf_free(m);
		return -EHOSTUNREACH;
	case NEIGHBOUR_STALE:
		neighbour_set_state(n, NEIGHBOUR_DELAY);
		neighbour_arm(n, now + DELAY_FIRST_PROBE_TIME_NS);
		break;
	case NEIGHBOUR_NEW:
	case NEIGHBOUR_INCOMPLETE:
		n->used = now;
		neighbour_enqueue(s, n, m);
		if (n->state == NEIGHBOUR_NEW || n->polled)
			neighbour_start_resolution(n, now);
		return 0;
	case NEIGHBOUR_REACHABLE:
	case NEIGHBOUR_DELAY:
	case NEIGHBOUR_PROBE:
		break;
	}
	neighbour_send_now(n, m, now);
	return 0;
}

void neighbour_poll(struct ip_neighbour *n, uint64_t now)
{
	/* What it says unasked keeps it REACHABLE, too. */
	if (n->state != NEIGHBOUR_NEW && n->state != NEIGHBOUR_FAILED &&
		n->state != NEIGHBOUR_STALE && (n->state != NEIGHBOUR_REACHABLE || n->answered))
		return;
	neighbour_start_poll(n, now);
}

void neighbour_ask_again(struct ip_stack *s, uint64_t now)
{
	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++) {
		struct ip_neighbour *n = &s->neighbours.e[i];

		if (n->state != NEIGHBOUR_INCOMPLETE)
			continue;
		if (n->polled)
			neighbour_start_poll(n, now);
		else
			neighbour_start_resolution(n, now);
	}
}

bool neighbour_ask(struct ip_neighbour *n, uint64_t now)
{
	switch ((enum neighbour_state)n->state) {
	case NEIGHBOUR_FREE:
		return false;
	case NEIGHBOUR_NEW:
	case NEIGHBOUR_FAILED:
	case NEIGHBOUR_INCOMPLETE:
		n->used = now;
		/* A poll asks once, and says nothing of a failure. */
		if (n->state != NEIGHBOUR_INCOMPLETE || n->polled)
			neighbour_start_resolution(n, now);
		return false;
	case NEIGHBOUR_REACHABLE:
	case NEIGHBOUR_STALE:
	case NEIGHBOUR_DELAY:
	case NEIGHBOUR_PROBE:
		break;
	}
	return true;
}
