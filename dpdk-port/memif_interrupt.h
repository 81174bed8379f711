/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_interrupt.h
 * The receive interrupt of a memif. The protocol has one: a receiver clears a flag in the head of
 * its ring, which is in shared memory, and from then on the sender writes to an eventfd after each
 * burst. DPDK's driver obeys that flag as a sender, but as a receiver it sets it and offers nothing
 * else. So the flag is reached from here.
 *
 * The head of the ring is mapped once more, by the file that both ends share, so it does not go
 * away when the driver unmaps it. Where the ring and the eventfd are is the driver's secret: this
 * knows DPDK 22.11, asks for that version, and else finds no interrupt.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_INTERRUPT_H
#define DPDK_PORT_MEMIF_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rte_mempool;
struct memif_ring;

/** Zero-initialised: there is none. */
struct memif_interrupt {
	struct memif_ring *ring; /**< NULL: there is none */
	void *map;
	size_t len; /**< of map */
	int fd;     /**< the driver's; readable after a burst, until the driver receives */
	int file;   /**< the driver's; of the shared memory */
	dev_t dev;  /**< its identity */
	ino_t ino;
};

/**
 * Find the interrupt of port @p id, a memif whose link is up, that receives into @p pool. It is
 * masked. If the process has several memifs with different peers, none is found: the driver does
 * not say which file is whose.
 * @return 0, -ENOTSUP (another version), -ENOENT (not found), or the error of mmap().
 */
int memif_interrupt_open(
	struct memif_interrupt *interrupt, uint16_t id, const struct rte_mempool *pool);

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
