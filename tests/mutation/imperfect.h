/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file imperfect.h
 * Captures that show what happened as imperfectly as captures do: frames that are missing, late,
 * there twice, cut; one direction; a part of the time. The ends did nothing wrong, so nothing new
 * may be found.
 */
#ifndef TESTS_MUTATION_IMPERFECT_H
#define TESTS_MUTATION_IMPERFECT_H

#include "variant.h"

struct imperfect_class {
	const char *name, *what;
	/** Make the @p i-th variant of @p all. @return false: there are no more. */
	bool (*make)(const struct variant *all, unsigned i, struct variant *out);
};

extern const struct imperfect_class imperfect_classes[];
extern const unsigned imperfect_num_classes;

#endif
