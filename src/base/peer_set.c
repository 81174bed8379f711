/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/peer_set.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS_MIN 16u
#define BUCKETS_MAX (1u << 16)

int peer_set_init(struct peer_set *s, uint32_t most, const struct siphash_key *key)
{
	uint32_t n = BUCKETS_MIN;

	while (n < most && n < BUCKETS_MAX)
		n *= 2;
	*s = (struct peer_set){.key = *key, .mask = n - 1};
	s->bucket = calloc(n, sizeof *s->bucket);
	s->by_weight = malloc(PEER_SET_LISTS * sizeof *s->by_weight);
	if (!s->bucket || !s->by_weight) {
		peer_set_fini(s);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < PEER_SET_LISTS; i++)
		TAILQ_INIT(&s->by_weight[i]);
	return 0;
}

void peer_set_fini(struct peer_set *s)
{
	free(s->bucket);
	free(s->by_weight);
	*s = (struct peer_set){0};
}

struct ip_addr peer_set_network(const struct ip_addr *addr)
{
	struct ip_addr net = *addr;

	if (!ip_addr_is_v4(addr))
		memset(net.b + 8, 0, 8);
	return net;
}

static struct peer_entry **peer_set_place(const struct peer_set *s, const struct ip_addr *net)
{
	struct peer_entry **p = &s->bucket[siphash(&s->key, net, sizeof *net) & s->mask];

	while (*p && !ip_addr_equal(&(*p)->addr, net))
		p = &(*p)->hash_next;
	return p;
}

static struct peer_entry *peer_set_find(const struct peer_set *s, const struct ip_addr *addr)
{
	struct ip_addr net = peer_set_network(addr);

	return s->count ? *peer_set_place(s, &net) : NULL;
}

static uint32_t peer_set_list(uint32_t weight)
{
	uint32_t power;

	if (weight < PEER_SET_EXACT)
		return weight;
	power = 31 - (uint32_t)__builtin_clz(weight / PEER_SET_EXACT);
	return PEER_SET_EXACT + 8 * power + (weight / (PEER_SET_EXACT / 8) >> power) % 8;
}

static void peer_set_leave(struct peer_set *s, struct peer_entry *e)
{
	uint32_t i = peer_set_list(e->weight);

	TAILQ_REMOVE(&s->by_weight[i], e, link);
	if (TAILQ_EMPTY(&s->by_weight[i]))
		s->used[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static void peer_set_enter(struct peer_set *s, struct peer_entry *e, uint32_t weight)
{
	uint32_t i = peer_set_list(weight);

	e->weight = weight;
	TAILQ_INSERT_TAIL(&s->by_weight[i], e, link);
	s->used[i / 64] |= UINT64_C(1) << i % 64;
}

void peer_set_weigh(struct peer_set *s, struct peer_charge *c, int32_t more)
{
	peer_set_leave(s, c->peer);
	peer_set_enter(s, c->peer, c->peer->weight + (uint32_t)more);
}

int peer_set_add(struct peer_set *s, struct peer_charge *c, const struct ip_addr *addr)
{
	struct ip_addr net = peer_set_network(addr);
	struct peer_entry **p = peer_set_place(s, &net), *e = *p;

	if (!e) {
		e = malloc(sizeof *e);
		if (!e)
			return -ENOMEM;
		*e = (struct peer_entry){.addr = net};
		TAILQ_INIT(&e->charges);
		*p = e;
	} else {
		peer_set_leave(s, e);
	}
	TAILQ_INSERT_TAIL(&e->charges, c, link);
	c->peer = e;
	s->count++;
	e->count++;
	peer_set_enter(s, e, e->weight + 1);
	return 0;
}

void peer_set_remove(struct peer_set *s, struct peer_charge *c)
{
	struct peer_entry *e = c->peer;

	if (!e)
		return;
	TAILQ_REMOVE(&e->charges, c, link);
	c->peer = NULL;
	s->count--;
	e->count--;
	peer_set_leave(s, e);
	if (e->count) {
		peer_set_enter(s, e, e->weight - 1);
	} else {
		*peer_set_place(s, &e->addr) = e->hash_next;
		free(e);
	}
}

uint32_t peer_set_count(const struct peer_set *s, const struct ip_addr *addr)
{
	const struct peer_entry *e = peer_set_find(s, addr);

	return e ? e->count : 0;
}

struct peer_charge *peer_set_oldest(const struct peer_set *s, const struct ip_addr *addr)
{
	const struct peer_entry *e = peer_set_find(s, addr);

	return e ? TAILQ_FIRST(&e->charges) : NULL;
}

struct peer_charge *peer_set_busiest(const struct peer_set *s)
{
	for (uint32_t i = PEER_SET_LISTS / 64; i-- > 0;) {
		uint32_t top = 64 * i + 63;

		if (!s->used[i])
			continue;
		top -= (uint32_t)__builtin_clzll(s->used[i]);
		return TAILQ_FIRST(&TAILQ_FIRST(&s->by_weight[top])->charges);
	}
	return NULL;
}

struct peer_charge *peer_set_in_the_way(
	const struct peer_set *s, const struct ip_addr *addr, uint32_t most, uint32_t most_each)
{
	if (most_each && peer_set_count(s, addr) >= most_each)
		return peer_set_oldest(s, addr);
	return s->count >= most ? peer_set_busiest(s) : NULL;
}
