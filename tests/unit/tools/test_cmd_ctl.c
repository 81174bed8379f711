/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp ctl, telling this test what to change. */
#include "asked.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void changed_to(const char *what, const char *expected)
{
	char copy[512];

	pthread_mutex_lock(&changing);
	memcpy(copy, what, sizeof copy);
	pthread_mutex_unlock(&changing);
	assert_string_equal(copy, expected);
}

static void a_process_is_told(void **state)
{
	char cwd[400], expected[500];

	RUN("ctl", pid, "log=debug");
	assert_int_equal(child_exit(&c), 0);
	changed_to(log_level, "debug");
	RUN("ctl", pid, "capture=/tmp/a,b", "capture_size=1M", "capture_files=7");
	assert_int_equal(child_exit(&c), 0);
	changed_to(capture, "1048576,7,/tmp/a,b");
	RUN("ctl", pid, "capture=x");
	assert_non_null(getcwd(cwd, sizeof cwd));
	snprintf(expected, sizeof expected, "0,4,%s/x", cwd);
	changed_to(capture, expected);
	RUN("ctl", pid, "capture=off");
	changed_to(capture, "off");
	RUN("ctl", pid, "capture=/full");
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "no room"));
	RUN("ctl", pid, "log=loud");
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "not so"));
}

static void wrong_command_lines(void **state)
{
	RUN("ctl", pid);
	assert_int_equal(child_exit(&c), 2);
	RUN("ctl", "log=info");
	assert_int_equal(child_exit(&c), 2);
	RUN("ctl", pid, "sound=on");
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "the keys are"));
	RUN("ctl", pid, "capture=x", "capture_size=1");
	assert_int_equal(child_exit(&c), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_told),
		cmocka_unit_test(wrong_command_lines),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
