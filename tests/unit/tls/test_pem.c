/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of certificates that are no files, have no end, are cut, or have a password. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/tls_files.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/pem.h"

#include <errno.h>
#include <openssl/ui.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tls_files files;
static struct tls_config config;
static struct tls_credentials_source source;

static int set_up(void **state)
{
	tls_files_open(&files);
	tls_files_issue(&files, "one", "IP:10.0.0.1", 10);
	tls_files_config(&files, "one", &config);
	return 0;
}

static int tear_down(void **state)
{
	tls_files_close(&files);
	return 0;
}

static void open_them(void)
{
	struct tls_error e;

	if (tls_credentials_open(&source, &config, NULL, &e) != 0)
		fail_msg("%s", e.text);
}

/** @p name is a FIFO that nobody writes to, from the start or when it is looked at again. */
static void expect_no_wait_for(const char *name)
{
	struct tls_error e = {""};
	struct tls_credentials *old, *again;
	char path[TLS_MAX_PATH];

	open_them();
	old = source.now;
	tls_files_path(&files, name, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	again = tls_credentials_get(&source, 1);
	assert_ptr_equal(again, old);
	tls_credentials_put(again);
	assert_non_null(strstr(source.refused.text, "it is not a file"));
	tls_credentials_close(&source);
	assert_int_equal(tls_credentials_open(&source, &config, NULL, &e), -EACCES);
	assert_non_null(strstr(e.text, path));
	assert_non_null(strstr(e.text, "it is not a file"));
}

static void nobody_waits_for_the_writer_of_a_fifo(void **state)
{
	static const char *const names[] = {"one.pem", "one.key", "ca.pem", "psk"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		tear_down(NULL);
		set_up(NULL);
		if (i == 3) {
			tls_files_write(&files, "psk", "a:00112233445566778899aabbccddeeff\n");
			config = (struct tls_config){.mode = TLS_REQUIRED};
			tls_files_path(&files, "psk", config.psk);
		}
		expect_no_wait_for(names[i]);
	}
}

/** What has no end, or is not what it was taken for. */
static void certificates_of_4_mib_are_none(void **state)
{
	struct tls_error e = {""};
	char path[TLS_MAX_PATH];

	tls_files_path(&files, "ca.pem", path);
	assert_int_equal(truncate(path, TLS_PEM_MAX), 0);
	open_them();
	tls_credentials_close(&source);
	assert_int_equal(truncate(path, TLS_PEM_MAX + 1), 0);
	assert_int_equal(tls_credentials_open(&source, &config, NULL, &e), -EFBIG);
	assert_non_null(strstr(e.text, "ca.pem\": expected at most 4 MiB"));
}

/** What is behind a good one in a file must be good, too. */
static void half_a_certificate_is_an_error(void **state)
{
	static const char *const names[] = {"one.pem", "ca.pem"};

	for (size_t i = 0; i < 2; i++) {
		struct tls_error e = {""};
		char path[TLS_MAX_PATH];
		struct stat st;

		tls_files_path(&files, names[i], path);
		assert_int_equal(stat(path, &st), 0);
		tls_files_append(&files, names[i], "ca.pem");
		assert_int_equal(truncate(path, st.st_size + 100), 0);
		assert_int_equal(tls_credentials_open(&source, &config, NULL, &e), -EINVAL);
		assert_non_null(strstr(e.text, "it has no whole certificate in PEM"));
		tear_down(NULL);
		set_up(NULL);
	}
}

static unsigned asked;

static int count_questions(UI *ui)
{
	asked++;
	return 0;
}

/** They are read where there is a terminal, too, and by the engine. */
static void nobody_is_asked_for_a_password(void **state)
{
	static const char *const names[] = {"one.pem", "ca.pem"};
	UI_METHOD *method = UI_create_method("counts");

	asked = 0;
	UI_method_set_opener(method, count_questions);
	UI_set_default_method(method);
	for (size_t i = 0; i < 2; i++) {
		struct tls_error e = {""};
		struct tls_certificate c;
		char path[TLS_MAX_PATH];

		tls_files_write(&files, names[i],
			"-----BEGIN CERTIFICATE-----\n"
			"Proc-Type: 4,ENCRYPTED\n"
			"DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n"
			"\n"
			"AAAAAAAAAAAAAAAAAAAAAA==\n"
			"-----END CERTIFICATE-----\n");
		assert_int_equal(tls_credentials_open(&source, &config, NULL, &e), -EINVAL);
		tls_files_path(&files, names[i], path);
		assert_int_equal(tls_certificate_load(path, NULL, &c, &e), -EINVAL);
		tear_down(NULL);
		set_up(NULL);
	}
	UI_set_default_method(UI_OpenSSL());
	UI_destroy_method(method);
	assert_int_equal(asked, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(nobody_waits_for_the_writer_of_a_fifo),
		TEST(certificates_of_4_mib_are_none),
		TEST(half_a_certificate_is_an_error),
		TEST(nobody_is_asked_for_a_password),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
