/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file port.h
 * One DPDK Ethernet port, opened by its device arguments, with one queue pair per engine.
 *
 * Threads: port_open() and port_close() from any; all else under the engine's lock.
 */
#ifndef DPDK_PORT_PORT_H
#define DPDK_PORT_PORT_H

#include "base/log.h"

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

struct port;
struct capture;

struct port_config {
	const char *device;  /**< "net_memif0,role=client,...", "0000:03:00.0", ... */
	const char *eal;     /**< further EAL arguments, or NULL */
	const uint8_t *mac;  /**< to set on the port; NULL: its own */
	uint16_t mtu;        /**< wanted; 0: the port's */
	uint32_t memory_mib; /**< for packet buffers; 0: default */
	bool wire;           /**< take frames for whomever, none of the host's own */
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

/** Stop and detach the device. All its packets must have been freed. */
void port_close(struct port *p);

/**
 * Neither send nor receive from now on, and let go of all frames: ports that send each other's are
 * all stopped before the first is closed.
 */
void port_stop(struct port *p);

struct port_caps {
	uint8_t mac[6];
	uint16_t mtu;
	bool tx_ipv4_cksum, tx_tcp_cksum, rx_cksum, rx_interrupt;
	char driver[32];
};

const struct port_caps *port_get_caps(const struct port *p);

/** Pool that receive and transmit buffers come from; LIFO while it stays in the cache. */
struct rte_mempool *port_pool(struct port *p);

/** Take at most @p n frames that have come; the caller owns them. @return how many; 0 also while
 * the port is stopped. */
unsigned port_rx(struct port *p, struct rte_mbuf **pkts, unsigned n);

/** Queue one frame; owns it. Sent by port_flush() or when a burst is full. */
void port_tx(struct port *p, struct rte_mbuf *m);

/** Send what is queued. What the port has no room for stays queued while its link is up. */
void port_flush(struct port *p);

/** Frames queued that the port had no room for at the last flush. */
unsigned port_backlog(const struct port *p);

/** Link state as the driver has it, without waiting. @param speed Mb/s, 0 unknown; or NULL. */
bool port_link(struct port *p, uint32_t *speed);

/** The device is gone for good: pulled out, or its interface deleted. */
bool port_is_gone(const struct port *p);

/**
 * Look after the link; call it every 100 ms or so. A memif client connects again when its server
 * was not there or went: its driver does not.
 * @return true when the link is up.
 */
bool port_watch(struct port *p);

/**
 * Record all frames from now on; NULL: none. @p now of each is the engine's, see port_set_now().
 */
void port_set_capture(struct port *p, struct capture *c);

/** The time that captured frames get, ns. */
void port_set_now(struct port *p, uint64_t now);

/**
 * A descriptor that polls readable when frames have come, or -1. It belongs to the port. Call
 * port_rx_arm() before sleeping on it and port_rx_woken() after.
 */
int port_rx_fd(const struct port *p);
void port_rx_arm(struct port *p);
void port_rx_woken(struct port *p);

/** True when the descriptor stands for an interrupt of the device: frames that came before it was
 *  armed may not make it readable. One of the kernel's does, as long as there are any. */
bool port_rx_is_interrupt(const struct port *p);

/**
 * The interrupt does not come, as the caller found out by experience: say so, with what helps, and
 * have no descriptor from now on.
 * @param look_ms how often the caller looks for packets from now on.
 */
void port_rx_disbelieve(struct port *p, unsigned look_ms);

/**
 * Frames that came and were lost before port_rx() could have them, since the port was opened: the
 * ring was full, or there were no buffers. A system call on some ports.
 */
uint64_t port_rx_missed(struct port *p);

struct port_stats {
	uint64_t rx_packets, tx_packets;
	uint64_t tx_dropped; /**< no room for long, or the link down: TCP sends again */
};

const struct port_stats *port_get_stats(const struct port *p);

#endif
