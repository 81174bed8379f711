/* SPDX-License-Identifier: BSD-2-Clause */
/** @file argument.h Numbers on the command lines of programs that use argp. */
#ifndef BASE_ARGUMENT_H
#define BASE_ARGUMENT_H

#include "base/number.h"

#include <argp.h>

/**
 * Parse a whole number from @p min to @p max. For anything else the program ends with a usage error
 * that names @p name.
 */
static inline uint64_t argument_number(
	struct argp_state *state, const char *name, const char *arg, uint64_t min, uint64_t max)
{
	uint64_t n = min;

	if (!number_parse(arg, min, max, &n))
		argp_error(state, "\"%s\" is \"%s\"; expected a number from %llu to %llu", name,
			arg, (unsigned long long)min, (unsigned long long)max);
	return n;
}

#endif
