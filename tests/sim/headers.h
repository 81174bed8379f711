/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file headers.h
 * Where the headers of a frame lie, for whatever in the network looks into it or changes it.
 */
#ifndef TESTS_SIM_HEADERS_H
#define TESTS_SIM_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

/** Offsets from the frame's beginning. */
struct sim_headers {
	uint8_t *frame;
	bool v4;     /**< IPv4, else IPv6 */
	bool is_tcp; /**< not a fragment: the fields below hold */
	uint32_t l3, l4, text;
	uint32_t end; /**< of the text; Ethernet's padding may follow */
	uint8_t flags;
};

/**
 * @return false: not IPv4 or IPv6, or not well-formed. The frame must be contiguous as far as its
 *         TCP header reaches.
 */
bool sim_headers_find(struct rte_mbuf *m, struct sim_headers *h);

/**
 * Write the IPv4 header's and the TCP checksum anew. The frame must be contiguous, and one's own.
 */
void sim_headers_checksum(const struct sim_headers *h);

/**
 * Were the IPv4 header's and the TCP checksum right? They are from here on. The frame must be
 * contiguous, and one's own.
 */
bool sim_headers_are_sound(const struct sim_headers *h);

/**
 * The text at @p h's place in @p m, which is one's own, now has @p len bytes: set the lengths and
 * checksums.
 */
void sim_headers_set_text(struct rte_mbuf *m, const struct sim_headers *h, uint32_t len);

#endif
