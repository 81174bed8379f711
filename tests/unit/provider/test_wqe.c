/* SPDX-License-Identifier: BSD-2-Clause */
/* Write with Immediate and Atomics (RFC 7306), by ibv_post_send() and by ibv_wr_*(). */
#include "fixture.h"

#include "support/limit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* A word of an end's buffer, 64-bit aligned for Atomics. */
static _Atomic uint64_t *word(struct end *e, unsigned i)
{
	return (_Atomic uint64_t *)(void *)e->buf + i;
}

static struct ibv_send_wr atomic(
	enum ibv_wr_opcode op, struct ibv_sge *sge, unsigned i, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr wr = request(op, sge, &fx.client, 8);

	wr.wr.atomic.remote_addr = (uintptr_t)word(&fx.server, i);
	wr.wr.atomic.rkey = fx.server.mr->rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	return wr;
}

static void expect_sent(enum ibv_wc_opcode op, uint64_t fetched)
{
	struct ibv_wc wc = take(fx.client.id->send_cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, op);
	assert_int_equal(wc.byte_len, 8);
	assert_int_equal(*word(&fx.client, 0), fetched);
}

static struct ibv_qp_ex *client(void)
{
	return ibv_qp_to_qp_ex(fx.client.id->qp);
}

/* ---- Atomics ----------------------------------------------------------------------------- */

/* The values are numbers of the host on both sides. */
static void test_post_atomics(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	*word(&fx.server, 3) = 0x0102030405060708;
	wr = atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 3, 0x10, 99);
	sge.length = 20; /* more room than is needed */
	client_posts(&wr);
	expect_sent(IBV_WC_FETCH_ADD, 0x0102030405060708);
	assert_int_equal(*word(&fx.server, 3), 0x0102030405060718);
	wr = atomic(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, 3, 0x0102030405060718, 7);
	client_posts(&wr);
	expect_sent(IBV_WC_COMP_SWAP, 0x0102030405060718);
	assert_int_equal(*word(&fx.server, 3), 7);
	wr = atomic(IBV_WR_ATOMIC_CMP_AND_SWP, &sge, 3, 8, 9);
	client_posts(&wr);
	expect_sent(IBV_WC_COMP_SWAP, 7);
	assert_int_equal(*word(&fx.server, 3), 7);
	/* Carries go through all 64 bits. */
	*word(&fx.server, 3) = UINT64_MAX;
	wr = atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 3, 1, 0);
	client_posts(&wr);
	expect_sent(IBV_WC_FETCH_ADD, UINT64_MAX);
	assert_int_equal(*word(&fx.server, 3), 0);
	assert_int_equal(*word(&fx.server, 2) | *word(&fx.server, 4), 0);
}

static void test_build_atomics(void **state)
{
	const uint64_t at = (uintptr_t)word(&fx.server, 1);
	struct ibv_qp_ex *ex = client();

	*word(&fx.server, 1) = 40;
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(ex, fx.server.mr->rkey, at, 2);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf, 8);
	assert_int_equal(ibv_wr_complete(ex), 0);
	expect_sent(IBV_WC_FETCH_ADD, 40);
	ibv_wr_start(ex);
	ibv_wr_atomic_cmp_swp(ex, fx.server.mr->rkey, at, 42, 43);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf, 8);
	assert_int_equal(ibv_wr_complete(ex), 0);
	expect_sent(IBV_WC_COMP_SWAP, 42);
	assert_int_equal(*word(&fx.server, 1), 43);
}

/* One element, of eight bytes at least, and not inline: by either way to post. */
static void test_atomic_elements(void **state)
{
	struct ibv_sge sge[2] = {{0}};
	struct ibv_send_wr wr = atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, sge, 0, 1, 0), *bad;
	struct ibv_qp_ex *ex = client();

	sge[0].length = 7;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EINVAL);
	sge[0].length = 8;
	wr.send_flags |= IBV_SEND_INLINE;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EINVAL);
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.num_sge = 0;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EINVAL);
	wr.num_sge = 2;
	sge[1] = sge[0];
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EINVAL);

	ibv_wr_start(ex);
	ibv_wr_atomic_fetch_add(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf, 1);
	ibv_wr_set_sge(ex, sge[0].lkey, sge[0].addr, 7);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_atomic_cmp_swp(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf, 1, 2);
	ibv_wr_set_sge_list(ex, 2, sge);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
	ibv_wr_start(ex);
	ibv_wr_atomic_cmp_swp(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf, 1, 2);
	ibv_wr_set_inline_data(ex, "12345678", 8);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);
}

/* The region must grant it: Write and Read are not enough. */
static void test_atomic_rights(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(fx.server.id->pd, fx.server.buf, 64,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	wr = atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 0, 1, 0);
	wr.wr.atomic.rkey = mr->rkey;
	client_posts(&wr);
	assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(*word(&fx.server, 0), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

#define ROUNDS 20000

static void *count_up(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		atomic_fetch_add((_Atomic uint64_t *)arg, 1);
	return NULL;
}

/* IBV_ATOMIC_GLOB: the program counts in the same word at the same time, and none is lost. */
static void test_with_host(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	pthread_t thread;

	wr = atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 0, 1, 0);
	assert_int_equal(pthread_create(&thread, NULL, count_up, word(&fx.server, 0)), 0);
	for (unsigned i = 0; i < ROUNDS / 10; i++) {
		client_posts(&wr);
		take_sent(wr.wr_id);
	}
	pthread_join(thread, NULL);
	assert_int_equal(*word(&fx.server, 0), ROUNDS + ROUNDS / 10);
}

/* ---- Write with Immediate ---------------------------------------------------------------- */

static void expect_imm(uint64_t wr_id, uint32_t len, uint32_t imm)
{
	struct ibv_wc wc = take(fx.server.id->recv_cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	assert_int_equal(wc.imm_data, htonl(imm));
	assert_int_equal(wc.byte_len, len);
}

static void test_write_imm(void **state)
{
	struct ibv_qp_ex *ex = client();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;

	fill(fx.client.buf, 5);
	for (unsigned i = 1; i <= 3; i++)
		post_recv(&fx.server, i);
	wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, &sge, &fx.client, 50000);
	aim(&wr, 100);
	wr.imm_data = htonl(0xcafef00d);
	client_posts(&wr);
	expect_imm(1, 50000, 0xcafef00d);
	assert_memory_equal(fx.server.buf + 100, fx.client.buf, 50000);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_WRITE);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	/* Nothing but the number. */
	wr.num_sge = 0;
	client_posts(&wr);
	expect_imm(2, 0, 0xcafef00d);
	take_sent(wr.wr_id);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_id = 9;
	ibv_wr_rdma_write_imm(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf, htonl(77));
	ibv_wr_set_inline_data(ex, "inline", 6);
	assert_int_equal(ibv_wr_complete(ex), 0);
	expect_imm(3, 6, 77);
	take_sent(9);
	assert_memory_equal(fx.server.buf, "inline", 6);
}

/* It takes from a shared queue as well, and wakes a thread that waits for solicited events. */
static void test_write_imm_srq(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_cq *cq;
	void *context;

	post_recv(&fx.server, 1);
	post_recv(&fx.server, 2);
	assert_int_equal(ibv_req_notify_cq(fx.server.id->recv_cq, 1), 0);
	wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, &sge, &fx.client, 8);
	aim(&wr, 0);
	client_posts(&wr);
	expect_imm(1, 8, 0);
	wr.send_flags |= IBV_SEND_SOLICITED;
	client_posts(&wr);
	assert_int_equal(ibv_get_cq_event(fx.server.id->recv_cq_channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	expect_imm(2, 8, 0);
	take_sent(wr.wr_id);
	take_sent(wr.wr_id);
}

/* No receive is posted: the error of a Send. */
static void test_write_imm_unexpected(void **state)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, &sge, &fx.client, 8);
	aim(&wr, 0);
	client_posts(&wr);
	take_sent(wr.wr_id); /* it had gone */
	wr = request(IBV_WR_RDMA_READ, &sge, &fx.client, 8);
	aim(&wr, 0);
	client_posts(&wr);
	assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_WR_FLUSH_ERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONNECTED(test_post_atomics),
		CONNECTED(test_build_atomics),
		CONNECTED(test_atomic_elements),
		CONNECTED(test_atomic_rights),
		CONNECTED(test_with_host),
		CONNECTED(test_write_imm),
		CONNECTED_SRQ(test_write_imm_srq),
		CONNECTED(test_write_imm_unexpected),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
