/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_regions.h
 * The memory that both ends of a memif share, mapped once more beside its driver, so that it does
 * not go away when the driver unmaps it.
 *
 * The peer writes there whatever it likes, whenever it likes: offsets and lengths are read once,
 * and checked here.
 *
 * All functions are called by one thread at a time.
 */
#ifndef DPDK_PORT_MEMIF_REGIONS_H
#define DPDK_PORT_MEMIF_REGIONS_H

#include "dpdk-port/memif_driver.h"

#include <stddef.h>
#include <sys/types.h>

struct memif_region {
	uint8_t *memory;
	size_t len;
};

/** Zero-initialised: there are none. */
struct memif_regions {
	unsigned n;
	int file; /**< the driver's; of the first */
	dev_t dev;
	ino_t ino;
	struct memif_region region[MEMIF_REGIONS_MAX];
};

/**
 * Map the regions of port @p id's connection. The pages of the first, which has the rings, are all
 * there then: else each frame of the first way around a ring would wait for one at both ends. In
 * the EAL's interrupt thread (eal_try_in_turn()).
 * @return 0, -ENOENT: not found; -EPROTO: the peer has too many; or the error of fstat() or mmap().
 */
int memif_regions_open(struct memif_regions *r, uint16_t id);

/** True if the driver still has the connection that they belong to. */
bool memif_regions_are_current(const struct memif_regions *r);

/** Nothing is done where there are none. */
void memif_regions_close(struct memif_regions *r);

/** Where @p len bytes at @p offset of region @p region are; NULL: there are no such. */
static inline uint8_t *memif_regions_at(
	const struct memif_regions *r, uint16_t region, uint32_t offset, size_t len)
{
	if (region >= r->n || offset > r->region[region].len ||
		r->region[region].len - offset < len)
		return NULL;
	return r->region[region].memory + offset;
}

#endif
