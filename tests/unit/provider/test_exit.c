/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit() with other threads in verbs: a program's destructors wait for them, as those of a server
 * in C++ do, when ours have ended the RNIC. Each process is one of its own (argument "join").
 */
#include "cm_fixture.h"
#include "must.h"
#include "support/child.h"
#include "support/limit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cm_pair pair;
static pthread_t worker;
static _Atomic bool works, stop;

/* One verb that waits for the engine after another, so that exit() comes in the middle of one. */
static void register_again(void)
{
	static char buf[64];
	struct ibv_mr *mr = ibv_reg_mr(pair.active->pd, buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE);

	MUST(mr != NULL);
	MUST(ibv_dereg_mr(mr) == 0);
}

/* The data path goes on without a word: nothing completes any more, and nothing fails. */
static void post_and_poll(struct rdma_cm_id *id)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
	struct ibv_wc wc;

	MUST(ibv_post_send(id->qp, &wr, &bad) == 0);
	for (unsigned i = 0; i < 100; i++)
		MUST(ibv_poll_cq(id->send_cq, 1, &wc) == 0);
}

static void end_connection(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	MUST(rdma_disconnect(id) == 0);
	MUST(ibv_modify_qp(id->qp, &attr, IBV_QP_STATE) == 0);
	rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id) == 0);
}

static void *work(void *arg)
{
	while (!stop) {
		register_again();
		works = true;
	}
	post_and_poll(pair.active);
	end_connection(pair.active);
	end_connection(pair.passive);
	MUST(rdma_destroy_id(pair.listener) == 0);
	rdma_destroy_event_channel(cm_channel);
	return NULL;
}

static void join(void)
{
	stop = true;
	MUST(pthread_join(worker, NULL) == 0);
}

static void be_joined(void)
{
	/* Before the first verb, and so called after the RNIC's own. */
	MUST(atexit(join) == 0);
	cm_channel = rdma_create_event_channel();
	MUST(cm_channel != NULL);
	cm_connect(&pair);
	MUST(pthread_create(&worker, NULL, work, NULL) == 0);
	while (!works)
		;
	exit(7);
}

static void test_threads_in_verbs_are_joined(void **state)
{
	const char *const argv[] = {"/proc/self/exe", "join", NULL};
	static struct child c;

	for (unsigned i = 0; i < 5; i++) {
		child_run(&c, argv, NULL);
		if (child_exit(&c) != 7)
			fail_msg("%s", c.err);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_in_verbs_are_joined),
	};

	alarm(LIMIT_S);
	if (argc > 1)
		be_joined();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
