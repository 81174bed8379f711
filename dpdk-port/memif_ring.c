/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_ring.h"

#include "dpdk-port/memif_eventfd.h"

#include <errno.h>
#include <fcntl.h>
#include <rte_interrupts.h>
#include <string.h>
#include <unistd.h>

#define MEMIF_RING_COOKIE 0x3E31F20u

_Static_assert(offsetof(struct memif_ring, desc) == 128, "two cache lines, then descriptors");
_Static_assert(sizeof(struct memif_desc) == 16, "four in a cache line");

/** The ring of queue @p q. @param mask descriptors of it, minus 1. @return NULL: there is none. */
static struct memif_ring *memif_ring_at(
	const struct memif_regions *r, const struct memif_queue *q, uint16_t *mask)
{
	struct memif_ring *ring;
	size_t n;

	if (q->log2_size > MEMIF_RING_LOG2_MAX || q->ring_offset % sizeof(struct memif_desc))
		return NULL;
	n = (size_t)1 << q->log2_size;
	ring = (struct memif_ring *)(void *)memif_regions_at(
		r, q->region, q->ring_offset, sizeof *ring + n * sizeof ring->desc[0]);
	if (!ring || atomic_load_explicit(&ring->cookie, memory_order_relaxed) != MEMIF_RING_COOKIE)
		return NULL;
	*mask = (uint16_t)(n - 1);
	return ring;
}

/** The size of a client's buffers, which its server may have changed already. @return 0: it has. */
static uint32_t memif_ring_room(const struct memif_ring *ring, uint16_t mask)
{
	uint32_t room = mask ? ring->desc[1].offset - ring->desc[0].offset : ring->desc[0].length;

	return room > UINT16_MAX ? 0 : room;
}

/** See memif_ring_end for what descriptor queue @p q is used by. @return it, or -errno. */
static int memif_ring_interrupt(const struct memif_queue *q, bool sends)
{
	int fd = rte_intr_fd_get(q->interrupt), err;

	if (fd < 0)
		return -EPROTO;
	err = memif_eventfd_check(fd);
	if (err)
		return err;
	if (!sends)
		return memif_eventfd_watch(fd);
	/* One of our own, as the driver may close its any time. */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

int memif_ring_open(struct memif_ring_end *e, const struct memif_regions *regions,
	const struct memif_queue *q, bool sends)
{
	struct memif_ring *ring;

	memset(e, 0, sizeof *e);
	if (!q || q->type > 1)
		return -ENOENT;
	/* The peer's doing, not another driver: it is not left to one that looks at nothing. */
	ring = memif_ring_at(regions, q, &e->mask);
	if (!ring)
		return -EPROTO;
	e->regions = regions;
	e->client = (q->type == 0) == sends;
	if (e->client)
		e->room = memif_ring_room(ring, e->mask);
	if (e->client && !e->room)
		return -EPROTO;
	e->fd = memif_ring_interrupt(q, sends);
	if (e->fd < 0)
		return e->fd;
	e->ring = ring;
	return 0;
}

void memif_ring_close(struct memif_ring_end *e)
{
	if (e->ring)
		close(e->fd);
	e->ring = NULL;
}
