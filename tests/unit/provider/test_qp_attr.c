/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_modify_qp() and ibv_query_qp(). */
#include "fixture.h"

#include "support/limit.h"

#include <errno.h>
#include <unistd.h>

static const struct ibv_qp_cap small = {
	.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1};

/* Attributes that no step refuses: all zero but these. */
static struct ibv_qp_attr good(enum ibv_qp_state to)
{
	return (struct ibv_qp_attr){.qp_state = to,
		.path_mtu = IBV_MTU_1024,
		.port_num = 1,
		.ah_attr = {.port_num = 1,
			.is_global = 1,
			.grh.dgid.raw = {[10] = 0xff, 0xff, 10, 99, 0, 2}}};
}

static int modify(struct lone *l, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr a = good(to);

	a.cur_qp_state = l->qp->state;
	return ibv_modify_qp(l->qp, &a, mask);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR                                                                          \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define TO_RTS                                                                       \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | \
		IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT)

/* Bring a fresh QP to a state. */
static void open_in(struct lone *l, enum ibv_qp_state s)
{
	lone_open(l, &small, 16, false);
	if (s == IBV_QPS_RESET)
		return;
	if (s != IBV_QPS_ERR)
		assert_int_equal(qp_go(l->qp, IBV_QPS_INIT), 0);
	if (s == IBV_QPS_RTS || s == IBV_QPS_SQD)
		assert_int_equal(qp_go(l->qp, IBV_QPS_RTR), 0);
	if (s == IBV_QPS_SQD)
		assert_int_equal(qp_go(l->qp, IBV_QPS_RTS), 0);
	if (s != l->qp->state)
		assert_int_equal(qp_go(l->qp, s), 0);
	assert_int_equal(l->qp->state, s);
}

static void test_transitions(void **state)
{
	/* By bits, from RESET up: where one may go from each state. */
	static const struct {
		enum ibv_qp_state from;
		unsigned to;
	} allowed[] = {
		{IBV_QPS_RESET, 1 << IBV_QPS_INIT},
		{IBV_QPS_INIT, 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR},
		{IBV_QPS_RTR, 1 << IBV_QPS_RTS},
		{IBV_QPS_RTS, 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD},
		{IBV_QPS_SQD, 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD},
		{IBV_QPS_ERR, 0},
	};
	static const enum ibv_qp_state to[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQE,
		IBV_QPS_SQD, (enum ibv_qp_state)7};

	for (unsigned i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
		for (unsigned j = 0; j < sizeof to / sizeof to[0]; j++) {
			bool ok = (allowed[i].to & 1u << to[j]) != 0;
			struct lone l;

			open_in(&l, allowed[i].from);
			/* librdmacm's disconnect must get past this one: see below. */
			if (allowed[i].from != IBV_QPS_ERR || to[j] != IBV_QPS_SQD) {
				assert_int_equal(qp_go(l.qp, to[j]), ok ? 0 : EINVAL);
				assert_int_equal(l.qp->state, ok ? to[j] : allowed[i].from);
			}
			/* From everywhere to the end, and to the beginning. */
			assert_int_equal(qp_go(l.qp, IBV_QPS_ERR), 0);
			assert_int_equal(l.qp->state, IBV_QPS_ERR);
			assert_int_equal(qp_go(l.qp, IBV_QPS_SQD), 0);
			assert_int_equal(l.qp->state, IBV_QPS_ERR);
			assert_int_equal(qp_go(l.qp, IBV_QPS_RESET), 0);
			assert_int_equal(l.qp->state, IBV_QPS_RESET);
			assert_int_equal(qp_go(l.qp, IBV_QPS_INIT), 0);
			lone_close(&l);
		}
	}
}

/* What ibv_modify_qp(3) demands for a step, and each attribute that may go with it: bit by bit. */
static void test_masks(void **state)
{
	static const struct {
		enum ibv_qp_state from, to;
		int need, may;
	} steps[] = {
		{IBV_QPS_RESET, IBV_QPS_RESET, IBV_QP_STATE, 0},
		{IBV_QPS_RESET, IBV_QPS_INIT, TO_INIT, 0},
		{IBV_QPS_INIT, IBV_QPS_INIT, IBV_QP_STATE, IBV_QP_PKEY_INDEX},
		{IBV_QPS_INIT, IBV_QPS_RTR, TO_RTR, IBV_QP_PKEY_INDEX},
		{IBV_QPS_RTR, IBV_QPS_RTS, TO_RTS, IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER},
		{IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_STATE, IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER},
		{IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_STATE, IBV_QP_EN_SQD_ASYNC_NOTIFY},
		{IBV_QPS_SQD, IBV_QPS_RTS, IBV_QP_STATE, IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER},
		{IBV_QPS_RTS, IBV_QPS_ERR, IBV_QP_STATE, 0},
		{IBV_QPS_ERR, IBV_QPS_RESET, IBV_QP_STATE, 0},
	};
	const int iwarp = IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_MAX_QP_RD_ATOMIC |
			  IBV_QP_MAX_DEST_RD_ATOMIC;
	const int no_such =
		IBV_QP_CAP | IBV_QP_RATE_LIMIT | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

	for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		bool last = steps[i].to == IBV_QPS_RESET || steps[i].to == IBV_QPS_ERR;
		int may = steps[i].may | (last ? 0 : iwarp);
		struct lone l;

		for (unsigned b = 0; b < 27; b++) {
			int bit = 1 << b, want = 0, mask = steps[i].need ^ bit;

			/* One of those needed is missing: only if the others are iWARP's. */
			if ((steps[i].need & bit) != 0)
				want = bit != IBV_QP_STATE && mask & ~(IBV_QP_STATE | iwarp)
					       ? EINVAL
					       : 0;
			else if ((no_such & bit) != 0)
				want = EOPNOTSUPP;
			else if ((may & bit) == 0)
				want = EINVAL;
			if (bit == IBV_QP_STATE)
				continue;
			open_in(&l, steps[i].from);
			assert_int_equal(modify(&l, steps[i].to, mask), want);
			assert_int_equal(l.qp->state, want ? steps[i].from : steps[i].to);
			lone_close(&l);
		}
		open_in(&l, steps[i].from);
		assert_int_equal(modify(&l, steps[i].to, steps[i].need | may), 0);
		lone_close(&l);
	}
}

/* ---- values ------------------------------------------------------------------------------------
 */

static void test_attributes(void **state)
{
	struct ibv_device_attr dev;
	struct ibv_qp_attr a = {.port_num = 2}, now;
	struct ibv_qp_init_attr init;
	struct lone l;

	assert_int_equal(ibv_query_device(fx.context, &dev), 0);
	open_in(&l, IBV_QPS_INIT);
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_PORT), EINVAL);
	a.port_num = 1;
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_PORT), 0);
	a.qp_access_flags =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	a.max_rd_atomic = (uint8_t)dev.max_qp_init_rd_atom;
	a.max_dest_rd_atomic = (uint8_t)dev.max_qp_rd_atom;
	assert_int_equal(
		ibv_modify_qp(l.qp, &a,
			IBV_QP_ACCESS_FLAGS | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC),
		0);
	assert_int_equal(ibv_query_qp(l.qp, &now, 0, &init), 0);
	assert_int_equal(now.qp_state, IBV_QPS_INIT);
	assert_int_equal(now.cur_qp_state, IBV_QPS_INIT);
	assert_int_equal(now.qp_access_flags, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	assert_int_equal(now.max_rd_atomic, dev.max_qp_init_rd_atom);
	assert_int_equal(now.max_dest_rd_atomic, dev.max_qp_rd_atom);
	assert_int_equal(now.port_num, 1);
	a.max_rd_atomic = (uint8_t)(dev.max_qp_init_rd_atom + 1);
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_MAX_QP_RD_ATOMIC), EINVAL);
	a.max_dest_rd_atomic = (uint8_t)(dev.max_qp_rd_atom + 1);
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_MAX_DEST_RD_ATOMIC), EINVAL);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RTR), 0);
	a.qp_state = IBV_QPS_RTS;
	a.cur_qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL);
	a.cur_qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
	lone_close(&l);
}

/* A value out of its field's range: nothing changes, not even what was right beside it. */
static void test_bad_values(void **state)
{
	struct ibv_qp_attr bad[11], a = good(IBV_QPS_RTR), now;
	struct ibv_qp_init_attr init;
	struct lone l;

	for (unsigned i = 0; i < 11; i++)
		bad[i] = a;
	bad[0].ah_attr.port_num = 2;
	bad[1].path_mtu = (enum ibv_mtu)0;
	bad[2].path_mtu = (enum ibv_mtu)6;
	bad[3].dest_qp_num = 1 << 24;
	bad[4].min_rnr_timer = 32;
	bad[5].max_dest_rd_atomic = 255;
	bad[6].ah_attr.is_global = 0; /* no address: see docs/connect.md */
	bad[7].ah_attr.grh.sgid_index = 1;
	open_in(&l, IBV_QPS_INIT);
	for (unsigned i = 0; i < 8; i++) {
		bad[i].qp_access_flags = IBV_ACCESS_REMOTE_READ;
		assert_int_equal(
			ibv_modify_qp(l.qp, &bad[i], TO_RTR | IBV_QP_ACCESS_FLAGS), EINVAL);
		assert_int_equal(ibv_query_qp(l.qp, &now, 0, &init), 0);
		assert_int_equal(now.qp_state, IBV_QPS_INIT);
		assert_int_equal(now.qp_access_flags, 0);
	}
	a.pkey_index = 1;
	assert_int_equal(ibv_modify_qp(l.qp, &a, TO_RTR | IBV_QP_PKEY_INDEX), EINVAL);
	assert_int_equal(modify(&l, IBV_QPS_RTR, TO_RTR), 0);
	bad[8].timeout = 32;
	bad[9].retry_cnt = 8;
	bad[10].rnr_retry = 8;
	for (unsigned i = 8; i < 11; i++) {
		bad[i].qp_state = IBV_QPS_RTS;
		assert_int_equal(ibv_modify_qp(l.qp, &bad[i], TO_RTS), EINVAL);
		assert_int_equal(l.qp->state, IBV_QPS_RTR);
	}
	lone_close(&l);
}

/* ibv_query_qp(3): values are valid if they have been set. RESET forgets them. */
static void test_query_tells_what_was_set(void **state)
{
	struct ibv_qp_attr a = good(IBV_QPS_RTR), now;
	struct ibv_qp_init_attr init;
	struct lone l;

	open_in(&l, IBV_QPS_INIT);
	a.dest_qp_num = 77;
	a.rq_psn = 0x1123456;
	a.min_rnr_timer = 12;
	a.max_dest_rd_atomic = 3;
	a.ah_attr.grh.hop_limit = 9;
	assert_int_equal(ibv_modify_qp(l.qp, &a, TO_RTR), 0);
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = 5;
	a.timeout = 14;
	a.retry_cnt = 7;
	a.rnr_retry = 6;
	a.max_rd_atomic = 2;
	assert_int_equal(ibv_modify_qp(l.qp, &a, TO_RTS), 0);
	assert_int_equal(ibv_query_qp(l.qp, &now, TO_RTR | TO_RTS, &init), 0);
	assert_int_equal(now.qp_state, IBV_QPS_RTS);
	assert_int_equal(now.dest_qp_num, 77);
	assert_int_equal(now.rq_psn, 0x123456);
	assert_int_equal(now.min_rnr_timer, 12);
	assert_int_equal(now.max_dest_rd_atomic, 3);
	assert_int_equal(now.ah_attr.grh.hop_limit, 9);
	assert_int_equal(now.path_mtu, IBV_MTU_1024);
	assert_int_equal(now.sq_psn, 5);
	assert_int_equal(now.timeout, 14);
	assert_int_equal(now.retry_cnt, 7);
	assert_int_equal(now.rnr_retry, 6);
	assert_int_equal(now.max_rd_atomic, 2);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RESET), 0);
	assert_int_equal(ibv_query_qp(l.qp, &now, 0, &init), 0);
	assert_int_equal(now.dest_qp_num, 0);
	assert_int_equal(now.timeout, 0);
	lone_close(&l);
}

/* Neither the queues' sizes (no IBV_DEVICE_RESIZE_MAX_WR) nor a rate: no false success. */
static void test_no_such_attributes(void **state)
{
	struct ibv_qp_attr a = {.cap = {.max_send_wr = 100}, .rate_limit = 1000};
	struct lone l;

	open_in(&l, IBV_QPS_INIT);
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_CAP), EOPNOTSUPP);
	assert_int_equal(ibv_modify_qp(l.qp, &a, IBV_QP_RATE_LIMIT), EOPNOTSUPP);
	assert_int_equal(ibv_modify_qp(l.qp, &a, 1 << 30), EINVAL);
	lone_close(&l);
}

/* RESET forgets what is posted, and what has completed. */
static void test_reset(void **state)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	struct ibv_wc wc[4];
	struct lone l;

	open_in(&l, IBV_QPS_INIT);
	assert_int_equal(ibv_post_recv(l.qp, &wr, &bad), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_ERR), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RESET), 0);
	assert_int_equal(ibv_poll_cq(l.cq, 4, wc), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_INIT), 0);
	wr.wr_id = 2;
	assert_int_equal(ibv_post_recv(l.qp, &wr, &bad), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_RESET), 0);
	assert_int_equal(qp_go(l.qp, IBV_QPS_ERR), 0);
	assert_int_equal(ibv_poll_cq(l.cq, 4, wc), 0);
	lone_close(&l);
}

/* ---- connected ------------------------------------------------------------------------------- */

static void test_connected_attributes(void **state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr now;

	assert_int_equal(ibv_query_qp(fx.client.id->qp, &now, 0, &init), 0);
	assert_int_equal(now.qp_state, IBV_QPS_RTS);
	assert_int_equal(fx.client.id->qp->state, IBV_QPS_RTS);
	/* As negotiated: both sides asked for 4. */
	assert_int_equal(now.max_rd_atomic, 4);
	assert_int_equal(now.max_dest_rd_atomic, 4);
	assert_ptr_equal(init.qp_context, fx.client.id->qp->qp_context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_transitions),
		OPENED(test_masks),
		OPENED(test_attributes),
		OPENED(test_bad_values),
		OPENED(test_query_tells_what_was_set),
		OPENED(test_no_such_attributes),
		OPENED(test_reset),
		CONNECTED(test_connected_attributes),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
