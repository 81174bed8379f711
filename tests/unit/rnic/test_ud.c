/* SPDX-License-Identifier: BSD-2-Clause */
/* UD queue pairs (docs/ud.md): whether there are any. */
#include "ud_pair.h"

#include <errno.h>
#include <string.h>

static void test_not_there(void **state)
{
	struct rnic_qp_init init = {.send_cq = ud.pair.a.cq, .recv_cq = ud.pair.a.cq, .ud = true};
	struct rnic_conn_param cp = {.qp = ud.qp[0]};
	struct rnic_qp *q;

	ud.pair.a.rnic->ud.open = false;
	ud.wire[0].open_rc = -EADDRINUSE;
	assert_int_equal(rnic_qp_create(ud.pair.a.pd, &init, &q), -EADDRINUSE);
	ud.pair.a.rnic->ud.net = NULL;
	assert_int_equal(rnic_qp_create(ud.pair.a.pd, &init, &q), -EOPNOTSUPP);
	assert_int_equal(rnic_ud_max_message(ud.pair.a.rnic), 0);
	ud.pair.a.rnic->ud.net = &ud.wire[0].net;
	ud.pair.a.rnic->ud.open = true;
	assert_int_equal(rnic_ud_max_message(ud.pair.a.rnic), UD_PAIR_MTU);
	/* Nothing connects it. */
	assert_int_equal(rnic_ep_connect(ud.pair.a.ep, &cp), -EINVAL);
	rnic_ud_prepare(ud.pair.a.rnic, &ud_pair_to_b.remote);
	assert_int_equal(ud.wire[0].prepared, 1);
}

static unsigned remarks;

static void count_remarks(void *ctx, enum log_level level, const char *text)
{
	assert_int_equal(level, LOG_LEVEL_WARNING);
	assert_non_null(strstr(text, "not without TLS"));
	remarks++;
}

/** It is said to who wants them, once, and where there are none that is why. */
static void test_remark(void **state)
{
	const struct log_sink sink = {.line = count_remarks, .max_level = LOG_LEVEL_WARNING};
	struct rnic *r = ud.pair.a.rnic;
	const struct log_sink *log = r->log;
	struct rnic_ep *ep;

	assert_false(rnic_ud_remark(r));
	r->log = &sink;
	r->ud.remark = "not without TLS";
	r->ud.net = NULL;
	assert_int_equal(remarks, 0);
	assert_int_equal(rnic_ep_create_ud(r, NULL, NULL, &ep), -EOPNOTSUPP);
	assert_int_equal(remarks, 1);
	assert_true(rnic_ud_remark(r));
	assert_int_equal(remarks, 1);
	r->ud.net = &ud.wire[0].net;
	r->log = log;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, ud_pair_setup, ud_pair_teardown)
		TEST(test_not_there),
		TEST(test_remark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
