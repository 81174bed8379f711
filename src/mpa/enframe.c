/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/enframe.h"

static void mpa_enframe_put_marker(uint8_t *p, uint32_t fpduptr)
{
	store_be16(p, 0); /* RESERVED (RFC 5044 section 4.2) */
	store_be16(p + MPA_AT_FPDUPTR, (uint16_t)fpduptr);
}

/**
 * Part @p len octets from the length field on, which lies at @p at in the stream, and put the
 * markers between (section 4.3), from the last to the first. @p p has room behind for them.
 */
static void mpa_enframe_spread(uint64_t at, uint8_t *p, uint32_t len)
{
	uint32_t first = mpa_marker_distance(at);
	uint32_t n = mpa_marker_bytes(at, len) / MPA_MARKER_LEN;

	for (uint32_t end = len; n != 0; n--) {
		uint32_t from = first + (n - 1) * MPA_MARKER_GAP;
		uint32_t marker = first + (n - 1) * MPA_MARKER_PERIOD;

		memmove(p + marker + MPA_MARKER_LEN, p + from, end - from);
		mpa_enframe_put_marker(p + marker, marker);
		end = from;
	}
}

bool mpa_enframe_gather_digested(struct mpa_enframe *e, uint8_t *to, const void *from, uint32_t len)
{
	enum digest_what what = mpa_enframe_what(e);

	digest_add(&e->digest, what, e->digested, (size_t)(to - e->digested));
	e->digested = to + len;
	return digest_copy_from(&e->digest, what, to, from, len);
}

/** Take in what is left up to the CRC field at @p field, and write that. @return the sum of all. */
static uint32_t mpa_enframe_close(struct mpa_enframe *e, uint8_t *field)
{
	bool sums = e->sums;
	uint32_t crc = 0;

	if (mpa_enframe_what(e) != 0)
		digest_add(&e->digest, mpa_enframe_what(e), e->digested,
			(size_t)(field - e->digested));
	e->digested = NULL;
	e->sums = false;
	/* Unused, it may hold any value (RFC 5044 section 4.1): zeros, as in shorter ones. */
	if (e->crc)
		crc = mpa_crc_end(e->digest.crc);
	store_le32(field, crc);
	/* An FPDU is aligned to four octets, and so is its CRC: two words of the sum. */
	return sums ? digest_fold(e->digest.sum + crc) : LLP_SUM_UNKNOWN;
}

uint32_t mpa_enframe_finish_digested(struct mpa_enframe *e, uint8_t *room, uint32_t body)
{
	e->at += body + MPA_CRC_LEN;
	return mpa_enframe_close(e, room + body);
}

uint32_t mpa_enframe_finish_marked(struct mpa_enframe *e, uint8_t *room, uint32_t len)
{
	uint32_t body = mpa_fpdu_body(len), total = mpa_enframe_len(e, len);
	uint32_t lead = mpa_enframe_lead(e) - MPA_FPDU_HEADER_LEN;
	uint8_t *p = room + lead;

	store_be16(p, (uint16_t)len);
	for (uint32_t i = MPA_FPDU_HEADER_LEN + len; i < body; i++)
		p[i] = 0;
	if (lead != 0)
		mpa_enframe_put_marker(room, 0);
	mpa_enframe_spread(e->at + lead, p, body + MPA_CRC_LEN);
	e->digested = room;
	e->digest = (struct digest){.crc = MPA_CRC_START};
	e->at += total;
	return mpa_enframe_close(e, room + total - MPA_CRC_LEN);
}

uint32_t mpa_enframe_mulpdu(const struct mpa_enframe *e, uint32_t emss)
{
	uint32_t overhead = MPA_FPDU_HEADER_LEN + MPA_CRC_LEN + emss % 4;

	if (e->markers)
		overhead += (emss + MPA_MARKER_PERIOD - 1) / MPA_MARKER_PERIOD * MPA_MARKER_LEN;
	if (emss < MPA_MULPDU_MIN + overhead)
		return MPA_MULPDU_MIN;
	return emss - overhead < MPA_MULPDU_MAX ? emss - overhead : MPA_MULPDU_MAX;
}
