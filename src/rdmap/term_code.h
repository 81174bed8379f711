/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file term_code.h
 * The codes of a Terminate and their names: RFC 5040 section 4.8 (Figure 9), RFC 5041 section 7.2,
 * RFC 5044 section 8, RFC 6581 section 8. RFC 7306 adds none.
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

/** All codes, in ascending order. RDMA's Local Catastrophic is there once, with code 0. */
extern const struct rdmap_term_code rdmap_term_codes[];
extern const size_t rdmap_term_codes_count;

/** @return NULL: no RFC defines it. RDMA's Local Catastrophic is found with any code. */
const struct rdmap_term_code *rdmap_term_code(uint8_t layer, uint8_t etype, uint8_t code);

/** The start of a received Terminate. */
struct rdmap_term {
	uint8_t layer, etype, code;
	bool length_valid, ddp_header, rdmap_header; /**< M, D, R */
	/**
	 * The nibbles of the first octet and the bits M, D and R are exchanged, as Linux siw's
	 * bit-fields do on little-endian machines.
	 */
	bool swapped;
};

/**
 * Read the first four octets in either layout. The RFC's layout is preferred if it makes sense.
 * @param startup MPA's start-up errors (RFC 6581 section 8) are possible: this is the first
 *                message, from an initiator.
 */
struct rdmap_term rdmap_term_read(const uint8_t *p, bool startup);

#endif
