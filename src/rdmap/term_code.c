/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/term_code.h"

#include "mpa/mpa_wire.h"
#include "rdmap/rdmap_wire.h"

const struct rdmap_term_code rdmap_term_codes[] = {
	{0, 0, 0x00, "RDMA, local catastrophic error"},
	{0, 1, 0x00, "RDMA, remote protection error: invalid STag"},
	{0, 1, 0x01, "RDMA, remote protection error: base or bounds violation"},
	{0, 1, 0x02, "RDMA, remote protection error: access rights violation"},
	{0, 1, 0x03, "RDMA, remote protection error: STag not associated with the stream"},
	{0, 1, 0x04, "RDMA, remote protection error: TO wrap"},
	{0, 1, 0x09, "RDMA, remote protection error: STag cannot be invalidated"},
	{0, 1, 0xff, "RDMA, remote protection error: unspecified"},
	{0, 2, 0x05, "RDMA, remote operation error: invalid RDMAP version"},
	{0, 2, 0x06, "RDMA, remote operation error: unexpected opcode"},
	{0, 2, 0x07, "RDMA, remote operation error: catastrophic, localized to the stream"},
	{0, 2, 0x08, "RDMA, remote operation error: catastrophic, global"},
	{0, 2, 0x09, "RDMA, remote operation error: STag cannot be invalidated"},
	{0, 2, 0xff, "RDMA, remote operation error: unspecified"},
	{1, 0, 0x00, "DDP, local catastrophic error"},
	{1, 1, 0x00, "DDP, tagged buffer error: invalid STag"},
	{1, 1, 0x01, "DDP, tagged buffer error: base or bounds violation"},
	{1, 1, 0x02, "DDP, tagged buffer error: STag not associated with the stream"},
	{1, 1, 0x03, "DDP, tagged buffer error: TO wrap"},
	{1, 1, 0x04, "DDP, tagged buffer error: invalid DDP version"},
	{1, 2, 0x01, "DDP, untagged buffer error: invalid QN"},
	{1, 2, 0x02, "DDP, untagged buffer error: invalid MSN, no buffer available"},
	{1, 2, 0x03, "DDP, untagged buffer error: invalid MSN, range is not valid"},
	{1, 2, 0x04, "DDP, untagged buffer error: invalid MO"},
	{1, 2, 0x05, "DDP, untagged buffer error: message too long for the buffer"},
	{1, 2, 0x06, "DDP, untagged buffer error: invalid DDP version"},
	{2, 0, 0x01, "MPA: TCP connection closed, terminated or lost"},
	{2, 0, 0x02, "MPA: CRC error"},
	{2, 0, 0x03, "MPA: marker and ULPDU length disagree"},
	{2, 0, 0x04, "MPA: invalid request or reply frame"},
	{2, 0, 0x05, "MPA: local catastrophic error"},
	{2, 0, 0x06, "MPA: insufficient IRD resources"},
	{2, 0, 0x07, "MPA: no matching RTR option"},
};
const size_t rdmap_term_codes_count = sizeof rdmap_term_codes / sizeof rdmap_term_codes[0];

const struct rdmap_term_code *rdmap_term_code(uint8_t layer, uint8_t etype, uint8_t code)
{
	if (layer == RDMAP_LAYER_RDMA && etype == RDMAP_ETYPE_CATASTROPHIC)
		code = 0; /* Figure 9: any value in this field is acceptable */
	for (size_t i = 0; i < rdmap_term_codes_count; i++) {
		const struct rdmap_term_code *t = &rdmap_term_codes[i];

		if (t->layer == layer && t->etype == etype && t->code == code)
			return t;
	}
	return NULL;
}

/* The header bits as a little-endian machine lays out bit-fields from the lowest bit on. */
#define SWAPPED_M 0x01
#define SWAPPED_D 0x02
#define SWAPPED_R 0x04

/* True when only the exchanged reading makes sense. */
static bool rdmap_term_code_is_swapped(const uint8_t *p, bool startup)
{
	uint8_t high = p[RDMAP_AT_TERM_TYPE] >> 4, low = p[RDMAP_AT_TERM_TYPE] & 0xf;
	uint8_t code = p[RDMAP_AT_TERM_CODE], bits = p[RDMAP_AT_TERM_HDRCT];

	if (!rdmap_term_code(low, high, code))
		return false;
	if (!rdmap_term_code(high, low, code))
		return true;
	/* Bits that MUST be zero, and none where M, D and R belong. */
	if ((bits & (RDMAP_HDRCT_M | RDMAP_HDRCT_D | RDMAP_HDRCT_R)) == 0 &&
		(bits & (SWAPPED_M | SWAPPED_D | SWAPPED_R)) != 0)
		return true;
	/* Start-up is over: the version and opcode errors of RDMAP look like that. */
	return high == RDMAP_LAYER_LLP && low == RDMAP_ETYPE_MPA &&
	       code >= MPA_ERROR_CATASTROPHIC && !startup;
}

struct rdmap_term rdmap_term_read(const uint8_t *p, bool startup)
{
	bool swapped = rdmap_term_code_is_swapped(p, startup);
	uint8_t type = p[RDMAP_AT_TERM_TYPE], bits = p[RDMAP_AT_TERM_HDRCT];

	return (struct rdmap_term){
		.layer = swapped ? type & 0xf : type >> 4,
		.etype = swapped ? type >> 4 : type & 0xf,
		.code = p[RDMAP_AT_TERM_CODE],
		.length_valid = bits & (swapped ? SWAPPED_M : RDMAP_HDRCT_M),
		.ddp_header = bits & (swapped ? SWAPPED_D : RDMAP_HDRCT_D),
		.rdmap_header = bits & (swapped ? SWAPPED_R : RDMAP_HDRCT_R),
		.swapped = swapped,
	};
}
