/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/neighbour.h"

#include "base/container_of.h"
#include "ip/arp.h"
#include "ip/icmp.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/nd.h"
#include "ip/stack.h"

#include <errno.h>

#define SECOND UINT64_C(1000000000)

/* RFC 4861 section 10. */
#define REACHABLE_TIME_NS         (30 * SECOND)
#define RETRANS_TIMER_NS          SECOND
#define DELAY_FIRST_PROBE_TIME_NS (5 * SECOND)
#define MAX_SOLICIT               3

/* To find the owner of an address: soon enough for a router that takes over from another one. */
#define VERIFY_TIMER_NS    (SECOND / 4)
#define VERIFY_INTERVAL_NS SECOND        /* claims and doubts do not make us ask more often */
#define DOUBT_LIFE_NS      (30 * SECOND) /* a doubt, or a claim, that nothing followed */

#define FAILED_HOLD_NS SECOND         /* how long a failure is remembered */
#define UNUSED_LIFE_NS (600 * SECOND) /* entries that nobody uses go */
#define NEW_LIFE_NS    (60 * SECOND)
#define VICTIMS        64 /* looked at, to choose one */

static unsigned neighbour_bucket(const struct ip_stack *s, const struct ip_addr *a)
{
	return siphash(&s->key, a, sizeof *a) & (NEIGHBOUR_BUCKETS - 1);
}

static void neighbour_arm(struct ip_neighbour *n, uint64_t deadline)
{
	timer_start(n->stack->cfg.wheel, &n->timer, deadline);
}

static void neighbour_set_state(struct ip_neighbour *n, enum neighbour_state state)
{
	n->state = (uint8_t)state;
	/* STALE is left on use: its first packet must come by neighbour_output(). */
	n->direct = state == NEIGHBOUR_REACHABLE || state == NEIGHBOUR_DELAY ||
		    state == NEIGHBOUR_PROBE;
}

/* Is there a link-layer address? */
static bool neighbour_is_known(const struct ip_neighbour *n)
{
	return n->state == NEIGHBOUR_REACHABLE || n->state == NEIGHBOUR_STALE ||
	       n->state == NEIGHBOUR_DELAY || n->state == NEIGHBOUR_PROBE;
}

/** Empty the queue into @p to. @return how many there were. */
static unsigned neighbour_take_queue(struct ip_neighbour *n, struct rte_mbuf *to[NEIGHBOUR_QUEUE])
{
	unsigned queued = n->queued;

	memcpy(to, n->queue, sizeof n->queue);
	n->queued = 0;
	n->stack->neighbours.queued -= queued;
	return queued;
}

static void neighbour_drop_queue(struct ip_neighbour *n)
{
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = neighbour_take_queue(n, queue);

	n->stack->stats.neighbour_queue_drops += queued;
	for (unsigned i = 0; i < queued; i++)
		rte_pktmbuf_free(queue[i]);
}

static void neighbour_drop_some(struct ip_neighbour *n,
	bool (*is_of)(const struct rte_mbuf *m, const void *arg), const void *arg)
{
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = neighbour_take_queue(n, queue);

	for (unsigned i = 0; i < queued; i++) {
		if (is_of(queue[i], arg)) {
			rte_pktmbuf_free(queue[i]);
			n->stack->stats.neighbour_queue_drops++;
			continue;
		}
		n->queue[n->queued++] = queue[i];
		n->stack->neighbours.queued++;
	}
}

void ip_drop_waiting(struct ip_stack *s, bool (*is_of)(const struct rte_mbuf *m, const void *arg),
	const void *arg)
{
	for (unsigned i = 0; i < NEIGHBOUR_MAX && s->neighbours.queued; i++)
		neighbour_drop_some(&s->neighbours.e[i], is_of, arg);
}

/* To wait for the neighbour's answer. */
static void neighbour_enqueue(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m)
{
	if (n->queued == NEIGHBOUR_QUEUE) {
		/* RFC 4861 section 7.2.2: the oldest makes room. */
		rte_pktmbuf_free(n->queue[0]);
		n->queued--;
		s->neighbours.queued--;
		memmove(n->queue, n->queue + 1, n->queued * sizeof n->queue[0]);
		s->stats.neighbour_queue_drops++;
	}
	if (s->neighbours.queued == NEIGHBOUR_QUEUED_MAX) {
		rte_pktmbuf_free(m);
		s->stats.neighbour_queue_drops++;
		return;
	}
	n->queue[n->queued++] = m;
	s->neighbours.queued++;
}

static void neighbour_release(struct ip_stack *s, struct ip_neighbour *n)
{
	struct ip_neighbour **link = &s->neighbours.bucket[neighbour_bucket(s, &n->addr)];

	while (*link != n)
		link = &(*link)->next;
	*link = n->next;
	neighbour_drop_queue(n);
	timer_stop(s->cfg.wheel, &n->timer);
	neighbour_set_state(n, NEIGHBOUR_FREE);
	n->next = s->neighbours.free;
	s->neighbours.free = n;
	ip_paths_changed(s);
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

/** @return the address that is being asked; NULL: all are. */
static const uint8_t *neighbour_asked_mac(const struct ip_neighbour *n)
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

static void neighbour_start_probe(struct ip_neighbour *n, enum neighbour_asked asked, uint64_t now)
{
	neighbour_set_state(n, NEIGHBOUR_PROBE);
	n->asked = (uint8_t)asked;
	n->probes = 0;
	neighbour_probe(n, now);
}

static void neighbour_become_stale(struct ip_neighbour *n, uint64_t now)
{
	neighbour_set_state(n, NEIGHBOUR_STALE);
	neighbour_arm(n, now + UNUSED_LIFE_NS);
}

static void neighbour_become_reachable(struct ip_neighbour *n, uint64_t now)
{
	neighbour_set_state(n, NEIGHBOUR_REACHABLE);
	n->confirmed = now;
	neighbour_arm(n, now + REACHABLE_TIME_NS);
}

/* What it says unasked, as if it had been, proves nothing (RFC 3756 section 4.1.2). */
static void neighbour_prove(struct ip_neighbour *n)
{
	n->answered = true;
	route_keep_prefix(n->stack, &n->addr);
	route_return_to_gateway(n->stack, &n->addr);
}

static void neighbour_take_mac(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	memcpy(n->eth, mac, ETH_ADDR_LEN);
	n->taken = n->since = now;
	n->answered = false;
}

static void neighbour_log_move(const struct ip_neighbour *n, const uint8_t *from, const uint8_t *to)
{
	char text[IP_ADDR_STRLEN];

	log_printf(n->stack->cfg.log, LOG_LEVEL_INFO,
		"ip: %s is no longer at " ETH_ADDR_FORMAT " but at " ETH_ADDR_FORMAT,
		ip_addr_format(&n->addr, text), ETH_ADDR_ARGS(from), ETH_ADDR_ARGS(to));
}

/* Believe another address, perhaps of the entry's own; the former one becomes the rival. */
static void neighbour_move(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	uint8_t from[ETH_ADDR_LEN], to[ETH_ADDR_LEN];

	memcpy(from, n->eth, ETH_ADDR_LEN);
	memcpy(to, mac, ETH_ADDR_LEN);
	neighbour_log_move(n, from, to);
	n->stack->stats.neighbour_moved++;
	n->moved = true;
	neighbour_take_mac(n, to, now);
	memcpy(n->rival, from, ETH_ADDR_LEN);
	n->claimed = now;
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

static void neighbour_expire(struct timer *timer, uint64_t now)
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
		/* neighbour_confirm() only writes down the time. */
		if (n->confirmed + REACHABLE_TIME_NS > now)
			neighbour_arm(n, n->confirmed + REACHABLE_TIME_NS);
		else
			neighbour_become_stale(n, now);
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

void neighbour_init(struct ip_stack *s)
{
	for (unsigned i = NEIGHBOUR_MAX; i-- > 0;) {
		struct ip_neighbour *n = &s->neighbours.e[i];

		n->stack = s;
		timer_init(&n->timer, neighbour_expire);
		n->next = s->neighbours.free;
		s->neighbours.free = n;
	}
}

void neighbour_fini(struct ip_stack *s)
{
	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++) {
		neighbour_drop_queue(&s->neighbours.e[i]);
		timer_stop(s->cfg.wheel, &s->neighbours.e[i].timer);
	}
}

struct ip_neighbour *neighbour_find(struct ip_stack *s, const struct ip_addr *a)
{
	struct ip_neighbour *n = s->neighbours.bucket[neighbour_bucket(s, a)];

	while (n && !ip_addr_equal(&n->addr, a))
		n = n->next;
	return n;
}

/* How much would be lost with this entry: strangers' and unanswered ones go first. */
static unsigned neighbour_worth(const struct ip_stack *s, const struct ip_neighbour *n)
{
	if (n->state == NEIGHBOUR_FAILED)
		return 0;
	if (!n->used)
		return 1;
	if (n->state == NEIGHBOUR_NEW || n->state == NEIGHBOUR_INCOMPLETE)
		return 2;
	return route_is_gateway(s, &n->addr) ? 5 : n->confirmed ? 4 : 3;
}

static void neighbour_evict(struct ip_stack *s)
{
	struct neighbour_table *t = &s->neighbours;
	struct ip_neighbour *victim = NULL;
	unsigned least = 0;

	for (unsigned i = 0; i < VICTIMS; i++) {
		struct ip_neighbour *n = &t->e[t->hand++ % NEIGHBOUR_MAX];
		unsigned w = neighbour_worth(s, n);

		if (!victim || w < least || (w == least && n->used < victim->used)) {
			victim = n;
			least = w;
		}
	}
	neighbour_release(s, victim);
}

struct ip_neighbour *neighbour_get(struct ip_stack *s, const struct ip_addr *a, uint64_t now)
{
	struct neighbour_table *t = &s->neighbours;
	struct ip_neighbour *n = neighbour_find(s, a);
	struct ip_neighbour **head;
	static const uint8_t no_mac[ETH_ADDR_LEN];

	if (n)
		return n;
	if (!t->free)
		neighbour_evict(s);
	n = t->free;
	t->free = n->next;
	head = &t->bucket[neighbour_bucket(s, a)];
	n->addr = *a;
	n->next = *head;
	*head = n;
	n->used = n->confirmed = n->since = n->taken = n->contested = n->doubted = n->claimed = 0;
	n->router = n->answered = n->has_rival = n->has_proven = n->told = n->moved = n->polled =
		false;
	n->asked = n->doubts = 0;
	n->probes = n->queued = 0;
	eth_store(n->eth, no_mac, s->cfg.mac, ip_addr_is_v4(a) ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
	neighbour_set_state(n, NEIGHBOUR_NEW);
	neighbour_arm(n, now + NEW_LIFE_NS);
	return n;
}

static void neighbour_send_now(struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now)
{
	n->used = now;
	memcpy(rte_pktmbuf_mtod(m, void *), n->eth, ETH_LEN);
	ip_transmit(n->stack, m);
}

static void neighbour_flush_queue(struct ip_neighbour *n, uint64_t now)
{
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = neighbour_take_queue(n, queue);

	for (unsigned i = 0; i < queued; i++)
		(void)neighbour_output(n->stack, n, queue[i], now);
}

/* Once for each neighbour: it may go on for long. */
static void neighbour_log_rival(struct ip_neighbour *n)
{
	char text[IP_ADDR_STRLEN];

	n->stack->stats.neighbour_refused++;
	if (n->told)
		return;
	n->told = true;
	log_printf(n->stack->cfg.log, LOG_LEVEL_WARNING,
		"ip: " ETH_ADDR_FORMAT " claims to be %s, but " ETH_ADDR_FORMAT
		" answered when it was asked, and is believed",
		ETH_ADDR_ARGS(n->rival), ip_addr_format(&n->addr, text), ETH_ADDR_ARGS(n->eth));
}

/* May a claim or a doubt make us ask now? RFC 1122 section 2.3.2.1: no ARP floods. */
static bool neighbour_may_ask(uint64_t *last, uint64_t now)
{
	if (*last && now - *last < VERIFY_INTERVAL_NS)
		return false;
	*last = now;
	return true;
}

/* Somebody else says that a neighbour in use has moved to it. */
static void neighbour_contest(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	bool asking = n->state == NEIGHBOUR_PROBE;

	/* The station that is being asked must not be put off by a third. */
	if (asking && n->asked == NEIGHBOUR_ASK_RIVAL)
		return;
	memcpy(n->rival, mac, ETH_ADDR_LEN);
	n->has_rival = true;
	n->claimed = now;
	if (asking ? n->asked != NEIGHBOUR_ASK_ALL : !neighbour_may_ask(&n->contested, now))
		return;
	n->since = now;
	neighbour_start_probe(n, NEIGHBOUR_ASK_CURRENT, now);
}

/** An answer to our question, of @p mac. */
static void neighbour_answered(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	bool asking = n->state == NEIGHBOUR_PROBE;
	const uint8_t *asked = asking ? neighbour_asked_mac(n) : n->eth;

	if (!eth_addr_equal(mac, asked ? asked : n->eth))
		return;
	if (asked == n->eth && asking && n->has_rival)
		neighbour_log_rival(n);
	if (asked == n->proven || asked == n->rival) {
		neighbour_move(n, asked, now);
		n->has_rival = true;
	}
	neighbour_become_reachable(n, now);
	if (asking)
		neighbour_prove(n);
}

/* RFC 4861 section 7.2.5, for an address that nothing is known of. */
static void neighbour_learn_first(
	struct ip_neighbour *n, const struct neighbour_news *news, uint64_t now)
{
	bool asking = n->state == NEIGHBOUR_INCOMPLETE;

	if (!news->mac)
		return;
	if (n->since && !eth_addr_equal(n->eth, news->mac))
		neighbour_move(n, news->mac, now);
	neighbour_take_mac(n, news->mac, now);
	if (news->solicited)
		neighbour_become_reachable(n, now);
	else
		neighbour_become_stale(n, now);
	if (news->solicited && asking)
		neighbour_prove(n);
	neighbour_flush_queue(n, now);
}

/* RFC 4861 section 7.2.5, for what differs from what is known. */
static void neighbour_learn_other(
	struct ip_neighbour *n, const struct neighbour_news *news, uint64_t now)
{
	if (!news->override) {
		if (n->state == NEIGHBOUR_REACHABLE)
			neighbour_become_stale(n, now);
		return;
	}
	/* A router that waits for its turn is as good as one in use. */
	if (n->used || route_is_gateway(n->stack, &n->addr)) {
		neighbour_contest(n, news->mac, now);
		return;
	}
	neighbour_take_mac(n, news->mac, now);
	if (news->solicited)
		neighbour_become_reachable(n, now);
	else
		neighbour_become_stale(n, now);
}

bool neighbour_learn(
	struct ip_stack *s, struct ip_neighbour *n, const struct neighbour_news *news, uint64_t now)
{
	const uint8_t *mac = news->mac ? news->mac : news->src ? news->src : n->eth;

	if (!neighbour_is_known(n)) {
		neighbour_learn_first(n, news, now);
	} else {
		if (news->solicited)
			neighbour_answered(n, mac, now);
		if (news->mac && !eth_addr_equal(n->eth, news->mac))
			neighbour_learn_other(n, news, now);
	}
	return neighbour_is_known(n) && eth_addr_equal(n->eth, mac);
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

static bool neighbour_is_asked_from(const struct ip_neighbour *n, const struct ip_addr *from)
{
	const struct local_addr *l = local_source(n->stack, &n->addr, &n->addr);

	return l && ip_addr_equal(&l->addr, from);
}

void neighbour_ask_again(struct ip_stack *s, const struct ip_addr *from, uint64_t now)
{
	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++) {
		struct ip_neighbour *n = &s->neighbours.e[i];

		if (n->state != NEIGHBOUR_INCOMPLETE ||
			(from && !neighbour_is_asked_from(n, from)))
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

void neighbour_confirm(struct ip_stack *s, struct ip_neighbour *n, uint64_t sent_at, uint64_t now)
{
	/* What went out before may have gone to another, or be what a claim came after. */
	if (!neighbour_is_known(n) || sent_at < n->since)
		return;
	memcpy(n->proven, n->eth, ETH_ADDR_LEN);
	n->has_proven = true;
	n->moved = false;
	n->doubts = 0;
	if (now - n->claimed > DOUBT_LIFE_NS)
		n->has_rival = false;
	n->confirmed = now;
	if (n->state != NEIGHBOUR_REACHABLE)
		neighbour_become_reachable(n, now);
	if (!n->answered)
		neighbour_prove(n);
}

/* Which station to ask, as what goes to the known one brings no progress. */
static enum neighbour_asked neighbour_whom_to_ask(const struct ip_neighbour *n)
{
	bool proven = n->has_proven && eth_addr_equal(n->proven, n->eth);

	if (n->has_proven && !proven)
		return NEIGHBOUR_ASK_PROVEN;
	/* The path behind a neighbour may fail as well, while a forger claims to be the neighbour.
	 * But where nothing that was sent ever had an effect, the rival is as good: a SYN has few
	 * tries. */
	if (n->has_rival && n->doubts >= (proven ? 2 : 0))
		return NEIGHBOUR_ASK_RIVAL;
	return n->doubts ? NEIGHBOUR_ASK_ALL : NEIGHBOUR_ASK_CURRENT;
}

/* A neighbour without an address yet is asking; so is one between two addresses. */
static bool neighbour_is_asking(const struct ip_neighbour *n)
{
	return !neighbour_is_known(n) ||
	       (n->state == NEIGHBOUR_PROBE && (n->has_rival || n->asked != NEIGHBOUR_ASK_CURRENT));
}

static bool neighbour_is_settled(const struct ip_neighbour *n)
{
	return neighbour_is_known(n) && !n->moved &&
	       (n->state != NEIGHBOUR_PROBE ||
		       (n->probes <= 1 && n->asked == NEIGHBOUR_ASK_CURRENT));
}

bool neighbour_doubt(struct ip_neighbour *n, uint64_t now)
{
	if (now - n->doubted > DOUBT_LIFE_NS)
		n->doubts = 0;
	/* Of an address that nothing was sent to yet there is nothing to doubt. */
	if (neighbour_is_asking(n) || n->used < n->taken || !neighbour_may_ask(&n->doubted, now))
		return !neighbour_is_settled(n);
	neighbour_start_probe(n, neighbour_whom_to_ask(n), now);
	if (n->doubts < UINT8_MAX)
		n->doubts++;
	return !neighbour_is_settled(n);
}

void ip_neighbour_each(const struct ip_stack *s,
	void (*fn)(void *ctx, const struct ip_addr *a, const uint8_t mac[6], const char *state),
	void *ctx)
{
	static const char *const name[] = {
		[NEIGHBOUR_NEW] = "NEW",
		[NEIGHBOUR_INCOMPLETE] = "INCOMPLETE",
		[NEIGHBOUR_REACHABLE] = "REACHABLE",
		[NEIGHBOUR_STALE] = "STALE",
		[NEIGHBOUR_DELAY] = "DELAY",
		[NEIGHBOUR_PROBE] = "PROBE",
		[NEIGHBOUR_FAILED] = "FAILED",
	};

	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++) {
		const struct ip_neighbour *n = &s->neighbours.e[i];

		if (n->state != NEIGHBOUR_FREE)
			fn(ctx, &n->addr, n->eth, name[n->state]);
	}
}
