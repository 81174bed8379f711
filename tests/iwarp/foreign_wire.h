/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file foreign_wire.h
 * MPA, DDP and RDMAP on the wire, from the figures of RFC 5044, 5041, 5040 and 7306 alone. Nothing
 * of src/mpa, src/ddp and src/rdmap is used.
 */
#ifndef TESTS_IWARP_FOREIGN_WIRE_H
#define TESTS_IWARP_FOREIGN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum foreign_opcode {
	FOREIGN_WRITE,
	FOREIGN_READ_REQUEST,
	FOREIGN_READ_RESPONSE,
	FOREIGN_SEND,
	FOREIGN_SEND_INV,
	FOREIGN_SEND_SE,
	FOREIGN_SEND_SE_INV,
	FOREIGN_TERMINATE,
	FOREIGN_IMMEDIATE,
	FOREIGN_IMMEDIATE_SE,
	FOREIGN_ATOMIC_REQUEST,
	FOREIGN_ATOMIC_RESPONSE,
};

#define FOREIGN_READ_LEN            28
#define FOREIGN_IMMEDIATE_LEN       8
#define FOREIGN_ATOMIC_LEN          52
#define FOREIGN_ATOMIC_RESPONSE_LEN 12
#define FOREIGN_ULPDU_MAX           65535
/** The longest FPDU, and its markers. */
#define FOREIGN_FPDU_MAX (FOREIGN_ULPDU_MAX + 1024)

/** A DDP segment and what RDMAP has in its header. */
struct foreign_segment {
	bool tagged, last;
	uint8_t reserved;       /**< of DDP: four bits */
	uint8_t rdmap_reserved; /**< two bits */
	uint8_t ddp_version, rdmap_version, opcode;
	uint32_t stag, ulp32, qn, msn, mo;
	uint64_t to;
	const uint8_t *payload;
	uint32_t len;
};

uint32_t foreign_get32(const uint8_t *p);
uint64_t foreign_get64(const uint8_t *p);
void foreign_put32(uint8_t *p, uint32_t v);
void foreign_put64(uint8_t *p, uint64_t v);

/** @return the length of the ULPDU. */
size_t foreign_put_segment(uint8_t *ulpdu, const struct foreign_segment *s);
/** @return false: it is shorter than its header. */
bool foreign_get_segment(const uint8_t *ulpdu, size_t len, struct foreign_segment *s);

/** One direction in full operation. */
struct foreign_fpdus {
	bool crc, markers;
	uint64_t at; /**< octets since full operation began */
};

enum foreign_flaw { FOREIGN_NO_FLAW, FOREIGN_CRC_FLAW, FOREIGN_MARKER_FLAW };

/** @param unused what a CRC field has that is not in use. @return its length. */
size_t foreign_put_fpdu(struct foreign_fpdus *f, uint8_t *out, const uint8_t *ulpdu, size_t len,
	enum foreign_flaw flaw, uint32_t unused);

/** Will an FPDU with this ULPDU have a marker? */
bool foreign_has_marker(const struct foreign_fpdus *f, size_t len);

/**
 * @return octets of the FPDU that @p text begins with; 0: it is not whole. @p wrong: what is wrong
 * with it, or untouched.
 */
size_t foreign_get_fpdu(struct foreign_fpdus *f, const uint8_t *text, size_t len, uint8_t *ulpdu,
	size_t *ulpdu_len, const char **wrong);

#endif
