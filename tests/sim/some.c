/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/some.h"

struct sim_some *sim_some_create(struct sim *s, const struct sim_element_ops *ops, double p)
{
	struct sim_some *x = sim_element_new(s, ops, sizeof *x);

	x->p = p;
	x->rng.state = prng_u64(&s->rng);
	return x;
}
