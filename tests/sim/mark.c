/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/mark.h"

#include "base/container_of.h"

#include "sim/ecn.h"

struct sim_mark {
	struct sim_element element;
	struct prng rng;
	double p;
	uint64_t count;
};

static void mark_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_mark *x = container_of(e, struct sim_mark, element);

	if (prng_chance(&x->rng, x->p) && sim_ecn_capable(m)) {
		x->count++;
		m = sim_ecn_mark(e->sim, m);
		if (!m)
			return;
	}
	sim_pass(e, m);
}

static const struct sim_element_ops ops = {mark_input, sim_element_free};

struct sim_mark *sim_mark_create(struct sim *s, double p)
{
	struct sim_mark *x = sim_element_new(s, &ops, sizeof *x);

	x->p = p;
	x->rng.state = prng_u64(&s->rng);
	return x;
}

struct sim_element *sim_mark_element(struct sim_mark *x)
{
	return &x->element;
}

void sim_mark_set(struct sim_mark *x, double p)
{
	x->p = p;
}

uint64_t sim_mark_count(const struct sim_mark *x)
{
	return x->count;
}
