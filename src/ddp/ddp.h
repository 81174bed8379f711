/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ddp.h
 * DDP (RFC 5041): it parses ULPDUs into segments, makes the checks of section 7.1, and keeps the
 * state of the untagged queues.
 *
 * Segments are delivered in order. Each untagged queue expects the next MSN and MO. A segment has
 * all that placement needs, so its payload may be placed before its turn (section 5.3).
 *
 * Pure functions over a small state: no upcalls, no allocation.
 */
#ifndef DDP_DDP_H
#define DDP_DDP_H

#include "ddp/ddp_wire.h"
#include "mpa/mpa.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/** Untagged queues of a stream: RFC 5040 section 4.1 uses 0, 1 and 2; RFC 7306 uses 3. */
#define DDP_QUEUES 4

/** Error type << 8 | error code, as a Terminate has them (RFC 5041 section 7.2). */
enum ddp_error {
	DDP_OK = 0,
	DDP_ERROR_INVALID_STAG = 0x100,
	DDP_ERROR_BOUNDS = 0x101,
	DDP_ERROR_STAG_STREAM = 0x102, /**< STag not associated with this stream */
	DDP_ERROR_TO_WRAP = 0x103,
	DDP_ERROR_TAGGED_VERSION = 0x104,
	DDP_ERROR_INVALID_QN = 0x201,
	DDP_ERROR_NO_BUFFER = 0x202,
	DDP_ERROR_MSN_RANGE = 0x203,
	DDP_ERROR_INVALID_MO = 0x204,
	DDP_ERROR_TOO_LONG = 0x205,
	DDP_ERROR_UNTAGGED_VERSION = 0x206,
	/** The segment is shorter than its header. The RFC has no code for it. */
	DDP_ERROR_SHORT = -1,
};

/** A received segment: the header in host order, the payload where it lies. */
struct ddp_segment {
	const struct mpa_ulpdu *ulpdu;
	struct mpa_cursor payload;
	uint64_t to;
	uint32_t stag;
	uint32_t qn, msn, mo;
	uint32_t ulp32; /**< untagged: RsvdULP[8:39] */
	uint32_t len;   /**< of the payload */
	uint8_t header_len;
	uint8_t ulp; /**< RsvdULP, first octet */
	bool tagged, last;
	bool placed; /**< the payload was placed before its turn, and is not here any more */
	bool failed; /**< that placement failed: the memory was gone */
};

/** What the next segment of an untagged queue must say. */
struct ddp_queue {
	uint32_t msn;
	uint32_t mo;
};

/** One DDP stream. */
struct ddp {
	struct ddp_queue rx[DDP_QUEUES];
	uint32_t tx_msn[DDP_QUEUES]; /**< for the next message */
};

/** MSNs start at one (RFC 5041 section 4.3). */
void ddp_init(struct ddp *d);

/** Read the header of @p u. @return DDP_OK, one of the two versions, DDP_ERROR_SHORT. */
enum ddp_error ddp_parse(struct ddp_segment *s, const struct mpa_ulpdu *u);

/** Checks 1 and 5 of section 7.1, and the check that @p s follows the segment before it. */
enum ddp_error ddp_check_untagged(const struct ddp *d, const struct ddp_segment *s);

/**
 * Checks 3 and 4 of section 7.1: the segment fits a buffer of @p room bytes.
 * @return DDP_OK, DDP_ERROR_INVALID_MO, DDP_ERROR_TOO_LONG.
 */
static inline enum ddp_error ddp_check_room(const struct ddp_segment *s, uint32_t room)
{
	if (s->mo > room)
		return DDP_ERROR_INVALID_MO;
	return s->len > room - s->mo ? DDP_ERROR_TOO_LONG : DDP_OK;
}

/** The segment is done with: expect the next one. */
static inline void ddp_advance(struct ddp *d, const struct ddp_segment *s)
{
	struct ddp_queue *q;

	if (s->tagged)
		return; /* whose segment it is only the user knows */
	q = &d->rx[s->qn];
	if (s->last) {
		q->msn++; /* modulo 2^32 */
		q->mo = 0;
	} else {
		q->mo += s->len;
	}
}

/** True when no untagged message is partly received. */
bool ddp_at_boundary(const struct ddp *d);

/** The tagged error for a result of rdmap_ops.stag_check(). */
enum ddp_error ddp_tagged_error(int stag_check_error);

/**
 * Copy the next @p len bytes of the payload to @p to, unless they were placed before: payload is
 * placed once (docs/placement.md).
 * @return 0; -ERANGE: the program has taken away that memory though it is registered.
 */
static inline int ddp_place(struct ddp_segment *s, uint8_t *to, uint32_t len)
{
	if (s->placed)
		return s->failed ? -ERANGE : 0;
	return mpa_cursor_copy(&s->payload, to, len) ? 0 : -ERANGE;
}

/** Copy the header of a received segment, for a Terminate. @p out: DDP_HEADER_MAX bytes. */
void ddp_copy_header(const struct ddp_segment *s, uint8_t *out);

#endif
