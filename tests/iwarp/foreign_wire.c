/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_wire.h"

#include <string.h>

#define MARKER_EVERY 512

uint32_t foreign_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint64_t foreign_get64(const uint8_t *p)
{
	return (uint64_t)foreign_get32(p) << 32 | foreign_get32(p + 4);
}

void foreign_put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

void foreign_put64(uint8_t *p, uint64_t v)
{
	foreign_put32(p, (uint32_t)(v >> 32));
	foreign_put32(p + 4, (uint32_t)v);
}

/* ---- DDP: RFC 5041 section 4, RFC 5040 section 4.1 --------------------------------------------
 */

size_t foreign_put_segment(uint8_t *ulpdu, const struct foreign_segment *s)
{
	size_t header = s->tagged ? 14 : 18;

	ulpdu[0] = (uint8_t)(s->tagged << 7 | s->last << 6 | (s->reserved & 15) << 2 |
			     (s->ddp_version & 3));
	ulpdu[1] = (uint8_t)((s->rdmap_version & 3) << 6 | (s->rdmap_reserved & 3) << 4 |
			     (s->opcode & 15));
	if (s->tagged) {
		foreign_put32(ulpdu + 2, s->stag);
		foreign_put64(ulpdu + 6, s->to);
	} else {
		foreign_put32(ulpdu + 2, s->ulp32);
		foreign_put32(ulpdu + 6, s->qn);
		foreign_put32(ulpdu + 10, s->msn);
		foreign_put32(ulpdu + 14, s->mo);
	}
	if (s->len)
		memcpy(ulpdu + header, s->payload, s->len);
	return header + s->len;
}

bool foreign_get_segment(const uint8_t *ulpdu, size_t len, struct foreign_segment *s)
{
	size_t header = len && ulpdu[0] & 0x80 ? 14 : 18;

	if (len < header)
		return false;
	*s = (struct foreign_segment){
		.tagged = ulpdu[0] >> 7,
		.last = ulpdu[0] >> 6 & 1,
		.reserved = ulpdu[0] >> 2 & 15,
		.ddp_version = ulpdu[0] & 3,
		.rdmap_version = ulpdu[1] >> 6,
		.rdmap_reserved = ulpdu[1] >> 4 & 3,
		.opcode = ulpdu[1] & 15,
		.payload = ulpdu + header,
		.len = (uint32_t)(len - header),
	};
	if (s->tagged) {
		s->stag = foreign_get32(ulpdu + 2);
		s->to = foreign_get64(ulpdu + 6);
	} else {
		s->ulp32 = foreign_get32(ulpdu + 2);
		s->qn = foreign_get32(ulpdu + 6);
		s->msn = foreign_get32(ulpdu + 10);
		s->mo = foreign_get32(ulpdu + 14);
	}
	return true;
}

/* ---- MPA: RFC 5044 section 4 ------------------------------------------------------------------
 */

/** CRC32c, four bits at a time (RFC 3385's polynomial, reflected). */
static uint32_t crc_of(const uint8_t *p, size_t len)
{
	static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
		0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6,
		0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
	uint32_t crc = UINT32_MAX;

	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

/** An FPDU that is being made. */
struct making {
	uint64_t begin;  /**< where it begins in the stream, with a marker or not */
	uint64_t header; /**< where its length field is */
	uint8_t *out;
	size_t n;
	bool begun;
};

/** A marker, if one is due here; it points back to the length field, or says 0 before it. */
static void put_marker(struct making *m, const struct foreign_fpdus *f)
{
	uint64_t at = m->begin + m->n;

	if (!f->markers || at % MARKER_EVERY)
		return;
	foreign_put32(m->out + m->n, m->begun ? (uint32_t)(at - m->header) & 0xffff : 0);
	m->n += 4;
}

static void put_octet(struct making *m, const struct foreign_fpdus *f, uint8_t octet)
{
	put_marker(m, f);
	if (!m->begun) {
		m->begun = true;
		m->header = m->begin + m->n;
	}
	m->out[m->n++] = octet;
}

static size_t padded(size_t len)
{
	return (2 + len + 3) & ~(size_t)3;
}

bool foreign_has_marker(const struct foreign_fpdus *f, size_t len)
{
	return f->markers && -f->at % MARKER_EVERY <= padded(len);
}

static void spoil_marker(const struct making *m, const struct foreign_fpdus *f)
{
	size_t at = (size_t)(-f->at % MARKER_EVERY);

	m->out[at + 2] ^= 0x40; /* FPDUPTR; its two lowest bits do not count */
}

size_t foreign_put_fpdu(struct foreign_fpdus *f, uint8_t *out, const uint8_t *ulpdu, size_t len,
	enum foreign_flaw flaw, uint32_t unused)
{
	struct making m = {.begin = f->at, .out = out};
	uint32_t crc;

	put_octet(&m, f, (uint8_t)(len >> 8));
	put_octet(&m, f, (uint8_t)len);
	for (size_t i = 0; i < len; i++)
		put_octet(&m, f, ulpdu[i]);
	for (size_t i = 2 + len; i < padded(len); i++)
		put_octet(&m, f, 0);
	put_marker(&m, f);
	if (flaw == FOREIGN_MARKER_FLAW)
		spoil_marker(&m, f);
	crc = f->crc ? crc_of(out, m.n) : unused;
	if (flaw == FOREIGN_CRC_FLAW)
		crc ^= 1u << (unused & 31);
	for (unsigned i = 0; i < 4; i++)
		out[m.n++] = (uint8_t)(crc >> 8 * i);
	f->at += m.n;
	return m.n;
}

/** An FPDU that is being taken apart. */
struct taking {
	const uint8_t *text;
	size_t n, len;
	uint64_t begin, header;
	bool begun, bad_marker;
};

static void take_marker(struct taking *t, const struct foreign_fpdus *f)
{
	uint64_t at = t->begin + t->n;

	if (!f->markers || at % MARKER_EVERY || t->len - t->n < 4)
		return;
	if (foreign_get32(t->text + t->n) != (t->begun ? (uint32_t)(at - t->header) & 0xffff : 0))
		t->bad_marker = true;
	t->n += 4;
}

/** @return -1: it is not here. */
static int take_octet(struct taking *t, const struct foreign_fpdus *f)
{
	take_marker(t, f);
	if (t->n == t->len || (f->markers && (t->begin + t->n) % MARKER_EVERY == 0))
		return -1;
	if (!t->begun) {
		t->begun = true;
		t->header = t->begin + t->n;
	}
	return t->text[t->n++];
}

size_t foreign_get_fpdu(struct foreign_fpdus *f, const uint8_t *text, size_t len, uint8_t *ulpdu,
	size_t *ulpdu_len, const char **wrong)
{
	struct taking t = {.text = text, .len = len, .begin = f->at};
	int high = take_octet(&t, f), low = high < 0 ? -1 : take_octet(&t, f), octet;
	const uint8_t *p;
	uint32_t crc = 0;

	if (low < 0)
		return 0;
	*ulpdu_len = (size_t)(high << 8 | low);
	for (size_t i = 0; i < padded(*ulpdu_len) - 2; i++) {
		octet = take_octet(&t, f);
		if (octet < 0)
			return 0;
		if (i < *ulpdu_len)
			ulpdu[i] = (uint8_t)octet;
		else if (octet)
			*wrong = "the host's pad is not zero";
	}
	take_marker(&t, f);
	if (t.len - t.n < 4)
		return 0;
	p = text + t.n;
	for (unsigned i = 0; i < 4; i++)
		crc |= (uint32_t)p[i] << 8 * i;
	if (f->crc && crc != crc_of(text, t.n))
		*wrong = "the host's CRC is wrong";
	if (t.bad_marker)
		*wrong = "the host's marker is wrong";
	f->at += t.n + 4;
	return t.n + 4;
}
