/* SPDX-License-Identifier: BSD-2-Clause */
/* What a certificate says of its time and its addresses. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/tls_files.h"
#include "tls/certificate.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define DAY INT64_C(86400)

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

static struct tls_certificate look(const char *name, const char *address)
{
	struct tls_certificate c;
	struct tls_error e;
	struct ip_addr a;
	char path[TLS_MAX_PATH];

	assert_int_equal(ip_addr_parse(address, &a), 0);
	tls_files_path(&files, name, path);
	if (tls_certificate_load(path, &a, &c, &e) != 0)
		fail_msg("%s", e.text);
	return c;
}

static void its_time_is_told_in_seconds(void **state)
{
	struct tls_certificate c;

	tls_files_issue(&files, "one", "IP:10.0.0.1", 10);
	c = look("one.pem", "10.0.0.1");
	assert_in_range(c.seconds_left, 10 * DAY - 3600, 10 * DAY);
	assert_true(c.seconds_until < 0);
	tls_files_issue(&files, "one", "IP:10.0.0.1", -1);
	c = look("one.pem", "10.0.0.1");
	assert_true(c.seconds_left < 0);
}

static void its_addresses_are_known(void **state)
{
	tls_files_issue(&files, "one", "IP:10.0.0.1,IP:fd00::1,DNS:10.0.0.2", 10);
	assert_true(look("one.pem", "10.0.0.1").has_addr);
	assert_true(look("one.pem", "fd00::1").has_addr);
	assert_false(look("one.pem", "10.0.0.2").has_addr);
}

static void the_first_of_a_file_counts(void **state)
{
	tls_files_issue(&files, "one", "IP:10.0.0.1", 10);
	tls_files_append(&files, "one.pem", "ca.pem");
	assert_true(look("one.pem", "10.0.0.1").has_addr);
}

static void what_is_none_is_told(void **state)
{
	struct tls_certificate c;
	struct tls_error e = {""};
	char path[TLS_MAX_PATH];

	tls_files_write(&files, "nonsense", "nonsense");
	tls_files_path(&files, "nonsense", path);
	assert_int_equal(tls_certificate_load(path, NULL, &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "has no certificate in PEM"));
	tls_files_path(&files, "absent", path);
	assert_int_equal(tls_certificate_load(path, NULL, &c, &e), -ENOENT);
	/* A FIFO that nobody writes to. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(tls_certificate_load(path, NULL, &c, &e), -EACCES);
	assert_non_null(strstr(e.text, "it is not a file"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(its_time_is_told_in_seconds),
		TEST(its_addresses_are_known),
		TEST(the_first_of_a_file_counts),
		TEST(what_is_none_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
