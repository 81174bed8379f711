/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posting, the fast path: verbs.h calls these functions by the context's table. Work requests are
 * checked and then written into the ring's elements.
 */
#include "provider/verbs/objects.h"
#include "provider/verbs/wqe.h"

/* Of struct ibv_send_wr's opcode, plus one; 0: not of iWARP. */
static const uint8_t post_wr_op[] = {
	[IBV_WR_RDMA_WRITE] = RDMAP_WR_WRITE + 1,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = RDMAP_WR_WRITE_IMM + 1,
	[IBV_WR_SEND] = RDMAP_WR_SEND + 1,
	[IBV_WR_SEND_WITH_IMM] = RDMAP_WR_SEND_IMM + 1,
	[IBV_WR_RDMA_READ] = RDMAP_WR_READ + 1,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = RDMAP_WR_CMP_SWAP + 1,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = RDMAP_WR_FETCH_ADD + 1,
	[IBV_WR_LOCAL_INV] = RDMAP_WR_LOCAL_INV + 1,
	[IBV_WR_SEND_WITH_INV] = RDMAP_WR_SEND_INV + 1,
	[IBV_WR_BIND_MW] = RDMAP_WR_BIND_MW + 1,
};

static inline bool post_is_orphan(const struct ibv_context *context)
{
	const struct device *d = (const void *)context->device;

	return atomic_load_explicit(&d->orphan, memory_order_relaxed);
}

/** @return 0 with *length, or a positive errno. */
static inline int post_check_send(
	const struct qp *qp, const struct ibv_send_wr *wr, uint64_t *length)
{
	unsigned opcode = (unsigned)wr->opcode;
	enum rdmap_wr_op op;

	if (opcode >= sizeof post_wr_op || post_wr_op[opcode] == 0)
		return EOPNOTSUPP;
	op = (enum rdmap_wr_op)(post_wr_op[opcode] - 1);
	/* RFC 7306 gives immediate data to Writes alone: Sends have it between uiwarps. */
	if (op == RDMAP_WR_SEND_IMM && !rnic_qp_takes_send_imm(qp->rnic))
		return EOPNOTSUPP;
	if (qp->ud && ((op != RDMAP_WR_SEND && op != RDMAP_WR_SEND_IMM) || !wr->wr.ud.ah))
		return EINVAL;
	if (op == RDMAP_WR_BIND_MW && !wqe_bind_ok(wr->bind_mw.mw, IBV_MW_TYPE_2, wr->bind_mw.rkey,
					      &wr->bind_mw.bind_info))
		return EINVAL;
	if (!sge_lengths(wr->sg_list, (size_t)wr->num_sge, qp->max_send_sge, length))
		return EINVAL;
	if ((wr->send_flags & IBV_SEND_INLINE) != 0)
		return *length > qp->max_inline || wqe_fetches(op) ? EINVAL : 0;
	return wqe_list_ok(op, (size_t)wr->num_sge, *length) ? 0 : EINVAL;
}

static inline void post_fill_operation(struct rdmap_wqe *w, const struct ibv_send_wr *wr)
{
	switch (w->op) {
	case RDMAP_WR_WRITE_IMM:
		w->imm = wr->imm_data;
		/* fall through */
	case RDMAP_WR_WRITE:
	case RDMAP_WR_READ:
		w->remote_to = wr->wr.rdma.remote_addr;
		w->remote_stag = wr->wr.rdma.rkey;
		break;
	case RDMAP_WR_FETCH_ADD:
	case RDMAP_WR_CMP_SWAP:
		w->remote_to = wr->wr.atomic.remote_addr;
		w->remote_stag = wr->wr.atomic.rkey;
		w->atomic = w->op == RDMAP_WR_FETCH_ADD
				    ? wqe_fetch_add(wr->wr.atomic.compare_add)
				    : wqe_cmp_swap(wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case RDMAP_WR_SEND_IMM:
		w->imm = wr->imm_data;
		break;
	case RDMAP_WR_SEND_INV:
	case RDMAP_WR_LOCAL_INV:
		w->inv_stag = wr->invalidate_rkey;
		break;
	case RDMAP_WR_BIND_MW:
		wqe_bind(w, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
		break;
	default:
		break;
	}
}

/** @return false: inline data is not there. */
static inline bool post_fill_send(
	const struct qp *qp, struct rdmap_wqe *w, const struct ibv_send_wr *wr, uint64_t length)
{
	w->wr_id = wr->wr_id;
	w->op = (uint8_t)(post_wr_op[wr->opcode] - 1);
	w->flags = wqe_flags(wr->send_flags);
	w->length = wqe_length((enum rdmap_wr_op)w->op, length);
	post_fill_operation(w, wr);
	if (qp->ud)
		ah_aim(w, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if ((w->flags & RDMAP_WR_INLINE) != 0) {
		uint8_t *p = rdmap_wqe_inline(w);

		w->num_sge = 0;
		for (int i = 0; i < wr->num_sge && p; i++)
			p = wqe_append(p, (const void *)(uintptr_t)wr->sg_list[i].addr,
				wr->sg_list[i].length);
		return p != NULL;
	}
	w->num_sge = (uint8_t)wr->num_sge;
	sge_copy(w->sge, wr->sg_list, w->num_sge);
	return true;
}

int post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct qp *qp = qp_of(ibv);
	int rc = post_is_orphan(ibv->context) ? -ENODEV : rnic_sq_begin(qp->rnic);

	if (rc != 0) {
		*bad_wr = wr;
		return -rc;
	}
	for (; wr; wr = wr->next) {
		struct rdmap_wqe *w;
		uint64_t length;

		rc = post_check_send(qp, wr, &length);
		if (rc != 0)
			break;
		w = rnic_sq_next(qp->rnic);
		if (!w) {
			rc = ENOMEM;
			break;
		}
		if (!post_fill_send(qp, w, wr, length)) {
			rc = EFAULT;
			break;
		}
		rnic_sq_commit(qp->rnic);
	}
	rnic_sq_end(qp->rnic);
	if (rc != 0)
		*bad_wr = wr;
	return rc;
}

int post_bind_mw(struct ibv_qp *ibv, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct qp *qp = qp_of(ibv);
	uint32_t before = mw->rkey, rkey = ibv_inc_rkey(before);
	struct rdmap_wqe *w;
	int rc;

	if (qp->ud || !wqe_bind_ok(mw, IBV_MW_TYPE_1, rkey, &bind->bind_info))
		return EINVAL;
	rc = post_is_orphan(ibv->context) ? -ENODEV : rnic_sq_begin(qp->rnic);
	if (rc != 0)
		return -rc;
	w = rnic_sq_next(qp->rnic);
	if (w) {
		w->wr_id = bind->wr_id;
		w->op = RDMAP_WR_BIND_MW;
		w->flags = wqe_flags(bind->send_flags & ~(unsigned)IBV_SEND_INLINE);
		wqe_bind(w, rkey, &bind->bind_info);
		rnic_sq_commit(qp->rnic);
		mw->rkey = rkey;
	}
	/* Told before that, as another thread may free the window when it has polled the bind. */
	if (!rnic_sq_end(qp->rnic) && w)
		mw->rkey = before;
	return w ? 0 : ENOMEM;
}

/* ---- receives -------------------------------------------------------------------------------- */

static inline void post_fill_recv(
	struct rdmap_rqe *e, const struct ibv_recv_wr *wr, uint64_t length)
{
	e->wr_id = wr->wr_id;
	/* More room than any message needs is no error; the count must hold it. */
	e->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
	e->num_sge = (uint32_t)wr->num_sge;
	sge_copy(e->sge, wr->sg_list, e->num_sge);
}

/** Where receives go: to an SRQ where @p shared, else to a QP. */
static inline struct rdmap_rqe *post_recv_next(
	struct rnic_qp *qp, struct rnic_srq *srq, bool shared)
{
	return shared ? rnic_srq_next(srq) : rnic_rq_next(qp);
}

static inline void post_recv_commit(struct rnic_qp *qp, struct rnic_srq *srq, bool shared)
{
	if (shared)
		rnic_srq_commit(srq);
	else
		rnic_rq_commit(qp);
}

/**
 * Between begin and end: write as many as go. @return 0, or a positive errno with *wr the one that
 * did not. @p shared is a constant in each caller, so each has its own copy.
 */
static inline __attribute__((always_inline)) int post_recv_list(struct rnic_qp *qp,
	struct rnic_srq *srq, bool shared, uint32_t max_sge, struct ibv_recv_wr **wr)
{
	for (; *wr; *wr = (*wr)->next) {
		struct rdmap_rqe *e;
		uint64_t length;

		if (!sge_lengths((*wr)->sg_list, (size_t)(*wr)->num_sge, max_sge, &length))
			return EINVAL;
		e = post_recv_next(qp, srq, shared);
		if (!e)
			return ENOMEM;
		post_fill_recv(e, *wr, length);
		post_recv_commit(qp, srq, shared);
	}
	return 0;
}

int post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct qp *qp = qp_of(ibv);
	int rc = post_is_orphan(ibv->context) ? -ENODEV
		 : ibv->srq                   ? -EINVAL
					      : rnic_rq_begin(qp->rnic);

	if (rc == 0) {
		rc = -post_recv_list(qp->rnic, NULL, false, qp->max_recv_sge, &wr);
		rnic_rq_end(qp->rnic);
	}
	if (rc != 0)
		*bad_wr = wr;
	return -rc;
}

int post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct srq *srq = OBJECT_OF(srq, ibv);
	int rc = post_is_orphan(ibv->context) ? -ENODEV : rnic_srq_begin(srq->rnic);

	if (rc == 0) {
		rc = -post_recv_list(NULL, srq->rnic, true, srq->max_sge, &wr);
		rnic_srq_end(srq->rnic);
	}
	if (rc != 0)
		*bad_wr = wr;
	return -rc;
}
