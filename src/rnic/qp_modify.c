/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of a QP as its program moves it: rnic_qp_modify(). */
#include "rnic/mw.h"
#include "rnic/pairing.h"
#include "rnic/qp.h"
#include "rnic/ud.h"

#include <errno.h>

/**
 * The transitions of verbs for a reliable connection, and two more. RESET to ERROR is allowed, as
 * by other RNICs. SQD is allowed in any phase of a connection of the CM: librdmacm's disconnect
 * begins with it, and fails if it fails.
 */
static bool qp_modify_transition_ok(const struct rnic_qp *qp, enum rnic_qp_state to)
{
	enum rnic_qp_state from = qp_state(qp);

	switch (to) {
	case RNIC_QP_RESET:
	case RNIC_QP_ERROR:
		return true;
	case RNIC_QP_INIT:
		return from == RNIC_QP_RESET || from == RNIC_QP_INIT;
	case RNIC_QP_RTR:
		return from == RNIC_QP_INIT;
	case RNIC_QP_RTS:
		return from == RNIC_QP_RTR || from == RNIC_QP_RTS ||
		       (from == RNIC_QP_SQD && !qp->closing);
	case RNIC_QP_SQD:
		return from == RNIC_QP_RTS || from == RNIC_QP_SQD || from == RNIC_QP_ERROR ||
		       (qp->conn && !qp->pairing);
	default:
		return false;
	}
}

/** What the program has granted was for the peers of before. */
static void qp_modify_clear_attributes(struct rnic_qp *qp)
{
	qp->access = 0;
	qp->ird = qp->ord = 0;
	if (qp->ud)
		qp->ud->qkey = 0;
}

static void qp_modify_reset(struct rnic_qp *qp)
{
	qp->leaving = true;
	pairing_end(qp);
	qp_drop_connection(qp);
	/* First, as each completion that is polled counts. */
	cq_purge(qp->send_cq, qp);
	if (qp->recv_cq != qp->send_cq)
		cq_purge(qp->recv_cq, qp);
	atomic_store(&qp->state, RNIC_QP_RESET);
	/*
	 * Without the queue's lock: a thread may have it for as long as its program likes, between
	 * ibv_wr_start() and ibv_wr_complete(), and wait for the engine, or for this thread. What
	 * it builds goes when it is complete: rnic_sq_end() sees that this was counted.
	 */
	qp_clear_sends(qp);
	atomic_fetch_add(&qp->resets, 1);
	atomic_store(&qp->send_imm, qp->ud != NULL);
	if (!qp->srq)
		recv_queue_clear(&qp->rq);
	/* A window of type 2 was of the stream that has ended, not of the next. */
	mw_unbind_all(qp);
	qp->cq_failed = qp->in_error = qp->closing = qp->drain_notify = false;
	qp_modify_clear_attributes(qp);
	rdmap_init(&qp->rdmap, &qp->sq, &qp_stream_ops, qp);
	qp->leaving = false;
}

void qp_drained(struct rnic_qp *qp)
{
	if (qp->drain_notify)
		rnic_raise(qp->rnic, RNIC_EVENT_SQ_DRAINED, qp->context);
	qp->drain_notify = false;
}

static void qp_modify_drain(struct rnic_qp *qp)
{
	atomic_store(&qp->state, RNIC_QP_SQD);
	if (rdmap_sq_suspend(&qp->rdmap))
		qp_drained(qp);
}

void qp_modify_fail(struct rnic_qp *qp)
{
	qp->failing = true;
	pairing_end(qp);
	if (!qp->in_error)
		qp_fail(qp);
	qp->failing = false;
}

static void qp_modify_go(struct rnic_qp *qp, enum rnic_qp_state to)
{
	switch (to) {
	case RNIC_QP_RESET:
		qp_modify_reset(qp);
		break;
	case RNIC_QP_ERROR:
		qp_modify_fail(qp);
		break;
	case RNIC_QP_SQD:
		if (qp_state(qp) == RNIC_QP_RTS)
			qp_modify_drain(qp);
		break;
	case RNIC_QP_RTS:
		/* Whoever drains again says again whether to be told. */
		qp->drain_notify = false;
		atomic_store(&qp->state, RNIC_QP_RTS);
		rdmap_sq_resume(&qp->rdmap);
		if (qp->ud)
			engine_defer(qp->rnic->engine, &qp->doorbell);
		break;
	default:
		atomic_store(&qp->state, to);
	}
}

static int qp_modify_begin_pairing(
	struct rnic_qp *qp, unsigned mask, const struct rnic_qp_attr *attr)
{
	uint16_t before = qp->ird;
	int rc;

	if (!(mask & RNIC_QP_STATE) || attr->state != RNIC_QP_RTR || qp->conn || qp->pairing ||
		qp->ud)
		return -EINVAL;
	if (mask & RNIC_QP_IRD)
		qp->ird = attr->ird;
	rc = pairing_begin(qp, &attr->path);
	if (rc)
		qp->ird = before;
	return rc;
}

int rnic_qp_modify(struct rnic_qp *qp, unsigned mask, const struct rnic_qp_attr *attr)
{
	const struct rnic_limits *l = &qp->rnic->limits;
	struct engine *e = qp->rnic->engine;
	int rc = 0;

	if ((mask & RNIC_QP_IRD && attr->ird > l->max_ird) ||
		(mask & RNIC_QP_ORD && attr->ord > l->max_ord))
		return -EINVAL;
	engine_lock(e);
	if (qp->leaving)
		rc = -EINVAL;
	else if (mask & RNIC_QP_STATE && !qp_modify_transition_ok(qp, attr->state))
		rc = -EINVAL;
	else if (mask & RNIC_QP_PATH)
		rc = qp_modify_begin_pairing(qp, mask, attr);
	if (!rc) {
		if (mask & RNIC_QP_ACCESS)
			qp->access = attr->access;
		/* Once connected the depths are those negotiated with the peer. */
		if (mask & RNIC_QP_IRD && !qp_has_stream(qp))
			qp->ird = attr->ird;
		if (mask & RNIC_QP_ORD && !qp_has_stream(qp))
			qp->ord = attr->ord;
		if (mask & RNIC_QP_QKEY && qp->ud)
			qp->ud->qkey = attr->qkey;
		if (mask & RNIC_QP_DRAIN_NOTIFY)
			qp->drain_notify = attr->drain_notify;
		if (mask & RNIC_QP_STATE)
			qp_modify_go(qp, attr->state);
		if (qp->pairing)
			pairing_modify(qp->pairing, mask, attr);
	}
	engine_unlock(e);
	return rc;
}
