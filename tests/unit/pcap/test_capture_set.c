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

static FILE *add_file(struct fixture *x)
{
	FILE *f;

	assert_true(asprintf(&x->paths[x->n], "%s/%u", x->directory, x->n) > 0);
	f = fopen(x->paths[x->n++], "w");
	assert_non_null(f);
	return f;
}

static FILE *add_pcap(struct fixture *x, uint32_t magic)
{
	const uint32_t header[6] = {magic, 0x00040002, 0, 0, 65535, 1};
	FILE *f = add_file(x);

	fwrite(header, sizeof header, 1, f);
	return f;
}

/* A file of @p n frames of an octet each, which tells @p first on; the last of them cut off? */
static void add(struct fixture *x, uint32_t seconds, uint8_t first, unsigned n, bool cut)
{
	FILE *f = add_pcap(x, 0xa1b2c3d4);

	for (unsigned i = 0; i < n; i++, first++) {
		uint32_t record[4] = {seconds + i, 0, 1, 1};

		fwrite(record, sizeof record, 1, f);
		fwrite(&first, cut && i == n - 1 ? 0 : 1, 1, f);
	}
	assert_int_equal(fclose(f), 0);
}

/* A file of frames with the octet and the fraction of a second that each of @p frames tells. */
static void add_frames(struct fixture *x, uint32_t magic, const uint32_t (*frames)[2], unsigned n)
{
	FILE *f = add_pcap(x, magic);

	for (unsigned i = 0; i < n; i++) {
		uint32_t record[4] = {100, frames[i][1], 1, 1};

		fwrite(record, sizeof record, 1, f);
		fputc((int)frames[i][0], f);
	}
	assert_int_equal(fclose(f), 0);
}

/* A pcapng file of frames without times. */
static void add_simple(struct fixture *x, uint8_t first, unsigned n)
{
	static const uint32_t head[] = {
		0x0a0d0d0a, 28, 0x1a2b3c4d, 1, UINT32_MAX, UINT32_MAX, 28, 1, 20, 1, 0, 20};
	FILE *f = add_file(x);

	fwrite(head, sizeof head, 1, f);
	for (unsigned i = 0; i < n; i++) {
		uint32_t block[] = {3, 20, 1, first + i, 20};

		fwrite(block, sizeof block, 1, f);
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

#define MAGIC_US 0xa1b2c3d4
#define MAGIC_NS 0xa1b23c4d

#define ADD(x, magic, ...)                                       \
	add_frames(x, magic, (const uint32_t[][2]){__VA_ARGS__}, \
		sizeof((const uint32_t[][2]){__VA_ARGS__}) / sizeof((const uint32_t[2]){0}))

/* Captured at the same time, in different units. Of equal times the file named earlier is first. */
static void test_merged(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;

	ADD(x, MAGIC_US, {1, 10}, {4, 20}, {5, 20}, {9, 50});
	ADD(x, MAGIC_NS, {2, 10001}, {3, 19999}, {6, 20000}, {8, 40000});
	ADD(x, MAGIC_US, {7, 30});
	open_all(&s, x);
	for (uint8_t i = 1; i <= 9; i++)
		expect_frame(&s, i, i);
	expect_end(&s);
	expect_at(&s, 1, x->paths[0], 1);
	expect_at(&s, 3, x->paths[1], 2);
	expect_at(&s, 5, x->paths[0], 3);
	expect_at(&s, 7, x->paths[2], 1);
	expect_at(&s, 8, x->paths[1], 4);
	expect_at(&s, 9, x->paths[0], 4);
	cap_set_close(&s);
}

/* A file whose own times go back keeps its order. */
static void test_times_go_back(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;

	ADD(x, MAGIC_US, {1, 10}, {3, 30}, {4, 5}, {6, 50});
	ADD(x, MAGIC_US, {2, 20}, {5, 40}, {7, 60}, {8, 1});
	open_all(&s, x);
	for (uint8_t i = 1; i <= 8; i++)
		expect_frame(&s, i, i);
	expect_end(&s);
	cap_set_close(&s);
}

/* What has no times is behind the one named before it, and that as a whole. */
static void test_no_times(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;

	ADD(x, MAGIC_US, {1, 10}, {3, 30});
	add_simple(x, 4, 2);
	add_simple(x, 6, 1);
	ADD(x, MAGIC_US, {2, 20}, {7, 40});
	open_all(&s, x);
	for (uint8_t i = 1; i <= 7; i++)
		expect_frame(&s, i, i);
	expect_end(&s);
	expect_at(&s, 4, x->paths[1], 1);
	expect_at(&s, 6, x->paths[2], 1);
	expect_at(&s, 7, x->paths[3], 2);
	cap_set_close(&s);
}

/* A capture may begin at the time 0, and has times all the same. */
static void test_time_zero(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;

	add(x, 0, 2, 1, false);
	add(x, 1, 3, 1, false);
	add(x, 0, 2, 1, false);
	open_all(&s, x);
	expect_frame(&s, 1, 2);
	expect_frame(&s, 2, 2);
	expect_frame(&s, 3, 3);
	expect_end(&s);
	cap_set_close(&s);
}

/* One of those that are read at the same time is cut off: the others go on. */
static void test_one_of_the_merged_is_cut(void **state)
{
	struct fixture *x = *state;
	struct cap_set s;

	add(x, 100, 1, 3, true);
	add(x, 101, 12, 3, false);
	open_all(&s, x);
	expect_frame(&s, 1, 1);
	expect_frame(&s, 2, 2);
	expect_bad(&s, x->paths[0], "cut off in frame 3");
	for (uint8_t i = 0; i < 3; i++)
		expect_frame(&s, 3 + i, 12 + i);
	expect_end(&s);
	expect_at(&s, 5, x->paths[1], 3);
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
		cmocka_unit_test_setup_teardown(test_merged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times_go_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time_zero, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_of_the_merged_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
