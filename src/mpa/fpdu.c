/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/fpdu.h"

#include "base/bytes.h"
#include "mpa/crc.h"

/* Copy without moving: for the length and the CRC field, wherever the segments were cut. */
static void peek(struct mpa_cursor c, size_t skip, uint8_t *out, size_t len)
{
	mpa_cursor_advance(&c, skip);
	mpa_cursor_copy(&c, out, len);
}

static uint32_t crc_of_pieces(struct mpa_cursor c, size_t len)
{
	uint32_t crc = MPA_CRC_START;

	while (len != 0) {
		size_t n = mpa_cursor_run(&c);

		if (n > len)
			n = len;
		crc = mpa_crc_add(crc, mpa_cursor_at(&c), n);
		mpa_cursor_advance(&c, n);
		len -= n;
	}
	return mpa_crc_end(crc);
}

static bool crc_good(const struct mpa_cursor *c, size_t body)
{
	uint8_t field[MPA_CRC_LEN];

	if (mpa_cursor_run(c) >= body + MPA_CRC_LEN) {
		const uint8_t *p = mpa_cursor_at(c);

		return mpa_crc_end(mpa_crc_add(MPA_CRC_START, p, body)) == load_le32(p + body);
	}
	peek(*c, body, field, sizeof field);
	return crc_of_pieces(*c, body) == load_le32(field);
}

static uint32_t ulpdu_length(const struct mpa_cursor *c)
{
	uint8_t field[MPA_FPDU_HEADER_LEN];

	if (mpa_cursor_run(c) >= sizeof field)
		return load_be16(mpa_cursor_at(c));
	peek(*c, 0, field, sizeof field);
	return load_be16(field);
}

static void hand_up(struct mpa *m, struct mpa_cursor c, uint32_t len)
{
	struct mpa_ulpdu u;

	mpa_cursor_advance(&c, MPA_FPDU_HEADER_LEN);
	u = (struct mpa_ulpdu){.at = c, .len = len};
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
	struct mpa_cursor c = {.v = v, .n = n};
	bool any = false;

	mpa_cursor_advance(&c, used);
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
		mpa_cursor_advance(&c, fpdu);
		used += fpdu;
	}
	if (*need == 0 && total - used == 1)
		*need = MPA_FPDU_HEADER_LEN;
	m->rx_partial = used != total;
	if (any && m->ops->rx_done != NULL)
		m->ops->rx_done(m->user);
	return used;
}
