/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/startup.h"

#include "base/bytes.h"

#include <errno.h>

static const char *const mpa_startup_keys[] = {
	[MPA_FRAME_REQUEST] = MPA_REQUEST_KEY,
	[MPA_FRAME_REPLY] = MPA_REPLY_KEY,
};

static const uint8_t mpa_startup_send_imm[] = {
	[MPA_FRAME_REQUEST] = MPA_FLAGS_SEND_IMM_OFFER,
	[MPA_FRAME_REPLY] = MPA_FLAGS_SEND_IMM_AGREE,
};

static void mpa_startup_parse_enhanced(struct mpa_start *st, const uint8_t *p)
{
	uint16_t ird = load_be16(p + MPA_AT_IRD), ord = load_be16(p + MPA_AT_ORD);

	st->ird = ird & MPA_DEPTH_MASK;
	st->ord = ord & MPA_DEPTH_MASK;
	st->peer_to_peer = ird & MPA_IRD_PEER_TO_PEER;
	/* RFC 6581 section 9.2: without A the others MUST be ignored. */
	if (!st->peer_to_peer)
		return;
	st->rtr = (ird & MPA_IRD_RTR_SEND ? MPA_RTR_SEND : 0) |
		  (ord & MPA_ORD_RTR_WRITE ? MPA_RTR_WRITE : 0) |
		  (ord & MPA_ORD_RTR_READ ? MPA_RTR_READ : 0);
}

int mpa_startup_parse(enum mpa_frame frame, const uint8_t *bytes, size_t len, struct mpa_start *st,
	size_t *need, const char **reason)
{
	size_t key = len < MPA_KEY_LEN ? len : MPA_KEY_LEN;
	uint16_t pd_length;
	uint8_t flags;

	*need = MPA_HEADER_LEN;
	/* One that speaks another protocol may say less than a header, and wait for an answer. */
	if (key && memcmp(bytes, mpa_startup_keys[frame], key) != 0) {
		/* RFC 5044 section 7.1.2 rule 8 names this case. */
		bool same_role = memcmp(bytes, mpa_startup_keys[!frame], key) == 0;

		*reason = same_role ? "the peer has started MPA in our own role" : "not an MPA key";
		return -EPROTO;
	}
	if (len < MPA_HEADER_LEN)
		return 0;
	flags = bytes[MPA_AT_FLAGS];
	pd_length = load_be16(bytes + MPA_AT_PD_LENGTH);
	*st = (struct mpa_start){
		.revision = bytes[MPA_AT_REVISION],
		.crc = flags & MPA_FLAG_CRC,
		.markers = flags & MPA_FLAG_MARKERS,
		/* R is not checked in a request (RFC 5044 section 7.1.1). */
		.reject = frame == MPA_FRAME_REPLY && flags & MPA_FLAG_REJECT,
		.ird = MPA_DEPTH_UNKNOWN,
		.ord = MPA_DEPTH_UNKNOWN,
	};
	if (st->revision > 2) {
		*reason = "an MPA revision above 2";
		return -EPROTO;
	}
	if (pd_length > MPA_PRIVATE_MAX) {
		*reason = "more than 512 bytes of private data";
		return -EPROTO;
	}
	/* S is a reserved bit, not checked, below revision 2 (RFC 6581 section 6). */
	st->enhanced = st->revision == 2 && flags & MPA_FLAG_ENHANCED;
	st->send_imm = st->enhanced && (flags & MPA_FLAGS_RESERVED) == mpa_startup_send_imm[frame];
	if (st->enhanced && pd_length < MPA_ENHANCED_LEN) {
		*reason = "the S bit without room for IRD and ORD";
		return -EPROTO;
	}
	*need = MPA_HEADER_LEN + pd_length;
	if (len < *need)
		return 0;
	st->private_data = bytes + MPA_AT_PRIVATE_DATA;
	st->private_len = pd_length;
	if (st->enhanced) {
		mpa_startup_parse_enhanced(st, st->private_data);
		st->private_data += MPA_ENHANCED_LEN;
		st->private_len = (uint16_t)(pd_length - MPA_ENHANCED_LEN);
	}
	return MPA_HEADER_LEN + pd_length;
}

static void mpa_startup_build_enhanced(const struct mpa_start *st, uint8_t *p)
{
	uint16_t ird = st->ird < MPA_DEPTH_MASK ? st->ird : MPA_DEPTH_MASK;
	uint16_t ord = st->ord < MPA_DEPTH_MASK ? st->ord : MPA_DEPTH_MASK;

	/* RFC 6581 section 9.2: with A = 0, B, C and D MUST be 0. */
	if (st->peer_to_peer) {
		ird |= MPA_IRD_PEER_TO_PEER | (st->rtr & MPA_RTR_SEND ? MPA_IRD_RTR_SEND : 0);
		ord |= (st->rtr & MPA_RTR_WRITE ? MPA_ORD_RTR_WRITE : 0) |
		       (st->rtr & MPA_RTR_READ ? MPA_ORD_RTR_READ : 0);
	}
	store_be16(p + MPA_AT_IRD, ird);
	store_be16(p + MPA_AT_ORD, ord);
}

int mpa_startup_build(enum mpa_frame frame, const struct mpa_start *st, uint8_t *out)
{
	size_t words = st->enhanced ? MPA_ENHANCED_LEN : 0;
	uint8_t *data = out + MPA_AT_PRIVATE_DATA;

	if (st->private_len > MPA_PRIVATE_MAX - words)
		return -EINVAL;
	memcpy(out, mpa_startup_keys[frame], MPA_KEY_LEN);
	out[MPA_AT_FLAGS] = (st->markers ? MPA_FLAG_MARKERS : 0) | (st->crc ? MPA_FLAG_CRC : 0) |
			    (st->reject ? MPA_FLAG_REJECT : 0) |
			    (st->enhanced ? MPA_FLAG_ENHANCED : 0) |
			    (st->enhanced && st->send_imm ? mpa_startup_send_imm[frame] : 0);
	out[MPA_AT_REVISION] = st->revision;
	store_be16(out + MPA_AT_PD_LENGTH, (uint16_t)(words + st->private_len));
	if (st->enhanced)
		mpa_startup_build_enhanced(st, data);
	if (st->private_len != 0)
		memcpy(data + words, st->private_data, st->private_len);
	return (int)(MPA_HEADER_LEN + words + st->private_len);
}
