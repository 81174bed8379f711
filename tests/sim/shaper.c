/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/shaper.h"

#include "base/container_of.h"

#include <stdlib.h>

#define DEFAULT_LIMIT (UINT64_C(1) << 20)

struct sim_shaper {
	struct sim_element element;
	struct sim_shaper_config cfg;
	struct sim_shaper_stats stats;
	struct sim_bucket bucket;
	struct sim_fifo fifo;
	struct sim_event ready; /**< the first packet has its tokens */
};

static void take_and_pass(struct sim_shaper *p, struct rte_mbuf *m)
{
	sim_bucket_take(&p->bucket, &p->cfg.bucket, m->pkt_len, p->element.sim->now);
	p->stats.packets++;
	sim_pass(&p->element, m);
}

static uint64_t ready_at(const struct sim_shaper *p, uint32_t bytes)
{
	return sim_bucket_ready(&p->bucket, &p->cfg.bucket, bytes, p->element.sim->now);
}

static void first_ready(struct sim_event *e)
{
	struct sim_shaper *p = container_of(e, struct sim_shaper, ready);

	take_and_pass(p, sim_fifo_take(&p->fifo));
	if (p->fifo.n)
		sim_event_set(
			&p->element.sim->events, e, ready_at(p, sim_fifo_at(&p->fifo, 0)->len));
}

static void shaper_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_shaper *p = container_of(e, struct sim_shaper, element);
	const uint64_t limit = p->cfg.limit ? p->cfg.limit : DEFAULT_LIMIT;
	uint64_t at = ready_at(p, m->pkt_len);

	if (!p->fifo.n && at <= e->sim->now) {
		take_and_pass(p, m);
		return;
	}
	if (p->fifo.bytes + m->pkt_len > limit) {
		p->stats.drops++;
		rte_pktmbuf_free(m);
		return;
	}
	sim_fifo_push(&p->fifo, m, 0);
	if (p->fifo.bytes > p->stats.max_bytes)
		p->stats.max_bytes = p->fifo.bytes;
	if (p->fifo.n == 1)
		sim_event_set(&e->sim->events, &p->ready, at);
}

static void shaper_destroy(struct sim_element *e)
{
	struct sim_shaper *p = container_of(e, struct sim_shaper, element);

	sim_fifo_free(&p->fifo);
	free(p);
}

static const struct sim_element_ops ops = {shaper_input, shaper_destroy};

struct sim_shaper *sim_shaper_create(struct sim *s, const struct sim_shaper_config *cfg)
{
	struct sim_shaper *p = sim_element_new(s, &ops, sizeof *p);

	p->cfg = *cfg;
	p->ready.fn = first_ready;
	return p;
}

struct sim_element *sim_shaper_element(struct sim_shaper *p)
{
	return &p->element;
}

const struct sim_shaper_stats *sim_shaper_stats(const struct sim_shaper *p)
{
	return &p->stats;
}
