/* SPDX-License-Identifier: BSD-2-Clause */
#include "mpa/enframe.h"
#include "stream.h"

#include "base/prng.h"
#include "support/plain_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 5 + (i >> 7));
}

/* The room is exactly as long as promised: the address sanitizer looks on. */
static void check_next(struct mpa_enframe *e, struct stream *s, uint32_t len)
{
	uint32_t begin = stream_fpdu(s, len, pattern), total = mpa_enframe_len(e, len);
	uint32_t lead = mpa_enframe_lead(e);
	uint8_t *room = malloc(total);

	assert_int_equal(e->at, begin);
	assert_int_equal(total, s->len - begin);
	memset(room, 0xa5, total);
	for (uint32_t i = 0; i < len; i++)
		room[lead + i] = pattern(i);
	mpa_enframe_finish(e, room, len);
	if (!e->crc)
		store_le32(s->bytes + s->len - 4, 0);
	assert_memory_equal(room, s->bytes + begin, total);
	assert_int_equal(e->at, s->len);
	free(room);
}

static void test_streams(void **state)
{
	static struct stream s;
	struct prng random = {5044};

	for (unsigned round = 0; round < 120; round++) {
		uint32_t longest = round % 3 == 0 ? 20 : round % 3 == 1 ? 700 : 4000;
		struct mpa_enframe e;

		s = (struct stream){.markers = round & 1};
		mpa_enframe_init(&e, round & 2, s.markers);
		for (unsigned i = 0; i < 60; i++)
			check_next(&e, &s, (uint32_t)prng_below(&random, longest));
	}
}

/* ---- digested while it is made ----------------------------------------------------------------
 */

/* A part of the ULPDU: the program's memory, or written by the user itself, as a header is. */
static void write_part(
	struct mpa_enframe *e, uint8_t *ulpdu, uint32_t at, uint32_t len, bool gather)
{
	uint8_t *theirs = malloc(len);

	for (uint32_t i = 0; i < len; i++)
		theirs[i] = pattern(at + i);
	if (gather)
		assert_true(mpa_enframe_gather(e, ulpdu + at, theirs, len));
	else
		memcpy(ulpdu + at, theirs, len);
	free(theirs);
}

/* The same octets as if they had been written without a digest, and the sum of all of them. */
static void check_gathered(
	struct mpa_enframe *e, struct stream *s, uint32_t len, bool sums, struct prng *random)
{
	uint32_t begin = stream_fpdu(s, len, pattern), total = mpa_enframe_len(e, len), sum;
	uint8_t *room = malloc(total), *ulpdu = room + mpa_enframe_lead(e);

	memset(room, 0xa5, total);
	mpa_enframe_begin(e, room, len, sums);
	for (uint32_t at = 0, n; at < len; at += n) {
		n = 1 + (uint32_t)prng_below(random, len - at);
		write_part(e, ulpdu, at, n, prng_chance(random, 0.7));
	}
	sum = mpa_enframe_finish(e, room, len);
	if (!e->crc)
		store_le32(s->bytes + s->len - 4, 0);
	assert_memory_equal(room, s->bytes + begin, total);
	assert_int_equal(e->at, s->len);
	if (sums) {
		uint16_t folded = (uint16_t)sum;

		assert_int_not_equal(sum, LLP_SUM_UNKNOWN);
		assert_int_equal(load_be16(&folded), plain_sum(room, total, 0));
	} else {
		assert_int_equal(sum, LLP_SUM_UNKNOWN);
	}
	free(room);
}

static void test_digested_while_made(void **state)
{
	static struct stream s;
	struct prng random = {1071};

	for (unsigned round = 0; round < 160; round++) {
		uint32_t longest = round % 3 == 0 ? 2 * MPA_ENFRAME_LONG : 1500;
		struct mpa_enframe e;

		s = (struct stream){.markers = round & 1};
		mpa_enframe_init(&e, round & 2, s.markers);
		for (unsigned i = 0; i < 60; i++)
			check_gathered(
				&e, &s, (uint32_t)prng_below(&random, longest), round & 4, &random);
	}
}

/* What was begun and given up leaves nothing behind. */
static void test_cancelled(void **state)
{
	static struct stream s;
	static uint8_t room[2000];
	struct mpa_enframe e;

	mpa_enframe_init(&e, true, false);
	mpa_enframe_begin(&e, room, 1000, true);
	write_part(&e, room + mpa_enframe_lead(&e), 0, 900, true);
	mpa_enframe_cancel(&e);
	check_next(&e, &s, 1000);
}

/* Markers before, behind and right in every part of a small FPDU. */
static void test_marker_at_every_place(void **state)
{
	static struct stream s;

	for (uint32_t first = 430; first < 520; first++) {
		for (uint32_t second = 0; second < 24; second++) {
			struct mpa_enframe e;

			s = (struct stream){.markers = true};
			mpa_enframe_init(&e, true, true);
			check_next(&e, &s, first);
			check_next(&e, &s, second);
			check_next(&e, &s, 1);
		}
	}
}

static void test_largest(void **state)
{
	static struct stream s = {.markers = true};
	struct mpa_enframe e;

	mpa_enframe_init(&e, true, true);
	check_next(&e, &s, MPA_MULPDU_MAX);
	check_next(&e, &s, MPA_MULPDU_MAX);
	s = (struct stream){.markers = false};
	mpa_enframe_init(&e, true, false);
	check_next(&e, &s, MPA_ULPDU_MAX);
}

/* RFC 5044 section 4.5, and that an FPDU of a MULPDU fits wherever it begins. */
static void test_mulpdu(void **state)
{
	static const struct {
		uint32_t emss, plain, marked;
	} t[] = {{1448, 1442, 1430}, {1460, 1454, 1442}, {1449, 1442, 1430}, {1451, 1442, 1430},
		{8948, 8942, 8870}, {512, 506, 502}, {513, 506, 498}, {100, 128, 128},
		{142, 134, 130}, {64778, 64768, 64262}, {65290, 64768, 64768},
		{1 << 20, 64768, 64768}};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct mpa_enframe e;

		mpa_enframe_init(&e, true, false);
		assert_int_equal(mpa_enframe_mulpdu(&e, t[i].emss), t[i].plain);
		mpa_enframe_init(&e, true, true);
		assert_int_equal(mpa_enframe_mulpdu(&e, t[i].emss), t[i].marked);
		for (e.at = 0; t[i].emss > 140 && e.at < MPA_MARKER_PERIOD; e.at += 4)
			assert_true(mpa_enframe_len(&e, t[i].marked) <= t[i].emss);
	}
}

/*
 * RFC 5044 section 3: with markers, IPv4 and TCP and all of their options it fits the largest IP
 * packet, and 128 octets more would not.
 */
static void test_mulpdu_fits_a_packet(void **state)
{
	const uint32_t room = 65535 - 60 - 60;
	uint32_t most = 0, beyond = 0;
	struct mpa_enframe e;

	mpa_enframe_init(&e, true, true);
	for (e.at = 0; e.at < MPA_MARKER_PERIOD; e.at += 4) {
		uint32_t len = mpa_enframe_len(&e, MPA_MULPDU_MAX);
		uint32_t longer = mpa_enframe_len(&e, MPA_MULPDU_MAX + 128);

		most = len > most ? len : most;
		beyond = longer > beyond ? longer : beyond;
	}
	assert_true(most <= room);
	assert_true(beyond > room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_digested_while_made),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_marker_at_every_place),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_mulpdu),
		cmocka_unit_test(test_mulpdu_fits_a_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
