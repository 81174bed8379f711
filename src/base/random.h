/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file random.h
 * Where unpredictable bytes come from. Passed in, so that a simulation replays exactly and a
 * real stack uses the kernel's generator.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_source {
	/** Fill @p buf with @p len bytes; never fails. */
	void (*fill)(void *ctx, void *buf, size_t len);
	void *ctx;
};

static inline uint32_t random_u32(const struct random_source *r)
{
	uint32_t v;

	r->fill(r->ctx, &v, sizeof v);
	return v;
}

#endif
