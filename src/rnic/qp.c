/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/qp.h"

#include "base/container_of.h"
#include "rdmap/rdmap_wire.h"
#include "rnic/conn.h"
#include "rnic/mw.h"
#include "rnic/pairing_service.h"

#include <errno.h>
#include <stdlib.h>

/* ---- create and destroy ------------------------------------------------------------------ */

static int qp_init_verify(const struct rnic *r, const struct rnic_qp_init *init)
{
	const struct rnic_limits *l = &r->limits;

	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (init->max_send_wr > l->max_qp_wr || init->max_send_sge > l->max_sge ||
		init->max_inline > l->max_inline)
		return -EINVAL;
	if (!init->srq && (init->max_recv_wr > l->max_qp_wr || init->max_recv_sge > l->max_sge))
		return -EINVAL;
	return 0;
}

static int qp_sq_init(struct rdmap_sq *sq, const struct rnic_qp_init *init)
{
	size_t head = sizeof(struct rdmap_wqe);
	size_t data = init->max_send_sge * sizeof(struct rdmap_sge);

	if (data < init->max_inline)
		data = init->max_inline;
	sq->size = rnic_round_up(init->max_send_wr);
	/* Whole cache lines: elements of two posters never share one. */
	sq->stride = (uint32_t)((head + data + 63) & ~(size_t)63);
	sq->ring = aligned_alloc(64, (size_t)sq->size * sq->stride);
	return sq->ring ? 0 : -ENOMEM;
}

static int qp_queues_init(struct rnic_qp *qp, const struct rnic_qp_init *init)
{
	int rc = qp_sq_init(&qp->sq, init);

	if (rc)
		return rc;
	if (!init->srq)
		return recv_queue_init(&qp->rq, init->max_recv_wr, init->max_recv_sge);
	qp->srq_rqe = calloc(1, srq_element_size(init->srq));
	return qp->srq_rqe ? 0 : -ENOMEM;
}

static void qp_release(struct rnic_qp *qp)
{
	pthread_spin_destroy(&qp->sq_lock);
	recv_queue_fini(&qp->rq);
	free(qp->sq.ring);
	free(qp->srq_rqe);
	free(qp->ud);
	free(qp);
}

static void qp_capacities(const struct rnic_qp *qp, struct rnic_qp_init *init)
{
	const struct rnic_limits *l = &qp->rnic->limits;
	uint32_t data = qp->sq.stride - (uint32_t)sizeof(struct rdmap_wqe);
	uint32_t sge = data / (uint32_t)sizeof(struct rdmap_sge);

	init->max_send_wr = qp->sq.size;
	init->max_send_sge = sge < l->max_sge ? sge : l->max_sge;
	init->max_inline = data < l->max_inline ? data : l->max_inline;
	init->max_recv_wr = qp->srq ? 0 : qp->rq.size;
	init->max_recv_sge = qp->srq ? 0 : qp->rq.max_sge;
}

static void qp_serve(struct engine_doorbell *d);
static bool qp_stop(struct rnic_qp *qp);

/** Its index in the table. */
static uint32_t qp_id(uint32_t qp_num)
{
	return qp_num & ((1u << RNIC_QP_SPACE_SHIFT) - 1);
}

/** Are all its queues there to stay? */
static bool qp_has_queues(const struct rnic_qp *qp)
{
	return !qp->send_cq->retired && !qp->recv_cq->retired && !(qp->srq && qp->srq->retired);
}

/** It uses memory of its PD, and receives into that of its SRQ's. @param n 1 or -1. */
static void qp_count(struct rnic_qp *qp, int n)
{
	qp->pd->users += (uint32_t)n;
	qp->pd->qps += (uint32_t)n;
	if (!qp->srq)
		return;
	qp->srq->users += (uint32_t)n;
	if (qp->srq->pd != qp->pd)
		qp->srq->pd->qps += (uint32_t)n;
}

/** Make it known. Engine's lock held. */
static int qp_enroll(struct rnic_qp *qp)
{
	struct rnic *r = qp->rnic;
	int rc = qp_has_queues(qp) ? 0 : -EINVAL;

	if (!rc && qp->ud)
		rc = ud_service_open(r);
	if (!rc)
		rc = id_table_add(&r->qps, qp, &qp->num);
	if (rc)
		return rc;
	pairing_service_settle(r);
	qp->num += r->qp_space << RNIC_QP_SPACE_SHIFT;
	qp_count(qp, 1);
	LIST_INSERT_HEAD(&qp->send_cq->senders, qp, send_cq_link);
	LIST_INSERT_HEAD(&qp->recv_cq->receivers, qp, recv_cq_link);
	return 0;
}

int rnic_qp_create(struct rnic_pd *pd, struct rnic_qp_init *init, struct rnic_qp **out)
{
	struct rnic *r = pd->rnic;
	struct rnic_qp *qp;
	int rc = qp_init_verify(r, init);

	if (rc)
		return rc;
	qp = calloc(1, sizeof *qp);
	if (!qp)
		return -ENOMEM;
	qp->rnic = r;
	qp->pd = pd;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->srq = init->srq;
	qp->context = init->context;
	qp->sig_all = init->sq_sig_all;
	qp->doorbell.serve = qp_serve;
	recv_wait_init(qp);
	pthread_spin_init(&qp->sq_lock, PTHREAD_PROCESS_PRIVATE);
	atomic_init(&qp->state, RNIC_QP_RESET);
	rc = qp_queues_init(qp, init);
	if (!rc && init->ud)
		rc = ud_init(qp);
	if (!rc && init->ud)
		qp->ud->block_self = init->block_self_multicast;
	if (!rc) {
		rdmap_init(&qp->rdmap, &qp->sq, &qp_stream_ops, qp);
		engine_lock(r->engine);
		rc = qp_enroll(qp);
		engine_unlock(r->engine);
	}
	if (rc) {
		qp_release(qp);
		return rc;
	}
	qp_capacities(qp, init);
	*out = qp;
	return 0;
}

void rnic_qp_query(struct rnic_qp *qp, struct rnic_qp_attr *attr, struct rnic_qp_init *init)
{
	struct engine *e = qp->rnic->engine;

	engine_lock(e);
	*attr = (struct rnic_qp_attr){.state = qp_state(qp),
		.draining = qp->rdmap.draining,
		.access = qp->access,
		.ird = qp->ird,
		.ord = qp->ord};
	*init = (struct rnic_qp_init){.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.context = qp->context,
		.sq_sig_all = qp->sig_all,
		.ud = qp->ud != NULL,
		.block_self_multicast = qp->ud && qp->ud->block_self};
	qp_capacities(qp, init);
	engine_unlock(e);
}

void qp_drop_connection(struct rnic_qp *qp)
{
	struct conn *c = qp->conn;
	bool in_order = qp->closing || rdmap_sq_is_sent(&qp->rdmap);

	if (qp_has_stream(qp)) {
		const struct rdmap_end end = {.kind = in_order ? RDMAP_END_CLOSED : RDMAP_END_LOST,
			.error = in_order ? 0 : -ECONNABORTED};

		if (in_order)
			rdmap_release(&qp->rdmap);
		else
			rdmap_abort(&qp->rdmap);
		qp_note_end(qp, &end);
		qp_stop(qp);
		conn_over(c, &(struct conn_end){.status = end.error});
	} else {
		if (c)
			conn_abandon(c);
		/* Its peer has ended in the middle of a message, and this QP not with it: an SRQ
		 * has room again for what had begun to arrive. */
		if (qp->rdmap.rqe)
			qp_stop(qp);
	}
	if (qp->lingering)
		conn_linger_end(qp->lingering);
}

void rnic_qp_retire(struct rnic_qp *qp)
{
	struct rnic *r = qp->rnic;

	engine_lock(r->engine);
	qp->leaving = true;
	pairing_end(qp);
	mcast_detach_all(qp);
	ud_end(qp);
	qp_drop_connection(qp);
	cq_purge(qp->send_cq, qp);
	if (qp->recv_cq != qp->send_cq)
		cq_purge(qp->recv_cq, qp);
	id_table_remove(&qp->rnic->qps, qp_id(qp->num));
	qp_count(qp, -1);
	mw_unbind_all(qp);
	/* It takes no posts. One that has begun is dropped: see qp_serve(). */
	atomic_store(&qp->state, RNIC_QP_RESET);
	engine_unlock(r->engine);
	if (qp->ud)
		(void)mcast_commit(r, NULL, NULL);
}

void rnic_qp_free(struct rnic_qp *qp)
{
	struct engine *e = qp->rnic->engine;

	/* A post in progress ends first, which may need the engine. */
	pthread_spin_lock(&qp->sq_lock);
	pthread_spin_unlock(&qp->sq_lock);
	engine_lock(e);
	if (!qp->srq)
		recv_queue_wait_for_posts(&qp->rq);
	/* A post looks at its CQs. */
	LIST_REMOVE(qp, send_cq_link);
	LIST_REMOVE(qp, recv_cq_link);
	engine_doorbell_cancel(e, &qp->doorbell);
	engine_unlock(e);
	qp_release(qp);
}

int rnic_qp_destroy(struct rnic_qp *qp)
{
	rnic_qp_retire(qp);
	rnic_qp_free(qp);
	return 0;
}

uint32_t rnic_qp_num(const struct rnic_qp *qp)
{
	return qp->num;
}

enum rnic_qp_state rnic_qp_get_state(const struct rnic_qp *qp)
{
	return qp_state(qp);
}

struct rnic_qp *rnic_qp_find(struct rnic *r, uint32_t qp_num)
{
	return qp_num >> RNIC_QP_SPACE_SHIFT == r->qp_space ? id_table_get(&r->qps, qp_id(qp_num))
							    : NULL;
}

/* ---- flushing ---------------------------------------------------------------------------- */

void qp_complete(struct rnic_qp *qp, const struct rdmap_wc *wc)
{
	bool recv = wc->op >= RDMAP_WC_RECV;

	if (!qp->leaving)
		cq_push(recv ? qp->recv_cq : qp->send_cq, wc, qp);
	else if (recv && qp->srq)
		/* It lives on for other QPs. The room of the QP's own queues goes with them. */
		recv_queue_release_shared(&qp->srq->rq);
}

static void qp_flush_one(struct rnic_qp *qp, const struct rdmap_rqe *e)
{
	qp_complete(qp,
		&(struct rdmap_wc){
			.wr_id = e->wr_id, .status = RDMAP_WC_WR_FLUSH_ERR, .op = RDMAP_WC_RECV});
}

/** Complete everything that is posted, flushed. Again and again: later posts are flushed too. */
static void qp_flush(struct rnic_qp *qp)
{
	const struct rdmap_rqe *e;

	rdmap_flush_sq(&qp->rdmap); /* and the receive under way */
	if (qp->srq) {
		/* What is still in the SRQ belongs to the other QPs. */
		return;
	}
	while ((e = recv_queue_first(&qp->rq)) != NULL) {
		/* It stays as it is until its completion is polled. */
		recv_queue_pop(&qp->rq);
		qp_flush_one(qp, e);
	}
}

/** Everything that is posted completes, flushed. @return false: it has before. */
static bool qp_stop(struct rnic_qp *qp)
{
	if (qp->in_error)
		return false;
	qp->in_error = true;
	if (qp->pairing)
		pairing_halt(qp->pairing);
	/* Before the queues are looked at: see recv_queue_publish(). */
	atomic_store(&qp->state, RNIC_QP_ERROR);
	qp_flush(qp);
	return true;
}

void qp_enter_error(struct rnic_qp *qp)
{
	/* Of a QP that stays in the error state, and of no other that stops. */
	if (qp_stop(qp) && qp->srq && !qp->leaving)
		rnic_raise(qp->rnic, RNIC_EVENT_QP_LAST_WQE, qp->context);
}

/* ---- the connection ---------------------------------------------------------------------- */

bool qp_has_stream(const struct rnic_qp *qp)
{
	return qp->conn && qp->conn->phase == CONN_STREAM;
}

void qp_connect(struct rnic_qp *qp, struct conn *c, uint8_t rtr)
{
	c->phase = CONN_STREAM;
	qp->closing = false;
	qp->ird = c->ird;
	qp->ord = c->ord;
	/* The state of one that connects by itself is its program's to change, and so is the end of
	 * SQD: its program may have begun that during the start-up. */
	if (!qp->pairing && qp_state(qp) != RNIC_QP_SQD)
		atomic_store(&qp->state, RNIC_QP_RTS);
	atomic_store(&qp->send_imm, c->mpa.send_imm);
	atomic_store(&qp->mpa_ahead, &c->mpa);
	atomic_store(&qp->llp_ahead, mpa_llp(&c->mpa));
	rdmap_attach(&qp->rdmap, &c->mpa, conn_irq_size(c->ird), c->ord, c->irq, rtr);
	engine_defer(qp->rnic->engine, &qp->doorbell);
}

void qp_close(struct rnic_qp *qp)
{
	struct conn *c = qp->conn;

	if (!qp_has_stream(qp) || qp->closing)
		return;
	qp->closing = true;
	atomic_store(&qp->state, RNIC_QP_SQD);
	conn_begin_close(c);
	rdmap_close(&qp->rdmap);
	recv_wait_hasten(qp);
}

void qp_abort(struct rnic_qp *qp, int status)
{
	struct conn *c = qp->conn;

	rdmap_take_acked(&qp->rdmap);
	rdmap_abort(&qp->rdmap);
	qp_note_end(qp, &(struct rdmap_end){.kind = RDMAP_END_LOST, .error = status});
	qp_enter_error(qp);
	conn_over(c, &(struct conn_end){.status = status});
}

void qp_fail(struct rnic_qp *qp)
{
	if (qp_has_stream(qp))
		rdmap_terminate(&qp->rdmap, RDMAP_LAYER_RDMA, RDMAP_ETYPE_CATASTROPHIC, 0);
	else if (qp->conn)
		conn_abandon(qp->conn);
	qp_enter_error(qp);
}

void qp_cq_failed(struct rnic_qp *qp)
{
	/* Nothing of it is lost, and from RESET a program alone moves it. */
	if (qp_state(qp) == RNIC_QP_RESET)
		return;
	qp->cq_failed = true;
	/* Not now: rdmap is in the middle of a completion. */
	engine_defer(qp->rnic->engine, &qp->doorbell);
}

void qp_clear_sends(struct rnic_qp *qp)
{
	uint32_t head = atomic_load(&qp->sq.head);

	qp->sq.next = head;
	atomic_store(&qp->sq.tail, head);
	atomic_store(&qp->sq_polled, head - atomic_load(&qp->sq.silent));
}

static void qp_serve_stream(struct rnic_qp *qp)
{
	recv_wait_serve(qp);
	if (qp_has_stream(qp))
		rdmap_run(&qp->rdmap);
}

static void qp_serve(struct engine_doorbell *d)
{
	struct rnic_qp *qp = container_of(d, struct rnic_qp, doorbell);

	/* Posted just as it was reset, or retired. */
	if (qp_state(qp) <= RNIC_QP_INIT) {
		qp_clear_sends(qp);
		if (qp->leaving)
			return;
	}
	if (qp->cq_failed && !qp->in_error)
		qp_fail(qp);
	if (qp->in_error) {
		qp_flush(qp);
		return;
	}
	if (qp->ud) {
		ud_serve(qp);
		return;
	}
	if (qp_has_stream(qp))
		qp_serve_stream(qp);
	/* Also with a stream: the peer may not have said anything yet, and never will. */
	if (qp->pairing)
		pairing_serve(qp->pairing);
}
