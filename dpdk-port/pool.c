/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pool.h"

#include <rte_errno.h>

#define POOL_ROOM_MIN 2048u
#define POOL_MIN_BUFS 2048u
#define POOL_MAX_BUFS (UINT64_C(1) << 30)

struct rte_mempool *pool_create(const char *name, uint32_t frame, uint32_t mib, int socket)
{
	uint32_t room = RTE_ALIGN_CEIL(RTE_MAX(frame, POOL_ROOM_MIN), 64);
	/* What an object takes: the mempool's header, the mbuf, the headroom, the data. */
	uint32_t object =
		RTE_CACHE_LINE_SIZE + sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + room;
	uint64_t bytes = (uint64_t)(mib ? mib : POOL_DEFAULT_MIB) << 20;
	unsigned n = (unsigned)RTE_MIN(bytes / object, POOL_MAX_BUFS);
	struct rte_mempool *p;

	n = RTE_MAX(n, POOL_MIN_BUFS);
	p = rte_pktmbuf_pool_create_by_ops(
		name, n, POOL_CACHE, 0, room + RTE_PKTMBUF_HEADROOM, socket, "stack");
	/* An application's own EAL may have been built or started without the stack driver. */
	if (!p && rte_errno != ENOMEM)
		p = rte_pktmbuf_pool_create(
			name, n, POOL_CACHE, 0, room + RTE_PKTMBUF_HEADROOM, socket);
	return p;
}
