/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file reads.h
 * The RDMA Reads and Atomic Operations under way, as an observer sees them: matches responses to
 * requests.
 */
#ifndef PCAP_READS_H
#define PCAP_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Limit of requests that are kept for one end. No RNIC has so many under way. */
#define READS_MAX 4096

struct reads_request {
	bool atomic;
	bool blank; /**< its header is not in the capture */
	bool lost;  /**< nothing of it is: its MSN tells that it was there, but not what it was */
	bool rtr;   /**< the zero-length Read of RFC 6581 section 9.2, which no IRD counts */
	uint32_t sink_stag, size, placed;
	uint64_t sink_to;
	uint32_t id; /**< atomic: Request Identifier */
	uint64_t frame, time;
};

struct reads {
	struct reads_request *list; /**< oldest first */
	struct reads_request *base; /**< of the memory that it lies in */
	unsigned n, cap;            /**< cap: from base on */
	unsigned counted;           /**< how many of them count against IRD and ORD */
	bool unsure;      /**< the list is not certain: requests or responses were not seen */
	unsigned lost;    /**< of the list */
	unsigned answers; /**< that were for one of the list from the first lost one on */
	unsigned early;   /**< answers to requests that are not in the list yet */
	uint64_t completed;
};

/** @return false: out of memory, or too many (the oldest is removed, and unsure is set). */
bool reads_add(struct reads *r, const struct reads_request *q);

/** The oldest Read (or atomic) under way. NULL: none. */
struct reads_request *reads_oldest(struct reads *r, bool atomic);

/** Those from the first lost one on; @p first: it. 0: none is lost. */
unsigned reads_after_lost(const struct reads *r, unsigned *first);

/** How many the response may be for, blank ones too; @p first: the first of them. */
unsigned reads_candidates(
	const struct reads *r, uint32_t stag, uint64_t to, struct reads_request **first);

/** Forget those from the @p first-th on. */
void reads_truncate(struct reads *r, unsigned first);

/** The request for a response to this sink. With unsure, all before it are removed. */
struct reads_request *reads_match(struct reads *r, uint32_t stag, uint64_t to);

/** Remove a request that is answered. */
void reads_remove(struct reads *r, struct reads_request *q);

void reads_free(struct reads *r);

#endif
