/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/severities.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool read_text(struct severities *s, const char *text, struct cap_error *e)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	bool good;

	assert_non_null(in);
	*e = (struct cap_error){""};
	good = severities_read(s, in, e);
	fclose(in);
	return good;
}

static enum severity of(const struct severities *s, enum requirement_id id, const char *from)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(from, &a), 0);
	return severities_find(s, requirement(id), &a);
}

static void test_as_the_rfcs(void **state)
{
	const struct severities none = {.n = 0};

	assert_int_equal(of(&none, REQ_DDP_4_1_9, "10.0.0.1"), SEVERITY_VIOLATION);
	assert_int_equal(of(NULL, REQ_MPA_3_3, "10.0.0.1"), SEVERITY_ADVICE);
}

static void test_rules(void **state)
{
	struct severities s = {.n = 0};
	struct cap_error e;

	assert_true(read_text(&s,
		"# known\n"
		"\n"
		"advice DDP-*\n"
		"ignore\tDDP-4.1-9 from 10.0.0.0/8 # firmware 1\r\n"
		"violation MPA-3-3\n"
		"note DDP-4.1-9 from fd00::1",
		&e));
	assert_int_equal(s.n, 4);
	assert_int_equal(of(&s, REQ_DDP_4_1_9, "10.1.2.3"), SEVERITY_IGNORE);
	assert_int_equal(of(&s, REQ_DDP_4_1_9, "11.1.2.3"), SEVERITY_ADVICE);
	assert_int_equal(of(&s, REQ_DDP_4_1_9, "fd00::1"), SEVERITY_NOTE);
	assert_int_equal(of(&s, REQ_MPA_3_3, "fd00::1"), SEVERITY_VIOLATION);
	assert_int_equal(of(&s, REQ_MPA_4_1_1, "fd00::1"), SEVERITY_VIOLATION);
	severities_free(&s);
}

/* The last that fits counts, also where it says what the RFC does. */
static void test_last_counts(void **state)
{
	struct severities s = {.n = 0};
	struct cap_error e;

	assert_true(read_text(&s, "ignore *\nviolation DDP-4.1-9\n", &e));
	assert_int_equal(of(&s, REQ_DDP_4_1_9, "10.1.2.3"), SEVERITY_VIOLATION);
	assert_int_equal(of(&s, REQ_MPA_3_3, "10.1.2.3"), SEVERITY_IGNORE);
	severities_free(&s);
}

static void test_bad_lines(void **state)
{
	static const char *const bad[][2] = {
		{"\nno DDP-4.1-9", "line 2: \"no\"; expected violation, advice, note or ignore"},
		{"ignore", "line 1: \"\"; expected an id of docs/conformance.md, or its "
			   "beginning and a *"},
		{"ignore DDP-4.1-99", "line 1: \"DDP-4.1-99\"; expected an id of "
				      "docs/conformance.md, or its beginning and a *"},
		{"ignore DDP-4.1-9 to 1.2.3.4",
			"line 1: \"to\"; expected from ADDRESS, # or the end of the line"},
		{"ignore DDP-4.1-9 from", "line 1: \"\"; expected an address, or with /PREFIX"},
		{"ignore DDP-4.1-9 from 1.2.3.4/33",
			"line 1: \"1.2.3.4/33\"; expected an address, or with /PREFIX"},
		{"ignore DDP-4.1-9 from 1.2.3.4 x", "line 1: \"x\"; expected the end of the line"},
	};
	struct cap_error e;
	char longest[600];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct severities s = {.n = 0};

		assert_false(read_text(&s, bad[i][0], &e));
		assert_string_equal(e.text, bad[i][1]);
		severities_free(&s);
	}
	memset(longest, ' ', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_false(read_text(&(struct severities){.n = 0}, longest, &e));
	assert_string_equal(e.text, "line 1: longer than 510 octets");
}

static void test_too_many(void **state)
{
	static char text[(SEVERITIES_RULES_MAX + 1) * 9 + 1];
	struct severities s = {.n = 0};
	struct cap_error e;

	for (unsigned i = 0; i <= SEVERITIES_RULES_MAX; i++)
		memcpy(text + (size_t)i * 9, "ignore *\n", 9);
	assert_false(read_text(&s, text, &e));
	assert_string_equal(e.text, "line 1025: more than 1024 rules");
	assert_int_equal(s.n, SEVERITIES_RULES_MAX);
	severities_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_rfcs),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_last_counts),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
