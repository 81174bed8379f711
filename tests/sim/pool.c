/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/pool.h"

#include "sim/packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stack {
	bool (*no_packet)(void); /**< NULL until the pool is full */
	unsigned n;
	void *object[];
};

static int stack_alloc(struct rte_mempool *mp)
{
	struct stack *s = calloc(1, sizeof *s + mp->size * sizeof(void *));

	mp->pool_data = s;
	return 0;
}

static void stack_free(struct rte_mempool *mp)
{
	free(mp->pool_data);
}

static int stack_push(struct rte_mempool *mp, void *const *object, unsigned n)
{
	struct stack *s = mp->pool_data;

	memcpy(s->object + s->n, object, n * sizeof *object);
	s->n += n;
	return 0;
}

static int stack_pop(struct rte_mempool *mp, void **object, unsigned n)
{
	struct stack *s = mp->pool_data;

	if (n > s->n || (s->no_packet && s->no_packet()))
		return -ENOBUFS;
	for (unsigned i = 0; i < n; i++)
		object[i] = s->object[--s->n];
	return 0;
}

static unsigned stack_count(const struct rte_mempool *mp)
{
	return ((const struct stack *)mp->pool_data)->n;
}

static const struct rte_mempool_ops stack_ops = {.name = "sim_stack",
	.alloc = stack_alloc,
	.free = stack_free,
	.enqueue = stack_push,
	.dequeue = stack_pop,
	.get_count = stack_count};
RTE_MEMPOOL_REGISTER_OPS(stack_ops)

struct rte_mempool *sim_pool_create(uint32_t n, uint32_t room, bool (*no_packet)(void))
{
	static unsigned pools;
	char name[32];
	struct rte_mempool *p;

	snprintf(name, sizeof name, "sim_asked%u", pools++);
	/* No cache: it would ask for many at a time. */
	p = rte_pktmbuf_pool_create_by_ops(name, n, 0,
		RTE_ALIGN(sizeof(struct sim_packet), RTE_MBUF_PRIV_ALIGN), (uint16_t)room,
		SOCKET_ID_ANY, stack_ops.name);
	if (!p) {
		fprintf(stderr, "sim: no memory for %u packets\n", n);
		abort();
	}
	((struct stack *)p->pool_data)->no_packet = no_packet;
	return p;
}
