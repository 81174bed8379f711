/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/eal.h"
#include "dpdk-port/pci.h"
#include "dpdk-port/pool.h"
#include "dpdk-port/port_opening.h"

#include <errno.h>
#include <rte_errno.h>
#include <stdio.h>

#define PORT_DESC 512 /* ring entries: enough for a burst, few enough to stay in the cache */

/** How often queues were set up. Under port_open()'s lock. */
static unsigned port_opened;

/** A ring uses all buffers in turn. */
static void port_tell_ring(const struct opening *o)
{
	if (!pool_is_stack(o->p->pool))
		log_printf(o->cfg->log, LOG_LEVEL_WARNING,
			"port %s: DPDK's mempool_stack is not in this process: packet buffers are "
			"in a ring, and seldom in the CPU's cache",
			o->cfg->device);
}

static int port_create_pool(struct opening *o, const char *name, int socket)
{
	struct port *p = o->p;
	int r;

	p->pool = pool_create(name, o->frame, o->cfg->memory_mib, socket, p->copies);
	if (p->pool) {
		port_tell_ring(o);
		return 0;
	}
	r = pool_failed(-rte_errno);
	return port_fail(o, r, "no %s for its packet buffers",
		r == -ENODEV                      ? POOL_NO_DRIVER
		: eal_is_software(o->cfg->device) ? "memory"
						  : "hugepages");
}

int port_setup_queues(struct opening *o)
{
	struct port *p = o->p;
	struct rte_eth_txconf conf = o->info.default_txconf;
	uint16_t rx = PORT_DESC, tx = PORT_DESC;
	char name[RTE_MEMPOOL_NAMESIZE], reason[400];
	int socket = rte_eth_dev_socket_id(p->id), r;

	/* Each of its own: port_free_pool() may have left some. */
	snprintf(name, sizeof name, "uiwarp-%u.%u", p->id, ++port_opened);
	r = port_create_pool(o, name, socket);
	if (r)
		return r;
	snprintf(name, sizeof name, "uiwarp-%u.%u-ext", p->id, port_opened);
	if (p->caps.external && !(p->external = pool_create_external(name, socket)))
		return port_fail(o, -rte_errno, "no memory for buffers of parts of frames");
	r = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &rx, &tx);
	if (r)
		return port_fail(o, r, "it has no room for descriptors");
	r = rte_eth_rx_queue_setup(p->id, 0, rx, (unsigned)socket, NULL, p->pool);
	if (r)
		return port_fail_by_driver(o, r, "it has no receive queue");
	/* Else drivers do not tell of the last frames until more are sent: port_settle(). */
	if (p->caps.external && conf.tx_rs_thresh > 1)
		conf.tx_rs_thresh = 1;
	r = rte_eth_tx_queue_setup(p->id, 0, tx, (unsigned)socket, &conf);
	if (r)
		return port_fail(o, r, "it has no transmit queue");
	/* What is not mapped for the device it cannot read or write. DPDK goes on all the same. */
	if (eal_log_look(reason, sizeof reason) && pci_is_unmapped(reason))
		return port_fail(o, -ENOMEM, "it cannot reach its packet buffers");
	return 0;
}
