/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of keys: what it says of each key is what the parser does. */
#include "host/config_value.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct config_error e;

/* Over all keys of a type, or of every one. */
#define EACH_KEY(k) \
	for (const struct config_key *k = config_keys; k < config_keys + config_num_keys; k++)

static int set_text(struct config *c, const struct config_key *k, const char *value)
{
	char assignment[CONFIG_MAX_PATH + 128];

	snprintf(assignment, sizeof assignment, "%s=%s", k->name, value);
	return config_set(c, "--set", assignment, &e);
}

static int set_number(struct config *c, const struct config_key *k, uint64_t n)
{
	char value[32];

	snprintf(value, sizeof value, "%llu", (unsigned long long)n);
	return set_text(c, k, value);
}

static uint64_t stored(const struct config *c, const struct config_key *k)
{
	const char *field = (const char *)c + k->offset;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;

	memcpy(&u8, field, sizeof u8);
	memcpy(&u16, field, sizeof u16);
	memcpy(&u32, field, sizeof u32);
	return k->size == sizeof u8 ? u8 : k->size == sizeof u16 ? u16 : u32;
}

static void assert_refused(struct config *c, const struct config_key *k, int rc)
{
	const struct config before = *c;
	char value[CONFIG_MAX_PATH];
	const char *plain = value;
	struct config_phrase p;
	size_t n = 0;

	for (const char *s = config_value_expected(k, &p); *s != '\0'; s++)
		if (*s != '`')
			value[n++] = *s;
	value[n] = '\0';
	if (rc != -EINVAL || strstr(e.text, plain) == NULL)
		fail_msg("%s: %d, \"%s\" does not say \"%s\"", k->name, rc, e.text, plain);
	assert_memory_equal(c, &before, sizeof before);
}

static void test_names_and_texts(void **state)
{
	EACH_KEY(k)
	{
		struct config_phrase p;
		size_t length = strlen(k->text);

		assert_ptr_equal(config_key_find(k->name), k);
		assert_true(k->offset + k->size <= sizeof(struct config));
		assert_true(k->parse != NULL || k->size != 0);
		if (length < 10 || k->text[length - 1] != '.')
			fail_msg("the text of %s is no sentence", k->name);
		/* They go into tables of Markdown and lines with tabs. */
		assert_null(strpbrk(k->text, "|\t\n"));
		assert_null(strpbrk(config_value_expected(k, &p), "|\t\n"));
		assert_true(strlen(config_value_expected(k, &p)) > 5);
		assert_true(strlen(config_value_expected(k, &p)) < sizeof p.text - 1);
		/* One default at most. */
		assert_true(k->initial == NULL || k->absent == NULL);
	}
}

/* The sentence with all of them is whole. */
static void test_all_keys_are_told(void **state)
{
	struct config c;

	config_init(&c);
	assert_int_equal(config_set(&c, "--set", "frobnicate=1", &e), -EINVAL);
	EACH_KEY(k)
	assert_non_null(strstr(e.text, k->name));
	assert_string_equal(e.text + strlen(e.text) - strlen("telemetry"), "telemetry");
}

/* A default that is given changes nothing. */
static void test_defaults_are_told(void **state)
{
	struct config usual, c;

	config_init(&usual);
	EACH_KEY(k)
	{
		config_init(&c);
		if (k->initial == NULL)
			continue;
		if (set_text(&c, k, k->initial) != 0)
			fail_msg("%s: %s", k->name, e.text);
		c.given = 0;
		assert_memory_equal(&c, &usual, sizeof c);
	}
}

static void test_numbers_end_where_they_say(void **state)
{
	unsigned count = 0;

	EACH_KEY(k)
	{
		struct config c;

		if (k->type != CONFIG_NUMBER && k->type != CONFIG_SIZE)
			continue;
		count++;
		config_init(&c);
		assert_int_equal(set_number(&c, k, k->max), 0);
		assert_int_equal(stored(&c, k), k->max);
		assert_int_equal(set_number(&c, k, k->min), 0);
		assert_int_equal(stored(&c, k), k->min);
		assert_refused(&c, k, set_number(&c, k, k->max + 1));
		assert_refused(&c, k, set_text(&c, k, "99999999999999999999999"));
		if (k->min > 1)
			assert_refused(&c, k, set_number(&c, k, k->min - 1));
		if (k->min > 0 && !k->or_zero)
			assert_refused(&c, k, set_number(&c, k, 0));
		else
			assert_int_equal(set_number(&c, k, 0), 0);
		if (k->zero != NULL) {
			assert_int_equal(set_text(&c, k, k->zero), 0);
			assert_int_equal(stored(&c, k), 0);
		}
	}
	assert_true(count >= 15);
}

static void test_words_are_taken(void **state)
{
	EACH_KEY(k)
	{
		const struct config_word *w = k->words;
		struct config c;

		config_init(&c);
		for (; w != NULL && w->name != NULL; w++) {
			struct config_phrase p;
			char typed[32];
			const char *expected = config_value_expected(k, &p);

			assert_int_equal(set_text(&c, k, w->name), 0);
			if (k->type == CONFIG_WORD)
				assert_int_equal(stored(&c, k), w->value);
			else if (k->type == CONFIG_NAME)
				assert_string_equal((char *)&c + k->offset, w->name);
			snprintf(typed, sizeof typed, "`%s`", w->name);
			assert_int_equal(strstr(expected, typed) == NULL, w->old);
		}
		if (k->words != NULL)
			assert_refused(&c, k, set_text(&c, k, "frobnicate"));
	}
}

static void test_texts_fit(void **state)
{
	EACH_KEY(k)
	{
		char text[CONFIG_MAX_PATH + 1];
		struct config c;

		if (k->type != CONFIG_TEXT)
			continue;
		assert_true(k->size <= sizeof text - 1);
		memset(text, 'x', sizeof text);
		text[k->size] = '\0';
		config_init(&c);
		assert_refused(&c, k, set_text(&c, k, text));
		text[k->size - 1] = '\0';
		assert_int_equal(set_text(&c, k, text), 0);
		assert_string_equal((char *)&c + k->offset, text);
	}
}

/* Two steps away is near; nothing is near that would have to be written anew. */
static void test_nearest(void **state)
{
	assert_string_equal(config_key_nearest("adress")->name, "address");
	assert_string_equal(config_key_nearest("keep_alive")->name, "keepalive");
	assert_string_equal(config_key_nearest("max_startup")->name, "max_startups");
	assert_string_equal(config_key_nearest("tsl")->name, "tls");
	assert_string_equal(config_key_nearest("gatewya")->name, "gateway");
	assert_null(config_key_nearest("frobnicate"));
	assert_null(config_key_nearest("x"));
	assert_null(config_key_nearest("an_extraordinarily_long_name_of_no_key"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_texts),
		cmocka_unit_test(test_all_keys_are_told),
		cmocka_unit_test(test_defaults_are_told),
		cmocka_unit_test(test_numbers_end_where_they_say),
		cmocka_unit_test(test_words_are_taken),
		cmocka_unit_test(test_texts_fit),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
