/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file enframe.h
 * Makes FPDUs for the stream (RFC 5044 section 4). It is the sending side of one direction in full
 * operation, with or without markers and CRCs. It is the counterpart of deframe.h and counts octets
 * in the same way.
 *
 * The caller reserves room for the FPDU and writes the ULPDU in one piece, behind the first
 * mpa_enframe_lead() octets. mpa_enframe_finish() does the rest in place. To insert markers it
 * moves the bytes behind them. That is a second pass over bytes in the cache.
 */
#ifndef MPA_ENFRAME_H
#define MPA_ENFRAME_H

#include "base/bytes.h"
#include "mpa/crc.h"
#include "mpa/mpa_wire.h"

#include <stdbool.h>
#include <stdint.h>

/** One direction. */
struct mpa_enframe {
	uint64_t at; /**< octet of the stream where the next FPDU begins */
	bool crc;    /**< CRCs are made */
	bool markers;
};

/** Begin right behind the start-up frame. */
static inline void mpa_enframe_init(struct mpa_enframe *e, bool crc, bool markers)
{
	*e = (struct mpa_enframe){.crc = crc, .markers = markers};
}

/** Octets of the next FPDU if its ULPDU has @p len octets. */
static inline uint32_t mpa_enframe_len(const struct mpa_enframe *e, uint32_t len)
{
	uint32_t plain = mpa_fpdu_len(len);

	return e->markers ? plain + mpa_marker_bytes(e->at, plain) : plain;
}

/** Octets of the next FPDU before its ULPDU. */
static inline uint32_t mpa_enframe_lead(const struct mpa_enframe *e)
{
	bool marked = e->markers && mpa_marker_distance(e->at) == 0;

	return MPA_FPDU_HEADER_LEN + (marked ? MPA_MARKER_LEN : 0);
}

/** mpa_enframe_finish() with markers. */
void mpa_enframe_finish_marked(struct mpa_enframe *e, uint8_t *room, uint32_t len);

/**
 * Make the FPDU: length, pad, markers, CRC.
 * @param room mpa_enframe_len(e, len) octets, with the ULPDU at mpa_enframe_lead(e).
 */
static inline void mpa_enframe_finish(struct mpa_enframe *e, uint8_t *room, uint32_t len)
{
	uint32_t body = mpa_fpdu_body(len), crc = 0;

	if (e->markers) {
		mpa_enframe_finish_marked(e, room, len);
		return;
	}
	store_be16(room, (uint16_t)len);
	for (uint32_t i = MPA_FPDU_HEADER_LEN + len; i < body; i++)
		room[i] = 0;
	/* An unused CRC field may hold any value (section 4.1). We send zeros, as siw does. */
	if (e->crc)
		crc = mpa_crc_end(mpa_crc_add(MPA_CRC_START, room, body));
	store_le32(room + body, crc);
	e->at += body + MPA_CRC_LEN;
}

/** The MULPDU for segments of @p emss octets (section 4.5). 128 to 64,768. */
uint32_t mpa_enframe_mulpdu(const struct mpa_enframe *e, uint32_t emss);

#endif
