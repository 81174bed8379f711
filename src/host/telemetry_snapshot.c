/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry_snapshot.h"

#include "host/telemetry_hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** Items in one slice at most, and for how many of them the lock may have to be kept. */
#define SLICE_ITEMS 256
#define SLICE_HELD  64

/** Memory for a slice, touched: under the lock there is no time for the kernel to find pages. */
static bool telemetry_snapshot_make_room(struct telemetry_snapshot *s)
{
	size_t size = s->command->list->item_size, room = s->count + SLICE_ITEMS;
	uint8_t *items = s->items;

	if (room > s->room) {
		room += room / 2;
		items = realloc(s->items, room * size);
		if (!items)
			return false;
		s->items = items;
		s->room = room;
	}
	memset(items + s->count * size, 0, SLICE_ITEMS * size);
	return true;
}

/** Steps with the lock held. @return false: that was the last. */
static bool telemetry_snapshot_steps(
	struct telemetry_snapshot *s, void *cursor, const struct telemetry_hold *hold)
{
	const struct telemetry_list *l = s->command->list;
	uint64_t end = telemetry_hold_age(hold) + TELEMETRY_SLICE_NS;
	size_t begun = s->count;
	enum walk found;

	do {
		if (s->count - begun == SLICE_ITEMS)
			return true;
		found = l->step(s->ctx, cursor, s->items + s->count * l->item_size);
		s->count += found == WALK_ITEM || found == WALK_HELD;
		if (found == WALK_END)
			return false;
	} while (found == WALK_HELD ||
		 (s->count - begun <= SLICE_ITEMS - SLICE_HELD && telemetry_hold_age(hold) < end));
	return true;
}

/** @return 1: there is more; 0; -EBUSY. */
static int telemetry_snapshot_slice(struct telemetry_snapshot *s, void *cursor, bool first,
	struct engine *e, struct telemetry_costs *costs)
{
	struct telemetry_hold hold;
	bool more;

	if (telemetry_hold_begin(&hold, e))
		return -EBUSY;
	if (first && s->command->list->begin)
		s->command->list->begin(s->ctx);
	more = telemetry_snapshot_steps(s, cursor, &hold);
	telemetry_hold_end(&hold, costs);
	return more;
}

int telemetry_snapshot_take(struct telemetry_snapshot *s, const struct telemetry_command *c,
	void *ctx, struct engine *e, struct telemetry_costs *costs)
{
	const struct timespec pause = {.tv_nsec = TELEMETRY_PAUSE_NS};
	_Alignas(8) uint8_t cursor[TELEMETRY_CURSOR] = {0};
	bool first = true;
	int rc;

	telemetry_snapshot_free(s);
	s->command = c;
	s->ctx = ctx;
	for (;;) {
		rc = telemetry_snapshot_make_room(s)
			     ? telemetry_snapshot_slice(s, cursor, first, e, costs)
			     : -ENOMEM;
		if (rc <= 0)
			break;
		first = false;
		nanosleep(&pause, NULL);
	}
	if (rc)
		telemetry_snapshot_free(s);
	return rc;
}

void telemetry_snapshot_page(
	const struct telemetry_snapshot *s, size_t from, size_t room, struct json_text *j)
{
	const struct telemetry_list *l = s->command->list;
	size_t i, end = j->len + room;

	json_text_object(j, NULL);
	json_text_number(j, "total", s->count);
	json_text_array(j, "items");
	for (i = from; i < s->count; i++) {
		size_t before = j->len;

		json_text_object(j, NULL);
		l->format(s->ctx, s->items + i * l->item_size, j);
		json_text_object_end(j);
		/* "next", and what the caller has begun, follow. */
		if (j->len > end - 64 && i > from) {
			json_text_cut(j, before);
			break;
		}
	}
	json_text_array_end(j);
	if (i < s->count)
		json_text_number(j, "next", i);
	json_text_object_end(j);
}

void telemetry_snapshot_free(struct telemetry_snapshot *s)
{
	free(s->items);
	*s = (struct telemetry_snapshot){.items = NULL};
}
