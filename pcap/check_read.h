/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file check_read.h
 * RDMA Reads and Atomic Operations under way, as an observer sees them: each request, and the
 * response that answers it. Pure bookkeeping; its users say what it means.
 */
#ifndef PCAP_CHECK_READ_H
#define PCAP_CHECK_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Requests remembered of one end; no RNIC has as many under way. */
#define CHECK_READS_MAX 4096

struct check_request {
	bool atomic;
	bool blank; /**< its header is not in the capture */
	bool rtr;   /**< the zero-length Read of RFC 6581 section 9.2, which no IRD counts */
	uint32_t sink_stag, size, placed;
	uint64_t sink_to;
	uint32_t id; /**< atomic: Request Identifier */
	uint64_t frame, time;
};

struct check_reads {
	struct check_request *list; /**< oldest first */
	unsigned n, cap;
	unsigned counted; /**< of them, against IRD and ORD */
	bool unsure;      /**< some of the list may have been answered unseen, or not be in it */
	uint64_t completed;
};

/** @return false: out of memory, or too many (the oldest is forgotten, and unsure is set). */
bool check_reads_add(struct check_reads *r, const struct check_request *q);

/** The oldest Read (or atomic) under way. NULL: none. */
struct check_request *check_reads_oldest(struct check_reads *r, bool atomic);

/** The one that a response to this sink may be for; with unsure, all before it are answered. */
struct check_request *check_reads_match(struct check_reads *r, uint32_t stag, uint64_t to);

/** It is answered. */
void check_reads_remove(struct check_reads *r, struct check_request *q);

void check_reads_free(struct check_reads *r);

#endif
