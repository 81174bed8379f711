/* SPDX-License-Identifier: BSD-2-Clause */
/* Payload that the LLP sends from the program's memory. What arrives is looked at by a peer of
 * ours. */
#include "qp.h"

#include <errno.h>

#define LEN 6000 /* four full segments and a part */

static void setup(struct qp_net *n, bool crc)
{
	qp_net_init(n);
	llp_mem_set_external(n->mem);
	n->a->config.crc = n->b->config.crc = crc ? MPA_CRC_PREFERRED : MPA_CRC_OFF;
	qp_net_connect(n);
	qp_region_add(n->a, 7, 0x1000, 2 * LEN, LOCAL)->lent = true;
	qp_region_add(n->b, 9, 0x2000, 2 * LEN, REMOTE)->lent = true;
}

static void post_write(struct qp_net *n, uint64_t wr_id, uint32_t len)
{
	struct rdmap_wqe *w = qp_wqe(n->a, wr_id, RDMAP_WR_WRITE, RDMAP_WR_SIGNALED);

	w->remote_stag = 9;
	w->remote_to = 0x2000;
	qp_wqe_sge(w, &n->a->region[0], 0, len);
	qp_post(n->a);
}

static void test_write(void **state)
{
	struct qp_net n;

	setup(&n, false);
	post_write(&n, 1, LEN);
	post_write(&n, 2, 8);
	qp_run(n.a);
	assert_int_equal(llp_mem_externals(n.mem), LEN / 1400);
	qp_expect_no_wc(n.a); /* not before it is acknowledged, and nothing before it */
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, LEN);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 8);
	assert_memory_equal(n.b->region[0].mem, n.a->region[0].mem, LEN);
	qp_net_done(&n);
}

static void test_send(void **state)
{
	struct qp_net n;

	setup(&n, false);
	qp_post_recv(n.b, 5, &n.b->region[0], 0, LEN);
	qp_wqe_sge(qp_wqe(n.a, 1, RDMAP_WR_SEND, RDMAP_WR_SIGNALED), &n.a->region[0], 0, LEN);
	qp_post(n.a);
	qp_run(n.a);
	assert_int_equal(llp_mem_externals(n.mem), LEN / 1400);
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_SEND, LEN);
	qp_expect_wc(n.b, 5, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, LEN);
	assert_memory_equal(n.b->region[0].mem, n.a->region[0].mem, LEN);
	qp_net_done(&n);
}

static void test_read_response(void **state)
{
	struct rdmap_wqe *w;
	struct qp_net n;

	setup(&n, false);
	w = qp_wqe(n.a, 1, RDMAP_WR_READ, RDMAP_WR_SIGNALED);
	w->remote_stag = 9;
	w->remote_to = 0x2000;
	qp_wqe_sge(w, &n.a->region[0], 0, LEN);
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	assert_int_equal(llp_mem_externals(n.mem), LEN / 1400);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, LEN);
	assert_memory_equal(n.b->region[0].mem, n.a->region[0].mem, LEN);
	qp_net_done(&n);
}

/* A segment whose bytes lie in two places is copied, others of the same message are not. */
static void test_list(void **state)
{
	struct rdmap_wqe *w;
	struct qp_net n;

	setup(&n, false);
	w = qp_wqe(n.a, 1, RDMAP_WR_WRITE, RDMAP_WR_SIGNALED);
	w->remote_stag = 9;
	w->remote_to = 0x2000;
	qp_wqe_sge(w, &n.a->region[0], 0, 2000);
	qp_wqe_sge(w, &n.a->region[0], 2000, LEN - 2000);
	qp_post(n.a);
	qp_run(n.a);
	assert_int_equal(llp_mem_externals(n.mem), LEN / 1400 - 1);
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, LEN);
	assert_memory_equal(n.b->region[0].mem, n.a->region[0].mem, LEN);
	qp_net_done(&n);
}

/* All else is copied, and complete at once. */
static void test_copied(void **state)
{
	struct qp_net n;

	setup(&n, false);
	post_write(&n, 1, 4095);
	n.a->region[0].lent = false;
	post_write(&n, 2, LEN);
	qp_run(n.a);
	assert_int_equal(llp_mem_externals(n.mem), 0);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 4095);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, LEN);
	qp_net_done(&n);
}

/* A CRC would be of what was there before the device reads it. */
static void test_not_with_crc(void **state)
{
	struct qp_net n;

	setup(&n, true);
	post_write(&n, 1, LEN);
	qp_run(n.a);
	assert_int_equal(llp_mem_externals(n.mem), 0);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, LEN);
	qp_net_done(&n);
}

static void test_out_of_bounds(void **state)
{
	struct qp_net n;

	setup(&n, false);
	post_write(&n, 1, 2 * LEN + 1);
	qp_run(n.a);
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_WRITE, 0);
	qp_net_done(&n);
}

/* Memory that is registered anew in the middle, for less: the rest is not lent. */
static void test_gone(void **state)
{
	struct qp_net n;

	setup(&n, false);
	llp_mem_hold(mpa_llp(n.a->m), true);
	llp_mem_set_buffer(n.mem, 2000);
	post_write(&n, 1, LEN);
	qp_run(n.a);
	assert_in_range(llp_mem_externals(n.mem), 1, LEN / 1400 - 1);
	n.a->region[0].len = 0;
	llp_mem_hold(mpa_llp(n.a->m), false);
	qp_net_run(&n);
	assert_in_range(llp_mem_externals(n.mem), 1, LEN / 1400 - 1);
	qp_expect_wc(n.a, 1, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_end(
		n.a, RDMAP_END_TERMINATE_TX, 0, RDMAP_LAYER_RDMA, RDMAP_ETYPE_CATASTROPHIC, 0);
	qp_net_done(&n);
}

/* A request that is flushed has given its memory back. */
static void test_flush(void **state)
{
	struct qp_net n;

	setup(&n, false);
	llp_mem_hold(mpa_llp(n.a->m), true);
	post_write(&n, 1, LEN);
	qp_run(n.a);
	assert_int_equal(llp_mem_owned(n.mem), 0);
	rdmap_terminate(&n.a->r, RDMAP_LAYER_RDMA, RDMAP_ETYPE_CATASTROPHIC, 0);
	assert_int_equal(llp_mem_owned(n.mem), 1);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	llp_mem_hold(mpa_llp(n.a->m), false);
	qp_net_done(&n);
}

/* The connection ends with all acknowledged, and nobody told yet. */
static void test_end(void **state)
{
	struct qp_net n;

	setup(&n, false);
	post_write(&n, 1, LEN);
	qp_run(n.a);
	llp_mem_fail(mpa_llp(n.a->m), -ECONNRESET);
	qp_net_run(&n);
	assert_int_equal(n.a->wcs, 1);
	qp_net_done(&n);
}

#define RESPONSE(at) "\xc1\x42\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x10" at

static void post_read(struct qp *q, uint64_t wr_id, uint32_t offset)
{
	qp_wqe_sge(qp_wqe(q, wr_id, RDMAP_WR_READ, RDMAP_WR_SIGNALED), &q->region[0], offset, 4);
	qp_post(q);
}

/* A peer answers what has not been sent: memory that is still to be read is not given back. */
static void test_answer_without_request(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	llp_mem_set_external(n.mem);
	n.a->config.crc = MPA_CRC_OFF;
	qp_net_raw_initiator(&n);
	qp_region_add(n.a, 7, 0x1000, 2 * LEN, LOCAL)->lent = true;
	llp_mem_hold(mpa_llp(n.a->m), true);
	post_write(&n, 1, LEN);
	post_read(n.a, 2, 0);
	post_read(n.a, 3, 4);
	qp_run(n.a);
	assert_int_equal(llp_mem_externals(n.mem), LEN / 1400);
	FEED(&n, RESPONSE("\x00") "abcd");
	FEED(&n, RESPONSE("\x04") "efgh");
	assert_memory_equal(n.a->region[0].mem, "abcdefgh", 8);
	qp_expect_no_wc(n.a);
	llp_mem_hold(mpa_llp(n.a->m), false);
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, LEN);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_read_response),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_not_with_crc),
		cmocka_unit_test(test_out_of_bounds),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_answer_without_request),
	};

	return cmocka_run_group_tests_name("rdmap-external", tests, NULL, NULL);
}
