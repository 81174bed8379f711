/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/neighbour_priv.h"
#include "ip/stack.h"

#define SECOND UINT64_C(1000000000)

#define NEW_LIFE_NS (60 * SECOND)
#define VICTIMS     64 /* looked at, to choose one */

static unsigned neighbour_bucket(const struct ip_stack *s, const struct ip_addr *a)
{
	return siphash(&s->key, a, sizeof *a) & (NEIGHBOUR_BUCKETS - 1);
}

void neighbour_release(struct ip_stack *s, struct ip_neighbour *n)
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
