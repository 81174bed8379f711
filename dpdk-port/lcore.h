/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file lcore.h
 * One lcore id per engine, lent to whichever thread drives it.
 *
 * A mempool keeps a cache per lcore id: a stack of free buffers, the last freed still warm in the
 * CPU's cache. Threads that the EAL did not start have no id and go past the cache to the pool's
 * ring. An engine is driven under its lock by changing threads, one at a time, so all of them may
 * use the same id in turn: they borrow it while they hold the lock.
 */
#ifndef DPDK_PORT_LCORE_H
#define DPDK_PORT_LCORE_H

#include <rte_lcore.h>

/** Reserve an id. @return LCORE_ID_ANY if there is none left (the pool then goes uncached). */
unsigned lcore_reserve(void);

/** Give @p id back; nobody may be inside. LCORE_ID_ANY does nothing. */
void lcore_release(unsigned id);

/** Take on @p id. @return what this thread had, for lcore_leave(). */
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
