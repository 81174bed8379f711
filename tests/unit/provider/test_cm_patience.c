/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that wait in vain, for nobody and for somebody who does not answer: both at once. */
#include "cm_fixture.h"

#include <errno.h>
#include <unistd.h>

static void test_unreachable(void **state)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *nowhere = cm_routed(CM_NOBODY, 4999);
	struct cm_pair silent = {NULL, NULL, NULL};
	struct rdma_cm_event *ev;
	unsigned seen = 0;

	cm_qp(nowhere);
	assert_int_equal(rdma_connect(nowhere, &param), 0);
	cm_request(&silent);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_UNREACHABLE);
		/* Whether ARP gives up first or MPA: within the same seconds. */
		assert_true(ev->status == -ETIMEDOUT ||
			    (ev->id == nowhere && ev->status == -EHOSTUNREACH));
		seen |= ev->id == nowhere ? 1 : ev->id == silent.active ? 2 : 4;
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	assert_int_equal(seen, 3);
	/* Too late. */
	cm_qp(silent.passive);
	assert_int_equal(cm_errno(rdma_accept(silent.passive, &param)), ENOTCONN);
	cm_destroy(nowhere);
	cm_end(&silent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {CM(test_unreachable)};

	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
