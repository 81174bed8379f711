/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static struct json_text j;

static void expect(const char *text)
{
	assert_false(j.failed);
	assert_int_equal(j.len, strlen(text));
	assert_memory_equal(j.text, text, j.len);
	json_text_clear(&j);
}

static int teardown(void **state)
{
	json_text_fini(&j);
	return 0;
}

static void values_of_every_kind(void **state)
{
	json_text_object(&j, NULL);
	json_text_number(&j, "zero", 0);
	json_text_number(&j, "most", INT64_MAX);
	json_text_number(&j, "more", (uint64_t)INT64_MAX + 1);
	json_text_number(&j, "last", UINT64_MAX);
	json_text_integer(&j, "least", INT64_MIN);
	json_text_bool(&j, "yes", true);
	json_text_string(&j, "none", NULL);
	json_text_array(&j, "list");
	json_text_number(&j, NULL, 1);
	json_text_string(&j, NULL, "a");
	json_text_object(&j, NULL);
	json_text_object_end(&j);
	json_text_array_end(&j);
	json_text_key(&j, "no\"");
	json_text_bool(&j, NULL, false);
	json_text_object_end(&j);
	expect("{\"zero\":0,\"most\":9223372036854775807,\"more\":\"9223372036854775808\","
	       "\"last\":\"18446744073709551615\",\"least\":-9223372036854775808,"
	       "\"yes\":true,\"none\":null,\"list\":[1,\"a\",{}],\"no\\\"\":false}");
}

static void strings_of_any_bytes(void **state)
{
	static const struct {
		const char *value, *text;
	} cases[] = {
		{"", "\"\""},
		{"a\"b\\c", "\"a\\\"b\\\\c\""},
		{"\n\x1b\x7f", "\"\\u000a\\u001b\\u007f\""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
			"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"\xed\x9f\xbf\xf4\x8f\xbf\xbf", "\"\xed\x9f\xbf\xf4\x8f\xbf\xbf\""},
		/* Cut short, overlong, surrogates, beyond the last. */
		{"\xc3", "\"\\ufffd\""},
		{"\xe2\x82", "\"\\ufffd\\ufffd\""},
		{"\xc0\x80x", "\"\\ufffd\\ufffdx\""},
		{"\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\""},
		{"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
		{"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
		{"\xff", "\"\\ufffd\""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_text_string(&j, NULL, cases[i].value);
		expect(cases[i].text);
	}
}

/** The text outgrows its memory many times, at any place. */
static void it_grows(void **state)
{
	json_text_array(&j, NULL);
	for (unsigned i = 0; i < 20000; i++)
		json_text_number(&j, NULL, i % 10);
	json_text_array_end(&j);
	assert_int_equal(j.len, 2 + 20000 + 19999);
	for (unsigned i = 0; i < 20000; i++) {
		assert_int_equal(j.text[1 + 2 * i], '0' + i % 10);
		assert_int_equal(j.text[2 + 2 * i], i == 19999 ? ']' : ',');
	}
	json_text_clear(&j);
}

static void an_element_is_taken_back(void **state)
{
	size_t before;

	json_text_array(&j, NULL);
	json_text_number(&j, NULL, 1);
	before = j.len;
	json_text_string(&j, NULL, "too much");
	json_text_cut(&j, before);
	json_text_number(&j, NULL, 2);
	json_text_array_end(&j);
	expect("[1,2]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(values_of_every_kind, teardown),
		cmocka_unit_test_teardown(strings_of_any_bytes, teardown),
		cmocka_unit_test_teardown(it_grows, teardown),
		cmocka_unit_test_teardown(an_element_is_taken_back, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
