/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry_snapshot.h
 * Private: a copy of a list of the engine's objects, made in slices, and written page by page.
 */
#ifndef HOST_TELEMETRY_SNAPSHOT_H
#define HOST_TELEMETRY_SNAPSHOT_H

#include "host/telemetry.h"

/** The engine is held no longer for one slice, but for what the step beyond it takes, ns. */
#define TELEMETRY_SLICE_NS 8000

/** After a slice others have the engine for so long: the application comes first. */
#define TELEMETRY_PAUSE_NS 50000

/** Zero-initialised is empty. */
struct telemetry_snapshot {
	const struct telemetry_command *command;
	void *ctx;
	uint8_t *items;
	size_t count, room; /**< in items */
};

/** @return 0; -ENOMEM; -EBUSY: the engine is held by somebody who does not let go. */
int telemetry_snapshot_take(struct telemetry_snapshot *s, const struct telemetry_command *c,
	void *ctx, struct engine *e, struct telemetry_costs *costs);

/** Write an object with items from number @p from on, as many as @p room bytes take. */
void telemetry_snapshot_page(
	const struct telemetry_snapshot *s, size_t from, size_t room, struct json_text *j);

void telemetry_snapshot_free(struct telemetry_snapshot *s);

#endif
