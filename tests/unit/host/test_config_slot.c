/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_slot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static void expect(const char *value, unsigned slot, const char *expected)
{
	char out[CONFIG_MAX_EXPANDED] = "";
	const char *right = NULL;

	assert_true(config_slot_expand(value, slot, out, &right) > 0);
	assert_string_equal(out, expected);
}

static void test_expand(void **state)
{
	char out[CONFIG_MAX_EXPANDED] = "as it was";
	const char *right = NULL;

	expect("10.0.0.%{slot}/24", 7, "10.0.0.7/24");
	expect("%{slot}", 65535, "65535");
	expect("02:00:00:00:%{slot:02x}:%{slot:02x}", 11, "02:00:00:00:0b:0b");
	expect("fd00::%{slot:x}/64", 255, "fd00::ff/64");
	expect("m%{slot:03}.sock", 7, "m007.sock");
	expect("a%{slot:3}", 7, "a  7");
	assert_int_equal(config_slot_expand("10.0.0.1/24", 1, out, &right), 0);
	assert_int_equal(config_slot_expand("100%,{slot}", 1, out, &right), 0);
	assert_string_equal(out, "as it was");
}

static void test_expand_refuses(void **state)
{
	static const char *const bad[] = {"%{", "%{}", "%{slot", "%{slots}", "%{slot:", "%{slot:9}",
		"%{slot:d}", "%{slot:12}", "a%{slot}b%{rank}", "%{slot:x2}"};
	char out[CONFIG_MAX_EXPANDED];
	const char *right;

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		right = NULL;
		assert_int_equal(config_slot_expand(bad[i], 1, out, &right), -EINVAL);
		assert_non_null(right);
	}
}

/* No value from outside leaves the buffer, wherever its length comes from. */
static void test_expand_long(void **state)
{
	char value[3 * CONFIG_MAX_EXPANDED], out[CONFIG_MAX_EXPANDED];
	const char *right = NULL;
	unsigned fits = 0;

	for (size_t n = 0; n < CONFIG_MAX_EXPANDED + 20; n++) {
		memset(value, 'x', n);
		strcpy(value + n, "%{slot:8}");
		fits += config_slot_expand(value, 1, out, &right) == 1;
		strcpy(value, "%{slot:8}");
		memset(value + 9, 'x', n);
		value[9 + n] = '\0';
		fits += config_slot_expand(value, 1, out, &right) == 1;
	}
	assert_in_range(fits, 2 * 1400, 2 * CONFIG_MAX_EXPANDED);
	/* The first number ends within the last octets, and more comes. */
	for (size_t n = CONFIG_MAX_EXPANDED - 40; n < CONFIG_MAX_EXPANDED; n++) {
		memset(value, 'x', n);
		strcpy(value + n, "%{slot:8}");
		memset(value + n + 9, 'y', CONFIG_MAX_EXPANDED);
		strcpy(value + n + 9 + CONFIG_MAX_EXPANDED, "%{slot}");
		assert_int_equal(config_slot_expand(value, 1, out, &right), -EINVAL);
	}
	*value = '\0';
	for (unsigned i = 0; i < 300; i++)
		strcat(value, "%{slot:8}");
	assert_int_equal(config_slot_expand(value, 1, out, &right), -EINVAL);
}

static void test_range(void **state)
{
	static const char *const bad[] = {"", "4", "0-4", "5-4", "1-65536", "1-", "-4", ":1-4",
		"a b:1-4", "1-4:a", "a:b:1-4", "../x:1-4", "00000001-4", "1 - 4",
		"abcdefghijklmnopqrstuvwxyz0123456:1-4"};
	struct config c;

	config_init(&c);
	assert_null(config_slot_range(&c, "5-9"));
	assert_int_equal(c.slot_first, 5);
	assert_int_equal(c.slot_last, 9);
	assert_string_equal(c.slot_group, "default");
	assert_null(config_slot_range(&c, "blue-1:65535-65535"));
	assert_int_equal(c.slot_first, 65535);
	assert_string_equal(c.slot_group, "blue-1");
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_non_null(config_slot_range(&c, bad[i]));
	assert_int_equal(c.slot_first, 65535);
}

static int from(const char *set, struct config *c, struct config_error *e)
{
	unsetenv("UIWARP_CONFIG");
	setenv("UIWARP_SET", set, 1);
	memset(e, 0, sizeof *e);
	return config_from_environment(c, e);
}

/* Both ends of the range are tried before anything starts; the range may stand behind its use. */
static void test_environment(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(from("port=net_tap0,iface=t%{slot}\naddress=10.0.0.%{slot}/24\n"
			      "mac=02:00:00:00:00:%{slot:02x}\nslots=g:16-20",
				 &c, &e),
		1);
	assert_true(c.slot_wanted);
	assert_int_equal(c.slot_hold.n, 0);
	assert_string_equal(c.port, "net_tap0,iface=t16");
	assert_int_equal(c.address[0].addr.b[15], 16);
	assert_int_equal(c.mac[5], 0x10);

	assert_int_equal(from("port=x\naddress=10.0.0.%{slot}/24\nslots=1-300", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "10.0.0.300/24"));
	assert_int_equal(from("port=x\naddress=10.0.0.%{slot}/24\nslots=1-255", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "broadcast"));
	assert_int_equal(from("port=x\naddress=10.0.0.%{rank}/24", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "%{slot}"));
	assert_int_equal(from("port=x\naddress=10.0.0.1/24\nslots=%{slot}-3", &c, &e), -EINVAL);
	assert_int_equal(from("port=x\naddress=10.0.0.1/24", &c, &e), 1);
	assert_false(c.slot_wanted);
}

static void test_take(void **state)
{
	static const char set[] = "port=p%{slot}\naddress=10.0.0.%{slot}/24\nslots=unit-test:4-5";
	struct config_error e;
	struct config a, b, c;

	assert_int_equal(from(set, &a, &e), 1);
	assert_int_equal(config_take_slot(&a, &e), 0);
	assert_true(a.slot_hold.n > 0);
	assert_int_equal(from(set, &b, &e), 1);
	assert_int_equal(config_take_slot(&b, &e), 0);
	assert_int_equal(b.slot, a.slot + 1);
	assert_int_equal(b.address[0].addr.b[15], 5);
	assert_string_equal(b.port, "p5");
	assert_int_equal(from(set, &c, &e), 1);
	assert_int_equal(config_take_slot(&c, &e), -EBUSY);
	assert_non_null(strstr(e.text, "all slots from 4 to 5 of group \"unit-test\" are taken"));
	slot_release(&a.slot_hold);
	assert_int_equal(config_take_slot(&c, &e), 0);
	assert_int_equal(c.slot, 4);
	slot_release(&b.slot_hold);
	slot_release(&c.slot_hold);

	/* One without patterns takes none. */
	assert_int_equal(from("port=x\naddress=10.0.0.1/24", &c, &e), 1);
	assert_int_equal(config_take_slot(&c, &e), 0);
	assert_int_equal(c.slot_hold.n, 0);
}

/* Those of a login and of cron: their slots differ, and so do their addresses. */
static void test_take_beside_another_environment(void **state)
{
	static const char set[] = "port=p%{slot}\naddress=10.0.0.%{slot}/24\nslots=unit-env:4-5";
	char runtime[] = "/tmp/uiw-config-slot.XXXXXX", command[128];
	struct config_error e;
	struct config a, b;

	if (geteuid() == 0 && seteuid(1000000 + (uid_t)getpid()) != 0)
		skip();
	assert_non_null(mkdtemp(runtime));
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	assert_int_equal(from(set, &a, &e), 1);
	assert_int_equal(config_take_slot(&a, &e), 0);
	unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(from(set, &b, &e), 1);
	assert_int_equal(config_take_slot(&b, &e), 0);
	assert_int_equal(a.slot, 4);
	assert_int_equal(b.slot, 5);
	slot_release(&a.slot_hold);
	slot_release(&b.slot_hold);
	snprintf(command, sizeof command, "rm -rf %s", runtime);
	assert_int_equal(system(command), 0);
	if (getuid() == 0) {
		snprintf(command, sizeof command, "rm -rf /tmp/uiwarp-%u", (unsigned)geteuid());
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_expand_refuses),
		cmocka_unit_test(test_expand_long),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_take_beside_another_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
