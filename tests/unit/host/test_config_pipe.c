/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration that can be read once. */
#include "host/config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/** Longer than any test may take, ms. */
#define LONG 600000

static char fifo[64];
static struct config_error e;
static char *set;

/** A pipe without a name that has @p text in it. @param ended its writer has. */
static int text_in(const char *text, size_t len, char path[32], bool ended)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, len), len);
	if (ended)
		close(ends[1]);
	snprintf(path, 32, "/proc/self/fd/%d", ends[0]);
	return ends[0];
}

/** @return what config_read_pipe() does. */
static int read_text(const char *text, size_t len)
{
	char path[32];
	int fd = text_in(text, len, path, true), rc = config_read_pipe(path, LONG, &set, &e);

	close(fd);
	return rc;
}

#define READ(text) read_text(text, sizeof text - 1)

static void it_becomes_assignments(void **state)
{
	assert_int_equal(READ("# of a host\n port = net_null0 # none\nname:uiw7\n"
			      "address = 10.9.0.1/24\naddress = 10.9.0.2/24,10.9.0.3/24\n"),
		0);
	assert_string_equal(set, "port=net_null0\nname=uiw7\naddress=10.9.0.1/24\n"
				 "address=10.9.0.2/24,10.9.0.3/24\n");
	free(set);
	/* Without a line end; and nothing at all. */
	assert_int_equal(READ("mtu=1400"), 0);
	assert_string_equal(set, "mtu=1400\n");
	free(set);
	assert_int_equal(READ(""), 0);
	assert_string_equal(set, "");
	free(set);
}

/** It is held to what a file is, and the sentence has the line. */
static void what_is_wrong_has_its_line(void **state)
{
	assert_int_equal(READ("mtu = 1400\n\nmtu = 1500\n"), -EINVAL);
	assert_non_null(strstr(e.text, ", line 3: \"mtu\" stands here again after line 1"));
	assert_null(set);
	assert_int_equal(READ("mtu\n"), -EINVAL);
	assert_non_null(strstr(e.text, ", line 1: expected key = value"));
	assert_int_equal(READ("mtu = 14\0 0\n"), -EINVAL);
	assert_non_null(strstr(e.text, "a zero byte"));
}

static void *write_slowly(void *text)
{
	int fd = open(fifo, O_WRONLY);

	for (const char *at = text; *at; at++)
		if (write(fd, at, 1) != 1)
			break;
	close(fd);
	return NULL;
}

static void a_writer_may_come_later(void **state)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, write_slowly, "mtu = 1400\nname = uiw7\n"), 0);
	assert_int_equal(config_read_pipe(fifo, LONG, &set, &e), 0);
	pthread_join(t, NULL);
	assert_string_equal(set, "mtu=1400\nname=uiw7\n");
	free(set);
	/* Who comes and writes nothing has said all. */
	assert_int_equal(pthread_create(&t, NULL, write_slowly, ""), 0);
	assert_int_equal(config_read_pipe(fifo, LONG, &set, &e), 0);
	pthread_join(t, NULL);
	assert_string_equal(set, "");
	free(set);
}

static void nobody_is_waited_for_without_an_end(void **state)
{
	char path[32];
	int fd;

	assert_int_equal(config_read_pipe(fifo, 1, &set, &e), -ETIMEDOUT);
	assert_non_null(strstr(e.text, "nobody has written to this pipe and closed it in time"));
	assert_null(set);
	/* Its writer stays: this process. */
	fd = text_in("mtu = 1400\n", 11, path, false);
	assert_int_equal(config_read_pipe(path, 1, &set, &e), -ETIMEDOUT);
	assert_null(set);
	close(fd);
}

static void *write_without_end(void *unused)
{
	static const char line[] = "#\n";
	int fd = open(fifo, O_WRONLY);

	while (write(fd, line, sizeof line - 1) > 0)
		;
	close(fd);
	return NULL;
}

static void a_writer_without_an_end_is_refused(void **state)
{
	pthread_t t;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pthread_create(&t, NULL, write_without_end, NULL), 0);
	assert_int_equal(config_read_pipe(fifo, LONG, &set, &e), -EFBIG);
	pthread_join(t, NULL);
	assert_non_null(strstr(e.text, "expected at most 1048576 bytes from it"));
	assert_null(set);
}

static void it_is_told_from_files(void **state)
{
	assert_int_equal(config_look_at(fifo, &e), 1);
	assert_int_equal(config_look_at("/dev/null", &e), 0);
	assert_int_equal(config_look_at("/proc/self/exe", &e), 0);
	assert_int_equal(config_look_at("/dev/zero", &e), -EINVAL);
	assert_string_equal(e.text, "/dev/zero: it is no regular file; expected one that can be "
				    "read again");
	assert_int_equal(config_look_at("/", &e), -EISDIR);
	assert_string_equal(e.text, "/: cannot read the configuration: Is a directory");
	assert_int_equal(config_look_at("no/such/file", &e), -ENOENT);
	assert_int_equal(config_read_pipe("no/such/file", LONG, &set, &e), -ENOENT);
	assert_string_equal(e.text, "no/such/file: cannot read the configuration: No such file or "
				    "directory");
}

static int make_fifo(void **state)
{
	snprintf(fifo, sizeof fifo, "/tmp/uiw-config-pipe.XXXXXX");
	if (!mkdtemp(fifo) || rmdir(fifo) != 0)
		return -1;
	return mkfifo(fifo, 0600);
}

static int remove_fifo(void **state)
{
	return unlink(fifo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_becomes_assignments),
		cmocka_unit_test(what_is_wrong_has_its_line),
		cmocka_unit_test(a_writer_may_come_later),
		cmocka_unit_test(nobody_is_waited_for_without_an_end),
		cmocka_unit_test(a_writer_without_an_end_is_refused),
		cmocka_unit_test(it_is_told_from_files),
	};

	return cmocka_run_group_tests(tests, make_fifo, remove_fifo);
}
