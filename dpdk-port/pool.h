/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pool.h The pool that a port's packets live in. */
#ifndef DPDK_PORT_POOL_H
#define DPDK_PORT_POOL_H

#include <rte_mbuf.h>
#include <stdint.h>

#define POOL_DEFAULT_MIB 64

/** A buffer's size is a number of 16 bits. */
#define POOL_FRAME_MAX (UINT16_MAX / 64 * 64 - RTE_PKTMBUF_HEADROOM)

/** Free buffers an engine keeps at hand without touching the shared part of the pool. */
#define POOL_CACHE 512

/**
 * Create a pool of buffers that hold @p frame octets each, out of about @p mib MiB. Its shared part
 * is a stack: a ring would visit every buffer in turn and keep none of them in the CPU's cache.
 * @param frame at most POOL_FRAME_MAX. @param socket NUMA node or SOCKET_ID_ANY.
 * @return NULL with rte_errno set.
 */
struct rte_mempool *pool_create(const char *name, uint32_t frame, uint32_t mib, int socket);

/** Bytes of one frame with @p mtu that a buffer must hold: Ethernet header, two tags, CRC. */
static inline uint32_t pool_frame_size(uint16_t mtu)
{
	return (uint32_t)mtu + 14 + 8 + 4;
}

#endif
