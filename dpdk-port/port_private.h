/* SPDX-License-Identifier: BSD-2-Clause */
/** @file port_private.h What port_open.c fills in and port.c works with. */
#ifndef DPDK_PORT_PORT_PRIVATE_H
#define DPDK_PORT_PORT_PRIVATE_H

#include "dpdk-port/port.h"
#include "dpdk-port/rxfd.h"

#include <rte_ethdev.h>
#include <stdatomic.h>

#define PORT_BURST 32u

/**
 * Frames waiting for the driver, burst and backlog in one: a power of two, and the full windows of
 * several connections: a peer that is not scheduled for a moment should cost time, not losses.
 */
#define PORT_QUEUE 8192u

struct port {
	uint16_t id;
	bool link_up;
	_Atomic bool gone; /**< removed for good; set by the EAL's interrupt thread too */
	unsigned if_index; /**< AF_PACKET: the interface below (its carrier counts); or 0 */
	bool started;      /**< else the driver must not be called */
	bool connects;     /**< a memif client: it connects when it is started, and only then */
	struct intr_gate *intr_gate; /**< memif: what disconnects it is kept out of the bursts */
	unsigned downs;              /**< times in a row that the link was found down */
	bool rx_event;               /**< rx_fd is an interrupt to be armed, not a socket */
	bool legacy_helps; /**< the device could be asked for its legacy interrupt instead */
	int rx_fd;
	struct rxfd_signal rx_signal; /**< what the driver waits for; it does not come */
	struct capture *capture;
	uint64_t now;
	unsigned head, tail; /**< of queue, counting freely */
	unsigned backlog;
	struct port_stats stats;
	uint64_t kernel_missed; /**< by a packet socket, which forgets what it has told */
	struct rte_mempool *pool;
	struct rte_device *device;
	struct port_caps caps;
	const struct log_sink *log;
	struct rte_mbuf *queue[PORT_QUEUE];
};

/** Drop everything that is queued for sending. */
void port_drop(struct port *p);

#endif
