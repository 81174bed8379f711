/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/placement.h"

#include "base/bytes.h"
#include "mpa/fpdu.h"

/*
 * A note has for each FPDU: the length of its ULPDU, the number of bytes that follow, a flag for
 * payload that could not be placed, and those bytes. They are the headers, which the user needs
 * again.
 */
#define AT_ULPDU_LEN 0
#define AT_KEPT      2
#define AT_BYTES     3
#define KEPT_MAX     0x7f
#define KEPT_FAILED  0x80
/** FPDUs of a segment that have room in a note, at most. */
#define FPDUS_MAX (LLP_NOTE_MAX / (AT_BYTES + 1))

static bool mpa_placement_may_take(const struct mpa *m)
{
	return m->state == MPA_OPERATIONAL && m->told_operational && !m->rx_off && !m->rx_paused &&
	       !m->config.in_order && m->ops->placement;
}

/*
 * Does an FPDU begin with this part of the stream? Section 6: a marker proves it. Without markers
 * we go by what the stream was like up to here, and then only with CRCs.
 */
static bool mpa_placement_begins_here(
	const struct mpa *m, uint64_t at, const struct mpa_cursor *c, size_t len)
{
	uint64_t start;

	if (m->rx.markers)
		return mpa_deframe_find(&m->rx, at, c, len, &start) && start == at;
	return m->rx.crc && m->rx_aligned == MPA_ALIGNED_ENOUGH;
}

/** @return how many FPDUs the part is, from its first to its last byte; 0: it is something else. */
static unsigned mpa_placement_frame(
	const struct mpa *m, uint64_t at, struct mpa_cursor c, size_t len, struct mpa_ulpdu *u)
{
	struct mpa_deframe there = m->rx;
	struct mpa_fpdu f;
	unsigned n = 0;

	there.at = at;
	while (len != 0) {
		if (n == FPDUS_MAX || mpa_deframe_look(&there, &c, len, &f) != MPA_DEFRAME_GOOD)
			return 0;
		u[n++] = f.ulpdu;
		mpa_deframe_pass(&there, &c, &f);
		len -= f.len;
	}
	return n;
}

static bool mpa_placement_note_down(struct llp_note *note, const struct mpa_ulpdu *u, uint32_t kept)
{
	uint8_t *p = note->bytes + note->len;
	struct mpa_cursor c = u->at;

	if (kept == 0 || kept > KEPT_MAX || kept + AT_BYTES > (uint32_t)LLP_NOTE_MAX - note->len)
		return false;
	store_be16(p + AT_ULPDU_LEN, (uint16_t)u->len);
	p[AT_KEPT] = (uint8_t)kept;
	mpa_cursor_copy(&c, p + AT_BYTES, kept);
	note->len = (uint16_t)(note->len + AT_BYTES + kept);
	return true;
}

/*
 * All of the segment is taken, and nothing may refuse it any more: to place a part and then keep
 * the text would place that part again. What follows a failure is never delivered.
 */
static void mpa_placement_place(struct mpa *m, const struct mpa_ulpdu *u, struct llp_note *note)
{
	bool good = true;

	for (uint8_t *p = note->bytes; p != note->bytes + note->len; u++) {
		uint8_t kept = p[AT_KEPT];

		good = good && m->ops->place(m->user, u);
		if (!good)
			p[AT_KEPT] |= KEPT_FAILED;
		p += AT_BYTES + kept;
	}
}

bool mpa_placement_input(struct mpa *m, const struct llp_iov *v, unsigned n, size_t total,
	uint64_t ahead, struct llp_note *note)
{
	const struct mpa_cursor c = {.v = v, .n = n};
	struct mpa_ulpdu u[FPDUS_MAX];
	unsigned fpdus;

	/* What is unread begins where the next FPDU does. */
	if (!mpa_placement_may_take(m) ||
		!mpa_placement_begins_here(m, m->rx.at + ahead, &c, total))
		return false;
	fpdus = mpa_placement_frame(m, m->rx.at + ahead, c, total, u);
	note->len = 0;
	for (unsigned i = 0; i < fpdus; i++) {
		if (!mpa_placement_note_down(note, &u[i], m->ops->placement(m->user, &u[i])))
			return false;
	}
	mpa_placement_place(m, u, note);
	return fpdus != 0;
}

/* Bytes of the stream that an FPDU takes which begins at m->rx.at. */
static uint32_t mpa_placement_fpdu_len(const struct mpa *m, uint32_t ulpdu_len)
{
	uint32_t plain = mpa_fpdu_len(ulpdu_len);

	return plain + (m->rx.markers ? mpa_marker_bytes(m->rx.at, plain) : 0);
}

void mpa_placement_taken(struct mpa *m, const struct llp_note *note)
{
	const bool *gone = m->gone;
	const uint8_t *p = note->bytes, *end = p + note->len;

	if (m->rx_off || m->state == MPA_CLOSED)
		return;
	/*
	 * An FPDU lies across what was taken, so that did not begin with one: its bytes are gone,
	 * and somebody's payload was taken for headers.
	 */
	if (m->rx_partial) {
		mpa_fpdu_fail(m, MPA_ERROR_CATASTROPHIC,
			"payload that looked like an FPDU was placed out of order");
		return;
	}
	while (p != end) {
		const struct llp_iov v = {.base = p + AT_BYTES, .len = p[AT_KEPT] & KEPT_MAX};
		const struct mpa_ulpdu u = {
			.at = {.v = &v, .n = 1}, .len = load_be16(p + AT_ULPDU_LEN)};

		m->ops->placed(m->user, &u, !(p[AT_KEPT] & KEPT_FAILED));
		if (*gone || m->rx_off)
			return;
		m->rx.at += mpa_placement_fpdu_len(m, u.len);
		p += AT_BYTES + v.len;
	}
	if (m->ops->rx_done)
		m->ops->rx_done(m->user);
}
