/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/child.h"

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

static struct child c;

#define RUN(...) child_run(&c, (const char *const[]){UIWARP, __VA_ARGS__, NULL}, NULL)

static void without_a_command_it_says_how_to_use_it(void **state)
{
	child_run(&c, (const char *const[]){UIWARP, NULL}, NULL);
	assert_int_equal(child_exit(&c), 2);
	assert_string_equal(c.out, "");
	assert_int_equal(strncmp(c.err, "Usage: uiwarp COMMAND", 21), 0);
	assert_non_null(strstr(c.err, "\n  run "));
}

static void help_goes_to_stdout(void **state)
{
	char text[sizeof c.out];

	RUN("help");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.err, "");
	assert_int_equal(strncmp(c.out, "Usage: uiwarp COMMAND", 21), 0);
	assert_non_null(strstr(c.out, "\n  run "));
	memcpy(text, c.out, sizeof text);
	RUN("--help");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, text);
	RUN("help", "-h");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, text);
	RUN("help", "--help");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.out, text);
}

static void help_of_a_command_is_its_own(void **state)
{
	char text[sizeof c.out];

	RUN("help", "run");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.err, "");
	assert_non_null(strstr(c.out, "--config"));
	assert_non_null(strstr(c.out, "--set"));
	assert_non_null(strstr(c.out, "Exit status"));
	memcpy(text, c.out, sizeof text);
	RUN("run", "--help");
	assert_int_equal(child_exit(&c), 0);
	/* The name before "Usage" aside, both are the same. */
	assert_string_equal(strstr(c.out, "PROGRAM"), strstr(text, "PROGRAM"));
}

/** With words as completions take them. */
static void help_lists_the_keys(void **state)
{
	RUN("help", "keys");
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.err, "");
	assert_non_null(strstr(c.out, "\n  crc=preferred  "));
	assert_non_null(strstr(c.out, " preferred|required|off\n"));
	assert_non_null(strstr(c.out, "\n  mtu=  "));
	assert_non_null(strstr(c.out, " a number of bytes from 576 to 65318\n"));
}

/** -h as well as --help, everywhere, and among other options. */
static void minus_h_helps(void **state)
{
	static const char *const words[][3] = {{NULL}, {"run"}, {"doctor"}, {"tcp"},
		{"tcp", "sink"}, {"tcp", "source"}, {"pcap"}, {"pcap", "check"}, {"pcap", "show"},
		{"pcap", "stats"}, {"pcap", "replay"}, {"wan"}, {"run", "--set=log=debug"}};
	char text[sizeof c.out];

	for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
		const char *argv[6] = {UIWARP, words[i][0], words[i][1], words[i][2]};
		unsigned n = 1;

		while (argv[n] != NULL)
			n++;
		argv[n] = "--help";
		child_run(&c, argv, NULL);
		assert_int_equal(child_exit(&c), 0);
		memcpy(text, c.out, sizeof text);
		argv[n] = "-h";
		child_run(&c, argv, NULL);
		assert_int_equal(child_exit(&c), 0);
		assert_string_equal(c.err, "");
		assert_string_equal(c.out, text);
	}
}

static void the_version_is_that_of_the_project(void **state)
{
	static const char first[] = "uiwarp " UIWARP_VERSION "\nDPDK 2";
	char *out;

	RUN("--version");
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(strncmp(c.out, first, sizeof first - 1), 0);
	assert_string_equal(c.err, "");
	out = strdup(c.out);
	RUN("-V");
	assert_string_equal(c.out, out);
	free(out);
	assert_string_equal(c.err, "");
}

/** Output that is lost, of any command and of its help, is no success. */
static void output_that_is_lost_is_told(void **state)
{
	static const struct {
		const char *arguments;
		int status;
	} runs[] = {
		{"help", 1},
		{"help keys", 1},
		{"--version", 1},
		{"run --help", 1},
		{"stat", 1},
		{"stat --json", 1},
		{"tcp --help", 1},
		{"pcap --help", 2},
		{"pcap check --help", 2},
	};
	static const char said[] = "uiwarp: standard output cannot be written";
	char command[512];

	for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
		snprintf(command, sizeof command, "exec " UIWARP " %s >/dev/full",
			runs[i].arguments);
		child_run(&c, (const char *const[]){"/bin/sh", "-c", command, NULL}, NULL);
		assert_int_equal(child_exit(&c), runs[i].status);
		/* The reason is behind it, unless more than a buffer was lost. */
		assert_int_equal(strncmp(c.err, said, sizeof said - 1), 0);
		assert_int_equal(child_count(c.err, "\n"), 1);
	}
}

/** A capture with a header alone, as one of another interface. */
static void a_capture_without_iwarp_is_told_of(void **state)
{
	static const uint32_t header[] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	static const char *const commands[] = {"check", "show", "stats", "replay"};
	char path[] = "/tmp/uiw-capture.XXXXXX", expected[256];
	int fd = mkstemp(path);

	assert_int_equal(write(fd, header, sizeof header), sizeof header);
	close(fd);
	snprintf(expected, sizeof expected,
		"uiwarp pcap: %s: no iWARP connection in 0 frames, 0 of them of TCP\n", path);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		RUN("pcap", commands[i], path);
		assert_int_equal(child_exit(&c), i == 0 ? 3 : 0);
		assert_string_equal(c.err, expected);
	}
	unlink(path);
	/* One that cannot be read is one fault. */
	RUN("pcap", "check", "/no/such");
	assert_int_equal(child_exit(&c), 2);
	assert_string_equal(c.err, "uiwarp pcap: /no/such: No such file or directory\n");
}

/** What is drawn of a capture never takes its place. */
static void a_capture_is_not_overwritten(void **state)
{
	static const uint32_t header[] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	static const char *const options[] = {"--html", "--plot"};
	char path[] = "/tmp/uiw-capture.XXXXXX";
	int fd = mkstemp(path);
	struct stat st;

	assert_int_equal(write(fd, header, sizeof header), sizeof header);
	close(fd);
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		RUN("pcap", "stats", options[i], path, path);
		assert_int_equal(child_exit(&c), 2);
		assert_non_null(strstr(c.err, "that is the capture itself"));
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, sizeof header);
	}
	unlink(path);
}

static void an_unknown_command_is_named(void **state)
{
	static const char expected[] =
		"uiwarp: there is no command \"walk\"; see \"uiwarp help\"\n";

	RUN("walk", "--help");
	assert_int_equal(child_exit(&c), 2);
	assert_string_equal(c.out, "");
	assert_string_equal(c.err, expected);
	RUN("help", "walk");
	assert_int_equal(child_exit(&c), 2);
	assert_string_equal(c.err, expected);
	RUN("");
	assert_int_equal(child_exit(&c), 2);
}

/** Of whatever ends the start before there is a port to look at: no advice about ports. */
static void the_doctor_advises_about_what_failed(void **state)
{
	static const struct {
		const char *set, *wrong, *advice;
	} t[] = {
		{"log_file=/no/such/log", "WRONG  log_file \"/no/such/log\": ",
			"do:  name a file that this user may write"},
		{"progress=dedicated:1023", "WRONG  the stack does not start: progress = ",
			"do:  choose a core for \"progress\""},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		RUN("doctor", "--set", "port=kernel", "--set", t[i].set);
		assert_int_equal(child_exit(&c), 1);
		assert_non_null(strstr(c.out, t[i].wrong));
		assert_non_null(strstr(c.out, t[i].advice));
		assert_int_equal(child_count(c.out, "  do:  "), 1);
		assert_int_equal(child_count(c.out, "the port does not open"), 0);
	}
}

/** No file that is opened later takes the place of a standard output that was closed. */
static void without_stdout_no_file_is_written_to_for_it(void **state)
{
	static const char script[] = "\"$0\" doctor --set port=kernel --set log_file=\"$1\" >&-";
	char path[] = "/tmp/uiwarp-log-XXXXXX";
	struct stat st;

	close(mkstemp(path));
	child_run(&c, (const char *const[]){"/bin/sh", "-c", script, UIWARP, path, NULL}, NULL);
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "standard output cannot be written"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_stdout_no_file_is_written_to_for_it),
		cmocka_unit_test(the_doctor_advises_about_what_failed),
		cmocka_unit_test(without_a_command_it_says_how_to_use_it),
		cmocka_unit_test(help_goes_to_stdout),
		cmocka_unit_test(help_of_a_command_is_its_own),
		cmocka_unit_test(help_lists_the_keys),
		cmocka_unit_test(minus_h_helps),
		cmocka_unit_test(the_version_is_that_of_the_project),
		cmocka_unit_test(output_that_is_lost_is_told),
		cmocka_unit_test(a_capture_without_iwarp_is_told_of),
		cmocka_unit_test(a_capture_is_not_overwritten),
		cmocka_unit_test(an_unknown_command_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
