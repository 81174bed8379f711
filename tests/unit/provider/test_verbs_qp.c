/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs of provider/verbs/qp.c: creation, attributes, states, and their events. */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ibv_qp_cap small = {.max_send_wr = 3,
	.max_recv_wr = 5,
	.max_send_sge = 2,
	.max_recv_sge = 3,
	.max_inline_data = 20};

static struct ibv_device_attr limits(void)
{
	struct ibv_device_attr dev;

	assert_int_equal(ibv_query_device(fx.context, &dev), 0);
	return dev;
}

/* ---- creation -------------------------------------------------------------------------------- */

static void test_capacities(void **state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct lone l;

	lone_open(&l, &small, 4, false);
	/* ibv_create_qp(3): at least what was asked for, and what it really is. */
	assert_true(l.cap.max_send_wr >= 3 && l.cap.max_recv_wr >= 5);
	assert_true(l.cap.max_send_sge >= 2 && l.cap.max_recv_sge >= 3);
	assert_true(l.cap.max_inline_data >= 20);
	assert_int_equal(l.qp->state, IBV_QPS_RESET);
	assert_int_equal(l.qp->qp_type, IBV_QPT_RC);
	assert_ptr_equal(l.qp->pd, l.pd);
	assert_ptr_equal(l.qp->send_cq, l.cq);
	assert_ptr_equal(l.qp->recv_cq, l.cq);
	assert_null(l.qp->srq);
	/* 24 bits. */
	assert_in_range(l.qp->qp_num, 1, 0xffffff);
	assert_int_equal(ibv_query_qp(l.qp, &attr, IBV_QP_CAP, &init), 0);
	assert_memory_equal(&attr.cap, &l.cap, sizeof l.cap);
	assert_memory_equal(&init.cap, &l.cap, sizeof l.cap);
	assert_ptr_equal(init.send_cq, l.cq);
	assert_int_equal(init.qp_type, IBV_QPT_RC);
	assert_int_equal(init.sq_sig_all, 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RESET);
	assert_int_equal(attr.path_mtu, IBV_MTU_1024);
	lone_close(&l);
}

static struct ibv_qp *try_qp(struct lone *l, struct ibv_qp_cap cap, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr a = {
		.send_cq = l->cq, .recv_cq = l->cq, .qp_type = type, .cap = cap};

	errno = 0;
	return ibv_create_qp(l->pd, &a);
}

static void test_limits(void **state)
{
	struct ibv_device_attr dev = limits();
	const uint32_t wr = (uint32_t)dev.max_qp_wr, sge = (uint32_t)dev.max_sge;
	const struct ibv_qp_cap full = {
		.max_send_wr = wr, .max_recv_wr = wr, .max_send_sge = sge, .max_recv_sge = sge};
	const struct ibv_qp_cap beyond[] = {{.max_send_wr = wr + 1}, {.max_recv_wr = wr + 1},
		{.max_send_sge = sge + 1}, {.max_recv_sge = sge + 1}, {.max_inline_data = 1 << 20},
		{.max_send_wr = UINT32_MAX}, {.max_inline_data = UINT32_MAX}};
	struct ibv_qp *qp;
	struct lone l;

	lone_open(&l, &small, 4, false);
	qp = try_qp(&l, full, IBV_QPT_RC);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	for (unsigned i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
		assert_null(try_qp(&l, beyond[i], IBV_QPT_RC));
		assert_int_equal(errno, EINVAL);
	}
	lone_close(&l);
}

/* RFC 5040 section 3: reliable and connected, or not at all. */
static void test_types(void **state)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_UC, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER};
	struct lone l;

	lone_open(&l, &small, 4, false);
	for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
		assert_null(try_qp(&l, small, types[i]));
		assert_int_equal(errno, EOPNOTSUPP);
	}
	lone_close(&l);
}

static void test_bad_objects(void **state)
{
	struct ibv_context *second = ibv_open_device(fx.context->device);
	struct ibv_cq *foreign = ibv_create_cq(second, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC};
	struct lone l;

	lone_open(&l, &small, 4, false);
	a.recv_cq = l.cq;
	assert_null(ibv_create_qp(l.pd, &a));
	assert_int_equal(errno, EINVAL);
	a.send_cq = foreign;
	errno = 0;
	assert_null(ibv_create_qp(l.pd, &a));
	assert_int_equal(errno, EINVAL);
	a.send_cq = l.cq;
	a.recv_cq = NULL;
	errno = 0;
	assert_null(ibv_create_qp(l.pd, &a));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_dealloc_pd(l.pd), EBUSY);
	assert_int_equal(ibv_destroy_cq(l.cq), EBUSY);
	lone_close(&l);
	assert_int_equal(ibv_destroy_cq(foreign), 0);
	assert_int_equal(ibv_close_device(second), 0);
}

static void test_extended_attributes(void **state)
{
	struct ibv_qp_init_attr_ex a = {.comp_mask = IBV_QP_INIT_ATTR_PD, .qp_type = IBV_QPT_RC};
	struct lone l;
	struct ibv_qp *qp;

	lone_open(&l, &small, 4, false);
	a.send_cq = a.recv_cq = l.cq;
	a.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	errno = 0;
	assert_null(ibv_create_qp_ex(fx.context, &a));
	assert_int_equal(errno, EINVAL);
	a.pd = l.pd;
	a.comp_mask = IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	errno = 0;
	assert_null(ibv_create_qp_ex(fx.context, &a));
	assert_int_equal(errno, EINVAL);
	a.comp_mask |= IBV_QP_INIT_ATTR_PD;
	a.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB; /* of UD alone */
	assert_null(ibv_create_qp_ex(fx.context, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.create_flags = 0;
	qp = ibv_create_qp_ex(fx.context, &a);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	a.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	errno = 0;
	assert_null(ibv_create_qp_ex(fx.context, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	lone_close(&l);
}

/* As many as the device says, and not one more; likewise regions of the same byte. */
static void test_many(void **state)
{
	const struct ibv_qp_cap none = {0};
	struct ibv_device_attr dev = limits();
	struct ibv_qp **qps = calloc((size_t)dev.max_qp, sizeof(struct ibv_qp *));
	struct ibv_mr **mrs = calloc(65536, sizeof(struct ibv_mr *));
	struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC};
	uint8_t byte;
	struct lone l;

	lone_open(&l, &none, 1, false);
	a.send_cq = a.recv_cq = l.cq;
	assert_int_equal(dev.max_qp, 65536);
	/* Number 0 is nobody's, and there is one. */
	for (int i = 0; i < dev.max_qp - 1; i++) {
		qps[i] = ibv_create_qp(l.pd, &a);
		if (qps[i] == NULL)
			fail_msg("QP %d: %s", i, strerror(errno));
	}
	errno = 0;
	assert_null(ibv_create_qp(l.pd, &a));
	assert_int_equal(errno, ENOMEM);
	for (int i = 0; i < 65536; i++) {
		mrs[i] = ibv_reg_mr(l.pd, &byte, 1, 0);
		assert_non_null(mrs[i]);
	}
	for (int i = 0; i < 65536; i++)
		assert_int_equal(ibv_dereg_mr(mrs[i]), 0);
	for (int i = 0; i < dev.max_qp - 1; i++)
		assert_int_equal(ibv_destroy_qp(qps[i]), 0);
	lone_close(&l);
	free(qps);
	free(mrs);
}

static void test_data_in_order(void **state)
{
	struct lone l;

	lone_open(&l, &small, 4, false);
	/* RFC 5040 section 5.5 promises no order of placement. */
	assert_int_equal(ibv_query_qp_data_in_order(l.qp, IBV_WR_RDMA_WRITE, 0), 0);
	lone_close(&l);
}

/* ---- connected ------------------------------------------------------------------------------- */

/* The end of the connection flushes everything that is posted, on both sides, in order. */
static void test_end_flushes(void **state)
{
	for (uint64_t i = 1; i <= 3; i++) {
		post_recv(&fx.client, i);
		post_recv(&fx.server, i);
	}
	assert_int_equal(qp_go(fx.server.id->qp, IBV_QPS_ERR), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		struct ibv_wc wc = take(fx.server.id->recv_cq);

		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wr_id, i);
		wc = take(fx.client.id->recv_cq);
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wr_id, i);
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The server's QP ends with an error of the peer's making; wait until it is known there. */
static void provoke_event(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8);
	struct pollfd p = {.fd = fx.server.id->verbs->async_fd, .events = POLLIN};

	aim(&wr, 0);
	wr.wr.rdma.rkey ^= 0x5a5a00;
	client_posts(&wr);
	assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
}

static void test_access_error(void **state)
{
	struct ibv_async_event ev;

	provoke_event();
	assert_int_equal(ibv_get_async_event(fx.server.id->verbs, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_QP_ACCESS_ERR);
	assert_ptr_equal(ev.element.qp, fx.server.id->qp);
	ibv_ack_async_event(&ev);
}

static _Atomic bool destroyed;

static void *destroy(void *qp)
{
	int rc = ibv_destroy_qp(qp);

	atomic_store(&destroyed, true);
	return (void *)(intptr_t)rc;
}

/* Leave the end with another QP, for the common clean-up. */
static void new_server_qp(void)
{
	struct ibv_qp_init_attr a = {.send_cq = fx.server.id->send_cq,
		.recv_cq = fx.server.id->recv_cq,
		.qp_type = IBV_QPT_RC};

	fx.server.id->qp = ibv_create_qp(fx.server.id->pd, &a);
	assert_non_null(fx.server.id->qp);
}

/*
 * Until its event is acknowledged another thread may use it: as with the kernel's device what it
 * asks for fails, and nothing happens.
 */
static void use_while_it_is_destroyed(struct ibv_qp *qp)
{
	struct ibv_recv_wr recv = {.wr_id = 1}, *bad_recv = NULL;
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad_send = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	/* It is in ERROR, until the thread comes to destroy it. */
	do {
		sched_yield();
		assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	} while (attr.qp_state != IBV_QPS_RESET);
	assert_int_equal(qp_go(qp, IBV_QPS_ERR), EINVAL);
	assert_int_equal(qp_go(qp, IBV_QPS_RESET), EINVAL);
	assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL);
	assert_ptr_equal(bad_send, &send);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
	assert_ptr_equal(bad_recv, &recv);
}

/* ibv_ack_async_event(3): destroying waits for the acknowledgement. */
static void test_destroy_waits(void **state)
{
	struct ibv_async_event ev;
	pthread_t thread;
	void *rc;

	provoke_event();
	assert_int_equal(ibv_get_async_event(fx.server.id->verbs, &ev), 0);
	atomic_store(&destroyed, false);
	assert_int_equal(pthread_create(&thread, NULL, destroy, fx.server.id->qp), 0);
	for (int i = 0; i < 5000; i++) {
		assert_false(atomic_load(&destroyed));
		sched_yield();
	}
	use_while_it_is_destroyed(fx.server.id->qp);
	assert_false(atomic_load(&destroyed));
	ibv_ack_async_event(&ev);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((intptr_t)rc, 0);
	new_server_qp();
}

/* An event that nobody has read goes with its QP, and keeps nobody waiting. */
static void test_unread_event_goes(void **state)
{
	struct pollfd p = {.fd = fx.server.id->verbs->async_fd, .events = POLLIN};
	const struct ibv_qp *gone = fx.server.id->qp;
	struct ibv_async_event ev;

	provoke_event();
	assert_int_equal(ibv_destroy_qp(fx.server.id->qp), 0);
	/* The client's, in the same context, may have one of its own: it got the Terminate. */
	while (poll(&p, 1, 0) == 1) {
		assert_int_equal(ibv_get_async_event(fx.server.id->verbs, &ev), 0);
		assert_ptr_not_equal(ev.element.qp, gone);
		ibv_ack_async_event(&ev);
	}
	new_server_qp();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_capacities),
		OPENED(test_limits),
		OPENED(test_types),
		OPENED(test_bad_objects),
		OPENED(test_extended_attributes),
		OPENED(test_many),
		OPENED(test_data_in_order),
		CONNECTED(test_end_flushes),
		CONNECTED(test_access_error),
		CONNECTED(test_destroy_waits),
		CONNECTED(test_unread_event_goes),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
