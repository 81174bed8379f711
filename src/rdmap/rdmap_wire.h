/* SPDX-License-Identifier: BSD-2-Clause */
/** @file rdmap_wire.h RDMAP on the wire: RFC 5040 section 4 and RFC 7306 sections 4 to 6. */
#ifndef RDMAP_RDMAP_WIRE_H
#define RDMAP_RDMAP_WIRE_H

/* The control field, DDP's RsvdULP (section 4.1): version in the two highest bits. */
#define RDMAP_CONTROL_VERSION_SHIFT 6
#define RDMAP_CONTROL_OPCODE        0x0f
#define RDMAP_VERSION               1
#define RDMAP_CONTROL(opcode)       (RDMAP_VERSION << RDMAP_CONTROL_VERSION_SHIFT | (opcode))

/*
 * Between uiwarps that have agreed on Send with Immediate (docs/connect.md), and for nobody else,
 * two reserved bits of a Send.
 */
#define RDMAP_CONTROL_IMM_DUE    0x20 /**< its Immediate Data comes next on the queue */
#define RDMAP_CONTROL_IMM_BEFORE 0x10 /**< some came behind Sends before this one */

enum rdmap_opcode {
	RDMAP_OP_WRITE = 0x0,
	RDMAP_OP_READ_REQUEST = 0x1,
	RDMAP_OP_READ_RESPONSE = 0x2,
	RDMAP_OP_SEND = 0x3,
	RDMAP_OP_SEND_INV = 0x4,
	RDMAP_OP_SEND_SE = 0x5,
	RDMAP_OP_SEND_SE_INV = 0x6,
	RDMAP_OP_TERMINATE = 0x7,
	RDMAP_OP_IMMEDIATE = 0x8, /**< RFC 7306, as the rest */
	RDMAP_OP_IMMEDIATE_SE = 0x9,
	RDMAP_OP_ATOMIC_REQUEST = 0xa,
	RDMAP_OP_ATOMIC_RESPONSE = 0xb,
	RDMAP_OPCODES = 16,
};

/* Untagged queues (section 4.1, Figure 4; RFC 7306 section 10.2). */
#define RDMAP_QN_SEND            0 /**< and Immediate Data */
#define RDMAP_QN_READ            1 /**< and Atomic Requests */
#define RDMAP_QN_TERMINATE       2
#define RDMAP_QN_ATOMIC_RESPONSE 3

/* The Read Request header (section 4.4). */
#define RDMAP_AT_SINK_STAG    0
#define RDMAP_AT_SINK_TO      4
#define RDMAP_AT_SIZE         12
#define RDMAP_AT_SOURCE_STAG  16
#define RDMAP_AT_SOURCE_TO    20
#define RDMAP_READ_HEADER_LEN 28

/* Immediate Data (RFC 7306 section 6.2). */
#define RDMAP_IMMEDIATE_LEN 8

/* The Atomic Request header (RFC 7306 section 5.2.1). All of it is big-endian. */
#define RDMAP_AT_ATOMIC_OPCODE       0 /**< 28 reserved bits, then the code */
#define RDMAP_AT_ATOMIC_REQUEST_ID   4
#define RDMAP_AT_ATOMIC_STAG         8
#define RDMAP_AT_ATOMIC_TO           12
#define RDMAP_AT_ATOMIC_DATA         20 /**< to add, or to swap in */
#define RDMAP_AT_ATOMIC_MASK         28 /**< fields to add in, or bits to swap */
#define RDMAP_AT_ATOMIC_COMPARE      36
#define RDMAP_AT_ATOMIC_COMPARE_MASK 44
#define RDMAP_ATOMIC_REQUEST_LEN     52

#define RDMAP_ATOMIC_OPCODE_MASK 0xf

/**
 * Figure 5. Code 1 is reserved. It was Swap in the drafts, which is a CmpSwap that compares no bit.
 */
enum rdmap_atomic_opcode {
	RDMAP_ATOMIC_FETCH_ADD = 0,
	RDMAP_ATOMIC_CMP_SWAP = 2,
};

/** Bytes that an Atomic Operation reads and writes. Its address is a multiple of it. */
#define RDMAP_ATOMIC_LEN 8

/* The Atomic Response header (section 5.2.2, Figure 6). The 32 bytes in section 4 are an error. */
#define RDMAP_AT_ATOMIC_ORIGINAL_ID    0 /**< the Request Identifier */
#define RDMAP_AT_ATOMIC_ORIGINAL_VALUE 4
#define RDMAP_ATOMIC_RESPONSE_LEN      12

/* The Terminate header (section 4.8). */
#define RDMAP_AT_TERM_TYPE    0 /**< layer << 4 | error type */
#define RDMAP_AT_TERM_CODE    1
#define RDMAP_AT_TERM_HDRCT   2
#define RDMAP_TERM_HEADER_LEN 4
#define RDMAP_TERM_LENGTH_LEN 2 /**< DDP Segment Length, if M */

#define RDMAP_HDRCT_M 0x80 /**< DDP Segment Length valid */
#define RDMAP_HDRCT_D 0x40 /**< DDP header included */
#define RDMAP_HDRCT_R 0x20 /**< RDMAP header included */

enum rdmap_layer { RDMAP_LAYER_RDMA = 0, RDMAP_LAYER_DDP = 1, RDMAP_LAYER_LLP = 2 };

/** Error types of the RDMA layer (Figure 9). */
enum rdmap_etype {
	RDMAP_ETYPE_CATASTROPHIC = 0,
	RDMAP_ETYPE_PROTECTION = 1,
	RDMAP_ETYPE_OPERATION = 2,
};

/** Error type of MPA in the LLP layer (RFC 6581 section 8). */
#define RDMAP_ETYPE_MPA 0

/** Error codes of the RDMA layer (Figure 9). */
enum rdmap_code {
	RDMAP_CODE_INVALID_STAG = 0x00,
	RDMAP_CODE_BOUNDS = 0x01,
	RDMAP_CODE_ACCESS = 0x02,
	RDMAP_CODE_STAG_STREAM = 0x03,
	RDMAP_CODE_TO_WRAP = 0x04,
	RDMAP_CODE_VERSION = 0x05,
	RDMAP_CODE_OPCODE = 0x06,
	RDMAP_CODE_STREAM_CATASTROPHIC = 0x07,
	RDMAP_CODE_GLOBAL_CATASTROPHIC = 0x08,
	RDMAP_CODE_CANNOT_INVALIDATE = 0x09,
	RDMAP_CODE_UNSPECIFIED = 0xff,
};

#endif
