/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_rx.h
 * Bursts out of the ring of a memif, beside its driver, and the interrupt of that ring. The
 * protocol has one: a receiver clears a flag in the head of its ring, and from then on the sender
 * writes to an eventfd after each burst. DPDK's driver obeys that flag as a sender, but as a
 * receiver it sets it and offers nothing else.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_RX_H
#define DPDK_PORT_MEMIF_RX_H

#include "dpdk-port/memif_ring.h"

struct rte_mbuf;

/** What of a burst has not been fetched into the cache yet. */
struct memif_rx_ahead {
	const uint8_t *from; /**< the rest of a descriptor's */
	uint32_t left;       /**< of it, bytes */
	uint16_t slot, end;  /**< the descriptors after that */
};

/** Zero-initialised: there is none. */
struct memif_rx {
	struct memif_ring_end
		end; /**< its descriptor is readable after a burst while it is armed */
	bool armed;  /**< its ring says so, too, but that is the peer's to change */
	struct rte_mempool *pool;
	uint16_t port;
	uint16_t slot;    /**< the next descriptor to read */
	uint16_t offered; /**< a client's head */
	struct memif_rx_ahead ahead;
	uint64_t dropped; /**< frames that were no frames, or larger than the pool's buffers */
};

/**
 * Port @p id is a memif with a connection: see memif_ring_open(). The interrupt is masked. What was
 * dropped before still counts.
 */
int memif_rx_open(struct memif_rx *rx, const struct memif_regions *regions, uint16_t id);

/**
 * Receive at most @p n frames. The caller owns them.
 * @return how many; 0: the ring is empty, or the pool is.
 */
unsigned memif_rx_burst(struct memif_rx *rx, struct rte_mbuf **pkts, unsigned n);

/**
 * The peer writes to the eventfd from now on. It may not do so for frames that it sends at this
 * very moment: receive after this, twice, and then sleep.
 */
void memif_rx_arm(struct memif_rx *rx);

/** The peer need not write any more; what it has written is taken. */
void memif_rx_mask(struct memif_rx *rx);

#endif
