/* SPDX-License-Identifier: BSD-2-Clause */
/* What the doctor says of IPsec, by its counters. */
#include "doctor_said.h"
#include "esp/boundary.h"
#include "tools/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

static unsigned explain(const struct esp_stats *s)
{
	struct doctor d = {.wrong = 0};

	doctor_said[0] = '\0';
	doctor_explain_esp(&d, s);
	return d.wrong;
}

static void what_is_right_is_said_in_a_line(void **state)
{
	assert_int_equal(explain(&(struct esp_stats){
				 .sas_in = 1, .sas_out = 2, .policies = 4, .rx_replay = 5}),
		0);
	assert_string_equal(doctor_said, "good: IPsec has 1 SAs in, 2 out and 4 policies\n");
}

static void a_missing_sa_is_named(void **state)
{
	assert_int_equal(explain(&(struct esp_stats){.sas_out = 1}), 1);
	assert_non_null(strstr(doctor_said, "no SA to one of our addresses"));
	assert_int_equal(explain(&(struct esp_stats){.sas_in = 1}), 1);
	assert_non_null(strstr(doctor_said, "no SA from one of our addresses"));
	assert_int_equal(explain(&(struct esp_stats){.sas_in = 1, .sas_out = 1, .tx_no_sa = 3}), 1);
	assert_non_null(
		strstr(doctor_said, "wrong: 3 packets were to be protected, and there is no SA"));
	assert_non_null(strstr(doctor_said, "do: add a \"state\""));
}

static void silence_is_named_where_nothing_else_is(void **state)
{
	struct esp_stats s = {.sas_in = 1, .sas_out = 1, .tx_packets = 6};

	assert_int_equal(explain(&s), 1);
	assert_non_null(
		strstr(doctor_said, "wrong: 6 packets left under ESP, and nothing came back"));
	s.rx_clear = 1;
	assert_int_equal(explain(&s), 1);
	assert_null(strstr(doctor_said, "nothing came back"));
	s.rx_clear = 0;
	s.rx_packets = 1;
	assert_int_equal(explain(&s), 0);
}

static void each_fault_has_its_advice(void **state)
{
	const struct esp_stats all = {.sas_in = 1,
		.sas_out = 1,
		.tx_no_sa = 1,
		.tx_discarded = 1,
		.tx_ended = 1,
		.rx_ended = 1,
		.rx_no_sa = 1,
		.rx_bad_icv = 1,
		.rx_late = 1,
		.rx_clear = 1,
		.rx_mismatch = 1,
		.rx_discarded = 1};
	unsigned advice = 0;

	assert_int_equal(explain(&all), 10);
	for (const char *p = doctor_said; (p = strstr(p, "do: ")); p++)
		advice++;
	assert_int_equal(advice, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_right_is_said_in_a_line),
		cmocka_unit_test(a_missing_sa_is_named),
		cmocka_unit_test(silence_is_named_where_nothing_else_is),
		cmocka_unit_test(each_fault_has_its_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
