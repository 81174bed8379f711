/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_wr_start() ... ibv_wr_complete(): work requests are built in the ring, one after the other.
 * Each is committed when the next begins. The engine sees none before ibv_wr_complete().
 *
 * The builders return nothing. The first error is kept. Then ibv_wr_complete() returns it, and no
 * request is posted.
 */
#include "provider/verbs/objects.h"
#include "provider/verbs/wqe.h"

static inline struct qp *wr_api_qp_of_ex(struct ibv_qp_ex *ex)
{
	return qp_of(&ex->qp_base);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	bool orphan = atomic_load_explicit(&qp->device->orphan, memory_order_relaxed);
	int rc = orphan ? -ENODEV : rnic_sq_begin(qp->rnic);

	/* What follows is this thread's alone until complete or abort, also when nothing can be
	 * posted. */
	if (rc != 0 && !orphan)
		rnic_sq_hold(qp->rnic);
	qp->building = NULL;
	qp->begun = !orphan;
	qp->build_error = -rc;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	bool begun = qp->begun;

	qp->building = NULL;
	qp->begun = false;
	/* From here on all that is another thread's. */
	if (begun)
		rnic_sq_abort(qp->rnic);
}

/** The element that is being built, if there is one, is complete. */
static void wr_api_commit(struct qp *qp)
{
	if (!qp->building || qp->build_error != 0)
		return;
	if (qp->ud && !ah_is_aimed(qp->building))
		qp->build_error = EINVAL; /* ibv_wr_set_ud_addr() was not called */
	else
		rnic_sq_commit(qp->rnic);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	int error;

	wr_api_commit(qp);
	error = qp->build_error;
	if (error != 0) {
		wr_abort(ex);
		return error;
	}
	qp->building = NULL;
	qp->begun = false;
	rnic_sq_end(qp->rnic);
	return 0;
}

/** Begin the next element. @return NULL: an error stands. */
static struct rdmap_wqe *wr_api_begin(struct ibv_qp_ex *ex, enum rdmap_wr_op op)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	struct rdmap_wqe *w;

	wr_api_commit(qp);
	if (qp->build_error != 0)
		return NULL;
	w = rnic_sq_next(qp->rnic);
	qp->building = w;
	if (!w) {
		qp->build_error = ENOMEM;
		return NULL;
	}
	w->wr_id = ex->wr_id;
	w->op = (uint8_t)op;
	/* Inline is what the setter makes it. */
	w->flags = wqe_flags(ex->wr_flags & ~(unsigned)IBV_SEND_INLINE);
	return w;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	wr_api_begin(ex, RDMAP_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	struct rdmap_wqe *w;

	if (qp->build_error == 0 && !rnic_qp_takes_send_imm(qp->rnic))
		qp->build_error = EOPNOTSUPP;
	w = wr_api_begin(ex, RDMAP_WR_SEND_IMM);
	if (w)
		w->imm = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	struct rdmap_wqe *w = wr_api_begin(ex, RDMAP_WR_SEND_INV);

	if (w)
		w->inv_stag = invalidate_rkey;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	struct rdmap_wqe *w = wr_api_begin(ex, RDMAP_WR_LOCAL_INV);

	if (w)
		w->inv_stag = invalidate_rkey;
}

static void wr_bind_mw(
	struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct rdmap_wqe *w = wr_api_begin(ex, RDMAP_WR_BIND_MW);

	if (!w)
		return;
	if (wqe_bind_ok(mw, IBV_MW_TYPE_2, rkey, info))
		wqe_bind(w, rkey, info);
	else
		wr_api_qp_of_ex(ex)->build_error = EINVAL;
}

static struct rdmap_wqe *wr_api_begin_remote(
	struct ibv_qp_ex *ex, enum rdmap_wr_op op, uint32_t rkey, uint64_t remote_addr)
{
	struct rdmap_wqe *w = wr_api_begin(ex, op);

	if (w) {
		w->remote_stag = rkey;
		w->remote_to = remote_addr;
	}
	return w;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	wr_api_begin_remote(ex, RDMAP_WR_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(
	struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
	struct rdmap_wqe *w = wr_api_begin_remote(ex, RDMAP_WR_WRITE_IMM, rkey, remote_addr);

	if (w)
		w->imm = imm_data;
}

static void wr_atomic_cmp_swp(
	struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
	struct rdmap_wqe *w = wr_api_begin_remote(ex, RDMAP_WR_CMP_SWAP, rkey, remote_addr);

	if (w)
		w->atomic = wqe_cmp_swap(compare, swap);
}

static void wr_atomic_fetch_add(
	struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
	struct rdmap_wqe *w = wr_api_begin_remote(ex, RDMAP_WR_FETCH_ADD, rkey, remote_addr);

	if (w)
		w->atomic = wqe_fetch_add(add);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	wr_api_begin_remote(ex, RDMAP_WR_READ, rkey, remote_addr);
}

/* ---- the data of the element being built ------------------------------------------------------
 */

/** @return the element that takes data now, or NULL with the error kept. */
static struct rdmap_wqe *wr_api_taker(struct qp *qp)
{
	if (qp->build_error == 0 && !qp->building)
		qp->build_error = EINVAL;
	return qp->build_error == 0 ? qp->building : NULL;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *sg)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	struct rdmap_wqe *w = wr_api_taker(qp);
	uint64_t length;

	if (!w)
		return;
	if (!sge_lengths(sg, num_sge, qp->max_send_sge, &length) ||
		!wqe_list_ok((enum rdmap_wr_op)w->op, num_sge, length)) {
		qp->build_error = EINVAL;
		return;
	}
	sge_copy(w->sge, sg, num_sge);
	/* The last setter counts: inline data of an earlier one is overwritten. */
	w->flags &= (uint8_t)~RDMAP_WR_INLINE;
	w->num_sge = (uint8_t)num_sge;
	w->length = wqe_length((enum rdmap_wr_op)w->op, length);
}

static void wr_set_ud_addr(
	struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	struct rdmap_wqe *w = wr_api_taker(qp);

	if (!w)
		return;
	if (qp->ud && ah)
		ah_aim(w, ah, remote_qpn, remote_qkey);
	else
		qp->build_error = EINVAL;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sg = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(ex, 1, &sg);
}

static void wr_set_inline_data_list(
	struct ibv_qp_ex *ex, size_t num_buf, const struct ibv_data_buf *list)
{
	struct qp *qp = wr_api_qp_of_ex(ex);
	struct rdmap_wqe *w = wr_api_taker(qp);
	size_t length = 0;
	uint8_t *p;

	if (!w)
		return;
	if (wqe_fetches((enum rdmap_wr_op)w->op)) {
		qp->build_error = EINVAL;
		return;
	}
	p = rdmap_wqe_inline(w);
	for (size_t i = 0; i < num_buf; i++) {
		if (list[i].length > qp->max_inline - length) {
			qp->build_error = EINVAL;
			return;
		}
		p = wqe_append(p, list[i].addr, list[i].length);
		if (!p) {
			qp->build_error = EFAULT;
			return;
		}
		length += list[i].length;
	}
	w->flags |= RDMAP_WR_INLINE;
	w->num_sge = 0;
	w->length = (uint32_t)length;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = {.addr = addr, .length = length};

	wr_set_inline_data_list(ex, 1, &buf);
}

void wr_api_set_ops(struct qp *qp)
{
	struct ibv_qp_ex *ex = &qp->ex;

	/* All of what is supported is there, asked for at creation or not. */
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
}
