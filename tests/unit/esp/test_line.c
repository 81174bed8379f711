/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the file that `ipsec` names, word by word. */
#include "esp/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define WORDS 4

static char why[160];

/* A line of one word, or of none. */
static struct esp_line line_of(char *word)
{
	struct esp_line l = {.word = {word}, .n = word != NULL, .why = why, .size = sizeof why};

	strcpy(why, "-");
	return l;
}

/* It has said what is wrong, with no octet of what may be a key. */
static void expect_refused(const char *said, const char *word)
{
	assert_non_null(strstr(why, said));
	if (word && strlen(word) > 3)
		assert_null(strstr(why, word));
}

/* ---- words ----------------------------------------------------------------------------------- */

static void lines_are_cut_into_words(void **state)
{
	static const struct {
		const char *text;
		const char *word[WORDS];
	} rows[] = {
		{"", {NULL}}, {" \t\r\n", {NULL}}, {"ip", {"ip"}},
		{"  ip\txfrm \r\n", {"ip", "xfrm"}},
		{"ip xfrm state add", {"ip", "xfrm", "state", "add"}}, {"# ip", {NULL}},
		{"ip #xfrm", {"ip"}}, {"ip# xfrm", {"ip#", "xfrm"}},
		{"'rfc4106(gcm(aes))' x", {"rfc4106(gcm(aes))", "x"}},
		{"\"a b\t#c\" d", {"a b\t#c", "d"}}, {"'' \"\"", {"", ""}},
		{"'\"' \"'\"", {"\"", "'"}}, {"'a'\tb", {"a", "b"}}, {"'a'", {"a"}},
		{"a'b' c", {"a'b'", "c"}}, /* a quote is one at the beginning of a word */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct esp_line l = line_of(NULL);
		char text[64];
		unsigned n = 0;

		strcpy(text, rows[i].text);
		assert_true(esp_line_split(&l, text));
		for (; n < WORDS && rows[i].word[n]; n++)
			assert_string_equal(esp_next(&l), rows[i].word[n]);
		assert_null(esp_next(&l));
		assert_null(esp_next(&l));
		assert_int_equal(l.n, n);
		assert_true(esp_all_taken(&l));
		assert_string_equal(why, "-");
	}
}

static void quotes_are_closed(void **state)
{
	static const char *const rows[] = {"'", "\"", "ip 'secret", "ip \"secret' x", "'secret\"",
		"'sec'ret", "'sec'#ret", "'sec''ret'"};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct esp_line l = line_of(NULL);
		char text[32];

		strcpy(text, rows[i]);
		assert_false(esp_line_split(&l, text));
		expect_refused("a quote is not closed", "secret");
	}
}

static void words_are_counted(void **state)
{
	for (unsigned n = ESP_WORDS_MAX - 1; n <= ESP_WORDS_MAX + 1; n++) {
		char text[2 * ESP_WORDS_MAX + 8] = "";
		struct esp_line l = line_of(NULL);

		for (unsigned i = 0; i < n; i++)
			strcat(text, "a ");
		if (n <= ESP_WORDS_MAX)
			strcat(text, "# b");
		assert_int_equal(esp_line_split(&l, text), n <= ESP_WORDS_MAX);
		if (n > ESP_WORDS_MAX)
			expect_refused("at most 64 words", NULL);
	}
}

/* What is said is cut, not what is behind it. */
static void reasons_are_cut(void **state)
{
	char small[] = "1234567890";
	struct esp_line l = {.why = small, .size = 6};

	assert_false(esp_refuse(&l, "%s %u", "abc", 12345));
	assert_string_equal(small, "abc 1");
	assert_memory_equal(small + 6, "7890", 5);
}

static void the_next_word_is_taken_if_it_is_meant(void **state)
{
	char text[] = "ip ipsec";
	struct esp_line l = line_of(NULL);

	assert_true(esp_line_split(&l, text));
	assert_false(esp_next_is(&l, "i"));
	assert_false(esp_next_is(&l, "ipsec"));
	assert_true(esp_next_is(&l, "ip"));
	assert_false(esp_next_is(&l, "ip"));
	assert_false(esp_all_taken(&l));
	expect_refused("word 2 belongs to no parameter", "ipsec");
	assert_true(esp_next_is(&l, "ipsec"));
	assert_false(esp_next_is(&l, "ipsec"));
	assert_false(esp_next_is(&l, ""));
	assert_true(esp_all_taken(&l));
}

/* ---- what stands behind a word --------------------------------------------------------------- */

static void numbers(void **state)
{
	static const struct {
		const char *word;
		uint64_t min, max;
		bool good;
		uint64_t value;
	} rows[] = {
		{"5", 5, 5, true, 5},
		{"4", 5, 6, false, 0},
		{"7", 5, 6, false, 0},
		{"0x5", 5, 6, true, 5},
		{"0x4", 5, 6, false, 0},
		{"0x7", 5, 6, false, 0},
		{"0x00ff", 0, 255, true, 255},
		{"0xAbCd", 0, UINT16_MAX, true, 0xabcd},
		{"0", 0, 1, true, 0},
		{"0x0", 0, 1, true, 0},
		{"18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX},
		{"18446744073709551616", 0, UINT64_MAX, false, 0},
		{"0xffffffffffffffff", 0, UINT64_MAX, true, UINT64_MAX},
		{"0x10000000000000000", 0, UINT64_MAX, false, 0},
		{"0x", 0, UINT64_MAX, false, 0},
		{"0x-1", 0, UINT64_MAX, false, 0},
		{"0x 1", 0, UINT64_MAX, false, 0},
		{"0x0x1", 0, UINT64_MAX, false, 0},
		{"0x1g", 0, UINT64_MAX, false, 0},
		{"0X1", 0, UINT64_MAX, false, 0},
		{"x1", 0, UINT64_MAX, false, 0},
		{"-1", 0, UINT64_MAX, false, 0},
		{"+1", 0, UINT64_MAX, false, 0},
		{" 1", 0, UINT64_MAX, false, 0},
		{"1 ", 0, UINT64_MAX, false, 0},
		{"1.0", 0, UINT64_MAX, false, 0},
		{"", 0, UINT64_MAX, false, 0},
		{"1234567", 0, 255, false, 0},
		{NULL, 0, UINT64_MAX, false, 0},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char word[32];
		struct esp_line l = line_of(rows[i].word ? strcpy(word, rows[i].word) : NULL);
		uint64_t v = 0;

		assert_int_equal(
			esp_number(&l, "reqid", rows[i].min, rows[i].max, &v), rows[i].good);
		if (rows[i].good) {
			assert_int_equal(v, rows[i].value);
			assert_int_equal(l.at, 1);
		} else {
			expect_refused(
				"behind \"reqid\"", rows[i].max == 255 ? rows[i].word : NULL);
		}
	}
}

/* Of its own kind each: bounds, and what is said where there is but one. */
static void numbers_of_a_kind(void **state)
{
	static const struct {
		const char *word;
		bool port, u32;
	} rows[] = {
		{"0", false, false},
		{"1", true, true},
		{"65535", true, true},
		{"65536", false, true},
		{"0x10000", false, true},
		{"4294967295", false, true},
		{"4294967296", false, false},
	};
	struct esp_line l;
	char word[16];
	uint16_t port;
	uint32_t u32;
	uint64_t v;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		port = 0;
		u32 = 0;
		l = line_of(strcpy(word, rows[i].word));
		assert_int_equal(esp_port(&l, "sport", &port), rows[i].port);
		assert_int_equal(port != 0, rows[i].port);
		l = line_of(strcpy(word, rows[i].word));
		assert_int_equal(esp_number_u32(&l, "spi", 1, &u32), rows[i].u32);
		assert_int_equal(u32 != 0, rows[i].u32);
	}
	l = line_of(strcpy(word, "5"));
	assert_false(esp_number(&l, "flag", 4, 4, &v));
	expect_refused("expected 4 behind \"flag\"", NULL);
	l = line_of(strcpy(word, "5"));
	assert_false(esp_number(&l, "flag", 6, 9, &v));
	expect_refused("expected a number from 6 to 9 behind \"flag\"", NULL);
}

static void addresses_and_choices(void **state)
{
	static const struct {
		const char *word;
		bool address;
		int choice; /* -1: neither */
	} rows[] = {
		{"10.0.0.1", true, -1},
		{"fd00::1", true, -1},
		{"10.0.0.1/24", false, -1},
		{"10.0.0", false, -1},
		{"esp", false, 0},
		{"udp", false, 1},
		{"espinudp", false, -1},
		{"es", false, -1},
		{"", false, -1},
		{NULL, false, -1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char word[16];
		struct esp_line l = line_of(rows[i].word ? strcpy(word, rows[i].word) : NULL);
		bool yes = rows[i].choice != 1;
		struct ip_addr a, want;

		assert_int_equal(esp_address(&l, "src", &a), rows[i].address);
		if (rows[i].address) {
			assert_int_equal(ip_addr_parse(rows[i].word, &want), 0);
			assert_memory_equal(&a, &want, sizeof a);
		} else {
			expect_refused("an address behind \"src\"", rows[i].word);
		}
		l.at = 0;
		assert_int_equal(esp_choice(&l, "encap", "esp", "udp", &yes), rows[i].choice >= 0);
		if (rows[i].choice >= 0)
			assert_int_equal(yes, rows[i].choice);
		else
			expect_refused("expected esp or udp behind \"encap\"", NULL);
	}
}

/* ---- parameters ------------------------------------------------------------------------------ */

static unsigned taken;

static bool take_one(struct esp_line *l)
{
	taken += 1;
	return true;
}

static bool take_word(struct esp_line *l)
{
	taken += 10;
	return esp_next(l) != NULL || esp_refuse(l, "no word");
}

static void parameters_are_taken_in_any_order(void **state)
{
	static const struct esp_parameter list[] = {
		{"one", take_one}, {"word", take_word}, {NULL, NULL}};
	static const struct {
		const char *text;
		unsigned taken, at;
		bool good;
	} rows[] = {
		{"", 0, 0, true},
		{"one", 1, 1, true},
		{"word one one", 11, 3, true},
		{"one word one word word", 21, 5, true},
		{"one other one", 1, 1, true}, /* whose it is is for others to say */
		{"on", 0, 0, true},
		{"one word", 11, 2, false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct esp_line l = line_of(NULL);
		char text[32];

		taken = 0;
		strcpy(text, rows[i].text);
		assert_true(esp_line_split(&l, text));
		assert_int_equal(esp_take_all(&l, list), rows[i].good);
		assert_int_equal(taken, rows[i].taken);
		assert_int_equal(l.at, rows[i].at);
		if (!rows[i].good)
			expect_refused("no word", NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_cut_into_words),
		cmocka_unit_test(quotes_are_closed),
		cmocka_unit_test(words_are_counted),
		cmocka_unit_test(reasons_are_cut),
		cmocka_unit_test(the_next_word_is_taken_if_it_is_meant),
		cmocka_unit_test(numbers),
		cmocka_unit_test(numbers_of_a_kind),
		cmocka_unit_test(addresses_and_choices),
		cmocka_unit_test(parameters_are_taken_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
