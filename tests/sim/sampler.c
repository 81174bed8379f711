/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/sampler.h"

#include "base/container_of.h"

#include <stdlib.h>

struct sim_sampler {
	struct sim *sim;
	const struct sim_flow *flow;
	const struct sim_queue *queue;
	uint64_t interval;
	struct sim_event due;
	struct sim_sample *v;
	size_t n, cap;
};

void sim_sampler_look(struct sim_sampler *p)
{
	struct sim_sample *v;

	if (p->n == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 256;
		p->v = realloc(p->v, p->cap * sizeof *p->v);
		if (!p->v)
			abort();
	}
	v = &p->v[p->n++];
	v->at = p->sim->now;
	v->queue_bytes = p->queue ? sim_queue_bytes(p->queue) : 0;
	sim_flow_get(p->flow, &v->flow);
}

static void due(struct sim_event *e)
{
	struct sim_sampler *p = container_of(e, struct sim_sampler, due);

	sim_sampler_look(p);
	sim_event_set(&p->sim->events, e, p->sim->now + p->interval);
}

struct sim_sampler *sim_sampler_create(
	struct sim *s, const struct sim_flow *f, const struct sim_queue *q, uint64_t interval)
{
	struct sim_sampler *p = calloc(1, sizeof *p);

	if (!p)
		abort();
	*p = (struct sim_sampler){
		.sim = s, .flow = f, .queue = q, .interval = interval, .due.fn = due};
	sim_event_set(&s->events, &p->due, s->now);
	return p;
}

size_t sim_sampler_get(const struct sim_sampler *p, const struct sim_sample **out)
{
	*out = p->v;
	return p->n;
}

void sim_sampler_destroy(struct sim_sampler *p)
{
	sim_event_clear(&p->sim->events, &p->due);
	free(p->v);
	free(p);
}
