/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/fpdu.h"

#include "base/bytes.h"
#include "mpa/crc.h"

/** A place in an array of pieces; never at the end of a piece while bytes follow. */
struct cursor {
	const struct llp_iov *v;
	unsigned n;
	size_t off;
};

static void advance(struct cursor *c, size_t len)
{
	c->off += len;
	while (c->n != 0 && c->off >= c->v->len) {
		c->off -= c->v->len;
		c->v++;
		c->n--;
	}
}

/* Copy without moving: for the length and the CRC field, wherever the segments were cut. */
static void peek(struct cursor c, size_t skip, uint8_t *out, size_t len)
{
	advance(&c, skip);
	for (size_t i = 0; i < len; i++) {
		out[i] = c.v->base[c.off];
		advance(&c, 1);
	}
}

static uint32_t crc_of_pieces(struct cursor c, size_t len)
{
	uint32_t crc = MPA_CRC_START;

	while (len != 0) {
		size_t n = c.v->len - c.off;

		if (n > len)
			n = len;
		crc = mpa_crc_add(crc, c.v->base + c.off, n);
		advance(&c, n);
		len -= n;
	}
	return mpa_crc_end(crc);
}

static bool crc_good(const struct cursor *c, size_t body)
{
	uint8_t field[MPA_CRC_LEN];

	if (c->v->len - c->off >= body + MPA_CRC_LEN) {
		const uint8_t *p = c->v->base + c->off;

		return mpa_crc_end(mpa_crc_add(MPA_CRC_START, p, body)) == load_le32(p + body);
	}
	peek(*c, body, field, sizeof field);
	return crc_of_pieces(*c, body) == load_le32(field);
}

static uint32_t ulpdu_length(const struct cursor *c)
{
	uint8_t field[MPA_FPDU_HEADER_LEN];

	if (c->v->len - c->off >= sizeof field)
		return load_be16(c->v->base + c->off);
	peek(*c, 0, field, sizeof field);
	return load_be16(field);
}

static void hand_up(struct mpa *m, struct cursor c, uint32_t len)
{
	struct mpa_ulpdu u;

	advance(&c, MPA_FPDU_HEADER_LEN);
	u = (struct mpa_ulpdu){.v = c.v, .n = c.n, .offset = c.off, .len = len};
	m->ops->ulpdu(m->user, &u);
}

/* The first good FPDU opens a responder's sending direction (RFC 5044 section 7.1.2 rule 4). */
static void open_sending(struct mpa *m)
{
	m->state = MPA_OPERATIONAL;
	m->told_operational = true;
	if (m->ops->operational != NULL)
		m->ops->operational(m->user);
}

size_t mpa_fpdu_input(
	struct mpa *m, const struct llp_iov *v, unsigned n, size_t total, size_t used, size_t *need)
{
	const bool *gone = m->gone;
	struct cursor c = {.v = v, .n = n};
	bool any = false;

	advance(&c, used);
	while (m->ops->ulpdu != NULL && total - used >= MPA_FPDU_HEADER_LEN) {
		uint32_t len = ulpdu_length(&c);
		size_t fpdu = mpa_fpdu_len(len);

		if (total - used < fpdu) {
			*need = fpdu;
			break;
		}
		if (m->crc && !crc_good(&c, fpdu - MPA_CRC_LEN)) {
			m->rx_off = true;
			m->ops->error(m->user, MPA_ERROR_CRC, "the CRC of an FPDU does not match");
			return total;
		}
		if (!m->told_operational) {
			open_sending(m);
			if (*gone || m->rx_off)
				return total;
		}
		hand_up(m, c, len);
		if (*gone || m->rx_off)
			return total;
		any = true;
		advance(&c, fpdu);
		used += fpdu;
	}
	if (*need == 0 && total - used == 1)
		*need = MPA_FPDU_HEADER_LEN;
	m->rx_partial = used != total;
	if (any && m->ops->rx_done != NULL)
		m->ops->rx_done(m->user);
	return used;
}
