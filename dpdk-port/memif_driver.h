/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif_driver.h
 * What DPDK's memif driver does not tell: the queues of a connection, and the files that both ends
 * share. It unmaps them in the EAL's interrupt thread when the peer goes, also in the middle of a
 * burst. So bursts are done beside it (memif_link.h). This knows DPDK 22.11, asks for that version,
 * and else finds nothing.
 */
#ifndef DPDK_PORT_MEMIF_DRIVER_H
#define DPDK_PORT_MEMIF_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mempool;
struct rte_intr_handle;

/** Files of one connection; DPDK's peers have one, or two without copies. */
#define MEMIF_REGIONS_MAX 16

/** How a queue of the driver begins. */
struct memif_queue {
	struct rte_mempool *pool;
	void *device;
	uint32_t type;   /**< 0: the client's to send by, the server's to receive by */
	uint16_t region; /**< number of the file that its ring is in */
	uint16_t port;
	uint32_t ring_offset; /**< in the file */
	uint16_t last_head, last_tail;
	void *buffers;
	uint64_t packets, octets;
	const struct rte_intr_handle *interrupt;
	uint8_t log2_size; /**< descriptors of its ring */
};

/** Port @p id's queue to receive by, or to send by; NULL: nothing is known of it. Any thread. */
const struct memif_queue *memif_driver_rx_queue(uint16_t id);
const struct memif_queue *memif_driver_tx_queue(uint16_t id);

/**
 * The files of port @p id's connection, by the numbers that descriptors have for them. They are the
 * driver's, which closes them. In the EAL's interrupt thread (eal_try_in_turn()).
 * @return how many; -ENOENT: nothing is known of them; -EPROTO: the peer has sent none, or more
 * than MEMIF_REGIONS_MAX.
 */
int memif_driver_files(uint16_t id, int fds[MEMIF_REGIONS_MAX]);

/**
 * The socket of port @p id's connection, which is the driver's. In the EAL's interrupt thread.
 * @return -1: there is no connection, or nothing is known of it.
 */
int memif_driver_channel(uint16_t id);

/**
 * Has the driver yet to take something, if only its end, from port @p id's connection? Then its
 * handler is about to be called. The EAL's interrupt thread takes several events at a time, and
 * looks for the handler of each by the number of the descriptor alone. So who closed that
 * connection now, in another handler, would leave the event to whatever gets the number next: a
 * driver that waits for what has not come, and with it all that happens in this thread. Without
 * input there is no such event. In the EAL's interrupt thread.
 */
bool memif_driver_has_input(uint16_t id);

#endif
