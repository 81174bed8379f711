/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stat_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST                                                                      \
	"{\"format\": \"uiwarp stat --record\", \"version\": 1, \"begun_ns\": 5, " \
	"\"interval_ns\": 6}\n"

static struct stat_record_reader reader;
static struct telemetry_row row;
static char *text;

/** Begin to read @p size bytes. */
static void begin(const void *bytes, size_t size)
{
	if (reader.in)
		fclose(reader.in);
	free(text);
	text = malloc(size + 1);
	assert_non_null(text);
	memcpy(text, bytes, size);
	reader = (struct stat_record_reader){.in = fmemopen(text, size ? size : 1, "r")};
	assert_non_null(reader.in);
	/* fmemopen() of nothing is an error for some. */
	if (!size)
		assert_int_not_equal(fgetc(reader.in), EOF);
}

static int teardown(void **state)
{
	if (reader.in)
		fclose(reader.in);
	free(text);
	return 0;
}

/** Read all of it. @return how it ended. */
static enum stat_record_result ends(const char *all)
{
	enum stat_record_result found;

	begin(all, strlen(all));
	while ((found = stat_record_read(&reader, &row)) == STAT_RECORD_ROW)
		;
	return found;
}

static void refused(const char *all, const char *why)
{
	assert_int_equal(ends(all), STAT_RECORD_BAD);
	assert_string_equal(reader.error, why);
}

static void samples_come_back(void **state)
{
	struct telemetry_row rows[2] = {
		{.pid = 1, .qp = 2, .state = "RTS"}, {.pid = 3,
							     .state = "ESTABLISHED",
							     .connected = true,
							     .srtt = 5000,
							     .remote = "a:1"}};
	struct telemetry_sample s = {.row = rows, .n = 2};
	char *written = NULL;
	size_t len;
	FILE *out = open_memstream(&written, &len);

	assert_non_null(out);
	assert_int_equal(stat_record_begin(out, 1000.5, 0.25), 0);
	assert_int_equal(stat_record_write(out, &s, 0), 0);
	assert_int_equal(stat_record_write(out, &s, 250000000), 0);
	fclose(out);
	begin(written, len);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(stat_record_read(&reader, &row), STAT_RECORD_ROW);
		assert_int_equal(row.pid, rows[i % 2].pid);
		assert_int_equal(row.qp, rows[i % 2].qp);
		assert_string_equal(row.state, rows[i % 2].state);
		assert_int_equal(row.connected, i % 2);
		assert_int_equal(row.srtt, rows[i % 2].srtt);
		assert_int_equal(reader.time_ns, i / 2 * 250000000);
	}
	assert_int_equal(stat_record_read(&reader, &row), STAT_RECORD_END);
	assert_false(reader.cut);
	assert_true(reader.begun == 1000.5);
	assert_true(reader.interval == 0.25);
	free(written);
}

/** All that can be in a row has room in a line. */
static void the_longest_line_fits(void **state)
{
	struct telemetry_row r;
	struct telemetry_sample s = {.row = &r, .n = 1};
	char *written = NULL;
	size_t len;
	FILE *out = open_memstream(&written, &len);

	memset(&r, 0xff, sizeof r);
	r.connected = true;
	r.srtt = r.min_rtt = UINT64_MAX;
	for (char *t = r.socket; t < r.cc + sizeof r.cc; t++)
		*t = '"';
	r.socket[sizeof r.socket - 1] = r.directory[sizeof r.directory - 1] = '\0';
	r.program[sizeof r.program - 1] = r.device[sizeof r.device - 1] = '\0';
	r.state[sizeof r.state - 1] = r.local[sizeof r.local - 1] = '\0';
	r.remote[sizeof r.remote - 1] = r.cc[sizeof r.cc - 1] = '\0';
	assert_non_null(out);
	assert_int_equal(stat_record_write(out, &s, UINT64_MAX), 0);
	fclose(out);
	assert_true(len < STAT_RECORD_LINE);
	free(written);
}

static void writing_fails_with_the_reason(void **state)
{
	struct telemetry_row r = {.pid = 1};
	struct telemetry_sample s = {.row = &r, .n = 1};
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_int_equal(stat_record_write(full, &s, 0), -ENOSPC);
	fclose(full);
}

static void hostile_files_are_refused(void **state)
{
	static char long_line[3 * STAT_RECORD_LINE], deep[3000];
	const char *no_record = "it is no record of \"uiwarp stat --record\"";

	memset(long_line, ' ', sizeof long_line - 1);
	memcpy(long_line, FIRST, strlen(FIRST));
	memset(deep, '[', sizeof deep - 1);
	refused("{}", "line 1: it is no record of \"uiwarp stat --record\"");
	refused("\n", no_record);
	refused("<html>\n", no_record);
	refused(deep, no_record);
	refused("[1]\n", no_record);
	refused(long_line + strlen(FIRST), no_record);
	refused(long_line, "line 2: it is longer than 4096 bytes");
	refused(FIRST "{}\n", "line 2: it has no \"time_ns\"");
	refused(FIRST "{\"time_ns\": -1}\n", "line 2: it has no \"time_ns\"");
	refused(FIRST "{\"time_ns\": 1.5}\n", "line 2: it has no \"time_ns\"");
	refused(FIRST "{\"time_ns\": 99999999999999999999}\n", "line 2: it has no \"time_ns\"");
	refused(FIRST "{\"time_ns\": 1} 2\n", "line 2: it is not an object of JSON");
	refused(FIRST "{\"time_ns\": 2}\n{\"time_ns\": 1}\n",
		"line 3: its time is before that of the line before");
	refused(FIRST "{\"time_ns\n{\"time_ns\": 1}\n", "line 2: it is not an object of JSON");
	refused("{\"format\": \"uiwarp stat --record\", \"version\": 2, \"begun_ns\": 5, "
		"\"interval_ns\": 6}\n",
		"line 1: its version is 2, and only 1 is known");
	begin(FIRST "{\"time_ns\": 1\0}\n", strlen(FIRST) + 16);
	assert_int_equal(stat_record_read(&reader, &row), STAT_RECORD_BAD);
	begin("", 0);
	assert_int_equal(stat_record_read(&reader, &row), STAT_RECORD_BAD);
	assert_string_equal(reader.error, "it is empty");
}

/** Types that are wrong are as if there was nothing, and numbers may be any. */
static void hostile_values_do_no_harm(void **state)
{
	assert_int_equal(ends(FIRST "{\"time_ns\": 1, \"pid\": \"x\", \"qp\": [], \"remote\": 1, "
				    "\"local\": {}, \"srtt_ns\": -1, \"cwnd\": 1e300, "
				    "\"state\": null}\n"),
		STAT_RECORD_END);
	assert_int_equal(row.pid, 0);
	assert_int_equal(row.qp, 0);
	assert_true(row.connected);
	assert_string_equal(row.remote, "");
	assert_int_equal(row.cwnd, 0);
}

/** Whoever wrote it was killed: what is whole is read. */
static void a_cut_line_is_left_out(void **state)
{
	assert_int_equal(
		ends(FIRST "{\"time_ns\": 1, \"pid\": 7}\n{\"time_ns\": 2, \"pi"), STAT_RECORD_END);
	assert_true(reader.cut);
	assert_int_equal(row.pid, 7);
	assert_int_equal(ends(FIRST "{\"time_ns\": 1, \"pid\": 8}"), STAT_RECORD_END);
	assert_false(reader.cut);
	assert_int_equal(row.pid, 8);
}

static void a_directory_is_none(void **state)
{
	if (reader.in)
		fclose(reader.in);
	reader = (struct stat_record_reader){.in = fopen("/tmp", "r")};
	assert_non_null(reader.in);
	assert_int_equal(stat_record_read(&reader, &row), STAT_RECORD_BAD);
	assert_string_equal(reader.error, strerror(EISDIR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_come_back),
		cmocka_unit_test(the_longest_line_fits),
		cmocka_unit_test(writing_fails_with_the_reason),
		cmocka_unit_test(hostile_files_are_refused),
		cmocka_unit_test(hostile_values_do_no_harm),
		cmocka_unit_test(a_cut_line_is_left_out),
		cmocka_unit_test(a_directory_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
