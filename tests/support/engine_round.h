/* SPDX-License-Identifier: BSD-2-Clause */
/** @file engine_round.h Rounds of an engine without a thread. */
#ifndef SUPPORT_ENGINE_ROUND_H
#define SUPPORT_ENGINE_ROUND_H

#include "engine/engine.h"

/** Run one round. It waits for the lock and is not counted. @return packets handled. */
static inline unsigned engine_round(struct engine *e)
{
	unsigned n;

	engine_lock(e);
	n = e->ops->poll(e->ctx, e->now);
	engine_unlock(e);
	return n;
}

#endif
