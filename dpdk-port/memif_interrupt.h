/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_interrupt.h
 * The receive interrupt of a memif. The protocol has one: a receiver clears a flag in the head of
 * its ring, which is in shared memory, and from then on the sender writes to an eventfd after each
 * burst. DPDK's driver obeys that flag as a sender, but as a receiver it sets it and offers nothing
 * else. So the flag is reached from here (memif_ring.h), and the eventfd.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_INTERRUPT_H
#define DPDK_PORT_MEMIF_INTERRUPT_H

#include "dpdk-port/memif_ring.h"

/** Zero-initialised: there is none. */
struct memif_interrupt {
	struct memif_ring_map map;
	int fd; /**< the driver's; readable after a burst, until the driver receives */
};

/**
 * Find the interrupt of port @p id, a memif whose link is up, that receives into @p pool. It is
 * masked. If the process has several memifs with different peers, none is found: the driver does
 * not say which file is whose.
 * @return 0, -ENOENT (not found), or the error of mmap().
 */
int memif_interrupt_open(
	struct memif_interrupt *interrupt, uint16_t id, const struct rte_mempool *pool);

bool memif_interrupt_is_open(const struct memif_interrupt *interrupt);

/** True if port @p id still has the connection that @p interrupt belongs to. */
bool memif_interrupt_is_current(const struct memif_interrupt *interrupt, uint16_t id);

/** Forget it. Nothing is done where there is none, here and below. */
void memif_interrupt_close(struct memif_interrupt *interrupt);

/**
 * The peer writes to the eventfd from now on. It may not do so for frames that it sends at this
 * very moment: receive after this, twice, and then sleep.
 */
void memif_interrupt_arm(const struct memif_interrupt *interrupt);

/** The peer need not write any more; what it has written is taken. */
void memif_interrupt_mask(const struct memif_interrupt *interrupt);

#endif
