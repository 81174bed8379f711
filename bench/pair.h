/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pair.h
 * Two stacks in one process on the two ends of a memif, with a connected QP each, driven by one
 * thread in turn: no cache line travels between cores, and a busy machine shows in the tail alone.
 * What goes wrong ends the process.
 */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "rdmap/rdmap.h"

#include <stdbool.h>
#include <stdint.h>

/** Requests of a queue, and in a list at most. */
#define PAIR_DEPTH 128
#define PAIR_LIST  16

struct net;

/** Zero-initialised before pair_open(). */
struct pair_end {
	struct net *net;
	struct rnic *rnic;
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_qp *qp;
	struct rnic_mr *mr;
	struct rnic_ep *ep, *request;
	uint8_t *memory;
	bool asked, established;
	uint64_t handed; /**< cycles, when the port last got a frame */
	uint64_t frames;
};

/** A negative errno ends the process. */
void pair_must(int r, const char *what);

/**
 * Open and connect both.
 * @param mtu in bytes.
 * @param settings of both, "key=value", up to a NULL.
 */
void pair_open(struct pair_end *a, struct pair_end *b, uint64_t mtu, const char *const settings[]);

/** A round of its engine. */
void pair_drive(struct pair_end *d);

/** @p n requests as one list. */
void pair_post(struct pair_end *from, const struct pair_end *to, enum rdmap_wr_op op, uint32_t len,
	unsigned n);

/** A receive of 8 bytes. */
void pair_receive(struct pair_end *d);

/** @return completions taken, at most @p n of PAIR_LIST. */
unsigned pair_reap(struct pair_end *d, int n);

/** @p n Writes of @p len bytes, in lists. @return ns of CPU time, for both ends. */
uint64_t pair_stream(
	struct pair_end *a, struct pair_end *b, unsigned n, uint32_t len, unsigned list);

#endif
