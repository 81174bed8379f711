/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file wait_limit.h
 * How long a loop that looks and naps waits for somebody. Time in which this process did not run
 * does not count: on a virtual machine whose host stops for seconds, or on a busy one, the other
 * side did probably not run either, and would be called silent though it had no chance to answer.
 * So a limit passes in no less than WAIT_LIMIT_LOOKS looks.
 *
 * Not thread-safe. The time is any clock that never goes back.
 */
#ifndef BASE_WAIT_LIMIT_H
#define BASE_WAIT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/** From one look to the next at most the limit divided by this counts. */
#define WAIT_LIMIT_LOOKS 50u

struct wait_limit {
	uint64_t left; /**< ns */
	uint64_t step; /**< ns that count at most from one look to the next */
	uint64_t last; /**< the time of the last look */
};

/**
 * Begin to wait at the time @p now.
 * @param ns the limit, in ns; the naps between the looks should be shorter than ns /
 * WAIT_LIMIT_LOOKS, or the wait takes as much longer.
 */
static inline void wait_limit_start(struct wait_limit *w, uint64_t ns, uint64_t now)
{
	*w = (struct wait_limit){.left = ns, .step = ns / WAIT_LIMIT_LOOKS + 1, .last = now};
}

/** Count the time until @p now. Call it after a look that was in vain. @return the limit is over.
 */
static inline bool wait_limit_over(struct wait_limit *w, uint64_t now)
{
	uint64_t passed = now - w->last;

	if (passed > w->step)
		passed = w->step;
	w->last = now;
	w->left = passed < w->left ? w->left - passed : 0;
	return w->left == 0;
}

#endif
