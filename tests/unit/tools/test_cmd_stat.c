/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp stat, top and ctl, asking this test for what a busy process would tell. */
#include "host/telemetry.h"
#include "host/telemetry_socket.h"
#include "support/child.h"
#include "support/limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define QPS 300

static struct child c;
static char directory[64], pid[16];
static struct engine engine;
static struct telemetry *telemetry;
static _Atomic unsigned asked; /**< each answer has more of everything */

#define RUN(...) \
	child_run(&c, (const char *const[]){UIWARP, __VA_ARGS__, "-d", directory, NULL}, NULL)

/* ---- the process that is asked --------------------------------------------------------------- */

static uint64_t op_clock(void *ctx)
{
	return 1;
}

static void op_nothing(void *ctx)
{
}

static const struct engine_ops ops = {.clock = op_clock,
	.enter = op_nothing,
	.leave = op_nothing,
	.flush = op_nothing,
	.wake = op_nothing};

static atomic_bool stuck; /**< its engine is */

static void answer_info(void *ctx, const char *parameters, struct json_text *j)
{
	json_text_object(j, NULL);
	if (stuck)
		json_text_string(j, "error", "the engine is not released");
	json_text_number(j, "pid", (uint64_t)getpid());
	json_text_string(j, "program", "a \"b\"\n\x1b[2J\xc2\x9b\xc3\xa9");
	json_text_string(j, "device", "uiw7");
	json_text_object_end(j);
}

static void answer_stats(void *ctx, const char *parameters, struct json_text *j)
{
	json_text_object(j, NULL);
	json_text_object(j, "tcp");
	json_text_number(j, "retransmits", 12);
	json_text_number(j, "connections", 3);
	json_text_object_end(j);
	json_text_object(j, "drops");
	json_text_number(j, "tcp_bad_cksum", 5);
	json_text_object_end(j);
	json_text_object_end(j);
}

static void answer_rnic(void *ctx, const char *parameters, struct json_text *j)
{
	json_text_object(j, NULL);
	json_text_array(j, "terminates");
	json_text_object(j, NULL);
	json_text_number(j, "layer", 1);
	json_text_number(j, "type", 1);
	json_text_number(j, "code", 0);
	json_text_number(j, "sent", 4);
	json_text_number(j, "received", 0);
	json_text_object_end(j);
	json_text_array_end(j);
	json_text_object_end(j);
}

/* What was changed: written by telemetry's thread. */
static char log_level[512], capture[512];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static void answer_change(void *ctx, const char *parameters, struct json_text *j)
{
	bool bad = strcmp(parameters, "loud") == 0, full = strstr(parameters, "/full") != NULL;

	json_text_object(j, NULL);
	json_text_string(j, bad ? "error" : "was", bad ? "not so" : parameters);
	json_text_string(j, "failed", full ? "no room" : NULL);
	json_text_object_end(j);
	if (bad || !*parameters)
		return;
	pthread_mutex_lock(&changing);
	snprintf(ctx, 512, "%s", parameters);
	pthread_mutex_unlock(&changing);
}

static enum walk step(void *ctx, void *cursor, void *item)
{
	uint32_t *at = cursor;

	*(uint32_t *)item = *at;
	return (*at)++ < QPS ? WALK_ITEM : WALK_END;
}

static void ends(struct json_text *j, uint32_t n)
{
	char text[32];

	snprintf(text, sizeof text, "10.0.0.2:%u", 1000 + n);
	json_text_string(j, "local", "10.0.0.1:7");
	json_text_string(j, "remote", text);
}

static void qp(void *ctx, const void *item, struct json_text *j)
{
	uint32_t n = *(const uint32_t *)item;

	json_text_number(j, "qp", n + 1);
	json_text_string(j, "state", n == 5 ? "ERROR" : "RTS");
	json_text_number(j, "send_posted", UINT32_MAX - 3 + 50);
	json_text_number(j, "send_completed", UINT32_MAX - 3);
	ends(j, n);
}

/** The one with the most to tell is the last but one. */
static void connection(void *ctx, const void *item, struct json_text *j)
{
	uint32_t n = *(const uint32_t *)item;

	if (n == 0)
		atomic_fetch_add(&asked, 1);
	ends(j, n);
	json_text_string(j, "congestion_control", "cubic");
	json_text_number(j, "srtt_ns", 1000 * (n + 1));
	json_text_number(j, "cwnd", 14600);
	json_text_number(j, "retransmits", n == QPS - 2 ? 77 : 0);
	json_text_number(
		j, "bytes_acked", n == QPS - 2 ? atomic_load(&asked) * UINT64_C(1000000000) : 0);
}

static const struct telemetry_list qps = {.item_size = 4, .step = step, .format = qp};
static const struct telemetry_list connections = {
	.item_size = 4, .step = step, .format = connection};
static const struct telemetry_command commands[] = {
	{"/uiwarp/info", "", .answer = answer_info},
	{"/uiwarp/stats", "", .answer = answer_stats},
	{"/uiwarp/rnic", "", .answer = answer_rnic},
	{"/uiwarp/qps", "", .list = &qps},
	{"/uiwarp/connections", "", .list = &connections},
};
static const struct telemetry_command log_command[] = {
	{"/uiwarp/log", "", .answer = answer_change}};
static const struct telemetry_command capture_command[] = {
	{"/uiwarp/capture", "", .answer = answer_change}};

static int setup(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-stat.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	engine_init(&engine, &ops, NULL);
	telemetry = telemetry_create(
		&(struct telemetry_config){.engine = &engine, .directory = directory});
	telemetry_add(telemetry, commands, sizeof commands / sizeof commands[0], NULL);
	telemetry_add(telemetry, log_command, 1, log_level);
	telemetry_add(telemetry, capture_command, 1, capture);
	return telemetry_start(telemetry);
}

static int teardown(void **state)
{
	telemetry_stop(telemetry);
	telemetry_destroy(telemetry);
	engine_fini(&engine);
	return rmdir(directory);
}

/* ---- stat and ctl -----------------------------------------------------------------------------
 */

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

/** It has no rows, and is told of. */
static void one_that_is_stuck_is_named(void **state)
{
	char expected[80];

	snprintf(expected, sizeof expected, "uiwarp stat: process %s: the engine is not released\n",
		pid);
	stuck = true;
	RUN("stat");
	stuck = false;
	assert_int_equal(child_exit(&c), 0);
	assert_string_equal(c.err, expected);
	assert_null(strstr(c.out, "10.0.0.2"));
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
	struct telemetry *other = telemetry_create(
		&(struct telemetry_config){.engine = &engine, .directory = directory});

	telemetry_add(other, commands, sizeof commands / sizeof commands[0], NULL);
	assert_int_equal(telemetry_start(other), 0);
	RUN("stat", "--prometheus");
	telemetry_stop(other);
	telemetry_destroy(other);
	assert_int_equal(child_exit(&c), 0);
	assert_int_equal(child_count(c.out, "uiwarp_up{"), 2);
	assert_series_are_apart(c.out);
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
	*child = fork();
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
	snprintf(expected, sizeof expected, "uiwarp stat: process %s does not answer", pid);
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
	RUN("stat", "--follow", "-1");
	assert_int_equal(child_exit(&c), 2);
	RUN("ctl", pid);
	assert_int_equal(child_exit(&c), 2);
	RUN("ctl", "log=info");
	assert_int_equal(child_exit(&c), 2);
	RUN("ctl", pid, "sound=on");
	assert_int_equal(child_exit(&c), 2);
	assert_non_null(strstr(c.err, "the keys are"));
	RUN("ctl", pid, "capture=x", "capture_size=1");
	assert_int_equal(child_exit(&c), 2);
	RUN("top"); /* no terminal */
	assert_int_equal(child_exit(&c), 2);
}

static void changed_to(const char *what, const char *expected)
{
	char copy[512];

	pthread_mutex_lock(&changing);
	memcpy(copy, what, sizeof copy);
	pthread_mutex_unlock(&changing);
	assert_string_equal(copy, expected);
}

static void a_process_is_told(void **state)
{
	char cwd[400], expected[500];

	RUN("ctl", pid, "log=debug");
	assert_int_equal(child_exit(&c), 0);
	changed_to(log_level, "debug");
	RUN("ctl", pid, "capture=/tmp/a,b", "capture_size=1M", "capture_files=7");
	assert_int_equal(child_exit(&c), 0);
	changed_to(capture, "1048576,7,/tmp/a,b");
	RUN("ctl", pid, "capture=x");
	assert_non_null(getcwd(cwd, sizeof cwd));
	snprintf(expected, sizeof expected, "0,4,%s/x", cwd);
	changed_to(capture, expected);
	RUN("ctl", pid, "capture=off");
	changed_to(capture, "off");
	RUN("ctl", pid, "capture=/full");
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "no room"));
	RUN("ctl", pid, "log=loud");
	assert_int_equal(child_exit(&c), 1);
	assert_non_null(strstr(c.err, "not so"));
}

/* ---- top, in a terminal -----------------------------------------------------------------------
 */

static struct {
	int fd;
	pid_t pid;
	char text[1 << 20];
	size_t len;
} terminal;

static void terminal_open(void)
{
	struct winsize w = {.ws_row = 24, .ws_col = 140};
	int other;

	terminal.len = 0;
	terminal.fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal.fd >= 0);
	assert_int_equal(grantpt(terminal.fd), 0);
	assert_int_equal(unlockpt(terminal.fd), 0);
	assert_int_equal(ioctl(terminal.fd, TIOCSWINSZ, &w), 0);
	terminal.pid = fork();
	if (terminal.pid != 0)
		return;
	setsid();
	other = open(ptsname(terminal.fd), O_RDWR);
	dup2(other, 0);
	dup2(other, 1);
	dup2(other, 2);
	execl(UIWARP, "uiwarp", "top", "-i", "0.1", "-d", directory, (char *)NULL);
	_exit(127);
}

static void terminal_key(const char *key)
{
	terminal.len = 0;
	assert_int_equal(write(terminal.fd, key, strlen(key)), strlen(key));
}

/** Read until @p text has been on the screen, at most a minute between two things written. */
static void terminal_await(const char *text)
{
	struct pollfd p = {.fd = terminal.fd, .events = POLLIN};

	for (;;) {
		ssize_t n;

		terminal.text[terminal.len] = '\0';
		if (strstr(terminal.text, text))
			return;
		/* A screen is some 5 KB: what is older was looked at. */
		if (terminal.len > sizeof terminal.text / 2) {
			memmove(terminal.text, terminal.text + terminal.len - 16384, 16384);
			terminal.len = 16384;
		}
		if (poll(&p, 1, LIMIT_MS) != 1)
			fail_msg("\"%s\" is not shown", text);
		n = read(terminal.fd, terminal.text + terminal.len, 8192);
		if (n <= 0)
			fail_msg("it ended before \"%s\" was shown", text);
		terminal.len += (size_t)n;
	}
}

static void terminal_close(void)
{
	struct pollfd p = {.fd = terminal.fd, .events = POLLIN};
	int status;

	/* What it still writes must go somewhere. */
	while (poll(&p, 1, LIMIT_MS) == 1 && read(terminal.fd, terminal.text, 8192) > 0)
		;
	assert_int_equal(waitpid(terminal.pid, &status, 0), terminal.pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(terminal.fd);
}

static void top_shows_sorts_opens_and_quits(void **state)
{
	terminal_open();
	terminal_await("\033[?1049h");
	terminal_await("300 QPs and connections, by bytes");
	/* The one that carries something comes to the first row, which is shown in reverse. */
	terminal_await("      299 RTS         10.0.0.2:1298");
	terminal_key("l");
	terminal_await("by RTT");
	terminal_await("300 RTS         10.0.0.2:1299");
	terminal_key("l");
	terminal_await("by RTT, least first");
	terminal_key("r");
	terminal_await("by retransmits");
	terminal_key("\r");
	terminal_await("one connection");
	terminal_await("10.0.0.1:7 - 10.0.0.2:1298");
	terminal_await("retransmits              77");
	terminal_key("\033[1~");
	terminal_key("x");
	terminal_await("by retransmits");
	terminal_key("?");
	terminal_await("uiwarp: keys");
	terminal_key(" ");
	terminal_await("by retransmits");
	terminal_key("\033[6~\033[B");
	terminal_await("\033[7m");
	terminal_key("x");
	terminal_await("\033[?1049l");
	terminal_close();
}

/** Whatever ends it, the terminal is as it was. */
static void top_gives_the_terminal_back(void **state)
{
	terminal_open();
	terminal_await("by bytes");
	kill(terminal.pid, SIGTERM);
	terminal_await("\033[?25h\033[?1049l");
	terminal_close();
}

/** By Ctrl-Z; the shell has us go on at once here, as this group of processes has none. */
static void top_lends_the_terminal_while_it_is_stopped(void **state)
{
	struct termios before, now;

	terminal_open();
	terminal_await("by bytes");
	assert_int_equal(tcgetattr(terminal.fd, &before), 0);
	terminal.len = 0;
	kill(terminal.pid, SIGTSTP);
	terminal_await("\033[?25h\033[?1049l");
	terminal_await("\033[?1049h");
	terminal_await("by bytes");
	assert_int_equal(tcgetattr(terminal.fd, &now), 0);
	assert_int_equal(now.c_lflag, before.c_lflag);
	terminal_key("x");
	terminal_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_a_table),
		cmocka_unit_test(one_that_is_stuck_is_named),
		cmocka_unit_test(a_qp_is_followed),
		cmocka_unit_test(it_is_metrics),
		cmocka_unit_test(it_is_json),
		cmocka_unit_test(processes_of_one_number_are_apart),
		cmocka_unit_test(samples_are_recorded),
		cmocka_unit_test(a_signal_ends_a_record),
		cmocka_unit_test(others_ask_during_a_record),
		cmocka_unit_test(silent_processes_are_passed_over),
		cmocka_unit_test(where_nobody_can_be_asked_it_fails),
		cmocka_unit_test(wrong_command_lines),
		cmocka_unit_test(a_process_is_told),
		cmocka_unit_test(top_shows_sorts_opens_and_quits),
		cmocka_unit_test(top_gives_the_terminal_back),
		cmocka_unit_test(top_lends_the_terminal_while_it_is_stopped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
