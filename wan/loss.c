/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/loss.h"

double wan_loss_least_burst(double loss)
{
	return loss / (1 - loss);
}

struct wan_loss_config wan_loss_bursts(double loss, double burst)
{
	/* The chain is bad for a share enter / (enter + leave) of the frames. */
	double leave = 1 / burst;
	double enter = leave * loss / (1 - loss);

	return (struct wan_loss_config){.bad = 1, .enter = enter < 1 ? enter : 1, .leave = leave};
}

double wan_loss_share(const struct wan_loss_config *cfg)
{
	double bad;

	if (cfg->enter <= 0)
		return cfg->good;
	bad = cfg->enter / (cfg->enter + cfg->leave);
	return bad * cfg->bad + (1 - bad) * cfg->good;
}

bool wan_loss_next(struct wan_loss *l, struct prng *r)
{
	if (prng_chance(r, l->is_bad ? l->cfg.leave : l->cfg.enter))
		l->is_bad = !l->is_bad;
	return prng_chance(r, l->is_bad ? l->cfg.bad : l->cfg.good);
}
