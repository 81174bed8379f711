/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration from UIWARP_CONFIG and UIWARP_SET, and the slot that it asks for. */
#include "host/config.h"
#include "host/config_givers.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

#define PATH  "test_config_environment.conf"
#define SLOTS "port=p%{slot}\naddress=10.0.0.%{slot}/24\nslots=unit-environment:6-7"

static int from(const char *path, const char *set, struct config *c, struct config_error *e)
{
	if (path)
		setenv("UIWARP_CONFIG", path, 1);
	else
		unsetenv("UIWARP_CONFIG");
	if (set)
		setenv("UIWARP_SET", set, 1);
	else
		unsetenv("UIWARP_SET");
	memset(e, 0, sizeof *e);
	return config_from_environment(c, e);
}

static void write_file(const char *text)
{
	FILE *f = fopen(PATH, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void test_none(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(from(NULL, NULL, &c, &e), 0);
	assert_int_equal(from("", "", &c, &e), 0);
	assert_int_equal(from("", NULL, &c, &e), 0);
	assert_string_equal(e.text, "");
	/* All defaults all the same. */
	assert_string_equal(c.name, "uiw0");
	assert_int_equal(c.slot_hold.n, 0);
	/* Nothing but ends of lines is a configuration, all of it defaults. */
	assert_int_equal(from(NULL, "\n\n", &c, &e), 1);
	assert_string_equal(c.port, "kernel");
}

static void test_assignments(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(
		from(NULL, "port=net_null0\n\naddress=10.0.0.1/24\nmtu=1400\nmtu=1500\n", &c, &e),
		1);
	assert_int_equal(c.mtu, 1500);
	assert_int_equal(
		from(NULL, "port=net_null0\naddress=10.0.0.1/24\nmtu=no", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "UIWARP_SET: \"mtu\""));
	/* The first that is wrong ends it. */
	assert_int_equal(from(NULL, "mtu=no\nname=1", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "UIWARP_SET: \"mtu\""));
	assert_int_equal(from(NULL, "port=net_null0", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "\"address\" is missing"));
	assert_int_equal(from(NULL, "port", &c, &e), -EINVAL);
	assert_string_equal(e.text, "UIWARP_SET: \"port\"; expected key=value");
}

/* Of the lines only the last ones, as many as they are, are those of the command line. */
static void test_errors_name_who_gave_the_line(void **state)
{
	static const struct {
		const char *set, *options, *others, *says;
	} cases[] = {
		{"mtu=no\nport=a", "port=a", "UIWARP_SET", "UIWARP_SET: \"mtu\" is \"no\""},
		{"mtu=no\nport=a", "port=a", "--config", "--config: \"mtu\" is \"no\""},
		{"port=a\nmtu=no", "mtu=no", "UIWARP_SET", "--set: \"mtu\" is \"no\""},
		{"port=a\nmtu=no", "port=a\nmtu=no", "UIWARP_SET", "--set: \"mtu\" is \"no\""},
		{"port=a\nmtu=no\nname=b", "mtu=no\nname=b", "UIWARP_SET",
			"--set: \"mtu\" is \"no\""},
		{"mtu=no\n", "", "UIWARP_SET", "UIWARP_SET: \"mtu\" is \"no\""},
	};
	struct config_error e;
	struct config c;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct config_givers by = {strlen(cases[i].options), cases[i].others};

		config_givers_export(&by, cases[i].set);
		assert_int_equal(from(NULL, cases[i].set, &c, &e), -EINVAL);
		assert_ptr_equal(strstr(e.text, cases[i].says), e.text);
	}
	unsetenv("UIWARP_SET_BY");
}

/* Neither with the first number nor with the last: it is told of when the slot is taken. */
static void test_giver_of_what_is_wrong_with_one_slot(void **state)
{
	static const char set[] = "port=p\naddress=10.0.0.%{slot}/24\nmac=0%{slot}:00:00:00:00:01\n"
				  "slots=unit-giver:2-4";
	const struct config_givers by = {strlen(strstr(set, "mac=")), "UIWARP_SET"};
	struct config_error e;
	struct config c, next;

	config_givers_export(&by, set);
	assert_int_equal(from(NULL, set, &c, &e), 1);
	next = c;
	assert_int_equal(config_take_slot(&c, &e), 0);
	assert_int_equal(config_take_slot(&next, &e), -EINVAL);
	assert_ptr_equal(strstr(e.text, "--set: \"mac\" is \"03:00:00:00:00:01\""), e.text);
	slot_release(&c.slot_hold);
	unsetenv("UIWARP_SET_BY");
}

static void test_file_and_assignments(void **state)
{
	struct config_error e;
	struct config c;

	write_file("address = 10.0.0.5/8\nname = iw1\nmtu = 1400\n");
	assert_int_equal(from(PATH, "port=net_null0\nmtu=1500", &c, &e), 1);
	assert_string_equal(c.name, "iw1");
	assert_int_equal(c.mtu, 1500);
	assert_int_equal(c.num_addresses, 1);
	/* The whole is checked, not each of the two. */
	assert_int_equal(from(PATH, "", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "\"mtu\" is given, but \"port\" is kernel"));
	/* An error of the file comes first. */
	write_file("port = net_null0\nmtu = no\n");
	assert_int_equal(from(PATH, "mtu=never", &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, PATH ", line 2: \"mtu\" is \"no\""));
	assert_int_equal(from("/nonexistent/x.conf", NULL, &c, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/x.conf: cannot read the configuration"));
}

static void test_slot_names(void **state)
{
	struct config_error e;
	struct config c;

	assert_int_equal(from(NULL, SLOTS, &c, &e), 1);
	assert_false(c.slot_names);
	assert_int_equal(from(NULL, SLOTS "\nname=iw%{slot}", &c, &e), 1);
	assert_true(c.slot_names);
	assert_string_equal(c.name, "iw6");
	/* The last number has to fit as well as the first. */
	assert_int_equal(from(NULL,
				 "port=p\nname=abcdefghijklmnopqrstuvwxyz0123%{slot}\n"
				 "address=10.0.0.1/24\nslots=unit-environment:9-10",
				 &c, &e),
		-EINVAL);
	assert_non_null(strstr(e.text, "abcdefghijklmnopqrstuvwxyz012310"));
}

/* How many descriptors are open. */
static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

/* Between looking and taking the environment may have changed: then no slot is kept. */
static void test_slot_of_a_changed_environment(void **state)
{
	struct config_error e;
	struct config c;
	unsigned before;

	assert_int_equal(from(NULL, SLOTS, &c, &e), 1);
	before = open_descriptors();
	unsetenv("UIWARP_SET");
	assert_int_equal(config_take_slot(&c, &e), -ENOENT);
	assert_string_equal(e.text, "the configuration is gone");
	assert_int_equal(open_descriptors(), before);

	assert_int_equal(from(NULL, SLOTS, &c, &e), 1);
	setenv("UIWARP_SET", SLOTS "\nmtu=no", 1);
	assert_int_equal(config_take_slot(&c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "UIWARP_SET: \"mtu\""));
	assert_int_equal(open_descriptors(), before);

	assert_int_equal(from(NULL, SLOTS "\nname=iw%{slot}", &c, &e), 1);
	assert_int_equal(config_take_slot(&c, &e), 0);
	assert_int_equal(c.slot, 6);
	assert_true(c.slot_names);
	assert_int_equal(open_descriptors(), before + c.slot_hold.n);
	slot_release(&c.slot_hold);
	assert_int_equal(open_descriptors(), before);
}

static int clean_up(void **state)
{
	unlink(PATH);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_assignments),
		cmocka_unit_test(test_errors_name_who_gave_the_line),
		cmocka_unit_test(test_giver_of_what_is_wrong_with_one_slot),
		cmocka_unit_test(test_file_and_assignments),
		cmocka_unit_test(test_slot_names),
		cmocka_unit_test(test_slot_of_a_changed_environment),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
