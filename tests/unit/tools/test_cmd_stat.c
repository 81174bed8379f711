/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp stat, asking this test for what a busy process would tell. */
#include "asked.h"
#include "support/child_fork.h"
#include "support/thorough.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void it_is_a_table(void **state)
{
	RUN("stat", pid);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.err, "");
	assert_non_null(strstr(c.out, "REMOTE"));
	assert_non_null(strstr(c.out, "10.0.0.2:1000"));
	/* Names from elsewhere do nothing to a terminal. */
	assert_null(strchr(c.out, '\033'));
}

/** It has no rows and no metrics, and is told of. */
static void one_that_is_stuck_is_named(void **state)
{
	static const char *const how[] = {"--interval=1", "--json", "--prometheus"};
	char expected[80];

	snprintf(expected, sizeof expected, "uiwarp stat: process %s: the engine is not released\n",
		pid);
	for (unsigned i = 0; i < sizeof how / sizeof how[0]; i++) {
		stuck = true;
		RUN("stat", how[i]);
		stuck = false;
		assert_int_equal(child_exit(&c), 0);
		assert_string_equal(c.err, expected);
		assert_null(strstr(c.out, "10.0.0.2"));
		assert_null(strstr(c.out, "uiwarp_up{"));
		assert_null(strstr(c.out, "\"qps\""));
	}
}

/** Half of what it tells is not passed off as all. */
static void one_that_tells_too_much_is_named(void **state)
{
	static const char *const how[] = {"--json", "--prometheus"};
	char expected[80];

	snprintf(expected, sizeof expected, "uiwarp stat: process %s: it tells more than is kept\n",
		pid);
	more_qps = 5000;
	for (unsigned i = 0; i < sizeof how / sizeof how[0]; i += THOROUGH_STEP(2)) {
		RUN("stat", how[i]);
		assert_int_equal(child_exit(&c), 1);
		assert_string_equal(c.err, expected);
	}
	more_qps = 0;
}

static void a_qp_is_followed(void **state)
{
	unsigned lines = 0;

	RUN("stat", "--follow", "299", "-i", "0.01", "-c", "3");
	assert_int_equal(child_exit(&c), 0);
	for (const char *at = c.out; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	assert_int_equal(lines, 4);
	assert_non_null(strstr(c.out, "RTS"));
	RUN("stat", "--follow", "301", "-c", "1");
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "there is no QP 301"));
}

/** Its number has come again, with a QP of the same number, between two lines. */
static void another_process_is_not_followed(void **state)
{
	started = 1;
	RUN("stat", "--follow", "299", "-i", "0.01", "-c", "3");
	started = 0;
	assert_int_equal(child_exit(&c), 1);
	assert_int_equal(child_count(c.out, "RTS"), 1);
	assert_string_equal(c.err, "uiwarp stat: there is no QP 299 any more\n");
}

static void it_is_metrics(void **state)
{
	RUN("stat", "--prometheus");
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(
		strstr(c.out, "# HELP uiwarp_tcp_retransmits_total tcp: segments sent again\n"
			      "# TYPE uiwarp_tcp_retransmits_total counter\n"
			      "uiwarp_tcp_retransmits_total{pid=\""));
	assert_non_null(
		strstr(c.out, ",program=\"a \\\"b\\\"\\n?[2J?\xc3\xa9\",device=\"uiw7\"} 12\n"));
	assert_non_null(strstr(c.out, "# TYPE uiwarp_tcp_connections gauge\n"));
	assert_non_null(strstr(c.out, ",reason=\"tcp_bad_cksum\"} 5\n"));
	assert_non_null(strstr(c.out, ",local=\"10.0.0.1:7\",remote=\"10.0.0.2:1003\",qp=\"4\"} "));
	assert_non_null(
		strstr(c.out, ",layer=\"1\",type=\"1\",code=\"0\",direction=\"sent\"} 4\n"));
}

/** Whatever a process says its name is, no control character gets to a terminal. */
static void it_is_json(void **state)
{
	RUN("stat", "--json");
	assert_int_equal(child_exit(&c), 0);
	for (const char *at = c.out; *at; at++)
		assert_true(*at == '\n' || (*at >= 0x20 && *at < 0x7f));
	assert_non_null(strstr(c.out, "\"program\": \"a \\\"b\\\"\\n\\u001B[2J\\u009B\\u00E9\""));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Each series of @p text stands in it once: who reads metrics takes none of it otherwise. */
static void assert_series_are_apart(char *text)
{
	static char *series[1000];
	char *line, *rest, *value;
	size_t n = 0;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		value = strrchr(line, ' ');
		if (*line == '#' || !value) /* what is last may be cut */
			continue;
		assert_true(n < sizeof series / sizeof series[0]);
		*value = '\0';
		series[n++] = line;
	}
	qsort(series, n, sizeof series[0], by_text);
	for (size_t i = 1; i < n; i++)
		assert_string_not_equal(series[i - 1], series[i]);
}

/* As two processes with the same number, in PID namespaces of their own. */
static void processes_of_one_number_are_apart(void **state)
{
	struct telemetry *other = another_process();

	RUN("stat", "--prometheus");
	end_process(other);
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "uiwarp_up{"), 2);
	assert_series_are_apart(c.out);
}

/** Both ends on one host, perhaps, each with its QP 299: neither is followed for the other. */
static void a_number_of_two_qps_is_not_followed(void **state)
{
	struct telemetry *other = another_process();
	char expected[120];

	RUN("stat", "--follow", "299", "-c", "1");
	end_process(other);
	snprintf(expected, sizeof expected,
		"uiwarp stat: stacks %s.0 and %s.1 have a QP 299; expected one of them\n", pid,
		pid);
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.out, "");
	assert_string_equal(c.err, expected);
}

/** How many lines of what was written are of this process, as it is told in them. */
static unsigned lines_of(const char *process)
{
	char field[40];

	snprintf(field, sizeof field, " %s ", process);
	return child_count(c.out, field);
}

/** Stacks of one process, or processes of one number: each line has what tells them apart. */
static void stacks_of_one_number_are_asked_for(void **state)
{
	struct telemetry *other = another_process();
	char first[24], second[24], none[24];

	snprintf(first, sizeof first, "%s.0", pid);
	snprintf(second, sizeof second, "%s.1", pid);
	snprintf(none, sizeof none, "%s.2", pid);
	RUN("stat", "--follow", "299", "-i", "0.01", "-c", "2", first);
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(lines_of(pid), 2);
	RUN("stat", "--follow", "299", "-i", "0.01", "-c", "2", second);
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(lines_of(second), 2);
	RUN("stat", none);
	assert_int_equal(child_exit(&c), 1);
	assert_int_equal(strncmp(c.err, "uiwarp: process ", 16), 0);
	assert_int_equal(strncmp(c.err + 16, none, strlen(none)), 0);
	RUN("stat", second);
	end_process(other);
	assert_int_equal(child_exit(&c), 0);
	assert_in_range(child_count(c.out, second), 1, QPS);
	assert_int_equal(child_count(c.out, pid), child_count(c.out, second));
}

/** Count lines of @p path that have @p what. */
static unsigned lines_with(const char *path, const char *what)
{
	FILE *f = fopen(path, "r");
	char line[4100];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		n += strstr(line, what) != NULL;
	fclose(f);
	return n;
}

static void samples_are_recorded(void **state)
{
	char file[80], page[90];

	snprintf(file, sizeof file, "%s/record", directory);
	snprintf(page, sizeof page, "%s.html", file);
	RUN("stat", "--record", file, "-i", "0.01", "-c", "3", pid);
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.err, "");
	assert_int_equal(lines_with(file, "\"format\":\"uiwarp stat --record\""), 1);
	assert_int_equal(lines_with(file, "\"qp\":299,"), 3);
	assert_int_equal(lines_with(file, "{\"time_ns\":"), 3 * QPS);
	child_run(&c, (const char *const[]){UIWARP, "plot", file, "--qp", "299", NULL}, NULL);
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(lines_with(page, "<svg "), 1);
	unlink(page);
	unlink(file);
	child_run(&c, (const char *const[]){UIWARP, "stat", "-d", "/no/such", NULL}, NULL);
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.err, "uiwarp stat: /no/such: No such file or directory\n");
	RUN("stat", "--record", "/no/such", "-c", "1");
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.err, "uiwarp stat: /no/such: No such file or directory\n");
	RUN("stat", "--record", "/dev/full", "-c", "2", "-i", "0.01");
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.err, "uiwarp stat: /dev/full: No space left on device\n");
}

/** A record in a pipe. @param[out] child its process. */
static FILE *record_begin(const char *interval, pid_t *child)
{
	int ends[2];
	FILE *out;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*child = child_fork();
	if (*child == 0) {
		dup2(ends[1], 1);
		execl(UIWARP, "uiwarp", "stat", "--record", "-", "-i", interval, "-d", directory,
			pid, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	out = fdopen(ends[0], "r");
	assert_non_null(out);
	return out;
}

/** Read the rest of a sample. */
static void record_sample(FILE *out)
{
	char line[4100] = "";

	while (!strstr(line, "\"qp\":300,"))
		assert_non_null(fgets(line, sizeof line, out));
}

static void record_end(FILE *out, pid_t child)
{
	char line[4100];
	int status;

	while (fgets(line, sizeof line, out))
		;
	fclose(out);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/** A signal ends it, and what is in the file is whole. */
static void a_signal_ends_a_record(void **state)
{
	char line[4100];
	pid_t child;
	FILE *out = record_begin("86400", &child);

	/* The first sample has come: now it waits for a day. */
	record_sample(out);
	assert_int_equal(kill(child, SIGTERM), 0);
	assert_null(fgets(line, sizeof line, out));
	record_end(out, child);
}

/** A client of our own, which has asked. */
static int another_client(void)
{
	static char text[TELEMETRY_OUTPUT];
	int fd = telemetry_socket_connect(directory, telemetry_name(telemetry));

	assert_true(fd >= 0);
	assert_true(recv(fd, text, sizeof text, 0) > 0);
	assert_int_equal(send(fd, "/", 1, 0), 1);
	assert_true(recv(fd, text, sizeof text, 0) > 0);
	return fd;
}

/** A process serves few at a time: who had to leave comes again, and the record goes on. */
static void others_ask_during_a_record(void **state)
{
	int other[10], status;
	pid_t child;
	FILE *out = record_begin("0.01", &child);

	record_sample(out);
	assert_int_equal(kill(child, SIGSTOP), 0);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	for (unsigned i = 0; i < 10; i++)
		other[i] = another_client();
	assert_int_equal(kill(child, SIGCONT), 0);
	/* One perhaps begun, less than one in the pipe; the last has been asked for since. */
	for (unsigned i = 0; i < 4; i++)
		record_sample(out);
	for (unsigned i = 0; i < 10; i++)
		close(other[i]);
	assert_int_equal(kill(child, SIGTERM), 0);
	record_end(out, child);
}

/** One that is stopped accepts nobody, or says nothing: the others are shown all the same. */
static void silent_processes_are_passed_over(void **state)
{
	char name[TELEMETRY_NAME], path[128], expected[80];
	int waiting[256], silent = telemetry_socket_listen(directory, name);
	unsigned n = 0;

	assert_true(silent >= 0);
	snprintf(path, sizeof path, "%s/%s", directory, name);
	/* It is another one of this process. */
	snprintf(expected, sizeof expected, "uiwarp stat: process %s.1 does not answer", pid);
	RUN("stat");
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(strstr(c.out, "10.0.0.2:1000"));
	assert_non_null(strstr(c.err, expected));
	do
		waiting[n] = telemetry_socket_connect(directory, name);
	while (waiting[n] >= 0 && ++n < 256);
	assert_int_equal(waiting[n], -EAGAIN);
	RUN("stat", pid);
	assert_int_equal(child_exit(&c), 0);
	assert_non_null(strstr(c.out, "10.0.0.2:1000"));
	assert_non_null(strstr(c.err, expected));
	while (n)
		close(waiting[--n]);
	close(silent);
	unlink(path);
}

/** "0 processes" would be a lie. */
static void where_nobody_can_be_asked_it_fails(void **state)
{
	char other[128];

	snprintf(other, sizeof other, "%s.link", directory);
	assert_int_equal(symlink(directory, other), 0);
	child_run(&c, (const char *const[]){UIWARP, "stat", "-d", other, NULL}, NULL);
	assert_int_equal(child_exit(&c), 1);
	assert_string_equal(c.out, "");
	assert_non_null(strstr(c.err, " cannot be asked: "));
	unlink(other);
}

static void wrong_command_lines(void **state)
{
	RUN("stat", "1");
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "process 1 cannot be asked"));
	RUN("stat", "x");
	assert_int_equal(child_exit(&c), 2);
	RUN("stat", "--json", "--prometheus");
	assert_int_equal(child_exit(&c), 2);
	RUN("stat", "--json", "--record", "x");
	assert_int_equal(child_exit(&c), 2);
	RUN("stat", "1.");
	assert_int_equal(child_exit(&c), 2);
	RUN("stat", "1.x");
	assert_int_equal(child_exit(&c), 2);
	RUN("stat", ".1");
	assert_int_equal(child_exit(&c), 2);
	RUN("stat", "--follow", "-1");
	assert_int_equal(child_exit(&c), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_a_table),
		cmocka_unit_test(one_that_is_stuck_is_named),
		cmocka_unit_test(one_that_tells_too_much_is_named),
		cmocka_unit_test(a_qp_is_followed),
		cmocka_unit_test(another_process_is_not_followed),
		cmocka_unit_test(it_is_metrics),
		cmocka_unit_test(it_is_json),
		cmocka_unit_test(processes_of_one_number_are_apart),
		cmocka_unit_test(a_number_of_two_qps_is_not_followed),
		cmocka_unit_test(stacks_of_one_number_are_asked_for),
		cmocka_unit_test(samples_are_recorded),
		cmocka_unit_test(a_signal_ends_a_record),
		cmocka_unit_test(others_ask_during_a_record),
		cmocka_unit_test(silent_processes_are_passed_over),
		cmocka_unit_test(where_nobody_can_be_asked_it_fails),
		cmocka_unit_test(wrong_command_lines),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
