/* SPDX-License-Identifier: BSD-2-Clause */
/* The interface, as the rest of uiwarp sees it; also of a build without OpenSSL. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/timer.h"
#include "tls/tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_stack_is_made_if_there_is_openssl(void **state)
{
	static struct tls_config config = {.mode = TLS_REQUIRED};
	struct llp_stack below = {0};
	static struct timer_wheel wheel;
	const struct tls_stack_config cfg = {.below = &below, .wheel = &wheel, .tls = &config};
	struct tls_stack *s = NULL;
	struct tls_error e = {""};
	int fd, rc;
	FILE *f;

	strcpy(config.psk, "/tmp/tls-test-XXXXXX");
	fd = mkstemp(config.psk);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_true(fputs("node:00112233445566778899aabbccddeeff\n", f) > 0);
	assert_int_equal(fclose(f), 0);
	rc = tls_stack_create(&cfg, &s, &e);
	assert_int_equal(unlink(config.psk), 0);
	if (tls_is_available()) {
		static const struct tls_stats none;

		assert_int_equal(rc, 0);
		assert_non_null(tls_llp_stack(s));
		assert_non_null(tls_llp_stack(s)->ops->connect);
		assert_memory_equal(tls_stack_stats(s), &none, sizeof none);
		assert_string_equal(tls_stack_reason(s), "");
		tls_stack_destroy(s);
	} else {
		assert_int_equal(rc, -ENOTSUP);
		assert_null(s);
		assert_non_null(strstr(e.text, "built without OpenSSL"));
	}
}

static void a_certificate_that_is_not_there_is_told_of(void **state)
{
	struct tls_certificate c;
	struct tls_error e = {""};
	int rc = tls_certificate_read("/tmp/absent/file", NULL, &c, &e);

	assert_int_equal(rc, tls_is_available() ? -ENOENT : -ENOTSUP);
	assert_non_null(
		strstr(e.text, tls_is_available() ? "/tmp/absent/file" : "without OpenSSL"));
}

static void it_is_there_if_it_was_built_so(void **state)
{
	assert_int_equal(tls_is_available(), TLS_OPENSSL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_made_if_there_is_openssl),
		cmocka_unit_test(a_certificate_that_is_not_there_is_told_of),
		cmocka_unit_test(it_is_there_if_it_was_built_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
