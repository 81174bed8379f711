/* SPDX-License-Identifier: BSD-2-Clause */
/** @file telemetry_hold.h Private: the engine, held for telemetry, and how long. */
#ifndef HOST_TELEMETRY_HOLD_H
#define HOST_TELEMETRY_HOLD_H

#include "host/telemetry.h"

struct telemetry_hold {
	struct engine *engine;
	uint64_t begun, begun_cpu;
};

/** @return 0; -EBUSY: the engine is held by somebody who does not let go. */
int telemetry_hold_begin(struct telemetry_hold *h, struct engine *e);

/** @return for how long, ns. */
uint64_t telemetry_hold_age(const struct telemetry_hold *h);

/** Let go, and count what it has cost. */
void telemetry_hold_end(struct telemetry_hold *h, struct telemetry_costs *costs);

#endif
