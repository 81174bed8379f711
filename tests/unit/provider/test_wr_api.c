/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_wr_start() ... ibv_wr_complete(): each builder and setter, and nothing posted on an error. */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const struct ibv_qp_cap small = {.max_send_wr = 4,
	.max_recv_wr = 1,
	.max_send_sge = 2,
	.max_recv_sge = 1,
	.max_inline_data = 20};

static struct ibv_qp_ex *client(void)
{
	return ibv_qp_to_qp_ex(fx.client.id->qp);
}

static void open_waiting(struct lone *l)
{
	lone_open(l, &small, 64, true);
	assert_int_equal(qp_go(l->qp, IBV_QPS_INIT), 0);
	assert_int_equal(qp_go(l->qp, IBV_QPS_RTR), 0);
	assert_int_equal(qp_go(l->qp, IBV_QPS_RTS), 0);
}

/* Those that wait, by their numbers; then the QP is done with. */
static void close_with(struct lone *l, int n, uint64_t first)
{
	struct ibv_wc wc[64];

	assert_int_equal(qp_go(l->qp, IBV_QPS_ERR), 0);
	assert_int_equal(ibv_poll_cq(l->cq, 64, wc), n);
	for (int i = 0; i < n; i++) {
		assert_int_equal(wc[i].wr_id, first + (unsigned)i);
		assert_int_equal(wc[i].status, IBV_WC_WR_FLUSH_ERR);
	}
	lone_close(l);
}

/* ---- without a connection ----------------------------------------------------------------------
 */

static void test_which_qps(void **state)
{
	const uint64_t foreign[] = {IBV_QP_EX_WITH_TSO, UINT64_C(1) << 63};
	struct ibv_qp_init_attr_ex a = {
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.qp_type = IBV_QPT_RC};
	struct lone l;

	lone_open(&l, &small, 4, false);
	assert_null(ibv_qp_to_qp_ex(l.qp));
	a.pd = l.pd;
	a.send_cq = a.recv_cq = l.cq;
	for (unsigned i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
		a.send_ops_flags = IBV_QP_EX_WITH_SEND | foreign[i];
		errno = 0;
		assert_null(ibv_create_qp_ex(fx.context, &a));
		assert_int_equal(errno, EOPNOTSUPP);
	}
	lone_close(&l);
	lone_open(&l, &small, 4, true);
	assert_non_null(ibv_qp_to_qp_ex(l.qp));
	assert_ptr_equal(&ibv_qp_to_qp_ex(l.qp)->qp_base, l.qp);
	lone_close(&l);
}

static void test_states(void **state)
{
	struct ibv_qp_ex *ex;
	struct lone l;

	lone_open(&l, &small, 64, true);
	ex = ibv_qp_to_qp_ex(l.qp);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 0, 0, 0);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_abort(ex);
	assert_int_equal(qp_go(l.qp, IBV_QPS_INIT), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RTR), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RTS), 0);
	ibv_wr_start(ex);
	ex->wr_id = 5;
	ibv_wr_send(ex);
	assert_int_equal(ibv_wr_complete(ex), 0);
	close_with(&l, 1, 5);
}

static void test_nothing_built(void **state)
{
	struct lone l;

	open_waiting(&l);
	ibv_wr_start(ibv_qp_to_qp_ex(l.qp));
	assert_int_equal(ibv_wr_complete(ibv_qp_to_qp_ex(l.qp)), 0);
	close_with(&l, 0, 0);
}

static void test_abort(void **state)
{
	struct ibv_qp_ex *ex;
	struct lone l;

	open_waiting(&l);
	ex = ibv_qp_to_qp_ex(l.qp);
	/* More often than there are places: none is lost. */
	for (unsigned i = 0; i < 3 * l.cap.max_send_wr; i++) {
		ibv_wr_start(ex);
		ex->wr_id = 1;
		ibv_wr_send(ex);
		ibv_wr_send(ex);
		ibv_wr_abort(ex);
	}
	ibv_wr_start(ex);
	ex->wr_id = 7;
	ibv_wr_send(ex);
	ex->wr_id = 8;
	ibv_wr_rdma_write(ex, 1, 2);
	assert_int_equal(ibv_wr_complete(ex), 0);
	/* Of a failed one, too. */
	ibv_wr_start(ex);
	ibv_wr_set_sge(ex, 0, 0, 0);
	ibv_wr_abort(ex);
	close_with(&l, 2, 7);
}

static _Atomic bool aborting;

static void *abort_again_and_again(void *ex)
{
	while (atomic_load(&aborting)) {
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		ibv_wr_abort(ex);
	}
	return NULL;
}

/* From start to complete or abort a QP is one thread's: none learns of the other's error. */
static void test_threads_build_in_turns(void **state)
{
	struct ibv_qp_ex *ex;
	pthread_t thread;
	unsigned posted = 0;
	struct lone l;

	open_waiting(&l);
	ex = ibv_qp_to_qp_ex(l.qp);
	atomic_store(&aborting, true);
	assert_int_equal(pthread_create(&thread, NULL, abort_again_and_again, ex), 0);
	for (unsigned i = 0; i < 300000; i++) {
		ibv_wr_start(ex);
		ex->wr_id = 1 + posted;
		ibv_wr_send(ex);
		if (ibv_wr_complete(ex) == 0)
			posted++;
	}
	atomic_store(&aborting, false);
	pthread_join(thread, NULL);
	assert_int_equal(posted, l.cap.max_send_wr);
	close_with(&l, (int)posted, 1);
}

static void *reset_it(void *qp)
{
	return (void *)(intptr_t)qp_go(qp, IBV_QPS_RESET);
}

/* Another thread resets it meanwhile: neither waits for the other. What was built is gone. */
static void test_reset_while_building(void **state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr now;
	struct ibv_qp_ex *ex;
	pthread_t thread;
	struct lone l;
	void *rc;

	open_waiting(&l);
	ex = ibv_qp_to_qp_ex(l.qp);
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ibv_wr_send(ex);
	assert_int_equal(pthread_create(&thread, NULL, reset_it, l.qp), 0);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((intptr_t)rc, 0);
	assert_int_equal(ibv_query_qp(l.qp, &now, IBV_QP_STATE, &init), 0);
	assert_int_equal(now.qp_state, IBV_QPS_RESET);
	ibv_wr_send(ex);
	assert_int_equal(ibv_wr_complete(ex), 0);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	close_with(&l, 0, 0);
}

static void test_full(void **state)
{
	struct ibv_qp_ex *ex;
	struct lone l;

	open_waiting(&l);
	ex = ibv_qp_to_qp_ex(l.qp);
	ibv_wr_start(ex);
	for (unsigned i = 0; i <= l.cap.max_send_wr; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, 0, 0, 0);
	}
	assert_int_equal(ibv_wr_complete(ex), ENOMEM);
	ibv_wr_start(ex);
	for (unsigned i = 0; i < l.cap.max_send_wr; i++) {
		ex->wr_id = i;
		ibv_wr_send(ex);
	}
	assert_int_equal(ibv_wr_complete(ex), 0);
	close_with(&l, (int)l.cap.max_send_wr, 0);
}

/* One good request and then a bad one: ibv_wr_complete() tells, and neither is posted. */
static struct ibv_qp_ex *begin_bad(struct lone *l)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(l->qp);

	ibv_wr_start(ex);
	ex->wr_id = 1;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 0, 0, 0);
	return ex;
}

static void test_errors(void **state)
{
	static uint8_t data[1024];
	struct ibv_sge sge[32] = {{0}};
	struct ibv_data_buf buf[2] = {{.addr = data, .length = 1}, {.addr = data}};
	struct ibv_qp_ex *ex;
	struct lone l;

	open_waiting(&l);
	ex = begin_bad(&l);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 0, 0, (uint32_t)INT32_MAX + 1);
	/* What follows does not heal it. */
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, 0, 0, 1);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	begin_bad(&l);
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, l.cap.max_send_sge + 1, sge);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	begin_bad(&l);
	ibv_wr_send(ex);
	sge[0].length = sge[1].length = UINT32_MAX;
	ibv_wr_set_sge_list(ex, 2, sge);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	begin_bad(&l);
	ibv_wr_rdma_read(ex, 0, 0);
	sge[0].length = sge[1].length = 1;
	ibv_wr_set_sge_list(ex, 2, sge);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	begin_bad(&l);
	ibv_wr_rdma_read(ex, 0, 0);
	ibv_wr_set_inline_data(ex, data, 1);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	begin_bad(&l);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, l.cap.max_inline_data + 1);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	begin_bad(&l);
	ibv_wr_send(ex);
	buf[1].length = SIZE_MAX;
	ibv_wr_set_inline_data_list(ex, 2, buf);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	/* Data of no request. */
	ibv_wr_start(ex);
	ibv_wr_set_sge(ex, 0, 0, 1);
	ibv_wr_send(ex);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_set_sge_list(ex, 0, NULL);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_set_inline_data(ex, data, 1);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	/* The next time all is well. */
	ibv_wr_start(ex);
	ex->wr_id = 9;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, l.cap.max_inline_data);
	ex->wr_id = 10;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, NULL, 0);
	assert_int_equal(ibv_wr_complete(ex), 0);
	close_with(&l, 2, 9);
}

/* ---- over a connection ----------------------------------------------------------------------- */

static void test_write_and_read(void **state)
{
	struct ibv_qp_ex *ex = client();
	struct ibv_sge sge[2] = {
		{.addr = (uintptr_t)fx.client.buf, .length = 3000, .lkey = fx.client.mr->lkey},
		{.addr = (uintptr_t)fx.client.buf + 3000, .length = 5, .lkey = fx.client.mr->lkey}};
	struct ibv_wc wc;

	fill(fx.client.buf, 2);
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf + 10);
	ibv_wr_set_sge_list(ex, 2, sge);
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_rdma_read(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf + 10);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf + 50000, 3005);
	assert_int_equal(ibv_wr_complete(ex), 0);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.wr_id, 2);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_READ);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_memory_equal(fx.server.buf + 10, fx.client.buf, 3005);
	assert_memory_equal(fx.client.buf + 50000, fx.client.buf, 3005);
	assert_int_equal(ibv_poll_cq(fx.client.id->send_cq, 1, &wc), 0);
}

static void test_send_imm_without_peer(void **state)
{
	struct ibv_qp_ex *ex;
	struct lone l;

	open_waiting(&l);
	ex = ibv_qp_to_qp_ex(l.qp);
	ibv_wr_start(ex);
	ibv_wr_send_imm(ex, 1);
	assert_int_equal(ibv_wr_complete(ex), EOPNOTSUPP);
	lone_close(&l);
}

static void test_send_imm(void **state)
{
	struct ibv_qp_ex *ex = client();
	struct ibv_wc wc;

	post_recv(&fx.server, 1);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_id = 1;
	ibv_wr_send_imm(ex, htobe32(77));
	ibv_wr_set_inline_data(ex, (void *)"abc", 3);
	assert_int_equal(ibv_wr_complete(ex), 0);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	assert_int_equal(be32toh(wc.imm_data), 77);
	assert_int_equal(wc.byte_len, 3);
	take(fx.client.id->send_cq);
}

static void test_sends(void **state)
{
	struct ibv_mw *remote = server_window(64);
	struct ibv_mr *local = ibv_reg_mr(fx.client.id->pd, fx.client.buf, 64, 0);
	struct ibv_data_buf list[3] = {
		{.addr = "one ", .length = 4}, {.addr = NULL}, {.addr = "two", .length = 4}};
	struct ibv_qp_ex *ex = client();
	struct ibv_wc wc;

	post_recv(&fx.server, 1);
	post_recv(&fx.server, 2);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_id = 1;
	ibv_wr_local_inv(ex, local->rkey);
	ex->wr_id = 2;
	ex->wr_flags |= IBV_SEND_SOLICITED;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 3, list);
	ex->wr_id = 3;
	ibv_wr_send_inv(ex, remote->rkey);
	ibv_wr_set_inline_data(ex, NULL, 0);
	assert_int_equal(ibv_wr_complete(ex), 0);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.byte_len, 8);
	assert_int_equal(wc.wc_flags & IBV_WC_WITH_INV, 0);
	assert_string_equal((char *)fx.server.buf, "one two");
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.byte_len, 0);
	assert_int_equal(wc.wc_flags & IBV_WC_WITH_INV, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, remote->rkey);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(wc.opcode, IBV_WC_LOCAL_INV);
	take_sent(2);
	take_sent(3);
	/* The key is dead for us as well. */
	ibv_wr_start(ex);
	ex->wr_id = 4;
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf);
	ibv_wr_set_sge(ex, local->lkey, (uintptr_t)fx.client.buf, 1);
	assert_int_equal(ibv_wr_complete(ex), 0);
	assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(ibv_dealloc_mw(remote), 0);
	assert_int_equal(ibv_dereg_mr(local), 0);
}

/* Of two setters the last one counts, whichever they are. */
static void test_set_twice(void **state)
{
	struct ibv_qp_ex *ex = client();

	fill(fx.client.buf, 3);
	ibv_wr_start(ex);
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf);
	ibv_wr_set_inline_data(ex, "inline", 6);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf, 70000);
	ex->wr_id = 2;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf + 80000);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf, 70000);
	ibv_wr_set_inline_data(ex, "inline", 6);
	assert_int_equal(ibv_wr_complete(ex), 0);
	take_sent(2);
	/* A Write has arrived when the Read behind it is answered. */
	ibv_wr_start(ex);
	ex->wr_id = 3;
	ibv_wr_rdma_read(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf + 90000, 1);
	assert_int_equal(ibv_wr_complete(ex), 0);
	take_sent(3);
	assert_memory_equal(fx.server.buf, fx.client.buf, 70000);
	assert_memory_equal(fx.server.buf + 80000, "inline", 6);
	assert_int_equal(fx.server.buf[80006], 0);
}

static void test_signal_all(void **state)
{
	struct ibv_qp_ex *ex = client();

	ibv_wr_start(ex);
	ex->wr_id = 77;
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf);
	ibv_wr_set_inline_data(ex, "x", 1);
	assert_int_equal(ibv_wr_complete(ex), 0);
	take_sent(77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_which_qps),
		OPENED(test_states),
		OPENED(test_send_imm_without_peer),
		OPENED(test_nothing_built),
		OPENED(test_abort),
		OPENED(test_threads_build_in_turns),
		OPENED(test_reset_while_building),
		OPENED(test_full),
		OPENED(test_errors),
		CONNECTED(test_write_and_read),
		CONNECTED(test_sends),
		CONNECTED(test_send_imm),
		CONNECTED(test_set_twice),
		CONNECTED_SRQ(test_signal_all),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
