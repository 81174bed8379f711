/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/follow.h"
#include "pcap/show.h"

#include "support/cap_bytes.h"
#include "support/cap_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static char *show(struct cap_maker *m, bool json)
{
	static const struct follow_config config;
	struct show s = {.json = json};
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;
	size_t len;
	char *text;

	s.out = open_memstream(&text, &len);
	assert_non_null(c);
	assert_non_null(s.out);
	assert_int_equal(follow_init(&w, &config, &show_ops, &s), 0);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	cap_close(c);
	fclose(s.out);
	return text;
}

static void make(struct cap_maker *m)
{
	static const uint8_t terminate[] = {
		0x41, 0x47, [9] = 2, [13] = 1, [18] = 0x02, [19] = 0x07, 0, 0};

	cap_maker_init(m);
	cap_maker_start(m);
	cap_maker_send(m, 0, 1, 5);
	cap_maker_read_request(m, 0, 1, 64);
	cap_maker_read_response(m, 1, 0x100, 64);
	cap_maker_fpdu(m, 1, terminate, sizeof terminate);
	m->bytes[m->len - 1] ^= 1;
	cap_maker_fin(m, 1);
}

static void test_text(void **state)
{
	struct cap_maker m;
	char *text;

	make(&m);
	text = show(&m, false);
	assert_string_equal(text,
		"connection #1: 10.0.0.1:40000 > 10.0.0.2:7174\n"
		"     4 0.000003 #1 > MPA Request rev 2 M0 C1 S1 IRD 4 ORD 4 private data 4\n"
		"     5 0.000004 #1 < MPA Reply rev 2 M0 C1 R0 S1 IRD 4 ORD 4 private data 4\n"
		"     6 0.000005 #1 > Send L qn 0 msn 1 mo 0 len 5\n"
		"     7 0.000006 #1 > RDMA Read Request L qn 1 msn 1 mo 0 len 28 sink 0x11 at "
		"0x100 "
		"size 64 source 0x22 at 0x0\n"
		"     8 0.000007 #1 < RDMA Read Response L stag 0x11 to 0x100 len 64\n"
		"     9 0.000008 #1 < Terminate L qn 2 msn 1 mo 0 len 4 layer 0 type 2 code 0x07 "
		"M0 D0 "
		"R0 [CRC wrong]\n"
		"    10 0.000009 #1 < -- FIN\n");
	free(text);
	cap_maker_free(&m);
}

static void test_json(void **state)
{
	struct cap_maker m;
	char *text, *line, *rest;
	unsigned n = 0;

	make(&m);
	text = show(&m, true);
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		json_t *o = json_loads(line, 0, NULL);

		assert_non_null(o);
		if (n == 4) {
			assert_string_equal(json_string_value(json_object_get(o, "message")),
				"RDMA Read Request");
			assert_int_equal(json_integer_value(json_object_get(o, "size")), 64);
			assert_string_equal(json_string_value(json_object_get(o, "crc")), "good");
			assert_string_equal(
				json_string_value(json_object_get(o, "from")), "10.0.0.1:40000");
		}
		if (n == 5) {
			assert_string_equal(
				json_string_value(json_object_get(o, "to")), "10.0.0.1:40000");
			assert_int_equal(
				json_integer_value(json_object_get(o, "tagged_offset")), 0x100);
		}
		if (n == 6)
			assert_string_equal(json_string_value(json_object_get(o, "crc")), "bad");
		json_decref(o);
		n++;
	}
	assert_int_equal(n, 8);
	free(text);
	cap_maker_free(&m);
}

/* 64 bits, which JSON's integers have not. */
static void test_json_large(void **state)
{
	static const uint8_t write[] = {
		0xc1, 0x40, 0, 0, 0, 0x11, 0xff, 0xff, 0xff, 0xff, 0x80, 0, 0, 8};
	struct cap_maker m;
	char *text, *last;
	json_t *o;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_fpdu(&m, 0, write, sizeof write);
	text = show(&m, true);
	last = strrchr(text, '{');
	o = json_loads(last, 0, NULL);
	assert_non_null(o);
	assert_string_equal(
		json_string_value(json_object_get(o, "tagged_offset")), "18446744071562067976");
	json_decref(o);
	free(text);
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
