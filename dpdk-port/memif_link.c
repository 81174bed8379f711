/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_link.h"

#include "dpdk-port/eal.h"
#include "dpdk-port/memif_seal.h"

#include "base/log.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <string.h>

struct memif_link_opening {
	struct memif_link *link;
	uint16_t id;
	int result; /**< 0, or why frames do not go past the driver */
	int asleep; /**< 0, or why the peer is not woken */
};

void memif_link_close(struct memif_link *l)
{
	memif_ring_close(&l->rx.end);
	memif_ring_close(&l->tx.end);
	memif_regions_close(&l->regions);
	l->by_driver = false;
	l->refused = 0;
}

void memif_link_free(struct memif_link *l)
{
	memif_link_close(l);
	memif_waker_close(&l->waker);
}

/** The driver's thread, this one, may have ended the connection since its link was seen. */
static bool memif_link_is_over(uint16_t id)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(id, &link) || link.link_status == RTE_ETH_LINK_DOWN;
}

static int memif_link_open_rings(struct memif_link *l, uint16_t id)
{
	int r = memif_regions_open(&l->regions, id);

	if (!r)
		r = memif_rx_open(&l->rx, &l->regions, id);
	if (!r)
		r = memif_tx_open(&l->tx, &l->regions, id, &l->waker);
	return r;
}

static void memif_link_open(void *opening)
{
	struct memif_link_opening *o = opening;
	struct memif_link *l = o->link;

	if (memif_link_is_over(o->id)) {
		o->result = -ENOTCONN;
		return;
	}
	o->asleep = memif_waker_open(&l->waker);
	o->result = memif_link_open_rings(l, o->id);
	if (!o->result) {
		memif_regions_populate(&l->regions);
	} else {
		memif_ring_close(&l->rx.end);
		memif_regions_close(&l->regions);
	}
}

static const char *memif_link_reason(int error)
{
	switch (error) {
	case -EPROTO:
		return "its rings or buffers are not as the protocol has them";
	case -EPERM:
		return MEMIF_SEAL_REFUSED;
	case -EFBIG:
		return MEMIF_REGIONS_TOO_LARGE;
	case -EBADFD:
		return "what it sends for interrupts is no eventfd";
	case -ENOSYS:
		return "what it sends for interrupts cannot be looked at without /proc";
	default:
		return strerror(-error);
	}
}

/** Once for a connection; a peer may come again and again. */
static void memif_link_tell(
	struct memif_link *l, const struct memif_link_opening *o, const struct log_sink *log)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	rte_eth_dev_get_name_by_port(o->id, name);
	if (o->result && o->result != l->refused)
		log_printf(log, log_level_of_count(++l->refusals),
			"port %s: nothing goes to this peer or comes from it: %s", name,
			memif_link_reason(o->result));
	l->refused = o->result;
	if (!o->result && o->asleep)
		log_printf(log, LOG_LEVEL_WARNING,
			"port %s: its peer is not woken, and has to look for itself: io_setup(): "
			"%s (fs.aio-max-nr)",
			name, strerror(-o->asleep));
}

void memif_link_watch(
	struct memif_link *l, uint16_t id, bool up, bool copy, const struct log_sink *log)
{
	struct memif_link_opening o = {l, id, -ENOENT, 0};

	if (!up || (memif_link_is_open(l) && !memif_regions_are_current(&l->regions)))
		memif_link_close(l);
	if (!up || memif_link_is_open(l) || l->by_driver)
		return;
	/* What the peer does wrong it may do right by the next watch. */
	if (copy && !eal_try_in_turn(memif_link_open, &o))
		return;
	l->by_driver = o.result == -ENOENT;
	if (!l->by_driver && o.result != -ENOTCONN)
		memif_link_tell(l, &o, log);
}
