/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>

/* ---- memory ------------------------------------------------------------------------------ */

static int stag_check(
	void *user, uint32_t stag, uint64_t to, uint32_t len, unsigned access, uint8_t **mem)
{
	struct qp *q = user;

	for (unsigned i = 0; i < q->regions; i++) {
		struct qp_region *g = &q->region[i];

		if (g->stag != stag || g->invalid)
			continue;
		if (g->foreign)
			return -EPERM;
		if (access == RDMAP_ACCESS_READ_SINK)
			access = RDMAP_ACCESS_LOCAL_WRITE;
		if ((g->access & access) != access)
			return -EACCES;
		if (to + len < to)
			return -EOVERFLOW;
		if (to < g->to || to + len > g->to + g->len)
			return -ERANGE;
		*mem = g->mem + (to - g->to);
		return 0;
	}
	return -ENOENT;
}

static struct llp_memory *stag_memory(void *user, uint32_t stag)
{
	struct qp *q = user;

	for (unsigned i = 0; i < q->regions; i++)
		if (q->region[i].stag == stag && !q->region[i].invalid && q->region[i].lent)
			return (struct llp_memory *)(void *)&q->region[i];
	return NULL;
}

static int stag_invalidate(void *user, uint32_t stag, bool remote)
{
	struct qp *q = user;

	for (unsigned i = 0; i < q->regions; i++) {
		struct qp_region *g = &q->region[i];

		if (g->stag != stag || g->invalid)
			continue;
		if (g->foreign)
			return -EPERM;
		if (remote && !(g->access & ~(unsigned)LOCAL))
			return -EACCES;
		g->invalid = true;
		return 0;
	}
	return -ENOENT;
}

struct qp_region *qp_region_add(
	struct qp *q, uint32_t stag, uint64_t to, uint32_t len, unsigned access)
{
	struct qp_region *g = &q->region[q->regions++];

	*g = (struct qp_region){.stag = stag, .to = to, .len = len, .access = access};
	g->mem = malloc(len != 0 ? len : 1);
	for (uint32_t i = 0; i < len; i++)
		g->mem[i] = (uint8_t)(i + (i >> 8) + stag);
	return g;
}

/* ---- queues ------------------------------------------------------------------------------ */

static struct rdmap_rqe *rqe_at(struct qp *q, unsigned i)
{
	return (struct rdmap_rqe *)(void *)(q->rq + (size_t)(i % QP_RQ_SIZE) * QP_RQ_STRIDE);
}

static const struct rdmap_rqe *recv_take(void *user)
{
	struct qp *q = user;

	assert_int_equal(q->taken, 0);
	if (q->rq_tail == q->rq_head)
		return NULL;
	q->taken = 1;
	return rqe_at(q, q->rq_tail);
}

static bool recv_wait(void *user)
{
	struct qp *q = user;

	q->recv_waits += q->patient;
	return q->patient;
}

static const struct rdmap_rqe *recv_peek(void *user, uint32_t n)
{
	struct qp *q = user;

	return n < q->rq_head - q->rq_tail && !q->shared_rq ? rqe_at(q, q->rq_tail + n) : NULL;
}

static void recv_done(void *user)
{
	struct qp *q = user;

	assert_int_equal(q->taken, 1);
	q->taken = 0;
	memset(rqe_at(q, q->rq_tail++), 0xee, QP_RQ_STRIDE);
}

static void drained(void *user)
{
	struct qp *q = user;

	q->draineds++;
}

static void complete(void *user, const struct rdmap_wc *wc)
{
	struct qp *q = user;

	assert_true(q->wcs < 4096);
	q->wc[q->wcs++] = *wc;
	if (q->on_complete != NULL)
		q->on_complete(q, wc);
}

static int local_op(void *user, struct rdmap_wqe *w)
{
	struct qp *q = user;

	q->local_ops++;
	return q->local_op_status;
}

struct rdmap_wqe *qp_wqe(struct qp *q, uint64_t wr_id, enum rdmap_wr_op op, unsigned flags)
{
	uint32_t head = atomic_load(&q->sq.head);
	struct rdmap_wqe *w = rdmap_sq_at(&q->sq, head);

	assert_true(head - atomic_load(&q->sq.tail) < QP_SQ_SIZE);
	memset(w, 0, sizeof *w);
	w->wr_id = wr_id;
	w->op = (uint8_t)op;
	w->flags = (uint8_t)flags;
	return w;
}

void qp_wqe_sge(struct rdmap_wqe *w, const struct qp_region *g, uint32_t offset, uint32_t len)
{
	w->sge[w->num_sge++] =
		(struct rdmap_sge){.addr = g->to + offset, .len = len, .stag = g->stag};
	w->length += len;
}

void qp_wqe_inline(struct rdmap_wqe *w, const void *bytes, uint32_t len)
{
	assert_true(len <= QP_SQ_STRIDE - sizeof *w);
	memcpy(rdmap_wqe_inline(w), bytes, len);
	w->length = len;
	w->flags |= RDMAP_WR_INLINE;
}

void qp_post(struct qp *q)
{
	atomic_fetch_add(&q->sq.head, 1);
}

void qp_run(struct qp *q)
{
	rdmap_run(&q->r);
}

void qp_post_recv(
	struct qp *q, uint64_t wr_id, const struct qp_region *g, uint32_t offset, uint32_t len)
{
	struct rdmap_rqe *e = rqe_at(q, q->rq_head);

	assert_true(q->rq_head - q->rq_tail < QP_RQ_SIZE);
	e->wr_id = wr_id;
	e->length = len;
	e->num_sge = g != NULL;
	if (g != NULL)
		e->sge[0] = (struct rdmap_sge){.addr = g->to + offset, .len = len, .stag = g->stag};
	q->rq_head++;
}

const struct rdmap_wc *qp_expect_wc(struct qp *q, uint64_t wr_id, enum rdmap_wc_status status,
	enum rdmap_wc_op op, uint32_t len)
{
	const struct rdmap_wc *wc = &q->wc[q->wc_next];

	assert_true(q->wc_next < q->wcs);
	q->wc_next++;
	assert_int_equal(wc->wr_id, wr_id);
	assert_int_equal(wc->status, status);
	assert_int_equal(wc->op, op);
	if (status == RDMAP_WC_SUCCESS)
		assert_int_equal(wc->byte_len, len);
	return wc;
}

void qp_expect_no_wc(struct qp *q)
{
	assert_int_equal(q->wc_next, q->wcs);
}

/* ---- events ------------------------------------------------------------------------------ */

static void operational(void *user)
{
	((struct qp *)user)->operationals++;
}

static void peer_closed(void *user)
{
	((struct qp *)user)->peer_closeds++;
}

static void free_mpa(struct qp *q)
{
	free(q->m);
	q->m = NULL;
}

static void ended(void *user, const struct rdmap_end *e)
{
	struct qp *q = user;

	q->endeds++;
	q->end = *e;
	if (e->kind == RDMAP_END_CLOSED || e->kind == RDMAP_END_LOST)
		free_mpa(q);
	if (q->on_ended != NULL) {
		q->on_ended(q);
		return;
	}
	rdmap_flush_sq(&q->r);
	while (q->rq_tail != q->rq_head) {
		struct rdmap_wc wc = {.wr_id = rqe_at(q, q->rq_tail)->wr_id,
			.op = RDMAP_WC_RECV,
			.status = RDMAP_WC_WR_FLUSH_ERR};

		q->rq_tail++;
		complete(q, &wc);
	}
}

static const struct rdmap_ops ops = {
	.stag_check = stag_check,
	.stag_memory = stag_memory,
	.stag_invalidate = stag_invalidate,
	.local_op = local_op,
	.recv_take = recv_take,
	.recv_wait = recv_wait,
	.recv_peek = recv_peek,
	.recv_done = recv_done,
	.complete = complete,
	.operational = operational,
	.peer_closed = peer_closed,
	.drained = drained,
	.ended = ended,
};

void qp_expect_end(struct qp *q, int kind, int error, unsigned layer, unsigned etype, unsigned code)
{
	assert_int_equal(q->endeds, 1);
	assert_int_equal(q->end.kind, kind);
	assert_int_equal(q->end.error, error);
	assert_int_equal(q->end.layer, layer);
	assert_int_equal(q->end.etype, etype);
	assert_int_equal(q->end.code, code);
}

/* ---- connections ------------------------------------------------------------------------- */

static struct qp *qp_new(void)
{
	struct qp *q = calloc(1, sizeof *q);

	q->m = calloc(1, sizeof *q->m);
	q->config = (struct mpa_config){.revision = 2, .crc = true, .rtr = 7};
	q->sq = (struct rdmap_sq){.ring = malloc(QP_SQ_SIZE * QP_SQ_STRIDE),
		.size = QP_SQ_SIZE,
		.stride = QP_SQ_STRIDE};
	memset(q->sq.ring, 0xee, QP_SQ_SIZE * QP_SQ_STRIDE);
	q->rq = malloc(QP_RQ_SIZE * QP_RQ_STRIDE);
	q->irq = calloc(QP_IRD, sizeof *q->irq);
	q->ird = q->ord = QP_IRD;
	rdmap_init(&q->r, &q->sq, &ops, q);
	return q;
}

static void qp_free(struct qp *q)
{
	rdmap_abort(&q->r);
	if (q->m != NULL)
		mpa_abort(q->m);
	free_mpa(q);
	for (unsigned i = 0; i < q->regions; i++)
		free(q->region[i].mem);
	free(q->sq.ring);
	free(q->rq);
	free(q->irq);
	free(q);
}

void qp_net_init(struct qp_net *n)
{
	*n = (struct qp_net){.mem = llp_mem_create(), .a = qp_new(), .b = qp_new()};
}

void qp_net_done(struct qp_net *n)
{
	llp_mem_peer_done(&n->peer);
	qp_free(n->a);
	qp_free(n->b);
	llp_mem_destroy(n->mem);
}

void qp_net_run(struct qp_net *n)
{
	llp_mem_run(n->mem, 10000000);
}

static void mpa_connected(void *user)
{
	struct qp *q = user;

	assert_int_equal(mpa_request(q->m, q->ird, q->ord, NULL, 0), 0);
}

static void mpa_on_request(void *user, const struct mpa_start *st)
{
	struct qp *q = user;

	rdmap_attach(&q->r, q->m, q->ird, q->ord, q->irq, st->peer_to_peer ? q->rtr : 0);
	assert_int_equal(mpa_accept(q->m, q->ird, q->ord, q->rtr, NULL, 0), 0);
}

static void mpa_reply(void *user, const struct mpa_start *st)
{
	struct qp *q = user;

	assert_false(st->reject);
	rdmap_attach(&q->r, q->m, q->ird, q->ord, q->irq, st->peer_to_peer ? st->rtr : 0);
}

static void mpa_bad(void *user, enum mpa_error code, const char *reason)
{
	fail_msg("MPA start-up: %s", reason);
}

static void mpa_bad_closed(void *user, int error)
{
	fail_msg("MPA start-up: closed %d", error);
}

static const struct mpa_user_ops start_ops = {
	.connected = mpa_connected,
	.request = mpa_on_request,
	.reply = mpa_reply,
	.error = mpa_bad,
	.closed = mpa_bad_closed,
};

static int accept_one(void *user, struct llp *l)
{
	struct qp *q = user;

	mpa_init_responder(q->m, l, &q->config, &start_ops, q);
	return 0;
}

static void listen_b(struct qp_net *n)
{
	struct ip_endpoint at = llp_mem_endpoint(n->mem, 1, 7174);
	struct llp_listener *l;

	assert_int_equal(llp_listen(llp_mem_stack(n->mem, 1), &at, 1, accept_one, n->b, &l), 0);
}

static const struct llp_user_ops no_ops;

static void connect_a(struct qp_net *n)
{
	struct llp_connect_params p = {.remote = llp_mem_endpoint(n->mem, 1, 7174)};
	struct llp *l;

	assert_int_equal(llp_connect(llp_mem_stack(n->mem, 0), &p, &no_ops, NULL, &l), 0);
	mpa_init_initiator(n->a->m, l, &n->a->config, &start_ops, n->a);
}

void qp_net_connect(struct qp_net *n)
{
	listen_b(n);
	connect_a(n);
	qp_net_run(n);
	assert_int_equal(n->a->operationals, 1);
}

void qp_net_fill(struct qp_net *n, struct qp *q)
{
	llp_mem_set_buffer(n->mem, 1);
	llp_mem_hold(mpa_llp(q->m), true);
	llp_mem_send_raw(mpa_llp(q->m), "x", 1);
}

void qp_net_drain(struct qp_net *n, struct qp *q)
{
	llp_mem_hold(mpa_llp(q->m), false);
	qp_net_run(n);
	llp_mem_peer_consume(&n->peer, 1);
}

void qp_net_raw_initiator(struct qp_net *n)
{
	static const uint8_t reply[] = "MPA ID Rep Frame\x10\x02\x00\x04\x00\x08\x00\x08";
	uint8_t with_rtr[24];

	n->a->config.crc = n->crc;
	n->a->config.peer_to_peer = n->a->rtr != 0;
	llp_mem_peer_listen(&n->peer, n->mem, 1, 7174);
	connect_a(n);
	qp_net_run(n);
	llp_mem_peer_consume(&n->peer, 24);
	memcpy(with_rtr, reply, 24);
	with_rtr[16] |= n->crc ? MPA_FLAG_CRC : 0;
	if (n->a->rtr != 0) {
		with_rtr[20] |= 0x80 | (n->a->rtr & MPA_RTR_SEND ? 0x40 : 0);
		with_rtr[22] |= (n->a->rtr & MPA_RTR_WRITE ? 0x80 : 0) |
				(n->a->rtr & MPA_RTR_READ ? 0x40 : 0);
	}
	if (n->full)
		qp_net_fill(n, n->a);
	llp_mem_send_raw(n->peer.llp, with_rtr, 24);
	qp_net_run(n);
	assert_int_equal(n->a->operationals, 1);
}

void qp_net_raw_responder(struct qp_net *n)
{
	uint8_t request[] = "MPA ID Req Frame\x10\x02\x00\x04\x80\x08\xc0\x08";
	struct ip_endpoint to = llp_mem_endpoint(n->mem, 1, 7174);

	n->b->config.crc = n->crc;
	listen_b(n);
	llp_mem_peer_connect(&n->peer, n->mem, 0, &to);
	qp_net_run(n);
	request[16] |= n->crc ? MPA_FLAG_CRC : 0;
	llp_mem_send_raw(n->peer.llp, request, 24);
	qp_net_run(n);
	llp_mem_peer_consume(&n->peer, 24);
	assert_int_equal(n->b->operationals, 0);
}

/* ---- the raw peer ------------------------------------------------------------------------ */

void qp_net_feed(struct qp_net *n, const void *ulpdu, size_t len)
{
	uint8_t *fpdu = calloc(1, mpa_fpdu_len((uint32_t)len));

	store_be16(fpdu, (uint16_t)len);
	memcpy(fpdu + 2, ulpdu, len);
	llp_mem_send_raw(n->peer.llp, fpdu, mpa_fpdu_len((uint32_t)len));
	free(fpdu);
	qp_net_run(n);
}

void qp_net_expect(struct qp_net *n, const void *ulpdu, size_t len)
{
	struct llp_mem_peer *p = &n->peer;

	qp_net_run(n);
	assert_true(p->rx_len >= mpa_fpdu_len((uint32_t)len));
	assert_int_equal(load_be16(p->rx), len);
	assert_memory_equal(p->rx + 2, ulpdu, len);
	llp_mem_peer_consume(p, mpa_fpdu_len((uint32_t)len));
}

void qp_net_expect_nothing(struct qp_net *n)
{
	qp_net_run(n);
	assert_int_equal(n->peer.rx_len, 0);
}

void qp_net_expect_terminate(struct qp_net *n, const void *header, size_t len)
{
	static const uint8_t ddp[18] = "\x41\x47\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x01";
	uint8_t ulpdu[18 + RDMAP_TERM_MAX];

	memcpy(ulpdu, ddp, sizeof ddp);
	memcpy(ulpdu + sizeof ddp, header, len);
	qp_net_expect(n, ulpdu, sizeof ddp + len);
	qp_net_expect_nothing(n);
	assert_true(n->peer.eof);
}
