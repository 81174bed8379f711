/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path in: verbs.h calls these through the context's table. Work requests are checked
 * first and then written straight into the ring's elements.
 */
#include "provider/verbs/objects.h"

#include <string.h>

/* Of struct ibv_send_wr's opcode, plus one; 0: not of iWARP. */
static const uint8_t wr_op[] = {
	[IBV_WR_RDMA_WRITE] = RDMAP_WR_WRITE + 1,
	[IBV_WR_SEND] = RDMAP_WR_SEND + 1,
	[IBV_WR_RDMA_READ] = RDMAP_WR_READ + 1,
	[IBV_WR_LOCAL_INV] = RDMAP_WR_LOCAL_INV + 1,
	[IBV_WR_SEND_WITH_INV] = RDMAP_WR_SEND_INV + 1,
};

/* IBV_SEND_FENCE 1, SIGNALED 2, SOLICITED 4, INLINE 8 to RDMAP_WR_*, which has two exchanged. */
static const uint8_t wr_flags[16] = {
	0x0, 0x2, 0x1, 0x3, 0x4, 0x6, 0x5, 0x7, 0x8, 0xa, 0x9, 0xb, 0xc, 0xe, 0xd, 0xf};

_Static_assert((int)IBV_SEND_FENCE == 1 && (int)IBV_SEND_SIGNALED == 2 &&
		       (int)IBV_SEND_SOLICITED == 4 && (int)IBV_SEND_INLINE == 8 &&
		       RDMAP_WR_SIGNALED == 1 && RDMAP_WR_FENCE == 2 && RDMAP_WR_SOLICITED == 4 &&
		       RDMAP_WR_INLINE == 8,
	"wr_flags[] maps one to the other");

_Static_assert(sizeof(struct rdmap_sge) == sizeof(struct ibv_sge) &&
		       offsetof(struct rdmap_sge, addr) == offsetof(struct ibv_sge, addr) &&
		       offsetof(struct rdmap_sge, len) == offsetof(struct ibv_sge, length) &&
		       offsetof(struct rdmap_sge, stag) == offsetof(struct ibv_sge, lkey),
	"scatter/gather elements are copied as they are");

static inline bool is_orphan(const struct ibv_context *context)
{
	const struct device *d = (const void *)context->device;

	return atomic_load_explicit(&d->orphan, memory_order_relaxed);
}

static inline uint64_t sum_lengths(const struct ibv_sge *sg, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += sg[i].length;
	return sum;
}

/* @return 0 with *length, or a positive errno. */
static inline int check_send(const struct qp *qp, const struct ibv_send_wr *wr, uint64_t *length)
{
	unsigned op = (unsigned)wr->opcode;

	if (op >= sizeof wr_op || wr_op[op] == 0)
		return EOPNOTSUPP;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->max_send_sge)
		return EINVAL;
	*length = sum_lengths(wr->sg_list, wr->num_sge);
	if ((wr->send_flags & IBV_SEND_INLINE) != 0) {
		if (*length > qp->max_inline || wr->opcode == IBV_WR_RDMA_READ)
			return EINVAL;
	} else if (*length > INT32_MAX) {
		return EINVAL;
	}
	/* RFC 5040 section 4.4: a Read Request names one sink. */
	if (wr->opcode == IBV_WR_RDMA_READ && wr->num_sge > 1)
		return EINVAL;
	return 0;
}

static inline void copy_inline(struct rdmap_wqe *w, const struct ibv_sge *sg, int n)
{
	uint8_t *p = rdmap_wqe_inline(w);

	for (int i = 0; i < n; i++) {
		/* Of no bytes, the address may be none as well. */
		if (sg[i].length == 0)
			continue;
		memcpy(p, (const void *)(uintptr_t)sg[i].addr, sg[i].length);
		p += sg[i].length;
	}
}

static inline void fill_send(
	const struct qp *qp, struct rdmap_wqe *w, const struct ibv_send_wr *wr, uint64_t length)
{
	w->wr_id = wr->wr_id;
	w->op = (uint8_t)(wr_op[wr->opcode] - 1);
	w->flags = wr_flags[wr->send_flags & 0xf] | qp->signal_all;
	w->length = (uint32_t)length;
	switch (w->op) {
	case RDMAP_WR_WRITE:
	case RDMAP_WR_READ:
		w->remote_to = wr->wr.rdma.remote_addr;
		w->remote_stag = wr->wr.rdma.rkey;
		break;
	case RDMAP_WR_SEND_INV:
	case RDMAP_WR_LOCAL_INV:
		w->inv_stag = wr->invalidate_rkey;
		break;
	default:
		break;
	}
	if ((w->flags & RDMAP_WR_INLINE) != 0) {
		w->num_sge = 0;
		copy_inline(w, wr->sg_list, wr->num_sge);
	} else {
		w->num_sge = (uint8_t)wr->num_sge;
		for (int i = 0; i < wr->num_sge; i++)
			w->sge[i] = (struct rdmap_sge){.addr = wr->sg_list[i].addr,
				.len = wr->sg_list[i].length,
				.stag = wr->sg_list[i].lkey};
	}
}

int post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct qp *qp = OBJECT_OF(qp, ibv);
	int rc = is_orphan(ibv->context) ? -ENODEV : rnic_sq_begin(qp->rnic);

	if (rc != 0) {
		*bad_wr = wr;
		return -rc;
	}
	for (; wr != NULL; wr = wr->next) {
		struct rdmap_wqe *w;
		uint64_t length;

		rc = check_send(qp, wr, &length);
		if (rc != 0)
			break;
		w = rnic_sq_next(qp->rnic);
		if (w == NULL) {
			rc = ENOMEM;
			break;
		}
		fill_send(qp, w, wr, length);
		rnic_sq_commit(qp->rnic);
	}
	rnic_sq_end(qp->rnic);
	if (rc != 0)
		*bad_wr = wr;
	return rc;
}

/* ---- receives -------------------------------------------------------------------------------- */

/* @return 0 with *length, or a positive errno. */
static inline int check_recv(const struct ibv_recv_wr *wr, uint32_t max_sge, uint64_t *length)
{
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > max_sge)
		return EINVAL;
	*length = sum_lengths(wr->sg_list, wr->num_sge);
	/* More room than any message needs is no error; the count must hold it. */
	if (*length > UINT32_MAX)
		*length = UINT32_MAX;
	return 0;
}

static inline void fill_recv(struct rdmap_rqe *e, const struct ibv_recv_wr *wr, uint64_t length)
{
	e->wr_id = wr->wr_id;
	e->length = (uint32_t)length;
	e->num_sge = (uint32_t)wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++)
		e->sge[i] = (struct rdmap_sge){.addr = wr->sg_list[i].addr,
			.len = wr->sg_list[i].length,
			.stag = wr->sg_list[i].lkey};
}

int post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct qp *qp = OBJECT_OF(qp, ibv);
	int rc = is_orphan(ibv->context) ? -ENODEV
		 : ibv->srq != NULL      ? -EINVAL
					 : rnic_rq_begin(qp->rnic);

	if (rc != 0) {
		*bad_wr = wr;
		return -rc;
	}
	for (; wr != NULL; wr = wr->next) {
		struct rdmap_rqe *e;
		uint64_t length;

		rc = check_recv(wr, qp->max_recv_sge, &length);
		if (rc != 0)
			break;
		e = rnic_rq_next(qp->rnic);
		if (e == NULL) {
			rc = ENOMEM;
			break;
		}
		fill_recv(e, wr, length);
		rnic_rq_commit(qp->rnic);
	}
	rnic_rq_end(qp->rnic);
	if (rc != 0)
		*bad_wr = wr;
	return rc;
}

int post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct srq *srq = OBJECT_OF(srq, ibv);
	int rc = is_orphan(ibv->context) ? -ENODEV : rnic_srq_begin(srq->rnic);

	if (rc != 0) {
		*bad_wr = wr;
		return -rc;
	}
	for (; wr != NULL; wr = wr->next) {
		struct rdmap_rqe *e;
		uint64_t length;

		rc = check_recv(wr, srq->max_sge, &length);
		if (rc != 0)
			break;
		e = rnic_srq_next(srq->rnic);
		if (e == NULL) {
			rc = ENOMEM;
			break;
		}
		fill_recv(e, wr, length);
		rnic_srq_commit(srq->rnic);
	}
	rnic_srq_end(srq->rnic);
	if (rc != 0)
		*bad_wr = wr;
	return rc;
}
