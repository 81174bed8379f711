/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp plot, of records that are good and others. */
#include "support/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST                                                                      \
	"{\"format\": \"uiwarp stat --record\", \"version\": 1, \"begun_ns\": 5, " \
	"\"interval_ns\": 6}\n"
#define STACK(time, pid, stack, qp)                                                       \
	"{\"time_ns\": " #time ", \"pid\": " #pid ", \"socket\": \"telemetry." #pid stack \
	"\", \"qp\": " #qp ", \"remote\": \"h:" #qp "\"}\n"
#define ROW(time, pid, qp)                                                                        \
	"{\"time_ns\": " #time ", \"pid\": " #pid ", \"qp\": " #qp ", \"remote\": \"h:" #qp "\"}" \
	"\n"

static struct child c;
static char directory[64], record[80], page[90], text[8192];

#define RUN(...) child_run(&c, (const char *const[]){UIWARP, "plot", __VA_ARGS__, NULL}, NULL)

static int setup(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-plot.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(record, sizeof record, "%s/r.jsonl", directory);
	snprintf(page, sizeof page, "%s.html", record);
	return 0;
}

static int teardown(void **state)
{
	unlink(record);
	unlink(page);
	return rmdir(directory);
}

static void write_record(const char *all)
{
	FILE *f = fopen(record, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(all, 1, strlen(all), f), strlen(all));
	assert_int_equal(fclose(f), 0);
	unlink(page);
}

static void page_has(const char *what)
{
	FILE *f = fopen(page, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_non_null(strstr(text, what));
}

/** One sentence, status 1, and no page. */
static void fails(const char *sentence)
{
	char expected[400];

	snprintf(expected, sizeof expected, "uiwarp plot: %s: %s\n", record, sentence);
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.err, expected);
	assert_string_equal(c.out, "");
	assert_int_not_equal(access(page, F_OK), 0);
}

static void a_page_beside_the_record(void **state)
{
	write_record(FIRST ROW(0, 7, 3) ROW(1000000000, 7, 3) ROW(1000000000, 8, 4));
	RUN(record);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.err, "");
	page_has("<td><a href='#c2'> (8), QP 4,  - h:4</a></td>");
}

static void one_is_chosen(void **state)
{
	write_record(FIRST ROW(0, 7, 3) ROW(0, 8, 4) ROW(0, 8, 5));
	RUN(record, "--pid", "8", "--qp", "5", "-o", "-");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "<svg "), 1);
	assert_int_equal(child_count(c.out, "QP 5"), 2);
	RUN(record, "--pid", "9");
	fails("there is no such connection to draw");
}

static void a_stack_is_chosen_as_it_is_shown(void **state)
{
	write_record(FIRST STACK(0, 7, "", 3) STACK(0, 7, ".1", 4));
	RUN(record);
	assert_int_equal(child_exit(&c), 0);
	page_has("<td><a href='#c2'> (7.1), QP 4,  - h:4</a></td>");
	RUN(record, "--pid", "7.1", "-o", "-");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "<svg "), 1);
	assert_int_equal(child_count(c.out, "QP 4"), 2);
	RUN(record, "--pid=7.0", "-o", "-");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "<svg "), 1);
	assert_int_equal(child_count(c.out, "QP 3"), 2);
	RUN(record, "--pid", "7", "-o", "-");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "<svg "), 2);
}

static void what_cannot_be_drawn(void **state)
{
	write_record("");
	RUN(record);
	fails("it is empty");
	write_record("<html>\n");
	RUN(record);
	fails("it is no record of \"uiwarp stat --record\"");
	write_record(FIRST);
	RUN(record);
	fails("there is no such connection to draw");
	write_record(FIRST "{]\n");
	RUN(record);
	fails("line 2: it is not an object of JSON");
	RUN(directory);
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, ": Is a directory\n"));
	RUN("/no/such");
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.err, "uiwarp plot: /no/such: No such file or directory\n");
}

static void the_record_is_kept(void **state)
{
	struct stat st;

	write_record(FIRST ROW(0, 7, 3));
	RUN(record, "-o", record);
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "that is the record itself"));
	assert_int_equal(stat(record, &st), 0);
	assert_int_not_equal(st.st_size, 0);
	RUN(record, "-o", "/dev/full");
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.err, "uiwarp plot: /dev/full: No space left on device\n");
}

static void a_cut_record_is_drawn(void **state)
{
	write_record(FIRST ROW(0, 7, 3) "{\"time_ns\": 5, \"pi");
	RUN(record);
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(strstr(c.err, "the last line is cut off"));
	page_has("QP 3");
}

static void wrong_command_lines(void **state)
{
	RUN("--qp", "3");
	assert_int_equal(child_exit(&c), 2);
	RUN("a", "b");
	assert_int_equal(child_exit(&c), 2);
	RUN("a", "--qp", "0");
	assert_int_equal(child_exit(&c), 2);
	RUN("a", "--pid", "x");
	assert_int_equal(child_exit(&c), 2);
	RUN("a", "--pid", "7.x");
	assert_int_equal(child_exit(&c), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_beside_the_record),
		cmocka_unit_test(one_is_chosen),
		cmocka_unit_test(a_stack_is_chosen_as_it_is_shown),
		cmocka_unit_test(what_cannot_be_drawn),
		cmocka_unit_test(the_record_is_kept),
		cmocka_unit_test(a_cut_record_is_drawn),
		cmocka_unit_test(wrong_command_lines),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
