/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/follow.h"
#include "pcap/stats.h"

#include "support/cap_bytes.h"
#include "support/cap_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

/* 10 Sends of 100, a Write of 50 in two segments, three Reads answered in 1, 2 and 3 frames. */
static void make(struct cap_maker *m)
{
	static const uint8_t first[24] = {0x81, 0x40, [5] = 1};
	static const uint8_t last[54] = {0xc1, 0x40, [5] = 1, [13] = 10};

	cap_maker_init(m);
	cap_maker_start(m);
	for (uint32_t i = 1; i <= 10; i++)
		cap_maker_send(m, 0, i, 100);
	cap_maker_fpdu(m, 0, first, sizeof first);
	cap_maker_fpdu(m, 0, last, sizeof last);
	for (uint32_t i = 1; i <= 3; i++) {
		cap_maker_read_request(m, 0, i, 8);
		for (uint32_t k = 1; k < i; k++)
			cap_maker_packet(m, 1, m->seq[1], m->seq[0], 0x10, NULL, 0);
		cap_maker_read_response(m, 1, 0x100, 8);
	}
	cap_maker_packet(m, 0, m->seq[0] - 20, m->seq[1], 0x10, "x", 1);
	cap_maker_fin(m, 0);
	cap_maker_fin(m, 1);
}

static char *run(struct cap_maker *m, struct stats *t)
{
	static const struct follow_config config;
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;
	size_t len;
	char *text;

	t->out = open_memstream(&text, &len);
	assert_non_null(c);
	assert_int_equal(follow_init(&w, &config, &stats_ops, t), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	cap_close(c);
	fclose(t->out);
	cap_maker_free(m);
	return text;
}

static json_int_t number(json_t *o, const char *a, const char *b)
{
	return json_integer_value(json_object_get(json_object_get(o, a), b));
}

static void test_json(void **state)
{
	struct stats t = {.json = true};
	struct cap_maker m;
	json_t *o, *side, *ops;
	char *text;

	make(&m);
	text = run(&m, &t);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "end")), "closed");
	side = json_object_get(o, "first");
	ops = json_object_get(side, "operations");
	assert_int_equal(number(ops, "Send", "messages"), 10);
	assert_int_equal(number(ops, "Send", "bytes"), 1000);
	assert_int_equal(number(ops, "RDMA Write", "messages"), 1);
	assert_int_equal(number(ops, "RDMA Write", "max"), 50);
	assert_int_equal(number(side, "fpdus", "count"), 15);
	assert_int_equal(number(side, "fpdus", "aligned"), 15);
	assert_int_equal(number(side, "tcp", "again"), 1);
	assert_int_equal(number(side, "read_latency", "count"), 3);
	assert_int_equal(number(side, "read_latency", "min_ns"), 1000);
	assert_int_equal(number(side, "read_latency", "max_ns"), 3000);
	assert_int_equal(number(json_object_get(json_object_get(o, "second"), "operations"),
				 "RDMA Read Response", "messages"),
		3);
	json_decref(o);
	free(text);
}

static void test_text(void **state)
{
	struct stats t = {.json = false};
	struct cap_maker m;
	char *text;

	make(&m);
	text = run(&m, &t);
	assert_non_null(strstr(text, "connection #1: 10.0.0.1:40000 > 10.0.0.2:7174, closed\n"));
	assert_non_null(strstr(text, "Send: 10, 1000 bytes (100 to 100, 100 on average)\n"));
	assert_non_null(strstr(text, "Reads and atomics: 3 answered, us: least 1.0, median 2.0"));
	free(text);
}

static unsigned times(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, word)); p++)
		n++;
	return n;
}

/* One file with all in it; what could be a tag is none. */
static void test_html(void **state)
{
	struct stats t = {.json = false};
	struct cap_maker m;
	char *text, *html;
	size_t len;

	t.html = open_memstream(&html, &len);
	stats_html_begin(&t, "<a> & b.pcap");
	make(&m);
	text = run(&m, &t);
	stats_html_end(&t);
	fclose(t.html);
	assert_int_equal(strncmp(html, "<!DOCTYPE html>", 15), 0);
	assert_int_equal(times(html, "&lt;a&gt; &amp; b.pcap"), 2);
	assert_int_equal(times(html, "<svg "), 1);
	assert_int_equal(times(html, "throughput, Mbit/s"), 1);
	assert_non_null(
		strstr(html, "<pre>connection #1: 10.0.0.1:40000 &gt; 10.0.0.2:7174, closed"));
	assert_null(strstr(html, "href"));
	assert_null(strstr(html, "src="));
	assert_non_null(strstr(html, "</svg>\n</body>\n</html>\n"));
	free(html);
	free(text);
}

/* Of many connections only the first have plots. */
static void test_html_many(void **state)
{
	struct stats t = {.drawn = STATS_HTML_PLOTS};
	struct cap_maker m;
	char *text, *html;
	size_t len;

	t.html = open_memstream(&html, &len);
	make(&m);
	text = run(&m, &t);
	fclose(t.html);
	assert_int_equal(times(html, "<svg "), 0);
	assert_int_equal(times(html, "first 16 connections only"), 1);
	free(html);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_html_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
