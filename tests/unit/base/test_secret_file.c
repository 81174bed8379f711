/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with secrets: who may read them, and that a change is seen. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64], path[1024], other[sizeof directory + 8];

static void write_file(const char *at, const char *text)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int set_up(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-secret.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/secret", directory);
	snprintf(other, sizeof other, "%s/other", directory);
	write_file(path, "one");
	return 0;
}

static int tear_down(void **state)
{
	snprintf(path, sizeof path, "%s/secret", directory);
	if (unlink(path))
		rmdir(path);
	unlink(other);
	return rmdir(directory);
}

/* ---- who may read it --------------------------------------------------------------------- */

static void expect_open(mode_t mode)
{
	char why[512] = "";
	FILE *f;
	int rc;

	assert_int_equal(chmod(path, mode), 0);
	f = secret_file_open(path, "tls_key", &rc, why, sizeof why);
	if (!f)
		fail_msg("%s", why);
	fclose(f);
}

static void expect_refused(int error, const char *reason)
{
	char why[512] = "";
	int rc = 0;

	assert_null(secret_file_open(path, "tls_key", &rc, why, sizeof why));
	assert_int_equal(rc, error);
	assert_non_null(strstr(why, "tls_key \""));
	assert_non_null(strstr(why, path));
	if (!strstr(why, reason))
		fail_msg("\"%s\" does not say \"%s\"", why, reason);
}

static void the_owner_and_a_group_may_read_it(void **state)
{
	expect_open(0600);
	expect_open(0400);
	expect_open(0640);
}

static void nobody_else_may_touch_it(void **state)
{
	static const mode_t modes[] = {0604, 0602, 0601, 0620, 0644, 0666};

	for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		assert_int_equal(chmod(path, modes[i]), 0);
		expect_refused(-EACCES, "chmod 600");
	}
}

static void what_is_no_file_is_refused_without_waiting(void **state)
{
	assert_int_equal(unlink(path), 0);
	expect_refused(-ENOENT, "No such file");
	/* A pipe that nobody writes to. */
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refused(-EACCES, "not a file");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_refused(-EACCES, "not a file");
}

static void a_long_path_is_cut_in_the_sentence(void **state)
{
	char why[512] = "";
	int rc;

	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	assert_null(secret_file_open(path, "tls_psk", &rc, why, sizeof why));
	assert_int_equal(rc, -ENAMETOOLONG);
	assert_non_null(strstr(why, "too long"));
}

/* ---- changes ----------------------------------------------------------------------------- */

static struct secret_file_stamp before;

static bool has_changed(void)
{
	struct secret_file_stamp now;

	secret_file_stamp_take(&now, path);
	return secret_file_stamp_differs(&before, &now);
}

/** Let its time of change be @p ns behind a second. */
static void touch(long ns)
{
	const struct timespec t[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000, .tv_nsec = ns}};

	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void a_file_that_stays_does_not_differ(void **state)
{
	secret_file_stamp_take(&before, path);
	assert_false(has_changed());
}

static void another_time_size_or_file_differs(void **state)
{
	touch(0);
	secret_file_stamp_take(&before, path);
	touch(1);
	assert_true(has_changed());
	touch(0);
	assert_false(has_changed());
	/* Of the same time, but longer. */
	write_file(path, "longer");
	touch(0);
	assert_true(has_changed());
	/* Of the same time and size, but another file: as "mv" does. */
	secret_file_stamp_take(&before, path);
	write_file(other, "shadow");
	assert_int_equal(rename(other, path), 0);
	touch(0);
	assert_true(has_changed());
}

/* Our sentence about one that others may read says to do this. */
static void another_mode_differs(void **state)
{
	assert_int_equal(chmod(path, 0644), 0);
	secret_file_stamp_take(&before, path);
	assert_int_equal(chmod(path, 0600), 0);
	assert_true(has_changed());
}

static void coming_and_going_differs(void **state)
{
	secret_file_stamp_take(&before, path);
	assert_int_equal(unlink(path), 0);
	assert_true(has_changed());
	secret_file_stamp_take(&before, path);
	assert_false(has_changed());
	write_file(path, "one");
	assert_true(has_changed());
}

static void no_path_is_no_file(void **state)
{
	const struct secret_file_stamp none = {0};

	secret_file_stamp_take(&before, "");
	assert_false(secret_file_stamp_differs(&before, &none));
}

static void what_lasts_is_not_tried_again(void **state)
{
	static const int lasts[] = {EINVAL, EACCES, ENOENT, ENOTSUP, EKEYEXPIRED};
	static const int passes[] = {ENOMEM, EMFILE, ENFILE, EIO, EINTR};

	for (unsigned i = 0; i < sizeof lasts / sizeof lasts[0]; i++) {
		assert_false(secret_file_try_again(-lasts[i]));
		assert_true(secret_file_try_again(-passes[i]));
	}
}

static void what_is_told_again_is_no_news(void **state)
{
	char last[16] = "";

	assert_false(secret_file_is_news(last, sizeof last, ""));
	assert_true(secret_file_is_news(last, sizeof last, "one"));
	assert_false(secret_file_is_news(last, sizeof last, "one"));
	assert_true(secret_file_is_news(last, sizeof last, "two"));
	assert_true(secret_file_is_news(last, sizeof last, "one"));
	/* It has passed, and comes again. */
	assert_false(secret_file_is_news(last, sizeof last, ""));
	assert_true(secret_file_is_news(last, sizeof last, "one"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_owner_and_a_group_may_read_it),
		TEST(nobody_else_may_touch_it),
		TEST(what_is_no_file_is_refused_without_waiting),
		TEST(a_long_path_is_cut_in_the_sentence),
		TEST(a_file_that_stays_does_not_differ),
		TEST(another_time_size_or_file_differs),
		TEST(another_mode_differs),
		TEST(coming_and_going_differs),
		TEST(no_path_is_no_file),
		cmocka_unit_test(what_lasts_is_not_tried_again),
		cmocka_unit_test(what_is_told_again_is_no_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
