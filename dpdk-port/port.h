/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file port.h
 * One DPDK Ethernet port, opened by its device arguments, with one queue pair per engine.
 *
 * Threads: port_open() and port_close() may be called by any. All others are called under the
 * engine's lock.
 */
#ifndef DPDK_PORT_PORT_H
#define DPDK_PORT_PORT_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;
struct port;
struct capture;

struct port_config {
	const char *device;  /**< "net_memif0,role=client,...", "0000:03:00.0", ... */
	const char *eal;     /**< further EAL arguments, or NULL */
	const uint8_t *mac;  /**< to set on the port; NULL: its own */
	uint16_t mtu;        /**< wanted; 0: the port's */
	uint16_t vlan;       /**< frames have tags of this VLAN; 0: none */
	uint32_t memory_mib; /**< for packet buffers; 0: default */
	bool gather; /**< frames may have parts in the program's memory, if the device can */
	bool wire;   /**< receive frames for all addresses, but none that the host sends */
	const struct log_sink *log;
};

/** An error as one sentence. */
struct port_error {
	char text[512];
};

/**
 * Start the EAL if necessary (eal_start()), probe the device, configure and start it.
 * @return 0, or negative errno with @p e filled in; -EMFILE before anything was begun if there are
 *         too few descriptors (descriptors.h).
 */
int port_open(const struct port_config *cfg, struct port **out, struct port_error *e);

/**
 * For a child after fork(): its copies of the descriptors that hold the port are closed, so that
 * the port is free when the parent ends. Nothing else may be done with @p p there.
 */
void port_let_go(const struct port *p);

/** Stop and detach the device. All its packets must have been freed. */
void port_close(struct port *p);

/**
 * Stop sending and receiving, and free all frames. Ports that send frames of each other's pools are
 * all stopped before the first is closed.
 */
void port_stop(struct port *p);

struct port_caps {
	uint8_t mac[6];
	uint16_t mtu;
	bool tx_ipv4_cksum, tx_tcp_cksum, rx_cksum, rx_interrupt;
	bool external; /**< with port_config.gather: port_map() works */
	bool tx_tso;   /**< segments that follow each other are handed over together, see tso.h */
	char driver[32];
};

const struct port_caps *port_get_caps(const struct port *p);

/** The pool of receive and transmit buffers. */
struct rte_mempool *port_pool(struct port *p);

/** The pool of buffers without memory of their own, for parts of frames. NULL: it does not gather.
 */
struct rte_mempool *port_external_pool(struct port *p);

/**
 * Let the device read memory of the program's, by its own addresses. It is pinned. Whole pages are
 * mapped, and none twice. Any thread may call these.
 * @return 0, or a negative errno: it cannot, or some of it is mapped already.
 */
int port_map(struct port *p, const void *addr, size_t len);
void port_unmap(struct port *p, const void *addr, size_t len);

/**
 * Send what is queued, and let the driver give back what it has sent. Takes a microsecond, so that
 * who calls it again and again gives the device time.
 * @return false: it is no use to call it again. The driver has no function for that, or has been
 *         stopped, or the link is down.
 */
bool port_settle(struct port *p);

/** Drop of what is queued, and was not given to the driver, the frames that @p is_of says. */
void port_drop_some(
	struct port *p, bool (*is_of)(const struct rte_mbuf *m, const void *arg), const void *arg);

/**
 * Receive at most @p n frames. The caller owns them. @return how many; 0 while the port is stopped.
 */
unsigned port_rx(struct port *p, struct rte_mbuf **pkts, unsigned n);

/**
 * Queue one frame. Owns it. One in more segments than the driver takes is copied here into one; so
 * is one with parts in the program's memory where the driver reads frames by the processor, and is
 * lost if that memory is gone. It is sent by port_flush() or when a burst is full.
 */
void port_tx(struct port *p, struct rte_mbuf *m);

/** Send what is queued. Frames without room in the port stay queued while its link is up. */
void port_flush(struct port *p);

/**
 * Frames that wait for the driver, as burst or backlog. A power of two. It holds the full windows
 * of several connections, so that a peer that is not scheduled for a moment costs no losses.
 */
#define PORT_QUEUE 8192u

/** Frames wait for port_flush(). */
bool port_has_queued(const struct port *p);

/** Queued frames that had no room in the port at the last flush. */
unsigned port_backlog(const struct port *p);

/** The end of what is queued by now, to be asked about by port_is_past(). */
uint32_t port_queue_end(const struct port *p);

/** Does nothing wait any more that was queued before @p end? */
bool port_is_past(const struct port *p, uint32_t end);

/**
 * Link state according to the driver, without waiting. One that has changed is told to be down for
 * a while, whatever it is. @param speed Mb/s, 0 unknown; or NULL.
 */
bool port_link(struct port *p, uint32_t *speed);

/** Do frames go and come, as far as port_link() has seen, whatever that tells? */
bool port_carries(const struct port *p);

/** True if the device was removed, or its interface deleted. */
bool port_is_gone(const struct port *p);

/**
 * Check the link. Call it about every 100 ms. It reconnects a memif client, which the driver does
 * not do. A memif has the descriptor of port_rx_fd() while its link is up: ask for it afterwards.
 * Frames of a memif go from the call on that finds its link up; port_link() alone begins nothing.
 * @return true when the link is up.
 */
bool port_watch(struct port *p);

/**
 * How often port_watch() has seen that the link had gone down, however short that was. A memif's
 * does not count: nobody may be at its other end.
 */
uint64_t port_link_downs(const struct port *p);

/** Capture all frames from now on; NULL: stop. Their times are set by port_set_now(). */
void port_set_capture(struct port *p, struct capture *c);

/** The time that captured frames get, ns. */
void port_set_now(struct port *p, uint64_t now);

/**
 * A descriptor that becomes readable when frames have come, or -1. It belongs to the port. Call
 * port_rx_arm() before sleeping on it and port_rx_woken() afterwards.
 */
int port_rx_fd(const struct port *p);
void port_rx_arm(struct port *p);
void port_rx_woken(struct port *p);

/**
 * True when the descriptor is an interrupt of the device. It may not become readable for frames
 * that came before it was armed. Descriptors of the kernel do.
 */
bool port_rx_is_interrupt(const struct port *p);

/**
 * The caller has found that the interrupt does not come: log that, with advice, and have no
 * descriptor from now on.
 * @param look_ms how often the caller polls from now on.
 */
void port_rx_disbelieve(struct port *p, unsigned look_ms);

/**
 * Received frames that were lost since the port was opened, because the ring was full or there were
 * no buffers. A system call on some ports.
 */
uint64_t port_rx_missed(struct port *p);

struct port_stats {
	uint64_t rx_packets, tx_packets;
	uint64_t tx_tso;        /**< of those sent, chains that the device is to cut */
	uint64_t tx_dropped;    /**< no room for long, or the link was down */
	uint64_t rx_other_vlan; /**< of another VLAN than ours, or without a tag */
};

const struct port_stats *port_get_stats(const struct port *p);

#endif
