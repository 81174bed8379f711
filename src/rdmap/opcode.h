/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file opcode.h
 * What each RDMA message looks like to DDP: RFC 5040 section 4.1, Figure 4, and RFC 7306 section
 * 4.1, Figure 2. One table serves both the stack and the checker for captures.
 */
#ifndef RDMAP_OPCODE_H
#define RDMAP_OPCODE_H

#include "rdmap/rdmap_wire.h"

#include <stdbool.h>
#include <stdint.h>

struct rdmap_opcode_info {
	const char *name; /**< as the RFCs write it */
	bool tagged;
	uint8_t qn; /**< untagged: the queue */
	/**
	 * Bytes of the DDP message (all its segments together, without DDP's headers): at least,
	 * and at most. Equal when the message is an RDMAP header and nothing else.
	 */
	uint32_t min_len, max_len;
};

/** No limit but DDP's: a message is shorter than 2^32 bytes (RFC 5041 section 5.2). */
#define RDMAP_LEN_ANY UINT32_MAX

/** @param opcode the four bits, 0 - 15. @return NULL: reserved (12 to 15). */
const struct rdmap_opcode_info *rdmap_opcode_info(uint8_t opcode);

#endif
