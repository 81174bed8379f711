/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tso.h
 * TCP segmentation offload. TCP makes each segment by itself, as if there were none: a segment is
 * one FPDU, or some whole ones. Segments that follow each other without any other difference become
 * one chain of mbufs, which the driver is told to cut where they were joined. So the frames on the
 * wire are the same, also where some of them are sent again, and the device gets one in the place
 * of many.
 *
 * An mbuf that had others behind it in a chain has more than one segment by its nb_segs, until it
 * is given back or used again: who keeps a reference tells by that, and lets go of its neighbours.
 */
#ifndef DPDK_PORT_TSO_H
#define DPDK_PORT_TSO_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

/** Segments in a chain, at most. */
#define TSO_SEGMENTS_MAX 64

/** Segments that are gathered. Zero-initialised is empty; @p most must be set. */
struct tso {
	uint16_t most;                /**< segments of a chain that the driver takes */
	uint16_t segments, size;      /**< gathered; text of each, and of the last perhaps less */
	uint32_t next;                /**< sequence number behind the last */
	bool closed;                  /**< nothing may follow the last */
	struct rte_mbuf *head, *last; /**< NULL: none */
};

/**
 * Gather @p m, a frame with the offloads that it asks for, l2_len, l3_len and l4_len set. It is
 * owned by @p t then.
 * @return false: it cannot follow what is gathered; or, with nothing gathered, it can have no
 * others behind it. Nothing was changed.
 */
bool tso_gather(struct tso *t, struct rte_mbuf *m);

/**
 * Take what was gathered: one frame as it was, or a chain with RTE_MBUF_F_TX_TCP_SEG. Then the
 * length in its IP header is that of the chain, and its TCP checksum that of the pseudo header
 * without a length, as DPDK wants it.
 * @return NULL: nothing was.
 */
struct rte_mbuf *tso_take(struct tso *t);

#endif
