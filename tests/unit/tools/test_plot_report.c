/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/plot_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static struct plot_record p;
static char *html;

static void add(struct telemetry_row r, uint64_t seconds)
{
	r.connected = true;
	plot_record_add(&p, &r, seconds * UINT64_C(1000000000));
}

static void draw(const char *name, double begun)
{
	size_t len;
	FILE *out;

	free(html);
	html = NULL;
	out = open_memstream(&html, &len);
	assert_non_null(out);
	plot_report_write(out, &p, name, begun);
	assert_int_equal(fclose(out), 0);
}

static int teardown(void **state)
{
	plot_record_free(&p);
	free(html);
	html = NULL;
	return 0;
}

static unsigned times(const char *word)
{
	unsigned n = 0;

	for (const char *at = html; (at = strstr(at, word)) != NULL; at++)
		n++;
	return n;
}

static void a_page_of_two(void **state)
{
	for (uint64_t i = 0; i < 4; i++) {
		add((struct telemetry_row){.pid = 7,
			    .program = "<b>&",
			    .qp = 3,
			    .state = "RTS",
			    .local = "10.0.0.1:1",
			    .remote = "10.0.0.2:2",
			    .cc = "bbr",
			    .min_rtt = 12000,
			    .retransmits = 1000 + i,
			    .bytes_acked = 5 + i * 1000000},
			i);
		add((struct telemetry_row){.pid = 8, .program = "tcp", .remote = "10.0.0.3:2"}, i);
	}
	draw("a<b.jsonl", 1e9);
	assert_int_equal(strncmp(html, "<!DOCTYPE html>", 15), 0);
	assert_non_null(strstr(html, "a&lt;b.jsonl"));
	assert_non_null(strstr(html, "Recorded from 2001-09-09 01:46:40 UTC on."));
	/* In the table, and over the plots. */
	assert_int_equal(times("&lt;b&gt;&amp; (7), QP 3, 10.0.0.1:1 - 10.0.0.2:2"), 2);
	assert_null(strstr(html, "<b>"));
	assert_non_null(strstr(html, "<td>1.0M</td>"));
	assert_non_null(strstr(html, "<td>12.0us</td><td>3</td><td>bbr</td>"));
	assert_int_equal(times("<svg "), 2);
	assert_int_equal(times("goodput, Mbit/s"), 2);
	assert_int_equal(times("RTT, us"), 2);
	assert_int_equal(times("congestion window"), 2);
	assert_int_equal(times("segments sent again"), 2);
	/* What has no QP has no queues. */
	assert_int_equal(times("send queue"), 1);
	/* 8 Mbit/s all the time: 5 % under the edge, over the whole width. */
	assert_non_null(strstr(html, "M90.0 51.4H410.0V51.4H730.0V51.4H1050.0V51.4"));
	assert_non_null(strstr(html, "text-anchor='end'>8</text>"));
	assert_non_null(strstr(html, "<a href='#c1'>"));
	assert_non_null(strstr(html, "<div id='c1'>"));
	assert_null(strstr(html, "src="));
	assert_non_null(strstr(html, "</svg>\n</div>\n</body>\n</html>\n"));
}

/** One sample, times that stand still, counts that go back, numbers beyond all: a page all the
 * same, without what is no number. */
static void strange_records_are_drawn(void **state)
{
	add((struct telemetry_row){.pid = 1, .qp = 1, .srtt = UINT64_MAX, .bytes_acked = 9}, 5);
	add((struct telemetry_row){.pid = 2, .qp = 1, .bytes_acked = UINT64_MAX}, 5);
	add((struct telemetry_row){.pid = 2, .qp = 1, .bytes_acked = 1, .retransmits = 9}, 5);
	add((struct telemetry_row){.pid = 2, .qp = 1, .cwnd = UINT64_MAX}, 6);
	add((struct telemetry_row){.pid = 2, .qp = 1}, 9000000000);
	draw("x", 1e300);
	assert_int_equal(times("<svg "), 2);
	assert_int_equal(times("nan") + times("inf"), 0);
	assert_non_null(strstr(html, "1970-01-01 00:00:00 UTC"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_page_of_two, teardown),
		cmocka_unit_test_teardown(strange_records_are_drawn, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
