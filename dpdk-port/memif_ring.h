/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_ring.h
 * A memif's ring, reached beside its driver. Rings and frames lie in a file that both ends map
 * (memif protocol 2.0). Where is the driver's secret: this knows DPDK 22.11, asks for that version,
 * and else finds none. A ring is mapped once more, by the file, so it does not go away when the
 * driver unmaps it.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_RING_H
#define DPDK_PORT_MEMIF_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rte_mempool;
struct rte_intr_handle;

#define MEMIF_RING_MASK_INT 1u

/** Where a frame lies. */
struct memif_desc {
	uint16_t flags, region;
	uint32_t length, offset, metadata;
};

/** What both ends share is shared with a stranger: any field may have any value. */
struct memif_ring {
	_Atomic uint32_t cookie;
	_Atomic uint16_t flags;
	_Atomic uint16_t head;
	uint8_t unused[56];
	_Atomic uint16_t tail;
	uint8_t unused_too[62];
	struct memif_desc desc[];
};

/** How a queue of the driver begins in DPDK 22.11. */
struct memif_queue {
	const struct rte_mempool *pool;
	void *device;
	uint32_t type;   /**< 0: the client's to send by, the server's to receive by */
	uint16_t region; /**< number of the file; rings are in the first */
	uint16_t port;
	uint32_t ring_offset; /**< in the file */
	uint16_t last_head, last_tail;
	void *buffers;
	uint64_t packets, octets;
	const struct rte_intr_handle *interrupt;
	uint8_t log2_size; /**< descriptors of its ring */
};

/** Zero-initialised: there is none. */
struct memif_ring_map {
	struct memif_ring *ring; /**< NULL: there is none */
	void *map;
	size_t len; /**< of map */
	int file;   /**< the driver's; of the shared memory */
	dev_t dev;  /**< its identity */
	ino_t ino;
};

/** The first of port @p id's @p queues, as rte_eth_fp_ops has them; NULL: it is none that is known.
 */
const struct memif_queue *memif_ring_queue(void *const *queues, uint16_t id);

/**
 * Map @p size bytes of the ring of queue @p q. If the process has several memifs with different
 * peers, none is found: the driver does not say which file is whose.
 * @return 0, -ENOENT (not found), or the error of mmap().
 */
int memif_ring_open(struct memif_ring_map *m, const struct memif_queue *q, size_t size);

/** The same, with the whole file mapped, at its beginning. */
int memif_ring_open_all(struct memif_ring_map *m, const struct memif_queue *q, size_t size);

/** True if the file is still the driver's. */
bool memif_ring_is_current(const struct memif_ring_map *m);

/** Forget it. Nothing is done where there is none. */
void memif_ring_close(struct memif_ring_map *m);

#endif
