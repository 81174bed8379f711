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

struct memif_region {
	uint8_t *memory;
	size_t len;
};

/** Zero-initialised: there are none. */
struct memif_regions {
	unsigned n;
	int channel;     /**< the driver's: the socket of the connection */
	uint64_t cookie; /**< of that socket; no other ever has the same */
	struct memif_region region[MEMIF_REGIONS_MAX];
};

/**
 * All regions of a connection together, as their sizes are the peer's word: what a client of DPDK's
 * with the largest rings of the largest buffers has, which is 2 GiB and their descriptors.
 */
#define MEMIF_REGIONS_BYTES_MAX ((UINT64_C(2) << 30) + (1 << 20))

/** What is said of larger ones. */
#define MEMIF_REGIONS_TOO_LARGE "its memory is larger than any that DPDK makes, 2 GiB and 1 MiB"

/** What memif_regions_populate() fills at most. */
#define MEMIF_REGIONS_POPULATED_MAX ((size_t)64 << 20)

/**
 * Map the regions of port @p id's connection. In the EAL's interrupt thread (eal_try_in_turn()).
 * They are sealed, if the peer has not done so (memif_seal.h).
 *
 * @return 0, -ENOENT: nothing is known of them; -ENOTCONN: the connection is over; -EPROTO: the
 * peer has sent none, too many or an empty one; -EPERM: one cannot be sealed; -EFBIG: they are too
 * large; or the error of mmap().
 */
int memif_regions_open(struct memif_regions *r, uint16_t id);

/**
 * Have pages of the first, which has the rings and mostly all buffers, from its beginning: else
 * each frame of the first way around a ring would wait for one at both ends.
 */
void memif_regions_populate(const struct memif_regions *r);

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
