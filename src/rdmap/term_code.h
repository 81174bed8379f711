/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file term_code.h
 * What the codes of a Terminate mean, and which there are: RFC 5040 section 4.8 (Figure 9), RFC
 * 5041 section 7.2, RFC 5044 section 8, RFC 6581 section 8. RFC 7306 has none of its own.
 */
#ifndef RDMAP_TERM_CODE_H
#define RDMAP_TERM_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rdmap_term_code {
	uint8_t layer, etype, code;
	const char *name;
};

/** All, in the order of their numbers. RDMA's Local Catastrophic stands there once, with code 0. */
extern const struct rdmap_term_code rdmap_term_codes[];
extern const size_t rdmap_term_codes_count;

/** @return NULL: no RFC knows it. Of RDMA's Local Catastrophic any code is that one. */
const struct rdmap_term_code *rdmap_term_code(uint8_t layer, uint8_t etype, uint8_t code);

/** The start of a Terminate, read. */
struct rdmap_term {
	uint8_t layer, etype, code;
	bool length_valid, ddp_header, rdmap_header; /**< M, D, R */
	/**
	 * The nibbles of the first octet and the bits of M, D and R were exchanged: Linux siw
	 * writes its bit-fields that way on little-endian machines.
	 */
	bool swapped;
};

/**
 * Read the first four octets, whichever way they are written. The RFC's way is preferred wherever
 * it makes sense.
 * @param startup MPA's start-up errors (RFC 6581 section 8) may come now: from an initiator, as its
 *                first message.
 */
struct rdmap_term rdmap_term_read(const uint8_t *p, bool startup);

#endif
