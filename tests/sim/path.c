/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/path.h"

#include "sim/corrupt.h"
#include "sim/duplicate.h"
#include "sim/host.h"
#include "sim/mark.h"
#include "sim/policer.h"

static void append(struct sim_path *p, struct sim_element *e)
{
	if (p->out)
		p->out->next = e;
	else
		p->in = e;
	p->out = e;
}

static void append_limits(struct sim *s, const struct sim_path_config *cfg, struct sim_path *p)
{
	if (cfg->policer.rate) {
		p->policer = sim_policer_create(s, &cfg->policer);
		append(p, sim_policer_element(p->policer));
	}
	if (cfg->shaper.bucket.rate) {
		p->shaper = sim_shaper_create(s, &cfg->shaper);
		append(p, sim_shaper_element(p->shaper));
	}
	p->mtu = sim_mtu_create(s, &cfg->mtu);
	append(p, sim_mtu_element(p->mtu));
	p->queue = sim_queue_create(s, &cfg->queue);
	append(p, sim_queue_element(p->queue));
}

static void append_faults(struct sim *s, const struct sim_path_config *cfg, struct sim_path *p)
{
	if (cfg->duplicate > 0) {
		p->duplicate = sim_duplicate_create(s, cfg->duplicate);
		append(p, &p->duplicate->element);
	}
	if (cfg->corrupt > 0) {
		p->corrupt = sim_corrupt_create(s, cfg->corrupt);
		append(p, &p->corrupt->element);
	}
	if (cfg->mark > 0) {
		p->mark = sim_mark_create(s, cfg->mark);
		append(p, &p->mark->element);
	}
}

void sim_path_create(struct sim *s, const struct sim_path_config *cfg, struct sim_element *to,
	struct sim_path *out)
{
	*out = (struct sim_path){0};
	append_limits(s, cfg, out);
	out->loss = sim_loss_create(s, &cfg->loss);
	append(out, sim_loss_element(out->loss));
	out->delay = sim_delay_create(s, cfg->delay);
	append(out, sim_delay_element(out->delay));
	out->reorder = sim_reorder_create(s, &cfg->reorder);
	append(out, sim_reorder_element(out->reorder));
	append_faults(s, cfg, out);
	out->out->next = to;
}

void sim_path_prepend(struct sim_path *p, struct sim_element *e)
{
	e->next = p->in;
	p->in = e;
}

void sim_path_append(struct sim_path *p, struct sim_element *e)
{
	e->next = p->out->next;
	p->out->next = e;
	p->out = e;
}

void sim_join(struct sim_host *a, struct sim_host *b, const struct sim_path_config *ab,
	const struct sim_path_config *ba, struct sim_link *out)
{
	struct sim *s = sim_host_sim(a);

	out->a = a;
	out->b = b;
	sim_path_create(s, ab, sim_host_port(b), &out->ab);
	sim_path_create(s, ba ? ba : ab, sim_host_port(a), &out->ba);
	sim_host_attach(a, out->ab.in);
	sim_host_attach(b, out->ba.in);
}

void sim_link_prepend(struct sim_link *l, struct sim_element *ab, struct sim_element *ba)
{
	if (ab)
		sim_path_prepend(&l->ab, ab);
	if (ba)
		sim_path_prepend(&l->ba, ba);
	sim_host_attach(l->a, l->ab.in);
	sim_host_attach(l->b, l->ba.in);
}
