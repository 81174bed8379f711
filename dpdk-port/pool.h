/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pool.h The pool of a port's packet buffers. */
#ifndef DPDK_PORT_POOL_H
#define DPDK_PORT_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mempool;

#define POOL_DEFAULT_MIB 64

/** Largest frame in a buffer: its size has 16 bits. */
#define POOL_FRAME_MAX (UINT16_MAX / 64 * 64 - RTE_PKTMBUF_HEADROOM)

/** Of a frame, around the packet: Ethernet header, two tags and CRC. */
#define POOL_FRAME_AROUND (14 + 8 + 4)

/** Largest packet in a buffer. */
#define POOL_MTU_MAX (POOL_FRAME_MAX - POOL_FRAME_AROUND)

/** Free buffers in an engine's own cache. */
#define POOL_CACHE 512

/**
 * Create a pool of buffers for frames of @p frame octets, in about @p mib MiB. Its shared part is a
 * stack. A ring would use all buffers in turn, so none would stay in the CPU's cache.
 * @param frame at most POOL_FRAME_MAX. @param socket NUMA node or SOCKET_ID_ANY.
 * @param private nobody but this process touches the buffers, no device and no other process: where
 *        the EAL has no hugepages, they lie in memory of our own, which the kernel may put into
 *        transparent ones. The EAL's would be a file in memory, of small pages.
 * @return NULL with rte_errno set.
 */
struct rte_mempool *pool_create(
	const char *name, uint32_t frame, uint32_t mib, int socket, bool private);

/**
 * Why a pool could not be made. DPDK says EINVAL where it has no driver of mempools, which an
 * application may have left out. @return -ENODEV then, else @p error.
 */
int pool_failed(int error);
#define POOL_NO_DRIVER "mempool driver (DPDK's mempool_ring)" /**< what is missing then */

/** False where DPDK has no driver of stacks, and the shared part is a ring. */
bool pool_is_stack(const struct rte_mempool *p);

/** A pool of buffers without memory of their own. @return NULL with rte_errno set. */
struct rte_mempool *pool_create_external(const char *name, int socket);

/** Bytes of the largest frame with @p mtu. */
static inline uint32_t pool_frame_size(uint16_t mtu)
{
	return (uint32_t)mtu + POOL_FRAME_AROUND;
}

#endif
