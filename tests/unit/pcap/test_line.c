/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_parts(void **state)
{
	struct ip_endpoint e = {.port = 4420};
	struct line l = {0};

	assert_int_equal(ip_addr_parse("10.0.0.1", &e.addr), 0);
	line_add(&l, "%d ", 7);
	line_add_endpoint(&l, &e);
	line_add(&l, " ");
	assert_int_equal(ip_addr_parse("fe80::1", &e.addr), 0);
	line_add_endpoint(&l, &e);
	line_add(&l, " ");
	line_add_seconds(&l, 12000345678);
	line_add(&l, " ");
	line_add_hex(&l, (const uint8_t *)"\1\2\3\xff", 4, 4);
	line_add(&l, " ");
	line_add_hex(&l, (const uint8_t *)"\1\2\3\xff", 4, 2);
	assert_string_equal(l.text, "7 10.0.0.1:4420 [fe80::1]:4420 12.000345 010203ff 0102...");
}

static void test_full(void **state)
{
	struct line l = {0};

	for (int i = 0; i < 1000; i++)
		line_add(&l, "abc");
	assert_int_equal(l.len, sizeof l.text - 1);
	assert_int_equal(strlen(l.text), l.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
