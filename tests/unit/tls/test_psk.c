/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of pre-shared keys: every line that is wrong is named. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/psk.h"

#include "base/secret_file.h"
#include "support/core_dump.h"
#include "support/tls_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY "00112233445566778899aabbccddeeff"

static struct tls_files files;

static int set_up(void **state)
{
	tls_files_open(&files);
	return 0;
}

static int tear_down(void **state)
{
	tls_files_close(&files);
	return 0;
}

static int read_file(const char *text, struct tls_psk_list **l, struct tls_error *e)
{
	char path[TLS_MAX_PATH];

	tls_files_write(&files, "psk", text);
	return tls_psk_read(tls_files_path(&files, "psk", path), l, e);
}

static void expect_good(const char *text)
{
	struct tls_psk_list *l;
	struct tls_error e;

	if (read_file(text, &l, &e) != 0)
		fail_msg("%s", e.text);
	tls_psk_free(l);
}

static void expect_bad(const char *text, const char *sentence)
{
	struct tls_psk_list *l;
	struct tls_error e;

	assert_int_equal(read_file(text, &l, &e), -EINVAL);
	assert_null(l);
	if (!strstr(e.text, sentence))
		fail_msg("\"%s\" does not say \"%s\"", e.text, sentence);
	/* Keys are never repeated. */
	assert_null(strstr(e.text, "0011"));
}

static void good_files_are_read(void **state)
{
	expect_good("a:" KEY "\n");
	expect_good("a:" KEY); /* without an end of line */
	expect_good("# who\r\n\r\na:b:" KEY "\r\nc:" KEY KEY KEY KEY "\n");
}

static void bad_lines_are_named(void **state)
{
	char text[600];

	expect_bad("", "there is no key in it");
	expect_bad("a:" KEY "\nb:" KEY "\na:" KEY "\n",
		"line 3: another key has this identity already");
	expect_bad("# none\n", "there is no key in it");
	expect_bad("a:" KEY "\n" KEY "\n", "line 2: expected identity:key");
	expect_bad(":" KEY "\n", "line 1: expected identity:key");
	expect_bad("a:00\n", "line 1: expected a key of 32 to 128 hexadecimal digits");
	expect_bad("a:" KEY "0\n", "expected a key of 32 to 128");
	expect_bad("a:" KEY KEY KEY KEY "00\n", "expected a key of 32 to 128");
	expect_bad("a:g0112233445566778899aabbccddeeff\n", "expected a key of 32 to 128");
	memset(text, 'x', sizeof text);
	snprintf(text + 129, sizeof text - 129, ":%s\n", KEY);
	expect_bad(text, "an identity of at most 128 bytes");
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	expect_bad(text, "line 1: the line is too long");
}

static void core_dumps_leave_them_out(void **state)
{
	struct tls_psk_list *l;
	struct tls_error e;

	if (!core_dump_is_told())
		skip();
	assert_int_equal(read_file("a:" KEY "\n", &l, &e), 0);
	assert_true(core_dump_leaves_out(l));
	tls_psk_free(l);
}

static void too_many_are_refused(void **state)
{
	static char text[4097 * 40 + 1];
	char *end = text;

	for (unsigned i = 0; i < 4096; i++)
		end += sprintf(end, "%u:" KEY "\n", i);
	expect_good(text);
	sprintf(end, "a:" KEY "\n");
	expect_bad(text, "line 4097: expected at most 4096 keys");
}

/** Whichever of the others it is. */
static void a_second_one_is_found_among_many(void **state)
{
	static char text[4096 * 40 + 1];
	char *end = text;

	for (unsigned i = 0; i < 4095; i++)
		end += sprintf(end, "%u:" KEY "\n", i);
	for (unsigned i = 0; i < 4095; i += 63) {
		sprintf(end, "%u:" KEY "\n", i);
		expect_bad(text, "line 4096: another key has this identity already");
	}
	sprintf(end, "4095:" KEY "\n");
	expect_good(text);
}

static void what_others_may_read_is_no_secret(void **state)
{
	struct tls_psk_list *l;
	struct tls_error e;
	char path[TLS_MAX_PATH];

	tls_files_write(&files, "psk", "a:" KEY "\n");
	tls_files_path(&files, "psk", path);
	for (mode_t mode = 0; mode <= 0777; mode++) {
		int want = (mode & 0027) != 0 ? -EACCES : 0, rc;

		if ((mode & 0400) == 0)
			continue;
		assert_int_equal(chmod(path, mode), 0);
		rc = tls_psk_read(path, &l, &e);
		assert_int_equal(rc, want);
		if (rc == 0)
			tls_psk_free(l);
		else
			assert_non_null(strstr(e.text, "chmod 600"));
	}
}

static void what_is_no_file_is_refused(void **state)
{
	struct tls_psk_list *l;
	struct tls_error e;
	char path[TLS_MAX_PATH];

	assert_int_equal(tls_psk_read(files.directory, &l, &e), -EACCES);
	assert_non_null(strstr(e.text, "it is not a file"));
	tls_files_path(&files, "pipe", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(tls_psk_read(path, &l, &e), -EACCES);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(tls_psk_read(path, &l, &e), -ENOENT);
}

static void a_stamp_tells_every_change(void **state)
{
	struct secret_file_stamp a, b;
	char path[TLS_MAX_PATH];

	tls_files_path(&files, "stamped", path);
	secret_file_stamp_take(&a, "");
	secret_file_stamp_take(&b, path);
	assert_false(secret_file_stamp_differs(&a, &b));
	tls_files_write(&files, "stamped", "one");
	secret_file_stamp_take(&b, path);
	assert_true(secret_file_stamp_differs(&a, &b));
	secret_file_stamp_take(&a, path);
	assert_false(secret_file_stamp_differs(&a, &b));
	tls_files_write(&files, "stamped", "other");
	secret_file_stamp_take(&b, path);
	assert_true(secret_file_stamp_differs(&a, &b));
}

/* Of the same kind is a disk that fails. */
static void half_a_file_is_none(void **state)
{
	struct tls_psk_list *l;
	struct tls_error e;

	assert_int_equal(tls_psk_read("/proc/self/mem", &l, &e), -EIO);
	assert_non_null(strstr(e.text, "what follows cannot be read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_a_file_is_none),
		cmocka_unit_test(good_files_are_read),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(core_dumps_leave_them_out),
		cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(a_second_one_is_found_among_many),
		cmocka_unit_test(what_others_may_read_is_no_secret),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(a_stamp_tells_every_change),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
