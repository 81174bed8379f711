/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/loss.h"

#include "base/container_of.h"

struct sim_loss {
	struct sim_element element;
	struct sim_loss_config cfg;
	struct sim_loss_stats stats;
	struct prng rng;
	struct wan_loss chance;
	uint64_t bad_since;
};

static bool by_number(const struct sim_loss *l, uint64_t number)
{
	for (unsigned i = 0; i < sizeof l->cfg.lose / sizeof l->cfg.lose[0]; i++)
		if (number >= l->cfg.lose[i].from &&
			number - l->cfg.lose[i].from < l->cfg.lose[i].count)
			return true;
	return false;
}

static bool by_chance(struct sim_loss *l)
{
	uint64_t now = l->element.sim->now;
	bool was_bad = l->chance.is_bad, lose;

	if (l->cfg.longest && was_bad && now - l->bad_since >= l->cfg.longest)
		was_bad = l->chance.is_bad = false;
	l->chance.cfg = l->cfg.chance;
	lose = wan_loss_next(&l->chance, &l->rng);
	if (l->chance.is_bad && !was_bad)
		l->bad_since = now;
	return lose;
}

static void loss_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_loss *l = container_of(e, struct sim_loss, element);
	uint64_t number = l->stats.packets++;

	if (by_chance(l) || by_number(l, number) ||
		(l->cfg.predicate && l->cfg.predicate(l->cfg.ctx, m, number))) {
		l->stats.lost++;
		rte_pktmbuf_free(m);
		return;
	}
	sim_pass(e, m);
}

static const struct sim_element_ops ops = {loss_input, sim_element_free};

struct sim_loss *sim_loss_create(struct sim *s, const struct sim_loss_config *cfg)
{
	struct sim_loss *l = sim_element_new(s, &ops, sizeof *l);

	l->cfg = *cfg;
	l->rng.state = prng_u64(&s->rng);
	return l;
}

struct sim_element *sim_loss_element(struct sim_loss *l)
{
	return &l->element;
}

struct sim_loss_config *sim_loss_config(struct sim_loss *l)
{
	return &l->cfg;
}

const struct sim_loss_stats *sim_loss_stats(const struct sim_loss *l)
{
	return &l->stats;
}
