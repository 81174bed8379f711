/* SPDX-License-Identifier: BSD-2-Clause */
/* What the RDMAP stream asks and tells its QP. All under the engine's lock. */
#include "base/probe.h"
#include "rdmap/term_code.h"
#include "rnic/conn.h"
#include "rnic/ep_priv.h"
#include "rnic/mr.h"
#include "rnic/mw.h"
#include "rnic/pairing.h"
#include "rnic/qp.h"

#include <errno.h>

static int qp_stream_stag_check(
	void *user, uint32_t stag, uint64_t to, uint32_t len, unsigned access, uint8_t **mem)
{
	const struct rnic_qp *qp = user;

	return mr_check(qp, stag, to, len, access, mem);
}

static struct llp_memory *qp_stream_stag_memory(void *user, uint32_t stag)
{
	return mr_memory(user, stag);
}

static int qp_stream_stag_invalidate(void *user, uint32_t stag, bool remote)
{
	const struct rnic_qp *qp = user;

	return mr_invalidate(qp, stag, remote);
}

static int qp_stream_local_op(void *user, struct rdmap_wqe *w)
{
	return mw_bind(user, w);
}

static const struct rdmap_rqe *qp_stream_recv_take(void *user)
{
	struct rnic_qp *qp = user;
	const struct rdmap_rqe *e = qp->srq_rqe;

	if (!qp->srq)
		e = recv_queue_first(&qp->rq);
	else if (!recv_wait_has_turn(qp) || !srq_take(qp->srq, qp->srq_rqe))
		e = NULL;
	if (e)
		recv_wait_taken(qp);
	return e;
}

static bool qp_stream_recv_wait(void *user)
{
	return recv_wait_begin(user);
}

static const struct rdmap_rqe *qp_stream_recv_peek(void *user, uint32_t n)
{
	const struct rnic_qp *qp = user;

	return qp->srq ? NULL : recv_queue_peek(&qp->rq, n);
}

static void qp_stream_recv_done(void *user)
{
	struct rnic_qp *qp = user;

	if (!qp->srq)
		recv_queue_pop(&qp->rq);
}

static void qp_stream_complete(void *user, const struct rdmap_wc *wc)
{
	qp_complete(user, wc);
}

static void qp_stream_operational(void *user)
{
	struct rnic_qp *qp = user;

	PROBE2(connected, qp->num, qp->pairing != NULL);
	if (!qp->conn)
		return;
	/* The one for the RTR frame. */
	if (!qp->closing)
		conn_stop_deadline(qp->conn);
	if (qp->conn->ep)
		ep_on_operational(qp->conn->ep);
}

static void qp_stream_peer_closed(void *user)
{
	/* RFC 5040 section 5.2: a stream has no half-open state; when the peer is through, so are
	 * we, after what was posted. */
	struct rnic_qp *qp = user;

	if (qp->pairing)
		pairing_peer_closed(qp->pairing);
	else
		qp_close(qp);
}

static void qp_stream_peer_closing(void *user)
{
	struct rnic_qp *qp = user;

	if (qp->pairing)
		pairing_peer_closing(qp->pairing);
	else
		recv_wait_hasten(qp);
}

static void qp_stream_drained(void *user)
{
	qp_drained(user);
}

static bool qp_stream_is_access_error(const struct rdmap_end *e)
{
	return (e->layer == RDMAP_LAYER_RDMA && e->etype == RDMAP_ETYPE_PROTECTION) ||
	       (e->layer == RDMAP_LAYER_DDP && e->etype == DDP_ERROR_INVALID_STAG >> 8);
}

static bool qp_stream_is_request_error(const struct rdmap_end *e)
{
	return (e->layer == RDMAP_LAYER_RDMA && e->etype == RDMAP_ETYPE_OPERATION) ||
	       (e->layer == RDMAP_LAYER_DDP && e->etype == DDP_ERROR_INVALID_QN >> 8);
}

/** A request of our program, or its memory, is at fault, and nothing that the peer has sent. */
static bool qp_stream_is_own_error(const struct rdmap_end *e)
{
	return e->kind == RDMAP_END_TERMINATE_TX && e->layer == RDMAP_LAYER_RDMA &&
	       e->etype == RDMAP_ETYPE_CATASTROPHIC;
}

/**
 * The asynchronous event for a Terminate: an error in what the peer did to us is an access or
 * request error, as verbs have it at the responder. A connection that merely went away is the CM's
 * to tell; so is "local catastrophic" from a peer: its program moved its QP to ERROR.
 */
static void qp_stream_raise_end(const struct rnic_qp *qp, const struct rdmap_end *e)
{
	enum rnic_event_type type = RNIC_EVENT_QP_FATAL;

	if (rdmap_end_is_cut_off(e))
		return;
	if (e->kind == RDMAP_END_TERMINATE_RX) {
		if (e->layer == RDMAP_LAYER_RDMA && e->etype == RDMAP_ETYPE_CATASTROPHIC)
			return;
	} else if (e->kind != RDMAP_END_TERMINATE_TX) {
		return;
	} else if (qp_stream_is_access_error(e)) {
		type = RNIC_EVENT_QP_ACCESS_ERROR;
	} else if (qp_stream_is_request_error(e)) {
		type = RNIC_EVENT_QP_REQUEST_ERROR;
	}
	rnic_raise(qp->rnic, type, qp->context);
}

/* One line of what both ends agree or disagree on; odd encodings are named, for debugging. */
static void qp_stream_log_end(const struct rnic_qp *qp, const struct rdmap_end *e)
{
	const struct rdmap_term_code *c = rdmap_term_code(e->layer, e->etype, e->code);
	bool rx = e->kind == RDMAP_END_TERMINATE_RX;

	if (!rx && e->kind != RDMAP_END_TERMINATE_TX)
		return;
	log_printf(qp->rnic->log, LOG_LEVEL_INFO,
		"rnic: QP %u: Terminate %s: %s (layer %u, type %u, code 0x%02x)%s", qp->num,
		rx ? "received" : "sent", c ? c->name : "of no known meaning", e->layer, e->etype,
		e->code, e->swapped ? ", written with its fields swapped, as Linux siw does" : "");
}

void qp_note_end(struct rnic_qp *qp, const struct rdmap_end *e)
{
	qp->last_end = *e;
	qp->has_ended = true;
	rnic_count_end(&qp->rnic->terminates, e);
	PROBE4(ended, qp->num, e->kind, e->layer << 12 | e->etype << 8 | e->code, e->error);
}

static void qp_stream_ended(void *user, const struct rdmap_end *e)
{
	struct rnic_qp *qp = user;
	struct conn_end end = {.own = qp_stream_is_own_error(e)};

	qp_stream_log_end(qp, e);
	qp_note_end(qp, e);
	if (e->kind == RDMAP_END_LOST)
		end.status = e->error;
	else if (rdmap_end_is_cut_off(e))
		end.status = -ECONNRESET;
	else if (e->kind != RDMAP_END_CLOSED)
		end.status = -EPROTO;
	if (!qp->pairing || !pairing_outlives(qp->pairing, e)) {
		if (!qp->failing)
			qp_stream_raise_end(qp, e);
		qp_enter_error(qp);
	}
	/* The Terminate is in the LLP's hands, unless that had no room: then rdmap sends it when
	 * there is, and the connection lingers for it. */
	if (!rdmap_terminate_waits(&qp->rdmap))
		rdmap_release(&qp->rdmap);
	conn_over(qp->conn, &end);
}

const struct rdmap_ops qp_stream_ops = {
	.stag_check = qp_stream_stag_check,
	.stag_memory = qp_stream_stag_memory,
	.stag_invalidate = qp_stream_stag_invalidate,
	.local_op = qp_stream_local_op,
	.recv_take = qp_stream_recv_take,
	.recv_wait = qp_stream_recv_wait,
	.recv_peek = qp_stream_recv_peek,
	.recv_done = qp_stream_recv_done,
	.complete = qp_stream_complete,
	.operational = qp_stream_operational,
	.peer_closed = qp_stream_peer_closed,
	.peer_closing = qp_stream_peer_closing,
	.drained = qp_stream_drained,
	.ended = qp_stream_ended,
};
