/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file lcore.h
 * An lcore id for each engine, which the driving thread borrows.
 *
 * A mempool has a cache for each lcore id: a stack of free buffers, of which the last freed is
 * still in the CPU's cache. Threads that the EAL did not start have no id, and so no such cache. An
 * engine is driven by one thread at a time, under its lock. So its threads share an id: each
 * borrows it while it holds the lock.
 */
#ifndef DPDK_PORT_LCORE_H
#define DPDK_PORT_LCORE_H

#include <rte_lcore.h>

/**
 * Reserve an id. @return LCORE_ID_ANY: there is none left, and the pool is used without a cache.
 */
unsigned lcore_reserve(void);

/** Give @p id back. No thread may use it. LCORE_ID_ANY does nothing. */
void lcore_release(unsigned id);

/** Borrow @p id. @return the thread's own id, for lcore_leave(). */
static inline unsigned lcore_enter(unsigned id)
{
	unsigned had = RTE_PER_LCORE(_lcore_id);

	RTE_PER_LCORE(_lcore_id) = id;
	return had;
}

static inline void lcore_leave(unsigned had)
{
	RTE_PER_LCORE(_lcore_id) = had;
}

#endif
