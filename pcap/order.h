/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file order.h
 * Segments of a connection that were captured before what they acknowledge. An end that
 * acknowledged text had it, so the capture has them in the wrong order, or lacks that text: they
 * wait.
 */
#ifndef PCAP_ORDER_H
#define PCAP_ORDER_H

#include "pcap/packet.h"

/** Segments that wait, of one connection; then what they wait for counts as not captured. */
#define ORDER_MAX 128

struct order_segment {
	unsigned side; /**< of the connection that sent it */
	struct packet p;
	struct cap_frame f;
};

/** Zero-initialised is empty. */
struct order {
	struct order_segment *list; /**< as they were captured */
	unsigned n, cap;
	unsigned of[2]; /**< of them, of each side */
	unsigned waits; /**< segments since the last one was taken out */
	bool silent[2]; /**< a side's text was given up, and no more of it has come since */
};

/** Let a segment wait. @return false: out of memory. */
bool order_add(struct order *o, unsigned side, const struct packet *p, const struct cap_frame *f);

/** The first of side @p side; NULL: none. */
const struct order_segment *order_first(const struct order *o, unsigned side);

/** Take the @p i-th out. */
struct order_segment order_take(struct order *o, unsigned i);

void order_free(struct order *o);

#endif
