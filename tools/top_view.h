/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file top_view.h
 * What `uiwarp top` shows: a table of a sample, or one row in full; and what its keys do. It knows
 * no terminal: text in, text out.
 */
#ifndef TOOLS_TOP_VIEW_H
#define TOOLS_TOP_VIEW_H

#include "tools/telemetry_sample.h"

#include <stdio.h>

enum top_sort {
	TOP_SORT_RATE, /**< bytes per second, both ways */
	TOP_SORT_OPERATIONS,
	TOP_SORT_RTT,
	TOP_SORT_RETRANSMITS,
	TOP_SORT_QUEUED,
	TOP_SORT_PROCESS,
	TOP_SORTS
};

enum top_key {
	TOP_KEY_NONE = 256, /**< or a character */
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
};

/** Zero-initialised is the first view. */
struct top_view {
	enum top_sort sort;
	bool ascending;
	bool open; /**< one row is shown in full */
	bool help; /**< the keys are */
	bool quit;
	bool paused;
	size_t first, chosen;     /**< rows, in the order that is shown */
	unsigned rows, columns;   /**< of the terminal */
	struct telemetry_row one; /**< the row that is open, or chosen: it is followed */
};

/** Put the rows of @p s in order, and find the chosen one again. Rows stay findable in a copy only.
 */
void top_view_arrange(struct top_view *v, struct telemetry_sample *s);

/** A key was pressed. @p s is arranged. */
void top_view_key(struct top_view *v, const struct telemetry_sample *s, int key);

/** Read a key from the @p n bytes at @p text, as terminals send it. @return bytes it takes; 0:
 * none. */
size_t top_view_parse_key(const char *text, size_t n, int *key);

/** Write the whole screen, with ANSI's sequences. @p s is arranged. */
void top_view_draw(const struct top_view *v, const struct telemetry_sample *s, FILE *out);

#endif
