/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file element.h
 * A piece of network: packets go in, and, later or changed or not at all, on to the next piece. A
 * path is a chain of elements; several hosts' packets may pass one, as at a bottleneck.
 */
#ifndef TESTS_SIM_ELEMENT_H
#define TESTS_SIM_ELEMENT_H

#include "sim/packet.h"
#include "sim/sim.h"

struct sim_element_ops {
	void (*input)(struct sim_element *e, struct rte_mbuf *m); /**< owns @p m */
	void (*destroy)(struct sim_element *e); /**< free what it holds, and itself */
};

/** The first member of every kind of element. */
struct sim_element {
	const struct sim_element_ops *ops;
	struct sim *sim;
	struct sim_element *next; /**< NULL: packets vanish */
	struct sim_element *all;  /**< the simulation's list */
};

/** Memory of @p size for an element, which the simulation frees in the end. Never NULL. */
void *sim_element_new(struct sim *s, const struct sim_element_ops *ops, size_t size);

static inline void sim_input(struct sim_element *e, struct rte_mbuf *m)
{
	e->ops->input(e, m);
}

/** On to the next. Owns @p m. */
static inline void sim_pass(struct sim_element *e, struct rte_mbuf *m)
{
	if (e->next)
		sim_input(e->next, m);
	else
		rte_pktmbuf_free(m);
}

/** For elements that hold no packets. */
void sim_element_free(struct sim_element *e);

#endif
