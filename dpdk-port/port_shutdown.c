/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal.h"
#include "dpdk-port/intr_gate.h"
#include "dpdk-port/memif_driver.h"
#include "dpdk-port/memif_guard.h"
#include "dpdk-port/port_opening.h"

#include <rte_dev.h>
#include <rte_malloc.h>
#include <unistd.h>

/**
 * A memif server cannot be closed: its listening socket stays registered with the EAL's interrupt
 * thread after it is freed. It stays, stopped, and is used again when it is opened again.
 */
static bool port_can_be_closed(const struct port *p)
{
	return !p->is_memif || p->connects;
}

static void port_stop_device(void *port)
{
	const struct port *p = port;

	rte_eth_dev_stop(p->id);
	if (p->is_memif)
		memif_guard_sweep();
}

static void port_stop_and_close(void *port)
{
	const struct port *p = port;

	port_stop_device(port);
	if (port_can_be_closed(p))
		rte_eth_dev_close(p->id);
}

#define PORT_WAY_US    1000
#define PORT_WAY_GIVEN 1000

bool port_gives_way(const struct port *p, unsigned *gave_way, unsigned most)
{
	if (*gave_way == most || !memif_driver_has_input(p->id))
		return false;
	++*gave_way;
	return true;
}

struct port_shutdown {
	struct port *p;
	void (*how)(void *port);
	unsigned gave_way;
	bool over;
};

static void port_shut_down_memif(void *shutdown)
{
	struct port_shutdown *s = shutdown;

	if (port_gives_way(s->p, &s->gave_way, PORT_WAY_GIVEN))
		return;
	s->how(s->p);
	s->over = true;
}

/**
 * memif's handler of a peer that goes looks at what is freed here, without a lock: it runs in the
 * EAL's interrupt thread, so this does too.
 */
static void port_shut_down(struct port *p, void (*how)(void *port))
{
	struct port_shutdown s = {.p = p, .how = how};

	port_drop(p);
	if (!p->is_memif) {
		how(p);
		return;
	}
	eal_call_in_turn(port_shut_down_memif, &s);
	while (!s.over)
		eal_call_in_later_turn(PORT_WAY_US, port_shut_down_memif, &s);
}

/**
 * A driver that cannot stop its device keeps what that may read or write, for ever. Parts of frames
 * are among it, and what they are attached to is not unmapped then.
 */
static void port_free_pool(const struct port *p, struct rte_mempool *pool)
{
	unsigned kept = pool ? rte_mempool_in_use_count(pool) : 0;

	if (!kept)
		rte_mempool_free(pool);
	else
		log_printf(p->log, LOG_LEVEL_WARNING,
			"port %u: %u of its packet buffers were not given back, so their memory "
			"stays taken",
			p->id, kept);
}

void port_dismantle(struct port *p)
{
	if (p->carrier_fd >= 0)
		close(p->carrier_fd);
	memif_link_free(&p->memif);
	intr_gate_destroy(p->intr_gate);
	if (p->id < RTE_MAX_ETHPORTS) {
		rte_eth_dev_callback_unregister(p->id, RTE_ETH_EVENT_INTR_RMV, port_on_removal, p);
		port_shut_down(p, port_stop_and_close);
	}
	if (p->device && port_can_be_closed(p))
		rte_dev_remove(p->device);
	port_free_pool(p, p->external);
	port_free_pool(p, p->pool);
	eal_log_release(p->log);
	rte_free(p);
}

void port_stop(struct port *p)
{
	p->started = false;
	port_shut_down(p, port_stop_device);
}
