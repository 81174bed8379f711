/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/guarded.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

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
	}
}

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

static volatile sig_atomic_t faults;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	uintptr_t to = guarded_resume((uintptr_t)*pc);

	if (to == 0)
		_exit(1);
	*pc = (greg_t)to;
	faults++;
}

/* The end of memory. */
static uint8_t *edge;

/* cmocka has a handler of its own around each test. */
static void prepare(void)
{
	struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(
		NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	edge = p + page;
	assert_int_equal(munmap(edge, (size_t)page), 0);
	assert_int_equal(sigaction(SIGSEGV, &a, NULL), 0);
}

static void stops_at_the_edge(void **state)
{
	uint8_t mine[LONGEST] = {0};

	prepare();
	for (size_t len = 1; len <= LONGEST; len++) {
		faults = 0;
		assert_true(guarded_copy(edge - len, mine, len));
		assert_true(guarded_copy(mine, edge - len, len));
		assert_int_equal(faults, 0);
		for (size_t over = 1; over <= len; over += over < 4 ? 1 : len / 4) {
			assert_false(guarded_copy(edge - len + over, mine, len));
			assert_false(guarded_copy(mine, edge - len + over, len));
		}
		assert_true(faults >= 2);
	}
	faults = 0;
	assert_true(guarded_copy(edge, mine, 0));
	assert_int_equal(faults, 0);
}

static void exchanges_nothing_there(void **state)
{
	uint64_t expected = 1;

	prepare();
	faults = 0;
	assert_int_equal(guarded_exchange((uint64_t *)(void *)edge, &expected, 2), -1);
	assert_int_equal(faults, 1);
	assert_int_equal(expected, 1);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_every_length),
		cmocka_unit_test(exchanges),
		cmocka_unit_test(no_other_code_is_its_own),
#ifndef GUARDED_PLAIN
		cmocka_unit_test(stops_at_the_edge),
		cmocka_unit_test(exchanges_nothing_there),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
