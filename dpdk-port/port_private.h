/* SPDX-License-Identifier: BSD-2-Clause */
/** @file port_private.h Shared by port.c and those that open and close a port. */
#ifndef DPDK_PORT_PORT_PRIVATE_H
#define DPDK_PORT_PORT_PRIVATE_H

#include "dpdk-port/holding.h"
#include "dpdk-port/memif_link.h"
#include "dpdk-port/port.h"
#include "dpdk-port/rxfd.h"
#include "dpdk-port/tso.h"

#include <rte_ethdev.h>
#include <stdatomic.h>

#define PORT_BURST 32u

struct port {
	uint16_t id;
	bool link_up;      /**< at the last look; for what sends, receives and sleeps */
	_Atomic bool gone; /**< removed; set by the EAL's interrupt thread, too */
	unsigned if_index; /**< AF_PACKET: the interface, for its carrier; or 0 */
	unsigned tap;      /**< the interface of a TAP of which nothing tells when it is deleted */
	int carrier_fd;    /**< counts how often a carrier has gone; or -1 */
	uint64_t carrier_downs; /**< at the last port_watch() */
	bool watched_up;        /**< the last port_watch() found the link up */
	uint64_t link_downs;
	unsigned doubtful; /**< checks for which the link is told to be down, though it is up */
	unsigned counted;  /**< and for which an end is that of the last link_downs */
	bool started;      /**< false: the driver must not be called */
	bool is_memif, is_tap;
	bool copies;                 /**< its driver copies each frame in this process */
	bool connects;               /**< a memif client, which connects only when it is started */
	struct intr_gate *intr_gate; /**< memif: keeps disconnects out of the driver's bursts */
	struct memif_link memif;     /**< while its link is up */
	unsigned downs;              /**< checks in a row that found the link down */
	unsigned gave_way;           /**< port_restart(), in a row, to what the server said */
	bool rx_event;               /**< rx_fd is an interrupt, which must be armed */
	bool legacy_helps;           /**< a legacy interrupt may work instead */
	bool memif_silent;           /**< memif: its interrupt was disbelieved */
	int rx_fd;
	/** The signal that the driver waits for; it was turned off */
	struct rxfd_signal rx_signal;
	_Atomic bool map_failed; /**< port_map() has told of it */
	uint16_t vlan;           /**< ours; 0: none */
	bool sorts;              /**< frames may be of other VLANs, see vlan_pop() */
	uint16_t most_segs;      /**< of a frame, that its driver takes and reads in full */
	bool gathers;            /**< as caps.tx_tso, beside what is read for each frame */
	struct capture *capture;
	uint64_t now;
	unsigned head, tail; /**< of queue, free running */
	unsigned backlog;
	struct port_stats stats;
	/** Lost by a packet socket, which resets its count when it is read */
	uint64_t kernel_missed;
	struct rte_mempool *pool, *external; /**< external: NULL unless it gathers */
	struct rte_device *device;
	struct port_caps caps;
	struct tso tso; /**< while it gathers: what comes before it goes to the queue */
	struct holding holding;
	const struct log_sink *log;
	struct rte_mbuf *queue[PORT_QUEUE];
};

/** Drop everything that is queued for sending. */
void port_drop(struct port *p);

/**
 * Has the stopping of memif @p p to wait, as its driver's own handler comes first? Who is told so
 * leaves that thread the time, and asks again. But not for ever: the peer may send without an end.
 * In the EAL's interrupt thread.
 * @param gave_way counts how often that was so, @p most times at most.
 */
bool port_gives_way(const struct port *p, unsigned *gave_way, unsigned most);

#endif
