/* SPDX-License-Identifier: BSD-2-Clause */
/* What `uiwarp stat --json` and `--prometheus` make of what processes tell. */
#include "tools/stat_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char process_text[] =
	"{\"info\":{\"pid\":7,\"program\":\"a\\n\\u001bb\",\"device\":\"uiw0\"},"
	"\"socket\":\"telemetry.7\",\"stats\":{\"tcp\":{\"retransmits\":12},"
	"\"drops\":{\"tcp_bad_cksum\":5}},"
	"\"rnic\":{\"terminates\":[{\"layer\":1,\"type\":2,\"code\":3,\"sent\":4,\"received\":0}]},"
	"\"connections\":[{\"local\":\"l\",\"remote\":\"r\",\"qp\":3,\"cwnd\":10,\"mss\":1460,"
	"\"srtt_ns\":5,\"pacing_rate\":6,\"queued\":7,\"unread\":8,\"bytes_acked\":9,"
	"\"bytes_received\":11,\"retransmits\":12,\"out_of_order\":13}],"
	"\"qps\":[{\"qp\":3,\"state\":\"RTS\",\"send_posted\":1,\"send_completed\":1,"
	"\"recv_completed\":2,\"local\":\"l\"}],"
	"\"cqs\":[{\"cq\":1,\"depth\":2,\"size\":3,\"more\":[]}],\"mrs\":[{},{}]}";

static json_t *process(void)
{
	json_t *p = json_loads(process_text, 0, NULL);

	assert_non_null(p);
	return p;
}

static char *metrics_of(const json_t *all)
{
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	stat_print_prometheus(out, all);
	fclose(out);
	return text;
}

/** One by one they stand as in an array that is written at once. */
static void json_is_that_of_an_array(void **state)
{
	json_t *p = process(), *all = json_pack("[O,O]", p, p);
	char *text, *expected = json_dumps(
			    all, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII);
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	fputs("[\n ", out);
	assert_true(stat_print_json(out, p));
	fputs(",\n ", out);
	assert_true(stat_print_json(out, p));
	fputs("\n]", out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	free(expected);
	json_decref(all);
	json_decref(p);
}

/** Metrics are the same of what is kept, which is less. */
static void what_is_kept_makes_the_same_metrics(void **state)
{
	json_t *p = process(), *whole = json_pack("[O]", p), *kept = json_array();
	char *expected = metrics_of(whole), *text;
	size_t room = STAT_PRINT_BYTES;

	assert_int_equal(stat_print_keep(kept, p, &room), 0);
	text = metrics_of(kept);
	assert_string_equal(text, expected);
	assert_non_null(strstr(text, "uiwarp_connection_rtt_seconds{"));
	assert_null(json_object_get(json_array_get(kept, 0), "mrs"));
	assert_null(json_object_get(
		json_array_get(json_object_get(json_array_get(kept, 0), "connections"), 0), "mss"));
	free(text);
	free(expected);
	json_decref(kept);
	json_decref(whole);
	json_decref(p);
}

/** More than that is an error, and never fewer processes. */
static void more_than_is_kept_is_an_error(void **state)
{
	json_t *p = process(), *kept = json_array();
	size_t room = STAT_PRINT_BYTES, each;

	assert_int_equal(stat_print_keep(kept, p, &room), 0);
	each = STAT_PRINT_BYTES - room;
	assert_in_range(each, sizeof process_text, 100 * sizeof process_text);
	room = 2 * each - 1;
	assert_int_equal(stat_print_keep(kept, p, &room), 0);
	assert_int_equal(room, each - 1);
	assert_int_equal(stat_print_keep(kept, p, &room), -ENOBUFS);
	assert_int_equal(room, each - 1);
	assert_int_equal(json_array_size(kept), 2);
	json_decref(kept);
	json_decref(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_that_of_an_array),
		cmocka_unit_test(what_is_kept_makes_the_same_metrics),
		cmocka_unit_test(more_than_is_kept_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
