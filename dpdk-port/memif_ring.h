/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_ring.h
 * A ring of a memif (protocol 2.0): descriptors of frames, behind two indices. The client sends by
 * the head and the server follows with the tail; the other way the client offers buffers by the
 * head and the server fills them by the tail.
 */
#ifndef DPDK_PORT_MEMIF_RING_H
#define DPDK_PORT_MEMIF_RING_H

#include "dpdk-port/memif_regions.h"

#include <stdatomic.h>

/** Of a ring: its receiver wants no interrupts. */
#define MEMIF_RING_MASK_INT 1u
/** Of a descriptor: the frame goes on in the next. */
#define MEMIF_DESC_NEXT 1u

/** Where a frame, or a part of it, lies. */
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

/**
 * The ring of queue @p q.
 * @param mask  descriptors of it, minus 1
 * @return NULL: there is none.
 */
struct memif_ring *memif_ring_at(
	const struct memif_regions *r, const struct memif_queue *q, uint16_t *mask);

/** The room of each buffer of a client's ring: its driver has laid them out, all alike. */
uint32_t memif_ring_room(const struct memif_ring *ring, uint16_t mask);

/** A descriptor of our own of what makes the interrupts of queue @p q. @return it, or -errno. */
int memif_ring_interrupt(const struct memif_queue *q);

/** @p d as it is now: the peer may change it. */
static inline struct memif_desc memif_ring_read(const struct memif_desc *d)
{
	return *(const volatile struct memif_desc *)d;
}

#endif
