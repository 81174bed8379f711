/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry_hold.h"

#include "base/clock_id.h"
#include "base/tasks.h"

#include <errno.h>
#include <unistd.h>

/** How long the engine is waited for, in slices: who has it may have no core. */
#define TELEMETRY_HOLD_MS     50
#define TELEMETRY_HOLD_SLICES 200

/** It is stuck when all other threads have slept for so many: nobody is about to release it. */
#define TELEMETRY_HOLD_ASLEEP 20

static bool telemetry_hold_lock(struct engine *e)
{
	unsigned asleep = 0;

	for (unsigned i = 0; i < TELEMETRY_HOLD_SLICES && asleep < TELEMETRY_HOLD_ASLEEP; i++) {
		if (engine_lock_within(e, TELEMETRY_HOLD_MS))
			return true;
		asleep = tasks_sleep(getpid(), gettid()) ? asleep + 1 : 0;
	}
	return false;
}

int telemetry_hold_begin(struct telemetry_hold *h, struct engine *e)
{
	if (!telemetry_hold_lock(e))
		return -EBUSY;
	h->engine = e;
	h->begun = clock_id_ns(CLOCK_MONOTONIC);
	h->begun_cpu = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);
	return 0;
}

uint64_t telemetry_hold_age(const struct telemetry_hold *h)
{
	return clock_id_ns(CLOCK_MONOTONIC) - h->begun;
}

void telemetry_hold_end(struct telemetry_hold *h, struct telemetry_costs *costs)
{
	uint64_t took = clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - h->begun_cpu;
	uint64_t elapsed = telemetry_hold_age(h);

	engine_unlock(h->engine);
	costs->slices++;
	if (elapsed > costs->longest_elapsed)
		costs->longest_elapsed = elapsed;
	costs->long_holds += took > TELEMETRY_LONG_HOLD;
	if (took > costs->longest_hold)
		costs->longest_hold = took;
}
