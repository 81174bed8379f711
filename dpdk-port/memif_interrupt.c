/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_interrupt.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <string.h>
#include <unistd.h>

int memif_interrupt_open(
	struct memif_interrupt *interrupt, uint16_t id, const struct rte_mempool *pool)
{
	const struct memif_queue *q = memif_ring_queue(rte_eth_fp_ops[id].rxq.data, id);
	int r;

	memset(interrupt, 0, sizeof *interrupt);
	interrupt->fd = -1;
	/* What it should be is known of some of it, and the handle is looked at only then. */
	if (!q || q->pool != pool || rte_intr_fd_get(q->interrupt) < 0)
		return -ENOENT;
	r = memif_ring_open(&interrupt->map, q, sizeof *interrupt->map.ring);
	if (!r)
		interrupt->fd = rte_intr_fd_get(q->interrupt);
	return r;
}

bool memif_interrupt_is_open(const struct memif_interrupt *interrupt)
{
	return interrupt->map.ring != NULL;
}

bool memif_interrupt_is_current(const struct memif_interrupt *interrupt, uint16_t id)
{
	const struct memif_queue *q = memif_ring_queue(rte_eth_fp_ops[id].rxq.data, id);

	return q && rte_intr_fd_get(q->interrupt) == interrupt->fd &&
	       memif_ring_is_current(&interrupt->map);
}

void memif_interrupt_close(struct memif_interrupt *interrupt)
{
	memif_ring_close(&interrupt->map);
}

void memif_interrupt_arm(const struct memif_interrupt *interrupt)
{
	if (interrupt->map.ring)
		atomic_fetch_and(&interrupt->map.ring->flags, (uint16_t)~MEMIF_RING_MASK_INT);
}

void memif_interrupt_mask(const struct memif_interrupt *interrupt)
{
	uint64_t n;

	if (!interrupt->map.ring)
		return;
	atomic_fetch_or(&interrupt->map.ring->flags, MEMIF_RING_MASK_INT);
	if (read(interrupt->fd, &n, sizeof n) < 0)
		return; /* the driver has taken it */
}
