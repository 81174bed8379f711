/* SPDX-License-Identifier: BSD-2-Clause */
/* Error sentences: where they point to, and that nobody else's bytes reach a terminal in them. */
#include "host/config_error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

#define SHOWN (sizeof((struct config_shown *)0)->text - 1)

static void test_show_replaces_control_bytes(void **state)
{
	struct config_shown s;

	assert_string_equal(config_show(&s, ""), "");
	assert_string_equal(config_show(&s, "plain text"), "plain text");
	assert_string_equal(config_show(&s, "\x1b[2Ja\nb\tc\x7f"), "?[2Ja?b?c?");
	/* The bytes of UTF-8 are left alone. */
	assert_string_equal(config_show(&s, "k\xc3\xb6ln"), "k\xc3\xb6ln");
	assert_ptr_equal(config_show(&s, "x"), s.text);
}

static void test_show_cuts(void **state)
{
	struct config_shown s;
	char text[3 * SHOWN];

	memset(text, 'a', sizeof text);
	text[SHOWN] = '\0';
	assert_string_equal(config_show(&s, text), text);
	text[SHOWN] = 'a';
	text[SHOWN + 1] = '\0';
	assert_int_equal(strlen(config_show(&s, text)), SHOWN);
	assert_string_equal(s.text + SHOWN - 4, "a...");
	text[SHOWN + 1] = 'a';
	text[sizeof text - 1] = '\0';
	assert_int_equal(strlen(config_show(&s, text)), SHOWN);
	assert_string_equal(s.text + SHOWN - 4, "a...");
}

static void test_complain_names_the_place(void **state)
{
	const struct config_place line = {.path = "a.conf", .line = 7}, file = {.path = "a.conf"};
	const struct config_place set = {.source = "UIWARP_SET"},
				  hostile = {.path = "a\033]0;b", .line = 1};
	struct config_error e;

	assert_int_equal(config_complain(&e, -EINVAL, NULL, "no %s", "place"), -EINVAL);
	assert_string_equal(e.text, "no place");
	assert_int_equal(config_complain(&e, -ENOENT, &file, "gone"), -ENOENT);
	assert_string_equal(e.text, "a.conf: gone");
	assert_int_equal(config_complain(&e, -EINVAL, &line, "%d", 42), -EINVAL);
	assert_string_equal(e.text, "a.conf, line 7: 42");
	assert_int_equal(config_complain(&e, -EINVAL, &set, "wrong"), -EINVAL);
	assert_string_equal(e.text, "UIWARP_SET: wrong");
	config_complain(&e, -EINVAL, &hostile, "wrong");
	assert_string_equal(e.text, "a?]0;b, line 1: wrong");
}

/* A sentence that is too long is cut, and keeps its place. */
static void test_complain_cuts(void **state)
{
	const struct config_place line = {.path = "a.conf", .line = 7};
	char text[2 * sizeof((struct config_error *)0)->text];
	struct {
		struct config_error e;
		char behind;
	} x = {.behind = 'z'};

	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = '\0';
	config_complain(&x.e, -EINVAL, &line, "%s", text);
	assert_int_equal(strlen(x.e.text), sizeof x.e.text - 1);
	assert_memory_equal(x.e.text, "a.conf, line 7: aaa", 19);
	assert_int_equal(x.behind, 'z');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show_replaces_control_bytes),
		cmocka_unit_test(test_show_cuts),
		cmocka_unit_test(test_complain_names_the_place),
		cmocka_unit_test(test_complain_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
