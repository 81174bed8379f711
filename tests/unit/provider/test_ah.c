/* SPDX-License-Identifier: BSD-2-Clause */
/* UD queue pairs and address handles (docs/ud.md), between two queue pairs of one device. */
#include "fixture.h"

#include <errno.h>
#include <string.h>

#define QKEY 0x11111111
#define BUF  8192
#define GRH  40

static struct ud {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *a, *b;
	uint8_t buf[BUF];
} ud;

static struct ibv_qp *make(bool extended)
{
	struct ibv_qp_init_attr_ex x = {.qp_type = IBV_QPT_UD,
		.send_cq = ud.cq,
		.recv_cq = ud.cq,
		.pd = ud.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
		.cap = {.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 32}};
	struct ibv_qp_init_attr plain = {
		.qp_type = IBV_QPT_UD, .send_cq = ud.cq, .recv_cq = ud.cq, .cap = x.cap};

	return extended ? ibv_create_qp_ex(fx.context, &x) : ibv_create_qp(ud.pd, &plain);
}

static void go(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp_init_attr init;

	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &a,
				 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS | IBV_QP_QKEY),
		EINVAL);
	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_DEST_QPN), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), EINVAL);
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	assert_int_equal(ibv_query_qp(qp, &a, IBV_QP_QKEY, &init), 0);
	assert_int_equal(a.qkey, QKEY);
	assert_int_equal(init.qp_type, IBV_QPT_UD);
}

static int setup(void **state)
{
	if (fixture_open(state) != 0)
		return 1;
	ud.pd = ibv_alloc_pd(fx.context);
	ud.cq = ibv_create_cq(fx.context, 64, NULL, NULL, 0);
	ud.mr = ibv_reg_mr(ud.pd, ud.buf, BUF, IBV_ACCESS_LOCAL_WRITE);
	ud.a = make(true);
	ud.b = make(false);
	assert_non_null(ud.a);
	assert_non_null(ud.b);
	assert_null(ibv_qp_to_qp_ex(ud.b));
	go(ud.a);
	go(ud.b);
	memset(ud.buf, 0, BUF);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(ibv_destroy_qp(ud.a), 0);
	assert_int_equal(ibv_destroy_qp(ud.b), 0);
	assert_int_equal(ibv_dereg_mr(ud.mr), 0);
	assert_int_equal(ibv_destroy_cq(ud.cq), 0);
	assert_int_equal(ibv_dealloc_pd(ud.pd), 0);
	return fixture_close(state);
}

/* Our own address. */
static struct ibv_ah_attr own(void)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1, .grh = {.traffic_class = 8}};

	assert_int_equal(ibv_query_gid(fx.context, 1, 0, &a.grh.dgid), 0);
	return a;
}

static void receive(struct ibv_qp *qp, uint64_t wr_id, uint32_t at, uint32_t len)
{
	struct ibv_sge sge = {.addr = (uintptr_t)ud.buf + at, .length = len, .lkey = ud.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

static struct ibv_wc poll_one(void)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(ud.cq, 1, &wc)) == 0)
		;
	assert_int_equal(n, 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	return wc;
}

/* Two completions, the send's and the receive's, in any order. @return the latter. */
static struct ibv_wc poll_both(uint64_t sent)
{
	struct ibv_wc first = poll_one(), second = poll_one();
	bool swapped = first.opcode == IBV_WC_RECV;

	assert_int_equal((swapped ? second : first).opcode, IBV_WC_SEND);
	assert_int_equal((swapped ? second : first).wr_id, sent);
	return swapped ? first : second;
}

static struct ibv_send_wr to_b(struct ibv_sge *sge, struct ibv_ah *ah, uint32_t len)
{
	*sge = (struct ibv_sge){.addr = (uintptr_t)ud.buf, .length = len, .lkey = ud.mr->lkey};
	return (struct ibv_send_wr){.wr_id = 1,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = ah, .remote_qpn = ud.b->qp_num, .remote_qkey = QKEY}};
}

/* There, and back to where it came from. */
static void test_there_and_back(void **state)
{
	struct ibv_ah_attr attr = own(), back;
	struct ibv_ah *ah = ibv_create_ah(ud.pd, &attr), *answer;
	struct ibv_grh *grh = (struct ibv_grh *)(void *)(ud.buf + 4096);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(ud.a);
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;

	assert_non_null(ah);
	strcpy((char *)ud.buf, "datagram");
	receive(ud.b, 7, 4096, 1000);
	wr = to_b(&sge, ah, 9);
	assert_int_equal(ibv_post_send(ud.a, &wr, &bad), 0);
	wc = poll_both(1);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(wc.byte_len, GRH + 9);
	assert_int_equal(wc.wc_flags, IBV_WC_GRH);
	assert_int_equal(wc.src_qp, ud.a->qp_num);
	assert_int_equal(wc.qp_num, ud.b->qp_num);
	assert_string_equal((char *)ud.buf + 4096 + GRH, "datagram");
	assert_memory_equal(&grh->sgid, &attr.grh.dgid, 16);
	assert_int_equal(ibv_init_ah_from_wc(fx.context, 1, &wc, grh, &back), 0);
	assert_int_equal(back.is_global, 1);
	assert_int_equal(back.grh.sgid_index, 0);
	assert_int_equal(back.grh.traffic_class, 8);
	assert_memory_equal(&back.grh.dgid, &grh->sgid, 16);
	answer = ibv_create_ah_from_wc(ud.pd, &wc, grh, 1);
	assert_non_null(answer);
	receive(ud.a, 8, 2048, 1000);
	wr = to_b(&sge, answer, 9);
	wr.wr.ud.remote_qpn = wc.src_qp;
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htobe32(5);
	assert_int_equal(ibv_post_send(ud.b, &wr, &bad), 0);
	wc = poll_both(1);
	assert_int_equal(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	assert_int_equal(be32toh(wc.imm_data), 5);
	/* The same by builders. */
	receive(ud.b, 9, 4096, 1000);
	ibv_wr_start(ex);
	ex->wr_id = 3;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(ex, htobe32(6));
	ibv_wr_set_ud_addr(ex, ah, ud.b->qp_num, QKEY);
	ibv_wr_set_inline_data(ex, (void *)"inline", 7);
	assert_int_equal(ibv_wr_complete(ex), 0);
	wc = poll_both(3);
	assert_int_equal(be32toh(wc.imm_data), 6);
	assert_string_equal((char *)ud.buf + 4096 + GRH, "inline");
	wc.wc_flags = 0;
	assert_int_equal(ibv_init_ah_from_wc(fx.context, 1, &wc, grh, &back), -1);
	assert_int_equal(ibv_destroy_ah(answer), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

static void test_bad_handles(void **state)
{
	const struct ibv_ah_attr good = own();
	struct ibv_ah_attr a = good;
	struct ibv_ah *ah;

#define REFUSED(field, value, error)           \
	a = good;                              \
	a.field = (value);                     \
	assert_null(ibv_create_ah(ud.pd, &a)); \
	assert_int_equal(errno, error);
	REFUSED(is_global, 0, EINVAL);
	REFUSED(port_num, 2, EINVAL);
	REFUSED(grh.sgid_index, 9, EINVAL);
	REFUSED(grh.dgid.raw[11], 0, EINVAL); /* IPv6 from IPv4 */
	REFUSED(grh.dgid, ((union ibv_gid){.raw = {0}}), EINVAL);
	ah = ibv_create_ah(ud.pd,
		&(struct ibv_ah_attr){.is_global = 1, .port_num = 1, .grh.dgid = good.grh.dgid});
	assert_non_null(ah);
	assert_int_equal(ibv_dealloc_pd(ud.pd), EBUSY);
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

static void test_bad_requests(void **state)
{
	struct ibv_ah_attr attr = own();
	struct ibv_ah *ah = ibv_create_ah(ud.pd, &attr);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(ud.a);
	struct ibv_qp_init_attr_ex x = {.qp_type = IBV_QPT_UD,
		.send_cq = ud.cq,
		.recv_cq = ud.cq,
		.pd = ud.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};
	struct ibv_send_wr wr, *bad;
	struct ibv_port_attr port;
	struct ibv_sge sge;
	struct ibv_mw *mw = ibv_alloc_mw(ud.pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr =
		ibv_reg_mr(ud.pd, ud.buf, BUF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw_bind bind = {.bind_info = {.mr = mr,
					   .addr = (uintptr_t)ud.buf,
					   .length = 64,
					   .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
	struct ibv_wc wc;

	assert_null(ibv_create_qp_ex(fx.context, &x));
	assert_int_equal(errno, EOPNOTSUPP);
	wr = to_b(&sge, NULL, 9);
	assert_int_equal(ibv_post_send(ud.a, &wr, &bad), EINVAL);
	wr = to_b(&sge, ah, 9);
	wr.opcode = IBV_WR_RDMA_WRITE;
	assert_int_equal(ibv_post_send(ud.a, &wr, &bad), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, NULL, 1, QKEY);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	/* To nobody: the last, and one before it. */
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, ah, 1, QKEY);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	assert_int_equal(ibv_bind_mw(ud.a, mw, &bind), EINVAL);
	/* As long as the port's MTU, and one octet more. */
	assert_int_equal(ibv_query_port(fx.context, 1, &port), 0);
	wr = to_b(&sge, ah, 128u << port.active_mtu);
	assert_int_equal(ibv_post_send(ud.a, &wr, &bad), 0);
	assert_int_equal(poll_one().opcode, IBV_WC_SEND);
	sge.length++;
	assert_int_equal(ibv_post_send(ud.a, &wr, &bad), 0);
	while (ibv_poll_cq(ud.cq, 1, &wc) == 0)
		;
	assert_int_equal(wc.status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_there_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_handles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_requests, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
