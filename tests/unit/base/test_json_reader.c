/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct json_reader r;
static char *copy;

/** Begin to read @p text, from memory that ends with it. */
static void begin(const char *text)
{
	size_t len = strlen(text);

	free(copy);
	copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, text, len);
	json_reader_init(&r, copy, len);
}

static int teardown(void **state)
{
	free(copy);
	return 0;
}

static void a_row_is_read(void **state)
{
	struct json_reader_key key;
	uint64_t number = 7, sum = 0;
	char text[8];

	begin(" {\"a\" : 18446744073709551615, \"b\":\"x\\\"y\",\n\"c\":[1,2 , 3],\"d\":{\"e\":[]},"
	      "\"f\":null} ");
	assert_true(json_reader_object(&r));
	assert_true(json_reader_member(&r, &key));
	assert_true(json_reader_key_is(&key, "a"));
	assert_false(json_reader_key_is(&key, "ab"));
	assert_false(json_reader_key_is(&key, ""));
	assert_true(json_reader_number(&r, &number));
	assert_true(number == UINT64_MAX);
	assert_true(json_reader_member(&r, &key));
	assert_true(json_reader_string(&r, text, sizeof text));
	assert_string_equal(text, "x\"y");
	assert_true(json_reader_member(&r, &key));
	assert_true(json_reader_array(&r));
	while (json_reader_element(&r)) {
		assert_true(json_reader_number(&r, &number));
		sum += number;
	}
	assert_int_equal(sum, 6);
	assert_true(json_reader_member(&r, &key));
	assert_true(json_reader_key_is(&key, "d"));
	json_reader_skip(&r);
	assert_true(json_reader_member(&r, &key));
	assert_true(json_reader_key_is(&key, "f"));
	assert_false(json_reader_end(&r));
	json_reader_skip(&r);
	assert_false(json_reader_member(&r, &key));
	assert_true(json_reader_end(&r));
}

/** What is asked for is something else: it is passed over, and the next value is right. */
static void other_kinds_are_passed_over(void **state)
{
	static const char *const values[] = {"{\"a\":[1,{}]}", "[[],[0]]", "true", "false", "null",
		"\"1\"", "-1", "1.0", "1e2", "18446744073709551616", "-0.5E-7"};
	char text[80], word[4] = "is";
	uint64_t number = 7;

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		snprintf(text, sizeof text, "[%s,5]", values[i]);
		begin(text);
		assert_true(json_reader_array(&r));
		assert_true(json_reader_element(&r));
		assert_false(json_reader_number(&r, &number));
		assert_int_equal(number, 7);
		assert_true(json_reader_element(&r));
		assert_false(json_reader_string(&r, word, sizeof word));
		assert_string_equal(word, "is");
		assert_false(json_reader_element(&r));
		assert_true(json_reader_end(&r));
	}
	begin("[1, {}]");
	assert_true(json_reader_array(&r));
	assert_true(json_reader_element(&r));
	assert_false(json_reader_object(&r));
	assert_true(json_reader_element(&r));
	assert_false(json_reader_array(&r));
	assert_false(json_reader_element(&r));
	assert_true(json_reader_end(&r));
}

static void escapes_become_what_they_mean(void **state)
{
	static const struct {
		const char *from, *to;
	} t[] = {
		{"\"\"", ""},
		{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
		{"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
		{"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
		{"\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf"},
		{"\"\\ud83dx\"", "\xef\xbf\xbdx"},
		{"\"\\ud83d\\n\"", "\xef\xbf\xbd\n"},
		{"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
				       "A"},
		{"\"\\ude00\"", "\xef\xbf\xbd"},
		{"\"\xc3\xa9\"", "\xc3\xa9"},
	};
	char text[16];

	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		begin(t[i].from);
		assert_true(json_reader_string(&r, text, sizeof text));
		assert_string_equal(text, t[i].to);
		assert_true(json_reader_end(&r));
	}
}

static void a_long_string_is_cut(void **state)
{
	char text[5];

	begin("[\"abcdef\", \"abc\\u00e9\", \"abcd\"]");
	assert_true(json_reader_array(&r));
	assert_true(json_reader_element(&r));
	assert_true(json_reader_string(&r, text, sizeof text));
	assert_string_equal(text, "abcd");
	assert_true(json_reader_element(&r));
	assert_true(json_reader_string(&r, text, sizeof text));
	assert_string_equal(text, "abc");
	assert_true(json_reader_element(&r));
	assert_true(json_reader_string(&r, text, 1));
	assert_string_equal(text, "");
	assert_false(json_reader_element(&r));
	assert_true(json_reader_end(&r));
}

static void what_is_no_json_is_refused(void **state)
{
	static const char *const bad[] = {"", " ", "{", "[", "{\"a\"", "{\"a\":", "{\"a\":1",
		"{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1",
		"[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{\"a\":1]", "]", "}", "1 2", "01", "-",
		"-x", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "tru", "trux", "nul", "fals",
		"\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u123", "\"\\u12g4\"", "\"\n\"",
		"\"\x01\"", "'a'", "{\"a\":1}}", "{1:2}", "\x80"};
	struct json_reader_key key;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		begin(bad[i]);
		json_reader_skip(&r);
		if (json_reader_end(&r))
			fail_msg("\"%s\" was taken", bad[i]);
	}
	/* After it nothing is read. */
	begin("[x, 1]");
	assert_true(json_reader_array(&r));
	assert_true(json_reader_element(&r));
	json_reader_skip(&r);
	assert_true(r.failed);
	assert_false(json_reader_element(&r));
	assert_false(json_reader_member(&r, &key));
	assert_false(json_reader_object(&r));
	assert_false(json_reader_end(&r));
}

static void all_of_json_is_taken(void **state)
{
	static const char *const good[] = {"{}", "[]", "0", "-0", "1", "10.25", "1E9", "1e+9",
		"-1.5e-9", "true", "false", "null", "\"\"", " \t\r\n1 \t\r\n", "[[],{},[{}]]",
		"{\"\":{\"\\u0000\":[1,\"a\",null]}}", "\"\x7f\""};

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		begin(good[i]);
		json_reader_skip(&r);
		if (!json_reader_end(&r))
			fail_msg("\"%s\" was refused", good[i]);
	}
}

/** A peer's depth costs no stack. */
static void depth_has_a_limit(void **state)
{
	char text[2 * 65 + 1] = "";

	for (size_t depth = 64; depth <= 65; depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		begin(text);
		json_reader_skip(&r);
		assert_int_equal(json_reader_end(&r), depth == 64);
	}
	for (size_t i = 0; i < 60; i += 5)
		memcpy(text + i, "{\"\":[", 5);
	text[60] = '\0';
	begin(text);
	json_reader_skip(&r);
	assert_false(json_reader_end(&r));
}

/** As from a peer that has not answered. */
static void no_text_is_no_json(void **state)
{
	json_reader_init(&r, NULL, 0);
	assert_false(json_reader_object(&r));
	assert_false(json_reader_end(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_is_no_json),
		cmocka_unit_test(a_row_is_read),
		cmocka_unit_test(other_kinds_are_passed_over),
		cmocka_unit_test(escapes_become_what_they_mean),
		cmocka_unit_test(a_long_string_is_cut),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(all_of_json_is_taken),
		cmocka_unit_test(depth_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
