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

/** Descriptors of the largest ring that the driver takes. */
#define MEMIF_RING_LOG2_MAX 14
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

/** Our end of a ring. Zero-initialised: there is none. */
struct memif_ring_end {
	struct memif_ring *ring;
	const struct memif_regions *regions;
	uint16_t mask; /**< descriptors of the ring, minus 1 */
	bool client;   /**< the client's, whose index is the head; a server's is the tail */
	uint32_t room; /**< of a client's buffers: its driver has laid them out, all alike */
	int fd;        /**< of our own: a receiver's is readable after an interrupt of the peer's, a
			  sender's is the eventfd to wake it by */
};

/**
 * Open queue @p q of a connection's @p regions, which are as long-lived as @p e. In the EAL's
 * interrupt thread (eal_try_in_turn()).
 * @param q      NULL: nothing is known of it
 * @param sends  it is to send by
 * @return 0, or -errno; -ENOENT: nothing is known of the queue; -EPROTO: its peer has made no ring,
 * or buffers that are none; -EBADFD: what makes its interrupts is no eventfd;
 * -ENOSYS: or it cannot be told without /proc.
 */
int memif_ring_open(struct memif_ring_end *e, const struct memif_regions *regions,
	const struct memif_queue *q, bool sends);

/** Nothing is done where there is none. */
void memif_ring_close(struct memif_ring_end *e);

/** @p d as it is now: the peer may change it. */
static inline struct memif_desc memif_ring_read(const struct memif_desc *d)
{
	return *(const volatile struct memif_desc *)d;
}

#endif
