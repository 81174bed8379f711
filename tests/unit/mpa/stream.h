/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stream.h
 * A stream of FPDUs made octet by octet, straight from the text of RFC 5044 sections 4.1 to 4.4: a
 * marker goes in whenever the octet count says so.
 */
#ifndef TESTS_UNIT_MPA_STREAM_H
#define TESTS_UNIT_MPA_STREAM_H

#include "base/bytes.h"
#include "mpa/crc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream {
	bool markers;
	uint8_t bytes[1 << 18];
	uint32_t len;
	uint32_t header; /* of the FPDU being made; ~0: not there yet */
	uint32_t begin;
};

static inline void stream_octet(struct stream *s, uint8_t octet)
{
	if (s->markers && s->len % 512 == 0) {
		store_be16(s->bytes + s->len, 0);
		store_be16(s->bytes + s->len + 2,
			s->header == UINT32_MAX ? 0 : (uint16_t)(s->len - s->header));
		s->len += 4;
	}
	if (s->header == UINT32_MAX)
		s->header = s->len;
	s->bytes[s->len++] = octet;
}

/** Append an FPDU of @p len octets, the i-th of which is pattern(i). @return where it begins. */
static inline uint32_t stream_fpdu(struct stream *s, uint32_t len, uint8_t (*pattern)(uint32_t i))
{
	uint32_t crc, pad = (0 - (2 + len)) & 3;

	s->begin = s->len;
	s->header = UINT32_MAX;
	stream_octet(s, (uint8_t)(len >> 8));
	stream_octet(s, (uint8_t)len);
	for (uint32_t i = 0; i < len; i++)
		stream_octet(s, pattern(i));
	while (pad-- != 0)
		stream_octet(s, 0);
	/* A marker right behind the pad comes before the CRC and is in it. */
	stream_octet(s, 0);
	s->len--;
	crc = mpa_crc_end(mpa_crc_add(MPA_CRC_START, s->bytes + s->begin, s->len - s->begin));
	store_le32(s->bytes + s->len, crc);
	s->len += 4;
	return s->begin;
}

#endif
