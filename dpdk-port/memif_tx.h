/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_tx.h
 * Bursts into the ring of a memif, beside its driver. That copies each frame through the caches,
 * into lines that the peer has read last. They are fetched back from the other core first, and
 * where the two are far from each other the copy waits for that longer than for all else. Stores
 * that go past the caches fetch nothing. Which of the two is faster is the machine's affair, and
 * may change while it runs: now and then the other way is tried for a burst.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_TX_H
#define DPDK_PORT_MEMIF_TX_H

#include "dpdk-port/memif_ring.h"
#include "dpdk-port/memif_waker.h"

struct rte_mbuf;

/** Bursts of large frames, before the other way is tried, and for how many. */
#define MEMIF_TX_BURSTS_PER_TRY 4096u
#define MEMIF_TX_BURSTS_OF_TRY  64u

enum memif_tx_way { MEMIF_TX_CACHED, MEMIF_TX_PAST, MEMIF_TX_WAYS };

/** Zero-initialised: there is none. */
struct memif_tx {
	struct memif_ring_end end;
	struct memif_waker *waker;
	unsigned bursts; /**< of large frames, since the other way was tried */
	enum memif_tx_way way;
	uint64_t cost[MEMIF_TX_WAYS]; /**< of such bursts lately, in cycles for 1024 bytes */
};

/** Port @p id is a memif with a connection: see memif_ring_open(). @p waker is as long-lived. */
int memif_tx_open(struct memif_tx *t, const struct memif_regions *regions, uint16_t id,
	struct memif_waker *waker);

/**
 * Send and free what goes. A frame that would not fit into the empty ring is freed alone.
 * @return how many; there is no room yet for those that follow.
 */
unsigned memif_tx_burst(struct memif_tx *t, struct rte_mbuf **pkts, unsigned n);

#endif
