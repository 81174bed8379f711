/* SPDX-License-Identifier: BSD-2-Clause */
/** @file run.h One program from its first step to the last of its objects. */
#ifndef TESTS_VOPR_RUN_H
#define TESTS_VOPR_RUN_H

#include "vopr/world.h"

struct run_result {
	char wrong[256];    /**< empty: nothing */
	uint64_t simulated; /**< ns */
	uint64_t operations, completions, received, failed, established;
	struct tally told;
};

/** @return true: nothing was wrong. */
bool run_program(const struct program *p, const struct world_options *o, struct run_result *out);

#endif
