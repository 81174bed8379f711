/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_set.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FILES 4

struct fixture {
	char directory[32];
	char *paths[FILES];
	unsigned n;
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof *x);

	assert_non_null(x);
	strcpy(x->directory, "/tmp/test_capture_setXXXXXX");
	assert_non_null(mkdtemp(x->directory));
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	for (unsigned i = 0; i < x->n; i++) {
		unlink(x->paths[i]);
		free(x->paths[i]);
	}
	rmdir(x->directory);
	free(x);
	return 0;
}

/* A file of @p n frames of an octet each, which tells @p first on; the last of them cut off? */
static void add(struct fixture *x, uint32_t seconds, uint8_t first, unsigned n, bool cut)
{
	static const uint32_t header[6] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
	FILE *f;

	assert_true(asprintf(&x->paths[x->n], "%s/%u", x->directory, x->n) > 0);
	f = fopen(x->paths[x->n++], "w");
	assert_non_null(f);
	fwrite(header, sizeof header, 1, f);
	for (unsigned i = 0; i < n; i++, first++) {
		uint32_t record[4] = {seconds + i, 0, 1, 1};

		fwrite(record, sizeof record, 1, f);
		fwrite(&first, cut && i == n - 1 ? 0 : 1, 1, f);
	}
	assert_int_equal(fclose(f), 0);
}

static unsigned num_refused;

static void refused(const char *path, const char *why)
{
	num_refused++;
}

static void open_all(struct cap_set *s, struct fixture *x)
{
	num_refused = 0;
	assert_int_equal(cap_set_open(s, x->paths, x->n, refused), 0);
}

static void expect_frame(struct cap_set *s, uint64_t number, uint8_t octet)
{
	struct cap_frame f;
	struct cap_error e;
	const char *path;

	assert_int_equal(cap_set_next(s, &f, &path, &e), CAP_FRAME);
	assert_int_equal(f.number, number);
	assert_int_equal(f.bytes[0], octet);
}

static void expect_bad(struct cap_set *s, const char *path, const char *why)
{
	struct cap_frame f;
	struct cap_error e;
	const char *bad;

	assert_int_equal(cap_set_next(s, &f, &bad, &e), CAP_BAD);
	assert_string_equal(bad, path);
	assert_string_equal(e.text, why);
}

static void expect_end(struct cap_set *s)
{
	struct cap_frame f;
	struct cap_error e;
	const char *path;

	assert_int_equal(cap_set_next(s, &f, &path, &e), CAP_END);
	assert_int_equal(cap_set_next(s, &f, &path, &e), CAP_END);
}

static void expect_at(const struct cap_set *s, uint64_t number, const char *path, uint64_t there)
{
	uint64_t n = 0;
	const char *found = cap_set_locate(s, number, &n);

	assert_non_null(found);
	assert_string_equal(found, path);
	assert_int_equal(n, there);
}

/* As a shell names them: a, a1, a10, a2. */
static void test_by_time(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;
	uint64_t n;

	add(x, 100, 1, 2, false);
	add(x, 300, 5, 3, false);
	add(x, 400, 8, 0, false);
	add(x, 200, 3, 2, false);
	open_all(&s, x);
	assert_null(cap_set_locate(&s, 1, &n));
	for (uint8_t i = 1; i <= 7; i++)
		expect_frame(&s, i, i);
	expect_at(&s, 7, x->paths[1], 3);
	expect_end(&s);
	expect_at(&s, 1, x->paths[0], 1);
	expect_at(&s, 2, x->paths[0], 2);
	expect_at(&s, 3, x->paths[3], 1);
	expect_at(&s, 5, x->paths[1], 1);
	expect_at(&s, 7, x->paths[1], 3);
	assert_null(cap_set_locate(&s, 0, &n));
	assert_null(cap_set_locate(&s, 8, &n));
	cap_set_close(&s);
}

static void test_one_is_cut(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;

	add(x, 100, 1, 3, true);
	add(x, 200, 3, 1, false);
	open_all(&s, x);
	expect_frame(&s, 1, 1);
	expect_frame(&s, 2, 2);
	expect_bad(&s, x->paths[0], "cut off in frame 3");
	expect_frame(&s, 3, 3);
	expect_at(&s, 3, x->paths[1], 1);
	expect_end(&s);
	cap_set_close(&s);
}

static void test_refused(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;

	add(x, 100, 1, 1, false);
	add(x, 200, 2, 1, false);
	unlink(x->paths[0]);
	open_all(&s, x);
	assert_int_equal(num_refused, 1);
	expect_frame(&s, 1, 2);
	expect_end(&s);
	cap_set_close(&s);
	unlink(x->paths[1]);
	open_all(&s, x);
	assert_int_equal(num_refused, 2);
	expect_end(&s);
	cap_set_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
