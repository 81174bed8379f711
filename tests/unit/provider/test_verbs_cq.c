/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues and channels of provider/verbs/cq.c. */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct ibv_qp_cap small = {.max_send_wr = 1, .max_recv_wr = 16};

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* ---- create, resize, destroy ----------------------------------------------------------------- */

static void test_create(void **state)
{
	struct ibv_context *second = ibv_open_device(fx.context->device);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(fx.context);
	struct ibv_comp_channel *foreign = ibv_create_comp_channel(second);
	struct ibv_device_attr dev;
	struct ibv_cq *cq;
	int mark;

	assert_int_equal(ibv_query_device(fx.context, &dev), 0);
	cq = ibv_create_cq(fx.context, 100, &mark, channel, 0);
	assert_non_null(cq);
	assert_in_range(cq->cqe, 100, dev.max_cqe);
	assert_ptr_equal(cq->cq_context, &mark);
	assert_ptr_equal(cq->channel, channel);
	assert_ptr_equal(cq->context, fx.context);
	assert_int_equal(ibv_destroy_comp_channel(channel), EBUSY);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	cq = ibv_create_cq(fx.context, dev.max_cqe, NULL, NULL, 0);
	assert_non_null(cq);
	assert_true(cq->cqe >= dev.max_cqe);
	assert_int_equal(ibv_destroy_cq(cq), 0);

	errno = 0;
	assert_null(ibv_create_cq(fx.context, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(fx.context, -1, NULL, NULL, 0));
	assert_null(ibv_create_cq(fx.context, dev.max_cqe + 1, NULL, NULL, 0));
	assert_null(ibv_create_cq(fx.context, 1, NULL, NULL, fx.context->num_comp_vectors));
	assert_null(ibv_create_cq(fx.context, 1, NULL, NULL, -1));
	errno = 0;
	assert_null(ibv_create_cq(fx.context, 1, NULL, foreign, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	assert_int_equal(ibv_destroy_comp_channel(foreign), 0);
	assert_int_equal(ibv_close_device(second), 0);
}

#define TIMES (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static void test_create_ex(void **state)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 10,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN};
	struct ibv_poll_cq_attr poll_attr = {0};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(fx.context, &attr);

	assert_non_null(cq);
	assert_true(cq->cqe >= 10);
	assert_int_equal(ibv_start_poll(cq, &poll_attr), ENOENT);
	assert_int_equal(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 64), 0);
	assert_true(cq->cqe >= 64);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);

	for (uint64_t flag = 1; flag <= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK; flag <<= 1) {
		bool known = (flag & (IBV_WC_STANDARD_FLAGS | TIMES)) != 0;

		attr.wc_flags = flag;
		errno = 0;
		cq = ibv_create_cq_ex(fx.context, &attr);
		assert_int_equal(cq != NULL, known);
		if (known)
			assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
		else
			assert_int_equal(errno, EOPNOTSUPP);
	}
	attr.wc_flags = 0;
	attr.flags = 1 << 5;
	assert_null(ibv_create_cq_ex(fx.context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	errno = 0;
	assert_null(ibv_create_cq_ex(fx.context, &attr));
	assert_int_equal(errno, EINVAL);
	attr.comp_mask = 0;
	attr.cqe = 0;
	assert_null(ibv_create_cq_ex(fx.context, &attr));
	assert_int_equal(errno, EINVAL);
	attr.cqe = UINT32_MAX;
	assert_null(ibv_create_cq_ex(fx.context, &attr));
	assert_int_equal(errno, EINVAL);
}

/* Post receives and have them flushed: that many completions, numbered from @p first. */
static void complete(struct lone *l, unsigned n, uint64_t first)
{
	struct ibv_recv_wr wr = {0}, *bad;

	if (l->qp->state == IBV_QPS_RESET)
		assert_int_equal(qp_go(l->qp, IBV_QPS_INIT), 0);
	for (unsigned i = 0; i < n; i++) {
		wr.wr_id = first + i;
		assert_int_equal(ibv_post_recv(l->qp, &wr, &bad), 0);
	}
	assert_int_equal(qp_go(l->qp, IBV_QPS_ERR), 0);
}

static uint64_t nanoseconds(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* Completions are dated by the device's clock, also those that a resize moves. */
static void test_times(void **state)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS | TIMES};
	struct ibv_values_ex before = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK}, after = before;
	struct ibv_cq_ex *cq = ibv_create_cq_ex(fx.context, &attr);
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	struct ibv_poll_cq_attr poll_attr = {0};
	struct ibv_device_attr_ex dev;
	struct timespec wall_before, wall_after;
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .cap = small};
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct ibv_qp *qp;

	assert_int_equal(ibv_query_device_ex(fx.context, NULL, &dev), 0);
	assert_int_equal(dev.hca_core_clock, 1000000);
	assert_true(dev.completion_timestamp_mask == UINT64_MAX);
	assert_non_null(cq);
	a.send_cq = a.recv_cq = ibv_cq_ex_to_cq(cq);
	qp = ibv_create_qp(pd, &a);
	assert_int_equal(qp_go(qp, IBV_QPS_INIT), 0);
	for (; wr.wr_id <= 2; wr.wr_id++)
		assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
	clock_gettime(CLOCK_REALTIME, &wall_before);
	assert_int_equal(ibv_query_rt_values_ex(fx.context, &before), 0);
	assert_int_equal(qp_go(qp, IBV_QPS_ERR), 0);
	assert_int_equal(ibv_query_rt_values_ex(fx.context, &after), 0);
	clock_gettime(CLOCK_REALTIME, &wall_after);
	assert_int_equal(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 64), 0);
	assert_int_equal(ibv_start_poll(cq, &poll_attr), 0);
	for (uint64_t i = 1; i <= 2; i++) {
		uint64_t wall = ibv_wc_read_completion_wallclock_ns(cq);

		assert_int_equal(cq->wr_id, i);
		assert_in_range(ibv_wc_read_completion_ts(cq), nanoseconds(&before.raw_clock),
			nanoseconds(&after.raw_clock));
		/* A millisecond for the two clocks that it is computed from. */
		assert_in_range(wall, nanoseconds(&wall_before) - 1000000,
			nanoseconds(&wall_after) + 1000000);
		assert_int_equal(ibv_next_poll(cq), i == 1 ? 0 : ENOENT);
	}
	ibv_end_poll(cq);
	before.comp_mask = 2;
	assert_int_equal(ibv_query_rt_values_ex(fx.context, &before), EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* ibv_modify_cq(3): few events for many completions, and none for ever. */
static void test_moderation(void **state)
{
	struct ibv_modify_cq_attr m = {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {3, 0}};
	struct ibv_comp_channel *channel = ibv_create_comp_channel(fx.context);
	struct ibv_cq *cq = ibv_create_cq(fx.context, 8, NULL, channel, 0), *which;
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct ibv_qp_init_attr a = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = small};
	struct ibv_qp *qp = ibv_create_qp(pd, &a);
	struct pollfd p = {.fd = channel->fd, .events = POLLIN};
	struct ibv_recv_wr wr = {0}, *bad;
	void *context;

	assert_int_equal(ibv_modify_cq(cq, &m), 0);
	assert_int_equal(qp_go(qp, IBV_QPS_ERR), 0);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	/* In ERROR each is flushed at once, one after the other. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(poll(&p, 1, 0), 0);
		assert_int_equal(qp_go(qp, IBV_QPS_RESET), 0);
		assert_int_equal(qp_go(qp, IBV_QPS_INIT), 0);
		assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
		assert_int_equal(qp_go(qp, IBV_QPS_ERR), 0);
	}
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(ibv_get_cq_event(channel, &which, &context), 0);
	/* By time: one completion is enough. Nobody polls, so the device's own thread tells. */
	m.moderate.cq_period = 1000;
	assert_int_equal(ibv_modify_cq(cq, &m), 0);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
	assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
	assert_int_equal(ibv_get_cq_event(channel, &which, &context), 0);
	/* What is withheld when moderation ends is told then. */
	m.moderate.cq_period = 0;
	assert_int_equal(ibv_modify_cq(cq, &m), 0);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	m.moderate.cq_count = 0;
	assert_int_equal(ibv_modify_cq(cq, &m), 0);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(ibv_get_cq_event(channel, &which, &context), 0);
	ibv_ack_cq_events(cq, 3);
	m.attr_mask = 0;
	assert_int_equal(ibv_modify_cq(cq, &m), EINVAL);
	m.attr_mask = 2;
	assert_int_equal(ibv_modify_cq(cq, &m), EOPNOTSUPP);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_resize(void **state)
{
	struct ibv_device_attr dev;
	struct ibv_wc wc[20];
	struct lone l;

	assert_int_equal(ibv_query_device(fx.context, &dev), 0);
	lone_open(&l, &small, 16, false);
	complete(&l, 10, 0);
	assert_int_equal(ibv_resize_cq(l.cq, 0), EINVAL);
	assert_int_equal(ibv_resize_cq(l.cq, -1), EINVAL);
	assert_int_equal(ibv_resize_cq(l.cq, dev.max_cqe + 1), EINVAL);
	/* ibv_resize_cq(3): not below what it holds; and nothing of that is lost. */
	assert_int_equal(ibv_resize_cq(l.cq, 4), EINVAL);
	assert_int_equal(l.cq->cqe, 16);
	assert_int_equal(ibv_resize_cq(l.cq, 200), 0);
	assert_true(l.cq->cqe >= 200);
	assert_int_equal(ibv_poll_cq(l.cq, 4, wc), 4);
	assert_int_equal(ibv_resize_cq(l.cq, 8), 0);
	assert_in_range(l.cq->cqe, 8, 199);
	assert_int_equal(ibv_poll_cq(l.cq, 20, wc), 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(wc[i].wr_id, 4 + i);
	lone_close(&l);
}

static void test_busy(void **state)
{
	struct lone l;

	lone_open(&l, &small, 16, false);
	assert_int_equal(ibv_destroy_cq(l.cq), EBUSY);
	lone_close(&l);
}

static void test_overflow(void **state)
{
	struct ibv_async_event ev;
	struct ibv_wc wc[20];
	struct lone l;
	int room;

	lone_open(&l, &small, 2, false);
	room = l.cq->cqe;
	complete(&l, 10, 0);
	/* What there was room for first, and then that there is no trust in it any more. */
	assert_int_equal(ibv_poll_cq(l.cq, 20, wc), room);
	assert_int_equal(wc[0].wr_id, 0);
	assert_true(ibv_poll_cq(l.cq, 20, wc) < 0);
	assert_int_equal(ibv_get_async_event(fx.context, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(ev.element.cq, l.cq);
	ibv_ack_async_event(&ev);
	lone_close(&l);
}

/* ibv_create_cq_ex(3): no error; "CQE always will be written to next entry". */
static void test_overflow_ignored(void **state)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 2,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN};
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .cap = small};
	struct pollfd async = {.fd = fx.context->async_fd, .events = POLLIN};
	struct ibv_wc wc[20];
	struct lone l;
	int room;

	l.pd = ibv_alloc_pd(fx.context);
	l.cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(fx.context, &attr));
	assert_non_null(l.cq);
	room = l.cq->cqe;
	assert_in_range(room, 2, 9);
	a.send_cq = a.recv_cq = l.cq;
	l.qp = ibv_create_qp(l.pd, &a);
	complete(&l, 10, 0);
	assert_int_equal(ibv_poll_cq(l.cq, 20, wc), room);
	for (int i = 0; i < room; i++)
		assert_int_equal(wc[i].wr_id, 10 - room + i);
	assert_int_equal(ibv_poll_cq(l.cq, 20, wc), 0);
	assert_int_equal(poll(&async, 1, 0), 0);
	lone_close(&l);
}

/* Destroying a QP takes its completions away, and those only. */
static void test_purge(void **state)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .cap = small};
	struct ibv_wc wc[4];
	struct lone l, other;

	lone_open(&l, &small, 16, false);
	other = l;
	a.send_cq = a.recv_cq = l.cq;
	other.qp = ibv_create_qp(l.pd, &a);
	complete(&l, 2, 10);
	complete(&other, 2, 20);
	assert_int_equal(ibv_destroy_qp(l.qp), 0);
	assert_int_equal(ibv_poll_cq(l.cq, 4, wc), 2);
	assert_int_equal(wc[0].wr_id, 20);
	assert_int_equal(wc[1].wr_id, 21);
	lone_close(&other);
}

/* ---- channels -------------------------------------------------------------------------------- */

/* A lone QP with a CQ that has a channel. */
static void open_with_channel(
	struct lone *l, struct ibv_comp_channel *channel, struct ibv_pd *pd, void *context)
{
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .cap = small};

	l->pd = pd;
	l->cq = ibv_create_cq(fx.context, 32, context, channel, 0);
	assert_non_null(l->cq);
	a.send_cq = a.recv_cq = l->cq;
	l->qp = ibv_create_qp(pd, &a);
	assert_non_null(l->qp);
}

/* Complete that many, take them, and let their notification be written. */
static void complete_and_take(struct lone *l, unsigned n)
{
	complete(l, n, 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(take(l->cq).status, IBV_WC_WR_FLUSH_ERR);
	/* Waits for the engine's lock, under which it is: it follows the completion. */
	assert_int_equal(qp_go(l->qp, IBV_QPS_ERR), 0);
}

static struct ibv_comp_channel *open_channel(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(fx.context);

	assert_non_null(channel);
	assert_ptr_equal(channel->context, fx.context);
	assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	return channel;
}

static void no_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	assert_false(is_readable(channel->fd));
	errno = 0;
	assert_int_equal(ibv_get_cq_event(channel, &cq, &context), -1);
	assert_int_equal(errno, EAGAIN);
}

static void event_of(struct ibv_comp_channel *channel, const struct lone *l)
{
	struct ibv_cq *cq = NULL;
	void *context = NULL;

	assert_true(is_readable(channel->fd));
	assert_int_equal(ibv_get_cq_event(channel, &cq, &context), 0);
	assert_ptr_equal(cq, l->cq);
	assert_ptr_equal(context, l->cq->cq_context);
}

static void test_one_event_for_each_arming(void **state)
{
	struct ibv_comp_channel *channel = open_channel();
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct lone l;
	int mark;

	open_with_channel(&l, channel, pd, &mark);
	complete_and_take(&l, 1);
	no_event(channel);
	/* Twice is once. */
	assert_int_equal(ibv_req_notify_cq(l.cq, 0), 0);
	assert_int_equal(ibv_req_notify_cq(l.cq, 0), 0);
	/* What is there already does not count. */
	no_event(channel);
	complete_and_take(&l, 3);
	event_of(channel, &l);
	no_event(channel);
	complete_and_take(&l, 1);
	no_event(channel);
	/* Flushed ones are errors, which wake a thread that waits for solicited ones, too. */
	assert_int_equal(ibv_req_notify_cq(l.cq, 1), 0);
	complete_and_take(&l, 1);
	event_of(channel, &l);
	ibv_ack_cq_events(l.cq, 2);
	lone_close(&l);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* In turns: one busy CQ does not keep the others waiting. */
static void test_two_cqs(void **state)
{
	struct ibv_comp_channel *channel = open_channel();
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct lone a, b;
	int mark_a, mark_b;

	open_with_channel(&a, channel, pd, &mark_a);
	open_with_channel(&b, channel, pd, &mark_b);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ibv_req_notify_cq(a.cq, 0), 0);
		complete_and_take(&a, 1);
	}
	assert_int_equal(ibv_req_notify_cq(b.cq, 0), 0);
	complete_and_take(&b, 1);
	event_of(channel, &a);
	event_of(channel, &b);
	event_of(channel, &a);
	no_event(channel);
	ibv_ack_cq_events(a.cq, 2);
	ibv_ack_cq_events(b.cq, 1);
	assert_int_equal(ibv_destroy_qp(a.qp), 0);
	assert_int_equal(ibv_destroy_cq(a.cq), 0);
	lone_close(&b);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* ibv_get_cq_event(3) must never give a CQ that is no more. */
static void test_unread_events_go_with_their_cq(void **state)
{
	struct ibv_comp_channel *channel = open_channel();
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct lone a, b;

	open_with_channel(&a, channel, pd, NULL);
	open_with_channel(&b, channel, pd, NULL);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ibv_req_notify_cq(a.cq, 0), 0);
		complete_and_take(&a, 1);
	}
	assert_int_equal(ibv_req_notify_cq(b.cq, 0), 0);
	complete_and_take(&b, 1);
	assert_int_equal(ibv_destroy_qp(a.qp), 0);
	assert_int_equal(ibv_destroy_cq(a.cq), 0);
	event_of(channel, &b);
	no_event(channel);
	ibv_ack_cq_events(b.cq, 1);
	lone_close(&b);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

static _Atomic bool destroyed;

static void *destroy(void *cq)
{
	int rc = ibv_destroy_cq(cq);

	atomic_store(&destroyed, true);
	return (void *)(intptr_t)rc;
}

/*
 * Until its events are acknowledged another thread may use it: as with the kernel's device nothing
 * comes any more, and no QP can be made with it.
 */
static void use_while_it_is_destroyed(struct ibv_cq *cq, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr a = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = small};
	struct ibv_modify_cq_attr moderate = {.attr_mask = IBV_CQ_ATTR_MODERATE};
	struct ibv_wc wc;

	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
	assert_int_equal(ibv_modify_cq(cq, &moderate), 0);
	assert_int_equal(ibv_resize_cq(cq, 100), 0);
	errno = 0;
	assert_null(ibv_create_qp(pd, &a));
	assert_int_equal(errno, EINVAL);
}

/* ibv_ack_cq_events(3): destroying waits until every event that was read is acknowledged. */
static void test_destroy_waits(void **state)
{
	struct ibv_comp_channel *channel = open_channel();
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	pthread_t thread;
	struct lone l;
	void *rc;

	open_with_channel(&l, channel, pd, NULL);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ibv_req_notify_cq(l.cq, 0), 0);
		complete_and_take(&l, 1);
		event_of(channel, &l);
	}
	assert_int_equal(ibv_destroy_qp(l.qp), 0);
	ibv_ack_cq_events(l.cq, 1);
	atomic_store(&destroyed, false);
	assert_int_equal(pthread_create(&thread, NULL, destroy, l.cq), 0);
	/* It has left the channel, and now must wait. */
	while (__atomic_load_n(&channel->refcnt, __ATOMIC_RELAXED) != 0)
		sched_yield();
	for (int i = 0; i < 1000; i++) {
		assert_false(atomic_load(&destroyed));
		sched_yield();
	}
	use_while_it_is_destroyed(l.cq, pd);
	ibv_ack_cq_events(l.cq, 1);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((intptr_t)rc, 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* ---- over a connection ----------------------------------------------------------------------- */

/* ibv_req_notify_cq(3): with solicited_only a receive counts if the sender says so. */
static void test_solicited(void **state)
{
	struct ibv_comp_channel *channel = fx.server.id->recv_cq_channel;
	struct ibv_cq *cq = fx.server.id->recv_cq, *which;
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &fx.client, 4);
	void *context;

	assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	post_recv(&fx.server, 1);
	post_recv(&fx.server, 2);
	assert_int_equal(ibv_req_notify_cq(cq, 1), 0);
	client_posts(&wr);
	assert_int_equal(take(cq).wr_id, 1);
	no_event(channel);
	wr.send_flags |= IBV_SEND_SOLICITED;
	client_posts(&wr);
	assert_int_equal(take(cq).wr_id, 2);
	/* The event was written before the completion could be seen, or is just about to be. */
	assert_int_equal(
		poll(&(struct pollfd){.fd = channel->fd, .events = POLLIN}, 1, LIMIT_MS), 1);
	assert_int_equal(ibv_get_cq_event(channel, &which, &context), 0);
	assert_ptr_equal(which, cq);
	ibv_ack_cq_events(cq, 1);
}

/* A thread that sleeps in ibv_get_cq_event() is woken by the engine's own thread. */
static void test_blocking(void **state)
{
	struct ibv_comp_channel *channel = fx.server.id->recv_cq_channel;
	struct ibv_cq *which = NULL;
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &fx.client, 4);
	void *context;

	post_recv(&fx.server, 1);
	assert_int_equal(ibv_req_notify_cq(fx.server.id->recv_cq, 0), 0);
	client_posts(&wr);
	assert_int_equal(ibv_get_cq_event(channel, &which, &context), 0);
	assert_ptr_equal(which, fx.server.id->recv_cq);
	ibv_ack_cq_events(which, 1);
	assert_int_equal(take(which).wr_id, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_create),
		OPENED(test_create_ex),
		OPENED(test_times),
		OPENED(test_moderation),
		OPENED(test_resize),
		OPENED(test_busy),
		OPENED(test_overflow),
		OPENED(test_overflow_ignored),
		OPENED(test_purge),
		OPENED(test_one_event_for_each_arming),
		OPENED(test_two_cqs),
		OPENED(test_unread_events_go_with_their_cq),
		OPENED(test_destroy_waits),
		CONNECTED(test_solicited),
		CONNECTED(test_blocking),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
