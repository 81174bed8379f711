/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_link.h"

#include "dpdk-port/eal.h"

#include <errno.h>

struct memif_link_opening {
	struct memif_link *link;
	uint16_t id;
	int result;
};

void memif_link_close(struct memif_link *l)
{
	memif_ring_close(&l->rx.end);
	memif_ring_close(&l->tx.end);
	memif_regions_close(&l->regions);
	l->by_driver = false;
}

static void memif_link_open(void *opening)
{
	struct memif_link_opening *o = opening;
	struct memif_link *l = o->link;

	o->result = memif_regions_open(&l->regions, o->id);
	if (!o->result)
		o->result = memif_rx_open(&l->rx, &l->regions, o->id);
	if (!o->result)
		o->result = memif_tx_open(&l->tx, &l->regions, o->id);
	if (o->result)
		memif_link_close(l);
}

void memif_link_watch(struct memif_link *l, uint16_t id, bool up, bool copy)
{
	struct memif_link_opening o = {l, id, -ENOENT};

	if (!up || (memif_link_is_open(l) && !memif_regions_are_current(&l->regions)))
		memif_link_close(l);
	if (!up || memif_link_is_open(l) || l->by_driver)
		return;
	/* Other failures may be over by the next watch. */
	if (!copy || eal_try_in_turn(memif_link_open, &o))
		l->by_driver = o.result == -ENOENT;
}
