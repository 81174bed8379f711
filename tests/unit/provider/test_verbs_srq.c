/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues of provider/verbs/srq.c, and their posting. */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static struct ibv_pd *pd;

static int setup(void **state)
{
	if (fixture_open(state) != 0)
		return -1;
	pd = ibv_alloc_pd(fx.context);
	return pd == NULL;
}

static int teardown(void **state)
{
	return ibv_dealloc_pd(pd) != 0 || fixture_close(state) != 0;
}

static struct ibv_srq *try_srq(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = max_wr, .max_sge = max_sge}};

	errno = 0;
	return ibv_create_srq(pd, &a);
}

static void refused(uint32_t max_wr, uint32_t max_sge)
{
	assert_null(try_srq(max_wr, max_sge));
	assert_int_equal(errno, EINVAL);
}

static void test_create(void **state)
{
	int mark;
	struct ibv_srq_init_attr a = {.srq_context = &mark, .attr = {.max_wr = 5, .max_sge = 3}};
	struct ibv_device_attr dev;
	struct ibv_srq_attr now;
	struct ibv_srq *srq = ibv_create_srq(pd, &a);

	assert_non_null(srq);
	/* ibv_create_srq(3): at least what was asked for, and what it really is. */
	assert_true(a.attr.max_wr >= 5 && a.attr.max_sge >= 3);
	assert_ptr_equal(srq->srq_context, &mark);
	assert_ptr_equal(srq->pd, pd);
	assert_ptr_equal(srq->context, fx.context);
	assert_int_equal(ibv_query_srq(srq, &now), 0);
	assert_int_equal(now.max_wr, a.attr.max_wr);
	assert_int_equal(now.max_sge, a.attr.max_sge);
	assert_int_equal(now.srq_limit, 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), 0);

	assert_int_equal(ibv_query_device(fx.context, &dev), 0);
	srq = try_srq((uint32_t)dev.max_srq_wr, (uint32_t)dev.max_srq_sge);
	assert_non_null(srq);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	refused((uint32_t)dev.max_srq_wr + 1, 1);
	refused(1, (uint32_t)dev.max_srq_sge + 1);
	refused(0, 1);
	refused(UINT32_MAX, UINT32_MAX);
}

/* ibv_create_srq(3): irrelevant there, so whatever stands in it. */
static void test_limit_at_creation(void **state)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0xdead}};
	struct ibv_srq *srq = ibv_create_srq(pd, &a);
	struct ibv_srq_attr now;

	assert_non_null(srq);
	assert_int_equal(ibv_query_srq(srq, &now), 0);
	assert_int_equal(now.srq_limit, 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_create_ex(void **state)
{
	struct ibv_srq_init_attr_ex a = {.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd};
	struct ibv_srq *srq = ibv_create_srq_ex(fx.context, &a);

	assert_non_null(srq);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	a.srq_type = IBV_SRQT_XRC;
	assert_null(ibv_create_srq_ex(fx.context, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.srq_type = IBV_SRQT_BASIC;
	a.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
	errno = 0;
	assert_null(ibv_create_srq_ex(fx.context, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.pd = NULL;
	errno = 0;
	assert_null(ibv_create_srq_ex(fx.context, &a));
	assert_int_equal(errno, EINVAL);
}

static void test_modify(void **state)
{
	struct ibv_srq *srq = try_srq(4, 1);
	struct ibv_srq_attr a = {0}, now;
	struct ibv_recv_wr wr = {0}, *bad;

	assert_int_equal(ibv_query_srq(srq, &now), 0);
	for (uint32_t i = 0; i < now.max_wr; i++)
		assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	a.srq_limit = now.max_wr;
	assert_int_equal(ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_query_srq(srq, &now), 0);
	assert_int_equal(now.srq_limit, a.srq_limit);
	a.srq_limit = now.max_wr + 1;
	assert_int_equal(ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT), EINVAL);
	a.srq_limit = 1;
	assert_int_equal(ibv_modify_srq(srq, &a, 0), 0);
	assert_int_equal(ibv_modify_srq(srq, &a, 4), EINVAL);
	/* No IBV_DEVICE_SRQ_RESIZE; and nothing of the call is done then. */
	a.max_wr = 8;
	assert_int_equal(ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), EOPNOTSUPP);
	assert_int_equal(ibv_query_srq(srq, &now), 0);
	assert_int_equal(now.srq_limit, now.max_wr);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_post(void **state)
{
	struct ibv_srq *srq = try_srq(3, 2);
	struct ibv_sge sge[32] = {{0}};
	struct ibv_recv_wr wr[40], *bad = NULL;
	struct ibv_srq_attr now;

	assert_int_equal(ibv_query_srq(srq, &now), 0);
	assert_in_range(now.max_sge, 2, 31);
	assert_in_range(now.max_wr, 3, 38);
	wr[0] = (struct ibv_recv_wr){.sg_list = sge, .num_sge = (int)now.max_sge + 1};
	assert_int_equal(ibv_post_srq_recv(srq, wr, &bad), EINVAL);
	assert_ptr_equal(bad, wr);
	wr[0].num_sge = -1;
	assert_int_equal(ibv_post_srq_recv(srq, wr, &bad), EINVAL);
	wr[0].num_sge = (int)now.max_sge;
	for (int i = 0; i < 40; i++) {
		wr[i] = wr[0];
		wr[i].next = i < 39 ? &wr[i + 1] : NULL;
	}
	bad = NULL;
	assert_int_equal(ibv_post_srq_recv(srq, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[now.max_wr]);
	assert_int_equal(ibv_post_srq_recv(srq, &wr[39], &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[39]);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* With an SRQ the QP's own receive side is not there, whatever was asked for. */
static void test_qp(void **state)
{
	struct ibv_srq *srq = try_srq(4, 1);
	struct ibv_cq *cq = ibv_create_cq(fx.context, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr a = {.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = UINT32_MAX, .max_recv_sge = UINT32_MAX}};
	struct ibv_qp *qp = ibv_create_qp(pd, &a);
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
	struct ibv_async_event ev;
	struct ibv_wc wc;

	assert_non_null(qp);
	assert_ptr_equal(qp->srq, srq);
	assert_int_equal(a.cap.max_recv_wr, 0);
	assert_int_equal(a.cap.max_recv_sge, 0);
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	assert_int_equal(qp_go(qp, IBV_QPS_INIT), 0);
	assert_int_equal(ibv_post_recv(qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	/* In ERROR the QP takes no more from it, says so, and what is there stays. */
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(qp_go(qp, IBV_QPS_ERR), 0);
	assert_int_equal(ibv_get_async_event(fx.context, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(ev.element.qp, qp);
	ibv_ack_async_event(&ev);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static _Atomic bool destroyed;

static void *destroy(void *srq)
{
	int rc = ibv_destroy_srq(srq);

	atomic_store(&destroyed, true);
	return (void *)(intptr_t)rc;
}

/*
 * Until its event is acknowledged another thread may use it: as with the kernel's device what it
 * asks for fails, and no event comes of it.
 */
static void use_while_it_is_destroyed(struct ibv_srq *srq)
{
	struct pollfd p = {.fd = fx.context->async_fd, .events = POLLIN};
	struct ibv_srq_attr none = {0}, one = {.srq_limit = 1}, now;
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;

	/* There is no limit, until the thread comes to destroy it. */
	while (ibv_modify_srq(srq, &none, IBV_SRQ_LIMIT) == 0)
		sched_yield();
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_modify_srq(srq, &one, IBV_SRQ_LIMIT), EINVAL);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(ibv_query_srq(srq, &now), 0);
	assert_int_equal(now.srq_limit, 0);
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
}

/* ibv_ack_async_event(3): destroying waits for the acknowledgement. */
static void test_destroy_waits(void **state)
{
	struct ibv_srq *srq = try_srq(4, 1);
	struct ibv_srq_attr one = {.srq_limit = 1};
	struct ibv_async_event ev;
	pthread_t thread;
	void *rc;

	/* It is empty, so that the event comes at once. */
	assert_int_equal(ibv_modify_srq(srq, &one, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_get_async_event(fx.context, &ev), 0);
	assert_ptr_equal(ev.element.srq, srq);
	atomic_store(&destroyed, false);
	assert_int_equal(pthread_create(&thread, NULL, destroy, srq), 0);
	use_while_it_is_destroyed(srq);
	assert_false(atomic_load(&destroyed));
	ibv_ack_async_event(&ev);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((intptr_t)rc, 0);
}

/* ---- over a connection ----------------------------------------------------------------------- */

static void send_one(uint64_t expected)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &fx.client, 6);
	struct ibv_wc wc;

	memcpy(fx.client.buf, "shared", 6);
	client_posts(&wr);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, expected);
	assert_int_equal(wc.byte_len, 6);
	assert_int_equal(wc.qp_num, fx.server.id->qp->qp_num);
	assert_memory_equal(fx.server.buf, "shared", 6);
	take_sent(wr.wr_id);
}

static bool event_waits(void)
{
	struct pollfd p = {.fd = fx.server.id->verbs->async_fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* ibv_modify_srq(3): when fewer than the limit are left; once, then it is to be set again. */
static void test_limit_event(void **state)
{
	struct ibv_srq_attr a = {.srq_limit = 2};
	struct ibv_async_event ev;

	for (uint64_t i = 1; i <= 4; i++)
		post_recv(&fx.server, i);
	assert_int_equal(ibv_modify_srq(fx.server.srq, &a, IBV_SRQ_LIMIT), 0);
	send_one(1);
	send_one(2);
	assert_false(event_waits());
	send_one(3);
	assert_int_equal(ibv_get_async_event(fx.server.id->verbs, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(ev.element.srq, fx.server.srq);
	ibv_ack_async_event(&ev);
	assert_int_equal(ibv_query_srq(fx.server.srq, &a), 0);
	assert_int_equal(a.srq_limit, 0);
	send_one(4);
	assert_false(event_waits());
	/* None is left: who sets it now may not hear of it by a message, which has none. */
	a.srq_limit = 1;
	assert_int_equal(ibv_modify_srq(fx.server.srq, &a, IBV_SRQ_LIMIT), 0);
	assert_true(event_waits());
	assert_int_equal(ibv_get_async_event(fx.server.id->verbs, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	ibv_ack_async_event(&ev);
}

/* Its places come back: more messages than it has elements. */
static void test_many(void **state)
{
	for (uint64_t i = 1; i <= 20; i++) {
		post_recv(&fx.server, i);
		send_one(i);
	}
}

#define WITH_PD(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PD(test_create),
		WITH_PD(test_limit_at_creation),
		WITH_PD(test_create_ex),
		WITH_PD(test_modify),
		WITH_PD(test_post),
		WITH_PD(test_qp),
		WITH_PD(test_destroy_waits),
		CONNECTED_SRQ(test_limit_event),
		CONNECTED_SRQ(test_many),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
