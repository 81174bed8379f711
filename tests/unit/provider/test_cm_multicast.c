/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast by rdma_cm, as librdmacm has it: who joins gets an event, and then the messages. */
#include "cm_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define QP_GROUP 0xffffff
#define UDP_QKEY 0x01234567
#define GRH      40
#define GROUP    "239.9.9.9"
#define GROUP_V6 "ff05::9:9"

/** A UD id with a QP and memory, in which a receive of all is posted. */
struct end {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t buf[256];
};

static struct rdma_cm_id *resolved(const char *from, const char *group)
{
	struct cm_address to = cm_address(group, 0), src = cm_address(from ? from : CM_V4, 0);
	struct rdma_cm_id *id;

	assert_int_equal(rdma_create_id(cm_channel, &id, NULL, RDMA_PS_UDP), 0);
	assert_int_equal(
		rdma_resolve_addr(id, from ? cm_sockaddr(&src) : NULL, cm_sockaddr(&to), 5000), 0);
	cm_expect(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_non_null(id->verbs);
	return id;
}

static void end_open(struct end *e, const char *from, const char *group)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;

	e->id = resolved(from, group);
	e->cq = ibv_create_cq(e->id->verbs, 8, NULL, NULL, 0);
	assert_non_null(e->cq);
	init.send_cq = init.recv_cq = e->cq;
	assert_int_equal(rdma_create_qp(e->id, NULL, &init), 0);
	e->mr = ibv_reg_mr(e->id->qp->pd, e->buf, sizeof e->buf, IBV_ACCESS_LOCAL_WRITE);
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

/* @return the event of the join, to be acknowledged. */
static struct rdma_cm_event *join(struct rdma_cm_id *id, const char *text, void *context)
{
	struct cm_address group = cm_address(text, 0);
	struct rdma_cm_event *ev;

	assert_int_equal(rdma_join_multicast(id, cm_sockaddr(&group), context), 0);
	ev = cm_next(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	assert_ptr_equal(ev->param.ud.private_data, context);
	assert_int_equal(ev->param.ud.qp_num, QP_GROUP);
	assert_int_equal(ev->param.ud.qkey, UDP_QKEY);
	return ev;
}

static void leave(struct rdma_cm_id *id, const char *text)
{
	struct cm_address group = cm_address(text, 0);

	assert_int_equal(rdma_leave_multicast(id, cm_sockaddr(&group)), 0);
}

static struct ibv_wc completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	return wc;
}

static void say(struct end *e, struct ibv_ah *ah)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, 5, e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.ud = {.ah = ah,
					   .remote_qpn = QP_GROUP,
					   .remote_qkey = UDP_QKEY}},
			   *bad;

	memcpy(e->buf, "hello", 5);
	assert_int_equal(ibv_post_send(e->id->qp, &wr, &bad), 0);
	assert_int_equal(completion(e->cq).opcode, IBV_WC_SEND);
}

/* A sender that has not attached its QP, and two members. */
static void message(const char *from, const char *group, uint8_t gid_index)
{
	struct end a, b[2];
	struct rdma_cm_event *ev;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	end_open(&a, from, group);
	for (unsigned i = 0; i < 2; i++) {
		end_open(&b[i], from, group);
		assert_int_equal(rdma_ack_cm_event(join(b[i].id, group, &b[i])), 0);
	}
	ev = join(b[0].id, group, NULL); /* once more: a QP gets each message once all the same */
	assert_int_equal(ev->param.ud.ah_attr.is_global, 1);
	assert_int_equal(ev->param.ud.ah_attr.grh.sgid_index, gid_index);
	assert_int_equal(ev->param.ud.ah_attr.grh.hop_limit, 1); /* ud = subnet */
	ah = ibv_create_ah(a.id->qp->pd, &ev->param.ud.ah_attr);
	assert_non_null(ah);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	say(&a, ah);
	for (unsigned i = 0; i < 2; i++) {
		wc = completion(b[i].cq);
		assert_int_equal(wc.opcode, IBV_WC_RECV);
		assert_int_equal(wc.src_qp, a.id->qp->qp_num);
		assert_memory_equal(b[i].buf + GRH, "hello", 5);
		leave(b[i].id, group);
	}
	leave(b[0].id, group);
	say(&a, ah);
	assert_int_equal(ibv_poll_cq(b[0].cq, 1, &wc), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	end_close(&a);
	end_close(&b[0]);
	end_close(&b[1]);
	cm_expect_none();
}

static void test_message_v4(void **state)
{
	message(NULL, GROUP, 0);
	message(CM_V4, GROUP, 0);
}

static void test_message_v6(void **state)
{
	message(NULL, GROUP_V6, 1);
	message(CM_V6, GROUP_V6, 1);
}

static void test_send_only(void **state)
{
	struct cm_address group = cm_address(GROUP, 0);
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = cm_sockaddr(&group)};
	struct rdma_cm_event *ev;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct end a;

	end_open(&a, NULL, GROUP);
	assert_int_equal(rdma_join_multicast_ex(a.id, &attr, NULL), 0);
	ev = cm_next(a.id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
	ah = ibv_create_ah(a.id->qp->pd, &ev->param.ud.ah_attr);
	assert_non_null(ah);
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	say(&a, ah);
	assert_int_equal(ibv_poll_cq(a.cq, 1, &wc), 0); /* its QP is not attached */
	assert_int_equal(ibv_destroy_ah(ah), 0);
	leave(a.id, GROUP);
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	assert_int_equal(cm_errno(rdma_join_multicast_ex(a.id, &attr, NULL)), EINVAL);
	end_close(&a);
}

static void test_errors(void **state)
{
	struct cm_address peer = cm_address(CM_V4, 0), group = cm_address(GROUP, 0);
	struct rdma_cm_id *id = resolved(NULL, GROUP), *idle;

	assert_int_equal(cm_errno(rdma_join_multicast(id, cm_sockaddr(&peer), NULL)), EINVAL);
	assert_int_equal(cm_errno(rdma_leave_multicast(id, cm_sockaddr(&group))), EADDRNOTAVAIL);
	cm_destroy(id);
	assert_int_equal(rdma_create_id(cm_channel, &idle, NULL, RDMA_PS_UDP), 0);
	assert_int_equal(cm_errno(rdma_join_multicast(idle, cm_sockaddr(&group), NULL)), EINVAL);
	/* Bound is enough; without a QP it is joined all the same, and left with its id. */
	assert_int_equal(cm_bind(idle, CM_V4, 0), 0);
	assert_int_equal(rdma_ack_cm_event(join(idle, GROUP, NULL)), 0);
	cm_destroy(idle);
	cm_expect_none();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_message_v4),
		CM(test_message_v6),
		CM(test_send_only),
		CM(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
