/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/cm/client.h"

static void connect_hands_over_its_parameters(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_connect q = {.conn_param = client_param(), .id = client_routed(&c, 0x22)};
	struct rdma_ucm_event_resp r;

	assert_int_equal(CALL(&c, CONNECT, q), 0);
	assert_int_equal(ep_fake.connects, 1);
	assert_int_equal(ep_fake.param.qp_num, EP_FAKE_QP_NUM);
	assert_int_equal(ep_fake.param.ird, 4);
	assert_int_equal(ep_fake.param.ord, 6);
	assert_int_equal(ep_fake.private_len, 5);
	assert_memory_equal(ep_fake.private_data, "hello", 5);

	/* The peer's answer, in our view: we may use 2, and must serve 9. */
	ep_fake_emit_data(ep_fake.last, RNIC_EP_ESTABLISHED, "world", 5, 9, 2);
	r = client_expect(&c, UCMA_EVENT_ESTABLISHED, 0x22);
	assert_int_equal(r.id, q.id);
	assert_int_equal(r.param.conn.initiator_depth, 2);
	assert_int_equal(r.param.conn.responder_resources, 9);
	assert_int_equal(r.param.conn.private_data_len, 5);
	assert_memory_equal(r.param.conn.private_data, "world", 5);
	assert_int_equal(CALL(&c, CONNECT, q), -EINVAL);
	client_close(&c);
}

static void connect_needs_route_qp_and_parameters(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_connect q = {.conn_param = client_param(), .id = client_create(&c, 1)};

	assert_int_equal(CALL(&c, CONNECT, q), -EINVAL);
	assert_int_equal(client_resolve(&c, q.id, "10.0.0.2"), 0);
	assert_int_equal(CALL(&c, CONNECT, q), -EINVAL);
	assert_int_equal(client_route(&c, q.id), 0);
	q.conn_param.valid = 0;
	assert_int_equal(CALL(&c, CONNECT, q), -EINVAL);
	q.conn_param.valid = 1;
	q.conn_param.qp_num++;
	assert_int_equal(CALL(&c, CONNECT, q), -EINVAL);
	q.conn_param.qp_num--;
	ep_fake.fail = -ENOMEM;
	assert_int_equal(CALL(&c, CONNECT, q), -ENOMEM);
	assert_int_equal(CALL(&c, CONNECT, q), 0);
	client_close(&c);
}

/* A library that knows no ECE sends a shorter command. */
static void connect_without_ece(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_connect q = {.conn_param = client_param(), .id = client_routed(&c, 1)};
	size_t old = offsetof(struct rdma_ucm_connect, ece);

	assert_int_equal(client_call(&c, RDMA_USER_CM_CMD_CONNECT, &q, old - 1, 0), -EINVAL);
	assert_int_equal(client_call(&c, RDMA_USER_CM_CMD_CONNECT, &q, old, 0), 0);
	client_close(&c);
}

static void failures_have_their_events(void **state)
{
	static const struct {
		enum rnic_ep_event_type type;
		uint32_t event;
		int status;
	} cases[] = {
		{RNIC_EP_REJECTED, UCMA_EVENT_REJECTED, -ECONNREFUSED},
		{RNIC_EP_UNREACHABLE, UCMA_EVENT_UNREACHABLE, -ETIMEDOUT},
		{RNIC_EP_CONNECT_ERROR, UCMA_EVENT_CONNECT_ERROR, -EPROTO},
	};
	struct client c = client_open();

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rdma_ucm_connect q = {
			.conn_param = client_param(), .id = client_routed(&c, 100 + i)};
		struct rdma_ucm_event_resp r;

		assert_int_equal(CALL(&c, CONNECT, q), 0);
		ep_fake_emit(ep_fake.last, cases[i].type, cases[i].status);
		r = client_expect(&c, cases[i].event, 100 + i);
		assert_int_equal((int32_t)r.status, cases[i].status);
	}
	client_close(&c);
}

/* The kernel's cma.c, for iWARP. rsockets take one with another status for a call that failed. */
static void however_it_ended_the_status_is_0(void **state)
{
	static const int cases[] = {0, -ECONNRESET, -ETIMEDOUT, -EPROTO, -ECONNABORTED};
	struct client c = client_open();

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rdma_ucm_connect q = {
			.conn_param = client_param(), .id = client_routed(&c, 100 + i)};

		assert_int_equal(CALL(&c, CONNECT, q), 0);
		ep_fake_emit(ep_fake.last, RNIC_EP_ESTABLISHED, 0);
		client_expect(&c, UCMA_EVENT_ESTABLISHED, 100 + i);
		ep_fake_emit(ep_fake.last, RNIC_EP_DISCONNECTED, cases[i]);
		assert_int_equal(client_expect(&c, UCMA_EVENT_DISCONNECTED, 100 + i).status, 0);
	}
	client_close(&c);
}

static void listen_binds_when_nobody_has(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);

	assert_int_equal(client_listen(&c, id, 3), 0);
	assert_int_equal(ep_fake.backlog, 3);
	assert_int_equal(client_listen(&c, id, 3), -EINVAL);
	client_close(&c);
}

static void listen_limits_the_backlog(void **state)
{
	static const uint32_t asked[] = {0, 1024, 1025, UINT32_MAX};
	struct client c = client_open();

	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		assert_int_equal(client_listen(&c, client_create(&c, 1), asked[i]), 0);
		assert_int_equal(ep_fake.backlog, 1024);
	}
	client_close(&c);
}

static void listen_may_fail_and_be_repeated(void **state)
{
	struct client c = client_open();
	uint32_t id = client_create(&c, 1);

	assert_int_equal(client_bind(&c, id, "0.0.0.0", 7174), 0);
	ep_fake.fail = -EADDRINUSE;
	assert_int_equal(client_listen(&c, id, 3), -EADDRINUSE);
	assert_int_equal(client_listen(&c, id, 3), 0);
	client_close(&c);
}

static void accept_names_the_id(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	uint32_t listener = client_listener(&c, 0x33, &ep);
	uint32_t id = client_request(&c, 0x33, ep);
	struct rdma_ucm_accept q = {.uid = 0x44, .conn_param = client_param(), .id = id};

	assert_int_not_equal(id, listener);
	ep_fake.establish_at_once = true;
	assert_int_equal(CALL(&c, ACCEPT, q), 0);
	assert_int_equal(ep_fake.param.ird, 4);
	assert_int_equal(client_expect(&c, UCMA_EVENT_ESTABLISHED, 0x44).id, id);
	assert_int_equal(CALL(&c, ACCEPT, q), -EINVAL);
	assert_int_equal(client_destroy(&c, id), 1);
	assert_int_equal(client_destroy(&c, listener), 1);
	client_close(&c);
}

static void accept_tells_why_not(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	uint32_t listener = client_listener(&c, 0x33, &ep);
	struct rdma_ucm_accept q = {.uid = 0x44, .conn_param = client_param(), .id = listener};
	struct rdma_ucm_disconnect d;
	struct rdma_ucm_event_resp r;

	assert_int_equal(CALL(&c, ACCEPT, q), -EINVAL);
	q.id = client_request(&c, 0x33, ep);
	q.conn_param.valid = 0;
	assert_int_equal(CALL(&c, ACCEPT, q), -EINVAL);
	q.conn_param.valid = 1;
	ep_fake.fail = -ENOTCONN;
	assert_int_equal(CALL(&c, ACCEPT, q), -ENOTCONN);
	/* The name is taken back: nothing more is told of it. */
	ep_fake_emit(ep_fake.last, RNIC_EP_DISCONNECTED, 0);
	assert_int_equal(client_event(&c, &r), -EAGAIN);
	/* The peer has been told, so there is nothing more to say. */
	assert_int_equal(ep_fake.rejects, 1);
	assert_int_equal(CALL(&c, ACCEPT, q), -EINVAL);
	d.id = q.id;
	assert_int_equal(CALL(&c, DISCONNECT, d), 0);
	client_close(&c);
}

static void reject_carries_private_data(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	struct rdma_ucm_reject q = {.private_data_len = 255};

	client_listener(&c, 0x33, &ep);
	memset(q.private_data, 'x', sizeof q.private_data);
	q.id = client_request(&c, 0x33, ep);
	q.reason = 99;
	assert_int_equal(CALL(&c, REJECT, q), -EINVAL);
	q.reason = 28;
	assert_int_equal(CALL(&c, REJECT, q), 0);
	assert_int_equal(ep_fake.private_len, 255);
	assert_int_equal(ep_fake.private_data[254], 'x');
	assert_int_equal(CALL(&c, REJECT, q), -EINVAL);
	client_close(&c);
}

static void disconnect_is_idempotent(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_connect k = {.conn_param = client_param(), .id = client_routed(&c, 1)};
	struct rdma_ucm_disconnect q = {.id = k.id};

	assert_int_equal(CALL(&c, DISCONNECT, q), -EINVAL);
	assert_int_equal(CALL(&c, CONNECT, k), 0);
	assert_int_equal(CALL(&c, DISCONNECT, q), 0);
	assert_int_equal(ep_fake.disconnects, 1);
	/* The peer was first. */
	ep_fake.fail = -ENOTCONN;
	assert_int_equal(CALL(&c, DISCONNECT, q), 0);
	client_close(&c);
}

static void disconnect_instead_of_accept_rejects(void **state)
{
	struct client c = client_open();
	struct rnic_ep *ep;
	struct rdma_ucm_disconnect q;

	client_listener(&c, 0x33, &ep);
	q.id = client_request(&c, 0x33, ep);
	assert_int_equal(CALL(&c, DISCONNECT, q), 0);
	assert_int_equal(ep_fake.rejects, 1);
	client_close(&c);
}

static void qp_attributes_are_those_of_iwarp(void **state)
{
	struct client c = client_open();
	struct ib_uverbs_qp_attr r;
	struct rdma_ucm_init_qp_attr q = {.response = (uintptr_t)&r, .qp_state = IBV_QPS_INIT};

	q.id = client_create(&c, 1);
	assert_int_equal(CALL_RESP(&c, INIT_QP_ATTR, q, r), -EINVAL);
	q.id = client_routed(&c, 2);
	assert_int_equal(CALL_RESP(&c, INIT_QP_ATTR, q, r), 0);
	assert_int_equal(r.qp_state, IBV_QPS_INIT);
	assert_int_equal(r.qp_attr_mask, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT);
	assert_int_equal(r.qp_access_flags,
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	assert_int_equal(r.port_num, 1);
	q.qp_state = IBV_QPS_RTR;
	assert_int_equal(CALL_RESP(&c, INIT_QP_ATTR, q, r), 0);
	assert_int_equal(r.qp_state, IBV_QPS_RTR);
	q.qp_state = IBV_QPS_RTS;
	assert_int_equal(CALL_RESP(&c, INIT_QP_ATTR, q, r), 0);
	assert_int_equal(r.qp_attr_mask, IBV_QP_PORT);
	q.qp_state = IBV_QPS_SQD;
	assert_int_equal(CALL_RESP(&c, INIT_QP_ATTR, q, r), -EINVAL);
	q.qp_state = UINT32_MAX;
	assert_int_equal(CALL_RESP(&c, INIT_QP_ATTR, q, r), -EINVAL);
	client_close(&c);
}

static void notify_does_nothing_with_a_device(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_notify q = {.id = client_create(&c, 1)};

	assert_int_equal(CALL(&c, NOTIFY, q), -EINVAL);
	q.id = client_routed(&c, 2);
	assert_int_equal(CALL(&c, NOTIFY, q), 0);
	client_close(&c);
}

/* ---- UD: RDMA_PS_UDP ------------------------------------------------------------------------- */

static uint32_t ud_routed(const struct client *c, uint64_t uid)
{
	uint32_t id = client_create_ps(c, uid, RDMA_PS_UDP);

	assert_int_equal(client_resolve(c, id, "10.0.0.2"), 0);
	client_expect(c, UCMA_EVENT_ADDR_RESOLVED, uid);
	assert_int_equal(client_route(c, id), 0);
	client_expect(c, UCMA_EVENT_ROUTE_RESOLVED, uid);
	return id;
}

static int gid_of(void *ctx, const struct ip_addr *a)
{
	return a->b[15] == 1 ? 3 : -1;
}

static void ud_answers_say_where_to_send(void **state)
{
	const struct ip_addr local = {{0xfd, [15] = 1}}, remote = {{0xfd, [15] = 2}};
	struct client c = client_open();
	struct rdma_ucm_event_resp r;
	struct rdma_ucm_connect q = {.conn_param = client_param()};
	uint8_t most[UCMA_PRIVATE_MAX] = {9};

	ep_fake.has_ud = true;
	ucma_set_gids(c.u, gid_of, NULL);
	q.id = ud_routed(&c, 5);
	assert_int_equal(ep_fake.uds, 1);
	q.conn_param.qp_num = 0xdead; /* it is not ours to know */
	assert_int_equal(CALL(&c, CONNECT, q), 0);
	assert_int_equal(ep_fake.private_len, 5);
	ep_fake_emit_ud(ep_fake.last, 0x123456, 0x55, &local, &remote, "world", 5);
	r = client_expect(&c, UCMA_EVENT_ESTABLISHED, 5);
	assert_int_equal(r.param.ud.qp_num, 0x123456);
	assert_int_equal(r.param.ud.qkey, 0x55);
	assert_int_equal(r.param.ud.ah_attr.is_global, 1);
	assert_int_equal(r.param.ud.ah_attr.port_num, 1);
	assert_int_equal(r.param.ud.ah_attr.grh.sgid_index, 3);
	assert_memory_equal(r.param.ud.ah_attr.grh.dgid, remote.b, 16);
	assert_int_equal(r.param.ud.private_data_len, 5);
	assert_memory_equal(r.param.ud.private_data, "world", 5);
	/* As much as there is room for. */
	ep_fake_emit_ud(ep_fake.last, 1, 2, &local, &remote, most, sizeof most);
	r = client_expect(&c, UCMA_EVENT_ESTABLISHED, 5);
	assert_int_equal(r.param.ud.private_data_len, UCMA_PRIVATE_MAX - sizeof(struct ucma_ud));
	client_close(&c);
}

static void ud_accepts_tell_of_any_qp(void **state)
{
	struct client c = client_open();
	struct rdma_ucm_accept q = {.uid = 8, .conn_param = client_param()};
	struct rdma_ucm_listen l;
	struct rnic_ep *ep;

	ep_fake.has_ud = true;
	l = (struct rdma_ucm_listen){.id = client_create_ps(&c, 7, RDMA_PS_UDP), .backlog = 3};
	ep = ep_fake.last;
	assert_int_equal(CALL(&c, LISTEN, l), 0);
	q.id = client_request(&c, 7, ep);
	q.conn_param.qp_num = 0x999;
	assert_int_equal(CALL(&c, ACCEPT, q), 0);
	assert_int_equal(ep_fake.param.ud_qp, 0x999);
	assert_int_equal(ep_fake.param.ud_qkey, UCMA_UDP_QKEY);
	assert_null(ep_fake.param.qp);
	q.id = client_request(&c, 7, ep);
	q.conn_param.qkey = 77;
	assert_int_equal(CALL(&c, ACCEPT, q), 0);
	assert_int_equal(ep_fake.param.ud_qkey, 77);
	client_close(&c);
}

static void ud_qp_attributes(void **state)
{
	struct client c = client_open();
	struct ib_uverbs_qp_attr r;
	struct rdma_ucm_init_qp_attr q = {.response = (uintptr_t)&r, .qp_state = IBV_QPS_INIT};

	ep_fake.has_ud = true;
	q.id = client_create_ps(&c, 7, RDMA_PS_UDP);
	assert_int_equal(client_bind(&c, q.id, "10.0.0.1", 0), 0);
	assert_int_equal(CALL_RESP(&c, INIT_QP_ATTR, q, r), 0);
	assert_int_equal(
		r.qp_attr_mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	assert_int_equal(r.qkey, UCMA_UDP_QKEY);
	assert_int_equal(r.port_num, 1);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connect_hands_over_its_parameters),
		cmocka_unit_test(connect_needs_route_qp_and_parameters),
		cmocka_unit_test(connect_without_ece),
		cmocka_unit_test(failures_have_their_events),
		cmocka_unit_test(however_it_ended_the_status_is_0),
		cmocka_unit_test(listen_binds_when_nobody_has),
		cmocka_unit_test(listen_limits_the_backlog),
		cmocka_unit_test(listen_may_fail_and_be_repeated),
		cmocka_unit_test(accept_names_the_id),
		cmocka_unit_test(accept_tells_why_not),
		cmocka_unit_test(reject_carries_private_data),
		cmocka_unit_test(disconnect_is_idempotent),
		cmocka_unit_test(disconnect_instead_of_accept_rejects),
		cmocka_unit_test(qp_attributes_are_those_of_iwarp),
		cmocka_unit_test(notify_does_nothing_with_a_device),
		cmocka_unit_test(ud_answers_say_where_to_send),
		cmocka_unit_test(ud_accepts_tell_of_any_qp),
		cmocka_unit_test(ud_qp_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
