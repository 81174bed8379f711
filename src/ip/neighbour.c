/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/neighbour.h"

#include "base/container_of.h"
#include "ip/arp.h"
#include "ip/icmp.h"
#include "ip/nd.h"
#include "ip/stack.h"

#include <errno.h>

#define SECOND UINT64_C(1000000000)

/* RFC 4861 section 10. */
#define REACHABLE_TIME_NS         (30 * SECOND)
#define RETRANS_TIMER_NS          SECOND
#define DELAY_FIRST_PROBE_TIME_NS (5 * SECOND)
#define MAX_SOLICIT               3

#define FAILED_HOLD_NS SECOND         /* how long a failure is remembered */
#define UNUSED_LIFE_NS (600 * SECOND) /* entries that nobody uses go */
#define NEW_LIFE_NS    (60 * SECOND)
#define VICTIMS        64 /* looked at, to choose one */

static unsigned bucket(const struct ip_stack *s, const struct ip_addr *a)
{
	return siphash(&s->key, a, sizeof *a) & (NEIGHBOUR_BUCKETS - 1);
}

static void arm(struct ip_neighbour *n, uint64_t deadline)
{
	timer_start(n->stack->cfg.wheel, &n->timer, deadline);
}

static void set_state(struct ip_neighbour *n, enum neighbour_state state)
{
	n->state = (uint8_t)state;
	/* STALE is left on use: its first packet must come by neighbour_output(). */
	n->direct = state == NEIGHBOUR_REACHABLE || state == NEIGHBOUR_DELAY ||
		    state == NEIGHBOUR_PROBE;
}

/* Empty the queue into @p to. @return how many there were. */
static unsigned take_queue(struct ip_neighbour *n, struct rte_mbuf *to[NEIGHBOUR_QUEUE])
{
	unsigned queued = n->queued;

	memcpy(to, n->queue, sizeof n->queue);
	n->queued = 0;
	n->stack->neighbours.queued -= queued;
	return queued;
}

static void drop_queue(struct ip_neighbour *n)
{
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = take_queue(n, queue);

	n->stack->stats.neighbour_queue_drops += queued;
	for (unsigned i = 0; i < queued; i++)
		rte_pktmbuf_free(queue[i]);
}

/* To wait for the neighbour's answer. */
static void enqueue(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m)
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

static void release(struct ip_stack *s, struct ip_neighbour *n)
{
	struct ip_neighbour **link = &s->neighbours.bucket[bucket(s, &n->addr)];

	while (*link != n)
		link = &(*link)->next;
	*link = n->next;
	drop_queue(n);
	timer_stop(s->cfg.wheel, &n->timer);
	set_state(n, NEIGHBOUR_FREE);
	n->next = s->neighbours.free;
	s->neighbours.free = n;
	ip_paths_changed(s);
}

static void solicit(struct ip_neighbour *n, const uint8_t *mac, uint64_t now)
{
	n->probes++;
	if (ip_addr_is_v4(&n->addr))
		arp_solicit(n->stack, &n->addr, mac);
	else
		nd_solicit(n->stack, &n->addr, mac);
	arm(n, now + RETRANS_TIMER_NS);
}

static void start_resolution(struct ip_neighbour *n, uint64_t now)
{
	set_state(n, NEIGHBOUR_INCOMPLETE);
	n->probes = 0;
	solicit(n, NULL, now);
}

static void become_stale(struct ip_neighbour *n, uint64_t now)
{
	set_state(n, NEIGHBOUR_STALE);
	arm(n, now + UNUSED_LIFE_NS);
}

static void become_reachable(struct ip_neighbour *n, uint64_t now)
{
	set_state(n, NEIGHBOUR_REACHABLE);
	n->confirmed = now;
	arm(n, now + REACHABLE_TIME_NS);
}

/* RFC 4861 section 7.2.2: the packets that waited are answered by "address unreachable". */
static void fail(struct ip_neighbour *n, uint64_t now)
{
	struct ip_stack *s = n->stack;
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = take_queue(n, queue);
	char text[IP_ADDR_STRLEN];

	s->stats.neighbour_failed++;
	log_printf(s->cfg.log, LOG_LEVEL_INFO, "ip: %s does not answer %s",
		ip_addr_format(&n->addr, text), ip_addr_is_v4(&n->addr) ? "ARP" : "ND");
	set_state(n, NEIGHBOUR_FAILED);
	arm(n, now + FAILED_HOLD_NS);
	for (unsigned i = 0; i < queued; i++) {
		icmp_report_own(s, queue[i], now);
		rte_pktmbuf_free(queue[i]);
	}
}

static void expire(struct timer *timer, uint64_t now)
{
	struct ip_neighbour *n = container_of(timer, struct ip_neighbour, timer);

	switch ((enum neighbour_state)n->state) {
	case NEIGHBOUR_INCOMPLETE:
		if (n->probes < MAX_SOLICIT)
			solicit(n, NULL, now);
		else
			fail(n, now);
		break;
	case NEIGHBOUR_REACHABLE:
		/* neighbour_confirm() only writes down the time. */
		if (n->confirmed + REACHABLE_TIME_NS > now)
			arm(n, n->confirmed + REACHABLE_TIME_NS);
		else
			become_stale(n, now);
		break;
	case NEIGHBOUR_DELAY:
		set_state(n, NEIGHBOUR_PROBE);
		n->probes = 0;
		solicit(n, n->eth, now);
		break;
	case NEIGHBOUR_PROBE:
		if (n->probes < MAX_SOLICIT)
			solicit(n, n->eth, now);
		else
			/* Its address may have moved to another MAC: ask everybody before giving up
			 * (RFC 7048 section 3). */
			start_resolution(n, now);
		break;
	case NEIGHBOUR_FREE:
		break;
	case NEIGHBOUR_NEW:
	case NEIGHBOUR_STALE:
	case NEIGHBOUR_FAILED:
		release(n->stack, n);
		break;
	}
}

void neighbour_init(struct ip_stack *s)
{
	for (unsigned i = NEIGHBOUR_MAX; i-- > 0;) {
		struct ip_neighbour *n = &s->neighbours.e[i];

		n->stack = s;
		timer_init(&n->timer, expire);
		n->next = s->neighbours.free;
		s->neighbours.free = n;
	}
}

void neighbour_fini(struct ip_stack *s)
{
	for (unsigned i = 0; i < NEIGHBOUR_MAX; i++) {
		drop_queue(&s->neighbours.e[i]);
		timer_stop(s->cfg.wheel, &s->neighbours.e[i].timer);
	}
}

struct ip_neighbour *neighbour_find(struct ip_stack *s, const struct ip_addr *a)
{
	struct ip_neighbour *n = s->neighbours.bucket[bucket(s, a)];

	while (n && !ip_addr_equal(&n->addr, a))
		n = n->next;
	return n;
}

/* How much would be lost with this entry: strangers' and unanswered ones go first. */
static unsigned worth(const struct ip_stack *s, const struct ip_neighbour *n)
{
	if (n->state == NEIGHBOUR_FAILED)
		return 0;
	if (!n->used)
		return 1;
	if (n->state == NEIGHBOUR_NEW || n->state == NEIGHBOUR_INCOMPLETE)
		return 2;
	return route_is_gateway(s, &n->addr) ? 5 : n->confirmed ? 4 : 3;
}

static void evict(struct ip_stack *s)
{
	struct neighbour_table *t = &s->neighbours;
	struct ip_neighbour *victim = NULL;
	unsigned least = 0;

	for (unsigned i = 0; i < VICTIMS; i++) {
		struct ip_neighbour *n = &t->e[t->hand++ % NEIGHBOUR_MAX];
		unsigned w = worth(s, n);

		if (!victim || w < least || (w == least && n->used < victim->used)) {
			victim = n;
			least = w;
		}
	}
	release(s, victim);
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
		evict(s);
	n = t->free;
	t->free = n->next;
	head = &t->bucket[bucket(s, a)];
	n->addr = *a;
	n->next = *head;
	*head = n;
	n->used = n->confirmed = 0;
	n->router = false;
	n->probes = n->queued = 0;
	eth_store(n->eth, no_mac, s->cfg.mac, ip_addr_is_v4(a) ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
	set_state(n, NEIGHBOUR_NEW);
	arm(n, now + NEW_LIFE_NS);
	return n;
}

static void send_now(struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now)
{
	n->used = now;
	memcpy(rte_pktmbuf_mtod(m, void *), n->eth, ETH_LEN);
	ip_transmit(n->stack, m);
}

static void flush_queue(struct ip_neighbour *n, uint64_t now)
{
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = take_queue(n, queue);

	for (unsigned i = 0; i < queued; i++)
		(void)neighbour_output(n->stack, n, queue[i], now);
}

void neighbour_learn(
	struct ip_stack *s, struct ip_neighbour *n, const struct neighbour_news *news, uint64_t now)
{
	bool unknown = n->state == NEIGHBOUR_NEW || n->state == NEIGHBOUR_INCOMPLETE ||
		       n->state == NEIGHBOUR_FAILED;
	bool differs = news->mac && !eth_addr_equal(n->eth, news->mac);

	/* RFC 4861 section 7.2.5. */
	if (unknown) {
		if (!news->mac)
			return;
		memcpy(n->eth, news->mac, ETH_ADDR_LEN);
		if (news->solicited)
			become_reachable(n, now);
		else
			become_stale(n, now);
		flush_queue(n, now);
		return;
	}
	if (differs && !news->override) {
		if (n->state == NEIGHBOUR_REACHABLE)
			become_stale(n, now);
		return;
	}
	if (differs)
		memcpy(n->eth, news->mac, ETH_ADDR_LEN);
	if (news->solicited)
		become_reachable(n, now);
	else if (differs)
		become_stale(n, now);
}

int neighbour_output(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m, uint64_t now)
{
	switch ((enum neighbour_state)n->state) {
	case NEIGHBOUR_FREE:
	case NEIGHBOUR_FAILED:
		rte_pktmbuf_free(m);
		return -EHOSTUNREACH;
	case NEIGHBOUR_STALE:
		set_state(n, NEIGHBOUR_DELAY);
		arm(n, now + DELAY_FIRST_PROBE_TIME_NS);
		break;
	case NEIGHBOUR_NEW:
	case NEIGHBOUR_INCOMPLETE:
		n->used = now;
		enqueue(s, n, m);
		if (n->state == NEIGHBOUR_NEW)
			start_resolution(n, now);
		return 0;
	case NEIGHBOUR_REACHABLE:
	case NEIGHBOUR_DELAY:
	case NEIGHBOUR_PROBE:
		break;
	}
	send_now(n, m, now);
	return 0;
}

bool neighbour_ask(struct ip_neighbour *n, uint64_t now)
{
	switch ((enum neighbour_state)n->state) {
	case NEIGHBOUR_NEW:
	case NEIGHBOUR_FAILED:
		n->used = now;
		start_resolution(n, now);
		return false;
	case NEIGHBOUR_FREE:
	case NEIGHBOUR_INCOMPLETE:
		return false;
	case NEIGHBOUR_REACHABLE:
	case NEIGHBOUR_STALE:
	case NEIGHBOUR_DELAY:
	case NEIGHBOUR_PROBE:
		break;
	}
	return true;
}

void neighbour_confirm(struct ip_stack *s, struct ip_neighbour *n, uint64_t now)
{
	n->confirmed = now;
	if (n->state == NEIGHBOUR_STALE || n->state == NEIGHBOUR_DELAY ||
		n->state == NEIGHBOUR_PROBE)
		become_reachable(n, now);
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
