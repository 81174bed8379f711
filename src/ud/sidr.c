/* SPDX-License-Identifier: BSD-2-Clause */
#include "ud/sidr.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "ud/datagram.h"

#define SIDR_MAGIC   UINT32_C(0x75695352)
#define SIDR_VERSION 1

#define SIDR_AT_VERSION  4
#define SIDR_AT_KIND     5
#define SIDR_AT_STATUS   6
#define SIDR_AT_LENGTH   7
#define SIDR_AT_NUMBER   8
#define SIDR_AT_QP       16
#define SIDR_AT_QKEY     20
#define SIDR_AT_RESERVED 24
#define SIDR_AT_PRIVATE  28
#define SIDR_AT_CRC      208

_Static_assert(SIDR_AT_PRIVATE + SIDR_PRIVATE_MAX == SIDR_AT_CRC, "nothing between");
_Static_assert(SIDR_AT_CRC + 4 == SIDR_LEN, "nothing behind");

static uint32_t sidr_crc(const uint8_t *p)
{
	struct digest d = {.crc = DIGEST_CRC_START};

	digest_add(&d, DIGEST_CRC, p, SIDR_AT_CRC);
	return ~d.crc;
}

void sidr_put(uint8_t p[SIDR_LEN], const struct sidr_message *m)
{
	memset(p, 0, SIDR_LEN);
	store_be32(p, SIDR_MAGIC);
	p[SIDR_AT_VERSION] = SIDR_VERSION;
	p[SIDR_AT_KIND] = m->kind;
	p[SIDR_AT_STATUS] = m->status;
	p[SIDR_AT_LENGTH] = m->private_len;
	store_be64(p + SIDR_AT_NUMBER, m->number);
	store_be32(p + SIDR_AT_QP, m->qp);
	store_be32(p + SIDR_AT_QKEY, m->qkey);
	if (m->private_len != 0)
		memcpy(p + SIDR_AT_PRIVATE, m->private_data, m->private_len);
	store_le32(p + SIDR_AT_CRC, sidr_crc(p));
}

/** Only a reply that accepts names a QP. */
static bool sidr_fields_fit(const struct sidr_message *m)
{
	switch (m->kind) {
	case SIDR_REQUEST:
		return m->status == 0 && m->qp == 0 && m->qkey == 0;
	case SIDR_REPLY:
		return m->status == SIDR_ACCEPTED
			       ? m->qp <= UD_QP_MASK
			       : m->status < SIDR_STATUSES && m->qp == 0 && m->qkey == 0;
	default:
		return false;
	}
}

static bool sidr_rest_is_zero(const uint8_t *p, uint8_t private_len)
{
	if (load_be32(p + SIDR_AT_RESERVED) != 0)
		return false;
	for (unsigned i = SIDR_AT_PRIVATE + private_len; i < SIDR_AT_CRC; i++)
		if (p[i] != 0)
			return false;
	return true;
}

bool sidr_parse(const uint8_t *p, size_t len, struct sidr_message *m)
{
	if (len != SIDR_LEN || load_be32(p) != SIDR_MAGIC || p[SIDR_AT_VERSION] != SIDR_VERSION ||
		p[SIDR_AT_LENGTH] > SIDR_PRIVATE_MAX || load_le32(p + SIDR_AT_CRC) != sidr_crc(p))
		return false;
	*m = (struct sidr_message){.kind = p[SIDR_AT_KIND],
		.status = p[SIDR_AT_STATUS],
		.private_len = p[SIDR_AT_LENGTH],
		.number = load_be64(p + SIDR_AT_NUMBER),
		.qp = load_be32(p + SIDR_AT_QP),
		.qkey = load_be32(p + SIDR_AT_QKEY),
		.private_data = p + SIDR_AT_PRIVATE};
	return sidr_fields_fit(m) && sidr_rest_is_zero(p, m->private_len);
}
