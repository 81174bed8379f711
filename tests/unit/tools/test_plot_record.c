/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/plot_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct plot_record p;

static struct telemetry_row row(pid_t pid, uint32_t qp, unsigned port)
{
	struct telemetry_row r = {.pid = pid, .qp = qp, .connected = true, .cwnd = 14600};

	snprintf(r.remote, sizeof r.remote, "10.0.0.2:%u", port);
	return r;
}

static void add(struct telemetry_row r, unsigned seconds)
{
	plot_record_add(&p, &r, seconds * UINT64_C(1000000000));
}

static int setup(void **state)
{
	plot_record_free(&p);
	return 0;
}

static void each_connection_has_its_series(void **state)
{
	struct telemetry_row unconnected = {.pid = 1, .qp = 9};

	for (unsigned i = 0; i < 3; i++) {
		add(row(1, 5, 7), i);
		add(row(1, 0, 7), i);
		add(row(2, 5, 7), i);
		add(unconnected, i);
	}
	/* The QP connects to another. */
	add(row(1, 5, 8), 3);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.connection[0].value[PLOT_RECORD_CWND].n, 3);
	assert_true(p.connection[0].value[PLOT_RECORD_CWND].y[2] == 14.6);
	assert_true(p.connection[0].end == 2);
	assert_true(p.connection[3].begin == 3);
	assert_int_equal(p.connection[3].value[PLOT_RECORD_CWND].n, 1);
}

static void one_is_chosen(void **state)
{
	p.asked.pid = 2;
	p.qp = 6;
	add(row(1, 6, 7), 0);
	add(row(2, 5, 7), 0);
	add(row(2, 0, 7), 0);
	add(row(2, 6, 7), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.connection[0].first.qp, 6);
}

static void memory_has_an_end(void **state)
{
	for (unsigned s = 0; s < 3 * PLOT_RECORD_POINTS; s++)
		add(row(1, 1, 7), s);
	assert_in_range(p.connection[0].value[PLOT_RECORD_SRTT].n, PLOT_RECORD_POINTS / 2,
		PLOT_RECORD_POINTS);
	assert_false(p.more);
	for (unsigned i = 1; i <= 2 * PLOT_RECORD_CONNECTIONS; i++)
		add(row(1, i, 7), 3 * PLOT_RECORD_POINTS);
	assert_int_equal(p.n, PLOT_RECORD_CONNECTIONS);
	assert_true(p.more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_connection_has_its_series, setup),
		cmocka_unit_test_setup(one_is_chosen, setup),
		cmocka_unit_test_setup(memory_has_an_end, setup),
	};

	return cmocka_run_group_tests(tests, NULL, setup);
}
