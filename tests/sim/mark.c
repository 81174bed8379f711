/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/mark.h"

#include "sim/ecn.h"

static void mark_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_some *x = sim_some_of(e);

	if (sim_some_chance(x) && sim_ecn_capable(m)) {
		x->count++;
		m = sim_ecn_mark(e->sim, m);
		if (!m)
			return;
	}
	sim_pass(e, m);
}

static const struct sim_element_ops ops = {mark_input, sim_element_free};

struct sim_some *sim_mark_create(struct sim *s, double p)
{
	return sim_some_create(s, &ops, p);
}
