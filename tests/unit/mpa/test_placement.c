/* SPDX-License-Identifier: BSD-2-Clause */
/* What is offered to a user that takes ULPDUs early. */
#include "base/prng.h"
#include "taker.h"

/* An aligned stream is known by what it was like; then segments come early, and in their turn. */
static void test_aligned(void **state)
{
	struct taker *t = taker_start(true, false, false);

	for (unsigned i = 0; i < MPA_ALIGNED_ENOUGH; i += 2) {
		taker_make_and_send(t, 1, TAKER_LEN);
		taker_make_and_send(t, 1, TAKER_LEN);
		assert_false(taker_early(t, 1));
		taker_run(t);
	}
	taker_make_and_send(t, 6, TAKER_LEN);
	assert_true(taker_early(t, 2));
	assert_true(taker_early(t, 4));
	assert_int_equal(t->offers, 2);
	assert_int_equal(t->next, t->fpdus - 6);
	assert_true(taker_early(t, 5));
	taker_expect_all(t, 3);
	/* The user may answer after both: what came in order, and what was taken before. */
	taker_make_and_send(t, 2, TAKER_LEN);
	assert_true(taker_early(t, 1));
	t->u->rx_dones = 0;
	taker_expect_all(t, 4);
	assert_int_equal(t->u->rx_dones, 2);
	taker_end(t);
}

/* Without CRCs there is nothing but markers to go by. */
static void test_no_crc(void **state)
{
	struct taker *t = taker_start(false, false, false);

	taker_warm_up(t);
	taker_make_and_send(t, 3, TAKER_LEN);
	assert_false(taker_early(t, 1));
	taker_expect_all(t, 0);
	taker_end(t);
}

static void test_switched_off(void **state)
{
	struct taker *t = taker_start(true, false, true);

	taker_warm_up(t);
	taker_make_and_send(t, 3, TAKER_LEN);
	assert_false(taker_early(t, 1));
	assert_int_equal(t->offers, 0);
	taker_expect_all(t, 0);
	taker_end(t);
}

/* Markers prove where an FPDU begins, from the beginning; without CRCs as well. */
static void test_markers(void **state)
{
	for (unsigned crc = 0; crc < 2; crc++) {
		struct taker *t = taker_start(crc != 0, true, false);

		taker_make_and_send(t, 40, TAKER_LEN);
		for (unsigned k = 1; k < 40; k += 2)
			assert_true(taker_early(t, k));
		taker_expect_all(t, 20);
		taker_make_and_send(t, 4, 2000); /* markers between FPDUs too */
		taker_make_and_send(t, 1, 1000 - 6 - 8);
		assert_true(taker_early(t, 1));
		assert_true(taker_early(t, 4));
		taker_expect_all(t, 22);
		taker_end(t);
	}
}

/* A segment without a marker, or with one that points elsewhere, proves nothing. */
static void test_markers_that_prove_nothing(void **state)
{
	struct taker *t = taker_start(true, true, false);
	unsigned proved = 0;

	taker_warm_up(t);
	for (unsigned i = 0; i < 10; i++) {
		uint32_t at = t->s.len;
		bool has;

		taker_make_and_send(t, 2, 100);
		at = t->begin[t->fpdus - 1];
		has = mpa_marker_distance(at) < t->s.len - at;
		assert_int_equal(taker_early(t, 1), has);
		proved += has;
		taker_run(t);
	}
	assert_in_range(proved, 1, 8);
	taker_expect_all(t, proved);
	taker_make(t, TAKER_LEN);
	taker_make(t, TAKER_LEN);
	/* The second segment begins with the end of the first FPDU. */
	taker_send(t, t->begin[t->fpdus - 2], t->begin[t->fpdus - 1] - 100);
	taker_send(t, t->begin[t->fpdus - 1] - 100, t->s.len);
	assert_false(taker_early(t, 1));
	taker_expect_all(t, proved);
	taker_end(t);
}

/* Whatever the segments and whatever overtakes what, each ULPDU comes once, in its turn. */
static void any_order(bool markers, uint64_t seed)
{
	struct prng random = {seed};
	struct taker *t = taker_start(true, markers, false);
	uint32_t cut = prng_below(&random, 3); /* how often a segment is not aligned: a third */

	while (t->fpdus + 40 < TAKER_FPDUS && t->s.len < sizeof t->s.bytes / 2) {
		uint32_t from = t->s.len, n = 1 + prng_below(&random, 12);
		unsigned pieces = 0;

		for (uint32_t i = 0; i < n; i++) {
			taker_make(t, 2 + prng_below(&random, prng_below(&random, 3) ? 1400 : 60));
			if (prng_below(&random, 4) == 0)
				continue; /* shares the segment of the next */
			if (cut == 0 && prng_below(&random, 8) == 0) {
				uint32_t at = from + 1 + prng_below(&random, t->s.len - from - 1);

				taker_send(t, from, at);
				from = at;
				pieces++;
			}
			taker_send(t, from, t->s.len);
			from = t->s.len;
			pieces++;
		}
		if (from != t->s.len)
			taker_send(t, from, t->s.len);
		t->kept = 2 + prng_below(&random, 17);
		for (uint32_t i = 0; i < n; i++)
			taker_early(t, prng_below(&random, pieces + 1));
		taker_run(t);
		assert_int_equal(t->next, t->fpdus);
	}
	assert_int_equal(t->u->errors, 0);
	assert_true(cut == 0 || t->placed > 20);
	taker_end(t);
}

static void test_any_order(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		any_order(seed & 1, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aligned),
		cmocka_unit_test(test_no_crc),
		cmocka_unit_test(test_switched_off),
		cmocka_unit_test(test_markers),
		cmocka_unit_test(test_markers_that_prove_nothing),
		cmocka_unit_test(test_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
