/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stack_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

static char path[] = "/tmp/test_stack_log.XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(strcpy(path, "/tmp/test_stack_log.XXXXXX"));

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static char *contents(char *buf, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, size - 1, f);
	buf[n] = '\0';
	fclose(f);
	return buf;
}

static void test_levels(void **state)
{
	struct stack_log l;
	char buf[400];

	assert_int_equal(stack_log_open(&l, LOG_LEVEL_INFO, path), 0);
	log_printf(&l.sink, LOG_LEVEL_ERROR, "the %s is gone", "port");
	log_printf(&l.sink, LOG_LEVEL_WARNING, "slow");
	log_printf(&l.sink, LOG_LEVEL_INFO, "listening");
	log_printf(&l.sink, LOG_LEVEL_DEBUG, "not this");
	l.sink.max_level = LOG_LEVEL_DEBUG;
	log_printf(&l.sink, LOG_LEVEL_DEBUG, "but this");
	stack_log_close(&l);
	assert_string_equal(contents(buf, sizeof buf), "uiwarp: error: the port is gone\n"
						       "uiwarp: warning: slow\n"
						       "uiwarp: listening\n"
						       "uiwarp: but this\n");
}

/** The last lines are kept, cut where they are long, and no others are shown. */
static void test_keeps_the_last(void **state)
{
	static struct stack_log l;
	struct stack_log_entry e;
	char text[400];

	assert_int_equal(stack_log_open(&l, LOG_LEVEL_WARNING, path), 0);
	assert_false(stack_log_get(&l, 0, &e));
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	log_printf(&l.sink, LOG_LEVEL_INFO, "not this");
	stack_log_set_level(&l, LOG_LEVEL_INFO);
	for (unsigned i = 0; i < STACK_LOG_KEPT + 3; i++)
		log_printf(&l.sink, LOG_LEVEL_INFO, "%u %s", i, text);
	assert_int_equal(stack_log_lines(&l), STACK_LOG_KEPT + 3);
	assert_false(stack_log_get(&l, 2, &e));
	assert_true(stack_log_get(&l, 3, &e));
	assert_int_equal(strlen(e.text), STACK_LOG_LINE - 1);
	assert_memory_equal(e.text, "3 xxx", 5);
	assert_int_equal(e.level, LOG_LEVEL_INFO);
	assert_true(e.time > 0);
	assert_true(stack_log_get(&l, STACK_LOG_KEPT + 2, &e));
	assert_false(stack_log_get(&l, STACK_LOG_KEPT + 3, &e));
	stack_log_close(&l);
}

static struct stack_log read_log;
static atomic_bool reading;
static _Atomic unsigned read_rounds, read_wrong;

/** Whatever is there is whole, and the line that was asked for. */
static void *read_all(void *arg)
{
	struct stack_log_entry e;
	char text[STACK_LOG_LINE];

	while (atomic_load(&reading)) {
		uint64_t lines = stack_log_lines(&read_log);

		for (uint64_t i = lines > STACK_LOG_KEPT ? lines - STACK_LOG_KEPT : 0; i < lines;
			i++) {
			if (!stack_log_get(&read_log, i, &e))
				continue;
			snprintf(text, sizeof text, "%0100llu and %0100llu", (unsigned long long)i,
				(unsigned long long)i);
			if (strcmp(e.text, text) != 0)
				atomic_fetch_add(&read_wrong, 1);
		}
		atomic_fetch_add(&read_rounds, 1);
	}
	return NULL;
}

/** Who reads stops nobody who writes, and none of the lines is lost. */
static void test_keeps_what_comes_while_it_is_read(void **state)
{
	struct stack_log_entry e;
	unsigned n, before;
	pthread_t thread;

	assert_int_equal(stack_log_open(&read_log, LOG_LEVEL_INFO, "/dev/null"), 0);
	atomic_store(&reading, true);
	assert_int_equal(pthread_create(&thread, NULL, read_all, NULL), 0);
	/* As long as it takes for both to have been at it. */
	before = atomic_load(&read_rounds);
	for (n = 0; n < 20000 || atomic_load(&read_rounds) - before < 100; n++)
		log_printf(&read_log.sink, LOG_LEVEL_INFO, "%0100u and %0100u", n, n);
	atomic_store(&reading, false);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(read_wrong, 0);
	assert_int_equal(stack_log_lines(&read_log), n);
	for (unsigned i = n - STACK_LOG_KEPT; i < n; i++)
		assert_true(stack_log_get(&read_log, i, &e));
	stack_log_close(&read_log);
}

static struct stack_log *torn_log;
static uint8_t *torn_page;
static size_t torn_size;

/** The page that the reader has come to is there now; and what is on it has changed. */
static void overwrite_all(int signo)
{
	if (mprotect(torn_page, torn_size, PROT_READ | PROT_WRITE))
		_exit(99);
	for (unsigned i = 0; i < STACK_LOG_KEPT; i++)
		log_printf(&torn_log->sink, LOG_LEVEL_INFO, "%0200u", i);
}

/** A line is taken as a whole or not at all, also if another one takes its place while it is read.
 */
static void test_gives_no_line_that_changes_while_it_is_read(void **state)
{
	const struct sigaction catch = {.sa_handler = overwrite_all, .sa_flags = SA_NODEFER};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* The second half of the first line's words begins the second page. */
	const size_t before = offsetof(struct stack_log, kept[0].words[STACK_LOG_WORDS / 2]);
	struct sigaction old;
	struct stack_log_entry e;
	uint8_t *map;

	torn_size = (sizeof *torn_log + page - 1) / page * page;
	map = mmap(
		NULL, page + torn_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_true(before < page);
	torn_page = map + page;
	torn_log = (struct stack_log *)(torn_page - before);
	assert_int_equal(stack_log_open(torn_log, LOG_LEVEL_INFO, "/dev/null"), 0);
	log_printf(&torn_log->sink, LOG_LEVEL_INFO, "first");
	assert_true(stack_log_get(torn_log, 0, &e));
	assert_int_equal(sigaction(SIGSEGV, &catch, &old), 0);
	assert_int_equal(mprotect(torn_page, torn_size, PROT_NONE), 0);
	assert_false(stack_log_get(torn_log, 0, &e));
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	assert_int_equal(stack_log_lines(torn_log), 1 + STACK_LOG_KEPT); /* it was interrupted */
	assert_true(stack_log_get(torn_log, STACK_LOG_KEPT, &e));
	stack_log_close(torn_log);
	munmap(map, page + torn_size);
}

/** A handler's line comes in the midst of another of its thread: neither waits for the other. */
static void test_keeps_none_in_place_of_one_that_is_written(void **state)
{
	static struct stack_log l;
	struct stack_log_entry e;

	assert_int_equal(stack_log_open(&l, LOG_LEVEL_INFO, "/dev/null"), 0);
	log_printf(&l.sink, LOG_LEVEL_INFO, "first");
	l.kept[1].version = 1;
	assert_false(stack_log_get(&l, 1, &e));
	log_printf(&l.sink, LOG_LEVEL_INFO, "lost");
	log_printf(&l.sink, LOG_LEVEL_INFO, "third");
	assert_int_equal(stack_log_lines(&l), 3);
	assert_false(stack_log_get(&l, 1, &e));
	assert_true(stack_log_get(&l, 2, &e));
	assert_string_equal(e.text, "third");
	/* One that was overtaken by STACK_LOG_KEPT others does not take the place of the last. */
	l.lines = 2 + STACK_LOG_KEPT;
	log_printf(&l.sink, LOG_LEVEL_INFO, "later");
	l.lines = 2;
	log_printf(&l.sink, LOG_LEVEL_INFO, "late");
	assert_false(stack_log_get(&l, 2, &e));
	assert_true(stack_log_get(&l, 2 + STACK_LOG_KEPT, &e));
	assert_string_equal(e.text, "later");
	stack_log_close(&l);
}

/* The runs of several programs stand one after the other. */
static void test_appends(void **state)
{
	struct stack_log l;
	char buf[100];

	for (int i = 0; i < 2; i++) {
		assert_int_equal(stack_log_open(&l, LOG_LEVEL_ERROR, path), 0);
		assert_true((fcntl(l.fd, F_GETFD) & FD_CLOEXEC) != 0);
		log_printf(&l.sink, LOG_LEVEL_ERROR, "run %d", i);
		stack_log_close(&l);
	}
	assert_string_equal(
		contents(buf, sizeof buf), "uiwarp: error: run 0\nuiwarp: error: run 1\n");
}

static void test_long_line(void **state)
{
	char text[900], buf[1000];
	struct stack_log l;
	size_t n;

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_int_equal(stack_log_open(&l, LOG_LEVEL_ERROR, path), 0);
	l.sink.line(l.sink.ctx, LOG_LEVEL_ERROR, text);
	l.sink.line(l.sink.ctx, LOG_LEVEL_ERROR, "next");
	stack_log_close(&l);
	contents(buf, sizeof buf);
	n = strcspn(buf, "\n");
	assert_true(n > 500 && n < sizeof text);
	assert_int_equal(
		strspn(buf + strlen("uiwarp: error: "), "x"), n - strlen("uiwarp: error: "));
	assert_string_equal(buf + n, "\nuiwarp: error: next\n");
}

static void test_stderr(void **state)
{
	int saved = dup(STDERR_FILENO), fd = open(path, O_WRONLY | O_APPEND);
	struct stack_log l;
	char buf[100];

	assert_int_equal(stack_log_open(&l, LOG_LEVEL_ERROR, ""), 0);
	assert_int_equal(l.fd, -1);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	log_printf(&l.sink, LOG_LEVEL_ERROR, "seen");
	stack_log_close(&l);
	/* Closing the log is not closing stderr. */
	assert_int_equal(write(STDERR_FILENO, ".", 1), 1);
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(saved);
	close(fd);
	assert_string_equal(contents(buf, sizeof buf), "uiwarp: error: seen\n.");
}

/** A FIFO's reader that does not come to it costs lines, and no time. */
static void test_fifo(void **state)
{
	struct stack_log l;
	int reader;

	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(stack_log_open(&l, LOG_LEVEL_ERROR, path), -ENXIO);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(stack_log_open(&l, LOG_LEVEL_ERROR, path), 0);
	for (unsigned i = 0; i < 10000; i++)
		log_printf(&l.sink, LOG_LEVEL_ERROR, "%0100u", i);
	close(reader);
	log_printf(&l.sink, LOG_LEVEL_ERROR, "nobody is there");
	assert_int_equal(stack_log_lines(&l), 10001);
	stack_log_close(&l);
}

static void test_bad_path(void **state)
{
	struct stack_log l;

	assert_int_equal(stack_log_open(&l, LOG_LEVEL_ERROR, "/nonexistent/dir/log"), -ENOENT);
	assert_int_equal(stack_log_open(&l, LOG_LEVEL_ERROR, "/"), -EISDIR);
	stack_log_close(&l);
}

int main(void)
{
#define FILED(f) cmocka_unit_test_setup_teardown(f, make_file, remove_file)
	const struct CMUnitTest tests[] = {
		FILED(test_levels),
		FILED(test_keeps_the_last),
		FILED(test_keeps_what_comes_while_it_is_read),
		FILED(test_gives_no_line_that_changes_while_it_is_read),
		FILED(test_keeps_none_in_place_of_one_that_is_written),
		FILED(test_appends),
		FILED(test_long_line),
		FILED(test_stderr),
		FILED(test_fifo),
		FILED(test_bad_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
