/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/duplicate.h"

#include "base/container_of.h"

struct sim_duplicate {
	struct sim_element element;
	struct prng rng;
	double p;
	uint64_t count;
};

static void duplicate_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_duplicate *x = container_of(e, struct sim_duplicate, element);
	struct rte_mbuf *second = NULL;

	if (prng_chance(&x->rng, x->p)) {
		x->count++;
		second = sim_packet_copy(e->sim, m);
	}
	sim_pass(e, m);
	if (second)
		sim_pass(e, second);
}

static const struct sim_element_ops ops = {duplicate_input, sim_element_free};

struct sim_duplicate *sim_duplicate_create(struct sim *s, double p)
{
	struct sim_duplicate *x = sim_element_new(s, &ops, sizeof *x);

	x->p = p;
	x->rng.state = prng_u64(&s->rng);
	return x;
}

struct sim_element *sim_duplicate_element(struct sim_duplicate *x)
{
	return &x->element;
}

void sim_duplicate_set(struct sim_duplicate *x, double p)
{
	x->p = p;
}

uint64_t sim_duplicate_count(const struct sim_duplicate *x)
{
	return x->count;
}
