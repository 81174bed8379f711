/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/neighbour_priv.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

unsigned neighbour_take_queue(struct ip_neighbour *n, struct rte_mbuf *to[NEIGHBOUR_QUEUE])
{
	unsigned queued = n->queued;

	memcpy(to, n->queue, sizeof n->queue);
	n->queued = 0;
	n->stack->neighbours.queued -= queued;
	return queued;
}

void neighbour_drop_queue(struct ip_neighbour *n)
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

void neighbour_enqueue(struct ip_stack *s, struct ip_neighbour *n, struct rte_mbuf *m)
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

void neighbour_flush_queue(struct ip_neighbour *n, uint64_t now)
{
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
	unsigned queued = neighbour_take_queue(n, queue);

	for (unsigned i = 0; i < queued; i++)
		(void)neighbour_output(n->stack, n, queue[i], now);
}
