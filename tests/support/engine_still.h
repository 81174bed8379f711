/* SPDX-License-Identifier: BSD-2-Clause */
/** @file engine_still.h An engine that moves nothing: of those that only take its lock. */
#ifndef SUPPORT_ENGINE_STILL_H
#define SUPPORT_ENGINE_STILL_H

#include "engine/engine.h"

static inline uint64_t engine_still_clock(void *ctx)
{
	return 1;
}

static inline void engine_still_nothing(void *ctx)
{
}

static const struct engine_ops engine_still_ops = {.clock = engine_still_clock,
	.enter = engine_still_nothing,
	.leave = engine_still_nothing,
	.flush = engine_still_nothing,
	.wake = engine_still_nothing};

#endif
