/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define FILES_MAX 200

/* Add @p n frames, each of the file that @p next says, and look for every one of them. */
static void expect_found(unsigned files, uint64_t n, unsigned (*next)(uint64_t i, unsigned files))
{
	uint64_t there, counts[FILES_MAX] = {0};
	struct cap_runs r;
	unsigned file;

	assert_int_equal(cap_runs_init(&r, files), 0);
	assert_false(cap_runs_find(&r, 1, &file, &there));
	for (uint64_t i = 0; i < n; i++) {
		cap_runs_add(&r, next(i, files));
		assert_true(cap_runs_find(&r, i + 1, &file, &there) || r.full);
	}
	assert_false(r.full);
	for (uint64_t i = 0; i < n; i++) {
		assert_true(cap_runs_find(&r, i + 1, &file, &there));
		assert_int_equal(file, next(i, files));
		assert_int_equal(there, ++counts[file]);
	}
	assert_false(cap_runs_find(&r, 0, &file, &there));
	assert_false(cap_runs_find(&r, n + 1, &file, &there));
	cap_runs_free(&r);
}

static unsigned in_turn(uint64_t i, unsigned files)
{
	return (unsigned)(i % files);
}

static unsigned one_behind_the_other(uint64_t i, unsigned files)
{
	return (unsigned)(i / 300) % files;
}

/* Runs of 1 to 8 */
static unsigned anyhow(uint64_t i, unsigned files)
{
	return (unsigned)((i >> 3) * 0x9e3779b97f4a7c15u >> 33 ^ (i & 7 & i >> 4)) % files;
}

static void test_all_are_found(void **state)
{
	static const unsigned files[] = {1, 2, 3, 200};

	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
		expect_found(files[i], 10000, in_turn);
		expect_found(files[i], 2000, one_behind_the_other);
		expect_found(files[i], 10000, anyhow);
	}
}

/* What is beyond the limit is not told; what was before is. */
static void test_limit(void **state)
{
	struct cap_runs r;
	uint64_t there;
	unsigned file;

	assert_int_equal(cap_runs_init(&r, 2), 0);
	r.max = 1024;
	for (unsigned i = 0; i < 10000; i++)
		cap_runs_add(&r, i % 2);
	assert_true(r.full);
	assert_true(r.size <= 1024);
	assert_in_range(r.kept, 1000, 1024);
	assert_true(cap_runs_find(&r, r.kept, &file, &there));
	assert_int_equal(there, (r.kept + 1) / 2);
	assert_false(cap_runs_find(&r, r.kept + 1, &file, &there));
	cap_runs_free(&r);
}

/* Two files that alternate frame by frame, and one behind the other: an octet a run. */
static void test_is_small(void **state)
{
	struct cap_runs r;

	assert_int_equal(cap_runs_init(&r, 2), 0);
	for (unsigned i = 0; i < 100000; i++)
		cap_runs_add(&r, i % 2);
	assert_in_range(r.used, 99000, 100000);
	for (unsigned i = 0; i < 10000000; i++)
		cap_runs_add(&r, 0);
	assert_in_range(r.used, 99000, 100000);
	cap_runs_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_found),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
