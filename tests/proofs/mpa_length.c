/* SPDX-License-Identifier: BSD-2-Clause */
/* How long FPDUs are and where markers lie in them (RFC 5044 sections 4.1 to 4.3). */
#include "mpa/enframe.h"
#include "proofs/prove.h"

/* Octets of the stream from @at on, @total of them: how many markers begin there? */
static uint32_t markers_within(uint64_t at, uint32_t total)
{
	uint32_t first =
		(uint32_t)((MPA_MARKER_PERIOD - at % MPA_MARKER_PERIOD) % MPA_MARKER_PERIOD);

	return total <= first ? 0 : 1 + (total - first - 1) / MPA_MARKER_PERIOD;
}

/* Every ULPDU: a multiple of four, room for all, less than four octets of pad. */
void proof_fpdu_len(void)
{
	uint32_t len = nondet_u16(), body = mpa_fpdu_body(len), total = mpa_fpdu_len(len);

	assert(body % 4 == 0 && total == body + MPA_CRC_LEN);
	assert(body >= MPA_FPDU_HEADER_LEN + len && body - MPA_FPDU_HEADER_LEN - len < 4);
}

/* Every aligned position, every ULPDU: all markers are counted, and none ends the FPDU. */
void proof_marker_bytes(void)
{
	uint64_t at = nondet_u64();
	uint32_t len = mpa_fpdu_len(nondet_u16()), bytes, total;

	assume(at % 4 == 0);
	bytes = mpa_marker_bytes(at, len);
	total = len + bytes;
	assert(bytes % MPA_MARKER_LEN == 0);
	assert(markers_within(at, total) == bytes / MPA_MARKER_LEN);
	assert((at + total - MPA_CRC_LEN) % MPA_MARKER_PERIOD != 0);
	/* The next begins where this ends, still aligned. */
	assert((at + total) % 4 == 0);
}

/* Every position: the length field is behind a marker, never in one. */
void proof_header_at(void)
{
	uint64_t at = nondet_u64(), header;

	assume(at % 4 == 0 && at <= UINT64_MAX - MPA_MARKER_PERIOD);
	header = mpa_fpdu_header_at(at);
	assert(header % MPA_MARKER_PERIOD != 0);
	assert(header - at == (at % MPA_MARKER_PERIOD == 0 ? MPA_MARKER_LEN : 0));
	assert((at + mpa_marker_distance(at)) % MPA_MARKER_PERIOD == 0);
	assert(mpa_marker_distance(at) < MPA_MARKER_PERIOD);
}

/* Every EMSS that has room for it: the FPDU of a MULPDU fits the segment, wherever it begins. */
void proof_mulpdu_fits(void)
{
	struct mpa_enframe e = {.at = nondet_u64(), .crc = nondet_bool(), .markers = nondet_bool()};
	uint32_t emss = nondet_u32(), mulpdu;

	assume(e.at % 4 == 0);
	assume(emss <= UINT32_C(1) << 24);
	mulpdu = mpa_enframe_mulpdu(&e, emss);
	assert(mulpdu >= MPA_MULPDU_MIN && mulpdu <= MPA_MULPDU_MAX);
	if (mulpdu > MPA_MULPDU_MIN)
		assert(mpa_enframe_len(&e, mulpdu) <= emss);
}
