/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file reads.h
 * RDMA Reads and Atomic Operations under way, as an observer sees them: each request, and the
 * response that answers it. Pure bookkeeping; its users say what it means.
 */
#ifndef PCAP_READS_H
#define PCAP_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Requests remembered of one end; no RNIC has as many under way. */
#define READS_MAX 4096

struct reads_request {
	bool atomic;
	bool blank; /**< its header is not in the capture */
	bool rtr;   /**< the zero-length Read of RFC 6581 section 9.2, which no IRD counts */
	uint32_t sink_stag, size, placed;
	uint64_t sink_to;
	uint32_t id; /**< atomic: Request Identifier */
	uint64_t frame, time;
};

struct reads {
	struct reads_request *list; /**< oldest first */
	unsigned n, cap;
	unsigned counted; /**< of them, against IRD and ORD */
	bool unsure;      /**< some of the list may have been answered unseen, or not be in it */
	uint64_t completed;
};

/** @return false: out of memory, or too many (the oldest is forgotten, and unsure is set). */
bool reads_add(struct reads *r, const struct reads_request *q);

/** The oldest Read (or atomic) under way. NULL: none. */
struct reads_request *reads_oldest(struct reads *r, bool atomic);

/** The one that a response to this sink may be for; with unsure, all before it are answered. */
struct reads_request *reads_match(struct reads *r, uint32_t stag, uint64_t to);

/** It is answered. */
void reads_remove(struct reads *r, struct reads_request *q);

void reads_free(struct reads *r);

#endif
