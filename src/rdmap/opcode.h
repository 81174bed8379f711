/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file opcode.h
 * How each RDMA message uses DDP (RFC 5040 section 4.1, Figure 4; RFC 7306 section 4.1, Figure 2).
 * The stack and the checker for captures share this table.
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
	 * Range of the DDP message's length in bytes: all its segments, without DDP's headers. Both
	 * are equal if the message is only an RDMAP header.
	 */
	uint32_t min_len, max_len;
};

/** No limit but DDP's: a message is shorter than 2^32 bytes (RFC 5041 section 5.2). */
#define RDMAP_LEN_ANY UINT32_MAX

/** @param opcode the four bits, 0 - 15. @return NULL: reserved (12 to 15). */
const struct rdmap_opcode_info *rdmap_opcode_info(uint8_t opcode);

#endif
