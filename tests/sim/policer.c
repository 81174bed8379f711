/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/policer.h"

#include "base/container_of.h"

struct sim_policer {
	struct sim_element element;
	struct sim_bucket_config cfg;
	struct sim_bucket bucket;
	uint64_t drops;
};

static void policer_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_policer *p = container_of(e, struct sim_policer, element);
	uint64_t now = e->sim->now;

	if (sim_bucket_ready(&p->bucket, &p->cfg, m->pkt_len, now) > now) {
		p->drops++;
		rte_pktmbuf_free(m);
		return;
	}
	sim_bucket_take(&p->bucket, &p->cfg, m->pkt_len, now);
	sim_pass(e, m);
}

static const struct sim_element_ops ops = {policer_input, sim_element_free};

struct sim_policer *sim_policer_create(struct sim *s, const struct sim_bucket_config *cfg)
{
	struct sim_policer *p = sim_element_new(s, &ops, sizeof *p);

	p->cfg = *cfg;
	return p;
}

struct sim_element *sim_policer_element(struct sim_policer *p)
{
	return &p->element;
}

uint64_t sim_policer_drops(const struct sim_policer *p)
{
	return p->drops;
}
