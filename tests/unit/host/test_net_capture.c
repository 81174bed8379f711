/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures of a running host on DPDK's null port: begun, exchanged, ended, and refused. */
#include "host/net_priv.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

#include "net_fixture.h"

static char directory[64], a[80], b[80];
static struct net *n;
static struct config_error e;

static void open_net(const char *port)
{
	const char *const set[] = {
		port, "address=10.0.0.1/24", "memory=16", "log=error", "telemetry=off"};

	n = net_fixture_open(set, sizeof set / sizeof set[0]);
}

static int setup(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-capture.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(a, sizeof a, "%s/a.pcapng", directory);
	snprintf(b, sizeof b, "%s/b.pcapng", directory);
	open_net("port=net_null0");
	return net_start(n, NULL, &e);
}

static int teardown(void **state)
{
	char rotated[sizeof b + 2];

	net_stop(n);
	net_close(n);
	unlink(a);
	unlink(b);
	/* The port's frames have no end: a thread that waited has filled the first of two files. */
	snprintf(rotated, sizeof rotated, "%s.1", b);
	unlink(rotated);
	return rmdir(directory);
}

/** The first block of a capture is in the file. */
static void assert_is_capture(const char *path)
{
	uint32_t type = 0;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fread(&type, sizeof type, 1, f), 1);
	fclose(f);
	assert_int_equal(type, 0x0a0d0d0a);
}

static void one_takes_the_place_of_another(void **state)
{
	assert_null(n->capture);
	assert_string_equal(n->capture_path, "");
	assert_int_equal(net_set_capture(n, a, 0, 0, &e), 0);
	assert_non_null(n->capture);
	assert_string_equal(n->capture_path, a);
	assert_int_equal(net_set_capture(n, b, 1 << 20, 2, &e), 0);
	assert_string_equal(n->capture_path, b);
	assert_is_capture(a); /* it is whole, as it was closed */
	/* The same file once more: the one before has been closed first. */
	assert_int_equal(net_set_capture(n, b, 0, 0, &e), 0);
	assert_int_equal(net_set_capture(n, "", 0, 0, &e), 0);
	assert_null(n->capture);
	assert_string_equal(n->capture_path, "");
	assert_is_capture(b);
	assert_int_equal(net_set_capture(n, "", 0, 0, &e), 0);
}

/** It is told why, and then there is none: the one before has ended for it. */
static void one_that_cannot_begin(void **state)
{
	char expected[200];

	assert_int_equal(net_set_capture(n, a, 0, 0, &e), 0);
	assert_int_equal(net_set_capture(n, directory, 0, 0, &e), -EISDIR);
	snprintf(expected, sizeof expected, "capture file \"%s\": Is a directory", directory);
	assert_string_equal(e.text, expected);
	assert_null(n->capture);
	assert_string_equal(n->capture_path, "");
	assert_is_capture(a);
}

/** "%p" is the process's number, the first time; any other "%" is a character. */
static void names_with_the_process(void **state)
{
	char pattern[120], path[120];

	snprintf(pattern, sizeof pattern, "%s/%%s%%p.%%p", directory);
	snprintf(path, sizeof path, "%s/%%s%d.%%p", directory, (int)getpid());
	assert_int_equal(net_set_capture(n, pattern, 0, 0, &e), 0);
	assert_string_equal(n->capture_path, path);
	assert_int_equal(net_set_capture(n, "", 0, 0, &e), 0);
	assert_is_capture(path);
	assert_int_equal(unlink(path), 0);
}

static void there_are_no_frames_of_the_kernel(void **state)
{
	struct config c;

	config_init(&c);
	c.log = LOG_LEVEL_ERROR;
	c.telemetry = false;
	assert_int_equal(ip_addr_parse("127.0.0.1", &c.address[0].addr), 0);
	c.num_addresses = 1;
	assert_int_equal(net_open(&c, &n, &e), 0);
	assert_int_equal(net_set_capture(n, "/tmp/x", 0, 0, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.text, "there are no frames to capture"));
	assert_string_equal(n->capture_path, "");
	net_close(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_takes_the_place_of_another, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_cannot_begin, setup, teardown),
		cmocka_unit_test_setup_teardown(names_with_the_process, setup, teardown),
		cmocka_unit_test(there_are_no_frames_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
