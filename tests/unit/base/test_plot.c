/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/plot.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char text[1 << 20];

/** Write the plot, read it back and remove it. */
static void draw(const struct plot_panel *panel, unsigned n, double x_min, double x_max)
{
	char path[] = "/tmp/uiwarp-plot.XXXXXX";
	int fd = mkstemp(path);
	size_t len;
	FILE *f;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(plot_write(path, "a < b & c", "time, s", x_min, x_max, panel, n), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	len = fread(text, 1, sizeof text - 1, f);
	text[len] = '\0';
	fclose(f);
	unlink(path);
}

static unsigned count(const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void a_line_goes_through_its_points(void **state)
{
	static const double x[] = {0, 1, 2}, y[] = {0, 100, 50};
	struct plot_panel p = {.label = "MB", .n = 1, .series = {{"one", PLOT_LINE, 0, 3, x, y}}};

	draw(&p, 1, 0, 2);
	assert_non_null(strstr(text, "<svg "));
	assert_string_equal(text + strlen(text) - 7, "</svg>\n");
	assert_non_null(strstr(text, "a &lt; b &amp; c"));
	assert_non_null(strstr(text, "time, s"));
	assert_non_null(strstr(text, ">MB<"));
	assert_non_null(strstr(text, ">one<"));
	/* From below left over the top, 5 % under the edge, to the right. */
	assert_non_null(strstr(text, "M90.0 280.0L570.0 51.4L1050.0 165.7"));
}

/** A missing point is a gap, and so is what lies beyond the axis. */
static void gaps_are_left_out(void **state)
{
	const double x[] = {-1, 0, 1, 2, 3, 4, 5}, y[] = {9, 1, 2, NAN, 2, 1, 9};
	struct plot_panel p = {.label = "", .n = 1, .series = {{NULL, PLOT_LINE, 0, 7, x, y}}};

	draw(&p, 1, 0, 4);
	assert_int_equal(count("NaN") + count("nan"), 0);
	assert_non_null(strstr(text, "M90.0 165.7L330.0 51.4M810.0 51.4L1050.0 165.7'"));
}

/** However many points there are: at most four for each column of pixels. */
static void many_points_cost_no_more_than_pixels(void **state)
{
	enum { N = 200000 };
	double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
	struct plot_panel p = {.label = "", .n = 1};

	assert_true(x && y);
	for (int i = 0; i < N; i++) {
		x[i] = i;
		y[i] = i % 1000;
	}
	p.series[0] = (struct plot_series){"many", PLOT_LINE, 1, N, x, y};
	draw(&p, 1, 0, N);
	assert_true(strlen(text) < 100000);
	free(x);
	free(y);
}

static void steps_and_dots(void **state)
{
	const double x[] = {0, 1, 1, 2}, y[] = {1, 2, 2, 4};
	struct plot_panel p = {.label = "", .n = 1, .series = {{NULL, PLOT_STEPS, 0, 4, x, y}}};

	draw(&p, 1, 0, 2);
	assert_non_null(strstr(text, "H570.0V"));
	p.series[0].kind = PLOT_DOTS;
	draw(&p, 1, 0, 2);
	assert_int_equal(count("h0"), 3); /* two are on one pixel */
}

/** Nothing to draw, no range, all the same value: axes all the same, and no endless loop. */
static void degenerate_ranges(void **state)
{
	const double x[] = {1, 2}, y[] = {7, 7}, none[] = {NAN, NAN};
	struct plot_panel p[3] = {
		{.label = "empty"},
		{.label = "flat",
			.not_from_zero = true,
			.n = 1,
			.series = {{NULL, PLOT_LINE, 9, 2, x, y}}},
		{.label = "nothing known", .n = 1, .series = {{NULL, PLOT_DOTS, 0, 2, x, none}}},
	};

	draw(p, 3, 5, 5);
	assert_int_equal(count("<rect x="), 3);
	assert_int_equal(count("nan") + count("inf"), 0);
}

static void a_file_that_cannot_be(void **state)
{
	struct plot_panel p = {.label = ""};

	assert_int_equal(plot_write("/nonexistent/plot.svg", "", "", 0, 1, &p, 1), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_goes_through_its_points),
		cmocka_unit_test(gaps_are_left_out),
		cmocka_unit_test(many_points_cost_no_more_than_pixels),
		cmocka_unit_test(steps_and_dots),
		cmocka_unit_test(degenerate_ranges),
		cmocka_unit_test(a_file_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
