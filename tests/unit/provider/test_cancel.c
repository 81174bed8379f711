/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are cancelled while they are inside a verb: it is finished first, and nobody else
 * finds a lock that is held for ever. A verb that waits for an event may be cancelled there.
 */
#include "fixture.h"
#include "must.h"
#include "support/in_syscall.h"
#include "support/limit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp; /* in ERROR: posts complete at once, flushed */
	struct ibv_context *context;
} t;

static int setup(void **state)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_recv_sge = 1}};

	if (fixture_open(state) != 0)
		return -1;
	t.context = fx.context;
	t.channel = ibv_create_comp_channel(t.context);
	t.pd = ibv_alloc_pd(t.context);
	t.cq = ibv_create_cq(t.context, 64, NULL, t.channel, 0);
	a.send_cq = a.recv_cq = t.cq;
	t.qp = ibv_create_qp(t.pd, &a);
	assert_non_null(t.qp);
	return qp_go(t.qp, IBV_QPS_ERR);
}

/* Whatever was cancelled: everything still works, the engine included. */
static int teardown(void **state)
{
	assert_int_equal(ibv_destroy_qp(t.qp), 0);
	assert_int_equal(ibv_destroy_cq(t.cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(t.channel), 0);
	assert_int_equal(ibv_dealloc_pd(t.pd), 0);
	return fixture_close(state);
}

/* ---- one verb with the cancellation pending -------------------------------------------------- */

static void poll(void)
{
	struct ibv_wc wc[4];

	MUST(ibv_poll_cq(t.cq, 4, wc) >= 0);
}

/* The completion writes to the channel, under the engine's lock. */
static void post(void)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	int rc;

	MUST(ibv_req_notify_cq(t.cq, 0) == 0);
	rc = ibv_post_recv(t.qp, &wr, &bad);
	/* Full as long as another thread has the engine, and has yet to flush what is there. */
	MUST(rc == 0 || rc == ENOMEM);
	poll();
}

static void register_memory(void)
{
	static char buf[8192];
	struct ibv_mr *mr = ibv_reg_mr(t.pd, buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE);

	MUST(mr != NULL && ibv_dereg_mr(mr) == 0);
}

static void make_window(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(t.pd, IBV_MW_TYPE_1);

	MUST(mw != NULL && ibv_dealloc_mw(mw) == 0);
}

static void make_queues(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(t.context);
	struct ibv_cq *cq = ibv_create_cq(t.context, 4, NULL, channel, 0);
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq};
	struct ibv_qp *qp = ibv_create_qp(t.pd, &a);

	MUST(qp != NULL && ibv_destroy_qp(qp) == 0);
	MUST(ibv_destroy_cq(cq) == 0 && ibv_destroy_comp_channel(channel) == 0);
}

static void open_and_close(void)
{
	struct ibv_context *c = ibv_open_device(t.context->device);

	MUST(c != NULL && ibv_close_device(c) == 0);
}

static _Atomic unsigned finished;

static void *cancelled_before(void *verb)
{
	MUST(pthread_cancel(pthread_self()) == 0);
	((void (*)(void))verb)();
	atomic_fetch_add(&finished, 1);
	pthread_testcancel();
	return NULL;
}

static void is_cancelled(pthread_t thread)
{
	void *result;

	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
}

static void test_each_is_finished(void **state)
{
	static void (*const verbs[])(void) = {
		post, poll, register_memory, make_window, make_queues, open_and_close};

	atomic_store(&finished, 0);
	for (unsigned i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
		pthread_t thread;

		assert_int_equal(
			pthread_create(&thread, NULL, cancelled_before, (void *)verbs[i]), 0);
		is_cancelled(thread);
		assert_int_equal(atomic_load(&finished), i + 1);
		/* Another goes on. */
		post();
	}
}

/* ---- loops, at any moment -------------------------------------------------------------------- */

static _Atomic unsigned rounds;
static int cancel_type;

static void *loop(void *verb)
{
	pthread_setcanceltype(cancel_type, NULL);
	for (;;) {
		((void (*)(void))verb)();
		atomic_fetch_add(&rounds, 1);
		pthread_testcancel();
	}
	return NULL;
}

static void rounds_pass(unsigned n)
{
	unsigned from = atomic_load(&rounds);

	while (atomic_load(&rounds) - from < n)
		sched_yield();
}

static void cancel_loops(void (*const verbs[])(void), unsigned n, int type)
{
	pthread_t thread[4];

	cancel_type = type;
	for (unsigned again = 0; again < 20; again++) {
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(
				pthread_create(&thread[i], NULL, loop, (void *)verbs[i]), 0);
		rounds_pass(20 + again * 7);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(pthread_cancel(thread[i]), 0);
		for (unsigned i = 0; i < n; i++)
			is_cancelled(thread[i]);
		register_memory();
	}
}

static void test_loops(void **state)
{
	static void (*const verbs[])(void) = {post, poll, make_queues, register_memory};

	cancel_loops(verbs, 4, PTHREAD_CANCEL_DEFERRED);
}

/* No verb is made for that, but the one that programs spend their time in. */
static void test_asynchronously(void **state)
{
	static void (*const verbs[])(void) = {poll, poll};
	struct ibv_wc wc;

	while (ibv_poll_cq(t.cq, 1, &wc) > 0)
		;
	cancel_loops(verbs, 2, PTHREAD_CANCEL_ASYNCHRONOUS);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void *wait_for_completion(void *arg)
{
	struct ibv_cq *cq;
	void *context;

	ibv_get_cq_event(t.channel, &cq, &context);
	return NULL;
}

static void *wait_for_event(void *arg)
{
	struct ibv_async_event event;

	ibv_get_async_event(t.context, &event);
	return NULL;
}

static void test_waits_can_be_cancelled(void **state)
{
	static void *(*const waits[])(void *) = {wait_for_completion, wait_for_event};

	for (unsigned i = 0; i < 2; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, waits[i], NULL), 0);
		assert_int_equal(pthread_cancel(thread), 0);
		is_cancelled(thread);
	}
}

/* What ibv_get_cq_event() returned, if it did. */
struct wait {
	struct ibv_comp_channel *channel;
	_Atomic pid_t tid;
	int rc, error;
};

static void *wait_on_channel(void *arg)
{
	struct wait *w = arg;
	struct ibv_cq *cq;
	void *context;

	w->tid = gettid();
	w->rc = ibv_get_cq_event(w->channel, &cq, &context);
	w->error = errno;
	return NULL;
}

#define SIZES 64

/* What was freed belongs to others from now on. */
static void reuse_freed_memory(void *taken[SIZES])
{
	for (size_t i = 0; i < SIZES; i++) {
		taken[i] = malloc((i + 1) * 16);
		assert_non_null(taken[i]);
		memset(taken[i], 0xa5, (i + 1) * 16);
	}
}

/* Let a thread wait, destroy all that it waits for, and then wake it by @p wake. */
static void destroy_and_wake(struct wait *w, void (*wake)(pthread_t thread), void **result)
{
	struct ibv_cq *cq;
	pthread_t thread;
	void *taken[SIZES];
	int number;

	w->channel = ibv_create_comp_channel(t.context);
	assert_non_null(w->channel);
	number = w->channel->fd;
	cq = ibv_create_cq(t.context, 4, NULL, w->channel, 0);
	assert_non_null(cq);
	assert_int_equal(pthread_create(&thread, NULL, wait_on_channel, w), 0);
	wait_until_in_syscall(&w->tid, SYS_read);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(w->channel), 0);
	reuse_freed_memory(taken);
	wake(thread);
	assert_int_equal(pthread_join(thread, result), 0);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	for (size_t i = 0; i < SIZES; i++)
		free(taken[i]);
}

static void cancel(pthread_t thread)
{
	assert_int_equal(pthread_cancel(thread), 0);
}

static void test_waits_for_what_is_destroyed_can_be_cancelled(void **state)
{
	struct wait w = {0};
	void *result;

	destroy_and_wake(&w, cancel, &result);
	assert_ptr_equal(result, PTHREAD_CANCELED);
}

static void on_signal(int sig)
{
}

static void interrupt(pthread_t thread)
{
	assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
}

static void test_waits_for_what_is_destroyed_can_be_interrupted(void **state)
{
	struct sigaction before, a = {.sa_handler = on_signal}; /* without SA_RESTART */
	struct wait w = {0};
	void *result;

	assert_int_equal(sigaction(SIGUSR1, &a, &before), 0);
	destroy_and_wake(&w, interrupt, &result);
	assert_int_equal(w.rc, -1);
	assert_int_equal(w.error, EINTR);
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static struct rdma_event_channel *channel;
static _Atomic pid_t waiter;

static void close_channel(void *arg)
{
	rdma_destroy_event_channel(channel);
}

static void *wait_for_cm(void *arg)
{
	struct rdma_cm_event *ev;

	pthread_cleanup_push(close_channel, NULL);
	waiter = gettid();
	rdma_get_cm_event(channel, &ev);
	pthread_cleanup_pop(0);
	return NULL;
}

/* The number of a channel that a cleanup handler closes is free for any file. */
static void test_a_cleanup_handler_closes_its_channel(void **state)
{
	int number, end[2];
	pthread_t thread;
	char text[32];

	channel = rdma_create_event_channel();
	assert_non_null(channel);
	number = channel->fd;
	assert_int_equal(pthread_create(&thread, NULL, wait_for_cm, NULL), 0);
	wait_until_in_syscall(&waiter, SYS_read);
	assert_int_equal(pthread_cancel(thread), 0);
	is_cancelled(thread);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	assert_int_equal(pipe(end), 0);
	if (end[1] != number) {
		assert_int_equal(fcntl(end[1], F_DUPFD, number), number);
		close(end[1]);
	}
	assert_int_equal(write(number, "as long as a command ...", 24), 24);
	assert_int_equal(read(end[0], text, sizeof text), 24);
	close(number);
	close(end[0]);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_each_is_finished),
		CASE(test_loops),
		CASE(test_asynchronously),
		CASE(test_waits_can_be_cancelled),
		CASE(test_waits_for_what_is_destroyed_can_be_cancelled),
		CASE(test_waits_for_what_is_destroyed_can_be_interrupted),
		CASE(test_a_cleanup_handler_closes_its_channel),
	};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
