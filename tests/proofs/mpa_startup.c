/* SPDX-License-Identifier: BSD-2-Clause */
/* Start-up frames (RFC 5044 section 7.1, RFC 6581 section 9): made, and read out of any bytes. */
#include "mpa/legacy.h"
#include "mpa/startup.h"
#include "proofs/prove.h"

/** Private data that are compared. */
#define DATA_MOST 5

/* Any bytes as a frame: nothing beyond them is read; what is private lies within. */
void proof_startup_any_bytes(void)
{
	enum mpa_frame frame = nondet_bool() ? MPA_FRAME_REQUEST : MPA_FRAME_REPLY;
	size_t len = nondet_size(), need = 0;
	const char *reason = NULL;
	struct mpa_start st;
	uint8_t *bytes;
	int rc;

	assume(len <= MPA_FRAME_MAX + 1);
	bytes = nondet_bytes(len);
	rc = mpa_startup_parse(frame, bytes, len, &st, &need, &reason);
	assert(need >= MPA_HEADER_LEN && need <= MPA_FRAME_MAX);
	if (rc == 0)
		assert(need > len);
	if (rc < 0)
		assert(reason);
	if (rc <= 0)
		return;
	assert((size_t)rc == need && need <= len && st.revision <= 2);
	assert(st.private_data >= bytes + MPA_HEADER_LEN);
	assert(st.private_data + st.private_len == bytes + need);
	assert(st.rtr == 0 || st.peer_to_peer);
	assert(st.ird <= MPA_DEPTH_MASK && st.ord <= MPA_DEPTH_MASK);
}

/* Any frame that we send: the peer reads what we meant. */
void proof_startup_round_trip(void)
{
	enum mpa_frame frame = nondet_bool() ? MPA_FRAME_REQUEST : MPA_FRAME_REPLY;
	uint8_t out[MPA_FRAME_MAX], data[DATA_MOST];
	struct mpa_start in = {.revision = nondet_u8(),
		.crc = nondet_bool(),
		.markers = nondet_bool(),
		.reject = nondet_bool(),
		.enhanced = nondet_bool(),
		.peer_to_peer = nondet_bool(),
		.rtr = nondet_u8(),
		.ird = nondet_u16(),
		.ord = nondet_u16(),
		.private_data = data,
		.private_len = nondet_u16()};
	struct mpa_start st;
	const char *reason;
	size_t need;
	int len;

	assume(in.revision <= 2 && in.enhanced <= (in.revision == 2));
	assume(in.rtr < 8 && (!in.peer_to_peer || in.enhanced) && (in.rtr == 0 || in.peer_to_peer));
	assume(!in.reject || frame == MPA_FRAME_REPLY);
	assume(in.private_len <= DATA_MOST);
	len = mpa_startup_build(frame, &in, out);
	assert(len == MPA_HEADER_LEN + (in.enhanced ? MPA_ENHANCED_LEN : 0) + in.private_len);
	assert(mpa_startup_parse(frame, out, (size_t)len, &st, &need, &reason) == len);
	assert(st.revision == in.revision && st.crc == in.crc && st.markers == in.markers);
	assert(st.reject == in.reject && st.enhanced == in.enhanced);
	assert(st.peer_to_peer == in.peer_to_peer && st.rtr == in.rtr);
	if (in.enhanced) {
		assert(st.ird == (in.ird < MPA_DEPTH_MASK ? in.ird : MPA_DEPTH_MASK));
		assert(st.ord == (in.ord < MPA_DEPTH_MASK ? in.ord : MPA_DEPTH_MASK));
	}
	assert(st.private_len == in.private_len);
	for (unsigned i = 0; i < st.private_len; i++)
		assert(st.private_data[i] == data[i]);
}

/* Read, then written again: the same header, but for what is not ours to repeat. */
void proof_startup_canonical(void)
{
	enum mpa_frame frame = nondet_bool() ? MPA_FRAME_REQUEST : MPA_FRAME_REPLY;
	uint8_t in[MPA_HEADER_LEN + MPA_ENHANCED_LEN], out[MPA_FRAME_MAX], mask;
	struct mpa_start st;
	const char *reason;
	size_t need;
	int len = mpa_startup_parse(frame, in, sizeof in, &st, &need, &reason);

	assume(len > 0);
	assert(mpa_startup_build(frame, &st, out) == len);
	mask = MPA_FLAG_MARKERS | MPA_FLAG_CRC;
	if (frame == MPA_FRAME_REPLY)
		mask |= MPA_FLAG_REJECT;
	if (st.revision == 2)
		mask |= MPA_FLAG_ENHANCED;
	/* Reserved bits are dropped, but for one word of them each way. */
	if (st.send_imm)
		mask |= MPA_FLAGS_RESERVED;
	assert(out[MPA_AT_FLAGS] == (in[MPA_AT_FLAGS] & mask));
	assert(out[MPA_AT_REVISION] == in[MPA_AT_REVISION]);
	assert(load_be16(out + MPA_AT_PD_LENGTH) == load_be16(in + MPA_AT_PD_LENGTH));
	/* B, C and D are not looked at without A. */
	if (st.enhanced && st.peer_to_peer)
		assert(memcmp(out + MPA_HEADER_LEN, in + MPA_HEADER_LEN, MPA_ENHANCED_LEN) == 0);
}

/* Any private data: depths of before RFC 6581 are within what the words can say. */
void proof_legacy_depths(void)
{
	size_t len = nondet_size();
	uint16_t ird = 0, ord = 0;
	uint8_t *data;

	assume(len <= 9);
	data = nondet_bytes(len);
	if (mpa_legacy_depths(data, len, &ird, &ord))
		assert(len == 8 && ird > 0 && ird < MPA_DEPTH_UNKNOWN && ord > 0 &&
			ord < MPA_DEPTH_UNKNOWN);
	else
		assert(ird == 0 && ord == 0);
}
