/* SPDX-License-Identifier: BSD-2-Clause */
/** @file some.h What elements share that do something to some packets, each by chance. */
#ifndef TESTS_SIM_SOME_H
#define TESTS_SIM_SOME_H

#include "base/container_of.h"
#include "sim/element.h"

struct sim_some {
	struct sim_element element;
	struct prng rng;
	double p;       /**< per packet; may be changed while it runs */
	uint64_t count; /**< packets it happened to */
};

struct sim_some *sim_some_create(struct sim *s, const struct sim_element_ops *ops, double p);

static inline struct sim_some *sim_some_of(struct sim_element *e)
{
	return container_of(e, struct sim_some, element);
}

/** Shall it happen to the packet that has come? If it does: add it to the count. */
static inline bool sim_some_chance(struct sim_some *x)
{
	return prng_chance(&x->rng, x->p);
}

#endif
