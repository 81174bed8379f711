/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/guarded.h"
#include "base/guarded_priv.h"
#include "support/faults.h"
#include "support/watched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LONGEST ((size_t)700)

static void copies_every_length(void **state)
{
	uint8_t from[LONGEST + 8], to[LONGEST + 16], expected[LONGEST + 16];

	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (uint8_t)(i * 7 + i / 256 + 1);
	for (size_t len = 0; len <= LONGEST; len++) {
		size_t skew = len % 8;

		memset(to, 0, sizeof to);
		memset(expected, 0, sizeof expected);
		memcpy(expected + 8 - skew, from + skew, len);
		assert_true(guarded_copy(to + 8 - skew, from + skew, len));
		assert_memory_equal(to, expected, sizeof to);
		memset(to, 0, sizeof to);
		assert_true(guarded_copy_from(to + 8 - skew, from + skew, len));
		assert_memory_equal(to, expected, sizeof to);
	}
}

/* ---- step by step --------------------------------------------------------------------------- */

#ifdef WATCHED_STEPS

#define STEPPED ((size_t)300)
#define SHORT   ((size_t)24)

typedef bool copy_fn(void *to, const void *from, size_t len);

static uint8_t packet[STEPPED + 64], memory[STEPPED + 128];

static void copy_to_a_reader(copy_fn *copy, size_t len, size_t at, size_t skew)
{
	static const uint8_t none[sizeof memory];
	uint8_t *to = memory + 64 + at;
	bool done;

	for (size_t i = 0; i < len; i++)
		packet[skew + i] = (uint8_t)(1 + (i * 7 + len) % 255);
	watched_begin(to, packet + skew, len, watched_consume);
	done = copy(to, packet + skew, len);
	watched_end();
	assert_true(done);
	if (watched.wrong != NULL)
		fail_msg("%zu bytes at %zu: %s", len, at, watched.wrong);
	assert_int_equal(watched.used, len);
	assert_memory_equal(memory, none, sizeof memory);
}

static void copy_from_a_writer(copy_fn *copy, size_t len, size_t at, size_t skew)
{
	uint8_t *got = packet + skew, *from = memory + 64 + at;
	bool done;

	watched_begin(from, NULL, len, watched_scribble);
	done = copy(got, from, len);
	watched_end();
	assert_true(done);
	for (size_t i = 1; i < len; i++) {
		if (!watched_splits_a_word(from + i) || got[i] == got[i - 1])
			continue;
		fail_msg("%zu bytes at %zu: a word was read in parts", len, at);
	}
	memset(memory, 0, sizeof memory);
}

/*
 * Short ones at every alignment to a word, the others at one each, another with each length: a step
 * costs a signal.
 */
static void step_lengths(copy_fn *copy, copy_fn *copy_from, size_t least, size_t most)
{
	for (size_t len = least; len <= most; len++) {
		for (size_t at = 0; at < (len <= SHORT ? 8 : 1); at++) {
			/* Where vectors are aligned changes with the length. */
			size_t where = (at + len) % 8 + len / 8 % 4 * 8;
			size_t skew = (at * 5 + len) % 16;

			copy_to_a_reader(copy, len, where, skew);
			copy_from_a_writer(copy_from, len, where, skew);
		}
	}
}

static void each_byte_is_stored_once(void **state)
{
#ifdef GUARDED_PLAIN
	/* There are no vectors, and many more steps: the sanitizer's own. */
	step_lengths(guarded_copy, guarded_copy_from, 0, 2 * SHORT);
#else
	step_lengths(guarded_copy, guarded_copy_from, GUARDED_WIDE_MIN - 1, GUARDED_WIDE_MIN + 1);
#endif
}

#ifndef GUARDED_PLAIN

static bool narrow(void *to, const void *from, size_t len)
{
	return guarded_narrow(to, from, len, -(uintptr_t)to % GUARDED_NARROW_ALIGN) == 0;
}

static bool narrow_from(void *to, const void *from, size_t len)
{
	return guarded_narrow(to, from, len, -(uintptr_t)from % GUARDED_NARROW_ALIGN) == 0;
}

#ifdef __x86_64__

static bool wide(void *to, const void *from, size_t len)
{
	return guarded_wide(to, from, len, -(uintptr_t)to % GUARDED_WIDE_ALIGN) == 0;
}

static bool wide_from(void *to, const void *from, size_t len)
{
	return guarded_wide(to, from, len, -(uintptr_t)from % GUARDED_WIDE_ALIGN) == 0;
}

#endif

static void each_width_stores_once(void **state)
{
	step_lengths(narrow, narrow_from, 0, STEPPED);
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx"))
		step_lengths(wide, wide_from, GUARDED_WIDE_MIN, STEPPED);
#endif
}

#endif
#endif

/* ---- barriers ------------------------------------------------------------------------------- */

#if defined(__aarch64__) && !defined(GUARDED_PLAIN)

#define DMB_ISHST UINT32_C(0xd5033abf)
#define BRK       UINT32_C(0xd4200000)

static struct {
	const uint8_t *to;
	size_t len, stored; /* stored at the last barrier */
	unsigned count;
} barrier;

static void barrier_handle(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	barrier.count++;
	while (barrier.stored < barrier.len && barrier.to[barrier.stored] != 0)
		barrier.stored++;
	fault_set_pc(context, fault_pc(context) + sizeof BRK);
}

static void barriers_replace(uint32_t insn, uint32_t by)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)guarded_end;
	uintptr_t begin = (uintptr_t)guarded_begin, pages = begin & ~(page - 1);

	assert_int_equal(
		mprotect((void *)pages, end - pages, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	for (uintptr_t at = begin; at < end; at += sizeof insn)
		if (*(uint32_t *)at == insn)
			*(uint32_t *)at = by;
	__builtin___clear_cache((char *)begin, (char *)end);
	assert_int_equal(mprotect((void *)pages, end - pages, PROT_READ | PROT_EXEC), 0);
}

/*
 * Each barrier is made a breakpoint, which looks at what has been stored: behind the last one there
 * must be one store, of a naturally aligned word.
 */
static void last_word_is_behind_a_barrier(void **state)
{
	struct sigaction a = {.sa_sigaction = barrier_handle, .sa_flags = SA_SIGINFO}, before;
	uint8_t from[LONGEST];
	_Alignas(16) uint8_t to[LONGEST + 16];

	memset(from, 1, sizeof from);
	assert_int_equal(sigaction(SIGTRAP, &a, &before), 0);
	barriers_replace(DMB_ISHST, BRK);
	for (size_t len = 1; len <= LONGEST; len++) {
		for (size_t at = 0; at < 16; at++) {
			size_t left;

			memset(to, 0, sizeof to);
			barrier.to = to + at;
			barrier.len = len;
			barrier.stored = barrier.count = 0;
			assert_true(guarded_copy(to + at, from, len));
			left = len - barrier.stored;
			if (barrier.count == 0 || left == 0 || left > 8 || left & (left - 1) ||
				(at + barrier.stored) % left != 0)
				fail_msg("%zu bytes at %zu: %zu behind %u barriers", len, at, left,
					barrier.count);
		}
	}
	barriers_replace(BRK, DMB_ISHST);
	sigaction(SIGTRAP, &before, NULL);
}

#endif

static void exchanges(void **state)
{
	uint64_t target = 5, expected = 4;

	assert_int_equal(guarded_exchange(&target, &expected, 9), 0);
	assert_int_equal(expected, 5);
	assert_int_equal(target, 5);
	assert_int_equal(guarded_exchange(&target, &expected, 9), 1);
	assert_int_equal(target, 9);
}

static void no_other_code_is_its_own(void **state)
{
	assert_int_equal(guarded_resume((uintptr_t)memcpy), 0);
	assert_int_equal(guarded_resume((uintptr_t)guarded_resume), 0);
	assert_int_equal(guarded_resume(0), 0);
}

#ifndef GUARDED_PLAIN

static void stops_at_the_edge(void **state)
{
	uint8_t mine[LONGEST] = {0}, *edge = faults_prepare();

	for (size_t len = 1; len <= LONGEST; len++) {
		faults = 0;
		assert_true(guarded_copy(edge - len, mine, len));
		assert_true(guarded_copy(mine, edge - len, len));
		assert_true(guarded_copy_from(mine, edge - len, len));
		assert_int_equal(faults, 0);
		for (size_t over = 1; over <= len; over += over < 4 ? 1 : len / 4) {
			assert_false(guarded_copy(edge - len + over, mine, len));
			assert_false(guarded_copy(mine, edge - len + over, len));
			assert_false(guarded_copy_from(mine, edge - len + over, len));
		}
		assert_true(faults >= 2);
	}
	faults = 0;
	assert_true(guarded_copy(edge, mine, 0));
	assert_int_equal(faults, 0);
}

static void exchanges_nothing_there(void **state)
{
	uint8_t *edge = faults_prepare();
	uint64_t expected = 1;

	assert_int_equal(guarded_exchange((uint64_t *)(void *)edge, &expected, 2), -1);
	assert_int_equal(faults, 1);
	assert_int_equal(expected, 1);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_every_length),
#ifdef WATCHED_STEPS
		cmocka_unit_test(each_byte_is_stored_once),
#ifndef GUARDED_PLAIN
		cmocka_unit_test(each_width_stores_once),
#endif
#endif
#if defined(__aarch64__) && !defined(GUARDED_PLAIN)
		cmocka_unit_test(last_word_is_behind_a_barrier),
#endif
		cmocka_unit_test(exchanges),
		cmocka_unit_test(no_other_code_is_its_own),
#ifndef GUARDED_PLAIN
		cmocka_unit_test(stops_at_the_edge),
		cmocka_unit_test(exchanges_nothing_there),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
