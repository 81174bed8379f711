/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const char *shown(const struct config *c, const char *key)
{
	static char text[CONFIG_VALUE_TEXT];
	const struct config_key *k = config_key_find(key);

	assert_non_null(k);
	return config_value_show(c, k, text);
}

static void what_is_given_is_shown(void **state)
{
	static const struct {
		const char *set, *key, *value;
	} cases[] = {
		{"port=net_null0", "port", "net_null0"},
		{"address=10.0.0.1/24, fd00::1/64", "address", "10.0.0.1/24,fd00::1/64"},
		{"gateway=10.0.0.9", "gateway", "10.0.0.9"},
		{"mtu=9000", "mtu", "9000"},
		{"mac=02:00:00:00:00:1f", "mac", "02:00:00:00:00:1f"},
		{"progress=dedicated:3", "progress", "dedicated:3"},
		{"progress=relaxed", "progress", "relaxed"},
		{"congestion_control=bbr", "congestion_control", "bbr"},
		{"crc=on", "crc", "preferred"},
		{"send_buffer=64K", "send_buffer", "65536"},
		{"settle=7", "settle", "7"},
		{"connect_port=99", "connect_port", "99"},
		{"telemetry=off", "telemetry", "off"},
		{"capture=/tmp/x", "capture", "/tmp/x"},
	};
	struct config_error e;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct config c;

		config_init(&c);
		assert_int_equal(config_set(&c, "--set", cases[i].set, &e), 0);
		assert_string_equal(shown(&c, cases[i].key), cases[i].value);
	}
}

/** The defaults, as the documents have them. */
static void what_is_not_given_is_the_default(void **state)
{
	char text[CONFIG_VALUE_TEXT];
	struct config c;

	config_init(&c);
	for (unsigned i = 0; i < config_num_keys; i++) {
		const struct config_key *k = &config_keys[i];
		const char *value = config_value_show(&c, k, text);

		if (!value || k->type == CONFIG_SIZE)
			continue;
		/* The documents' marks are none of the value's. */
		assert_null(strchr(value, '`'));
		if (k->initial || !strchr(k->absent, '`'))
			assert_string_equal(value, k->initial ? k->initial : k->absent);
		if (strcmp(k->name, "congestion_control") == 0)
			assert_string_equal(value, "cubic");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_given_is_shown),
		cmocka_unit_test(what_is_not_given_is_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
