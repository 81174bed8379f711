/* SPDX-License-Identifier: BSD-2-Clause */
/** @file port_opening.h The steps of port_open(), and what they share. Under its lock. */
#ifndef DPDK_PORT_PORT_OPENING_H
#define DPDK_PORT_PORT_OPENING_H

#include "dpdk-port/port_private.h"

#include <net/if.h>

struct opening {
	const struct port_config *cfg;
	struct port *p;
	struct port_error *e;
	struct rte_eth_dev_info info;
	char ifname[IF_NAMESIZE]; /**< the kernel's interface under the port, or empty */
	uint16_t mtu;             /**< of the port */
	unsigned frame;           /**< octets that a packet buffer must hold */
	bool fixed;               /**< AF_PACKET: the interface may not be changed */
};

/** @p error as a sentence about the port, with DPDK's reason. @return @p error. */
__attribute__((format(printf, 3, 4))) int port_fail(
	struct opening *o, int error, const char *fmt, ...);

/** The same of what a driver did not do. It says which call failed, not what the process may not.
 */
int port_fail_by_driver(struct opening *o, int error, const char *what);

bool port_driver_is(const struct port *p, const char *name);

/** Software devices have no interrupt but by their kernel descriptors, see port_start_device(), and
 *  a memif by its peer, see port_watch(). */
bool port_want_interrupt(const struct opening *o);

/** A kernel's interface keeps its own MAC address beside the port's. */
bool port_keeps_mac(const struct port *p);

/* ---- the steps: 0, or port_fail() ------------------------------------------------------------ */

int port_choose_mtu(struct opening *o);
int port_configure(struct opening *o);
int port_setup_queues(struct opening *o);
int port_start_device(struct opening *o);

/* ---- and their end --------------------------------------------------------------------------- */

/** Of ports in which RTE_ETH_EVENT_INTR_RMV is registered. On the EAL's interrupt thread. */
int port_on_removal(uint16_t id, enum rte_eth_event_type type, void *port, void *unused);

/** Undo what was done, as far as that came. */
void port_dismantle(struct port *p);

#endif
