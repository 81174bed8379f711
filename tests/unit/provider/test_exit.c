/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit() with other threads in verbs: a program's destructors wait for them, as those of a server
 * in C++ do, when ours have ended the RNIC. And exit() with requests under way, which destructors
 * wait for. Each process is one of its own, by its argument.
 */
#include "cm_fixture.h"
#include "must.h"
#include "support/child.h"
#include "support/in_syscall.h"
#include "support/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

static void be_joined(void *(*run)(void *arg))
{
	/* Before the first verb, and so called after the RNIC's own. */
	MUST(atexit(join) == 0);
	cm_channel = rdma_create_event_channel();
	MUST(cm_channel != NULL);
	cm_connect(&pair);
	MUST(pthread_create(&worker, NULL, run, NULL) == 0);
	while (!works)
		;
	exit(7);
}

/* Polls as long as nothing is wrong. */
static struct ibv_wc poll_to_the_end(struct ibv_cq *cq, unsigned *n)
{
	struct ibv_wc wc = {.wr_id = 0}, next;
	int got;

	for (*n = 0; (got = ibv_poll_cq(cq, 1, &next)) >= 0; *n += (unsigned)got)
		if (got == 1)
			wc = next;
	MUST(got == -ENODEV);
	return wc;
}

static struct ibv_cq_ex *extended;

/* As long as nothing is wrong, too. */
static int start_poll_to_the_end(void)
{
	struct ibv_poll_cq_attr poll = {0};
	int rc;

	while ((rc = ibv_start_poll(extended, &poll)) == ENOENT)
		;
	return rc;
}

static void drain(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
	struct ibv_wc wc;
	unsigned n;

	/* Who polls until nothing is left sees no error. */
	MUST(ibv_poll_cq(pair.active->recv_cq, 1, &wc) == 0);
	/* What was there is found first. */
	wc = poll_to_the_end(pair.passive->recv_cq, &n);
	MUST(n == 1 && wc.status == IBV_WC_WR_FLUSH_ERR);
	MUST(ibv_poll_cq(pair.passive->recv_cq, 0, &wc) == 0);
	MUST(ibv_post_send(pair.active->qp, &wr, &bad) == 0);
	poll_to_the_end(pair.active->send_cq, &n);
	MUST(start_poll_to_the_end() == ENODEV);
}

/* The passive side has a completion that nobody has polled. */
static void be_drained(void)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_cq_init_attr_ex attr = {.cqe = 4};
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad;

	MUST(atexit(drain) == 0);
	cm_channel = rdma_create_event_channel();
	MUST(cm_channel != NULL);
	cm_connect(&pair);
	extended = ibv_create_cq_ex(pair.active->verbs, &attr);
	MUST(extended != NULL);
	MUST(ibv_post_recv(pair.passive->qp, &recv, &bad) == 0);
	MUST(ibv_modify_qp(pair.passive->qp, &error, IBV_QP_STATE) == 0);
	exit(7);
}

/* It does not know that exit() has begun, and waits for what is under way. */
static void *work_on(void *arg)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
	unsigned n;

	works = true;
	while (!stop)
		;
	MUST(ibv_post_send(pair.active->qp, &wr, &bad) == 0);
	poll_to_the_end(pair.active->send_cq, &n);
	MUST(n == 0);
	return NULL;
}

/* ---- threads that sleep for an event: nothing comes any more --------------------------------- */

struct sleeper {
	int (*get)(void);
	_Atomic pid_t tid;
	pthread_t thread;
};

static int sleep_for_cm_event(void)
{
	struct rdma_cm_event *ev;

	return rdma_get_cm_event(cm_channel, &ev);
}

static int sleep_for_cq_event(void)
{
	struct ibv_cq *cq;
	void *context;

	return ibv_get_cq_event(pair.active->recv_cq_channel, &cq, &context);
}

static int sleep_for_async_event(void)
{
	struct ibv_async_event ev;

	return ibv_get_async_event(pair.active->verbs, &ev);
}

/* A program that polls the descriptor: it has other means to be stopped, and sees nothing there. */
static void *poll_for_event(void *arg)
{
	struct rdma_event_channel *polled = arg;
	struct pollfd p = {.fd = polled->fd, .events = POLLIN};
	struct rdma_cm_event *ev;

	MUST(fcntl(polled->fd, F_SETFL, fcntl(polled->fd, F_GETFL) | O_NONBLOCK) == 0);
	works = true;
	while (!stop)
		;
	while (rdma_get_cm_event(polled, &ev) == -1 && errno == EAGAIN)
		MUST(poll(&p, 1, 0) == 0);
	MUST(errno == EIO);
	return NULL;
}

static void *sleep_for_event(void *arg)
{
	struct sleeper *s = arg;

	s->tid = gettid();
	MUST(s->get() == -1 && errno == EIO);
	return NULL;
}

/* Two of a channel: one cannot wake the other by what it reads. */
static struct sleeper sleepers[] = {{.get = sleep_for_cm_event}, {.get = sleep_for_cm_event},
	{.get = sleep_for_cq_event}, {.get = sleep_for_cq_event}, {.get = sleep_for_async_event}};
#define SLEEPERS (sizeof sleepers / sizeof sleepers[0])

static void join_sleepers(void)
{
	for (unsigned i = 0; i < SLEEPERS; i++)
		MUST(pthread_join(sleepers[i].thread, NULL) == 0);
	join();
}

static void be_asleep(void)
{
	struct rdma_event_channel *polled;

	MUST(atexit(join_sleepers) == 0);
	cm_channel = rdma_create_event_channel();
	polled = rdma_create_event_channel();
	MUST(cm_channel != NULL && polled != NULL);
	cm_connect(&pair);
	for (unsigned i = 0; i < SLEEPERS; i++) {
		struct sleeper *s = &sleepers[i];

		MUST(pthread_create(&s->thread, NULL, sleep_for_event, s) == 0);
		wait_until_in_syscall(&s->tid, SYS_read);
	}
	MUST(pthread_create(&worker, NULL, poll_for_event, polled) == 0);
	while (!works)
		;
	exit(7);
}

static void exits(const char *how)
{
	const char *const argv[] = {"/proc/self/exe", how, NULL};
	static struct child c;

	child_run(&c, argv, NULL);
	if (child_exit(&c) != 7)
		fail_msg("%s", c.err);
}

static void test_threads_in_verbs_are_joined(void **state)
{
	for (unsigned i = 0; i < 5; i++)
		exits("join");
}

static void test_destructors_do_not_poll_for_ever(void **state)
{
	exits("drain");
}

static void test_threads_do_not_poll_for_ever(void **state)
{
	exits("wait");
}

static void test_threads_do_not_sleep_for_ever(void **state)
{
	exits("sleep");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_in_verbs_are_joined),
		cmocka_unit_test(test_destructors_do_not_poll_for_ever),
		cmocka_unit_test(test_threads_do_not_poll_for_ever),
		cmocka_unit_test(test_threads_do_not_sleep_for_ever),
	};

	alarm(LIMIT_S);
	if (argc > 1 && strcmp(argv[1], "join") == 0)
		be_joined(work);
	else if (argc > 1 && strcmp(argv[1], "wait") == 0)
		be_joined(work_on);
	else if (argc > 1 && strcmp(argv[1], "sleep") == 0)
		be_asleep();
	else if (argc > 1)
		be_drained();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
