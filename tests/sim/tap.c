/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/tap.h"

#include "base/container_of.h"

struct tap {
	struct sim_element element;
	sim_tap_fn *fn;
	void *ctx;
};

static void tap_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct tap *t = container_of(e, struct tap, element);

	t->fn(t->ctx, m, e->sim->now);
	sim_pass(e, m);
}

static const struct sim_element_ops ops = {tap_input, sim_element_free};

struct sim_element *sim_tap_create(struct sim *s, sim_tap_fn *fn, void *ctx)
{
	struct tap *t = sim_element_new(s, &ops, sizeof *t);

	t->fn = fn;
	t->ctx = ctx;
	return &t->element;
}
