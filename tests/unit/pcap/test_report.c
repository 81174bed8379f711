/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	struct connection_shared shared;
	struct connection c;
	struct report r;
	struct report_place at;
	char *text;
	size_t len;
};

static void init(struct fixture *x, bool json, bool all)
{
	*x = (struct fixture){.shared = {.origin = 1000000000}};
	x->c = (struct connection){.id = 3, .initiator = 1, .shared = &x->shared};
	x->c.stream[0].c = x->c.stream[1].c = &x->c;
	assert_int_equal(ip_addr_parse("10.0.0.1", &x->c.end[0].addr), 0);
	assert_int_equal(ip_addr_parse("10.0.0.2", &x->c.end[1].addr), 0);
	x->c.end[0].port = 1;
	x->c.end[1].port = 2;
	x->r = (struct report){.out = open_memstream(&x->text, &x->len), .json = json, .all = all};
	x->at = (struct report_place){&x->c.stream[0], 12, 1500000000, (const uint8_t *)"\1\2", 2};
	assert_non_null(x->r.out);
}

static void test_text(void **state)
{
	struct fixture x;
	uint16_t told = 0;

	init(&x, false, false);
	report_violation(&x.r, &x.at, REQ_DDP_4_1_9, &told, "DV is %d", 2);
	report_note(&x.r, &x.at, "hm");
	fclose(x.r.out);
	assert_string_equal(x.text,
		"violation: frame 12, 0.500000 s, #3 < 10.0.0.1:1 > 10.0.0.2:2: DV is 2\n"
		"    DDP-4.1-9 (RFC 5041 section 4.1, MUST): DV is one.\n"
		"    bytes 0102\n"
		"note: frame 12, 0.500000 s, #3 < 10.0.0.1:1 > 10.0.0.2:2: hm\n");
	assert_int_equal(x.r.violations, 1);
	assert_int_equal(x.r.notes, 1);
	free(x.text);
}

/* Where there are files, each finding has a command that shows it. */
static void test_link(void **state)
{
	static struct cap_set_file files[] = {{.path = "a"}, {.path = "it's"}};
	struct cap_set set = {.files = files, .num_files = 2};
	struct fixture x;
	json_t *o;

	assert_int_equal(cap_runs_init(&set.runs, 2), 0);
	for (unsigned i = 0; i < 20; i++)
		cap_runs_add(&set.runs, i >= 10);
	init(&x, false, false);
	x.r.files = &set;
	report_note(&x.r, &x.at, "hm");
	x.at.frame = 21; /* none of theirs */
	report_note(&x.r, &x.at, "hm");
	fclose(x.r.out);
	assert_string_equal(x.text,
		"note: frame 12 (it's:2), 0.500000 s, #3 < 10.0.0.1:1 > 10.0.0.2:2: hm\n"
		"    wireshark -r 'it'\\''s' -g 2 -Y 'ip.addr == 10.0.0.1 && tcp.port == 1 && "
		"ip.addr == 10.0.0.2 && tcp.port == 2'\n"
		"note: frame 21, 0.500000 s, #3 < 10.0.0.1:1 > 10.0.0.2:2: hm\n");
	free(x.text);
	init(&x, true, false);
	x.r.files = &set;
	x.at.frame = 10;
	report_note(&x.r, &x.at, "hm");
	fclose(x.r.out);
	o = json_loads(x.text, 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "file")), "a");
	assert_int_equal(json_integer_value(json_object_get(o, "file_frame")), 10);
	assert_string_equal(json_string_value(json_object_get(o, "display_filter")),
		"ip.addr == 10.0.0.1 && tcp.port == 1 && ip.addr == 10.0.0.2 && tcp.port == 2");
	json_decref(o);
	free(x.text);
	cap_runs_free(&set.runs);
}

/* With one file its frames are what they are; of a long path the end is told. */
static void test_frame(void **state)
{
	static struct cap_set_file files[] = {{.path = "a"},
		{.path = "/0123456789/0123456789/0123456789/0123456789/0123456789/b"}};
	struct cap_set set = {.files = files, .num_files = 2};
	struct report r = {.files = &set};

	assert_int_equal(cap_runs_init(&set.runs, 2), 0);
	cap_runs_add(&set.runs, 0);
	cap_runs_add(&set.runs, 1);
	assert_string_equal(report_frame(&r, 1).text, "1 (a:1)");
	assert_string_equal(report_frame(&r, 2).text,
		"2 (...89/0123456789/0123456789/0123456789/0123456789/b:1)");
	assert_string_equal(report_frame(&r, 3).text, "3");
	set.num_files = 1;
	assert_string_equal(report_frame(&r, 1).text, "1");
	cap_runs_free(&set.runs);
}

/* A SHOULD is advice. */
static void test_advice(void **state)
{
	struct fixture x;
	uint16_t told = 0;

	init(&x, false, false);
	report_violation(&x.r, &x.at, REQ_MPA_3_3, &told, "x");
	fclose(x.r.out);
	assert_int_equal(strncmp(x.text, "advice: ", 8), 0);
	assert_int_equal(x.r.violations, 0);
	assert_int_equal(x.r.advice, 1);
	free(x.text);
}

/* What somebody has said of it counts before what the RFC says. */
static void test_severity(void **state)
{
	static struct severities_rule rules[] = {
		{.severity = SEVERITY_NOTE, .id = "DDP-", .prefix = true},
		{.severity = SEVERITY_IGNORE, .id = "DDP-4.1-9"},
	};
	struct severities severities = {rules, 1};
	struct fixture x;
	uint16_t told = 0;

	init(&x, false, false);
	x.r.severities = &severities;
	report_violation(&x.r, &x.at, REQ_DDP_4_1_9, &told, "x");
	severities.n = 2;
	report_violation(&x.r, &x.at, REQ_DDP_4_1_9, &told, "x");
	report_summary(&x.r, "f", 1, 2);
	fclose(x.r.out);
	assert_int_equal(strncmp(x.text, "note: ", 6), 0);
	assert_non_null(strstr(
		x.text, "0 violations, 0 advice, 1 notes\n         1 findings are ignored\n"));
	assert_int_equal(told, 1);
	free(x.text);
}

static void test_level(void **state)
{
	struct fixture x;
	uint16_t told = 0;

	init(&x, false, false);
	x.r.least_set = true;
	x.r.least = SEVERITY_ADVICE;
	report_note(&x.r, &x.at, "hm");
	fflush(x.r.out);
	assert_string_equal(x.text, "");
	report_violation(&x.r, &x.at, REQ_MPA_3_3, &told, "x");
	fclose(x.r.out);
	assert_int_equal(strncmp(x.text, "advice: ", 8), 0);
	assert_int_equal(x.r.notes, 1);
	free(x.text);
}

static void test_span(void **state)
{
	struct fixture x;
	uint16_t told = 0;

	init(&x, false, false);
	assert_true(select_parse_time("0.6", &x.r.span.from));
	report_note(&x.r, &x.at, "hm");
	report_violation(&x.r, &x.at, REQ_DDP_4_1_9, &told, "x");
	assert_int_equal(x.r.notes + x.r.violations + told, 0);
	x.at.time = 1600000000;
	report_violation(&x.r, &x.at, REQ_DDP_4_1_9, &told, "x");
	assert_int_equal(x.r.violations, 1);
	fclose(x.r.out);
	free(x.text);
}

static unsigned lines(const char *text, const char *word)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
		n++;
	return n;
}

/* The same over and over: told a few times, always counted. */
static void test_limit(void **state)
{
	for (int all = 0; all < 2; all++) {
		struct fixture x;
		uint16_t told = 0;

		init(&x, false, all);
		for (int i = 0; i < 100; i++)
			report_violation(&x.r, &x.at, REQ_DDP_4_1_9, &told, "x");
		report_summary(&x.r, "f", 1, 2);
		fclose(x.r.out);
		assert_int_equal(lines(x.text, "violation:"), all ? 100 : REPORT_TOLD_MAX);
		assert_int_equal(lines(x.text, "   100 x DDP-4.1-9 DV is one."), 1);
		assert_non_null(strstr(
			x.text, "f: 2 frames, 1 iWARP connections, 100 violations, 0 advice"));
		free(x.text);
	}
}

static void test_json(void **state)
{
	struct fixture x;
	uint16_t told = 0;
	char *second;
	json_t *o;

	init(&x, true, false);
	report_violation(&x.r, &x.at, REQ_DDP_4_1_9, &told, "DV is \"2\"");
	report_summary(&x.r, "f", 1, 2);
	fclose(x.r.out);
	second = strchr(x.text, '\n') + 1;
	second[-1] = '\0';
	o = json_loads(x.text, 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "event")), "violation");
	assert_string_equal(json_string_value(json_object_get(o, "id")), "DDP-4.1-9");
	assert_string_equal(json_string_value(json_object_get(o, "text")), "DV is \"2\"");
	assert_string_equal(json_string_value(json_object_get(o, "bytes")), "0102");
	assert_int_equal(json_integer_value(json_object_get(o, "rfc")), 5041);
	json_decref(o);
	o = json_loads(second, 0, NULL);
	assert_non_null(o);
	assert_string_equal(json_string_value(json_object_get(o, "file")), "f");
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(o, "requirements"), "DDP-4.1-9")),
		1);
	json_decref(o);
	free(x.text);
}

/* A file's name is bytes: one that JSON cannot have is left out, and the rest is told. */
static void test_json_name(void **state)
{
	struct fixture x;
	json_t *o;

	init(&x, true, false);
	report_summary(&x.r, "caf\351.pcap", 1, 2);
	fclose(x.r.out);
	o = json_loads(x.text, 0, NULL);
	assert_non_null(o);
	assert_null(json_object_get(o, "file"));
	assert_int_equal(json_integer_value(json_object_get(o, "frames")), 2);
	json_decref(o);
	free(x.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_severity),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
