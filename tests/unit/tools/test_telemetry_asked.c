/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct telemetry_asked asked;

static void a_process_or_a_stack_of_it(void **state)
{
	assert_true(telemetry_asked_parse("2147483647", &asked));
	assert_int_equal(asked.pid, INT32_MAX);
	assert_int_equal(asked.stack, 0);
	assert_true(telemetry_asked_parse("7.0", &asked));
	assert_int_equal(asked.pid, 7);
	assert_int_equal(asked.stack, 1);
	assert_true(telemetry_asked_parse("7.65535", &asked));
	assert_int_equal(asked.stack, 65536);
}

static void nothing_else(void **state)
{
	static const char *const other[] = {"", "0", "07", "-1", "+1", " 1", "1 ", "x",
		"2147483648", "99999999999999999999", "7.", ".1", "7.x", "7.-1", "7.1.", "7.1.1",
		"7.65536"};

	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
		assert_false(telemetry_asked_parse(other[i], &asked));
}

/** A record may name any socket: one that is no name of the process's is of its first stack. */
static void a_socket_is_of_a_stack(void **state)
{
	static const char *const first[] = {"telemetry.7", "telemetry.7.0", "", "7.2",
		"telemetry.8.2", "telemetry.7.2x", "telemetry.7.2.2"};
	const struct telemetry_asked all = {7, 0}, stack_0 = {7, 1}, stack_2 = {7, 3};

	for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
		assert_true(telemetry_asked_is(&all, 7, first[i]));
		assert_true(telemetry_asked_is(&stack_0, 7, first[i]));
		assert_false(telemetry_asked_is(&stack_2, 7, first[i]));
	}
	assert_true(telemetry_asked_is(&all, 7, "telemetry.7.2"));
	assert_true(telemetry_asked_is(&stack_2, 7, "telemetry.7.2"));
	assert_false(telemetry_asked_is(&stack_0, 7, "telemetry.7.2"));
	assert_false(telemetry_asked_is(&all, 8, "telemetry.7.2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_or_a_stack_of_it),
		cmocka_unit_test(nothing_else),
		cmocka_unit_test(a_socket_is_of_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
