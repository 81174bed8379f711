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
	struct telemetry_row b = {.pid = 0};
	json_t *o;

	json_text_object(&j, NULL);
	telemetry_row_write(r, &j);
	json_text_object_end(&j);
	o = json_loadb(j.text, j.len, 0, NULL);
	assert_non_null(o);
	telemetry_row_read_process(&b, o);
	telemetry_row_read_qp(&b, o);
	if (json_object_get(o, "remote"))
		telemetry_row_read_connection(&b, o);
	json_decref(o);
	json_text_fini(&j);
	return b;
}

static void what_is_written_is_read(void **state)
{
	struct telemetry_row r, b;

	memset(&r, 0, sizeof r);
	r = (struct telemetry_row){.pid = 12,
		.qp = 131073,
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

static void texts_are_harmless_and_fit(void **state)
{
	struct telemetry_row r = {.pid = 0};
	json_t *o = json_pack("{s:s, s:s, s:i}", "program", "\x1b[2J\n\u00e9", "device",
		"0123456789012345678901234567890123456789", "state", 7);

	assert_non_null(o);
	telemetry_row_read_process(&r, o);
	telemetry_row_read_state(&r, o);
	assert_string_equal(r.program, "?[2J???");
	assert_string_equal(r.device, "01234567890123456789012345678901234");
	assert_string_equal(r.state, "");
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(texts_are_harmless_and_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
