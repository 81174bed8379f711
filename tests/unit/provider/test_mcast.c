/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of UD queue pairs (docs/ud.md), between queue pairs of one device. */
#include "fixture.h"

#include <errno.h>
#include <string.h>

#define QKEY     0x11111111
#define QP_GROUP 0xffffff
#define BUF      4096
#define SLOT     1024
#define GRH      40
#define QPS      3

static struct {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp[QPS]; /* the last does not get what it has sent */
	struct ibv_ah *ah;
	uint8_t buf[BUF]; /* a receive of each QP, and what is sent */
} m;

static const union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 7, 7, 7}};
static const union ibv_gid another = {.raw = {[10] = 0xff, 0xff, 239, 7, 7, 8}};

static struct ibv_qp *make(bool block)
{
	struct ibv_qp_init_attr_ex x = {.qp_type = IBV_QPT_UD,
		.send_cq = m.cq,
		.recv_cq = m.cq,
		.pd = m.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = block ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};

	return ibv_create_qp_ex(fx.context, &x);
}

static void go(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static int setup(void **state)
{
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.dgid = group};

	if (fixture_open(state) != 0)
		return 1;
	m.pd = ibv_alloc_pd(fx.context);
	m.cq = ibv_create_cq(fx.context, 64, NULL, NULL, 0);
	m.mr = ibv_reg_mr(m.pd, m.buf, BUF, IBV_ACCESS_LOCAL_WRITE);
	for (unsigned i = 0; i < QPS; i++) {
		m.qp[i] = make(i == QPS - 1);
		assert_non_null(m.qp[i]);
		go(m.qp[i]);
	}
	m.ah = ibv_create_ah(m.pd, &to);
	assert_non_null(m.ah);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(ibv_destroy_ah(m.ah), 0);
	for (unsigned i = 0; i < QPS; i++)
		assert_int_equal(ibv_destroy_qp(m.qp[i]), 0);
	assert_int_equal(ibv_dereg_mr(m.mr), 0);
	assert_int_equal(ibv_destroy_cq(m.cq), 0);
	assert_int_equal(ibv_dealloc_pd(m.pd), 0);
	return fixture_close(state);
}

static void receive(unsigned i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)m.buf + SLOT * i, .length = SLOT, .lkey = m.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(m.qp[i], &wr, &bad), 0);
}

static void say(unsigned i, uint32_t to_qp)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)m.buf + SLOT * QPS, .length = 6, .lkey = m.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 99,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = m.ah, .remote_qpn = to_qp, .remote_qkey = QKEY}};
	struct ibv_send_wr *bad;

	memcpy(m.buf + SLOT * QPS, "group!", 6);
	assert_int_equal(ibv_post_send(m.qp[i], &wr, &bad), 0);
}

/* The send's completion and those of @p n receives. @return whose those are, a bit each. */
static unsigned completions(unsigned n)
{
	unsigned bits = 0;
	struct ibv_wc wc;

	for (unsigned i = 0; i < n + 1; i++) {
		while (ibv_poll_cq(m.cq, 1, &wc) == 0)
			;
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		if (wc.wr_id == 99)
			continue;
		assert_int_equal(wc.byte_len, GRH + 6);
		assert_int_equal(wc.wc_flags, IBV_WC_GRH);
		assert_memory_equal(m.buf + SLOT * wc.wr_id + 24, group.raw, 16);
		assert_memory_equal(m.buf + SLOT * wc.wr_id + GRH, "group!", 6);
		bits |= 1u << wc.wr_id;
	}
	return bits;
}

static void attach(unsigned i)
{
	assert_int_equal(ibv_attach_mcast(m.qp[i], &group, 0), 0);
}

static void detach(unsigned i)
{
	assert_int_equal(ibv_detach_mcast(m.qp[i], &group, 0), 0);
}

/* All that are attached get it once, the sender too, unless it wants nothing of its own. */
static void test_who_gets_it(void **state)
{
	for (unsigned i = 0; i < QPS; i++)
		receive(i);
	attach(0);
	attach(0);
	attach(2);
	say(0, QP_GROUP);
	assert_int_equal(completions(2), 5);
	receive(0);
	receive(2);
	say(2, QP_GROUP); /* the second is not attached, the last has sent it */
	assert_int_equal(completions(1), 1);
	receive(0);
	say(1, m.qp[0]->qp_num); /* for one QP: it goes to nobody at a group */
	assert_int_equal(completions(0), 0);
	say(1, QP_GROUP);
	assert_int_equal(completions(2), 5);
	detach(0);
	detach(2);
}

static void test_errors(void **state)
{
	const union ibv_gid peer = {.raw = {0xfd, [15] = 1}},
			    reserved = {.raw = {[10] = 0xff, 0xff, 224}};
	const struct ibv_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 1};
	struct lone l;

	assert_int_equal(ibv_attach_mcast(m.qp[0], &peer, 0), EINVAL);
	assert_int_equal(ibv_attach_mcast(m.qp[0], &reserved, 0), EINVAL);
	assert_int_equal(ibv_detach_mcast(m.qp[0], &group, 0), EINVAL);
	attach(0);
	attach(0);
	detach(0);
	assert_int_equal(ibv_detach_mcast(m.qp[0], &group, 0), EINVAL);
	lone_open(&l, &cap, 4, false); /* reliable, connected */
	assert_int_equal(ibv_attach_mcast(l.qp, &group, 0), EINVAL);
	lone_close(&l);
}

/* ibv_destroy_qp(3): it fails while the QP is attached. */
static void test_destroy(void **state)
{
	attach(1);
	assert_int_equal(ibv_attach_mcast(m.qp[1], &another, 0), 0);
	assert_int_equal(ibv_destroy_qp(m.qp[1]), EBUSY);
	detach(1);
	assert_int_equal(ibv_destroy_qp(m.qp[1]), EBUSY);
	assert_int_equal(ibv_detach_mcast(m.qp[1], &another, 0), 0);
}

/* A context that is closed leaves nothing attached: its QPs can be destroyed. */
static void test_close(void **state)
{
	struct ibv_context *second = ibv_open_device(fx.context->device);
	struct ibv_pd *pd = ibv_alloc_pd(second);
	struct ibv_cq *cq = ibv_create_cq(second, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1}};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	assert_int_equal(ibv_attach_mcast(qp, &group, 0), 0);
	assert_int_equal(ibv_close_device(second), 0);
	assert_int_equal(ibv_attach_mcast(qp, &group, 0), ENODEV);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
		TEST(test_who_gets_it),
		TEST(test_errors),
		TEST(test_destroy),
		TEST(test_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
