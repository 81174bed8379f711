/* SPDX-License-Identifier: BSD-2-Clause */
#include "ud/datagram.h"

#include "base/bytes.h"

#define UD_MAGIC   UINT32_C(0x75695544)
#define UD_VERSION 1
#define UD_FLAGS   (UD_WITH_IMM | UD_SOLICITED)

#define UD_AT_VERSION 4
#define UD_AT_FLAGS   5
#define UD_AT_LEN     6
#define UD_AT_TO_QP   8
#define UD_AT_FROM_QP 12
#define UD_AT_QKEY    16
#define UD_AT_IMM     20

enum ud_fault ud_parse(const uint8_t *p, size_t len, struct ud_header *h)
{
	struct digest d = {.crc = DIGEST_CRC_START};

	if (len < UD_OVERHEAD || len > UD_DATAGRAM_MAX || load_be32(p) != UD_MAGIC ||
		p[UD_AT_VERSION] != UD_VERSION || p[UD_AT_FLAGS] & ~UD_FLAGS)
		return UD_FAULT_FORMAT;
	*h = (struct ud_header){.flags = p[UD_AT_FLAGS],
		.len = load_be16(p + UD_AT_LEN),
		.to_qp = load_be32(p + UD_AT_TO_QP),
		.from_qp = load_be32(p + UD_AT_FROM_QP),
		.qkey = load_be32(p + UD_AT_QKEY)};
	memcpy(&h->imm, p + UD_AT_IMM, sizeof h->imm);
	if (h->len != len - UD_OVERHEAD || h->to_qp > UD_QP_MASK || h->from_qp > UD_QP_MASK ||
		(h->imm != 0 && !(h->flags & UD_WITH_IMM)))
		return UD_FAULT_FORMAT;
	digest_add(&d, DIGEST_CRC, p, len - UD_CRC_LEN);
	return load_le32(p + len - UD_CRC_LEN) == ~d.crc ? UD_GOOD : UD_FAULT_CRC;
}

void ud_begin(struct ud_writer *w, uint8_t *room, const struct ud_header *h)
{
	store_be32(room, UD_MAGIC);
	room[UD_AT_VERSION] = UD_VERSION;
	room[UD_AT_FLAGS] = h->flags;
	store_be16(room + UD_AT_LEN, h->len);
	store_be32(room + UD_AT_TO_QP, h->to_qp);
	store_be32(room + UD_AT_FROM_QP, h->from_qp);
	store_be32(room + UD_AT_QKEY, h->qkey);
	memcpy(room + UD_AT_IMM, &h->imm, sizeof h->imm);
	*w = (struct ud_writer){.at = room + UD_HEADER_LEN,
		.end = room + UD_HEADER_LEN + h->len,
		.digest = {.crc = DIGEST_CRC_START}};
	digest_add(&w->digest, DIGEST_BOTH, room, UD_HEADER_LEN);
}

bool ud_gather(struct ud_writer *w, const void *from, size_t len)
{
	if (!digest_copy_from(&w->digest, DIGEST_BOTH, w->at, from, len))
		return false;
	w->at += len;
	return true;
}

uint16_t ud_finish(struct ud_writer *w)
{
	store_le32(w->end, ~w->digest.crc);
	digest_add(&w->digest, DIGEST_SUM, w->end, UD_CRC_LEN);
	return digest_fold(w->digest.sum);
}
