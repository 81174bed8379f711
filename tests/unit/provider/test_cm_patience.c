/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection that waits in vain for a peer that does not answer. */
#include "cm_fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <unistd.h>

static void test_unreachable(void **state)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct cm_pair silent = {NULL, NULL, NULL};

	cm_request(&silent);
	cm_expect(silent.active, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	/* Too late. */
	cm_qp(silent.passive);
	assert_int_equal(cm_errno(rdma_accept(silent.passive, &param)), ENOTCONN);
	cm_end(&silent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {CM(test_unreachable)};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
