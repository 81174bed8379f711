/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways to post: a list, one by one, or with builders. */
#include "program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define LIST_MOST 4

/* ---- lists ----------------------------------------------------------------------------------- */

static struct ibv_mw_bind_info program_bind_info(const struct program_end *e)
{
	const struct program_memory *m = &e->memory[PROGRAM_TARGET];

	return (struct ibv_mw_bind_info){.mr = m->mr,
		.addr = (uintptr_t)m->at,
		.length = PROGRAM_SLOTS * PROGRAM_SLOT,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE};
}

static void program_fill(struct program_end *e, unsigned i, struct ibv_send_wr *wr)
{
	struct program_request *q = &e->request[i];

	*wr = (struct ibv_send_wr){.wr_id = i,
		.sg_list = q->sge,
		.num_sge = q->sges,
		.opcode = q->op,
		.send_flags = q->flags};
	switch (q->op) {
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wr->invalidate_rkey = q->rkey;
		break;
	case IBV_WR_BIND_MW:
		wr->bind_mw.mw = e->window.mw;
		wr->bind_mw.rkey = q->rkey;
		wr->bind_mw.bind_info = program_bind_info(e);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = q->remote;
		wr->wr.atomic.rkey = q->rkey;
		wr->wr.atomic.compare_add = q->add;
		wr->wr.atomic.swap = q->swap;
		break;
	default:
		wr->imm_data = htonl(q->imm);
		wr->wr.rdma.remote_addr = q->remote;
		wr->wr.rdma.rkey = q->rkey;
	}
}

static int program_post_list(struct program_end *e, unsigned first, unsigned n, unsigned *taken)
{
	struct ibv_send_wr wr[LIST_MOST], *bad = NULL;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		program_fill(e, first + i, &wr[i]);
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	rc = ibv_post_send(e->qp, wr, &bad);
	*taken = rc ? (unsigned)(bad - wr) : n;
	NEED(*taken <= n);
	return rc;
}

/* ---- builders -------------------------------------------------------------------------------- */

static void program_begin_one(struct program_end *e, const struct program_request *q)
{
	struct ibv_mw_bind_info info = program_bind_info(e);
	struct ibv_qp_ex *b = e->builder;

	switch (q->op) {
	case IBV_WR_SEND:
		return ibv_wr_send(b);
	case IBV_WR_SEND_WITH_IMM:
		return ibv_wr_send_imm(b, htonl(q->imm));
	case IBV_WR_SEND_WITH_INV:
		return ibv_wr_send_inv(b, q->rkey);
	case IBV_WR_RDMA_WRITE:
		return ibv_wr_rdma_write(b, q->rkey, q->remote);
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return ibv_wr_rdma_write_imm(b, q->rkey, q->remote, htonl(q->imm));
	case IBV_WR_RDMA_READ:
		return ibv_wr_rdma_read(b, q->rkey, q->remote);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return ibv_wr_atomic_cmp_swp(b, q->rkey, q->remote, q->add, q->swap);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return ibv_wr_atomic_fetch_add(b, q->rkey, q->remote, q->add);
	case IBV_WR_LOCAL_INV:
		return ibv_wr_local_inv(b, q->rkey);
	default:
		return ibv_wr_bind_mw(b, e->window.mw, q->rkey, &info);
	}
}

static void program_give_payload(struct program_end *e, const struct program_request *q)
{
	struct ibv_data_buf buf[PROGRAM_SGES];

	if (q->op == IBV_WR_LOCAL_INV || q->op == IBV_WR_BIND_MW)
		return;
	if (!(q->flags & IBV_SEND_INLINE)) {
		if (q->sges == 1)
			ibv_wr_set_sge(
				e->builder, q->sge[0].lkey, q->sge[0].addr, q->sge[0].length);
		else
			ibv_wr_set_sge_list(e->builder, (size_t)q->sges, q->sge);
		return;
	}
	for (int i = 0; i < q->sges; i++)
		buf[i] = (struct ibv_data_buf){(void *)(uintptr_t)q->sge[i].addr, q->sge[i].length};
	if (q->sges == 1)
		ibv_wr_set_inline_data(e->builder, buf[0].addr, buf[0].length);
	else
		ibv_wr_set_inline_data_list(e->builder, (size_t)q->sges, buf);
}

static int program_build(struct program_end *e, unsigned first, unsigned n, unsigned *taken)
{
	int rc;

	ibv_wr_start(e->builder);
	for (unsigned i = first; i < first + n; i++) {
		const struct program_request *q = &e->request[i];

		e->builder->wr_id = i;
		e->builder->wr_flags = q->flags;
		program_begin_one(e, q);
		program_give_payload(e, q);
	}
	rc = ibv_wr_complete(e->builder);
	*taken = rc ? 0 : n;
	return rc;
}

/* ---- any ------------------------------------------------------------------------------------- */

int program_hand_over(struct program_end *e, unsigned first, unsigned n, unsigned *taken)
{
	unsigned one;
	int rc = 0;

	if (e->builder && program_chance(0.5))
		return program_build(e, first, n, taken);
	if (program_chance(0.5))
		return program_post_list(e, first, n, taken);
	for (*taken = 0; *taken < n && !rc; *taken += one)
		rc = program_post_list(e, first + *taken, 1, &one);
	return rc;
}
