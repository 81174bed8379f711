/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/fpdu.h"

#include "mpa/placement.h"

/* The first good FPDU opens a responder's sending direction (RFC 5044 section 7.1.2 rule 4). */
static void mpa_fpdu_open_sending(struct mpa *m, const struct mpa_ulpdu *first)
{
	m->state = MPA_OPERATIONAL;
	m->told_operational = true;
	if (m->ops->operational)
		m->ops->operational(m->user, first);
}

/*
 * RFC 5044 section 8: nothing more is handed up after an error. Section 7.1.2 rule 4 has a
 * responder silent until a good FPDU has come, so that the initiator has time to get its receiver
 * ready. An initiator that sends FPDUs is ready, so a bad first one is answered too: RFC 5040
 * section 7.1 wants a Terminate. It is all that goes out, as operational() is not told.
 */
void mpa_fpdu_fail(struct mpa *m, enum mpa_error code, const char *reason)
{
	m->rx_off = true;
	if (m->state == MPA_WAIT_FIRST)
		m->state = MPA_OPERATIONAL;
	m->ops->error(m->user, code, reason);
}

static void mpa_fpdu_fail_rx(struct mpa *m, enum mpa_deframe_result result)
{
	if (result == MPA_DEFRAME_CRC)
		mpa_fpdu_fail(m, MPA_ERROR_CRC, "the CRC of an FPDU does not match");
	else
		mpa_fpdu_fail(
			m, MPA_ERROR_MARKER, "a marker does not point to the start of its FPDU");
}

size_t mpa_fpdu_input(
	struct mpa *m, const struct llp_iov *v, unsigned n, size_t total, size_t used, size_t *need)
{
	const bool *gone = m->gone;
	struct mpa_cursor c = {.v = v, .n = n};
	struct mpa_fpdu f;
	bool any = false;

	mpa_cursor_pass(&c, used);
	while (m->ops->ulpdu && used != total) {
		enum mpa_deframe_result result = mpa_deframe_look(&m->rx, &c, total - used, &f);

		if (result == MPA_DEFRAME_MORE) {
			*need = f.len;
			break;
		}
		if (result != MPA_DEFRAME_GOOD) {
			mpa_fpdu_fail_rx(m, result);
			return total;
		}
		if (!m->told_operational) {
			mpa_fpdu_open_sending(m, &f.ulpdu);
			if (*gone || m->rx_off)
				return total;
		}
		m->ops->ulpdu(m->user, &f.ulpdu);
		if (*gone || m->rx_off)
			return total;
		any = true;
		if (m->rx_paused)
			break;
		mpa_deframe_pass(&m->rx, &c, &f);
		used += f.len;
	}
	m->rx_partial = used != total;
	mpa_placement_learn(m, m->rx_partial);
	if (any && m->ops->rx_done)
		m->ops->rx_done(m->user);
	return used;
}
