/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

static char directory[64], name[80], victim[80];

static int setup(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-own_file.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof name, "%s/name", directory);
	snprintf(victim, sizeof victim, "%s/victim", directory);
	return 0;
}

static int teardown(void **state)
{
	unlink(name);
	unlink(victim);
	return rmdir(directory);
}

/** Others make files there, too. */
static void open_to_all(void)
{
	assert_int_equal(chmod(directory, 01777), 0);
}

static void write_seven(const char *path)
{
	int fd = own_file_open(path, O_WRONLY | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1234567", 7), 7);
	close(fd);
}

static void assert_size(const char *path, off_t size)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, size);
}

static void assert_not_taken(int flags)
{
	assert_int_equal(own_file_open(name, O_WRONLY | flags, 0600), -EPERM);
	assert_non_null(strstr(own_file_strerror(-EPERM), "another user"));
}

static void a_file_is_made_and_found_again(void **state)
{
	struct stat st;
	int fd;

	for (unsigned i = 0; i < 2; i++) {
		write_seven(name);
		assert_int_equal(stat(name, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		fd = own_file_open(name, O_WRONLY | O_APPEND, 0600);
		assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
		assert_int_equal(write(fd, "89", 2), 2);
		close(fd);
		assert_size(name, 9);
		write_seven(name);
		assert_size(name, 7);
		open_to_all();
	}
	assert_int_equal(own_file_open("/no/such/file", O_WRONLY, 0600), -ENOENT);
	assert_string_equal(own_file_strerror(-ENOENT), strerror(ENOENT));
	close(own_file_open("/dev/null", O_WRONLY | O_TRUNC, 0600));
}

/** In a directory of our own a link is as good as a file. */
static void links_of_others_are_not_followed(void **state)
{
	write_seven(victim);
	assert_int_equal(symlink(victim, name), 0);
	close(own_file_open(name, O_WRONLY | O_APPEND, 0600));
	open_to_all();
	assert_not_taken(O_TRUNC);
	assert_not_taken(O_APPEND);
	assert_int_equal(unlink(victim), 0);
	assert_not_taken(0);
	assert_int_equal(access(victim, F_OK), -1);
}

static void a_second_name_is_not_taken(void **state)
{
	write_seven(victim);
	assert_int_equal(link(victim, name), 0);
	open_to_all();
	assert_not_taken(O_TRUNC);
	assert_size(victim, 7);
	assert_int_equal(unlink(victim), 0);
	write_seven(name);
}

static void files_of_others_are_not_taken(void **state)
{
	if (geteuid() != 0)
		skip(); /* only root can give files away */
	write_seven(name);
	if (chown(name, 65534, 65534) != 0)
		skip(); /* there is nobody in this user namespace */
	close(own_file_open(name, O_WRONLY | O_APPEND, 0600));
	open_to_all();
	assert_not_taken(O_TRUNC);
	assert_size(name, 7);
	unlink(name);
	assert_int_equal(mkfifo(name, 0666), 0);
	assert_int_equal(chown(name, 65534, 65534), 0);
	assert_int_equal(own_file_open(name, O_RDWR, 0600), -EPERM);
}

/** As a FIFO that nobody reads, by the same errno. */
static void a_node_without_its_device_is_named(void **state)
{
	if (mknod(name, S_IFCHR | 0600, makedev(4095, 0)) != 0)
		skip(); /* only root makes one */
	if (own_file_open(name, O_WRONLY, 0600) != -ENXIO)
		skip(); /* not on a file system without devices */
	assert_non_null(strstr(own_file_strerror(-ENXIO), "a device that is not there"));
}

/** Its writer does not wait for somebody to read it, and not for room in it. */
static void a_fifo_holds_nobody_up(void **state)
{
	static const char page[4096];
	int reader, fd;

	assert_int_equal(mkfifo(name, 0600), 0);
	assert_int_equal(own_file_open(name, O_WRONLY | O_APPEND, 0600), -ENXIO);
	assert_non_null(strstr(own_file_strerror(-ENXIO), "nobody reads that FIFO"));
	reader = open(name, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	fd = own_file_open(name, O_WRONLY | O_APPEND, 0600);
	assert_true(fd >= 0);
	while (write(fd, page, sizeof page) > 0)
		;
	assert_int_equal(errno, EAGAIN);
	close(fd);
	close(reader);
}

/** Linux gives it to who may read of it. A daemon is not to be ended by its keys. */
static void a_terminal_does_not_become_the_process_own(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;
	pid_t child;

	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setsid();
		if (own_file_open(ptsname(master), O_RDWR | O_APPEND, 0600) < 0)
			_exit(1);
		_exit(open("/dev/tty", O_RDWR) < 0 && errno == ENXIO ? 0 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(master);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_made_and_found_again, setup, teardown),
		cmocka_unit_test_setup_teardown(links_of_others_are_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_second_name_is_not_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_others_are_not_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_node_without_its_device_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(a_fifo_holds_nobody_up, setup, teardown),
		cmocka_unit_test(a_terminal_does_not_become_the_process_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
