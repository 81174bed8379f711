/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/qp.h"

#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static void what_can_be_created(void **state)
{
	struct pair *p = *state;
	const struct rnic_qp_init good = {.send_cq = p->a.cq,
		.recv_cq = p->a.cq,
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1};
	struct rnic_qp_init bad[7];
	struct rnic_qp *qp;

	for (unsigned i = 0; i < 7; i++)
		bad[i] = good;
	bad[0].send_cq = NULL;
	bad[1].recv_cq = NULL;
	bad[2].max_send_wr = 16385;
	bad[3].max_recv_wr = 16385;
	bad[4].max_send_sge = 17;
	bad[5].max_recv_sge = 17;
	bad[6].max_inline = 513;
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(rnic_qp_create(p->a.pd, &bad[i], &qp), -EINVAL);
}

/** What was promised at creation is what query says, and it is no less than what was asked. */
static void capacities_are_true(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_init init = {.send_cq = p->a.cq,
		.recv_cq = p->b.cq,
		.context = p,
		.max_send_wr = 100,
		.max_recv_wr = 33,
		.max_send_sge = 3,
		.max_recv_sge = 4,
		.max_inline = 100,
		.sq_sig_all = true};
	struct rnic_qp_init again;
	struct rnic_qp_attr attr;
	struct rnic_qp *qp;

	init.recv_cq = p->a.cq;
	assert_int_equal(rnic_qp_create(p->a.pd, &init, &qp), 0);
	assert_int_equal(init.max_send_wr, 128);
	assert_int_equal(init.max_recv_wr, 64);
	assert_true(init.max_send_sge >= 3 && init.max_send_sge <= 16);
	assert_int_equal(init.max_recv_sge, 4);
	assert_true(init.max_inline >= 100 && init.max_inline <= 512);
	rnic_qp_query(qp, &attr, &again);
	assert_int_equal(attr.state, RNIC_QP_RESET);
	assert_int_equal(again.max_send_wr, init.max_send_wr);
	assert_int_equal(again.max_recv_wr, init.max_recv_wr);
	assert_int_equal(again.max_send_sge, init.max_send_sge);
	assert_int_equal(again.max_recv_sge, init.max_recv_sge);
	assert_int_equal(again.max_inline, init.max_inline);
	assert_ptr_equal(again.send_cq, p->a.cq);
	assert_ptr_equal(again.context, p);
	assert_true(again.sq_sig_all);
	assert_int_equal(rnic_qp_destroy(qp), 0);
}

static void numbers(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp = pair_qp(&p->a, p->a.cq, NULL);
	uint32_t num = rnic_qp_num(qp);

	assert_int_not_equal(num, 0);
	assert_int_not_equal(num, rnic_qp_num(p->a.qp));
	engine_lock(&p->engine);
	assert_ptr_equal(rnic_qp_find(p->a.rnic, num), qp);
	assert_null(rnic_qp_find(p->a.rnic, 0));
	assert_null(rnic_qp_find(p->a.rnic, 0xffffff));
	engine_unlock(&p->engine);
	assert_int_equal(rnic_qp_destroy(qp), 0);
	engine_lock(&p->engine);
	assert_null(rnic_qp_find(p->a.rnic, num));
	engine_unlock(&p->engine);
}

static void limit_is_kept(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_qp = 1};
	struct pair p;
	struct rnic_qp_init init = {.max_send_wr = 1};
	struct rnic_qp *qp;

	pair_init(&p, &cfg);
	init.send_cq = init.recv_cq = p.a.cq;
	assert_int_equal(rnic_qp_create(p.a.pd, &init, &qp), -ENOMEM);
	pair_fini(&p);
}

static void destroy_takes_its_completions_along(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp = pair_qp(&p->a, p->a.cq, NULL);

	pair_post_recv(&p->a, qp, 1, 0, 8);
	pair_post_recv(&p->a, p->a.qp, 2, 0, 8);
	assert_int_equal(pair_go(qp, RNIC_QP_ERROR), 0);
	assert_int_equal(pair_go(p->a.qp, RNIC_QP_ERROR), 0);
	assert_int_equal(rnic_cq_destroy(p->a.cq), -EBUSY);
	assert_int_equal(rnic_qp_destroy(qp), 0);
	pair_expect(p, &p->a, 2, RDMAP_WC_WR_FLUSH_ERR);
	pair_expect_none(p, &p->a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_can_be_created, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			capacities_are_true, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(numbers, pair_setup_apart, pair_teardown),
		cmocka_unit_test(limit_is_kept),
		cmocka_unit_test_setup_teardown(
			destroy_takes_its_completions_along, pair_setup_apart, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
