/* SPDX-License-Identifier: BSD-2-Clause */
/* The node GUID of a configuration. */
#include "host/guid.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static struct config c;

static int setup(void **state)
{
	config_init(&c);
	return 0;
}

static void set(const char *assignment)
{
	struct config_error e;

	assert_int_equal(config_set(&c, "--set", assignment, &e), 0);
}

/* RFC 4291, appendix A, has this very example. */
static void the_mac_address_in_its_eui_64_form(void **state)
{
	static const uint8_t expected[8] = {0x36, 0x56, 0x78, 0xff, 0xfe, 0x9a, 0xbc, 0xde};
	uint64_t guid;

	set("mac=34:56:78:9a:bc:de");
	set("address=10.0.0.1/24");
	guid = guid_from_config(&c);
	assert_memory_equal(&guid, expected, sizeof expected);
}

/* What was given out stays: programs keep it in files. */
static void without_one_the_first_address(void **state)
{
	static const uint8_t expected[8] = {0x48, 0x53, 0xe8, 0xfe, 0x78, 0x6d, 0x31, 0x50};
	uint64_t guid, other;
	uint8_t b[8];

	set("address=10.0.0.1/24");
	guid = guid_from_config(&c);
	memcpy(b, &guid, sizeof b);
	assert_memory_equal(b, expected, sizeof expected);
	/* Of local scope, one station's, and no MAC address. */
	assert_int_equal(b[0] & 3, 0);
	assert_false(b[3] == 0xff && b[4] == 0xfe);
	set("address=10.0.0.9/24");
	assert_true(guid_from_config(&c) == guid);

	config_init(&c);
	set("address=10.0.0.2/24");
	other = guid_from_config(&c);
	assert_true(other != guid && other != 0);
	config_init(&c);
	set("address=2001:db8::1/64");
	assert_true(guid_from_config(&c) != guid && guid_from_config(&c) != other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_mac_address_in_its_eui_64_form, setup),
		cmocka_unit_test_setup(without_one_the_first_address, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
