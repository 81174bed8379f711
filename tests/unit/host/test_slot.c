/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/slot.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static char directory[64];

static int set_up(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-slot.XXXXXX");
	return mkdtemp(directory) == NULL;
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

static void test_lowest_free_one(void **state)
{
	unsigned slot;
	int a = slot_take(directory, "g", 3, 5, &slot);
	int b;

	assert_true(a >= 0);
	assert_int_equal(slot, 3);
	b = slot_take(directory, "g", 3, 5, &slot);
	assert_true(b >= 0);
	assert_int_equal(slot, 4);
	close(a);
	a = slot_take(directory, "g", 3, 5, &slot);
	assert_true(a >= 0);
	assert_int_equal(slot, 3);
	close(a);
	close(b);
}

static void test_all_taken(void **state)
{
	unsigned slot = 99;
	int a = slot_take(directory, "g", 1, 1, &slot);

	assert_true(a >= 0);
	assert_int_equal(slot_take(directory, "g", 1, 1, &slot), -EBUSY);
	close(a);
}

static void test_groups_are_apart(void **state)
{
	unsigned slot;
	int a = slot_take(directory, "g", 1, 1, &slot);
	int b = slot_take(directory, "h", 1, 1, &slot);

	assert_true(a >= 0);
	assert_true(b >= 0);
	close(a);
	close(b);
}

/* One that is killed cleans nothing up. */
static void test_killed_process_gives_back(void **state)
{
	unsigned slot = 0;
	int pipe_fd[2];
	pid_t child;
	char c;
	int fd;

	assert_int_equal(pipe(pipe_fd), 0);
	child = fork();
	if (child == 0) {
		if (slot_take(directory, "g", 1, 1, &slot) < 0 || write(pipe_fd[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipe_fd[0], &c, 1), 1);
	assert_int_equal(slot_take(directory, "g", 1, 1, &slot), -EBUSY);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	fd = slot_take(directory, "g", 1, 1, &slot);
	assert_true(fd >= 0);
	close(fd);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

#define CROWD 20

/* Many at once: no two get the same. */
static void test_crowd(void **state)
{
	unsigned seen[CROWD + 1] = {0};
	int numbers[2], end[2];
	char c = 0;

	assert_int_equal(pipe(numbers), 0);
	assert_int_equal(pipe(end), 0);
	for (unsigned i = 0; i < CROWD; i++) {
		if (fork() == 0) {
			unsigned slot = 0;

			close(end[1]);
			if (slot_take(directory, "g", 1, CROWD, &slot) < 0)
				slot = 0;
			if (write(numbers[1], &slot, sizeof slot) != sizeof slot)
				_exit(1);
			/* Until the parent has closed its end. */
			_exit(read(end[0], &c, 1) != 0);
		}
	}
	for (unsigned i = 0; i < CROWD; i++) {
		unsigned slot;

		assert_int_equal(read(numbers[0], &slot, sizeof slot), sizeof slot);
		assert_in_range(slot, 1, CROWD);
		assert_int_equal(seen[slot]++, 0);
	}
	close(end[1]);
	for (unsigned i = 0; i < CROWD; i++)
		wait(NULL);
	close(end[0]);
	close(numbers[0]);
	close(numbers[1]);
}

/* What others can write to is no place for locks that we trust. */
static void test_directory(void **state)
{
	char path[128], expected[128];

	if (geteuid() == 0 && seteuid(65534) != 0)
		skip();
	snprintf(expected, sizeof expected, "/tmp/uiw-slot-%d", (int)getpid());
	assert_int_equal(mkdir(expected, 0700), 0);
	setenv("XDG_RUNTIME_DIR", expected, 1);
	assert_int_equal(slot_directory(path, sizeof path), 0);
	strcat(expected, "/uiwarp");
	assert_string_equal(path, expected);
	assert_int_equal(slot_directory(path, sizeof path), 0);

	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(slot_directory(path, sizeof path), -EPERM);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_int_equal(slot_directory(path, sizeof path), -ENOTDIR);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	assert_int_equal(slot_directory(path, 4), -ENAMETOOLONG);
	unsetenv("XDG_RUNTIME_DIR");
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lowest_free_one),
		cmocka_unit_test(test_all_taken),
		cmocka_unit_test(test_groups_are_apart),
		cmocka_unit_test(test_killed_process_gives_back),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_directory),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
