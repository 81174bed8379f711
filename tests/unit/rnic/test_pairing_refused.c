/* SPDX-License-Identifier: BSD-2-Clause */
/* Paired QPs of which one, or what it says, is not what the other was told of. */
#include "rnic/pairing.h"

#include "paired.h"
#include "rnic/conn.h"
#include "rnic/pairing_wire.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct pair p;

static void expect_refused(struct side *s)
{
	paired_recv(s, 1);
	pair_advance(&p, 1100);
	pair_expect(&p, s, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(paired_state(s), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(s, RNIC_EVENT_QP_FATAL), 1);
}

static void test_no_such_qp(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.a);

	assert_int_equal(rnic_pairing_open(p.b.rnic), 0);
	attr.path.remote_qp = 999;
	assert_int_equal(paired_rtr_as(&p.a, &attr), 0);
	expect_refused(&p.a);
}

static void test_other_qp(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.b);

	attr.path.remote_qp++;
	assert_int_equal(paired_rtr_as(&p.b, &attr), 0);
	paired_rtr(&p.a);
	expect_refused(&p.a);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTR);
}

static void test_other_psn(void **state)
{
	paired_rtr(&p.b);
	paired_rts_with(&p.b, PAIRED_PSN_B + 1);
	paired_rtr(&p.a);
	expect_refused(&p.a);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTS);
}

/* The one that waits was told of another: what was posted before it says so does not go to it. */
static void test_other_psn_of_the_peer(void **state)
{
	struct rnic_qp_attr attr = paired_rtr_attr(&p.b);

	attr.path.rq_psn++;
	assert_int_equal(paired_rtr_as(&p.b, &attr), 0);
	paired_recv(&p.b, 1);
	paired_rtr(&p.a);
	paired_rts(&p.a);
	paired_send(&p.a, 2, 'x');
	pair_run(&p);
	pair_expect(&p, &p.a, 2, RDMAP_WC_RETRY_EXC_ERR);
	assert_int_equal(paired_state(&p.a), RNIC_QP_ERROR);
	assert_int_equal(pair_count_async(&p.a, RNIC_EVENT_QP_FATAL), 1);
	pair_expect_none(&p, &p.b);
	assert_int_equal(paired_state(&p.b), RNIC_QP_RTR);
	assert_int_equal(llp_mem_open_count(p.mem), 0);
}

/* A reply that accepts, and refuses, is none of ours. */
static void test_accepted_and_refused(void **state)
{
	struct pairing_hello hello = {.refusal = PAIRING_BUSY,
		.to_qp = rnic_qp_num(p.a.qp),
		.from_qp = rnic_qp_num(p.b.qp),
		.psn = PAIRED_PSN_A};
	uint8_t data[PAIRING_HELLO_LEN], frame[MPA_FRAME_MAX];
	struct llp_mem_peer s = {0};
	size_t n;

	pairing_put_hello(data, &hello);
	n = paired_frame(MPA_FRAME_REPLY, data, sizeof data, frame);
	llp_mem_peer_listen(&s, p.mem, 1, PAIRED_PORT);
	paired_rtr(&p.a);
	pair_run(&p);
	assert_true(s.connected);
	llp_mem_send_raw(s.llp, frame, n);
	pair_run(&p);
	assert_false(qp_has_stream(p.a.qp));
	expect_refused(&p.a);
	llp_mem_peer_done(&s);
	pair_run(&p);
}

/* The one that waits says its PSN when the stream stands already. */
static void test_other_psn_later(void **state)
{
	paired_rtr(&p.b);
	paired_rtr(&p.a);
	pair_run(&p);
	paired_rts_with(&p.b, PAIRED_PSN_B + 1);
	expect_refused(&p.b);
}

/* With completion = acked: what has arrived was done, though nobody has told of it yet. */
static void test_other_psn_behind_what_has_arrived(void **state)
{
	const struct rnic_config config = {
		.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED, .tell_acked = true},
		.pairing_port = PAIRED_PORT};
	struct llp *llp;

	pair_fini(&p);
	pair_init(&p, &config);
	paired_rtr(&p.b);
	paired_rtr(&p.a);
	paired_recv(&p.a, 1);
	pair_run(&p);
	llp = mpa_llp(&p.b.qp->conn->mpa);
	p.quiet = true;
	paired_send(&p.b, 2, 'x');
	engine_lock(&p.engine);
	for (unsigned i = 0; i < 100 && llp_acked(llp) != llp_queued(llp); i++)
		llp_mem_step(p.mem);
	engine_unlock(&p.engine);
	paired_send(&p.b, 3, 'y');
	paired_rts_with(&p.b, PAIRED_PSN_B + 1);
	p.quiet = false;
	pair_expect(&p, &p.b, 2, RDMAP_WC_SUCCESS);
	pair_expect(&p, &p.b, 3, RDMAP_WC_RETRY_EXC_ERR);
	pair_expect(&p, &p.a, 1, RDMAP_WC_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(
			test_no_such_qp, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_other_qp, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_other_psn, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_other_psn_of_the_peer, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_accepted_and_refused, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_other_psn_later, paired_setup, paired_teardown, &p),
		cmocka_unit_test_prestate_setup_teardown(
			test_other_psn_behind_what_has_arrived, paired_setup, paired_teardown, &p),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
