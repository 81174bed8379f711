/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/duplicate.h"

static void duplicate_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_some *x = sim_some_of(e);
	struct rte_mbuf *second = NULL;

	if (sim_some_chance(x)) {
		x->count++;
		second = sim_packet_copy(e->sim, m);
	}
	sim_pass(e, m);
	if (second)
		sim_pass(e, second);
}

static const struct sim_element_ops ops = {duplicate_input, sim_element_free};

struct sim_some *sim_duplicate_create(struct sim *s, double p)
{
	return sim_some_create(s, &ops, p);
}
