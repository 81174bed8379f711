/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/reorder.h"

#include "base/container_of.h"

#include <stdlib.h>

struct sim_reorder {
	struct sim_element element;
	struct sim_reorder_config cfg;
	struct prng rng;
	struct sim_heap held;
	struct sim_event release; /**< of the first of them */
	uint64_t count;
};

static void schedule(struct sim_reorder *r)
{
	sim_event_set(&r->element.sim->events, &r->release,
		r->held.n ? sim_packet(r->held.v[0])->at : SIM_NEVER);
}

static void release(struct sim_event *e)
{
	struct sim_reorder *r = container_of(e, struct sim_reorder, release);
	struct rte_mbuf *m = sim_heap_take(&r->held);

	schedule(r);
	sim_pass(&r->element, m);
}

static void reorder_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_reorder *r = container_of(e, struct sim_reorder, element);

	if (!prng_chance(&r->rng, r->cfg.p)) {
		sim_pass(e, m);
		return;
	}
	r->count++;
	sim_packet(m)->at = e->sim->now + 1 + prng_below(&r->rng, r->cfg.max);
	sim_heap_push(&r->held, m);
	schedule(r);
}

static void reorder_destroy(struct sim_element *e)
{
	struct sim_reorder *r = container_of(e, struct sim_reorder, element);

	sim_heap_free(&r->held);
	free(r);
}

static const struct sim_element_ops ops = {reorder_input, reorder_destroy};

struct sim_reorder *sim_reorder_create(struct sim *s, const struct sim_reorder_config *cfg)
{
	struct sim_reorder *r = sim_element_new(s, &ops, sizeof *r);

	r->cfg = *cfg;
	r->rng.state = prng_u64(&s->rng);
	r->release.fn = release;
	return r;
}

struct sim_element *sim_reorder_element(struct sim_reorder *r)
{
	return &r->element;
}

struct sim_reorder_config *sim_reorder_config(struct sim_reorder *r)
{
	return &r->cfg;
}

uint64_t sim_reorder_count(const struct sim_reorder *r)
{
	return r->count;
}
