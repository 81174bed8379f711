/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA_PS_UDP of rdma_cm, as librdmacm has it: who is asked, what is answered, and a message by it.
 */
#include "cm_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define UDP_QKEY 0x01234567
#define GRH      40

/** A UD id with a QP and memory, in which a receive of all is posted. */
struct end {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t buf[256];
};

static struct rdma_cm_id *ud_id(void)
{
	struct rdma_cm_id *id;

	assert_int_equal(rdma_create_id(cm_channel, &id, NULL, RDMA_PS_UDP), 0);
	return id;
}

static void end_open(struct end *e)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_pd *pd;
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;

	e->cq = ibv_create_cq(e->id->verbs, 8, NULL, NULL, 0);
	assert_non_null(e->cq);
	init.send_cq = init.recv_cq = e->cq;
	assert_int_equal(rdma_create_qp(e->id, NULL, &init), 0);
	pd = e->id->qp->pd;
	e->mr = ibv_reg_mr(pd, e->buf, sizeof e->buf, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(e->mr);
	sge = (struct ibv_sge){(uintptr_t)e->buf, sizeof e->buf, e->mr->lkey};
	assert_int_equal(ibv_post_recv(e->id->qp, &wr, &bad), 0);
}

static void end_close(struct end *e)
{
	rdma_destroy_qp(e->id);
	assert_int_equal(ibv_dereg_mr(e->mr), 0);
	assert_int_equal(ibv_destroy_cq(e->cq), 0);
	cm_destroy(e->id);
}

static struct ibv_wc completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	return wc;
}

static struct rdma_cm_id *listener(const char *text)
{
	struct rdma_cm_id *id = ud_id();

	assert_int_equal(cm_bind(id, text, 0), 0);
	assert_int_equal(rdma_listen(id, 4), 0);
	return id;
}

static struct rdma_cm_id *routed(const char *text, uint16_t port)
{
	struct cm_address to = cm_address(text, port);
	struct rdma_cm_id *id = ud_id();

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

static void send_to(struct end *e, struct ibv_ah *ah, uint32_t qp, uint32_t qkey)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, 5, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.ud = {.ah = ah, .remote_qpn = qp, .remote_qkey = qkey}},
			   *bad;

	memcpy(e->buf, "hello", 5);
	assert_int_equal(ibv_post_send(e->id->qp, &wr, &bad), 0);
}

static void message(const char *text, uint8_t gid_index)
{
	struct rdma_cm_id *from = listener(text);
	struct end a = {.id = routed(text, cm_port(from))}, b;
	struct rdma_conn_param param = {.private_data = "here", .private_data_len = 4};
	struct rdma_cm_event *ev;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	end_open(&a);
	b.id = ask(a.id, from);
	end_open(&b);
	param.qp_num = b.id->qp->qp_num;
	assert_int_equal(rdma_accept(b.id, &param), 0);
	ev = cm_next(a.id, RDMA_CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(ev->param.ud.qp_num, b.id->qp->qp_num);
	assert_int_equal(ev->param.ud.qkey, UDP_QKEY);
	assert_int_equal(ev->param.ud.private_data_len, 4);
	assert_memory_equal(ev->param.ud.private_data, "here", 4);
	assert_int_equal(ev->param.ud.ah_attr.is_global, 1);
	assert_int_equal(ev->param.ud.ah_attr.grh.sgid_index, gid_index);
	ah = ibv_create_ah(a.id->qp->pd, &ev->param.ud.ah_attr);
	assert_non_null(ah);
	send_to(&a, ah, ev->param.ud.qp_num, ev->param.ud.qkey);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	assert_int_equal(completion(a.cq).opcode, IBV_WC_SEND);
	wc = completion(b.cq);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.src_qp, a.id->qp->qp_num);
	assert_int_equal(wc.byte_len, GRH + 5);
	assert_memory_equal(b.buf + GRH, "hello", 5);
	/* There is nothing to end. */
	assert_int_equal(cm_errno(rdma_disconnect(a.id)), EINVAL);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	end_close(&a);
	end_close(&b);
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
	struct rdma_cm_id *from = listener(CM_V4), *id = ud_id(), *tcp = cm_id(), *active;
	uint16_t port = cm_port(from);
	struct rdma_conn_param param = {.private_data_len = 0};

	assert_int_equal(cm_bind(id, CM_V4, port), EADDRINUSE);
	assert_int_equal(cm_bind(tcp, CM_V4, port), 0);
	cm_destroy(tcp);
	cm_destroy(id);
	id = ud_id();
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
