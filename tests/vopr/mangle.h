/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mangle.h
 * Some TCP segments have two 16-bit words of their text changed so that the checksum stays right:
 * what only MPA's CRC can find.
 */
#ifndef TESTS_VOPR_MANGLE_H
#define TESTS_VOPR_MANGLE_H

#include "sim/element.h"

struct mangle {
	struct sim_element element;
	struct prng rng;
	double p; /**< per segment with text; may be changed at any time */
	/** Called before a segment of @p from goes to @p to changed: numbers of hosts. */
	void (*told)(void *ctx, unsigned from, unsigned to);
	void *ctx;
};

struct mangle *mangle_create(struct sim *s, void (*told)(void *, unsigned, unsigned), void *ctx);

#endif
