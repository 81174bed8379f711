/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static void limit_is_kept(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_pd = 2};
	struct pair p;
	struct rnic_pd *pd[3];

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, &cfg);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &pd[0]), 0);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &pd[1]), 0);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &pd[2]), -ENOMEM);
	assert_int_equal(rnic_pd_dealloc(pd[0]), 0);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &pd[0]), 0);
	assert_int_equal(rnic_pd_dealloc(pd[0]), 0);
	assert_int_equal(rnic_pd_dealloc(pd[1]), 0);
	pair_fini(&p);
}

static void in_use_it_stays(void **state)
{
	struct pair p;
	struct rnic_pd *pd;
	struct rnic_mr *mr;
	struct rnic_srq *srq;
	char buf[8];

	pair_init(&p, NULL);
	assert_int_equal(rnic_pd_alloc(p.a.rnic, &pd), 0);
	assert_int_equal(rnic_mr_reg(pd, buf, sizeof buf, 0, 0, &mr), 0);
	assert_int_equal(rnic_pd_dealloc(pd), -EBUSY);
	assert_int_equal(rnic_mr_dereg(mr), 0);
	assert_int_equal(rnic_srq_create(pd, 1, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_pd_dealloc(pd), -EBUSY);
	assert_int_equal(rnic_srq_destroy(srq), 0);
	assert_int_equal(rnic_pd_dealloc(pd), 0);
	/* A QP alone holds it as well. */
	assert_int_equal(rnic_mr_dereg(p.a.mr), 0);
	p.a.mr = NULL;
	assert_int_equal(rnic_pd_dealloc(p.a.pd), -EBUSY);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit_is_kept),
		cmocka_unit_test(in_use_it_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
