/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_link.h
 * A memif's connection, beside its driver, which makes it and tells of its end. Frames go through
 * mappings of our own, so a burst may be under way when the peer ends. Only where the driver is not
 * known, or shares its own buffers instead of copying, are bursts left to it; then the gate
 * (intr_gate.h) has to keep the end of a connection out of them.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_LINK_H
#define DPDK_PORT_MEMIF_LINK_H

#include "dpdk-port/memif_rx.h"
#include "dpdk-port/memif_tx.h"

struct log_sink;

/** Zero-initialised: nothing is known of a connection. */
struct memif_link {
	bool by_driver; /**< there is one, of which bursts are left to the driver */
	struct memif_regions regions;
	struct memif_rx rx;
	struct memif_tx tx;
	struct memif_waker waker; /**< for all connections */
	int refused;              /**< why the present one is, or 0 */
	uint64_t refusals;        /**< until now */
};

/**
 * Look after it, about every 100 ms.
 * @param id    a memif's port
 * @param up    its link
 * @param copy  the driver copies frames
 * @param log   is told why a connection is refused: it stays, and no frames go
 */
void memif_link_watch(
	struct memif_link *l, uint16_t id, bool up, bool copy, const struct log_sink *log);

/** True if frames go past the driver. */
static inline bool memif_link_is_open(const struct memif_link *l)
{
	return l->rx.end.ring != NULL;
}

/** Forget it. Nothing is done where there is none. */
void memif_link_close(struct memif_link *l);

/** There will be no other. */
void memif_link_free(struct memif_link *l);

#endif
