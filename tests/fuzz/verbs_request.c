/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests, posted as lists and by builders. */
#include "verbs_world.h"

#define REQUESTS 3

/* ---- requests -------------------------------------------------------------------------------- */

static void fill_request(struct ibv_send_wr *wr, uint8_t of)
{
	struct ibv_mw *mw = verbs_any_object(VERBS_MW);

	*wr = (struct ibv_send_wr){.wr_id = verbs_next_id(of),
		.opcode = fuzz_u8(verbs_world.in) % 18,
		.send_flags = fuzz_u8(verbs_world.in),
		.num_sge = verbs_any_count()};
	wr->sg_list = verbs_any_list(wr->send_flags & IBV_SEND_INLINE);
	wr->imm_data = verbs_any_key();
	if (wr->opcode == IBV_WR_BIND_MW) {
		if (!mw)
			wr->opcode = IBV_WR_SEND;
		wr->bind_mw.mw = mw;
		wr->bind_mw.rkey = verbs_any_key();
		wr->bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = verbs_any_object(VERBS_MR),
			.addr = verbs_any_address(),
			.length = verbs_any_length(),
			.mw_access_flags = fuzz_u8(verbs_world.in)};
	} else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = verbs_any_address();
		wr->wr.atomic.rkey = verbs_any_key();
	} else {
		wr->wr.rdma.remote_addr = verbs_any_address();
		wr->wr.rdma.rkey = verbs_any_key();
	}
}

void verbs_post_sends(void)
{
	struct ibv_send_wr wr[REQUESTS] = {0}, *bad = NULL, *at;
	uint8_t how = fuzz_u8(verbs_world.in);
	unsigned slot = how % VERBS_SLOTS, n = 1 + (how >> 2) % REQUESTS;
	struct ibv_qp *qp = verbs_world.object[VERBS_QP][slot];
	int rc;

	if (!qp)
		return;
	for (unsigned i = 0; i < n; i++) {
		fill_request(&wr[i], (uint8_t)(1 + slot));
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	rc = post_send(qp, wr, &bad);
	MUST(rc >= 0 && (rc == 0) == (bad == NULL));
	for (at = bad; at; at = at->next)
		verbs_world.open[at->wr_id] = 0;
	for (unsigned i = 0; i < n; i++)
		free(wr[i].sg_list);
}

void verbs_post_receives(void)
{
	struct ibv_recv_wr wr[REQUESTS] = {0}, *bad = NULL, *at;
	uint8_t how = fuzz_u8(verbs_world.in);
	unsigned slot = how % VERBS_SLOTS, n = 1 + (how >> 2) % REQUESTS;
	bool shared = how & 128;
	void *queue = verbs_world.object[shared ? VERBS_SRQ : VERBS_QP][slot];
	int rc;

	if (!queue)
		return;
	for (unsigned i = 0; i < n; i++)
		wr[i] = (struct ibv_recv_wr){
			.wr_id = verbs_next_id((uint8_t)(1 + (shared ? VERBS_SLOTS : slot))),
			.next = i + 1 < n ? &wr[i + 1] : NULL,
			.sg_list = verbs_any_list(false),
			.num_sge = verbs_any_count()};
	rc = shared ? post_srq_recv(queue, wr, &bad) : post_recv(queue, wr, &bad);
	MUST(rc >= 0 && (rc == 0) == (bad == NULL));
	for (at = bad; at; at = at->next)
		verbs_world.open[at->wr_id] = 0;
	for (unsigned i = 0; i < n; i++)
		free(wr[i].sg_list);
}

void verbs_bind_window(void)
{
	struct ibv_mw *mw = verbs_any_object(VERBS_MW);
	unsigned slot = fuzz_u8(verbs_world.in) % VERBS_SLOTS;
	struct ibv_qp *qp = verbs_world.object[VERBS_QP][slot];
	struct ibv_mw_bind bind = {.send_flags = fuzz_u8(verbs_world.in),
		.bind_info = {.mr = verbs_any_object(VERBS_MR),
			.addr = verbs_any_address(),
			.length = verbs_any_length(),
			.mw_access_flags = fuzz_u8(verbs_world.in)}};

	if (!mw || !qp)
		return;
	bind.wr_id = verbs_next_id((uint8_t)(1 + slot));
	if (post_bind_mw(qp, mw, &bind))
		verbs_world.open[bind.wr_id] = 0;
}

/* ---- builders -------------------------------------------------------------------------------- */

static void build_begin(struct ibv_qp_ex *ex, uint8_t op)
{
	struct ibv_mw_bind_info info = {
		.mr = verbs_any_object(VERBS_MR), .addr = verbs_any_address()};
	struct ibv_mw *mw = verbs_any_object(VERBS_MW);
	uint32_t key = verbs_any_key();
	uint64_t to = verbs_any_address();

	switch (op % 9) {
	case 0:
		ex->wr_send(ex);
		break;
	case 1:
		ex->wr_send_inv(ex, key);
		break;
	case 2:
		ex->wr_local_inv(ex, key);
		break;
	case 3:
		ex->wr_rdma_write(ex, key, to);
		break;
	case 4:
		ex->wr_rdma_write_imm(ex, key, to, op);
		break;
	case 5:
		ex->wr_rdma_read(ex, key, to);
		break;
	case 6:
		ex->wr_atomic_cmp_swp(ex, key, to, op, key);
		break;
	case 7:
		ex->wr_atomic_fetch_add(ex, key, to, op);
		break;
	default:
		info.length = verbs_any_length();
		info.mw_access_flags = fuzz_u8(verbs_world.in);
		if (mw)
			ex->wr_bind_mw(ex, mw, key, &info);
	}
}

static void build_data(struct ibv_qp_ex *ex, uint8_t how)
{
	struct ibv_data_buf buf[2];
	struct ibv_sge *sge;

	switch (how & 3) {
	case 0:
		ex->wr_set_sge(
			ex, verbs_any_key(), verbs_any_address(), (uint32_t)verbs_any_length());
		break;
	case 1:
		sge = verbs_any_list(false);
		ex->wr_set_sge_list(ex, (size_t)verbs_any_count(), sge);
		free(sge);
		break;
	case 2:
		buf[0].addr = (void *)(uintptr_t)verbs_good_address();
		ex->wr_set_inline_data(ex, buf[0].addr, verbs_any_length());
		break;
	default:
		for (unsigned i = 0; i < 2; i++)
			buf[i] = (struct ibv_data_buf){
				(void *)(uintptr_t)verbs_good_address(), verbs_any_length()};
		ex->wr_set_inline_data_list(ex, how >> 2 & 1 ? 2 : 1, buf);
	}
}

void verbs_build(void)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	unsigned slot = how % VERBS_SLOTS, n = 1 + (how >> 2) % REQUESTS;
	struct ibv_qp *qp = verbs_world.object[VERBS_QP][slot];
	struct ibv_qp_ex *ex = qp ? qp_to_ex(qp) : NULL;
	uint64_t first = verbs_world.wr_id;
	int rc = -1;

	if (!ex)
		return;
	ex->wr_start(ex);
	for (unsigned i = 0; i < n; i++) {
		ex->wr_id = verbs_next_id((uint8_t)(1 + slot));
		ex->wr_flags = fuzz_u8(verbs_world.in);
		build_begin(ex, fuzz_u8(verbs_world.in));
		for (uint8_t more = fuzz_u8(verbs_world.in) & 3; more; more--)
			build_data(ex, fuzz_u8(verbs_world.in));
	}
	if (how & 128)
		ex->wr_abort(ex);
	else
		rc = ex->wr_complete(ex);
	for (uint64_t id = first; rc && id < verbs_world.wr_id; id++)
		verbs_world.open[id % VERBS_IDS] = 0;
}
