/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file trace.h
 * The segments of one TCP connection as its sender sees them, for time-sequence plots: what it
 * sends, what comes back. Sequence numbers count from its first text, and do not wrap.
 */
#ifndef TESTS_SIM_TRACE_H
#define TESTS_SIM_TRACE_H

#include "sim/tap.h"

enum sim_trace_kind {
	SIM_TRACE_DATA,  /**< first transmission */
	SIM_TRACE_AGAIN, /**< some of it was sent before */
	SIM_TRACE_ACK,   /**< lo: acknowledged; hi: the window's right edge */
	SIM_TRACE_SACK,  /**< one block */
};

struct sim_trace_entry {
	uint64_t at; /**< ns */
	enum sim_trace_kind kind;
	int64_t lo, hi;
};

struct sim_trace;

/** @param port of the receiver. Entries of [from, to) are kept. Never NULL. */
struct sim_trace *sim_trace_create(uint16_t port, uint64_t from, uint64_t to);

/** For taps before the path and behind the way back; the context is the struct sim_trace. */
sim_tap_fn sim_trace_sent, sim_trace_came;

size_t sim_trace_get(const struct sim_trace *t, const struct sim_trace_entry **out);
void sim_trace_destroy(struct sim_trace *t);

#endif
