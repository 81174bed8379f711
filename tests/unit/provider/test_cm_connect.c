/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections by rdma_cm: what each end is told, in which order, with what in it; and how they are
 * refused, fail and end.
 */
#include "cm_fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST UINT8_MAX /* what rdma_conn_param can say, and iWARP can carry */

static uint8_t data[MOST];

static void fill_data(uint8_t seed)
{
	for (unsigned i = 0; i < MOST; i++)
		data[i] = (uint8_t)(seed + i * 5);
}

static void has_data(const struct rdma_cm_event *ev, unsigned len)
{
	assert_int_equal(ev->param.conn.private_data_len, len);
	if (len)
		assert_memory_equal(ev->param.conn.private_data, data, len);
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Ask with data of @p len bytes; the request has them. */
static void ask(struct cm_pair *p, unsigned len)
{
	struct rdma_conn_param param = cm_param(data, len);
	struct rdma_cm_event *ev;

	fill_data((uint8_t)len);
	p->active = cm_routed(CM_V4, cm_port(p->listener));
	cm_qp(p->active);
	assert_int_equal(rdma_connect(p->active, &param), 0);
	ev = cm_next(p->listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	has_data(ev, len);
	p->passive = ev->id;
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	fill_data((uint8_t)(len + 100));
}

static void end_ends(struct cm_pair *p)
{
	cm_destroy(p->active);
	cm_destroy(p->passive);
}

static void test_private_data_of_every_size(void **state)
{
	struct cm_pair p = {.listener = cm_listener(0)};
	struct rdma_cm_event *ev;

	for (unsigned len = 0; len <= MOST; len++) {
		struct rdma_conn_param param = cm_param(data, len);

		ask(&p, len);
		if (len % 2) {
			assert_int_equal(rdma_reject(p.passive, data, (uint8_t)len), 0);
			ev = cm_next(p.active, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
			has_data(ev, len);
			assert_int_equal(rdma_ack_cm_event(ev), 0);
		} else {
			cm_qp(p.passive);
			assert_int_equal(rdma_accept(p.passive, &param), 0);
			ev = cm_next(p.active, RDMA_CM_EVENT_ESTABLISHED, 0);
			has_data(ev, len);
			assert_int_equal(rdma_ack_cm_event(ev), 0);
			cm_expect(p.passive, RDMA_CM_EVENT_ESTABLISHED, 0);
		}
		end_ends(&p);
	}
	cm_destroy(p.listener);
}

/* rdma_get_cm_event(3): each end hears of the other's depths as what it may use itself. */
static void test_depths(void **state)
{
	struct cm_pair p = {.listener = cm_listener(0)};
	struct rdma_conn_param param = {.responder_resources = 3, .initiator_depth = 5};
	struct rdma_cm_event *ev;

	p.active = cm_routed(CM_V4, cm_port(p.listener));
	cm_qp(p.active);
	assert_int_equal(rdma_connect(p.active, &param), 0);
	ev = cm_next(p.listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	assert_int_equal(ev->param.conn.responder_resources, 5);
	assert_int_equal(ev->param.conn.initiator_depth, 3);
	assert_int_equal(ev->param.conn.private_data_len, 0);
	p.passive = ev->id;
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	cm_qp(p.passive);
	param = (struct rdma_conn_param){.responder_resources = 6, .initiator_depth = 2};
	assert_int_equal(rdma_accept(p.passive, &param), 0);
	ev = cm_next(p.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(ev->param.conn.responder_resources, 3);
	assert_int_equal(ev->param.conn.initiator_depth, 5);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	ev = cm_next(p.passive, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(ev->param.conn.responder_resources, 6);
	assert_int_equal(ev->param.conn.initiator_depth, 2);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	cm_end(&p);
}

static void test_bad_parameters(void **state)
{
	struct cm_pair p = {.listener = cm_listener(0)};
	struct rdma_conn_param param = {.qp_num = 0x123456};
	struct ibv_device_attr attr;
	struct rdma_cm_event *ev;

	p.active = cm_routed(CM_V4, cm_port(p.listener));
	/* No QP of the id, and no such number. */
	assert_int_equal(cm_errno(rdma_connect(p.active, &param)), EINVAL);
	cm_qp(p.active);
	assert_int_equal(ibv_query_device(p.active->verbs, &attr), 0);
	param = (struct rdma_conn_param){.responder_resources = (uint8_t)(attr.max_qp_rd_atom + 1)};
	assert_int_equal(cm_errno(rdma_connect(p.active, &param)), EINVAL);
	param = (struct rdma_conn_param){
		.initiator_depth = (uint8_t)(attr.max_qp_init_rd_atom + 1)};
	assert_int_equal(cm_errno(rdma_connect(p.active, &param)), EINVAL);
	cm_expect_none();
	/* None of it was the end of the id. */
	param = cm_param(NULL, 0);
	param.responder_resources = RDMA_MAX_RESP_RES;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	assert_int_equal(rdma_connect(p.active, &param), 0);
	ev = cm_next(p.listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	p.passive = ev->id;
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	cm_end(&p);
}

/* A QP is connected once. */
static void test_a_qp_of_another_id(void **state)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct cm_pair p = {NULL, NULL, NULL};
	struct rdma_cm_id *other;

	cm_connect(&p);
	other = cm_routed(CM_V4, cm_port(p.listener));
	param.qp_num = p.active->qp->qp_num;
	assert_int_equal(cm_errno(rdma_connect(other, &param)), EINVAL);
	cm_destroy(other);
	cm_end(&p);
}

/* What rdma_accept() fails of has been answered all the same: the peer does not wait. */
static void test_an_accept_that_fails_rejects(void **state)
{
	struct rdma_conn_param param = {.qp_num = 0x123456};
	struct cm_pair p = {NULL, NULL, NULL};

	cm_request(&p);
	assert_int_equal(cm_errno(rdma_accept(p.passive, &param)), EINVAL);
	cm_expect(p.active, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
	assert_int_equal(cm_errno(rdma_accept(p.passive, &param)), EINVAL);
	cm_end(&p);
}

/* ---- refusals and failures ------------------------------------------------------------------- */

static void test_nobody_listens(void **state)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *id = cm_routed(CM_V4, 4999);

	cm_qp(id);
	assert_int_equal(rdma_connect(id, &param), 0);
	cm_expect(id, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED);
	assert_int_equal(id->qp->state, IBV_QPS_ERR);
	cm_destroy(id);
}

/* The peer thinks again: the request is there still, and can be read, but not accepted. */
static void test_the_asker_leaves(void **state)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct cm_pair p = {NULL, NULL, NULL};
	int error = 0;

	cm_request(&p);
	cm_destroy(p.active);
	p.active = NULL;
	cm_qp(p.passive);
	/* Whether it is known already or not: there is no connection, and it is told. */
	if (rdma_accept(p.passive, &param) == 0)
		cm_expect(p.passive, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET);
	else
		error = errno;
	assert_true(error == 0 || error == ENOTCONN);
	cm_end(&p);
}

/* The backlog counts what waits to be read; what is beyond it is rejected. */
static void test_backlog(void **state)
{
	enum { BACKLOG = 3, ALL = 8 };
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_event_channel *quiet = rdma_create_event_channel();
	struct rdma_cm_id *active[ALL], *listener = cm_listener(BACKLOG), *passive[ALL];
	struct rdma_cm_event *ev;
	unsigned rejected = 0, requests = 0;

	assert_int_equal(rdma_migrate_id(listener, quiet), 0);
	for (unsigned i = 0; i < ALL; i++) {
		active[i] = cm_routed(CM_V4, cm_port(listener));
		cm_qp(active[i]);
	}
	for (unsigned i = 0; i < ALL; i++)
		assert_int_equal(rdma_connect(active[i], &param), 0);
	for (; rejected < ALL - BACKLOG; rejected++) {
		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_REJECTED);
		assert_int_equal(ev->status, -ECONNREFUSED);
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	for (; requests < BACKLOG; requests++) {
		assert_int_equal(rdma_get_cm_event(quiet, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_CONNECT_REQUEST);
		passive[requests] = ev->id;
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	cm_expect_none();
	/* Read, and not answered: there is room again. */
	cm_destroy(active[0]);
	active[0] = cm_routed(CM_V4, cm_port(listener));
	cm_qp(active[0]);
	assert_int_equal(rdma_connect(active[0], &param), 0);
	assert_int_equal(rdma_get_cm_event(quiet, &ev), 0);
	assert_int_equal(ev->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive[requests++] = ev->id;
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	for (unsigned i = 0; i < ALL; i++)
		cm_destroy(active[i]);
	for (unsigned i = 0; i < requests; i++)
		cm_destroy(passive[i]);
	cm_destroy(listener);
	rdma_destroy_event_channel(quiet);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void test_disconnect_by_either(void **state)
{
	struct cm_pair p = {NULL, NULL, NULL};

	cm_connect(&p);
	cm_disconnect(&p);
	assert_int_equal(rdma_disconnect(p.active), 0); /* it is */
	cm_end(&p);
	cm_connect(&p);
	cm_disconnect(&(struct cm_pair){.active = p.passive, .passive = p.active});
	cm_end(&p);
}

static void test_disconnect_by_both(void **state)
{
	struct cm_pair p = {NULL, NULL, NULL};
	struct rdma_cm_event *ev;

	for (unsigned round = 0; round < 50; round++) {
		cm_connect(&p);
		assert_int_equal(rdma_disconnect(p.active), 0);
		assert_int_equal(rdma_disconnect(p.passive), 0);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
			assert_int_equal(ev->event, RDMA_CM_EVENT_DISCONNECTED);
			assert_int_equal(ev->status, 0);
			assert_int_equal(rdma_ack_cm_event(ev), 0);
		}
		cm_expect_none();
		cm_end(&p);
	}
}

/* As in the kernel's iwcm.c, which waits for the one to do the other. */
static void test_disconnect_while_it_connects(void **state)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct cm_pair p = {NULL, NULL, NULL};

	cm_request(&p);
	assert_int_equal(rdma_disconnect(p.active), 0);
	cm_qp(p.passive);
	assert_int_equal(rdma_accept(p.passive, &param), 0);
	for (unsigned seen = 0; seen != 0xf;) {
		struct rdma_cm_event *ev;
		bool ended;

		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		ended = ev->event == RDMA_CM_EVENT_DISCONNECTED;
		assert_true(ended || ev->event == RDMA_CM_EVENT_ESTABLISHED);
		seen |= 1u << (2 * ended + (ev->id == p.passive));
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	cm_end(&p);
}

/* The QP goes first: its connection with it, which both ids are told. */
static void test_the_qp_goes_first(void **state)
{
	struct cm_pair p = {NULL, NULL, NULL};

	cm_connect(&p);
	rdma_destroy_qp(p.active);
	p.active->qp = NULL;
	for (unsigned i = 0; i < 2; i++) {
		struct rdma_cm_event *ev;

		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_DISCONNECTED);
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
	cm_end(&p);
}

/* The kernel's iwcm.c, destroy_cm_id(): nobody can end the connection any more. */
static void test_the_id_goes_first(void **state)
{
	for (unsigned passive = 0; passive < 2; passive++) {
		struct cm_pair p = {NULL, NULL, NULL};
		struct rdma_cm_id *first, *other;
		struct ibv_qp_init_attr init;
		struct ibv_qp_attr attr;
		struct rdma_cm_id was;

		cm_connect(&p);
		first = passive ? p.passive : p.active;
		other = passive ? p.active : p.passive;
		was = *first;
		assert_int_equal(rdma_destroy_id(first), 0);
		cm_expect(other, RDMA_CM_EVENT_DISCONNECTED, 0);
		assert_int_equal(ibv_query_qp(was.qp, &attr, IBV_QP_STATE, &init), 0);
		assert_int_equal(attr.qp_state, IBV_QPS_ERR);
		assert_int_equal(ibv_destroy_qp(was.qp), 0);
		assert_int_equal(ibv_destroy_cq(was.send_cq), 0);
		assert_int_equal(ibv_destroy_cq(was.recv_cq), 0);
		assert_int_equal(ibv_destroy_comp_channel(was.send_cq_channel), 0);
		assert_int_equal(ibv_destroy_comp_channel(was.recv_cq_channel), 0);
		cm_end(&(struct cm_pair){.listener = p.listener, .active = other});
	}
}

/* ---- without a channel ----------------------------------------------------------------------- */

struct answer {
	struct rdma_cm_id *listener;
	bool reject;
};

static void *answer_one(void *arg)
{
	const struct answer *a = arg;
	struct rdma_conn_param param = cm_param("welcome", 7);
	struct rdma_cm_id *id;

	if (rdma_get_request(a->listener, &id) != 0)
		return "no request";
	if (id->qp == NULL)
		return "no QP";
	if (a->reject) {
		if (rdma_reject(id, "go away", 7) != 0)
			return "cannot reject";
	} else {
		if (rdma_accept(id, &param) != 0)
			return "cannot accept";
		if (rdma_disconnect(id) != 0)
			return "cannot disconnect";
	}
	rdma_destroy_ep(id);
	return NULL;
}

static void connect_synchronously(const char *address, bool reject)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_PASSIVE}, *ai;
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct answer a = {.reject = reject};
	struct rdma_cm_id *id;
	pthread_t thread;
	void *why;

	assert_int_equal(rdma_getaddrinfo(address, "4100", &hints, &ai), 0);
	assert_int_equal(rdma_create_ep(&a.listener, ai, NULL, &attr), 0);
	rdma_freeaddrinfo(ai);
	assert_int_equal(rdma_listen(a.listener, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, answer_one, &a), 0);
	hints.ai_flags = RAI_NUMERICHOST;
	assert_int_equal(rdma_getaddrinfo(address, "4100", &hints, &ai), 0);
	assert_int_equal(rdma_create_ep(&id, ai, NULL, &attr), 0);
	rdma_freeaddrinfo(ai);
	assert_int_equal(cm_errno(rdma_connect(id, &param)), reject ? ECONNREFUSED : 0);
	assert_non_null(id->event);
	assert_memory_equal(id->event->param.conn.private_data, reject ? "go away" : "welcome", 7);
	pthread_join(thread, &why);
	assert_null(why);
	rdma_destroy_ep(id);
	rdma_destroy_ep(a.listener);
}

static void test_synchronous(void **state)
{
	connect_synchronously(CM_V4, false);
	connect_synchronously(CM_V6, false);
	connect_synchronously(CM_V4, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_private_data_of_every_size),
		CM(test_depths),
		CM(test_bad_parameters),
		CM(test_a_qp_of_another_id),
		CM(test_an_accept_that_fails_rejects),
		CM(test_nobody_listens),
		CM(test_the_asker_leaves),
		CM(test_backlog),
		CM(test_disconnect_by_either),
		CM(test_disconnect_by_both),
		CM(test_disconnect_while_it_connects),
		CM(test_the_qp_goes_first),
		CM(test_the_id_goes_first),
		CM(test_synchronous),
	};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
