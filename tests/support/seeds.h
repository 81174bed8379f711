/* SPDX-License-Identifier: BSD-2-Clause */
/** @file seeds.h The seeds of a test by chance: its own, or those of its command line. */
#ifndef SUPPORT_SEEDS_H
#define SUPPORT_SEEDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct seeds {
	uint64_t first, last, step;
};

/** Takes FROM:TO, all of them, or a lone SEED. @return false: it is neither, and the usage is said.
 */
static inline bool seeds_take(struct seeds *s, int argc, char **argv)
{
	char *end = "";

	if (argc == 2) {
		*s = (struct seeds){.first = strtoull(argv[1], &end, 10), .step = 1};
		s->last = *end == ':' ? strtoull(end + 1, &end, 10) : s->first;
	}
	if (argc <= 2 && !*end && s->first <= s->last)
		return true;
	fprintf(stderr, "usage: %s [FROM:TO | SEED]\n", argv[0]);
	return false;
}

/** There is one, whose run is to be shown. */
static inline bool seeds_are_one(const struct seeds *s)
{
	return s->first == s->last;
}

#endif
