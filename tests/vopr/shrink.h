/* SPDX-License-Identifier: BSD-2-Clause */
/** @file shrink.h A shorter program that fails in the same way. */
#ifndef TESTS_VOPR_SHRINK_H
#define TESTS_VOPR_SHRINK_H

#include "vopr/run.h"

/**
 * Leave out what can be left out of @p p, so that it still fails in the way of @p wrong: the same
 * sentence, whatever its numbers, and with @p o->deliberate. @return how many runs that took.
 */
unsigned shrink(struct program *p, const char *wrong, const struct world_options *o);

#endif
