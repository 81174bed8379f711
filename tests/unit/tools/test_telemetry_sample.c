/* SPDX-License-Identifier: BSD-2-Clause */
/* What all processes did at one time, of processes that answer as a script has it. */
#include "answering.h"
#include "tools/telemetry_sample.h"

#include <errno.h>

/** Of two processes with a QP and a connection each. */
static void rows_of_all_processes_are_bound(void **state)
{
	static const char info[] = "{\"/i\":{\"pid\":1}}",
			  qps[] = "{\"/q\":{\"items\":[{\"qp\":1}]}}",
			  connections[] = "{\"/c\":{\"items\":[{\"remote\":\"r\"}]}}";
	struct telemetry_sample s;

	for (unsigned i = 0; i < 2; i++)
		begin((struct script){.say = {GREETING, info, qps, connections, info, qps,
					      connections, info, qps, connections},
			.greets = true});
	open_all(2);
	clients.rows = 4;
	assert_int_equal(telemetry_sample_take(&s, &clients, NULL), 0);
	assert_int_equal(s.n, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(s.row[i].socket, server[i / 2].name);
		assert_string_equal(s.row[i].directory, directory);
	}
	telemetry_sample_free(&s);
	/* Neither a connection nor a QP is left out. */
	for (unsigned rows = 3; rows >= 2; rows--) {
		telemetry_clients_close(&clients);
		open_all(2);
		clients.rows = rows;
		assert_int_equal(telemetry_sample_take(&s, &clients, NULL), -ENOBUFS);
		assert_null(s.row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_of_all_processes_are_bound, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
