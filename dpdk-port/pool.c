/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pool.h"

#include "base/huge_pages.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <string.h>
#include <sys/mman.h>

#define POOL_ROOM_MIN 2048u
#define POOL_MIN_BUFS 2048u
#define POOL_MAX_BUFS (UINT64_C(1) << 30)
/** References to memory are counted in 16 bits; as many packets as a port's queue holds. */
#define POOL_EXTERNAL 16383u
#define POOL_STACK    "stack"

static void pool_unmap(struct rte_mempool_memhdr *h, void *opaque)
{
	munmap(h->addr, h->len);
}

/** Let @p p have @p n buffers, in memory of our own. @return false: there is none. */
static bool pool_populate(struct rte_mempool *p, unsigned n)
{
	size_t size = p->header_size + p->elt_size + p->trailer_size;
	size_t len = RTE_ALIGN_CEIL(n * size, HUGE_PAGE);
	char *memory = huge_pages_map(len);
	int got;

	if (!memory)
		return false;
	/* A child never uses it, and our writes must not copy it for one. */
	madvise(memory, len, MADV_DONTFORK);
	got = rte_mempool_populate_iova(p, memory, RTE_BAD_IOVA, len, pool_unmap, NULL);
	if (got == (int)n)
		return true;
	if (got <= 0)
		munmap(memory, len);
	return false;
}

/** rte_pktmbuf_pool_create_by_ops(), with another place for the buffers. */
static struct rte_mempool *pool_create_private(
	const char *name, unsigned n, uint32_t room, int socket)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = (uint16_t)room};
	struct rte_mempool *p =
		rte_mempool_create_empty(name, n, (unsigned)sizeof(struct rte_mbuf) + room,
			POOL_CACHE, sizeof private, socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);

	if (!p)
		return NULL;
	if (rte_mempool_set_ops_byname(p, POOL_STACK, NULL) == 0) {
		rte_pktmbuf_pool_init(p, &private);
		if (pool_populate(p, n)) {
			rte_mempool_obj_iter(p, rte_pktmbuf_init, NULL);
			return p;
		}
	}
	rte_mempool_free(p);
	return NULL;
}

/** In the EAL's memory. */
static struct rte_mempool *pool_create_shared(
	const char *name, unsigned n, uint32_t room, int socket)
{
	struct rte_mempool *p = rte_pktmbuf_pool_create_by_ops(
		name, n, POOL_CACHE, 0, (uint16_t)room, socket, POOL_STACK);

	/* An application's own EAL may have been built or started without the stack driver. */
	if (!p && rte_errno != ENOMEM)
		p = rte_pktmbuf_pool_create(name, n, POOL_CACHE, 0, (uint16_t)room, socket);
	return p;
}

struct rte_mempool *pool_create(
	const char *name, uint32_t frame, uint32_t mib, int socket, bool private)
{
	uint32_t room = RTE_ALIGN_CEIL(RTE_MAX(frame, POOL_ROOM_MIN), 64);
	/* What an object takes: the mempool's header, the mbuf, the headroom, the data. */
	uint32_t object =
		RTE_CACHE_LINE_SIZE + sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + room;
	uint64_t bytes = (uint64_t)(mib ? mib : POOL_DEFAULT_MIB) << 20;
	unsigned n = (unsigned)RTE_MIN(bytes / object, POOL_MAX_BUFS);
	struct rte_mempool *p = NULL;

	n = RTE_MAX(n, POOL_MIN_BUFS);
	if (private && !rte_eal_has_hugepages())
		p = pool_create_private(name, n, room + RTE_PKTMBUF_HEADROOM, socket);
	if (p)
		return p;
	return pool_create_shared(name, n, room + RTE_PKTMBUF_HEADROOM, socket);
}

static bool pool_has_driver(const char *name)
{
	for (unsigned i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return true;
	return false;
}

int pool_failed(int error)
{
	return pool_has_driver(rte_mbuf_best_mempool_ops()) ? error : -ENODEV;
}

bool pool_is_stack(const struct rte_mempool *p)
{
	return strcmp(rte_mempool_get_ops(p->ops_index)->name, POOL_STACK) == 0;
}

struct rte_mempool *pool_create_external(const char *name, int socket)
{
	return pool_create_shared(name, POOL_EXTERNAL, 0, socket);
}
