/* SPDX-License-Identifier: BSD-2-Clause */
/** @file number.h Numbers on the command lines of the programs that measure. */
#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

#include <argp.h>
#include <stdint.h>
#include <stdlib.h>

/** A whole number within [low, high], or the program ends. */
static inline uint64_t number(
	struct argp_state *state, const char *what, const char *arg, uint64_t low, uint64_t high)
{
	char *end;
	uint64_t v = strtoull(arg, &end, 10);

	if (*end || end == arg || v < low || v > high)
		argp_error(state, "%s is a number from %lu to %lu", what, (unsigned long)low,
			(unsigned long)high);
	return v;
}

#endif
