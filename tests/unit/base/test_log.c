/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

struct seen {
	unsigned lines;
	enum log_level level;
	char text[600];
};

static void take(void *ctx, enum log_level level, const char *text)
{
	struct seen *s = ctx;

	s->lines++;
	s->level = level;
	assert_true(strlen(text) < sizeof s->text);
	strcpy(s->text, text);
}

static void formats_up_to_its_level(void **state)
{
	struct seen seen = {0};
	struct log_sink sink = {take, &seen, LOG_LEVEL_WARNING};

	log_printf(&sink, LOG_LEVEL_WARNING, "%s is %d", "answer", 42);
	assert_int_equal(seen.lines, 1);
	assert_int_equal(seen.level, LOG_LEVEL_WARNING);
	assert_string_equal(seen.text, "answer is 42");
	log_printf(&sink, LOG_LEVEL_INFO, "not wanted");
	assert_int_equal(seen.lines, 1);
}

static void silence_and_length(void **state)
{
	struct seen seen = {0};
	struct log_sink sink = {take, &seen, LOG_LEVEL_DEBUG};
	struct log_sink silent = {NULL, NULL, LOG_LEVEL_DEBUG};

	log_printf(NULL, LOG_LEVEL_ERROR, "nobody");
	log_printf(&silent, LOG_LEVEL_ERROR, "nobody");
	log_printf(&sink, LOG_LEVEL_DEBUG, "%700s", "x");
	assert_int_equal(strlen(seen.text), 511);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_up_to_its_level),
		cmocka_unit_test(silence_and_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
