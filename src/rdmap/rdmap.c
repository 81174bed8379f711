/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"

void rdmap_take_acked(struct rdmap *r)
{
	if (rdmap_alive(r))
		rdmap_sq_take_acked(r);
}

void rdmap_end(struct rdmap *r, const struct rdmap_end *e)
{
	rdmap_take_acked(r);
	if (r->ended)
		return;
	r->ended = true;
	r->ops->ended(r->user, e);
}

/* ---- upcalls of MPA ---------------------------------------------------------------------- */

void rdmap_open_sending(struct rdmap *r)
{
	r->operational = true;
	r->ops->operational(r->user);
	rdmap_run(r);
}

static void rdmap_on_operational(void *user, const struct mpa_ulpdu *first)
{
	/* A responder's is taken first: it may be wrong, or a Terminate (RFC 6581 section 9). */
	if (!first)
		rdmap_open_sending(user);
}

static void rdmap_on_rx_done(void *user)
{
	struct rdmap *r = user;

	if (r->wake)
		rdmap_run(r);
}

static void rdmap_on_writable(void *user)
{
	struct rdmap *r = user;

	rdmap_terminate_retry(r);
	rdmap_run(r);
}

static void rdmap_on_acked(void *user)
{
	rdmap_take_acked(user);
}

static void rdmap_on_eof(void *user)
{
	struct rdmap *r = user;

	r->eof = true;
	/* What the last packet acknowledges, or one before it, may not have been told yet. */
	rdmap_take_acked(r);
	if (!rdmap_alive(r))
		return;
	/* A Read Response that has begun is one that is waited for. */
	if (!ddp_at_boundary(&r->ddp) || r->write_open || r->rqe || r->reads_out != 0) {
		rdmap_fail_cut_off(r);
		return;
	}
	if (!r->closing)
		r->ops->peer_closed(r->user);
}

static void rdmap_on_eof_waits(void *user)
{
	const struct rdmap *r = user;

	if (rdmap_alive(r) && r->ops->peer_closing)
		r->ops->peer_closing(r->user);
}

static void rdmap_on_error(void *user, enum mpa_error code, const char *reason)
{
	struct rdmap *r = user;

	if (!rdmap_alive(r))
		return;
	rdmap_terminate(r, RDMAP_LAYER_LLP, RDMAP_ETYPE_MPA, code);
}

static void rdmap_on_closed(void *user, int error)
{
	struct rdmap *r = user;

	rdmap_take_acked(r);
	r->mpa = NULL;
	if (error != 0)
		rdmap_end(r, &(struct rdmap_end){.kind = RDMAP_END_LOST, .error = error});
	else
		rdmap_end(r, &(struct rdmap_end){.kind = RDMAP_END_CLOSED});
}

static const struct mpa_user_ops rdmap_mpa_ops = {
	.operational = rdmap_on_operational,
	.ulpdu = rdmap_on_ulpdu,
	.placement = rdmap_on_placement,
	.place = rdmap_on_place,
	.placed = rdmap_on_placed,
	.rx_done = rdmap_on_rx_done,
	.writable = rdmap_on_writable,
	.acked = rdmap_on_acked,
	.eof = rdmap_on_eof,
	.eof_waits = rdmap_on_eof_waits,
	.error = rdmap_on_error,
	.closed = rdmap_on_closed,
};

/* ---- life -------------------------------------------------------------------------------- */

void rdmap_init(struct rdmap *r, struct rdmap_sq *sq, const struct rdmap_ops *ops, void *user)
{
	*r = (struct rdmap){.sq = sq, .ops = ops, .user = user, .ended = true};
}

static void rdmap_put_on(struct rdmap *r, struct mpa *m)
{
	*r = (struct rdmap){.mpa = m,
		.ops = r->ops,
		.user = r->user,
		.sq = r->sq,
		.sq_held = r->sq_held,
		.mulpdu_least = MPA_MULPDU_MAX};
	ddp_init(&r->ddp);
	mpa_set_user(m, &rdmap_mpa_ops, r);
}

void rdmap_attach(struct rdmap *r, struct mpa *m, uint16_t ird, uint16_t ord,
	struct rdmap_irqe *irq, uint8_t rtr)
{
	rdmap_put_on(r, m);
	r->ird = ird;
	r->ord = ord;
	r->irq = irq;
	r->send_imm = m->send_imm;
	r->by_acks = m->config.tell_acked;
	r->external = mpa_takes_external(m);
	if (rdmap_heeds_acks(r))
		mpa_watch_acks(m);
	if (m->role == MPA_INITIATOR)
		r->rtr_send = rtr;
	else
		r->rtr_expect = rtr;
	if (m->state == MPA_OPERATIONAL) {
		m->told_operational = true;
		rdmap_on_operational(r, NULL);
	}
	if (rdmap_alive(r))
		mpa_rx_resume(m);
}

bool rdmap_sq_suspend(struct rdmap *r)
{
	r->sq_held = true;
	r->draining = !rdmap_sq_is_drained(r);
	return !r->draining;
}

void rdmap_sq_resume(struct rdmap *r)
{
	r->sq_held = r->draining = false;
	rdmap_run(r);
}

void rdmap_refuse(struct rdmap *r, struct mpa *m, enum mpa_error code)
{
	rdmap_put_on(r, m);
	r->operational = m->told_operational = true;
	rdmap_terminate(r, RDMAP_LAYER_LLP, RDMAP_ETYPE_MPA, code);
}

void rdmap_close(struct rdmap *r)
{
	if (!rdmap_alive(r) || r->closing)
		return;
	r->closing = true;
	r->sq_held = false; /* and who waits for the queue to drain is told still */
	if (r->operational)
		rdmap_run(r);
	else
		mpa_shutdown(r->mpa); /* what is posted can never be sent */
}

void rdmap_recv_posted(struct rdmap *r)
{
	if (rdmap_alive(r))
		mpa_rx_resume(r->mpa);
}

bool rdmap_eof_waits(const struct rdmap *r)
{
	return rdmap_alive(r) && mpa_eof_waits(r->mpa);
}

void rdmap_take_answers_only(struct rdmap *r)
{
	r->answers_only = true;
	rdmap_recv_posted(r);
}

static void rdmap_let_go(struct rdmap *r)
{
	r->mpa = NULL;
	r->ended = true;
	r->term_len = 0;
}

void rdmap_abort(struct rdmap *r)
{
	struct mpa *m = r->mpa;

	rdmap_let_go(r);
	if (m)
		mpa_abort(m);
}

void rdmap_release(struct rdmap *r)
{
	struct mpa *m = r->mpa;

	rdmap_let_go(r);
	if (m)
		mpa_release(m);
}
