/* SPDX-License-Identifier: BSD-2-Clause */
/** @file interval.h Reports at intervals, which nobody makes up for when there was a pause. */
#ifndef TOOLS_INTERVAL_H
#define TOOLS_INTERVAL_H

#include <stdint.h>

/**
 * When the next report is due, at an interval's end.
 * @param due when the one was that is made now, not after @p now.
 * @param interval not 0.
 */
static inline uint64_t interval_next(uint64_t due, uint64_t interval, uint64_t now)
{
	return due + ((now - due) / interval + 1) * interval;
}

#endif
