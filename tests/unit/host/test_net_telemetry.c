/* SPDX-License-Identifier: BSD-2-Clause */
/* What a host on DPDK's null port tells of itself, and what it lets itself be told. */
#include "host/net_telemetry.h"

#include "host/net_priv.h"
#include "host/slot.h"
#include "host/telemetry_socket.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

static char directory[1024];
static struct net *n;
static int fd = -1;

static void open_net(const char *telemetry)
{
	const char *const set[] = {"port=net_null0", "address=10.0.0.1/24", "address=fd00::1/64",
		"memory=16", "log=error", telemetry};
	struct config_error e;
	struct config c;

	config_init(&c);
	for (unsigned i = 0; i < sizeof set / sizeof set[0]; i++)
		assert_int_equal(config_set(&c, "--set", set[i], &e), 0);
	/* What begins to log must not be seen here. */
	strcpy(c.log_file, "/dev/null");
	assert_int_equal(net_open(&c, &n, &e), 0);
	assert_int_equal(net_start(n, NULL, &e), 0);
}

static void close_net(void)
{
	net_stop(n);
	net_close(n);
}

static int setup(void **state)
{
	char text[4096];

	open_net("telemetry=on");
	assert_int_equal(slot_directory(directory, sizeof directory), 0);
	fd = telemetry_socket_connect(directory, telemetry_name(n->telemetry));
	assert_true(fd >= 0);
	return recv(fd, text, sizeof text, 0) > 0 ? 0 : -1;
}

static int teardown(void **state)
{
	close(fd);
	close_net();
	return 0;
}

/** The value that answers @p request; the caller's. */
static json_t *ask(const char *request)
{
	static char text[TELEMETRY_OUTPUT];
	ssize_t len;
	json_t *all, *value;

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	len = recv(fd, text, sizeof text, 0);
	assert_true(len > 0);
	all = json_loadb(text, (size_t)len, 0, NULL);
	assert_non_null(all);
	value = json_incref(json_object_iter_value(json_object_iter(all)));
	json_decref(all);
	return value;
}

static void assert_refused(const char *request, const char *why)
{
	json_t *j = ask(request);
	const char *error = json_string_value(json_object_get(j, "error"));

	assert_non_null(error);
	assert_non_null(strstr(error, why));
	json_decref(j);
}

static const char *text_of(const json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text ? text : "";
}

static void info_is_of_this_host(void **state)
{
	json_t *j = ask("/uiwarp/info"), *addresses = json_object_get(j, "addresses");

	assert_int_equal(json_integer_value(json_object_get(j, "pid")), getpid());
	assert_string_equal(text_of(j, "port"), "net_null0");
	assert_string_equal(text_of(j, "log_level"), "error");
	assert_int_equal(strlen(text_of(j, "mac")), 17);
	assert_true(strncmp(text_of(j, "program"), "test_host_net_telemetry", 15) == 0);
	assert_int_equal(json_array_size(addresses), 2);
	assert_string_equal(json_string_value(json_array_get(addresses, 0)), "10.0.0.1");
	assert_string_equal(json_string_value(json_array_get(addresses, 1)), "fd00::1");
	assert_true(json_is_null(json_object_get(j, "capture")));
	assert_true(json_integer_value(
			    json_object_get(json_object_get(j, "telemetry"), "requests")) >= 2);
	/* Its own look at the link was one. */
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(j, "telemetry"), "slices")), 1);
	json_decref(j);
}

static void lists_and_stats_are_there(void **state)
{
	json_t *j = ask("/uiwarp/connections"), *drops;

	assert_int_equal(json_integer_value(json_object_get(j, "total")), 0);
	json_decref(j);
	j = ask("/uiwarp/stats");
	drops = json_object_get(j, "drops");
	assert_true(json_is_integer(json_object_get(json_object_get(j, "tcp"), "retransmits")));
	assert_true(json_is_integer(json_object_get(json_object_get(j, "port"), "rx_missed")));
	assert_non_null(json_object_get(j, "ip"));
	assert_non_null(json_object_get(j, "engine"));
	assert_null(json_object_get(j, "sock"));
	assert_true(json_is_integer(json_object_get(drops, "port_rx_missed")));
	assert_true(json_object_size(drops) > 5);
	json_decref(j);
	j = ask("/uiwarp/config");
	assert_string_equal(text_of(j, "port"), "net_null0");
	assert_string_equal(text_of(j, "telemetry"), "on");
	json_decref(j);
}

/* The line with @text; NULL: it is not there. Threads of the host say theirs between. */
static json_t *line_of(json_t *lines, const char *text)
{
	for (size_t i = 0; i < json_array_size(lines); i++) {
		json_t *line = json_array_get(lines, i);

		if (strcmp(text_of(line, "text"), text) == 0)
			return line;
	}
	return NULL;
}

static void the_log_is_shown_and_changed(void **state)
{
	json_t *j, *lines, *last;
	char text[32];

	assert_refused("/uiwarp/log,loud", "expected error, warning, info or debug");
	assert_refused("/uiwarp/log,debug ", "expected");
	j = ask("/uiwarp/log,debug");
	assert_string_equal(text_of(j, "level"), "debug");
	json_decref(j);
	for (unsigned i = 0; i < 2 * STACK_LOG_KEPT; i++)
		log_printf(&n->log.sink, LOG_LEVEL_DEBUG, "line %u \"<\x01>\"", i);
	j = ask("/uiwarp/log");
	assert_true(json_integer_value(json_object_get(j, "total")) >= 2 * STACK_LOG_KEPT);
	lines = json_object_get(j, "lines");
	/* One of another thread may take the place of the first while they are listed. */
	assert_in_range(json_array_size(lines), STACK_LOG_KEPT / 2, STACK_LOG_KEPT);
	snprintf(text, sizeof text, "line %u \"<\x01>\"", 2 * STACK_LOG_KEPT - 1);
	last = line_of(lines, text);
	assert_non_null(last);
	assert_string_equal(text_of(last, "level"), "debug");
	json_decref(j);
}

static void a_capture_is_begun_and_ended(void **state)
{
	char path[64], request[1500];
	json_t *j;

	snprintf(path, sizeof path, "/tmp/uiw-net_telemetry,%d", (int)getpid());
	assert_refused("/uiwarp/capture,1", "expected \"off\", or SIZE,FILES,PATH");
	assert_refused("/uiwarp/capture,,,/x", "expected");
	assert_refused("/uiwarp/capture,1,0,/x", "expected");
	assert_refused("/uiwarp/capture,1,1001,/x", "expected");
	assert_refused("/uiwarp/capture,-1,1,/x", "expected");
	assert_refused("/uiwarp/capture,1,1,x", "expected");
	assert_refused("/uiwarp/capture,99999999999999999999999999,1,/x", "expected");
	assert_refused("/uiwarp/capture,0,1,/no/such/x", "No such file or directory");
	/* One that is cut short is another file. */
	snprintf(request, sizeof request, "/uiwarp/capture,0,1,/tmp/");
	while (strlen(request) < 1400)
		strcat(request, "./");
	assert_refused(request, "File name too long");
	j = ask("/uiwarp/capture,0,1,/dev/full");
	assert_string_equal(text_of(j, "failed"), "No space left on device");
	json_decref(j);
	/* A comma is a part of the path. */
	snprintf(request, sizeof request, "/uiwarp/capture,1048576,3,%s", path);
	j = ask(request);
	assert_string_equal(text_of(j, "capture"), path);
	assert_int_equal(json_integer_value(json_object_get(j, "dropped")), 0);
	assert_true(json_is_null(json_object_get(j, "failed")));
	json_decref(j);
	j = ask("/uiwarp/info");
	assert_string_equal(text_of(j, "capture"), path);
	json_decref(j);
	j = ask("/uiwarp/capture,off");
	assert_true(json_is_null(json_object_get(j, "capture")));
	json_decref(j);
	assert_int_equal(unlink(path), 0);
	/* The null port receives without end, and may have filled more files. */
	for (unsigned k = 1; k < 3; k++) {
		snprintf(request, sizeof request, "%s.%u", path, k);
		unlink(request);
	}
}

/** Whatever needs the engine says so, and the rest answers all the same. */
static void the_engine_is_not_released(void **state)
{
	engine_lock(net_engine(n));
	assert_refused("/uiwarp/info", "the engine is not released");
	assert_refused("/uiwarp/stats", "the engine is not released");
	json_decref(ask("/uiwarp/log"));
	engine_unlock(net_engine(n));
	json_decref(ask("/uiwarp/info"));
}

static void off_is_off(void **state)
{
	open_net("telemetry=off");
	assert_null(n->telemetry);
	close_net();
}

/** No name is free: that is logged for whoever wants to know, and the host runs. */
static void a_host_that_cannot_be_seen(void **state)
{
	char name[TELEMETRY_NAME], path[sizeof directory + TELEMETRY_NAME];
	struct stack_log_entry entry;
	bool told = false;
	int held[64];
	unsigned k = 0;

	assert_int_equal(slot_directory(directory, sizeof directory), 0);
	while (k < 64 && (held[k] = telemetry_socket_listen(directory, name)) >= 0)
		k++;
	assert_in_range(k, 1, 63);
	open_net("log=info");
	assert_string_equal(telemetry_name(n->telemetry), name);
	for (uint64_t i = 0; stack_log_get(&n->log, i, &entry); i++)
		told = told || strstr(entry.text, "cannot be seen by \"uiwarp top\": File exists");
	assert_true(told);
	close_net();
	for (unsigned i = 0; i < k; i++) {
		close(held[i]);
		if (i)
			snprintf(path, sizeof path, "%s/telemetry.%d.%u", directory, (int)getpid(),
				i);
		else
			snprintf(path, sizeof path, "%s/telemetry.%d", directory, (int)getpid());
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(info_is_of_this_host, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_and_stats_are_there, setup, teardown),
		cmocka_unit_test_setup_teardown(the_log_is_shown_and_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_capture_is_begun_and_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(the_engine_is_not_released, setup, teardown),
		cmocka_unit_test(off_is_off),
		cmocka_unit_test(a_host_that_cannot_be_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
