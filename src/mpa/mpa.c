/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/mpa.h"

#include "mpa/fpdu.h"
#include "mpa/placement.h"
#include "mpa/startup.h"
#include "mpa/terms.h"

#include <errno.h>

/* ---- start-up: receive ------------------------------------------------------------------- */

static void mpa_fail_start(struct mpa *m, const char *reason)
{
	m->state = MPA_CLOSED;
	m->rx_off = true;
	m->ops->error(m->user, MPA_ERROR_START, reason);
}

/* What an LLP protects needs no CRC, unless the peer wants one. */
static enum mpa_crc_use mpa_crc_use_of(const struct mpa *m)
{
	if (m->config.crc == MPA_CRC_PREFERRED && llp_protects(m->llp))
		return MPA_CRC_OFF;
	return m->config.crc;
}

/* What the frames agreed on; the octets of full operation are counted from here. */
static const char *mpa_take_terms(struct mpa *m, const struct mpa_start *peer)
{
	struct mpa_config ours = m->config;
	struct mpa_terms t;
	const char *reason;

	ours.crc = (uint8_t)mpa_crc_use_of(m);
	reason = mpa_terms_of(&ours, m->role, peer, &t);
	mpa_deframe_init(&m->rx, t.crc, t.rx_markers);
	mpa_enframe_init(&m->tx, t.crc, t.tx_markers);
	return reason;
}

/* RFC 6581 section 9: the words take from the 512 octets of RFC 5044 section 7.1.1. */
static size_t mpa_private_room(const struct mpa *m, bool enhanced)
{
	size_t max = m->config.private_max != 0 ? m->config.private_max : MPA_PRIVATE_MAX;

	return max - (enhanced ? MPA_ENHANCED_LEN : 0);
}

static int mpa_send_frame(struct mpa *m, enum mpa_frame frame, const struct mpa_start *st)
{
	uint8_t buf[MPA_FRAME_MAX];
	int len = mpa_startup_build(frame, st, buf);
	void *room;

	if (len < 0)
		return len;
	room = llp_reserve(m->llp, (uint32_t)len, false);
	if (!room)
		return -ENOMEM;
	memcpy(room, buf, (size_t)len);
	llp_commit(m->llp, (uint32_t)len);
	llp_push(m->llp);
	return 0;
}

static int mpa_send_reply(struct mpa *m, struct mpa_start *st, const void *private_data, size_t len)
{
	if (len > mpa_private_room(m, m->peer_enhanced))
		return -EINVAL;
	st->revision = m->peer_revision;
	st->enhanced = m->peer_enhanced;
	st->crc = m->tx.crc;
	st->markers = m->config.markers;
	/* RFC 6581 section 9.2: A MUST match the request's. */
	st->peer_to_peer = m->peer_p2p;
	st->send_imm = m->send_imm && !st->reject;
	st->private_data = private_data;
	st->private_len = (uint16_t)len;
	return mpa_send_frame(m, MPA_FRAME_REPLY, st);
}

static void mpa_take_request(struct mpa *m, const struct mpa_start *st, bool more)
{
	m->peer_revision = st->revision;
	m->peer_enhanced = st->enhanced;
	m->peer_p2p = st->peer_to_peer;
	m->peer_no_ird = st->ird == MPA_DEPTH_UNKNOWN;
	m->peer_no_ord = st->ord == MPA_DEPTH_UNKNOWN;
	m->send_imm = m->config.send_imm && st->send_imm;
	if (more) {
		mpa_fail_start(m, "data before the reply frame");
		return;
	}
	mpa_take_terms(m, st);
	m->state = MPA_WAIT_ACCEPT;
	m->ops->request(m->user, st);
}

static void mpa_take_reply(struct mpa *m, const struct mpa_start *st)
{
	const bool *gone = m->gone;

	m->peer_revision = st->revision;
	m->peer_enhanced = st->enhanced;
	m->peer_p2p = st->peer_to_peer;
	m->send_imm = m->config.send_imm && st->send_imm;
	/* Its S bit, too, belongs to revision 2 alone: mpa_startup_parse(). */
	if (st->revision > m->config.revision) {
		mpa_fail_start(m, "a reply in another revision than the request");
		return;
	}
	if (st->reject) {
		m->state = MPA_CLOSED;
		m->rx_off = true;
	} else {
		const char *reason = mpa_take_terms(m, st);

		m->state = MPA_OPERATIONAL;
		if (reason) {
			/* RFC 6581 section 9.3: an error that has no code of its own. */
			m->rx_off = true;
			m->ops->error(m->user, MPA_ERROR_CATASTROPHIC, reason);
			return;
		}
	}
	m->ops->reply(m->user, st);
	if (*gone || m->rx_off || m->told_operational || !m->ops->operational)
		return;
	m->told_operational = true;
	m->ops->operational(m->user, NULL);
}

/**
 * The frame is not whole. @return bytes done with. All that is known of it is in @p buf, of which
 * the last @p total bytes are new.
 */
static size_t mpa_keep_start(
	struct mpa *m, const uint8_t *buf, size_t have, size_t total, size_t *need)
{
	uint8_t *room = m->ops->keep ? m->ops->keep(m->user, have) : NULL;

	if (!room) {
		*need -= m->kept_len;
		return 0;
	}
	memcpy(room + m->kept_len, buf + m->kept_len, total);
	m->kept = room;
	m->kept_len = (uint32_t)have;
	*need = 0; /* each byte is taken as it comes, lest it waits in a packet of its own */
	return total;
}

/** The peer's start-up frame has yet to come, or to be whole. */
static bool mpa_is_starting(const struct mpa *m)
{
	return m->state == MPA_WAIT_REQUEST || m->state == MPA_WAIT_REPLY;
}

/** @return bytes done with; the frame may have ended the connection. */
static size_t mpa_input_start(
	struct mpa *m, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	uint8_t buf[MPA_FRAME_MAX];
	bool request = m->state == MPA_WAIT_REQUEST;
	struct mpa_start st;
	const char *reason;
	size_t have = m->kept_len, before = have;
	int len;

	if (have != 0)
		memcpy(buf, m->kept, have);
	for (unsigned i = 0; i < n && have < sizeof buf; i++) {
		size_t some = v[i].len < sizeof buf - have ? v[i].len : sizeof buf - have;

		memcpy(buf + have, v[i].base, some);
		have += some;
	}
	len = mpa_startup_parse(
		request ? MPA_FRAME_REQUEST : MPA_FRAME_REPLY, buf, have, &st, need, &reason);
	m->rx_partial = len == 0;
	if (len == 0)
		return mpa_keep_start(m, buf, have, total, need);
	*need = 0;
	m->kept_len = 0;
	if (len < 0) {
		mpa_fail_start(m, reason);
		return total;
	}
	if (request)
		mpa_take_request(m, &st, total > (size_t)len - before);
	else
		mpa_take_reply(m, &st);
	return (size_t)len - before;
}

/* ---- upcalls of the LLP ------------------------------------------------------------------ */

static void mpa_on_connected(void *user)
{
	struct mpa *m = user;

	if (m->role == MPA_INITIATOR && m->ops->connected)
		m->ops->connected(m->user);
}

static size_t mpa_input(
	struct mpa *m, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	const bool *gone = m->gone;
	size_t used = 0;

	if (m->rx_off || m->state == MPA_CLOSED)
		return total;
	if (m->rx_paused)
		return 0;
	if (m->state == MPA_IDLE || m->state == MPA_WAIT_ACCEPT) {
		/* An initiator's peer must wait for its request, ours for our reply. */
		mpa_fail_start(m, "data out of turn");
		return total;
	}
	if (mpa_is_starting(m)) {
		used = mpa_input_start(m, v, n, total, need);
		if (*gone || m->rx_off)
			return total;
		if (m->state != MPA_OPERATIONAL || used == total)
			return used;
	}
	return mpa_fpdu_input(m, v, n, total, used, need);
}

/*
 * The user may end the connection, and free m with it, inside an upcall. The caller of the upcall
 * then sees so in its own frame. Not inlined: the compiler would take the stored address for a
 * mistake.
 */
__attribute__((noinline)) static void mpa_watch(struct mpa *m, bool *gone)
{
	m->gone = gone;
}

static void mpa_tell_eof(struct mpa *m)
{
	m->rx_off = true;
	if (m->rx_partial)
		mpa_fpdu_fail(m, MPA_ERROR_CLOSED, "the peer closed in the middle of a frame");
	else
		m->ops->eof(m->user);
}

static size_t mpa_on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct mpa *m = user;
	bool gone = false;
	size_t used;

	mpa_watch(m, &gone);
	used = mpa_input(m, v, n, total, need);
	if (gone)
		return total;
	mpa_watch(m, NULL);
	if (m->eof == MPA_EOF_SHOWN && !m->rx_off && !m->rx_paused && m->ops->ulpdu)
		mpa_tell_eof(m);
	return used;
}

static bool mpa_on_ooo(void *user, const struct llp_iov *v, unsigned n, size_t total,
	uint64_t ahead, struct llp_note *note)
{
	return mpa_placement_input(user, v, n, total, ahead, note);
}

static void mpa_on_taken(void *user, const struct llp_note *note)
{
	struct mpa *m = user;
	bool gone = false;

	mpa_watch(m, &gone);
	mpa_placement_taken(m, note);
	if (!gone)
		mpa_watch(m, NULL);
}

static size_t mpa_on_crc_covers(const void *user, const uint8_t *text, size_t len)
{
	const struct mpa *m = user;

	if (m->state != MPA_OPERATIONAL || m->rx_off || m->rx_aligned != MPA_ALIGNED_ENOUGH)
		return 0;
	return mpa_deframe_covered(&m->rx, text, len);
}

static void mpa_on_writable(void *user)
{
	struct mpa *m = user;

	if (m->ops->writable)
		m->ops->writable(m->user);
}

static void mpa_on_acked(void *user)
{
	struct mpa *m = user;

	if (m->ops->acked)
		m->ops->acked(m->user);
}

static void mpa_tell_eof_waits(struct mpa *m)
{
	if (mpa_eof_waits(m) && m->ops->eof_waits)
		m->ops->eof_waits(m->user);
}

static void mpa_on_eof(void *user)
{
	struct mpa *m = user;

	m->eof = MPA_EOF_SHOWN;
	mpa_tell_eof_waits(m);
	/* FPDUs that wait for a user to take them come before it. */
	if (!m->rx_off && !m->rx_paused && (mpa_is_starting(m) || !m->rx_partial || m->ops->ulpdu))
		mpa_tell_eof(m);
}

/* What was shown last is not the last: of an FPDU that is there in part, the rest may be, too. */
static void mpa_on_eof_waits(void *user)
{
	struct mpa *m = user;

	m->eof = MPA_EOF_BEHIND;
	mpa_tell_eof_waits(m);
}

static void mpa_on_closed(void *user, int error)
{
	struct mpa *m = user;

	if (m->acks_watched)
		m->acked = llp_acked(m->llp);
	m->llp = NULL;
	m->state = MPA_CLOSED;
	m->ops->closed(m->user, error);
}

static const struct llp_user_ops mpa_llp_user_ops = {
	.connected = mpa_on_connected,
	.readable = mpa_on_readable,
	.ooo = mpa_on_ooo,
	.taken = mpa_on_taken,
	.crc_covers = mpa_on_crc_covers,
	.writable = mpa_on_writable,
	.acked = mpa_on_acked,
	.eof = mpa_on_eof,
	.eof_waits = mpa_on_eof_waits,
	.closed = mpa_on_closed,
};

/* ---- start-up: send ---------------------------------------------------------------------- */

static void mpa_init(struct mpa *m, struct llp *llp, const struct mpa_config *cfg,
	const struct mpa_user_ops *ops, void *user)
{
	*m = (struct mpa){.llp = llp, .ops = ops, .user = user, .config = *cfg};
	llp_set_user(llp, &mpa_llp_user_ops, m);
}

void mpa_init_initiator(struct mpa *m, struct llp *llp, const struct mpa_config *cfg,
	const struct mpa_user_ops *ops, void *user)
{
	mpa_init(m, llp, cfg, ops, user);
	m->role = MPA_INITIATOR;
	m->state = MPA_IDLE;
}

void mpa_init_responder(struct mpa *m, struct llp *llp, const struct mpa_config *cfg,
	const struct mpa_user_ops *ops, void *user)
{
	mpa_init(m, llp, cfg, ops, user);
	m->role = MPA_RESPONDER;
	m->state = MPA_WAIT_REQUEST;
}

int mpa_request(struct mpa *m, uint16_t ird, uint16_t ord, const void *private_data, size_t len)
{
	struct mpa_start st = {
		.revision = m->config.revision,
		.enhanced = m->config.revision >= 2,
		.markers = m->config.markers,
		.ird = ird,
		.ord = ord,
		.peer_to_peer = m->config.peer_to_peer,
		.rtr = m->config.rtr,
		.send_imm = m->config.send_imm,
		.private_data = private_data,
		.private_len = (uint16_t)len,
	};
	int rc;

	if (!m->llp || m->state != MPA_IDLE)
		return -ENOTCONN;
	st.crc = mpa_crc_use_of(m) != MPA_CRC_OFF;
	if (len > mpa_private_room(m, st.enhanced))
		return -EINVAL;
	rc = mpa_send_frame(m, MPA_FRAME_REQUEST, &st);
	if (rc == 0)
		m->state = MPA_WAIT_REPLY;
	return rc;
}

int mpa_begin_alone(struct mpa *m)
{
	const struct mpa_start ours = {
		.crc = m->config.crc != MPA_CRC_OFF, .markers = m->config.markers};

	if (!m->llp || m->state != MPA_IDLE)
		return -ENOTCONN;
	(void)mpa_take_terms(m, &ours); /* there is nothing that we would not agree to ourselves */
	m->send_imm = m->config.send_imm;
	m->state = MPA_OPERATIONAL;
	return 0;
}

int mpa_accept(struct mpa *m, uint16_t ird, uint16_t ord, uint8_t rtr, const void *private_data,
	size_t len)
{
	/* RFC 6581 section 9.2: at least one RTR type, even if none of the request's will do. */
	struct mpa_start st = {
		.ird = ird, .ord = ord, .rtr = rtr != 0 ? rtr : mpa_rtr_taken(&m->config)};
	int rc;

	if (!m->llp || m->state != MPA_WAIT_ACCEPT)
		return -ENOTCONN;
	rc = mpa_send_reply(m, &st, private_data, len);
	if (rc != 0)
		return rc;
	m->state = MPA_WAIT_FIRST;
	return 0;
}

int mpa_reject(struct mpa *m, const void *private_data, size_t len)
{
	/* RFC 6581 section 9.1: what is not negotiated is said so, in any reply. */
	struct mpa_start st = {.reject = true,
		.ird = m->peer_no_ord ? MPA_DEPTH_UNKNOWN : 0,
		.ord = m->peer_no_ird ? MPA_DEPTH_UNKNOWN : 0,
		.rtr = mpa_rtr_taken(&m->config)};
	int rc;

	if (!m->llp || m->state != MPA_WAIT_ACCEPT)
		return -ENOTCONN;
	rc = mpa_send_reply(m, &st, private_data, len);
	if (rc == 0)
		mpa_release(m);
	return rc;
}

/* ---- full operation: send ---------------------------------------------------------------- */

uint32_t mpa_mulpdu(const struct mpa *m)
{
	uint32_t emss = m->llp ? llp_emss(m->llp) : 0;

	if (m->config.fpdu_max != 0 && emss > m->config.fpdu_max)
		emss = m->config.fpdu_max;
	return mpa_enframe_mulpdu(&m->tx, emss);
}

uint8_t *mpa_reserve(struct mpa *m, uint32_t len, bool join)
{
	if (!mpa_may_send(m) || len > MPA_MULPDU_MAX)
		return NULL;
	m->tx_room = llp_reserve(m->llp, mpa_enframe_len(&m->tx, len), join);
	m->tx_len = len;
	if (!m->tx_room)
		return NULL;
	if (len >= MPA_ENFRAME_LONG)
		mpa_enframe_begin(&m->tx, m->tx_room, len, llp_sums(m->llp));
	else
		mpa_enframe_cancel(&m->tx);
	return m->tx_room + mpa_enframe_lead(&m->tx);
}

void mpa_commit(struct mpa *m)
{
	uint32_t total = mpa_enframe_len(&m->tx, m->tx_len);
	uint32_t sum = mpa_enframe_finish(&m->tx, m->tx_room, m->tx_len);

	llp_commit_summed(m->llp, total, sum);
}

bool mpa_commit_external(struct mpa *m, const struct llp_external *e)
{
	uint32_t total = mpa_enframe_len(&m->tx, m->tx_len);
	uint32_t head = MPA_FPDU_HEADER_LEN + m->tx_len - e->len;

	store_be16(m->tx_room, (uint16_t)m->tx_len);
	if (!llp_commit_external(m->llp, total, head, e))
		return false;
	mpa_enframe_pass(&m->tx, m->tx_len);
	return true;
}

void mpa_cancel(struct mpa *m)
{
	mpa_enframe_cancel(&m->tx);
	llp_commit(m->llp, 0);
}

void mpa_push(struct mpa *m)
{
	if (m->llp)
		llp_push(m->llp);
}

/* ---- the rest ---------------------------------------------------------------------------- */

bool mpa_rx_pause(struct mpa *m)
{
	m->rx_paused = !llp_took_ooo(m->llp);
	mpa_tell_eof_waits(m);
	return m->rx_paused;
}

void mpa_rx_resume(struct mpa *m)
{
	m->rx_paused = false;
	/* Inside readable() there is no need: it goes on, or drops, when the user returns. */
	if (m->llp && !m->gone)
		llp_resume(m->llp);
}

void mpa_drop_input(struct mpa *m)
{
	m->rx_off = true;
	mpa_rx_resume(m);
}

void mpa_shutdown(struct mpa *m)
{
	if (!m->llp || m->tx_closed)
		return;
	m->tx_closed = true;
	llp_shutdown(m->llp);
}

static struct llp *mpa_let_go(struct mpa *m)
{
	struct llp *l = m->llp;

	m->llp = NULL;
	m->state = MPA_CLOSED;
	if (m->gone)
		*m->gone = true;
	m->gone = NULL;
	return l;
}

void mpa_abort(struct mpa *m)
{
	struct llp *l = mpa_let_go(m);

	if (l)
		llp_abort(l);
}

void mpa_release(struct mpa *m)
{
	struct llp *l = mpa_let_go(m);

	if (l)
		llp_release(l);
}
