/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions as the RNIC gives them, and as programs read them. The RNIC is a double. */
#include "provider/verbs/objects.h"

#include <sched.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define MANY 40

static struct {
	struct device device;
	struct ibv_context context;
	struct cq cq;
	struct rnic_wc there[MANY]; /**< what is still to be polled */
	int count, taken;
	bool overflowed;
	int armings, solicited;
	bool left, leaving; /**< exit() has begun; on this thread */
} t;

int rnic_cq_poll(struct rnic_cq *cq, int n, struct rnic_wc *wc)
{
	int got = 0;

	assert_true(n > 0);
	while (got < n && t.taken < t.count)
		wc[got++] = t.there[t.taken++];
	return got == 0 && t.overflowed ? -EOVERFLOW : got;
}

int rnic_cq_poll_timed(struct rnic_cq *cq, struct rnic_wc *wc, uint64_t *time)
{
	return rnic_cq_poll(cq, 1, wc);
}

int rnic_cq_arm(struct rnic_cq *cq, bool solicited_only)
{
	t.armings++;
	t.solicited = solicited_only;
	return 0;
}

bool stack_has_left(const struct stack *s)
{
	return t.left;
}

static bool is_leaving(void)
{
	return t.leaving;
}

static int setup(void **state)
{
	static const struct provider_host host = {.is_leaving = is_leaving};

	memset(&t, 0, sizeof t);
	t.device.host = &host;
	t.context.device = &t.device.ibv;
	t.cq.ibv.context = &t.context;
	cq_set_poll_ops(&t.cq);
	return 0;
}

static void add(uint64_t wr_id, enum rdmap_wc_status status, enum rdmap_wc_op op)
{
	t.there[t.count++] = (struct rnic_wc){
		.wc = {.wr_id = wr_id, .status = (uint8_t)status, .op = (uint8_t)op},
		.qp_num = 0x123456};
}

static void test_status(void **state)
{
	static const enum ibv_wc_status expected[] = {
		[RDMAP_WC_SUCCESS] = IBV_WC_SUCCESS,
		[RDMAP_WC_LOC_LEN_ERR] = IBV_WC_LOC_LEN_ERR,
		[RDMAP_WC_LOC_PROT_ERR] = IBV_WC_LOC_PROT_ERR,
		[RDMAP_WC_LOC_QP_OP_ERR] = IBV_WC_LOC_QP_OP_ERR,
		[RDMAP_WC_MW_BIND_ERR] = IBV_WC_MW_BIND_ERR,
		[RDMAP_WC_REM_ACCESS_ERR] = IBV_WC_REM_ACCESS_ERR,
		[RDMAP_WC_REM_INV_REQ_ERR] = IBV_WC_REM_INV_REQ_ERR,
		[RDMAP_WC_REM_OP_ERR] = IBV_WC_REM_OP_ERR,
		[RDMAP_WC_WR_FLUSH_ERR] = IBV_WC_WR_FLUSH_ERR,
		[RDMAP_WC_FATAL_ERR] = IBV_WC_FATAL_ERR,
	};
	struct ibv_wc wc;

	for (int s = RDMAP_WC_SUCCESS; s <= RDMAP_WC_FATAL_ERR; s++) {
		add(7, (enum rdmap_wc_status)s, RDMAP_WC_SEND);
		assert_int_equal(cq_poll(&t.cq.ibv, 1, &wc), 1);
		assert_int_equal(wc.status, expected[s]);
	}
}

static void test_opcode(void **state)
{
	static const enum ibv_wc_opcode expected[] = {
		[RDMAP_WC_SEND] = IBV_WC_SEND,
		[RDMAP_WC_WRITE] = IBV_WC_RDMA_WRITE,
		[RDMAP_WC_READ] = IBV_WC_RDMA_READ,
		[RDMAP_WC_LOCAL_INV] = IBV_WC_LOCAL_INV,
		[RDMAP_WC_BIND_MW] = IBV_WC_BIND_MW,
		[RDMAP_WC_FETCH_ADD] = IBV_WC_FETCH_ADD,
		[RDMAP_WC_CMP_SWAP] = IBV_WC_COMP_SWAP,
		[RDMAP_WC_RECV] = IBV_WC_RECV,
		[RDMAP_WC_RECV_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
	};
	struct ibv_wc wc;

	for (int op = RDMAP_WC_SEND; op <= RDMAP_WC_RECV_IMM; op++) {
		add(7, RDMAP_WC_SUCCESS, (enum rdmap_wc_op)op);
		assert_int_equal(cq_poll(&t.cq.ibv, 1, &wc), 1);
		assert_int_equal(wc.opcode, expected[op]);
	}
}

/* No field keeps what stood there before. */
static void test_fields(void **state)
{
	struct ibv_wc wc;

	add(0xfedcba9876543210, RDMAP_WC_SUCCESS, RDMAP_WC_RECV);
	t.there[0].wc.byte_len = 0x7fffffff;
	t.there[0].wc.inv_stag = 0xabcdef01;
	t.there[0].wc.flags = RDMAP_WC_WITH_INV | RDMAP_WC_SOLICITED;
	add(1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV);
	t.there[1].wc.flags = RDMAP_WC_SOLICITED;
	add(1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV_IMM);
	t.there[2].wc.flags = RDMAP_WC_WITH_IMM;
	memcpy(&t.there[2].wc.imm, "\x01\x02\x03\x04", 4);
	memset(&wc, 0xff, sizeof wc);
	assert_int_equal(cq_poll(&t.cq.ibv, 1, &wc), 1);
	assert_true(wc.wr_id == 0xfedcba9876543210);
	assert_int_equal(wc.byte_len, 0x7fffffff);
	assert_int_equal(wc.invalidated_rkey, 0xabcdef01);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc.qp_num, 0x123456);
	assert_int_equal(wc.vendor_err, 0);
	assert_int_equal(wc.src_qp, 0);
	assert_int_equal(wc.pkey_index, 0);
	assert_int_equal(wc.slid, 0);
	assert_int_equal(wc.sl, 0);
	assert_int_equal(wc.dlid_path_bits, 0);
	assert_int_equal(cq_poll(&t.cq.ibv, 1, &wc), 1);
	assert_int_equal(wc.wc_flags, 0);
	assert_int_equal(cq_poll(&t.cq.ibv, 1, &wc), 1);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	assert_memory_equal(&wc.imm_data, "\x01\x02\x03\x04", 4);
}

/* More than one batch, in order, and never more than asked for. */
static void test_batches(void **state)
{
	struct ibv_wc wc[MANY + 2];

	for (unsigned i = 0; i < MANY; i++)
		add(i, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	memset(wc, 0xff, sizeof wc);
	assert_int_equal(cq_poll(&t.cq.ibv, 35, wc), 35);
	assert_true(wc[35].wr_id == UINT64_MAX);
	for (unsigned i = 0; i < 35; i++)
		assert_int_equal(wc[i].wr_id, i);
	assert_int_equal(cq_poll(&t.cq.ibv, MANY, wc), MANY - 35);
	assert_int_equal(wc[0].wr_id, 35);
	assert_int_equal(cq_poll(&t.cq.ibv, MANY, wc), 0);
	assert_int_equal(cq_poll(&t.cq.ibv, 0, wc), 0);
}

/* ibv_poll_cq(3): a negative value on failure; what was there is handed out before. */
static void test_overflow(void **state)
{
	struct ibv_wc wc[MANY];

	/* A whole batch and one; then exactly a batch. */
	t.overflowed = true;
	for (unsigned i = 0; i < 17; i++)
		add(i, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	assert_int_equal(cq_poll(&t.cq.ibv, MANY, wc), 17);
	for (unsigned i = 0; i < 16; i++)
		add(i, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	assert_int_equal(cq_poll(&t.cq.ibv, MANY, wc), 16);
	assert_true(cq_poll(&t.cq.ibv, MANY, wc) < 0);
	assert_int_equal(ibv_start_poll(&t.cq.ex, &(struct ibv_poll_cq_attr){0}), EOVERFLOW);
}

static void test_orphan(void **state)
{
	struct ibv_wc wc;

	add(1, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	t.device.orphan = true;
	assert_int_equal(cq_poll(&t.cq.ibv, 1, &wc), -ENODEV);
	assert_int_equal(cq_request_notify(&t.cq.ibv, 0), ENODEV);
	assert_int_equal(t.taken + t.armings, 0);
}

/* By turns in either way. */
static void assert_polls_are_empty(unsigned n)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc[2];

	for (unsigned i = 0; i < n; i += 2) {
		assert_int_equal(cq_poll(&t.cq.ibv, 2, wc), 0);
		assert_int_equal(ibv_start_poll(&t.cq.ex, &attr), ENOENT);
	}
}

/* Nothing comes any more. What is there is found all the same. */
static void assert_polling_is_over(void)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc[2];

	assert_int_equal(cq_poll(&t.cq.ibv, 2, wc), -ENODEV);
	assert_int_equal(ibv_start_poll(&t.cq.ex, &attr), ENODEV);
	assert_int_equal(cq_poll(&t.cq.ibv, 0, wc), 0);
	add(1, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	assert_int_equal(cq_poll(&t.cq.ibv, 2, wc), 1);
	assert_int_equal(cq_poll(&t.cq.ibv, 2, wc), -ENODEV);
}

#define LONG_AGO        1
#define NOT_FOR_AN_HOUR ((uint64_t)(time(NULL) + 3600) * UINT64_C(1000000000))

/* The thread that runs exit() may poll until nothing is left, but not until something comes. */
static void test_exit(void **state)
{
	assert_polls_are_empty(5000);
	t.left = t.leaving = true;
	t.cq.first_empty[1] = NOT_FOR_AN_HOUR;
	assert_polls_are_empty(1000);
	assert_polling_is_over();
}

/* Nor for long, if it sleeps between its polls. */
static void test_exit_with_slow_polls(void **state)
{
	t.left = t.leaving = true;
	assert_polls_are_empty(2);
	assert_true(t.cq.first_empty[1] > LONG_AGO);
	t.cq.first_empty[1] = LONG_AGO;
	assert_polling_is_over();
}

/* Others may do so longer: a destructor may be about to stop them. */
static void test_exit_on_another_thread(void **state)
{
	t.left = true;
	t.cq.first_empty[0] = NOT_FOR_AN_HOUR;
	assert_polls_are_empty(5000);
	t.cq.first_empty[0] = LONG_AGO;
	assert_polling_is_over();
}

/* The destructor then polls what is left. */
static void test_exit_after_another_thread(void **state)
{
	t.left = true;
	assert_polls_are_empty(2);
	assert_true(t.cq.first_empty[0] > LONG_AGO);
	t.cq.first_empty[0] = NOT_FOR_AN_HOUR;
	assert_polls_are_empty(5000);
	t.cq.first_empty[0] = LONG_AGO;
	t.leaving = true;
	assert_polls_are_empty(2);
}

static void test_arm(void **state)
{
	assert_int_equal(cq_request_notify(&t.cq.ibv, 0), 0);
	assert_int_equal(t.solicited, 0);
	assert_int_equal(cq_request_notify(&t.cq.ibv, 256), 0);
	assert_int_equal(t.solicited, 1);
	assert_int_equal(t.armings, 2);
}

static void test_extended(void **state)
{
	struct ibv_cq_ex *cq = &t.cq.ex;
	struct ibv_poll_cq_attr attr = {0};

	assert_int_equal(ibv_start_poll(cq, &attr), ENOENT);
	attr.comp_mask = 1;
	assert_int_equal(ibv_start_poll(cq, &attr), EINVAL);
	attr.comp_mask = 0;

	add(11, RDMAP_WC_SUCCESS, RDMAP_WC_RECV);
	t.there[0].wc.byte_len = 4711;
	t.there[0].wc.inv_stag = 0xabcdef01;
	t.there[0].wc.flags = RDMAP_WC_WITH_INV;
	add(12, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE);
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	assert_int_equal(cq->wr_id, 11);
	assert_int_equal(cq->status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	assert_int_equal(ibv_wc_read_byte_len(cq), 4711);
	assert_int_equal(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_INV);
	assert_int_equal(ibv_wc_read_invalidated_rkey(cq), 0xabcdef01);
	assert_int_equal(ibv_wc_read_qp_num(cq), 0x123456);
	assert_int_equal(ibv_wc_read_vendor_err(cq), 0);
	assert_int_equal(ibv_wc_read_src_qp(cq), 0);
	assert_int_equal(ibv_wc_read_slid(cq), 0);
	assert_int_equal(ibv_wc_read_sl(cq), 0);
	assert_int_equal(ibv_wc_read_dlid_path_bits(cq), 0);
	assert_int_equal(ibv_next_poll(cq), 0);
	assert_int_equal(cq->wr_id, 12);
	assert_int_equal(cq->status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE);
	assert_int_equal(ibv_wc_read_wc_flags(cq), 0);
	assert_int_equal(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
}

/* ---- two threads ------------------------------------------------------------------------------
 */

static struct {
	_Atomic bool begun, started;
	uint64_t wr_id;
} other;

static void *poll_one(void *arg)
{
	struct ibv_poll_cq_attr attr = {0};

	atomic_store(&other.begun, true);
	if (ibv_start_poll(&t.cq.ex, &attr) != 0)
		return NULL;
	atomic_store(&other.started, true);
	other.wr_id = t.cq.ex.wr_id;
	ibv_end_poll(&t.cq.ex);
	return NULL;
}

static pthread_t let_another_poll(void)
{
	pthread_t thread;

	atomic_store(&other.begun, false);
	atomic_store(&other.started, false);
	assert_int_equal(pthread_create(&thread, NULL, poll_one, NULL), 0);
	while (!atomic_load(&other.begun))
		sched_yield();
	return thread;
}

/* What one reads is of the completion that it took. */
static void test_threads_poll_in_turns(void **state)
{
	struct ibv_poll_cq_attr attr = {0};
	pthread_t thread;

	add(1, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	add(2, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	assert_int_equal(ibv_start_poll(&t.cq.ex, &attr), 0);
	thread = let_another_poll();
	/* Who does not wait has polled by now. */
	for (unsigned i = 0; i < 1000; i++)
		sched_yield();
	assert_false(atomic_load(&other.started));
	assert_int_equal(t.cq.ex.wr_id, 1);
	ibv_end_poll(&t.cq.ex);
	pthread_join(thread, NULL);
	assert_true(other.started);
	assert_int_equal(other.wr_id, 2);
	/* What found nothing is no turn. */
	assert_int_equal(ibv_start_poll(&t.cq.ex, &attr), ENOENT);
	assert_int_equal(ibv_start_poll(&t.cq.ex, &attr), ENOENT);
}

static void test_a_single_thread_takes_no_lock(void **state)
{
	struct ibv_poll_cq_attr attr = {0};
	pthread_t thread;

	t.cq.single_threaded = true;
	add(1, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	add(2, RDMAP_WC_SUCCESS, RDMAP_WC_SEND);
	assert_int_equal(ibv_start_poll(&t.cq.ex, &attr), 0);
	thread = let_another_poll();
	pthread_join(thread, NULL);
	assert_true(other.started);
	ibv_end_poll(&t.cq.ex);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_status, setup),
		cmocka_unit_test_setup(test_opcode, setup),
		cmocka_unit_test_setup(test_fields, setup),
		cmocka_unit_test_setup(test_batches, setup),
		cmocka_unit_test_setup(test_overflow, setup),
		cmocka_unit_test_setup(test_orphan, setup),
		cmocka_unit_test_setup(test_exit, setup),
		cmocka_unit_test_setup(test_exit_with_slow_polls, setup),
		cmocka_unit_test_setup(test_exit_on_another_thread, setup),
		cmocka_unit_test_setup(test_exit_after_another_thread, setup),
		cmocka_unit_test_setup(test_arm, setup),
		cmocka_unit_test_setup(test_extended, setup),
		cmocka_unit_test_setup(test_threads_poll_in_turns, setup),
		cmocka_unit_test_setup(test_a_single_thread_takes_no_lock, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
