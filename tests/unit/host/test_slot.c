/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/slot.h"
#include "support/child_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* In the one directory. @return what holds it, or a negative errno. */
static int take(const char *group, unsigned first, unsigned last, unsigned *slot)
{
	struct slot_places p = {.n = 1};
	struct slot_hold hold;
	int rc;

	snprintf(p.path[0], sizeof p.path[0], "%s", directory);
	rc = slot_take(&p, group, first, last, slot, &hold);
	return rc ? rc : hold.fd[0];
}

static void test_lowest_free_one(void **state)
{
	unsigned slot;
	int a = take("g", 3, 5, &slot);
	int b;

	assert_true(a >= 0);
	assert_int_equal(slot, 3);
	b = take("g", 3, 5, &slot);
	assert_true(b >= 0);
	assert_int_equal(slot, 4);
	close(a);
	a = take("g", 3, 5, &slot);
	assert_true(a >= 0);
	assert_int_equal(slot, 3);
	close(a);
	close(b);
}

static void test_all_taken(void **state)
{
	unsigned slot = 99;
	int a = take("g", 1, 1, &slot);

	assert_true(a >= 0);
	assert_int_equal(take("g", 1, 1, &slot), -EBUSY);
	close(a);
}

/* What people read in the file is not there then; the lock is. */
static void test_limit_of_file_sizes(void **state)
{
	const struct rlimit none = {0, RLIM_INFINITY};
	pid_t child = child_fork();
	int status = -1;
	unsigned slot;

	if (child == 0)
		_exit(setrlimit(RLIMIT_FSIZE, &none) != 0 || take("limit", 1, 1, &slot) < 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_groups_are_apart(void **state)
{
	unsigned slot;
	int a = take("g", 1, 1, &slot);
	int b = take("h", 1, 1, &slot);

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
	child = child_fork();
	if (child == 0) {
		if (take("g", 1, 1, &slot) < 0 || write(pipe_fd[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipe_fd[0], &c, 1), 1);
	assert_int_equal(take("g", 1, 1, &slot), -EBUSY);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	fd = take("g", 1, 1, &slot);
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
		if (child_fork() == 0) {
			unsigned slot = 0;

			close(end[1]);
			if (take("g", 1, CROWD, &slot) < 0)
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

/* What happens once, right before the next lock. */
static void (*before_lock)(void);

/* In the place of libc's. */
int flock(int fd, int how)
{
	void (*happens)(void) = before_lock;

	before_lock = NULL;
	if (happens)
		happens();
	return (int)syscall(SYS_flock, fd, how);
}

static void remove_first(void)
{
	char path[128];

	snprintf(path, sizeof path, "%s/r.1", directory);
	assert_int_equal(unlink(path), 0);
}

/* Somebody cleans up between the opening of a file and its lock: that would be nobody's. */
static void test_removed_file(void **state)
{
	unsigned slot;
	int a;

	before_lock = remove_first;
	a = take("r", 1, 1, &slot);
	assert_null(before_lock);
	assert_true(a >= 0);
	assert_int_equal(take("r", 1, 1, &slot), -EBUSY);
	close(a);
}

/* ---- places --------------------------------------------------------------------------------- */

/* A user of whom there is nothing yet, where we can be one, and an empty /run. */
static bool become_user(void)
{
	if (geteuid() != 0)
		return false;
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("tmpfs", "/run", "tmpfs", 0, NULL) != 0)
		return false;
	return seteuid(1000000 + (uid_t)getpid()) == 0;
}

static void remove_all(const char *path)
{
	char command[256];

	snprintf(command, sizeof command, "rm -rf %s", path);
	assert_int_equal(system(command), 0);
}

/* By the environment of one process: XDG_RUNTIME_DIR or NULL. */
static unsigned take_in(const char *runtime, struct slot_hold *hold)
{
	struct slot_places p;
	unsigned slot;

	if (runtime)
		setenv("XDG_RUNTIME_DIR", runtime, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(slot_find_places(&p), 0);
	assert_int_equal(slot_take(&p, "unit-test-slot", 1, 9, &slot, hold), 0);
	return slot;
}

/* A login, cron and a service have environments that differ, and share the slots of their user. */
static void test_environments(void **state)
{
	char a[64], b[64], mine[64], run[64], run_uiwarp[128];
	struct slot_hold hold[4];
	const bool user = become_user();
	struct slot_places p;

	if (!user && geteuid() == 0)
		skip();
	snprintf(a, sizeof a, "/tmp/uiw-slot-a%d", (int)getpid());
	snprintf(b, sizeof b, "/tmp/uiw-slot-b%d", (int)getpid());
	snprintf(mine, sizeof mine, "/tmp/uiwarp-%u", (unsigned)geteuid());
	snprintf(run, sizeof run, "/run/user/%u", (unsigned)geteuid());
	snprintf(run_uiwarp, sizeof run_uiwarp, "%s/uiwarp", run);
	assert_int_equal(mkdir(a, 0700), 0);
	assert_int_equal(mkdir(b, 0700), 0);
	assert_int_equal(take_in(a, &hold[0]), 1);
	assert_int_equal(take_in(NULL, &hold[1]), 2);
	assert_int_equal(take_in(b, &hold[2]), 3);
	slot_release(&hold[1]);
	assert_int_equal(take_in(a, &hold[1]), 2);
	for (unsigned i = 0; i < 3; i++)
		slot_release(&hold[i]);
	assert_int_equal(take_in("relative", &hold[0]), 1);
	slot_release(&hold[0]);
	if (user) {
		const uid_t uid = geteuid();

		assert_int_equal(seteuid(0), 0);
		assert_int_equal(mkdir("/run/user", 0755), 0);
		assert_int_equal(mkdir(run, 0700), 0);
		assert_int_equal(chown(run, uid, (gid_t)-1), 0);
		assert_int_equal(seteuid(uid), 0);
		/* Two names of one place are one. */
		assert_int_equal(take_in(run, &hold[0]), 1);
		assert_int_equal(hold[0].n, 2);
		/* The last logout takes it away while we hold it. */
		remove_all(run_uiwarp);
		assert_int_equal(take_in(run, &hold[1]), 2);
		/* Others have the one in /tmp: by the user's number, whatever the environment. */
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(chown(mine, 0, (gid_t)-1), 0);
		assert_int_equal(seteuid(uid), 0);
		assert_int_equal(slot_find_places(&p), 0);
		assert_string_equal(p.refused, mine);
		assert_int_equal(p.n, 1);
		assert_int_equal(take_in(a, &hold[2]), 1);
		assert_int_equal(take_in(NULL, &hold[3]), 3);
		for (unsigned i = 0; i < 4; i++)
			slot_release(&hold[i]);
		/* Without any place there is none. */
		remove_all(run_uiwarp);
		assert_int_equal(symlink("/tmp", run_uiwarp), 0);
		unsetenv("XDG_RUNTIME_DIR");
		assert_int_equal(slot_find_places(&p), -EPERM);
		assert_string_equal(p.path[0], mine);
		assert_int_equal(seteuid(0), 0);
		remove_all(mine);
	}
	remove_all(a);
	remove_all(b);
	unsetenv("XDG_RUNTIME_DIR");
}

/** Asserts in a child: its exit status is the line of the first that fails. */
#define MUST(what)                                 \
	do {                                       \
		if (!(what))                       \
			_exit(__LINE__ % 254 + 1); \
	} while (0)

/* In an own /run and /tmp. */
static void be_root_beside_a_run_that_is_read_only(void)
{
	struct slot_hold hold[2];
	struct slot_places p;
	char path[128];
	unsigned slot;

	MUST(slot_directory(path, sizeof path) == 0 && !strcmp(path, "/tmp/uiwarp-0"));
	MUST(slot_find_places(&p) == 0 && p.n == 1);
	MUST(slot_take(&p, "unit-test-slot", 1, 9, &slot, &hold[0]) == 0 && slot == 1);
	/* Another service has both, and meets the first one. */
	MUST(mount("none", "/run", NULL, MS_REMOUNT, NULL) == 0);
	MUST(slot_directory(path, sizeof path) == 0 && !strcmp(path, "/run/uiwarp"));
	MUST(slot_find_places(&p) == 0 && p.n == 2);
	MUST(slot_take(&p, "unit-test-slot", 1, 9, &slot, &hold[1]) == 0 && slot == 2);
	/* Whoever has begun it, as a program with the set-user-ID bit. */
	MUST(setreuid(65534, (uid_t)-1) == 0);
	MUST(slot_directory(path, sizeof path) == 0 && !strcmp(path, "/run/uiwarp"));
	MUST(setreuid(0, (uid_t)-1) == 0);
	/* Somebody has opened it to others: it is said, though there is the other one. */
	MUST(chmod("/run/uiwarp", 0777) == 0);
	MUST(slot_find_places(&p) == 0 && p.n == 1 && !strcmp(p.refused, "/run/uiwarp"));
	MUST(chmod("/run/uiwarp", 0700) == 0);
	/* What another user has made is none, and no matter where there is the other one. */
	MUST(chown("/tmp/uiwarp-0", 12345, (gid_t)-1) == 0);
	MUST(slot_find_places(&p) == 0 && p.n == 1 && !p.refused[0]);
	slot_release(&hold[0]);
	slot_release(&hold[1]);
	MUST(mount("none", "/run", NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
	MUST(slot_directory(path, sizeof path) == -EPERM);
	MUST(chown("/tmp/uiwarp-0", 0, (gid_t)-1) == 0);
	MUST(slot_directory(path, sizeof path) == 0 && !strcmp(path, "/tmp/uiwarp-0"));
	_exit(0);
}

/* In a user namespace there may be one user alone. */
static bool is_root_of_the_host(void)
{
	unsigned inside = 1, outside = 1, n = 0;
	FILE *f = fopen("/proc/self/uid_map", "re");

	if (f && fscanf(f, "%u %u %u", &inside, &outside, &n) != 3)
		inside = 1;
	if (f)
		fclose(f);
	return geteuid() == 0 && inside == 0 && outside == 0 && n > 65534;
}

static void test_root_without_run(void **state)
{
	int status;
	pid_t pid;

	if (!is_root_of_the_host())
		skip();
	pid = child_fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) != 0 ||
			mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
			mount("tmpfs", "/tmp", "tmpfs", 0, NULL) != 0 ||
			mount("tmpfs", "/run", "tmpfs", MS_RDONLY, NULL) != 0)
			_exit(255);
		be_root_beside_a_run_that_is_read_only();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255)
		skip(); /* not here */
	assert_int_equal(status, 0);
}

/* Where /run and what is of the real root in /tmp are another's. */
static void be_root_of_a_user_namespace(uid_t uid)
{
	char path[128], map[64], expected[64];
	struct slot_places p;
	int fd;

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("tmpfs", "/run", "tmpfs", 0, "mode=755") != 0)
		_exit(255);
	MUST(mkdir("/run/uiwarp", 0700) == 0);
	if (setuid(uid) != 0)
		_exit(255); /* a user namespace already, without that user */
	MUST(prctl(PR_SET_DUMPABLE, 1) == 0);
	if (unshare(CLONE_NEWUSER) != 0)
		_exit(255);
	fd = open("/proc/self/uid_map", O_WRONLY);
	snprintf(map, sizeof map, "0 %u 1", (unsigned)uid);
	if (fd < 0 || write(fd, map, strlen(map)) < 0)
		_exit(255);
	MUST(geteuid() == 0);
	snprintf(expected, sizeof expected, "/tmp/uiwarp-%u", (unsigned)uid);
	MUST(slot_directory(path, sizeof path) == 0 && !strcmp(path, expected));
	/* The real root's is no fault of anybody here. */
	MUST(slot_find_places(&p) == 0 && p.n == 1 && !p.refused[0]);
	MUST(rmdir(path) == 0);
	_exit(0);
}

static void test_root_of_a_user_namespace(void **state)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	pid = child_fork();
	if (pid == 0)
		be_root_of_a_user_namespace(1000000 + (uid_t)getpid());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255)
		skip(); /* not here */
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lowest_free_one),
		cmocka_unit_test(test_all_taken),
		cmocka_unit_test(test_limit_of_file_sizes),
		cmocka_unit_test(test_groups_are_apart),
		cmocka_unit_test(test_killed_process_gives_back),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_removed_file),
		cmocka_unit_test(test_environments),
		cmocka_unit_test(test_root_without_run),
		cmocka_unit_test(test_root_of_a_user_namespace),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
