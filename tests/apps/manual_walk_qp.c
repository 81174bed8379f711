/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: creation, states, posting, and the builders. */
#include "manual_walk.h"

/* ---- creation ------------------------------------------------------------------------------- */

static void walk_create(void)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_UC, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND,
		IBV_QPT_XRC_RECV, IBV_QPT_DRIVER, (enum ibv_qp_type)99};
	const struct ibv_qp_init_attr good = {
		.qp_type = IBV_QPT_RC, .send_cq = w.cq, .recv_cq = w.cq};
	struct ibv_qp_init_attr a = good;

	for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
		a.qp_type = types[i];
		NIL("ibv_create_qp", "a type that iWARP has not", ibv_create_qp(w.pd, &a),
			EOPNOTSUPP);
	}
#define REFUSED(what, field, value)                                          \
	do {                                                                 \
		a = good;                                                    \
		a.field = (value);                                           \
		NIL("ibv_create_qp", what, ibv_create_qp(w.pd, &a), EINVAL); \
	} while (0)
	REFUSED("no send CQ", send_cq, NULL);
	REFUSED("no receive CQ", recv_cq, NULL);
	REFUSED("send CQ of another context", send_cq, w.foreign_cq);
	REFUSED("receive CQ of another context", recv_cq, w.foreign_cq);
	REFUSED("SRQ of another context", srq, w.foreign_srq);
	REFUSED("too many sends", cap.max_send_wr, (uint32_t)w.attr.max_qp_wr + 1);
	REFUSED("too many receives", cap.max_recv_wr, (uint32_t)w.attr.max_qp_wr + 1);
	REFUSED("too many pieces to send", cap.max_send_sge, (uint32_t)w.attr.max_sge + 1);
	REFUSED("too many pieces to receive", cap.max_recv_sge, (uint32_t)w.attr.max_sge + 1);
	REFUSED("too much inline", cap.max_inline_data, 1 << 20);
#undef REFUSED
}

static void walk_create_ex(void)
{
	struct ibv_qp_init_attr_ex a = {.qp_type = IBV_QPT_RC, .send_cq = w.cq, .recv_cq = w.cq};
	struct ibv_context *c = fx.context;

	NIL("ibv_create_qp_ex", "no PD", ibv_create_qp_ex(c, &a), EINVAL);
	a.comp_mask = IBV_QP_INIT_ATTR_PD;
	a.pd = w.foreign_pd;
	NIL("ibv_create_qp_ex", "PD of another context", ibv_create_qp_ex(c, &a), EINVAL);
	a.pd = w.pd;
	a.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH;
	NIL("ibv_create_qp_ex", "RSS", ibv_create_qp_ex(c, &a), EOPNOTSUPP);
	a.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	a.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	NIL("ibv_create_qp_ex", "raw packets' flags", ibv_create_qp_ex(c, &a), EOPNOTSUPP);
	a.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	a.send_ops_flags = IBV_QP_EX_WITH_TSO;
	NIL("ibv_create_qp_ex", "TSO", ibv_create_qp_ex(c, &a), EOPNOTSUPP);
	TRUE("ibv_create_qp_ex", "no builders without the flag", ibv_qp_to_qp_ex(w.qp) == NULL);
}

/* ---- states --------------------------------------------------------------------------------- */

static void walk_modify(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 2}, now;
	struct ibv_qp_init_attr init;
	const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	INT("ibv_modify_qp", "no such port", ibv_modify_qp(w.qp, &a, to_init), EINVAL);
	a.port_num = 1;
	a.pkey_index = 1;
	INT("ibv_modify_qp", "no such P_Key", ibv_modify_qp(w.qp, &a, to_init), EINVAL);
	a.pkey_index = 0;
	INT("ibv_modify_qp", "an attribute is missing",
		ibv_modify_qp(w.qp, &a, to_init & ~IBV_QP_ACCESS_FLAGS), EINVAL);
	INT("ibv_modify_qp", "one of another step", ibv_modify_qp(w.qp, &a, to_init | IBV_QP_AV),
		EINVAL);
	INT("ibv_modify_qp", "one of datagrams", ibv_modify_qp(w.qp, &a, to_init | IBV_QP_QKEY),
		EINVAL);
	INT("ibv_modify_qp", "unknown bit", ibv_modify_qp(w.qp, &a, to_init | 1 << 30), EINVAL);
	INT("ibv_modify_qp", "no IBV_DEVICE_RESIZE_MAX_WR",
		ibv_modify_qp(w.qp, &a, to_init | IBV_QP_CAP), EOPNOTSUPP);
	INT("ibv_modify_qp", "no IBV_DEVICE_AUTO_PATH_MIG",
		ibv_modify_qp(w.qp, &a, to_init | IBV_QP_ALT_PATH), EOPNOTSUPP);
	INT("ibv_modify_qp", "no packet pacing",
		ibv_modify_qp(w.qp, &a, to_init | IBV_QP_RATE_LIMIT), EOPNOTSUPP);
	a.qp_state = IBV_QPS_RTS;
	INT("ibv_modify_qp", "a step too far", ibv_modify_qp(w.qp, &a, IBV_QP_STATE), EINVAL);
	a.qp_state = (enum ibv_qp_state)42;
	INT("ibv_modify_qp", "no such state", ibv_modify_qp(w.qp, &a, IBV_QP_STATE), EINVAL);
	INT("ibv_query_qp", "nothing was changed", ibv_query_qp(w.qp, &now, 0, &init), 0);
	TRUE("ibv_query_qp", "nothing was changed", now.qp_state == IBV_QPS_RESET);
	TRUE("ibv_query_qp", "its CQs", init.send_cq == w.cq && init.recv_cq == w.cq);
	a.qp_state = IBV_QPS_INIT;
	INT("ibv_modify_qp", "plain", ibv_modify_qp(w.qp, &a, to_init), 0);
	a.cur_qp_state = IBV_QPS_RTS;
	a.qp_state = IBV_QPS_RTR;
	INT("ibv_modify_qp", "not the state it is in",
		ibv_modify_qp(w.qp, &a, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL);
	a.max_dest_rd_atomic = 255;
	INT("ibv_modify_qp", "more Reads than there can be",
		ibv_modify_qp(w.qp, &a, IBV_QP_STATE | IBV_QP_MAX_DEST_RD_ATOMIC), EINVAL);
	INT("ibv_query_qp_data_in_order", "not promised",
		ibv_query_qp_data_in_order(w.qp, IBV_WR_RDMA_WRITE, 0), 0);
}

void walk_qp(void **state)
{
	walk_create();
	walk_create_ex();
	walk_modify();
}

/* ---- posting -------------------------------------------------------------------------------- */

static void receives(void)
{
	struct ibv_sge sge[4] = {{.addr = (uintptr_t)w.buf, .length = 8, .lkey = w.mr->lkey}};
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = 1}, second = wr, *bad = NULL;

	INT("ibv_post_recv", "in RESET", ibv_post_recv(w.qp, &wr, &bad), EINVAL);
	TRUE("ibv_post_recv", "which", bad == &wr);
	assert_int_equal(qp_go(w.qp, IBV_QPS_INIT), 0);
	second.num_sge = 99;
	wr.next = &second;
	INT("ibv_post_recv", "too many pieces", ibv_post_recv(w.qp, &wr, &bad), EINVAL);
	TRUE("ibv_post_recv", "the second", bad == &second);
	second.num_sge = -1;
	INT("ibv_post_recv", "fewer than none", ibv_post_recv(w.qp, &second, &bad), EINVAL);
	wr.next = NULL;
	for (int rc = 0; rc == 0;)
		rc = ibv_post_recv(w.qp, &wr, &bad);
	INT("ibv_post_recv", "full", ibv_post_recv(w.qp, &wr, &bad), ENOMEM);
}

static void send_refused(const char *what, struct ibv_send_wr wr, int want)
{
	struct ibv_send_wr *bad = NULL;

	INT("ibv_post_send", what, ibv_post_send(w.qp, &wr, &bad), want);
	TRUE("ibv_post_send", "which", bad == &wr);
}

static void sends(void)
{
	static const enum ibv_wr_opcode absent[] = {
		IBV_WR_SEND_WITH_IMM, IBV_WR_TSO, IBV_WR_DRIVER1, (enum ibv_wr_opcode)77};
	struct ibv_sge sge[4] = {{.addr = (uintptr_t)w.buf, .length = 8, .lkey = w.mr->lkey}};
	const struct ibv_send_wr good = {.sg_list = sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct ibv_send_wr wr = good;

	send_refused("in INIT", good, EINVAL);
	assert_int_equal(qp_go(w.qp, IBV_QPS_RTR), 0);
	send_refused("in RTR", good, EINVAL);
	assert_int_equal(qp_go(w.qp, IBV_QPS_RTS), 0);
	for (unsigned i = 0; i < sizeof absent / sizeof absent[0]; i++) {
		wr.opcode = absent[i];
		send_refused("an operation that iWARP has not", wr, EOPNOTSUPP);
	}
	wr = good;
	wr.num_sge = 99;
	send_refused("too many pieces", wr, EINVAL);
	wr.num_sge = -1;
	send_refused("fewer than none", wr, EINVAL);
	wr = good;
	wr.send_flags = IBV_SEND_INLINE;
	sge[0].length = 4096;
	send_refused("too much inline", wr, EINVAL);
	wr.opcode = IBV_WR_RDMA_READ;
	sge[0].length = 8;
	send_refused("a Read inline", wr, EINVAL);
	wr.send_flags = 0;
	wr.num_sge = 2;
	send_refused("a Read of more pieces than max_sge_rd", wr, EINVAL);
	wr = good;
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	sge[0].length = 4;
	send_refused("no room for what an Atomic fetches", wr, EINVAL);
	sge[0].length = UINT32_MAX;
	send_refused("longer than max_msg_sz", good, EINVAL);
	sge[0].length = 0;
	for (int rc = 0; rc == 0;) {
		struct ibv_send_wr *bad;

		wr = good;
		rc = ibv_post_send(w.qp, &wr, &bad);
	}
	send_refused("full", good, ENOMEM);
}

void walk_post(void **state)
{
	receives();
	sends();
}

/* ---- builders ------------------------------------------------------------------------------- */

#define BUILDERS                                                                         \
	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |    \
		IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
		IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |         \
		IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW)

/* Build one; the setter of its data may be what is wrong. @return what ibv_wr_complete() says. */
#define BUILD(builder, setter) (ibv_wr_start(x), builder, setter, ibv_wr_complete(x))

static void bad_builds(struct ibv_qp_ex *x)
{
	struct ibv_mw *mw = ibv_alloc_mw(w.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind_info info = {.mr = w.mr, .addr = (uintptr_t)w.buf, .length = 8};
	struct ibv_data_buf bufs[2] = {{w.buf, 2000}, {w.buf, 2000}};
	struct ibv_sge sge[99] = {{0}};

	INT("ibv_wr_set_sge", "without an operation",
		(ibv_wr_start(x), ibv_wr_set_sge(x, 0, 0, 0), ibv_wr_complete(x)), EINVAL);
	INT("ibv_wr_set_sge_list", "too many pieces",
		BUILD(ibv_wr_send(x), ibv_wr_set_sge_list(x, 99, sge)), EINVAL);
	INT("ibv_wr_rdma_read", "more pieces than max_sge_rd",
		BUILD(ibv_wr_rdma_read(x, 0, 0), ibv_wr_set_sge_list(x, 2, sge)), EINVAL);
	INT("ibv_wr_rdma_read", "inline",
		BUILD(ibv_wr_rdma_read(x, 0, 0), ibv_wr_set_inline_data(x, w.buf, 4)), EINVAL);
	INT("ibv_wr_set_inline_data", "too much",
		BUILD(ibv_wr_send(x), ibv_wr_set_inline_data(x, w.buf, 4000)), EINVAL);
	INT("ibv_wr_set_inline_data_list", "too much",
		BUILD(ibv_wr_send(x), ibv_wr_set_inline_data_list(x, 2, bufs)), EINVAL);
	INT("ibv_wr_atomic_cmp_swp", "no room for what it fetches",
		BUILD(ibv_wr_atomic_cmp_swp(x, 0, 0, 1, 2), ibv_wr_set_sge(x, 0, 0, 4)), EINVAL);
	INT("ibv_wr_atomic_fetch_add", "no room for what it fetches",
		BUILD(ibv_wr_atomic_fetch_add(x, 0, 0, 1), ibv_wr_set_sge(x, 0, 0, 4)), EINVAL);
	INT("ibv_wr_bind_mw", "a window of type 1",
		BUILD(ibv_wr_bind_mw(x, mw, ibv_inc_rkey(mw->rkey), &info), (void)0), EINVAL);
	/* The verb itself is not there where its flag was refused at creation. */
	INT("ibv_wr_send_imm", "no peer that knows it",
		BUILD(ibv_wr_send_imm(x, 1), ibv_wr_set_inline_data(x, w.buf, 4)), EOPNOTSUPP);
	TRUE("ibv_wr_send_tso", "not of iWARP", x->wr_send_tso == NULL);
	INT("ibv_wr_set_ud_addr", "not UD",
		BUILD(ibv_wr_send(x), ibv_wr_set_ud_addr(x, NULL, 1, 1)), EINVAL);
	TRUE("ibv_wr_set_xrc_srqn", "not of iWARP", x->wr_set_xrc_srqn == NULL);
	INT("ibv_dealloc_mw", "unbound", ibv_dealloc_mw(mw), 0);
}

static void good_builds(struct ibv_qp_ex *x)
{
	INT("ibv_wr_send", "plain", BUILD(ibv_wr_send(x), ibv_wr_set_sge(x, w.mr->lkey, 0, 0)), 0);
	INT("ibv_wr_send_inv", "plain", BUILD(ibv_wr_send_inv(x, 1), (void)0), 0);
	INT("ibv_wr_local_inv", "plain", BUILD(ibv_wr_local_inv(x, 1), (void)0), 0);
	INT("ibv_wr_rdma_write", "plain", BUILD(ibv_wr_rdma_write(x, 0, 0), (void)0), 0);
	INT("ibv_wr_start", "full", BUILD(ibv_wr_send(x), (void)0), ENOMEM);
	INT("ibv_wr_complete", "still full", BUILD(ibv_wr_rdma_write_imm(x, 0, 0, 0), (void)0),
		ENOMEM);
	INT("ibv_wr_rdma_write_imm", "nothing was built", (ibv_wr_start(x), ibv_wr_complete(x)), 0);
	ibv_wr_start(x);
	ibv_wr_abort(x);
	TRUE("ibv_wr_abort", "nothing was built", true);
	TRUE("ibv_wr_post", "all of the page", true);
}

void walk_builders(void **state)
{
	struct ibv_qp_init_attr_ex a = {.qp_type = IBV_QPT_RC,
		.send_cq = w.cq,
		.recv_cq = w.cq,
		.pd = w.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = BUILDERS,
		.cap = {.max_send_wr = 4, .max_send_sge = 2, .max_inline_data = 16}};
	struct ibv_qp *qp = ibv_create_qp_ex(fx.context, &a);
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp);

	assert_non_null(x);
	INT("ibv_wr_start", "in RESET", BUILD(ibv_wr_send(x), (void)0), EINVAL);
	assert_int_equal(qp_go(qp, IBV_QPS_INIT), 0);
	assert_int_equal(qp_go(qp, IBV_QPS_RTR), 0);
	assert_int_equal(qp_go(qp, IBV_QPS_RTS), 0);
	bad_builds(x);
	good_builds(x);
	INT("ibv_destroy_qp", "with requests", ibv_destroy_qp(qp), 0);
}
