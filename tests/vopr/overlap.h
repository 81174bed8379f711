/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file overlap.h
 * In front of a host: some TCP segments are made longer by bytes that the host was given before, of
 * the segment in front of them, or behind, or both. They are the same bytes; or others, where the
 * host has acknowledged them and so must not look at them again (RFC 9293 section 3.10.7.4).
 */
#ifndef TESTS_VOPR_OVERLAP_H
#define TESTS_VOPR_OVERLAP_H

#include "sim/element.h"

struct overlap;

/** @param mtu of packets, which none exceeds that did not before. */
struct overlap *overlap_create(struct sim *s, uint16_t mtu, uint64_t seed);

/** What comes from the host: its ACKs, and to it, behind all that may lose a packet. */
struct sim_element *overlap_out(struct overlap *x);
struct sim_element *overlap_in(struct overlap *x);

/** @param p per segment with text, from now on. */
void overlap_set(struct overlap *x, double p);

#endif
