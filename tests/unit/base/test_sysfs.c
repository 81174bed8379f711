/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sysfs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

static char path[] = "/tmp/uiw-sysfs.XXXXXX";
static int file;

static void put(const char *text)
{
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(pwrite(file, text, strlen(text), 0), strlen(text));
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
	} files[] = {
		{"42\n", 42},
		{"42", 42},
		{"0\n", 0},
		{"010\n", 10},
		{"0x15b3\n", 0x15b3},
		{"0x020000\n", 0x20000},
		{"18446744073709551615\n", UINT64_MAX},
		{"0xffffffffffffffff\n", UINT64_MAX},
		{"18446744073709551616\n", 0},
		{"00000000000000000000000000000042\n", 0},
		{"-1\n", 0},
		{" 42\n", 0},
		{"+42\n", 0},
		{"42 43\n", 0},
		{"42kB\n", 0},
		{"0x\n", 0},
		{"x15b3\n", 0},
		{"", 0},
		{"\n", 0},
		{"nonsense\n", 0},
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		put(files[i].text);
		assert_int_equal(sysfs_number(path), files[i].number);
		assert_int_equal(sysfs_number_of(file), files[i].number);
	}
}

/** One descriptor tells of what the number is now. */
static void a_number_that_changes(void **state)
{
	int fd = open(path, O_RDONLY);

	put("1\n");
	assert_int_equal(sysfs_number_of(fd), 1);
	put("20\n");
	assert_int_equal(sysfs_number_of(fd), 20);
	assert_int_equal(sysfs_number_of(fd), 20);
	close(fd);
}

static void what_cannot_be_read(void **state)
{
	int pipes[2];

	assert_int_equal(sysfs_number("/tmp/no/such/file"), 0);
	assert_int_equal(sysfs_number("/tmp"), 0);
	assert_int_equal(sysfs_number_of(-1), 0);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(sysfs_number_of(pipes[0]), 0);
	close(pipes[0]);
	close(pipes[1]);
}

static int setup(void **state)
{
	file = mkstemp(path);
	return file < 0;
}

static int teardown(void **state)
{
	close(file);
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(a_number_that_changes),
		cmocka_unit_test(what_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
