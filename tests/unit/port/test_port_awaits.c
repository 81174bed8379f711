/* SPDX-License-Identifier: BSD-2-Clause */
/* A port whose driver waits for its peer says so. */
#include "dpdk-port/port.h"
#include "support/child_fork.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static void write_line(void *ctx, enum log_level level, const char *text)
{
	const int *to = ctx;

	if (level <= LOG_LEVEL_WARNING && write(*to, text, strlen(text)) < 0)
		_exit(1);
}

/** Opens it, and says to @p to what the log says, or why there is no port. Nobody ever connects. */
static void open_it(const char *device, int to)
{
	struct log_sink log = {.line = write_line, .ctx = &to, .max_level = LOG_LEVEL_WARNING};
	struct port_config cfg = {.device = device, .memory_mib = 8, .log = &log};
	struct port_error e = {""};
	struct port *p;

	write_line(&to, LOG_LEVEL_ERROR, port_open(&cfg, &p, &e) == 0 ? "it is open" : e.text);
	_exit(0);
}

/** @return the first that was said, in @p text. */
static void read_line(int from, char *text, size_t size)
{
	ssize_t n = read(from, text, size - 1);

	assert_true(n >= 0);
	text[n] = '\0';
}

static void for_a_vhost(void **state)
{
	char directory[] = "/tmp/uiw-awaits-XXXXXX", path[64], device[128], text[600], want[300];
	int said[2];
	pid_t child;

	assert_non_null(mkdtemp(directory));
	assert_int_equal(pipe(said), 0);
	snprintf(path, sizeof path, "%s/v", directory);
	snprintf(device, sizeof device, "net_virtio_user0,path=%s,server=1", path);
	child = child_fork();
	if (child == 0)
		open_it(device, said[1]);
	close(said[1]);
	read_line(said[0], text, sizeof text);
	close(said[0]);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	unlink(path);
	rmdir(directory);
	snprintf(want, sizeof want, "port \"%s\": it waits until a vhost connects to its socket",
		device);
	assert_string_equal(text, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(for_a_vhost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
