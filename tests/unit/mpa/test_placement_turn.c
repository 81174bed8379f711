/* SPDX-License-Identifier: BSD-2-Clause */
/* ULPDUs that were taken early have their turn, or do not come to it. */
#include "taker.h"

/* A bad CRC is told in its turn, after all before it. */
static void test_bad_crc(void **state)
{
	struct taker *t = taker_start(true, false, false);

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	taker_make(t, TAKER_LEN);
	t->s.bytes[t->s.len - 50] ^= 1;
	taker_send(t, t->begin[t->fpdus - 1], t->s.len);
	assert_false(taker_early(t, 1));
	assert_int_equal(t->offers, 0);
	assert_int_equal(t->u->errors, 0);
	taker_run(t);
	assert_int_equal(t->next, t->fpdus - 1);
	assert_int_equal(t->u->error, MPA_ERROR_CRC);
	taker_end(t);
}

/*
 * A peer that loses its alignment while its payload looks like an FPDU: what was placed for it was
 * not what it seemed, and the connection ends before anything more is delivered.
 */
static void test_payload_like_an_fpdu(void **state)
{
	struct taker *t = taker_start(true, false, false);
	static struct stream forged;
	uint32_t at;

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	at = t->s.len;
	taker_make(t, 2000); /* its payload from 1000 on: an FPDU of 700 */
	memset(&forged, 0, sizeof forged);
	taker_make_in(t, &forged, 700);
	llp_mem_send_raw(t->u->peer.llp, t->s.bytes + at, 1000);
	llp_mem_send_raw(t->u->peer.llp, forged.bytes, forged.len);
	assert_true(taker_early(t, 2));
	taker_run(t);
	assert_int_equal(t->next, t->fpdus - 2);
	assert_int_equal(t->placed, 0);
	assert_int_equal(t->u->errors, 1);
	assert_int_equal(t->u->error, MPA_ERROR_CATASTROPHIC);
	assert_non_null(mpa_reserve(t->u->m, 18, false)); /* the Terminate can go out */
	mpa_cancel(t->u->m);
	taker_end(t);
}

/* While an FPDU is held nothing behind it is taken early; all comes when it goes on. */
static void test_held(void **state)
{
	struct taker *t = taker_start(true, true, false);

	taker_make_and_send(t, 4, TAKER_LEN);
	assert_true(taker_early(t, 3)); /* as markers prove each */
	taker_expect_all(t, 1);
	t->hold = (int)t->next;
	taker_make_and_send(t, 1, TAKER_LEN);
	taker_run(t);
	assert_true(t->held);
	taker_make_and_send(t, 3, TAKER_LEN);
	assert_false(taker_early(t, 1));
	assert_int_equal(t->offers, 1);
	t->hold = -1;
	mpa_rx_resume(t->u->m);
	taker_expect_all(t, 1);
	taker_end(t);
}

/* What was taken early cannot wait, so what comes before it cannot either. */
static void test_cannot_hold(void **state)
{
	struct taker *t = taker_start(true, false, false);

	taker_warm_up(t);
	t->hold = (int)t->next;
	taker_make_and_send(t, 3, TAKER_LEN);
	assert_true(taker_early(t, 2));
	taker_run(t);
	assert_false(t->held);
	taker_expect_all(t, 1);
	taker_end(t);
}

/* After an error nothing is offered and nothing delivered. */
static void test_after_an_error(void **state)
{
	struct taker *t = taker_start(true, false, false);

	taker_warm_up(t);
	taker_make(t, TAKER_LEN);
	t->s.bytes[t->s.len - 50] ^= 1;
	taker_send(t, t->begin[t->fpdus - 1], t->s.len);
	taker_make_and_send(t, 3, TAKER_LEN);
	assert_true(taker_early(t, 2));
	llp_mem_step(t->u->net);
	assert_int_equal(t->u->errors, 1);
	assert_false(taker_early(t, 2));
	taker_run(t);
	assert_int_equal(t->next, MPA_ALIGNED_ENOUGH);
	assert_int_equal(t->placed, 0);
	taker_end(t);
}

static void test_user_ends_it_in_placed(void **state)
{
	struct taker *t = taker_start(true, false, false);
	uint32_t at;

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	at = t->s.len;
	taker_make(t, 100);
	taker_make(t, 200);
	taker_send(t, at, t->s.len);
	assert_true(taker_early(t, 1));
	t->abort_at = 1;
	taker_run(t);
	assert_int_equal(t->placed, 1);
	taker_end(t);
}

/* Likewise if he only hears no more: what was taken behind it is not told, and nothing else. */
static void test_user_hears_no_more_in_placed(void **state)
{
	struct taker *t = taker_start(true, false, false);
	uint32_t at;

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	at = t->s.len;
	taker_make(t, 100);
	taker_make(t, 200);
	taker_send(t, at, t->s.len);
	taker_make_and_send(t, 1, TAKER_LEN);
	assert_true(taker_early(t, 1));
	t->drop_at = 1;
	t->u->rx_dones = 0;
	taker_run(t);
	assert_int_equal(t->placed, 1);
	assert_int_equal(t->next, t->fpdus - 2);
	assert_int_equal(t->u->rx_dones, 1); /* for what came in order */
	assert_int_equal(t->u->errors, 0);
	taker_end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_crc),
		cmocka_unit_test(test_payload_like_an_fpdu),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_cannot_hold),
		cmocka_unit_test(test_after_an_error),
		cmocka_unit_test(test_user_ends_it_in_placed),
		cmocka_unit_test(test_user_hears_no_more_in_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
