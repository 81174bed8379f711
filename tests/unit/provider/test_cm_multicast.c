/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast by rdma_cm, as librdmacm has it: who joins gets an event, and then the messages. */
#include "cm_ud_fixture.h"

#include <errno.h>

#define QP_GROUP 0xffffff
#define GROUP    "239.9.9.9"
#define GROUP_V6 "ff05::9:9"

static struct rdma_cm_id *resolved(const char *from, const char *group)
{
	struct cm_address to = cm_address(group, 0), src = cm_address(from ? from : CM_V4, 0);
	struct rdma_cm_id *id = cm_ud_id();

	assert_int_equal(
		rdma_resolve_addr(id, from ? cm_sockaddr(&src) : NULL, cm_sockaddr(&to), 5000), 0);
	cm_expect(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	assert_non_null(id->verbs);
	return id;
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
	assert_int_equal(ev->param.ud.qkey, CM_UD_QKEY);
	return ev;
}

static void leave(struct rdma_cm_id *id, const char *text)
{
	struct cm_address group = cm_address(text, 0);

	assert_int_equal(rdma_leave_multicast(id, cm_sockaddr(&group)), 0);
}

static void say(struct cm_ud_end *e, struct ibv_ah *ah)
{
	cm_ud_hello(e, ah, QP_GROUP);
	assert_int_equal(cm_ud_completion(e).opcode, IBV_WC_SEND);
}

/* A sender that has not attached its QP, and two members. */
static void message(const char *from, const char *group, uint8_t gid_index)
{
	struct cm_ud_end a, b[2];
	struct rdma_cm_event *ev;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	cm_ud_open(&a, resolved(from, group));
	for (unsigned i = 0; i < 2; i++) {
		cm_ud_open(&b[i], resolved(from, group));
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
		cm_ud_expect_hello(&b[i], &a);
		leave(b[i].id, group);
	}
	leave(b[0].id, group);
	say(&a, ah);
	assert_int_equal(ibv_poll_cq(b[0].cq, 1, &wc), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	cm_ud_close(&a);
	cm_ud_close(&b[0]);
	cm_ud_close(&b[1]);
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
	struct cm_ud_end a;

	cm_ud_open(&a, resolved(NULL, GROUP));
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
	cm_ud_close(&a);
}

static void test_errors(void **state)
{
	struct cm_address peer = cm_address(CM_V4, 0), group = cm_address(GROUP, 0);
	struct rdma_cm_id *id = resolved(NULL, GROUP), *idle;

	assert_int_equal(cm_errno(rdma_join_multicast(id, cm_sockaddr(&peer), NULL)), EINVAL);
	assert_int_equal(cm_errno(rdma_leave_multicast(id, cm_sockaddr(&group))), EADDRNOTAVAIL);
	cm_destroy(id);
	idle = cm_ud_id();
	assert_int_equal(cm_errno(rdma_join_multicast(idle, cm_sockaddr(&group), NULL)), EINVAL);
	/* Bound is enough; without a QP it is joined all the same. */
	assert_int_equal(cm_bind(idle, CM_V4, 0), 0);
	assert_int_equal(rdma_ack_cm_event(join(idle, GROUP, NULL)), 0);
	/* librdmacm would not free what it keeps of it: cm-multicast ends one with its id. */
	leave(idle, GROUP);
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
