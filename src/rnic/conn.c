/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/conn.h"

#include "base/container_of.h"
#include "rdmap/rdmap_wire.h"
#include "rnic/ep_priv.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>

/**
 * When an initiator whose SYN is refused tries again. Some programs (perftest, for one) close their
 * listener and open it again while the peer connects already.
 */
static const uint8_t retry_ms[] = {5, 20, 75};

static void conn_deadline(struct timer *t, uint64_t now);
static void conn_serve(struct engine_doorbell *d);

/* ---- life -------------------------------------------------------------------------------- */

struct conn *conn_create(struct rnic *r)
{
	struct conn *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->rnic = r;
	timer_init(&c->timer, conn_deadline);
	c->bell.serve = conn_serve;
	LIST_INSERT_HEAD(&r->conns, c, link);
	return c;
}

void conn_destroy(struct conn *c)
{
	timer_stop(&c->rnic->engine->wheel, &c->timer);
	engine_doorbell_cancel(c->rnic->engine, &c->bell);
	LIST_REMOVE(c, link);
	mpa_abort(&c->mpa);
	free(c->inbound);
	free(c);
}

void conn_set_deadline(struct conn *c, uint64_t ns)
{
	struct engine *e = c->rnic->engine;

	timer_start(&e->wheel, &c->timer, e->now + ns);
}

void conn_stop_deadline(struct conn *c)
{
	timer_stop(&c->rnic->engine->wheel, &c->timer);
}

int conn_prepare_stream(struct conn *c, uint16_t ird)
{
	free(c->inbound);
	c->ird = ird;
	/* One at least: an RTR Read may come however few the user wants (RFC 6581 section 9.1). */
	c->inbound = calloc(ird ? ird : 1u, sizeof *c->inbound);
	return c->inbound ? 0 : -ENOMEM;
}

void conn_over(struct conn *c, const struct conn_end *end)
{
	struct rnic_ep *ep = c->ep;
	struct rnic_qp *qp = c->qp;

	conn_stop_deadline(c);
	c->phase = CONN_OVER;
	c->ep = NULL;
	if (qp)
		qp->conn = NULL;
	if (qp && c->mpa.llp && c->mpa.user == &qp->rdmap) {
		qp->lingering = c;
		conn_set_deadline(c, c->rnic->close_timeout);
	} else {
		c->qp = NULL;
		engine_defer(c->rnic->engine, &c->bell);
	}
	if (c->pending) {
		c->pending = false;
		LIST_REMOVE(c, pending_link);
		ep->pending_count--;
	} else if (ep) {
		ep->conn = NULL;
		ep_on_over(ep, end);
	}
}

void conn_linger_end(struct conn *c)
{
	rdmap_abort(&c->qp->rdmap);
	c->qp->lingering = NULL;
	c->qp = NULL;
	engine_defer(c->rnic->engine, &c->bell);
}

void conn_abort(struct conn *c, int status)
{
	mpa_abort(&c->mpa);
	conn_over(c, &(struct conn_end){.status = status});
}

/** Served when nobody is inside MPA: what is over may be freed now. */
static void conn_serve(struct engine_doorbell *d)
{
	struct conn *c = container_of(d, struct conn, bell);

	if (c->phase == CONN_OVER && !c->qp)
		conn_destroy(c);
}

/* ---- an initiator's attempts ------------------------------------------------------------- */

static const struct mpa_user_ops start_ops;

static int conn_attempt(struct conn *c)
{
	struct llp *l;
	int rc = llp_connect(c->rnic->net, &c->connect, NULL, NULL, &l);

	if (rc)
		return rc;
	mpa_init_initiator(&c->mpa, l, &c->rnic->mpa, &start_ops, c);
	timer_start(&c->rnic->engine->wheel, &c->timer, c->start_deadline);
	return 0;
}

int conn_connect(struct conn *c, const struct llp_connect_params *p)
{
	c->connect = *p;
	c->start_deadline = c->rnic->engine->now + c->rnic->start_timeout;
	return conn_attempt(c);
}

static void conn_retry(struct conn *c)
{
	int rc = conn_attempt(c);

	c->retry_wait = false;
	if (rc)
		conn_over(c, &(struct conn_end){.status = rc});
	else if (c->ep)
		llp_endpoints(c->mpa.llp, &c->ep->local, &c->ep->remote);
}

/** @return false: there were enough attempts. */
static bool conn_retry_later(struct conn *c)
{
	if (c->retries == sizeof retry_ms)
		return false;
	c->retry_wait = true;
	conn_set_deadline(c, retry_ms[c->retries++] * UINT64_C(1000000));
	return true;
}

/* ---- deadlines --------------------------------------------------------------------------- */

/** An orderly close has not ended. @return true if at least it gets on. */
static bool close_progress(struct conn *c)
{
	size_t unacked = c->mpa.llp ? llp_unacked(c->mpa.llp) : 0;
	uint32_t tail = atomic_load(&c->qp->sq.tail);
	bool moved = unacked != c->close_unacked || tail != c->close_tail;

	c->close_unacked = unacked;
	c->close_tail = tail;
	return moved;
}

static void conn_deadline(struct timer *t, uint64_t now)
{
	struct conn *c = container_of(t, struct conn, timer);

	switch (c->phase) {
	case CONN_START:
		if (c->retry_wait) {
			conn_retry(c);
			break;
		}
		log_printf(c->rnic->log, LOG_LEVEL_DEBUG, "rnic: MPA start-up timed out");
		conn_abort(c, -ETIMEDOUT);
		break;
	case CONN_STREAM:
		if (qp_state(c->qp) == RNIC_QP_SQD && close_progress(c))
			conn_set_deadline(c, c->rnic->close_timeout);
		else
			qp_abort(c->qp, -ETIMEDOUT);
		break;
	case CONN_OVER:
		conn_linger_end(c);
		break;
	}
}

/* ---- start-up ---------------------------------------------------------------------------- */

static void start_connected(void *user)
{
	struct conn *c = user;
	int rc = mpa_request(&c->mpa, c->ird, c->ord, c->private_data, c->private_len);

	if (rc)
		conn_abort(c, -ECONNABORTED);
}

static void start_request(void *user, const struct mpa_start *st)
{
	struct conn *c = user;
	struct rnic_ep *ep = c->ep;

	conn_stop_deadline(c);
	c->pending = false;
	LIST_REMOVE(c, pending_link);
	ep->pending_count--;
	c->ep = NULL;
	c->peer_ird = st->ird;
	c->peer_ord = st->ord;
	c->enhanced = st->enhanced;
	c->peer_to_peer = st->enhanced && st->peer_to_peer;
	c->rtr = st->rtr;
	ep_on_request(ep, c, st);
}

/** The stream cannot be: say so with a Terminate (RFC 6581 section 9), which ends it. */
static void refuse_terms(struct conn *c, enum mpa_error code)
{
	struct rnic_qp *qp = c->qp;

	qp->failing = true;
	qp_connect(qp, c, 0);
	rdmap_terminate(&qp->rdmap, RDMAP_LAYER_LLP, RDMAP_ETYPE_MPA, code);
	qp->failing = false;
}

/** The one RTR type to use of a mask; a Write disturbs the peer least. */
static uint8_t choose_rtr(uint8_t mask)
{
	if (mask & MPA_RTR_WRITE)
		return MPA_RTR_WRITE;
	return mask & MPA_RTR_READ ? MPA_RTR_READ : mask & MPA_RTR_SEND;
}

uint8_t conn_choose_rtr(const struct conn *c)
{
	return choose_rtr(c->rtr & c->rnic->mpa.rtr);
}

/** Initiator: RFC 6581 section 9.1, last paragraphs. */
static void start_accepted(struct conn *c, const struct mpa_start *st)
{
	uint16_t ird = c->ird;
	uint8_t rtr = 0;

	/* Ours at most what the peer takes at once, and at least what it will send us. */
	if (st->ird != MPA_DEPTH_UNKNOWN && c->ord > st->ird)
		c->ord = st->ird;
	if (st->ord != MPA_DEPTH_UNKNOWN && ird < st->ord)
		ird = st->ord;
	if (st->enhanced && st->peer_to_peer)
		rtr = choose_rtr(st->rtr & c->rnic->mpa.rtr);
	if (ird > c->rnic->limits.max_ird || conn_prepare_stream(c, ird)) {
		refuse_terms(c, MPA_ERROR_INSUFFICIENT_IRD);
		return;
	}
	if (st->enhanced && st->peer_to_peer && !rtr) {
		refuse_terms(c, MPA_ERROR_NO_RTR);
		return;
	}
	conn_stop_deadline(c);
	qp_connect(c->qp, c, rtr);
	if (c->ep)
		ep_on_reply(c->ep, st, c->ird, c->ord);
}

static void start_reply(void *user, const struct mpa_start *st)
{
	struct conn *c = user;

	if (!st->reject) {
		start_accepted(c, st);
		return;
	}
	mpa_release(&c->mpa);
	conn_over(c, &(struct conn_end){.status = -ECONNREFUSED, .rejected = st});
}

static void start_eof(void *user)
{
	conn_abort(user, -ECONNRESET);
}

static void start_error(void *user, enum mpa_error code, const char *reason)
{
	struct conn *c = user;

	log_printf(c->rnic->log, LOG_LEVEL_DEBUG, "rnic: MPA start-up: %s", reason);
	/* In good order: a reply that says why may be on its way. */
	mpa_release(&c->mpa);
	conn_over(c, &(struct conn_end){.status = -EPROTO});
}

static void start_closed(void *user, int error)
{
	if (error == -ECONNREFUSED && conn_retry_later(user))
		return;
	conn_over(user, &(struct conn_end){.status = error ? error : -ECONNRESET});
}

static const struct mpa_user_ops start_ops = {
	.connected = start_connected,
	.request = start_request,
	.reply = start_reply,
	.eof = start_eof,
	.error = start_error,
	.closed = start_closed,
};

void conn_accepted(struct conn *c, struct llp *l, struct rnic_ep *ep)
{
	c->ep = ep;
	c->pending = true;
	LIST_INSERT_HEAD(&ep->pending, c, pending_link);
	ep->pending_count++;
	mpa_init_responder(&c->mpa, l, &c->rnic->mpa, &start_ops, c);
	conn_set_deadline(c, c->rnic->start_timeout);
}
