/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a configuration names: what is none is refused, at once, and nothing stays open. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char directory[64], path[sizeof directory + 8], target[sizeof directory + 8];

static int set_up(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-regular.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/file", directory);
	snprintf(target, sizeof target, "%s/target", directory);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	unlink(target);
	return rmdir(directory);
}

static void write_file(const char *at, const char *text)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/** The lowest descriptor that is free: the same before and after if nothing stayed open. */
static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void expect_text(const char *text)
{
	const char *why = "";
	char got[16] = "";
	struct stat st;
	int rc = 0;
	FILE *f = regular_file_open(path, &st, &rc, &why);

	if (!f)
		fail_msg("%s", why);
	assert_int_equal(st.st_size, strlen(text));
	assert_non_null(fgets(got, sizeof got, f));
	assert_string_equal(got, text);
	assert_true(fcntl(fileno(f), F_GETFD) & FD_CLOEXEC);
	fclose(f);
}

static void expect_refused(const char *at, int error, const char *reason)
{
	int before = lowest_free(), rc = 0;
	const char *why = "";
	struct stat st;

	assert_null(regular_file_open(at, &st, &rc, &why));
	assert_int_equal(rc, error);
	assert_string_equal(why, reason);
	assert_int_equal(lowest_free(), before);
}

static void a_file_is_read(void **state)
{
	write_file(path, "text");
	expect_text("text");
}

static void a_link_to_a_file_is_followed(void **state)
{
	write_file(target, "text");
	assert_int_equal(symlink(target, path), 0);
	expect_text("text");
}

static void a_file_that_is_not_there_is_refused(void **state)
{
	expect_refused(path, -ENOENT, strerror(ENOENT));
	expect_refused("", -ENOENT, strerror(ENOENT));
	assert_int_equal(symlink(path, path), 0);
	expect_refused(path, -ELOOP, strerror(ELOOP));
}

/** Its writer never comes. */
static void a_fifo_is_refused_without_a_wait(void **state)
{
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refused(path, -EACCES, "it is not a file");
}

static void a_directory_is_refused(void **state)
{
	expect_refused(directory, -EACCES, "it is not a file");
}

static void a_device_is_refused(void **state)
{
	expect_refused("/dev/zero", -EACCES, "it is not a file");
}

static void a_socket_is_refused(void **state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
	expect_refused(path, -ENXIO, strerror(ENXIO));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_link_to_a_file_is_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_file_that_is_not_there_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_fifo_is_refused_without_a_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_directory_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_device_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_socket_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
