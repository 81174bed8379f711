/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments of several FPDUs, and pieces of them, for a user that takes ULPDUs early. */
#include "taker.h"

static void test_several_in_a_segment(void **state)
{
	struct taker *t = taker_start(true, false, false);
	uint32_t at;

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	at = t->s.len;
	for (unsigned i = 0; i < 6; i++)
		taker_make(t, 100 + 3 * i);
	taker_send(t, at, t->s.len);
	at = t->s.len;
	for (unsigned i = 0; i < 7; i++) /* more than a note has room for */
		taker_make(t, 100 + 3 * i);
	taker_send(t, at, t->s.len);
	assert_true(taker_early(t, 1));
	assert_int_equal(t->offers, 6);
	assert_false(taker_early(t, 2));
	taker_expect_all(t, 6);
	taker_end(t);
}

/* Of so many none is asked for: a note has no room for the shortest header of each. */
static void test_many_in_a_segment(void **state)
{
	struct taker *t = taker_start(true, false, false);
	uint32_t at;

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	at = t->s.len;
	for (unsigned i = 0; i < LLP_NOTE_MAX / 4 + 1; i++)
		taker_make(t, 100);
	taker_send(t, at, t->s.len);
	assert_false(taker_early(t, 1));
	assert_int_equal(t->offers, 0);
	taker_expect_all(t, 0);
	taker_end(t);
}

/* Two with 51 bytes to keep each fill a note; with one byte more they are not taken. */
static void test_what_a_note_has_room_for(void **state)
{
	struct taker *t = taker_start(true, false, false);

	taker_warm_up(t);
	for (unsigned more = 0; more < 2; more++) {
		uint32_t at;

		taker_make_and_send(t, 1, TAKER_LEN);
		at = t->s.len;
		taker_make(t, 100);
		taker_make(t, 100);
		taker_send(t, at, t->s.len);
		t->kept = LLP_NOTE_MAX / 2 - 3 + more;
		assert_int_equal(taker_early(t, 1), more == 0);
		taker_expect_all(t, 2);
	}
	taker_end(t);
}

/* A header longer than the length of one can say is not taken, either. */
static void test_long_header(void **state)
{
	struct taker *t = taker_start(true, false, false);

	taker_warm_up(t);
	taker_make_and_send(t, 2, TAKER_LEN);
	t->kept = 128;
	assert_false(taker_early(t, 1));
	assert_int_equal(t->offers, 1);
	taker_expect_all(t, 0);
	taker_end(t);
}

/* What the user does not want as a whole comes as a whole, and none of it was used. */
static void test_user_refuses(void **state)
{
	struct taker *t = taker_start(true, false, false);
	uint32_t at;

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	at = t->s.len;
	taker_make(t, TAKER_LEN);
	taker_make(t, 70);
	taker_send(t, at, t->s.len);
	t->refuse = (int)t->fpdus - 1;
	assert_false(taker_early(t, 1));
	assert_false(t->early[t->fpdus - 2]);
	taker_expect_all(t, 0);
	taker_end(t);
}

/* What goes wrong while it is placed is told in its turn; what is behind it is not touched. */
static void test_placing_fails(void **state)
{
	struct taker *t = taker_start(true, false, false);
	uint32_t at;

	taker_warm_up(t);
	taker_make_and_send(t, 1, TAKER_LEN);
	at = t->s.len;
	for (unsigned i = 0; i < 4; i++)
		taker_make(t, 100);
	taker_send(t, at, t->s.len);
	t->fail = (int)t->fpdus - 2;
	assert_true(taker_early(t, 1));
	assert_true(t->early[t->fpdus - 2]);
	assert_false(t->early[t->fpdus - 1]);
	taker_run(t);
	assert_int_equal(t->placed, 2);
	assert_int_equal(t->failed, t->fail);
	taker_end(t);
}

/* Not whole FPDUs, or not only: nothing of them is offered. */
static void test_not_aligned(void **state)
{
	for (unsigned how = 0; how < 3; how++) {
		struct taker *t = taker_start(true, false, false);

		taker_warm_up(t);
		taker_make_and_send(t, 1, TAKER_LEN);
		taker_make(t, TAKER_LEN);
		taker_make(t, TAKER_LEN);
		if (how == 0) { /* the end is missing */
			taker_send(t, t->begin[t->fpdus - 2], t->s.len - 4);
			taker_send(t, t->s.len - 4, t->s.len);
		} else if (how == 1) { /* begins too late */
			taker_send(t, t->begin[t->fpdus - 2], t->begin[t->fpdus - 2] + 8);
			taker_send(t, t->begin[t->fpdus - 2] + 8, t->s.len);
		} else {
			taker_send(t, t->begin[t->fpdus - 2], t->s.len - 1);
			taker_send(t, t->s.len - 1, t->s.len);
		}
		assert_false(taker_early(t, 1));
		assert_false(taker_early(t, 2));
		assert_int_equal(t->offers, 0);
		taker_expect_all(t, 0);
		/* From now on the stream is not known to be aligned, for a while. */
		taker_make_and_send(t, 2, TAKER_LEN);
		assert_false(taker_early(t, 1));
		taker_expect_all(t, 0);
		taker_end(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several_in_a_segment),
		cmocka_unit_test(test_many_in_a_segment),
		cmocka_unit_test(test_what_a_note_has_room_for),
		cmocka_unit_test(test_long_header),
		cmocka_unit_test(test_user_refuses),
		cmocka_unit_test(test_placing_fails),
		cmocka_unit_test(test_not_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
