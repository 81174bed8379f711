/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA_PS_UDP of rdma_cm, as librdmacm has it: who is asked, what is answered, and a message by it.
 */
#include "cm_ud_fixture.h"

#include <errno.h>

static struct rdma_cm_id *listener(const char *text)
{
	struct rdma_cm_id *id = cm_ud_id();

	assert_int_equal(cm_bind(id, text, 0), 0);
	assert_int_equal(rdma_listen(id, 4), 0);
	return id;
}

static struct rdma_cm_id *routed(const char *text, uint16_t port)
{
	struct cm_address to = cm_address(text, port);
	struct rdma_cm_id *id = cm_ud_id();

	assert_int_equal(rdma_resolve_addr(id, NULL, cm_sockaddr(&to), 5000), 0);
	cm_expect(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_int_equal(rdma_resolve_route(id, 5000), 0);
	cm_expect(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	assert_non_null(id->verbs);
	return id;
}

/* @return the passive id. */
static struct rdma_cm_id *ask(struct rdma_cm_id *active, struct rdma_cm_id *from)
{
	struct rdma_conn_param param = {.private_data = "who", .private_data_len = 3};
	struct rdma_cm_event *ev;
	struct rdma_cm_id *passive;

	assert_int_equal(rdma_connect(active, &param), 0);
	ev = cm_next(from, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	passive = ev->id;
	assert_int_equal(ev->param.ud.private_data_len, 3);
	assert_memory_equal(ev->param.ud.private_data, "who", 3);
	assert_ptr_equal(ev->listen_id, from);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	return passive;
}

static void message(const char *text, uint8_t gid_index)
{
	struct rdma_cm_id *from = listener(text);
	struct cm_ud_end a, b;
	struct rdma_conn_param param = {.private_data = "here", .private_data_len = 4};
	struct rdma_cm_event *ev;
	struct ibv_ah *ah;

	cm_ud_open(&a, routed(text, cm_port(from)));
	cm_ud_open(&b, ask(a.id, from));
	param.qp_num = b.id->qp->qp_num;
	assert_int_equal(rdma_accept(b.id, &param), 0);
	ev = cm_next(a.id, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(ev->param.ud.qp_num, b.id->qp->qp_num);
	assert_int_equal(ev->param.ud.qkey, CM_UD_QKEY);
	assert_int_equal(ev->param.ud.private_data_len, 4);
	assert_memory_equal(ev->param.ud.private_data, "here", 4);
	assert_int_equal(ev->param.ud.ah_attr.is_global, 1);
	assert_int_equal(ev->param.ud.ah_attr.grh.sgid_index, gid_index);
	ah = ibv_create_ah(a.id->qp->pd, &ev->param.ud.ah_attr);
	assert_non_null(ah);
	cm_ud_hello(&a, ah, ev->param.ud.qp_num);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	assert_int_equal(cm_ud_completion(&a).opcode, IBV_WC_SEND);
	cm_ud_expect_hello(&b, &a);
	/* There is nothing to end. */
	assert_int_equal(cm_errno(rdma_disconnect(a.id)), EINVAL);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	cm_ud_close(&a);
	cm_ud_close(&b);
	cm_destroy(from);
	cm_expect_none();
}

static void test_message_v4(void **state)
{
	message(CM_V4, 0);
}

static void test_message_v6(void **state)
{
	message(CM_V6, 1);
}

static void test_rejected(void **state)
{
	struct rdma_cm_id *from = listener(CM_V4), *active = routed(CM_V4, cm_port(from)), *passive;
	struct rdma_cm_event *ev;

	passive = ask(active, from);
	assert_int_equal(rdma_reject(passive, "no", 2), 0);
	ev = cm_next(active, RDMA_CM_EVENT_UNREACHABLE, 2);
	assert_int_equal(ev->param.ud.private_data_len, 2);
	assert_memory_equal(ev->param.ud.private_data, "no", 2);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	cm_destroy(passive);
	cm_destroy(active);
	/* Whoever goes without a word has said no. */
	active = routed(CM_V4, cm_port(from));
	cm_destroy(ask(active, from));
	cm_expect(active, RDMA_CM_EVENT_UNREACHABLE, 2);
	cm_destroy(active);
	cm_destroy(from);
}

/* Bound and not listening is not there; a TCP port of the same number is another one. */
static void test_ports(void **state)
{
	struct rdma_cm_id *from = listener(CM_V4), *id = cm_ud_id(), *tcp = cm_id(), *active;
	uint16_t port = cm_port(from);
	struct rdma_conn_param param = {.private_data_len = 0};

	assert_int_equal(cm_bind(id, CM_V4, port), EADDRINUSE);
	assert_int_equal(cm_bind(tcp, CM_V4, port), 0);
	cm_destroy(tcp);
	cm_destroy(id);
	id = cm_ud_id();
	assert_int_equal(cm_bind(id, CM_V6, port), 0);
	active = routed(CM_V6, port);
	assert_int_equal(rdma_connect(active, &param), 0);
	cm_expect(active, RDMA_CM_EVENT_UNREACHABLE, 1);
	cm_destroy(active);
	cm_destroy(id);
	cm_destroy(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_message_v4),
		CM(test_message_v6),
		CM(test_rejected),
		CM(test_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
