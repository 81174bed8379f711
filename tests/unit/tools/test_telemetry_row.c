/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <string.h>

/** Write @p r, and read it back. */
static struct telemetry_row again(const struct telemetry_row *r)
{
	struct json_text j = {.text = NULL};
	struct telemetry_row b;
	struct json_reader reader;

	json_text_object(&j, NULL);
	telemetry_row_write(r, &j);
	json_text_object_end(&j);
	json_reader_init(&reader, j.text, j.len);
	telemetry_row_read(&b, &reader);
	assert_true(json_reader_end(&reader));
	json_text_fini(&j);
	return b;
}

static void what_is_written_is_read(void **state)
{
	struct telemetry_row r, b;

	memset(&r, 0, sizeof r);
	r = (struct telemetry_row){.pid = 12,
		.qp = 131073,
		.socket = "telemetry.12.1",
		.directory = "/run/uiwarp",
		.started = 17,
		.program = "a \"b\"",
		.device = "uiw0",
		.state = "RTS",
		.local = "[fe80::1]:7",
		.remote = "[fe80::2]:8",
		.cc = "cubic",
		.connected = true,
		.srtt = 1,
		.min_rtt = 2,
		.cwnd = 3,
		.pacing_rate = 4,
		.mss = 5,
		.queued = 6,
		.unread = 7,
		.bytes_acked = INT64_MAX,
		.bytes_received = 9,
		.retransmits = 10,
		.timeouts = 11,
		.out_of_order = 12,
		.sends = UINT32_MAX - 1,
		.receives = 14,
		.send_depth = 15,
		.receive_depth = 16};
	b = again(&r);
	assert_memory_equal(&b, &r, sizeof r);
	/* Without a connection; without a QP. */
	memset(r.local, 0, sizeof r - offsetof(struct telemetry_row, local));
	b = again(&r);
	assert_memory_equal(&b, &r, sizeof r);
	r.qp = 0;
	r.connected = true;
	b = again(&r);
	assert_memory_equal(&b, &r, sizeof r);
}

static void read_text(struct telemetry_row *r, const char *text)
{
	struct json_reader reader;

	json_reader_init(&reader, text, strlen(text));
	telemetry_row_read(r, &reader);
	assert_true(json_reader_end(&reader));
}

static void texts_are_harmless_and_fit(void **state)
{
	struct telemetry_row r;

	read_text(&r, "{\"program\": \"\\u001b[2J\\n\u00e9\", \"device\": "
		      "\"0123456789012345678901234567890123456789\", \"state\": 7}");
	assert_string_equal(r.program, "?[2J???");
	assert_string_equal(r.device, "01234567890123456789012345678901234");
	assert_string_equal(r.state, "");
}

/** Members may come in any order, more than once, and among others. */
static void order_does_not_matter(void **state)
{
	struct telemetry_row r;

	read_text(&r, "{\"send_completed\": 5, \"x\": {\"qp\": 3}, \"send_posted\": 9, \"qp\": 1, "
		      "\"pi\": 2, \"pids\": 2, \"qp\": 4}");
	assert_int_equal(r.qp, 4);
	assert_int_equal(r.sends, 5);
	assert_int_equal(r.send_depth, 4);
	assert_int_equal(r.pid, 0);
	assert_false(r.connected);
	read_text(&r, "[{\"qp\": 1}]");
	assert_int_equal(r.qp, 0);
}

static void a_qp_gets_its_connection(void **state)
{
	struct telemetry_row qp, c;

	read_text(&qp, "{\"qp\": 7, \"state\": \"RTS\", \"send_posted\": 3, \"send_completed\": 1, "
		       "\"local\": \"a:1\", \"remote\": \"b:2\"}");
	read_text(&c, "{\"state\": \"ESTABLISHED\", \"local\": \"a:1\", \"remote\": \"b:2\", "
		      "\"mss\": 1460, \"out_of_order\": 2}");
	telemetry_row_connect(&qp, &c);
	assert_int_equal(qp.qp, 7);
	assert_string_equal(qp.state, "RTS");
	assert_int_equal(qp.sends, 1);
	assert_int_equal(qp.send_depth, 2);
	assert_int_equal(qp.mss, 1460);
	assert_int_equal(qp.out_of_order, 2);
	assert_string_equal(qp.remote, "b:2");
	assert_true(qp.connected);
	telemetry_row_disconnect(&qp);
	assert_false(qp.connected);
	assert_string_equal(qp.local, "");
	assert_string_equal(qp.remote, "");
}

/** Numbers and names may be the same in two directories. */
static void processes_differ_by_their_directories(void **state)
{
	struct telemetry_row a, b;

	read_text(&a, "{\"pid\": 7, \"socket\": \"telemetry.7\", \"directory\": \"/run/uiwarp\"}");
	b = a;
	assert_int_equal(telemetry_row_compare_process(&a, &b), 0);
	read_text(
		&b, "{\"pid\": 7, \"socket\": \"telemetry.7\", \"directory\": \"/tmp/uiwarp-0\"}");
	assert_true(telemetry_row_compare_process(&a, &b) < 0);
	assert_true(telemetry_row_compare_process(&b, &a) > 0);
	/* And in one, of a process that came when the other had ended. */
	b = a;
	b.started = 1;
	assert_true(telemetry_row_compare_process(&a, &b) < 0);
	assert_true(telemetry_row_compare_process(&b, &a) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(texts_are_harmless_and_fit),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(a_qp_gets_its_connection),
		cmocka_unit_test(processes_differ_by_their_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
