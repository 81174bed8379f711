/* SPDX-License-Identifier: BSD-2-Clause */
/** @file engine_round.h The engine's rounds where no thread makes them. */
#ifndef SUPPORT_ENGINE_ROUND_H
#define SUPPORT_ENGINE_ROUND_H

#include "engine/engine.h"

/** One round, which waits for the lock and counts as nobody's. @return packets handled. */
static inline unsigned engine_round(struct engine *e)
{
	unsigned n;

	engine_lock(e);
	n = e->ops->poll(e->ctx, e->now);
	engine_unlock(e);
	return n;
}

#endif
