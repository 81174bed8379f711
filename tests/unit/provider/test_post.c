/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_post_send(), ibv_post_recv(): what is taken, what is refused, and where in a chain. */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NONE ((struct ibv_send_wr *)1)

static const struct ibv_qp_cap small = {.max_send_wr = 3,
	.max_recv_wr = 3,
	.max_send_sge = 2,
	.max_recv_sge = 2,
	.max_inline_data = 20};

/* In RTS without a connection what is posted waits, and can be counted. */
static void open_waiting(struct lone *l)
{
	lone_open(l, &small, 64, false);
	assert_int_equal(qp_go(l->qp, IBV_QPS_INIT), 0);
	assert_int_equal(qp_go(l->qp, IBV_QPS_RTR), 0);
	assert_int_equal(qp_go(l->qp, IBV_QPS_RTS), 0);
}

static void send_refused(struct ibv_qp *qp, struct ibv_send_wr *wr, int error)
{
	struct ibv_send_wr *bad = NONE;

	assert_int_equal(ibv_post_send(qp, wr, &bad), error);
	assert_ptr_equal(bad, wr);
}

static void recv_refused(struct ibv_qp *qp, struct ibv_recv_wr *wr, int error)
{
	struct ibv_recv_wr *bad = NULL;

	assert_int_equal(ibv_post_recv(qp, wr, &bad), error);
	assert_ptr_equal(bad, wr);
}

/* How many of which kind wait: end them, and count. */
static void flushed(struct lone *l, int n, const uint64_t *wr_ids, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	assert_int_equal(qp_go(l->qp, IBV_QPS_ERR), 0);
	for (int i = 0; i < n; i++) {
		/* What is posted in ERROR is flushed by the next thread that drives the engine. */
		wc = take(l->cq);
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wr_id, wr_ids[i]);
		assert_int_equal(wc.qp_num, l->qp->qp_num);
		if (opcode == IBV_WC_RECV)
			assert_int_equal(wc.opcode, IBV_WC_RECV);
	}
	assert_int_equal(ibv_poll_cq(l->cq, 1, &wc), 0);
}

/* ---- limits and refusals --------------------------------------------------------------------- */

static void test_send_states(void **state)
{
	struct ibv_send_wr wr = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;
	struct lone l;

	lone_open(&l, &small, 64, false);
	send_refused(l.qp, &wr, EINVAL);
	assert_int_equal(qp_go(l.qp, IBV_QPS_INIT), 0);
	send_refused(l.qp, &wr, EINVAL);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RTR), 0);
	send_refused(l.qp, &wr, EINVAL);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RTS), 0);
	assert_int_equal(ibv_post_send(l.qp, &wr, &bad), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_ERR), 0);
	wr.wr_id = 2;
	/* Flushed even without being signaled, and in order. */
	wr.send_flags = 0;
	assert_int_equal(ibv_post_send(l.qp, &wr, &bad), 0);
	flushed(&l, 2, (const uint64_t[]){1, 2}, IBV_WC_SEND);
	lone_close(&l);
}

static void test_recv_states(void **state)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	struct lone l;

	lone_open(&l, &small, 64, false);
	recv_refused(l.qp, &wr, EINVAL);
	for (int s = IBV_QPS_INIT; s <= IBV_QPS_RTS; s++) {
		assert_int_equal(qp_go(l.qp, (enum ibv_qp_state)s), 0);
		assert_int_equal(ibv_post_recv(l.qp, &wr, &bad), 0);
		wr.wr_id++;
	}
	flushed(&l, 3, (const uint64_t[]){1, 2, 3}, IBV_WC_RECV);
	lone_close(&l);
}

/* Exactly as many as was told; the first without a place is named, those before it are posted. */
static void test_send_queue_full(void **state)
{
	struct ibv_send_wr wr[40], *bad = NULL;
	uint64_t ids[40];
	struct lone l;

	open_waiting(&l);
	assert_in_range(l.cap.max_send_wr, 3, 39);
	for (unsigned i = 0; i < 40; i++) {
		ids[i] = 100 + i;
		wr[i] = (struct ibv_send_wr){
			.wr_id = ids[i], .opcode = IBV_WR_SEND, .next = i < 39 ? &wr[i + 1] : NULL};
	}
	assert_int_equal(ibv_post_send(l.qp, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[l.cap.max_send_wr]);
	send_refused(l.qp, &wr[39], ENOMEM);
	flushed(&l, (int)l.cap.max_send_wr, ids, IBV_WC_SEND);
	/* The places are free again. */
	assert_int_equal(ibv_post_send(l.qp, &wr[39], &bad), 0);
	flushed(&l, 1, &ids[39], IBV_WC_SEND);
	lone_close(&l);
}

static void test_receive_queue_full(void **state)
{
	struct ibv_recv_wr wr[40], *bad = NULL;
	uint64_t ids[40];
	struct lone l;

	open_waiting(&l);
	assert_in_range(l.cap.max_recv_wr, 3, 39);
	for (unsigned i = 0; i < 40; i++) {
		ids[i] = 100 + i;
		wr[i] = (struct ibv_recv_wr){.wr_id = ids[i], .next = i < 39 ? &wr[i + 1] : NULL};
	}
	assert_int_equal(ibv_post_recv(l.qp, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[l.cap.max_recv_wr]);
	recv_refused(l.qp, &wr[39], ENOMEM);
	flushed(&l, (int)l.cap.max_recv_wr, ids, IBV_WC_RECV);
	lone_close(&l);
}

static void test_send_elements(void **state)
{
	struct ibv_sge sge[32] = {{0}};
	struct ibv_send_wr wr = {.wr_id = 1, .sg_list = sge}, *bad;
	struct lone l;

	open_waiting(&l);
	assert_in_range(l.cap.max_send_sge, 2, 31);
	wr.num_sge = (int)l.cap.max_send_sge + 1;
	send_refused(l.qp, &wr, EINVAL);
	wr.num_sge = -1;
	send_refused(l.qp, &wr, EINVAL);
	wr.num_sge = (int)l.cap.max_send_sge;
	wr.opcode = IBV_WR_SEND;
	assert_int_equal(ibv_post_send(l.qp, &wr, &bad), 0);
	/* RFC 5040 section 4.4: one sink. */
	wr.opcode = IBV_WR_RDMA_READ;
	wr.num_sge = 2;
	send_refused(l.qp, &wr, EINVAL);
	flushed(&l, 1, (const uint64_t[]){1}, IBV_WC_SEND);
	lone_close(&l);
}

static void test_receive_elements(void **state)
{
	struct ibv_sge sge[32] = {{0}};
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = sge}, *bad;
	struct lone l;

	open_waiting(&l);
	assert_in_range(l.cap.max_recv_sge, 2, 31);
	wr.num_sge = (int)l.cap.max_recv_sge + 1;
	recv_refused(l.qp, &wr, EINVAL);
	wr.num_sge = -1;
	recv_refused(l.qp, &wr, EINVAL);
	wr.num_sge = (int)l.cap.max_recv_sge;
	/* More room than there are messages is no mistake. */
	sge[0].length = sge[1].length = UINT32_MAX;
	assert_int_equal(ibv_post_recv(l.qp, &wr, &bad), 0);
	flushed(&l, 1, (const uint64_t[]){1}, IBV_WC_RECV);
	lone_close(&l);
}

/* Port attribute max_msg_sz: 2^31 - 1 bytes, also as a sum that 32 bits do not hold. */
static void test_message_length(void **state)
{
	struct ibv_sge sge[2] = {{.length = INT32_MAX}, {.length = 1}};
	struct ibv_send_wr wr = {.wr_id = 1, .sg_list = sge, .num_sge = 1}, *bad;
	struct lone l;

	open_waiting(&l);
	wr.opcode = IBV_WR_SEND;
	assert_int_equal(ibv_post_send(l.qp, &wr, &bad), 0);
	wr.num_sge = 2;
	send_refused(l.qp, &wr, EINVAL);
	sge[1].length = (uint32_t)INT32_MAX + 2;
	send_refused(l.qp, &wr, EINVAL);
	sge[0].length = UINT32_MAX;
	sge[1].length = 2;
	send_refused(l.qp, &wr, EINVAL);
	flushed(&l, 1, (const uint64_t[]){1}, IBV_WC_SEND);
	lone_close(&l);
}

static void test_inline_length(void **state)
{
	static uint8_t data[1024];
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = {.wr_id = 1,
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE};
	struct ibv_send_wr *bad;
	struct lone l;

	open_waiting(&l);
	assert_in_range(l.cap.max_inline_data, 20, 1000);
	sge[0] = (struct ibv_sge){.addr = (uintptr_t)data, .length = l.cap.max_inline_data - 1};
	sge[1] = (struct ibv_sge){.addr = (uintptr_t)data, .length = 2};
	send_refused(l.qp, &wr, EINVAL);
	/* A sum that 32 bits do not hold. */
	sge[1].length = UINT32_MAX - 4;
	send_refused(l.qp, &wr, EINVAL);
	sge[1].length = 1;
	assert_int_equal(ibv_post_send(l.qp, &wr, &bad), 0);
	/* An element without bytes needs no address. */
	sge[0] = sge[1] = (struct ibv_sge){0};
	wr.wr_id = 2;
	assert_int_equal(ibv_post_send(l.qp, &wr, &bad), 0);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.num_sge = 1;
	send_refused(l.qp, &wr, EINVAL);
	flushed(&l, 2, (const uint64_t[]){1, 2}, IBV_WC_SEND);
	lone_close(&l);
}

/* RFC 7306 has no Send with Immediate: a QP without a peer that knows it takes none. */
static void test_opcodes(void **state)
{
	static const int foreign[] = {
		IBV_WR_SEND_WITH_IMM, IBV_WR_TSO, IBV_WR_DRIVER1, 12, 255, 256, -1};
	struct ibv_send_wr wr = {.wr_id = 1};
	struct lone l;

	open_waiting(&l);
	for (unsigned i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
		wr.opcode = (enum ibv_wr_opcode)foreign[i];
		send_refused(l.qp, &wr, EOPNOTSUPP);
	}
	flushed(&l, 0, NULL, IBV_WC_SEND);
	lone_close(&l);
}

/* ibv_post_send(3): stops at the first error; those before are posted, those behind are not. */
static void test_bad_in_the_middle(void **state)
{
	struct ibv_send_wr wr[3] = {{.wr_id = 1, .opcode = IBV_WR_SEND, .next = &wr[1]},
		{.wr_id = 2, .opcode = IBV_WR_SEND_WITH_IMM, .next = &wr[2]},
		{.wr_id = 3, .opcode = IBV_WR_SEND}};
	struct ibv_recv_wr rwr[3] = {{.wr_id = 4, .next = &rwr[1]},
		{.wr_id = 5, .num_sge = 1000, .next = &rwr[2]}, {.wr_id = 6}};
	struct ibv_send_wr *bad = NULL;
	struct ibv_recv_wr *bad_recv = NULL;
	struct lone l;

	open_waiting(&l);
	assert_int_equal(ibv_post_send(l.qp, wr, &bad), EOPNOTSUPP);
	assert_ptr_equal(bad, &wr[1]);
	assert_int_equal(ibv_post_recv(l.qp, rwr, &bad_recv), EINVAL);
	assert_ptr_equal(bad_recv, &rwr[1]);
	flushed(&l, 2, (const uint64_t[]){1, 4}, IBV_WC_SEND);
	lone_close(&l);
}

/* ---- over a connection ----------------------------------------------------------------------- */

static void test_operations(void **state)
{
	struct ibv_mr *mr = ibv_reg_mr(fx.client.id->pd, fx.client.buf, 64, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge[4];
	struct ibv_send_wr wr[4];
	struct ibv_wc wc;

	post_recv(&fx.server, 1);
	fill(fx.client.buf, 3);
	wr[0] = request(IBV_WR_RDMA_WRITE, &sge[0], &fx.client, 3000);
	aim(&wr[0], 50000);
	wr[1] = request(IBV_WR_LOCAL_INV, &sge[1], &fx.client, 0);
	wr[1].num_sge = 0;
	wr[1].invalidate_rkey = mr->rkey;
	wr[2] = request(IBV_WR_SEND, &sge[2], &fx.client, 3000);
	wr[2].send_flags |= IBV_SEND_SOLICITED;
	wr[3] = request(IBV_WR_RDMA_READ, &sge[3], &fx.client, 100);
	sge[3].addr += 90000;
	aim(&wr[3], 50000);
	for (int i = 0; i < 3; i++)
		wr[i].next = &wr[i + 1];
	client_posts(wr);
	for (int i = 0; i < 4; i++) {
		static const enum ibv_wc_opcode op[] = {
			IBV_WC_RDMA_WRITE, IBV_WC_LOCAL_INV, IBV_WC_SEND, IBV_WC_RDMA_READ};

		wc = take(fx.client.id->send_cq);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, op[i]);
		assert_int_equal(wc.wr_id, wr[i].wr_id);
		assert_int_equal(wc.qp_num, fx.client.id->qp->qp_num);
	}
	assert_int_equal(wc.byte_len, 100);
	assert_memory_equal(fx.client.buf + 90000, fx.client.buf, 100);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(wc.byte_len, 3000);
	assert_int_equal(wc.qp_num, fx.server.id->qp->qp_num);
	assert_memory_equal(fx.server.buf, fx.client.buf, 3000);
	assert_memory_equal(fx.server.buf + 50000, fx.client.buf, 3000);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* Between uiwarps a Send has immediate data, too: one request, one completion at each side. */
static void test_send_with_immediate(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, &sge, &fx.client, 3000);
	struct ibv_wc wc;

	post_recv(&fx.server, 1);
	post_recv(&fx.server, 2);
	fill(fx.client.buf, 3);
	wr.imm_data = htobe32(0x01020304);
	client_posts(&wr);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_SEND);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	assert_int_equal(be32toh(wc.imm_data), 0x01020304);
	assert_int_equal(wc.byte_len, 3000);
	assert_memory_equal(fx.server.buf, fx.client.buf, 3000);
	wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SOLICITED;
	sge.length = 7;
	wr.imm_data = 5;
	client_posts(&wr);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.imm_data, 5);
	assert_int_equal(wc.byte_len, 7);
	assert_int_equal(ibv_poll_cq(fx.client.id->send_cq, 1, &wc), 0);
}

/* Gathered from two places, scattered to two, of other lengths. */
static void test_gather_and_scatter(void **state)
{
	struct ibv_sge to[2] = {
		{.addr = (uintptr_t)fx.server.buf + 10, .length = 3, .lkey = fx.server.mr->lkey},
		{.addr = (uintptr_t)fx.server.buf + 100, .length = 50, .lkey = fx.server.mr->lkey}};
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = to, .num_sge = 2}, *bad;
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = request(IBV_WR_SEND, sge, &fx.client, 5);

	sge[1] = sge[0];
	sge[1].addr += 5;
	sge[1].length = 6;
	wr.num_sge = 2;
	memcpy(fx.client.buf, "hello world", 11);
	assert_int_equal(ibv_post_recv(fx.server.id->qp, &recv, &bad), 0);
	client_posts(&wr);
	assert_int_equal(take(fx.server.id->recv_cq).byte_len, 11);
	assert_memory_equal(fx.server.buf + 10, "hel\0", 4);
	assert_memory_equal(fx.server.buf + 100, "lo world\0", 9);
	take_sent(wr.wr_id);
}

/* The memory is the program's again at once, and needs no registration. */
static void test_inline(void **state)
{
	char text[] = "inline, twice";
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = request(IBV_WR_SEND, sge, &fx.client, 8);

	post_recv(&fx.server, 1);
	sge[0] = (struct ibv_sge){.addr = (uintptr_t)text, .length = 8, .lkey = 0xdead};
	sge[1] = (struct ibv_sge){.addr = (uintptr_t)text + 8, .length = sizeof text - 8};
	wr.num_sge = 2;
	wr.send_flags |= IBV_SEND_INLINE;
	client_posts(&wr);
	memset(text, 'x', sizeof text - 1);
	assert_int_equal(take(fx.server.id->recv_cq).byte_len, sizeof text);
	assert_string_equal((char *)fx.server.buf, "inline, twice");
	take_sent(wr.wr_id);
}

static void test_nothing(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &fx.client, 0);
	struct ibv_recv_wr recv = {.wr_id = 2}, *bad;
	struct ibv_wc wc;

	wr.num_sge = 0;
	assert_int_equal(ibv_post_recv(fx.server.id->qp, &recv, &bad), 0);
	client_posts(&wr);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, 2);
	assert_int_equal(wc.byte_len, 0);
	take_sent(wr.wr_id);
	/* RFC 5040 section 5.2: no check of what is not accessed. */
	wr.opcode = IBV_WR_RDMA_WRITE;
	client_posts(&wr);
	take_sent(wr.wr_id);
	wr.opcode = IBV_WR_RDMA_READ;
	client_posts(&wr);
	take_sent(wr.wr_id);
}

static void test_unsignaled(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8);
	struct ibv_wc wc;

	aim(&wr, 0);
	wr.send_flags = 0;
	wr.wr_id = 1;
	client_posts(&wr);
	wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	wr.wr_id = 2;
	client_posts(&wr);
	take_sent(2);
	assert_int_equal(ibv_poll_cq(fx.client.id->send_cq, 1, &wc), 0);
}

/* sq_sig_all, with which these ends are created. */
static void test_signal_all(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8);

	aim(&wr, 0);
	wr.send_flags = 0;
	client_posts(&wr);
	take_sent(wr.wr_id);
}

static void test_bad_lkey(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8);
	struct ibv_wc wc;

	aim(&wr, 0);
	sge.lkey ^= 0x5a5a00;
	client_posts(&wr);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(wc.wr_id, wr.wr_id);
	assert_int_equal(wc.qp_num, fx.client.id->qp->qp_num);
	/* And what comes behind is flushed. */
	client_posts(&wr);
	assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_WR_FLUSH_ERR);
}

static void test_too_short(void **state)
{
	struct ibv_sge to = {
		.addr = (uintptr_t)fx.server.buf, .length = 99, .lkey = fx.server.mr->lkey};
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &to, .num_sge = 1}, *bad;
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &fx.client, 100);
	struct ibv_wc wc;

	assert_int_equal(ibv_post_recv(fx.server.id->qp, &recv, &bad), 0);
	client_posts(&wr);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(fx.server.buf[99], 0);
}

/*
 * A program that posts until the queue is full, and polls one completion when it is: its CQ is as
 * large as its queue (librdmacm's), and is not overrun.
 */
static void test_full_until_polled(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8), *bad;
	unsigned posted = 0, polled = 0;

	aim(&wr, 0);
	while (polled < 1000) {
		int rc = ibv_post_send(fx.client.id->qp, &wr, &bad);

		if (rc == 0) {
			posted++;
			assert_true(posted - polled <= (unsigned)fx.client.id->send_cq->cqe);
			continue;
		}
		assert_int_equal(rc, ENOMEM);
		assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_SUCCESS);
		polled++;
	}
	while (polled++ < posted)
		assert_int_equal(take(fx.client.id->send_cq).status, IBV_WC_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_send_states),
		OPENED(test_recv_states),
		OPENED(test_send_queue_full),
		OPENED(test_receive_queue_full),
		OPENED(test_send_elements),
		OPENED(test_receive_elements),
		OPENED(test_message_length),
		OPENED(test_inline_length),
		OPENED(test_opcodes),
		OPENED(test_bad_in_the_middle),
		CONNECTED(test_operations),
		CONNECTED(test_send_with_immediate),
		CONNECTED(test_gather_and_scatter),
		CONNECTED(test_inline),
		CONNECTED(test_nothing),
		CONNECTED(test_unsignaled),
		CONNECTED(test_full_until_polled),
		CONNECTED_SRQ(test_signal_all),
		CONNECTED(test_bad_lkey),
		CONNECTED(test_too_short),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
