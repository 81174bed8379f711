/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file port.h
 * One DPDK Ethernet port, opened by its device arguments, with one queue pair per engine.
 */
#ifndef DPDK_PORT_PORT_H
#define DPDK_PORT_PORT_H

#include "base/log.h"

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

struct port;

struct port_config {
	const char *device;     /**< "net_memif0,role=client,...", "0000:03:00.0", ... */
	const char *eal;        /**< further EAL arguments, or NULL */
	const uint8_t *mac;     /**< to set on the port; NULL: its own */
	uint16_t mtu;           /**< wanted; 0: the port's */
	uint32_t memory_mib;    /**< for packet buffers; 0: default */
	const struct log_sink *log;
};

/** A sentence for a person. */
struct port_error {
	char text[512];
};

/**
 * Start the EAL if nobody did (on a thread of our own: affinity, signals and stdout of the caller
 * stay as they are), probe the device, configure and start it.
 * @return 0, or negative errno with @p e filled in.
 */
int port_open(const struct port_config *cfg, struct port **out, struct port_error *e);
void port_close(struct port *p);

struct port_caps {
	uint8_t mac[6];
	uint16_t mtu;
	bool tx_ipv4_cksum, tx_tcp_cksum, rx_cksum, rx_interrupt;
	char driver[32];
};

const struct port_caps *port_get_caps(const struct port *p);

/** Pool that receive and transmit buffers come from; LIFO while it stays in the cache. */
struct rte_mempool *port_pool(struct port *p);

unsigned port_rx(struct port *p, struct rte_mbuf **pkts, unsigned n);

/** Queue one frame; owns it. Sent by port_flush() or when a burst is full. */
void port_tx(struct port *p, struct rte_mbuf *m);
void port_flush(struct port *p);

/** Link state as the driver has it, without waiting. @param speed Mb/s, 0 unknown. */
bool port_link(struct port *p, uint32_t *speed);

#endif
