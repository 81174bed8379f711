/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file early.h
 * Pieces of one direction's text that came before their turn, by their sequence numbers. None of
 * them overlap, and all lie within half of the sequence space. Whatever the order in which they
 * come and go, one costs the logarithm of their number: the order is up to who made the capture.
 */
#ifndef PCAP_EARLY_H
#define PCAP_EARLY_H

#include "pcap/piece.h"

#include <stddef.h>

struct cap_early_node;

/** Zero-initialised, it is empty. */
struct cap_early {
	struct cap_early_node *root;
	unsigned n;
};

/** What one piece takes of memory, in bytes. */
extern const size_t cap_early_piece_size;

/** Add a copy of @p p, which overlaps none. @return false: there is no memory. */
bool cap_early_add(struct cap_early *e, const struct piece *p);

/** @return the first piece; NULL: there is none. It stays @p e's. */
const struct piece *cap_early_first(const struct cap_early *e);

/** @return the first piece that ends behind @p seq; NULL: there is none. */
const struct piece *cap_early_find(const struct cap_early *e, uint32_t seq);

/** @return the piece behind @p p, which is one of @p e's; NULL: it is the last. */
const struct piece *cap_early_next(const struct piece *p);

/** Take the first piece out into @p p; there is one. */
void cap_early_take(struct cap_early *e, struct piece *p);

/** Drop all. */
void cap_early_clear(struct cap_early *e);

#endif
