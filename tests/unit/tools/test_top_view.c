/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/top_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A sample of @p n rows, of processes from 10 on, in memory of its own. */
static struct telemetry_sample sample(size_t n)
{
	struct telemetry_sample s = {.n = n, .row = n ? calloc(n, sizeof *s.row) : NULL};

	for (size_t i = 0; i < n; i++)
		s.row[i] = (struct telemetry_row){.pid = 10 + (int)i, .qp = 1 + (uint32_t)i};
	return s;
}

static void arrange(struct top_view *v, struct telemetry_sample *s, size_t n)
{
	free(s->row);
	*s = sample(n);
	top_view_arrange(v, s);
}

static void the_chosen_row_is_followed(void **state)
{
	struct top_view v = {.rows = 24, .columns = 80, .sort = TOP_SORT_PROCESS};
	struct telemetry_sample s = {.n = 0};

	arrange(&v, &s, 3);
	top_view_key(&v, &s, TOP_KEY_DOWN);
	assert_int_equal(v.one.pid, 11);
	v.ascending = true; /* the last comes first */
	arrange(&v, &s, 6);
	assert_int_equal(v.one.pid, 11);
	assert_int_equal(v.chosen, 4);
	free(s.row);
}

/* Keys that are pressed between two samples find it as the last one left it. */
static void a_row_that_has_ended_is_closed_and_another_opened(void **state)
{
	for (size_t left = 0; left < 6; left++) {
		struct top_view v = {.rows = 24, .columns = 80, .sort = TOP_SORT_PROCESS};
		struct telemetry_sample s = {.n = 0};

		arrange(&v, &s, 6);
		top_view_key(&v, &s, TOP_KEY_END);
		top_view_key(&v, &s, '\r');
		assert_true(v.open);
		arrange(&v, &s, left);
		assert_int_equal(v.one.pid, 15); /* it is shown as it was */
		top_view_key(&v, &s, '\r');
		assert_false(v.open);
		top_view_key(&v, &s, '\r');
		assert_int_equal(v.open, left != 0);
		if (left)
			assert_int_equal(v.one.pid, 10 + left - 1);
		free(s.row);
	}
}

/* One line too many, and the terminal scrolls the first away. */
static void no_screen_is_higher_than_the_terminal(void **state)
{
	for (unsigned i = 0; i < 9; i++) {
		static const unsigned rows[] = {24, 10, 2};
		struct top_view v = {.rows = rows[i % 3],
			.columns = 80,
			.open = i / 3 == 1,
			.help = i / 3 == 2,
			.one = {.pid = 10, .qp = 1}};
		struct telemetry_sample s = sample(40);
		unsigned lines = 1;
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_non_null(out);
		top_view_draw(&v, &s, out);
		assert_int_equal(fclose(out), 0);
		for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
			lines++;
		assert_in_range(lines, 1, v.rows);
		if (rows[i % 3] == 24 && v.open)
			assert_non_null(strstr(text, "receives posted"));
		assert_non_null(strstr(text, v.help ? "any key" : v.open ? "back" : "x quit"));
		free(text);
		free(s.row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chosen_row_is_followed),
		cmocka_unit_test(a_row_that_has_ended_is_closed_and_another_opened),
		cmocka_unit_test(no_screen_is_higher_than_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
