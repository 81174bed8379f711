/* SPDX-License-Identifier: BSD-2-Clause */
/* Key logs: what of them is taken, and what is passed over. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "pcap/keylog.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANDOM(digit)    "0000000000000000000000000000000000000000000000000000000000000" digit
#define SECRET(two)      two two two two two two two two two two two two two two two two
#define LONG_SECRET(two) SECRET(two) SECRET(two)

static struct keylog log_of;

static bool read_text(const char *text, struct cap_error *e)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	bool good;

	assert_non_null(in);
	good = keylog_read(&log_of, in, e);
	fclose(in);
	return good;
}

static int tear_down(void **state)
{
	keylog_free(&log_of);
	return 0;
}

static const struct keylog_secrets *find(uint8_t number)
{
	uint8_t random[KEYLOG_RANDOM_LEN] = {[KEYLOG_RANDOM_LEN - 1] = number};

	return keylog_find(&log_of, random);
}

static void both_lines_of_a_connection_are_found(void **state)
{
	struct cap_error e;
	const struct keylog_secrets *s;

	assert_true(read_text(
		"# a comment\n"
		"SERVER_HANDSHAKE_TRAFFIC_SECRET " RANDOM("007") " " SECRET(
			"0102") "\n"
				"SERVER_TRAFFIC_SECRET_0 " RANDOM("007") " " SECRET(
					"aaaa") "\n"
						"CLIENT_TRAFFIC_SECRET_0 " RANDOM("003") " " SECRET(
							"BbbB") "\r\n"
								"\n"
								"CLIENT_TRAFFIC_SECRET_0 " RANDOM(
									"007") " " SECRET("cccc") "\n",
		&e));
	assert_int_equal(log_of.n, 3);
	s = find(7);
	assert_non_null(s);
	assert_int_equal(s->len[0], 32);
	assert_int_equal(s->len[1], 0);
	assert_int_equal(s->secret[0][31], 0xcc);
	s = keylog_next(&log_of, s);
	assert_non_null(s);
	assert_int_equal(s->len[0], 0);
	assert_int_equal(s->len[1], 32);
	assert_int_equal(s->secret[1][0], 0xaa);
	assert_null(keylog_next(&log_of, s));
	s = find(3);
	assert_non_null(s);
	assert_int_equal(s->secret[0][0], 0xbb);
	assert_int_equal(s->len[1], 0);
	assert_null(find(4));
}

/** Nothing tells which of them is right: all are kept. */
static void lines_may_contradict_each_other(void **state)
{
	const struct keylog_secrets *s;
	unsigned n = 0;
	struct cap_error e;

	assert_true(read_text(
		"CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " SECRET(
			"1234") "\n"
				"CLIENT_TRAFFIC_SECRET_0 " RANDOM("002") " " SECRET(
					"1234") "\n"
						"CLIENT_TRAFFIC_SECRET_0 " RANDOM("002") " " SECRET(
							"5678") "\n"
								"CLIENT_TRAFFIC_SECRET_0 " RANDOM("002") " " SECRET(
									"1234") "\n"
										"SERVER_TRAFFIC_"
										"SECRET_0 " RANDOM("002") " " SECRET(
											"5678") "\n"
												"CL"
												"IE"
												"NT"
												"_T"
												"RA"
												"FF"
												"IC"
												"_S"
												"EC"
												"RE"
												"T_"
												"0"
												" " RANDOM("003") " " SECRET(
													"1234") "\n",
		&e));
	for (s = find(2); s; s = keylog_next(&log_of, s), n++)
		assert_int_equal(s->random[KEYLOG_RANDOM_LEN - 1], 2);
	assert_int_equal(n, 3);
}

static void append_octets(const char *path, const char *octets, size_t len)
{
	FILE *out = fopen(path, "a");

	assert_non_null(out);
	assert_int_equal(fwrite(octets, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	keylog_refresh(&log_of);
}

static void append(const char *path, const char *text)
{
	append_octets(path, text, strlen(text));
}

static void what_is_added_is_read(void **state)
{
	char path[] = "/tmp/uiwarp-keylog-XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	log_of.path = path;
	keylog_refresh(&log_of);
	assert_null(find(1));
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " SECRET("12"));
	assert_null(find(1));
	append(path, SECRET("34") "\nCLIENT_TRAFFIC_SECRET_0 " RANDOM("002"));
	assert_non_null(find(1));
	assert_int_equal(find(1)->secret[0][16], 0x34);
	assert_null(find(2));
	append(path, " " SECRET("1234") "\n");
	assert_non_null(find(2));
	/* Another file in its place, which is shorter. */
	assert_int_equal(unlink(path), 0);
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("003") " " SECRET("1234") "\n");
	assert_non_null(find(3));
	assert_int_equal(log_of.n, 3);
	/* It is not there any more. */
	assert_int_equal(unlink(path), 0);
	keylog_refresh(&log_of);
	assert_non_null(find(3));
}

/** None of these lines says anything, or ends what is read. */
static void what_is_added_may_be_nonsense(void **state)
{
	static const char nul[] =
		"CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " SECRET("12\0 4") "\n";
	static char endless[3 * KEYLOG_LINE_MAX];
	char path[] = "/tmp/uiwarp-keylog-XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	log_of.path = path;
	append_octets(path, nul, sizeof nul - 1);
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " SECRET("1234") "\n");
	assert_non_null(find(1));
	append_octets(path, "\0", 1);
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("002") " " SECRET("1234") "\n");
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("003") " " SECRET("1234") "\n");
	assert_null(find(2));
	assert_non_null(find(3));
	/* One line all the time, whatever it goes on with. */
	memset(endless, ' ', sizeof endless - 1);
	for (unsigned i = 0; i < 10; i++)
		append(path, endless);
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("004") " " SECRET("1234") "\n");
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("005") " " SECRET("1234") "\n");
	assert_null(find(4));
	assert_non_null(find(5));
	/* Half a line, and another file. */
	append(path, "CLIENT_TRAFFIC_SECRET_0 ");
	assert_int_equal(truncate(path, 0), 0);
	append(path, "CLIENT_TRAFFIC_SECRET_0 " RANDOM("006") " " SECRET("1234") "\n");
	assert_non_null(find(6));
	assert_int_equal(log_of.n, 4);
	unlink(path);
}

/** The secret of @p i, of which the random is @p random. */
static bool add(uint32_t random, uint32_t i)
{
	struct keylog_secrets s = {.len = {32}};

	memcpy(s.random, &random, sizeof random);
	memcpy(s.secret[0], &i, sizeof i);
	return keylog_add(&log_of, &s);
}

static unsigned count_alike(uint32_t random)
{
	struct keylog_secrets wanted = {.len = {0}};
	const struct keylog_secrets *s;
	unsigned n = 0;

	memcpy(wanted.random, &random, sizeof random);
	for (s = keylog_find(&log_of, wanted.random); s; s = keylog_next(&log_of, s))
		n++;
	return n;
}

/** However many were there before, another one costs as much as the first. */
static void each_line_costs_the_same(void **state)
{
	const uint32_t n = 50000;

	for (uint32_t i = 0; i < n; i++)
		assert_true(add(i, i));
	for (uint32_t i = 0; i < n; i++)
		assert_true(add(i, i));
	assert_int_equal(log_of.n, n);
	assert_in_range(log_of.steps, n, 5 * n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(count_alike(i), 1);
	assert_int_equal(count_alike(n), 0);
}

/** Whoever fills a log with lines of one random does not fill our time. */
static void of_one_random_not_all_are_taken(void **state)
{
	const uint32_t n = 50000;

	for (uint32_t i = 0; i < n; i++)
		assert_true(add(7, i));
	assert_int_equal(count_alike(7), KEYLOG_ALIKE_MAX);
	assert_in_range(log_of.steps, n, (KEYLOG_ALIKE_MAX + 1) * n);
	assert_true(add(8, 1));
	assert_int_equal(count_alike(8), 1);
}

/** Of a file that grows, too, each line is looked at once. */
static void what_was_read_is_not_read_again(void **state)
{
	char path[] = "/tmp/uiwarp-keylog-XXXXXX";
	int file = mkstemp(path);
	char line[200];

	assert_true(file >= 0);
	log_of.path = path;
	for (unsigned i = 0; i < 1000; i++) {
		int len = snprintf(line, sizeof line,
			"CLIENT_TRAFFIC_SECRET_0 %056x%08x " SECRET("1234") "\n", 0, i);

		assert_int_equal(write(file, line, (size_t)len), len);
		keylog_refresh(&log_of);
		assert_int_equal(log_of.n, i + 1);
	}
	assert_in_range(log_of.steps, 0, 3 * 1000);
	close(file);
	unlink(path);
}

static void many_are_found(void **state)
{
	char text[64 * 200] = "";
	struct cap_error e;

	for (unsigned i = 0; i < 64; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			"CLIENT_TRAFFIC_SECRET_0 %062u%02x " SECRET("1234") "\n", 0, i * 37 % 64);
	assert_true(read_text(text, &e));
	for (uint8_t i = 0; i < 64; i++)
		assert_non_null(find(i));
	assert_null(find(64));
}

static void what_is_no_secret_is_passed_over(void **state)
{
	static const char *const lines[] = {"", "CLIENT_TRAFFIC_SECRET_0",
		"CLIENT_TRAFFIC_SECRET_0 00 00",
		"CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " SECRET("12x4"),
		"CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " SECRET("1234") "5",
		"CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " LONG_SECRET("1234"),
		"CLIENT_TRAFFIC_SECRET_0 " RANDOM("001") "00 " SECRET("1234"),
		"CLIENT_RANDOM " RANDOM("001") " " SECRET("1234")};

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		char text[1024];
		struct cap_error e = {""};

		snprintf(text, sizeof text, "%s\n", lines[i]);
		assert_false(read_text(text, &e));
		assert_non_null(strstr(e.text, "no traffic secret of TLS 1.3"));
	}
}

static void a_line_without_end_is_cut_and_no_harm(void **state)
{
	static char text[5000];
	struct cap_error e;

	memset(text, 'A', sizeof text - 200);
	strcat(text, "\nCLIENT_TRAFFIC_SECRET_0 " RANDOM("001") " " SECRET("1234"));
	assert_true(read_text(text, &e));
	assert_non_null(find(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(both_lines_of_a_connection_are_found, tear_down),
		cmocka_unit_test_teardown(lines_may_contradict_each_other, tear_down),
		cmocka_unit_test_teardown(what_is_added_is_read, tear_down),
		cmocka_unit_test_teardown(what_is_added_may_be_nonsense, tear_down),
		cmocka_unit_test_teardown(each_line_costs_the_same, tear_down),
		cmocka_unit_test_teardown(of_one_random_not_all_are_taken, tear_down),
		cmocka_unit_test_teardown(what_was_read_is_not_read_again, tear_down),
		cmocka_unit_test_teardown(many_are_found, tear_down),
		cmocka_unit_test_teardown(what_is_no_secret_is_passed_over, tear_down),
		cmocka_unit_test_teardown(a_line_without_end_is_cut_and_no_harm, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
