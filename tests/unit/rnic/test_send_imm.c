/* SPDX-License-Identifier: BSD-2-Clause */
/* Send with Immediate, between two RNICs of ours (docs/connect.md). */
#include "rnic/qp.h"

#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static const struct rnic_config config = {.mpa = {.revision = 2, .crc = true, .send_imm = true}};

static struct pair pair;

static int setup(void **state)
{
	pair_init(&pair, &config);
	return 0;
}

static int teardown(void **state)
{
	pair_fini(&pair);
	return 0;
}

static void expect_message(struct side *s, uint64_t wr_id, uint32_t len)
{
	struct rnic_wc wc = pair_expect(&pair, s, wr_id, RDMAP_WC_SUCCESS);

	assert_int_equal(wc.wc.op, RDMAP_WC_RECV);
	assert_int_equal(wc.wc.flags, RDMAP_WC_WITH_IMM);
	assert_int_equal(wc.wc.byte_len, len);
}

/* Both ways, one completion each, however many segments. */
static void test_both_ways(void **state)
{
	assert_false(rnic_qp_takes_send_imm(pair.a.qp));
	pair_connect(&pair);
	assert_true(rnic_qp_takes_send_imm(pair.a.qp));
	assert_true(rnic_qp_takes_send_imm(pair.b.qp));
	for (uint32_t i = 0; i < 3; i++) {
		pair_post_recv(&pair.b, pair.b.qp, 7, 20000, 5000);
		pair_post(&pair.a, pair.a.qp, 1, RDMAP_WR_SEND_IMM, 0, 2500 * i, 0, 0);
		pair_expect(&pair, &pair.a, 1, RDMAP_WC_SUCCESS);
		expect_message(&pair.b, 7, 2500 * i);
		assert_memory_equal(pair.b.buf + 20000, pair.a.buf, 2500 * i);
	}
	pair_post_recv(&pair.a, pair.a.qp, 8, 0, 100);
	pair_post(&pair.b, pair.b.qp, 2, RDMAP_WR_SEND_IMM, 0, 100, 0, 0);
	pair_expect(&pair, &pair.b, 2, RDMAP_WC_SUCCESS);
	expect_message(&pair.a, 8, 100);
	pair_expect_none(&pair, &pair.a);
	pair_expect_none(&pair, &pair.b);
	assert_int_equal(pair_go(pair.a.qp, RNIC_QP_RESET), 0);
	assert_false(rnic_qp_takes_send_imm(pair.a.qp));
}

/* Each takes one element of an SRQ. */
static void test_srq(void **state)
{
	struct rnic_srq *srq;

	assert_int_equal(rnic_srq_create(pair.b.pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(pair.b.qp), 0);
	pair.b.qp = pair_qp(&pair.b, pair.b.cq, srq);
	pair_connect(&pair);
	assert_int_equal(rnic_srq_begin(srq), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct rdmap_rqe *e = rnic_srq_next(srq);

		e->wr_id = 20 + i;
		e->length = 3000;
		e->num_sge = 1;
		e->sge[0] = (struct rdmap_sge){.addr = (uintptr_t)pair.b.buf + 3000 * i,
			.len = 3000,
			.stag = rnic_mr_stag(pair.b.mr)};
		rnic_srq_commit(srq);
	}
	rnic_srq_end(srq);
	pair_post(&pair.a, pair.a.qp, 1, RDMAP_WR_SEND_IMM, 0, 3000, 0, 0);
	pair_post(&pair.a, pair.a.qp, 2, RDMAP_WR_SEND_IMM, 0, 1, 0, 0);
	pair_expect(&pair, &pair.a, 1, RDMAP_WC_SUCCESS);
	pair_expect(&pair, &pair.a, 2, RDMAP_WC_SUCCESS);
	expect_message(&pair.b, 20, 3000);
	expect_message(&pair.b, 21, 1);
	assert_int_equal(rnic_qp_destroy(pair.b.qp), 0);
	assert_int_equal(rnic_srq_destroy(srq), 0);
	pair.b.qp = pair_qp(&pair.b, pair.b.cq, NULL);
}

/* One end that does not know it: neither may post it. */
static void test_one_side(void **state)
{
	struct rnic_config old = config;

	teardown(NULL);
	pair_engine_init(&pair);
	old.mpa.send_imm = false;
	pair_rnic(&pair, &pair.a, 0, &config);
	pair_rnic(&pair, &pair.b, 1, &old);
	pair_side(&pair.a);
	pair_side(&pair.b);
	pair_connect(&pair);
	assert_false(rnic_qp_takes_send_imm(pair.a.qp));
	assert_false(rnic_qp_takes_send_imm(pair.b.qp));
	pair_post_recv(&pair.b, pair.b.qp, 7, 0, 100);
	pair_post(&pair.a, pair.a.qp, 1, RDMAP_WR_SEND, 0, 100, 0, 0);
	pair_expect(&pair, &pair.a, 1, RDMAP_WC_SUCCESS);
	pair_expect(&pair, &pair.b, 7, RDMAP_WC_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(test_srq, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_side, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
