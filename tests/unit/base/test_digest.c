/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/digest.h"
#include "base/digest_priv.h"
#include "base/guarded.h"
#include "base/prng.h"
#include "ip/cksum.h"
#include "mpa/crc.h"
#include "support/faults.h"
#include "support/watched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHORTEST ((size_t)600) /* up to this, every length */
#define PLACES   ((size_t)64)  /* and every place in a line of the cache */
#define LONGEST  ((size_t)70000)
#define SEED     UINT64_C(0x5eed0d16)

static const enum digest_what whats[] = {DIGEST_CRC, DIGEST_SUM, DIGEST_BOTH};

/** For each kernel that this processor has. */
#define EACH_KERNEL(k)                                                                    \
	for (const struct digest_kernel *const *next = digest_kernels, *k = *next; *next; \
		k = *++next)                                                              \
		if (k->usable())

static uint8_t source[LONGEST + PLACES], target[LONGEST + 2 * PLACES];

/* ---- the separate functions ----------------------------------------------------------------- */

/* RFC 3720 section 12.1 as a division, bit by bit. */
static uint32_t crc_by_bits(uint32_t crc, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	return crc;
}

static void fill(uint8_t *p, size_t len, struct prng *r)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)prng_u64(r);
}

static void differ(
	const struct digest_kernel *k, const char *what, size_t len, size_t from, size_t to)
{
	fail_msg("%s: the %s of %zu bytes, from %zu to %zu", k->name, what, len, from, to);
}

/* RFC 1071 section 1: carries come in again, as often as there are some. */
static void sums_are_folded(void **state)
{
	static const struct {
		uint64_t sum;
		uint16_t folded, shifted;
	} rows[] = {
		{0, 0, 0},
		{1, 1, 0x0100},
		{0xffff, 0xffff, 0xffff}, /* not 0, which only zeros have */
		{0x10000, 1, 0x0100},
		{0x1234, 0x1234, 0x3412},
		{0x1ffff, 1, 0x0100},
		{0x1fffe, 0xffff, 0xffff},
		{0xffff0000, 0xffff, 0xffff},
		{0xffffffff, 0xffff, 0xffff},
		{0xfffeffff0001, 0xffff, 0xffff},
		{0x8000000000000001, 0x8001, 0x0180},
		{UINT64_MAX - 1, 0xfffe, 0xfeff},
		{UINT64_MAX, 0xffff, 0xffff},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(digest_fold(rows[i].sum), rows[i].folded);
		assert_int_equal(digest_shift(rows[i].sum, true), rows[i].shifted);
		assert_int_equal(digest_shift(rows[i].sum, false), rows[i].sum);
	}
}

/* ---- every length, every place ----------------------------------------------------------------
 */

struct expected {
	uint32_t crc[SHORTEST + 1];
	uint16_t sum[SHORTEST + 1];
	uint8_t bytes[SHORTEST];
};

static void expect(struct expected *e, uint32_t crc)
{
	uint64_t sum = 0;

	for (size_t len = 0;; len++) {
		e->crc[len] = crc;
		e->sum[len] = digest_fold(sum);
		if (len == SHORTEST)
			return;
		crc = crc_by_bits(crc, e->bytes + len, 1);
		sum += (uint64_t)e->bytes[len] << (len & 1 ? 8 : 0);
	}
}

static void compare(const struct digest_kernel *k, const struct expected *e, const struct digest *d,
	enum digest_what what, size_t len, size_t from, size_t to)
{
	if (d->crc != e->crc[what & DIGEST_CRC ? len : 0])
		differ(k, "CRC", len, from, to);
	if (digest_fold(d->sum) != (what & DIGEST_SUM ? e->sum[len] : 0))
		differ(k, "sum", len, from, to);
	if (d->odd != (what & DIGEST_SUM && len & 1))
		differ(k, "place", len, from, to);
}

/* What lies before and behind stays as it is. */
static void compare_copy(
	const struct digest_kernel *k, const struct expected *e, size_t len, size_t from, size_t to)
{
	static const uint8_t blank[PLACES];

	if (memcmp(target + PLACES + to, e->bytes, len) != 0)
		differ(k, "copy", len, from, to);
	if (memcmp(target + to, blank, PLACES) != 0 ||
		memcmp(target + PLACES + to + len, blank, PLACES) != 0)
		differ(k, "surroundings", len, from, to);
	memset(target + PLACES + to, 0, len);
}

static void take_at(const struct digest_kernel *k, const struct expected *e, enum digest_what what,
	size_t len, size_t from, size_t to)
{
	struct digest d = {.crc = e->crc[0]};

	assert_true(digest_copy_from_by(k, &d, what, target + PLACES + to, source + from, len));
	compare(k, e, &d, what, len, from, to);
	compare_copy(k, e, len, from, to);
	if (to != 0)
		return;
	d = (struct digest){.crc = e->crc[0]};
	digest_add_by(k, &d, what, source + from, len);
	compare(k, e, &d, what, len, from, to);
}

#ifdef GUARDED_PLAIN
#define TO_STEP 21 /* sanitizers are slow */
#else
#define TO_STEP 1
#endif

static void every_length_at_every_place(void **state)
{
	static struct expected e;
	struct prng r = {SEED};

	fill(e.bytes, sizeof e.bytes, &r);
	expect(&e, (uint32_t)prng_u64(&r));
	memset(target, 0, sizeof target);
	for (size_t from = 0; from < PLACES; from++) {
		memcpy(source + from, e.bytes, SHORTEST);
		EACH_KERNEL(k)
		{
			for (size_t to = 0; to < PLACES; to += TO_STEP) {
				/* The other two are the same code with parts left out. */
				for (unsigned i = to == 0 ? 0 : 2; i < 3; i++) {
					for (size_t len = 0; len <= SHORTEST; len++)
						take_at(k, &e, whats[i], len, from, to);
				}
			}
		}
	}
}

/* All ones: what carries most. */
static void carries_nothing_away(void **state)
{
	static struct expected e;

	memset(e.bytes, 0xff, sizeof e.bytes);
	memset(source, 0xff, sizeof source);
	memset(target, 0, sizeof target);
	expect(&e, DIGEST_CRC_START);
	EACH_KERNEL(k)
	{
		for (size_t len = 0; len <= SHORTEST; len++)
			take_at(k, &e, DIGEST_BOTH, len, len % 8, 0);
	}
}

/* ---- in pieces --------------------------------------------------------------------------------
 */

static void take_in_pieces(const struct digest_kernel *k, struct digest *d, enum digest_what what,
	const uint8_t *from, size_t len, uint8_t *to, struct prng *r)
{
	while (len != 0) {
		size_t n = 1 + prng_below(r, len);

		if (prng_chance(r, 0.5)) {
			assert_true(digest_copy_from_by(k, d, what, to, from, n));
		} else {
			digest_add_by(k, d, what, from, n);
			memcpy(to, from, n);
		}
		from += n;
		to += n;
		len -= n;
	}
}

/* Oracles: ISA-L's CRC, and the sum of the IP stack. */
static void is_as_the_separate_functions(void **state)
{
	struct prng r = {SEED};

	for (unsigned turn = 0; turn < 300; turn++) {
		size_t len = prng_below(&r, turn % 10 == 0 ? LONGEST : 10000);
		size_t from = prng_below(&r, PLACES), to = prng_below(&r, PLACES);
		uint32_t seed = (uint32_t)prng_u64(&r);
		struct prng cuts = {prng_u64(&r)};

		fill(source + from, len, &r);
		EACH_KERNEL(k)
		{
			struct digest d = {.crc = seed};
			struct prng same = cuts;

			take_in_pieces(k, &d, DIGEST_BOTH, source + from, len, target + to, &same);
			if (d.crc != mpa_crc_add(seed, source + from, len))
				differ(k, "CRC", len, from, to);
			if (digest_fold(d.sum) != cksum_fold(cksum_bytes(source + from, len)))
				differ(k, "sum", len, from, to);
			if (memcmp(target + to, source + from, len) != 0)
				differ(k, "copy", len, from, to);
		}
	}
}

/* More than a kernel is given at a time. */
static void takes_any_length(void **state)
{
	size_t len = 2 * DIGEST_RUN_MAX + 4321;
	uint8_t *from = malloc(len), *to = malloc(len);

	assert_non_null(from);
	assert_non_null(to);
	memset(from, 0xff, len);
	EACH_KERNEL(k)
	{
		struct digest d = {.crc = DIGEST_CRC_START};

		assert_true(digest_copy_from_by(k, &d, DIGEST_BOTH, to, from, len));
		assert_int_equal(d.crc, mpa_crc_add(DIGEST_CRC_START, from, len));
		assert_int_equal(digest_fold(d.sum), cksum_fold(cksum_bytes(from, len)));
		assert_memory_equal(from, to, len);
	}
	free(from);
	free(to);
}

static void the_best_is_one_of_them(void **state)
{
	static const uint8_t nine[] = "123456789";
	struct digest d = {.crc = DIGEST_CRC_START};
	uint8_t copy[9];

	digest_add(&d, DIGEST_BOTH, nine, 4);
	assert_true(digest_copy_from(&d, DIGEST_BOTH, copy, nine + 4, 5));
	assert_int_equal(~d.crc, 0xe3069283); /* the check value of CRC-32C */
	assert_int_equal(digest_fold(d.sum), cksum_fold(cksum_bytes(nine, 9)));
	assert_true(d.odd);
}

/* ---- step by step -----------------------------------------------------------------------------
 */

#ifdef WATCHED_STEPS

/* A program writes without a rest: each word is from one moment, and the digest of what was sent.
 */
static void copy_from_a_writer(const struct digest_kernel *k, size_t len, size_t at)
{
	uint8_t *from = source + 64 + at, *got = target + at * 5 % 16;
	struct digest d = {.crc = DIGEST_CRC_START};
	bool done;

	watched_begin(from, NULL, len, watched_scribble);
	done = digest_copy_from_by(k, &d, DIGEST_BOTH, got, from, len);
	watched_end();
	assert_true(done);
	for (size_t i = 1; i < len; i++) {
		if (watched_splits_a_word(from + i) && got[i] != got[i - 1])
			fail_msg(
				"%s: %zu bytes at %zu: a word was read in parts", k->name, len, at);
	}
	if (d.crc != crc_by_bits(DIGEST_CRC_START, got, len) ||
		digest_fold(d.sum) != cksum_fold(cksum_bytes(got, len)))
		fail_msg("%s: %zu bytes at %zu: the digest is of others", k->name, len, at);
}

static void each_byte_is_read_once(void **state)
{
	EACH_KERNEL(k)
	{
		for (size_t len = 0; len <= 16; len++) {
			for (size_t at = 0; at < 8; at++)
				copy_from_a_writer(k, len, at);
		}
#ifndef GUARDED_PLAIN /* a step costs a signal, and the sanitizers have many more */
		for (size_t len = 17; len <= (k == &digest_portable_kernel ? 40 : 400); len += 29)
			copy_from_a_writer(k, len, len % 64);
#endif
	}
}

#endif

/* ---- faults -----------------------------------------------------------------------------------
 */

#ifndef GUARDED_PLAIN

/* All of it is there; then all but the last bytes, wherever its words and vectors are cut. */
static void stop_at(
	const struct digest_kernel *k, enum digest_what what, const uint8_t *edge, size_t len)
{
	struct digest d = {0};

	faults = 0;
	assert_true(digest_copy_from_by(k, &d, what, target, edge - len, len));
	assert_int_equal(faults, 0);
	for (size_t over = 1; over <= len; over += over < 4 ? 1 : len / 4 + 3) {
		faults = 0;
		assert_false(digest_copy_from_by(k, &d, what, target, edge - len + over, len));
		/* It goes on no further than it must. A fault is dear. */
		assert_in_range(faults, 1, 8);
	}
}

static void stops_at_the_edge(void **state)
{
	const uint8_t *edge = faults_prepare();

	EACH_KERNEL(k)
	{
		for (size_t len = 1; len <= 80; len++)
			stop_at(k, DIGEST_BOTH, edge, len);
		for (size_t len = 81; len <= SHORTEST; len += 37)
			stop_at(k, DIGEST_BOTH, edge, len);
		for (unsigned i = 0; i < 3; i++)
			stop_at(k, whats[i], edge, 1462);
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_folded),
		cmocka_unit_test(every_length_at_every_place),
		cmocka_unit_test(carries_nothing_away),
		cmocka_unit_test(is_as_the_separate_functions),
		cmocka_unit_test(takes_any_length),
		cmocka_unit_test(the_best_is_one_of_them),
#ifdef WATCHED_STEPS
		cmocka_unit_test(each_byte_is_read_once),
#endif
#ifndef GUARDED_PLAIN
		cmocka_unit_test(stops_at_the_edge),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
