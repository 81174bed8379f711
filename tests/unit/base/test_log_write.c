/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log_write.h"
#include "support/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

static const char line[] = "a line\n";

static void write_line(int fd)
{
	errno = E2BIG;
	log_write(fd, line, strlen(line));
	assert_int_equal(errno, E2BIG);
}

/** What log_write_stderr() writes while 2 is @p fd, which is closed. */
static void write_line_with_stderr(int fd)
{
	int saved = dup(STDERR_FILENO);

	assert_true(saved >= 0);
	if (fd >= 0)
		assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	else
		close(STDERR_FILENO);
	errno = E2BIG;
	log_write_stderr(line, strlen(line));
	assert_int_equal(errno, E2BIG);
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(saved);
	if (fd >= 0)
		close(fd);
}

/** @return how many bytes a reader of @p fd finds; it is closed. */
static ssize_t count(int fd)
{
	char buf[4096];
	ssize_t n;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	n = read(fd, buf, sizeof buf);
	if (n > 0)
		assert_memory_equal(buf, line, (size_t)n);
	close(fd);
	return n < 0 && errno == EAGAIN ? 0 : n;
}

static void a_line_is_one_write(void **state)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	write_line(ends[1]);
	assert_int_equal(count(ends[0]), strlen(line));
	close(ends[1]);
}

/** As a terminal that is stopped, or a reader that does not come to it. */
static void a_full_pipe_is_not_waited_for(void **state)
{
	static const char page[4096];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	while (write(ends[1], page, sizeof page) > 0)
		;
	assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
	write_line(ends[1]);
	close(ends[0]);
	close(ends[1]);
}

/** It says that it has room, and has it for a part. Whoever waits for the rest gets SIGALRM. */
static void write_more_than_there_is_room_for(int fd)
{
	static char text[1 << 20];

	memset(text, 'x', sizeof text);
	alarm(LIMIT_S);
	log_write(fd, text, sizeof text);
	alarm(0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
}

static void room_for_a_part_is_not_waited_for(void **state)
{
	int ends[2], master = posix_openpt(O_RDWR | O_NOCTTY);

	assert_int_equal(pipe(ends), 0);
	write_more_than_there_is_room_for(ends[1]);
	close(ends[0]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	write_more_than_there_is_room_for(ends[1]);
	close(ends[0]);
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		skip();
	write_more_than_there_is_room_for(open(ptsname(master), O_WRONLY | O_NOCTTY));
	close(master);
}

static void assert_no_signal_waits(int sig)
{
	sigset_t pending;

	assert_int_equal(sigpending(&pending), 0);
	assert_int_equal(sigismember(&pending, sig), 0);
}

/** The default action of either signal would end the test. */
static void a_reader_that_is_gone_ends_nobody(void **state)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	write_line(ends[1]);
	assert_no_signal_waits(SIGPIPE);
	close(ends[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	close(ends[0]);
	write_line(ends[1]);
	assert_no_signal_waits(SIGPIPE);
	close(ends[1]);
}

static void a_limit_of_files_ends_nobody(void **state)
{
	const int fd = memfd_create("log", MFD_CLOEXEC);
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	write_line(fd);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_no_signal_waits(SIGXFSZ);
	assert_int_equal(count(fd), 0);
}

/** One that the program has not taken yet stays for it. */
static void a_signal_of_the_program_stays(void **state)
{
	const struct timespec no_time = {0};
	sigset_t sigpipe, before;
	int ends[2];

	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	assert_int_equal(sigprocmask(SIG_BLOCK, &sigpipe, &before), 0);
	assert_int_equal(raise(SIGPIPE), 0);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	write_line(ends[1]);
	close(ends[1]);
	assert_int_equal(sigtimedwait(&sigpipe, NULL, &no_time), SIGPIPE);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

/** A file of the test, with @p flags. */
static int open_file(char *path, int flags)
{
	int fd = mkstemp(strcpy(path, "/tmp/uiw-log_write.XXXXXX"));

	assert_true(fd >= 0);
	close(fd);
	fd = open(path, O_RDWR | flags);
	assert_true(fd >= 0);
	return fd;
}

static void assert_file(const char *path, size_t size)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, size);
	unlink(path);
}

static void data_in_place_of_stderr_gets_no_line(void **state)
{
	char path[40];
	int ends[2];

	write_line_with_stderr(-1);
	write_line_with_stderr(open_file(path, 0));
	assert_file(path, 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	write_line_with_stderr(ends[1]);
	assert_int_equal(count(ends[0]), 0);
}

static void a_daemons_log_gets_its_lines(void **state)
{
	char path[40];
	int ends[2];

	write_line_with_stderr(open_file(path, O_APPEND));
	assert_file(path, strlen(line));
	assert_int_equal(pipe(ends), 0);
	write_line_with_stderr(ends[1]);
	assert_int_equal(count(ends[0]), strlen(line));
}

/** Begun again with a file as its stderr, which is none that is appended to. */
static void stderr_of_the_start_gets_its_lines(void **state)
{
	char path[40], command[200];

	close(open_file(path, 0));
	snprintf(command, sizeof command, "exec /proc/%d/exe line 2>%s", (int)getpid(), path);
	assert_int_equal(system(command), 0);
	assert_file(path, strlen(line));
}

/** Of a process without stderr: a pipe, or a file that is appended to, at 2. @return its status. */
static int write_line_beside_data(const char *kind)
{
	int ends[2];
	char path[40], c;

	if (strcmp(kind, "pipe") == 0 && pipe(ends) == 0) {
		ends[0] = dup(ends[0]);
		dup2(ends[1], STDERR_FILENO);
	} else {
		ends[0] = open_file(path, O_APPEND);
		dup2(ends[0], STDERR_FILENO);
		unlink(path);
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK | O_APPEND);
	log_write_stderr(line, strlen(line));
	lseek(ends[0], 0, SEEK_SET);
	return read(ends[0], &c, 1) > 0;
}

static void without_stderr_at_the_start_nothing_is_one(void **state)
{
	static const char *const kinds[] = {"pipe", "file"};
	char command[200];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(command, sizeof command, "exec /proc/%d/exe %s 2>&-", (int)getpid(),
			kinds[i]);
		assert_int_equal(system(command), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_one_write),
		cmocka_unit_test(a_full_pipe_is_not_waited_for),
		cmocka_unit_test(room_for_a_part_is_not_waited_for),
		cmocka_unit_test(a_reader_that_is_gone_ends_nobody),
		cmocka_unit_test(a_limit_of_files_ends_nobody),
		cmocka_unit_test(a_signal_of_the_program_stays),
		cmocka_unit_test(data_in_place_of_stderr_gets_no_line),
		cmocka_unit_test(a_daemons_log_gets_its_lines),
		cmocka_unit_test(stderr_of_the_start_gets_its_lines),
		cmocka_unit_test(without_stderr_at_the_start_nothing_is_one),
	};

	if (argc > 1 && strcmp(argv[1], "line") != 0)
		return write_line_beside_data(argv[1]);
	if (argc > 1) {
		log_write_stderr(line, strlen(line));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
