/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/opcode.h"

#include "ddp/ddp_wire.h"

#include <stddef.h>

/* A Terminate's header, then the length and headers that it may quote (RFC 5040 section 4.8). */
#define TERMINATE_MAX \
	(RDMAP_TERM_HEADER_LEN + RDMAP_TERM_LENGTH_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN)

static const struct rdmap_opcode_info rdmap_opcode_table[RDMAP_OPCODES] = {
	[RDMAP_OP_WRITE] = {"RDMA Write", true, 0, 0, RDMAP_LEN_ANY},
	[RDMAP_OP_READ_REQUEST] = {"RDMA Read Request", false, RDMAP_QN_READ, RDMAP_READ_HEADER_LEN,
		RDMAP_READ_HEADER_LEN},
	[RDMAP_OP_READ_RESPONSE] = {"RDMA Read Response", true, 0, 0, RDMAP_LEN_ANY},
	[RDMAP_OP_SEND] = {"Send", false, RDMAP_QN_SEND, 0, RDMAP_LEN_ANY},
	[RDMAP_OP_SEND_INV] = {"Send with Invalidate", false, RDMAP_QN_SEND, 0, RDMAP_LEN_ANY},
	[RDMAP_OP_SEND_SE] = {"Send with Solicited Event", false, RDMAP_QN_SEND, 0, RDMAP_LEN_ANY},
	[RDMAP_OP_SEND_SE_INV] = {"Send with Solicited Event and Invalidate", false, RDMAP_QN_SEND,
		0, RDMAP_LEN_ANY},
	[RDMAP_OP_TERMINATE] = {"Terminate", false, RDMAP_QN_TERMINATE, RDMAP_TERM_HEADER_LEN,
		TERMINATE_MAX},
	[RDMAP_OP_IMMEDIATE] = {"Immediate Data", false, RDMAP_QN_SEND, RDMAP_IMMEDIATE_LEN,
		RDMAP_IMMEDIATE_LEN},
	[RDMAP_OP_IMMEDIATE_SE] = {"Immediate Data with Solicited Event", false, RDMAP_QN_SEND,
		RDMAP_IMMEDIATE_LEN, RDMAP_IMMEDIATE_LEN},
	[RDMAP_OP_ATOMIC_REQUEST] = {"Atomic Request", false, RDMAP_QN_READ,
		RDMAP_ATOMIC_REQUEST_LEN, RDMAP_ATOMIC_REQUEST_LEN},
	[RDMAP_OP_ATOMIC_RESPONSE] = {"Atomic Response", false, RDMAP_QN_ATOMIC_RESPONSE,
		RDMAP_ATOMIC_RESPONSE_LEN, RDMAP_ATOMIC_RESPONSE_LEN},
};

const struct rdmap_opcode_info *rdmap_opcode_info(uint8_t opcode)
{
	return opcode < RDMAP_OPCODES && rdmap_opcode_table[opcode].name
		       ? &rdmap_opcode_table[opcode]
		       : NULL;
}
