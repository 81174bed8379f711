/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/conn.h"

#include "base/container_of.h"
#include "rnic/ep_priv.h"
#include "rnic/pairing.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Deadlines that begin anew because we stood still. */
#define CONN_STOPS_MAX 3
/** Deadlines of a close at which only the peer has got on: ten minutes of 5 s. */
#define CLOSE_ALONE_MAX 120
/** Octets of ours that are some: hardly any full segment has fewer (MPA_MULPDU_MIN). */
#define CLOSE_OURS_MIN 100

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
	c->doorbell.serve = conn_serve;
	LIST_INSERT_HEAD(&r->conns, c, link);
	return c;
}

void conn_destroy(struct conn *c)
{
	conn_map_end(c);
	timer_stop(&c->rnic->engine->wheel, &c->timer);
	engine_doorbell_cancel(c->rnic->engine, &c->doorbell);
	LIST_REMOVE(c, link);
	peer_set_remove(&c->rnic->startups, &c->startup);
	mpa_abort(&c->mpa);
	free(c->start_text);
	free(c->irq);
	free(c->private_data);
	free(c);
}

int conn_keep_private(struct conn *c, const void *data, uint16_t len)
{
	uint8_t *copy = NULL;

	if (len) {
		copy = malloc(len);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, data, len);
	}
	free(c->private_data);
	c->private_data = copy;
	c->private_len = len;
	return 0;
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
	free(c->irq);
	c->ird = ird;
	/* One at least: an RTR Read may come however few the user wants (RFC 6581 section 9.1). */
	c->irq = calloc(ird ? conn_irq_size(ird) : 1u, sizeof *c->irq);
	return c->irq ? 0 : -ENOMEM;
}

/**
 * An orderly close has not ended: does it get on? It does while our requests complete, while
 * payload moves, of ours or of the peer's, and while less and less waits to be acknowledged. Octets
 * that are no whole FPDU yet, empty messages, and the answers to empty Reads get nobody on: a peer
 * may send them for ever. What gets on the peer alone has its time: it may be an octet now and
 * then. So it may where the peer answers our Read or acknowledges what we sent.
 */
static bool conn_close_progress(struct conn *c)
{
	const struct rnic_qp *qp = c->qp;
	struct llp *llp = mpa_llp(&c->mpa);
	size_t unacked = llp ? llp_unacked(llp) : 0;
	uint64_t transferred = qp->rdmap.transferred, own = qp->rdmap.transferred_own;
	uint32_t tail = atomic_load(&qp->sq.tail);
	/* What the peer has us send, and acknowledges now and then, goes up and down. */
	size_t acked = unacked < c->close_least ? c->close_least - unacked : 0;
	bool ours = own - c->close_own >= CLOSE_OURS_MIN || tail != c->close_tail ||
		    acked >= CLOSE_OURS_MIN;
	bool any = ours || transferred != c->close_transferred || unacked < c->close_unacked;

	c->close_alone = ours ? 0 : c->close_alone + (c->close_alone < CLOSE_ALONE_MAX);
	c->close_transferred = transferred;
	c->close_own = own;
	c->close_unacked = unacked;
	if (ours || acked != 0)
		c->close_least = unacked;
	c->close_tail = tail;
	return any && c->close_alone < CLOSE_ALONE_MAX;
}

void conn_begin_close(struct conn *c)
{
	c->close_least = SIZE_MAX;
	(void)conn_close_progress(c); /* from here on */
	c->close_alone = 0;
	conn_set_deadline(c, c->rnic->close_timeout);
}

void conn_over(struct conn *c, const struct conn_end *end)
{
	struct rnic_ep *ep = c->ep;
	struct rnic_qp *qp = c->qp;

	conn_map_end(c);
	conn_stop_deadline(c);
	c->phase = CONN_OVER;
	c->ep = NULL;
	if (qp) {
		qp->conn = NULL;
		recv_wait_end(qp);
	}
	if (qp && mpa_llp(&c->mpa) && mpa_has_user(&c->mpa, &qp->rdmap)) {
		qp->lingering = c;
		conn_begin_close(c);
	} else {
		c->qp = NULL;
		engine_defer(c->rnic->engine, &c->doorbell);
	}
	if (c->pending) {
		conn_leave_pending(c);
	} else if (ep) {
		ep->conn = NULL;
		ep_on_over(ep, end);
	}
}

void conn_linger_end(struct conn *c)
{
	/* What is in the LLP's hands is the LLP's to get through, however long that takes. */
	if (rdmap_terminate_waits(&c->qp->rdmap))
		rdmap_abort(&c->qp->rdmap);
	else
		rdmap_release(&c->qp->rdmap);
	c->qp->lingering = NULL;
	c->qp = NULL;
	engine_defer(c->rnic->engine, &c->doorbell);
}

void conn_abort(struct conn *c, int status)
{
	mpa_abort(&c->mpa);
	conn_over(c, &(struct conn_end){.status = status});
}

void conn_abandon(struct conn *c)
{
	mpa_abort(&c->mpa);
	conn_over(c, &(struct conn_end){.status = -ECONNABORTED, .own = true});
}

int conn_reject(struct conn *c, const void *private_data, uint16_t len)
{
	int rc = mpa_reject(&c->mpa, private_data, len);

	if (!rc)
		conn_over(c, &(struct conn_end){.status = 0});
	return rc;
}

void conn_refuse(struct conn *c)
{
	if (conn_reject(c, NULL, 0))
		conn_abort(c, -ECONNABORTED);
}

/** Served when nobody is inside MPA: what is over may be freed now. */
static void conn_serve(struct engine_doorbell *d)
{
	struct conn *c = container_of(d, struct conn, doorbell);

	if (c->phase == CONN_OVER && !c->qp)
		conn_destroy(c);
}

/* ---- deadlines --------------------------------------------------------------------------- */

bool conn_wait_again(struct conn *c)
{
	if (c->stops >= CONN_STOPS_MAX)
		return false;
	c->stops++;
	c->start_deadline = c->rnic->engine->now + c->rnic->start_timeout;
	conn_set_deadline(c, c->rnic->start_timeout);
	return true;
}

/** Responder: the peer's RTR frame has not come. A pairing goes on waiting to be connected. */
static void conn_no_rtr(struct conn *c)
{
	static const struct rdmap_end lost = {.kind = RDMAP_END_LOST, .error = -ETIMEDOUT};
	struct rnic_qp *qp = c->qp;

	if (!qp->pairing || !pairing_outlives(qp->pairing, &lost)) {
		qp_abort(qp, lost.error);
		return;
	}
	rdmap_abort(&qp->rdmap);
	qp_note_end(qp, &lost);
	conn_over(c, &(struct conn_end){.status = lost.error});
}

static void conn_stream_deadline(struct conn *c, bool stood_still)
{
	if (!c->qp->closing) {
		if (!stood_still || !conn_wait_again(c))
			conn_no_rtr(c);
		return;
	}
	conn_set_deadline(c, c->rnic->close_timeout);
	/* The peer's FIN may have come, and only a message be waited for. */
	if (!conn_close_progress(c) && !stood_still && !recv_wait_give_up(c->qp))
		qp_abort(c->qp, -ETIMEDOUT);
}

static void conn_deadline(struct timer *t, uint64_t now)
{
	struct conn *c = container_of(t, struct conn, timer);
	bool stood_still = timer_stood_still(t, now) != 0;

	switch (c->phase) {
	case CONN_START:
		conn_start_deadline(c, stood_still);
		break;
	case CONN_STREAM:
		conn_stream_deadline(c, stood_still);
		break;
	case CONN_OVER:
		if ((rdmap_terminate_waits(&c->qp->rdmap) && conn_close_progress(c)) || stood_still)
			conn_set_deadline(c, c->rnic->close_timeout);
		else
			conn_linger_end(c);
		break;
	}
}
