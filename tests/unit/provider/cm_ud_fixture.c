/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm_ud_fixture.h"

#include <string.h>

static const char cm_ud_text[] = {'h', 'e', 'l', 'l', 'o'};

struct rdma_cm_id *cm_ud_id(void)
{
	struct rdma_cm_id *id;

	assert_int_equal(rdma_create_id(cm_channel, &id, NULL, RDMA_PS_UDP), 0);
	return id;
}

void cm_ud_open(struct cm_ud_end *e, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;

	e->id = id;
	e->cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	assert_non_null(e->cq);
	init.send_cq = init.recv_cq = e->cq;
	assert_int_equal(rdma_create_qp(id, NULL, &init), 0);
	e->mr = ibv_reg_mr(id->qp->pd, e->buf, sizeof e->buf, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(e->mr);
	sge = (struct ibv_sge){(uintptr_t)e->buf, sizeof e->buf, e->mr->lkey};
	assert_int_equal(ibv_post_recv(id->qp, &wr, &bad), 0);
}

void cm_ud_close(struct cm_ud_end *e)
{
	rdma_destroy_qp(e->id);
	assert_int_equal(ibv_dereg_mr(e->mr), 0);
	assert_int_equal(ibv_destroy_cq(e->cq), 0);
	cm_destroy(e->id);
}

void cm_ud_hello(struct cm_ud_end *e, struct ibv_ah *ah, uint32_t qp)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, sizeof cm_ud_text, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.ud = {.ah = ah,
					   .remote_qpn = qp,
					   .remote_qkey = CM_UD_QKEY}},
			   *bad;

	memcpy(e->buf, cm_ud_text, sizeof cm_ud_text);
	assert_int_equal(ibv_post_send(e->id->qp, &wr, &bad), 0);
}

struct ibv_wc cm_ud_completion(struct cm_ud_end *e)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(e->cq, 1, &wc) == 0)
		;
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	return wc;
}

void cm_ud_expect_hello(struct cm_ud_end *e, const struct cm_ud_end *from)
{
	struct ibv_wc wc = cm_ud_completion(e);

	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.src_qp, from->id->qp->qp_num);
	assert_int_equal(wc.byte_len, CM_UD_GRH + sizeof cm_ud_text);
	assert_memory_equal(e->buf + CM_UD_GRH, cm_ud_text, sizeof cm_ud_text);
}
