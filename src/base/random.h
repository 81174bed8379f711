/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file random.h
 * The source of unpredictable bytes. It is an argument: a stack uses the kernel's generator, and a
 * simulation a seeded one, so that it replays exactly.
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
