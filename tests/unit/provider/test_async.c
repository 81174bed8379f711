/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events, from the RNIC's report to what the program reads; the objects are bare. */
#include "provider/verbs/objects.h"
#include "support/alloc_fault.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct {
	struct device device;
	struct context a, b;
	struct cq cq;
	struct qp qp, other;
	struct srq srq;
} t;

/** The device has none: its events are told at once. */
struct engine *rnic_engine(struct rnic *r)
{
	return NULL;
}

static void open_context(struct context *c)
{
	STAILQ_INIT(&c->events);
	c->device = &t.device;
	atomic_init(&c->refs, 1);
	c->ibv.device = &t.device.ibv;
	assert_int_equal(mailbox_open(&c->async), 0);
	c->ibv.async_fd = c->async.fd;
	assert_int_equal(fcntl(c->async.fd, F_SETFL, O_NONBLOCK), 0);
	LIST_INSERT_HEAD(&t.device.contexts, c, link);
}

static int setup(void **state)
{
	memset(&t, 0, sizeof t);
	pthread_mutex_init(&t.device.lock, NULL);
	t.device.started = true;
	open_context(&t.a);
	open_context(&t.b);
	t.cq.ibv.context = &t.a.ibv;
	t.qp.ibv.context = &t.a.ibv;
	t.other.ibv.context = &t.a.ibv;
	t.srq.ibv.context = &t.a.ibv;
	return 0;
}

static int teardown(void **state)
{
	async_end(&t.a);
	async_end(&t.b);
	mailbox_fini(&t.a.async);
	mailbox_fini(&t.b.async);
	pthread_mutex_destroy(&t.device.lock);
	return 0;
}

static void report(enum rnic_event_type type, void *context)
{
	const struct rnic_event ev = {.type = type, .context = context};

	async_event(&t.device, &ev);
}

static bool is_readable(const struct context *c)
{
	struct pollfd p = {.fd = c->ibv.async_fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void nothing_more(struct context *c)
{
	struct ibv_async_event ev;

	assert_false(is_readable(c));
	errno = 0;
	assert_int_equal(async_get(&c->ibv, &ev), -1);
	assert_int_equal(errno, EAGAIN);
}

/* Every kind of the RNIC's has its name in verbs, its element, and its reader's context. */
static void test_kinds(void **state)
{
	const struct {
		enum rnic_event_type from;
		enum ibv_event_type to;
		void *context, *element;
	} kinds[] = {
		{RNIC_EVENT_CQ_ERROR, IBV_EVENT_CQ_ERR, &t.cq, &t.cq.ibv},
		{RNIC_EVENT_QP_FATAL, IBV_EVENT_QP_FATAL, &t.qp, &t.qp.ibv},
		{RNIC_EVENT_QP_REQUEST_ERROR, IBV_EVENT_QP_REQ_ERR, &t.qp, &t.qp.ibv},
		{RNIC_EVENT_QP_ACCESS_ERROR, IBV_EVENT_QP_ACCESS_ERR, &t.qp, &t.qp.ibv},
		{RNIC_EVENT_QP_ESTABLISHED, IBV_EVENT_COMM_EST, &t.qp, &t.qp.ibv},
		{RNIC_EVENT_QP_LAST_WQE, IBV_EVENT_QP_LAST_WQE_REACHED, &t.qp, &t.qp.ibv},
		{RNIC_EVENT_SRQ_LIMIT, IBV_EVENT_SRQ_LIMIT_REACHED, &t.srq, &t.srq.ibv},
	};
	struct ibv_async_event ev;

	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		report(kinds[i].from, kinds[i].context);
		assert_true(is_readable(&t.a));
		assert_int_equal(async_get(&t.a.ibv, &ev), 0);
		assert_int_equal(ev.event_type, kinds[i].to);
		/* One of a union of pointers. */
		assert_ptr_equal(ev.element.qp, kinds[i].element);
		nothing_more(&t.a);
		nothing_more(&t.b);
	}
	assert_int_equal(t.cq.async.reported, 1);
	assert_int_equal(t.qp.async.reported, 5);
	assert_int_equal(t.srq.async.reported, 1);
}

/* What concerns the port or the device is told in every context. */
static void test_everywhere(void **state)
{
	const struct {
		enum rnic_event_type from;
		enum ibv_event_type to;
		int port;
	} kinds[] = {
		{RNIC_EVENT_PORT_DOWN, IBV_EVENT_PORT_ERR, 1},
		{RNIC_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ACTIVE, 1},
		{RNIC_EVENT_DEVICE_FATAL, IBV_EVENT_DEVICE_FATAL, 0},
	};
	struct ibv_async_event ev;

	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		report(kinds[i].from, NULL);
	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		assert_int_equal(async_get(&t.a.ibv, &ev), 0);
		assert_int_equal(ev.event_type, kinds[i].to);
		assert_int_equal(ev.element.port_num, kinds[i].port);
		assert_int_equal(async_get(&t.b.ibv, &ev), 0);
		assert_int_equal(ev.event_type, kinds[i].to);
	}
	nothing_more(&t.a);
	nothing_more(&t.b);
}

static void test_unknown_kind(void **state)
{
	report((enum rnic_event_type)(RNIC_EVENT_DEVICE_FATAL + 1), &t.qp);
	report((enum rnic_event_type) - 1, &t.qp);
	nothing_more(&t.a);
}

static void next_is(struct context *c, enum ibv_event_type type, const void *element)
{
	struct ibv_async_event ev;

	assert_int_equal(async_get(&c->ibv, &ev), 0);
	assert_int_equal(ev.event_type, type);
	if (element)
		assert_ptr_equal(ev.element.qp, element);
}

#define OF_QP  6
#define UNREAD 8 /* of one object, at most */

static const enum rnic_event_type of_qp[OF_QP] = {RNIC_EVENT_QP_ESTABLISHED, RNIC_EVENT_QP_LAST_WQE,
	RNIC_EVENT_QP_FATAL, RNIC_EVENT_SQ_DRAINED, RNIC_EVENT_QP_REQUEST_ERROR,
	RNIC_EVENT_QP_ACCESS_ERROR};
static const enum ibv_event_type of_qp_in_verbs[OF_QP] = {IBV_EVENT_COMM_EST,
	IBV_EVENT_QP_LAST_WQE_REACHED, IBV_EVENT_QP_FATAL, IBV_EVENT_SQ_DRAINED,
	IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR};

/* What tells that memory is short must not need any. */
static void test_no_memory(void **state)
{
	alloc_fault_chance(1, 1);
	for (unsigned i = 0; i < OF_QP; i++)
		report(of_qp[i], &t.qp);
	report(RNIC_EVENT_CQ_ERROR, &t.cq);
	report(RNIC_EVENT_SRQ_LIMIT, &t.srq);
	report(RNIC_EVENT_PORT_DOWN, NULL);
	alloc_fault_chance(0, 1);
	next_is(&t.a, of_qp_in_verbs[0], &t.qp.ibv);
	next_is(&t.a, IBV_EVENT_CQ_ERR, &t.cq.ibv);
	next_is(&t.a, IBV_EVENT_SRQ_LIMIT_REACHED, &t.srq.ibv);
	next_is(&t.a, IBV_EVENT_PORT_ERR, NULL);
	for (unsigned i = 1; i < OF_QP; i++)
		next_is(&t.a, of_qp_in_verbs[i], &t.qp.ibv);
	nothing_more(&t.a);
	assert_int_equal(t.qp.async.reported, OF_QP);
}

/* As often as it came, while there is room. */
static void test_again(void **state)
{
	report(RNIC_EVENT_SQ_DRAINED, &t.qp);
	report(RNIC_EVENT_QP_ESTABLISHED, &t.qp);
	for (unsigned i = 2; i < UNREAD; i++)
		report(RNIC_EVENT_SQ_DRAINED, &t.qp);
	next_is(&t.a, IBV_EVENT_SQ_DRAINED, &t.qp.ibv);
	next_is(&t.a, IBV_EVENT_COMM_EST, &t.qp.ibv);
	for (unsigned i = 2; i < UNREAD; i++)
		next_is(&t.a, IBV_EVENT_SQ_DRAINED, &t.qp.ibv);
	nothing_more(&t.a);
	assert_int_equal(t.qp.async.reported, UNREAD);
}

/* Then what has come again gives way: no kind is forgotten, and the last one is the last. */
static void test_too_many(void **state)
{
	for (unsigned i = 0; i < OF_QP; i++)
		report(of_qp[i], &t.qp);
	for (unsigned i = 0; i < 20; i++)
		report(RNIC_EVENT_SQ_DRAINED, &t.qp);
	report(RNIC_EVENT_QP_ESTABLISHED, &t.qp);
	for (unsigned i = 1; i < OF_QP; i++)
		if (of_qp[i] != RNIC_EVENT_SQ_DRAINED)
			next_is(&t.a, of_qp_in_verbs[i], &t.qp.ibv);
	for (unsigned i = OF_QP - 2; i < UNREAD; i++)
		next_is(&t.a, i < UNREAD - 1 ? IBV_EVENT_SQ_DRAINED : IBV_EVENT_COMM_EST,
			&t.qp.ibv);
	nothing_more(&t.a);
	for (unsigned i = 0; i < UNREAD; i++) {
		report(RNIC_EVENT_PORT_ACTIVE, NULL);
		report(RNIC_EVENT_PORT_DOWN, NULL);
	}
	for (unsigned i = 0; i < UNREAD; i++)
		next_is(&t.a, i % 2 ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE, NULL);
	nothing_more(&t.a);
}

/* Only the unread ones of the destroyed object go, wherever they stand in the queue. */
static void test_forget(void **state)
{
	struct ibv_async_event ev;

	report(RNIC_EVENT_QP_FATAL, &t.qp);
	report(RNIC_EVENT_QP_FATAL, &t.qp);
	report(RNIC_EVENT_QP_ESTABLISHED, &t.other);
	report(RNIC_EVENT_QP_REQUEST_ERROR, &t.qp);
	report(RNIC_EVENT_PORT_DOWN, NULL);
	assert_int_equal(async_get(&t.a.ibv, &ev), 0);
	async_forget(&t.a.ibv, &t.qp.async);
	/* The one that was read is to be acknowledged, and no other. */
	assert_int_equal(t.qp.async.reported, 1);
	assert_int_equal(async_get(&t.a.ibv, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_COMM_EST);
	assert_ptr_equal(ev.element.qp, &t.other.ibv);
	assert_int_equal(async_get(&t.a.ibv, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_PORT_ERR);
	nothing_more(&t.a);
	async_forget(&t.a.ibv, &t.qp.async);
	nothing_more(&t.a);
}

/* A token without its event, which was retracted, does not end the wait with nothing. */
static void test_token_without_event(void **state)
{
	struct ibv_async_event ev;

	mailbox_post(&t.a.async, NULL);
	assert_int_equal(async_get(&t.a.ibv, &ev), -1);
	assert_int_equal(errno, EAGAIN);
	mailbox_post(&t.a.async, NULL);
	report(RNIC_EVENT_SRQ_LIMIT, &t.srq);
	assert_int_equal(async_get(&t.a.ibv, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(async_get(&t.a.ibv, &ev), -1);
	assert_int_equal(errno, EAGAIN);
}

static void *read_one(void *arg)
{
	struct ibv_async_event *ev = arg;

	return async_get(&t.b.ibv, ev) == 0 ? ev : NULL;
}

static void test_blocking_read(void **state)
{
	struct ibv_async_event ev = {0};
	pthread_t thread;
	void *read;

	assert_int_equal(fcntl(t.b.async.fd, F_SETFL, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, read_one, &ev), 0);
	report(RNIC_EVENT_PORT_ACTIVE, NULL);
	assert_int_equal(pthread_join(thread, &read), 0);
	assert_non_null(read);
	assert_int_equal(ev.event_type, IBV_EVENT_PORT_ACTIVE);
}

int main(void)
{
#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH(test_kinds),
		WITH(test_everywhere),
		WITH(test_unknown_kind),
		WITH(test_no_memory),
		WITH(test_again),
		WITH(test_too_many),
		WITH(test_forget),
		WITH(test_token_without_event),
		WITH(test_blocking_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
