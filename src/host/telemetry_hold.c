/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry_hold.h"

#include <errno.h>
#include <time.h>

/** How long to wait for the engine before it is taken for stuck, ms. */
#define TELEMETRY_PATIENCE_MS 1000

static uint64_t telemetry_hold_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

int telemetry_hold_begin(struct telemetry_hold *h, struct engine *e)
{
	if (!engine_lock_within(e, TELEMETRY_PATIENCE_MS))
		return -EBUSY;
	h->engine = e;
	h->begun = telemetry_hold_clock(CLOCK_MONOTONIC);
	h->begun_cpu = telemetry_hold_clock(CLOCK_THREAD_CPUTIME_ID);
	return 0;
}

uint64_t telemetry_hold_age(const struct telemetry_hold *h)
{
	return telemetry_hold_clock(CLOCK_MONOTONIC) - h->begun;
}

void telemetry_hold_end(struct telemetry_hold *h, struct telemetry_costs *costs)
{
	uint64_t took = telemetry_hold_clock(CLOCK_THREAD_CPUTIME_ID) - h->begun_cpu;
	uint64_t elapsed = telemetry_hold_age(h);

	engine_unlock(h->engine);
	costs->slices++;
	if (elapsed > costs->longest_elapsed)
		costs->longest_elapsed = elapsed;
	costs->long_holds += took > TELEMETRY_LONG_HOLD;
	if (took > costs->longest_hold)
		costs->longest_hold = took;
}
