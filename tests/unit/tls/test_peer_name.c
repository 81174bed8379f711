/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of certificates (RFC 9525). */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/peer_name.h"

#include "support/tls_files.h"

#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>

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

/** A certificate with these alternative names. */
static X509 *certificate(const char *names)
{
	char path[TLS_MAX_PATH];
	X509 *x;
	FILE *f;

	tls_files_issue(&files, "peer", names, 10);
	f = fopen(tls_files_path(&files, "peer.pem", path), "r");
	assert_non_null(f);
	x = PEM_read_X509(f, NULL, NULL, NULL);
	fclose(f);
	assert_non_null(x);
	return x;
}

static bool matches(const char *names, const char *wanted)
{
	X509 *x = certificate(names);
	bool yes = tls_peer_name_matches(x, wanted);

	X509_free(x);
	return yes;
}

static void one_of_the_names_is_enough(void **state)
{
	const char *names = "DNS:a.test,DNS:b.test,IP:10.0.0.1,IP:2001:db8::1";

	assert_true(matches(names, "b.test"));
	assert_true(matches(names, "c.test, b.test"));
	assert_true(matches(names, "c.test\tA.TEST"));
	assert_true(matches(names, "10.0.0.1"));
	assert_true(matches(names, "2001:db8:0::1"));
	assert_false(matches(names, "c.test,d.test"));
	assert_false(matches(names, "10.0.0.2"));
	assert_false(matches(names, "test"));
	assert_false(matches(names, ","));
}

static void the_common_name_does_not_count(void **state)
{
	/* It is "peer". */
	assert_false(matches("DNS:a.test", "peer"));
}

static void a_pattern_stands_for_one_label(void **state)
{
	assert_true(matches("DNS:n1.rack.test", "*.rack.test"));
	assert_true(matches("DNS:N1.RACK.TEST", "*.rack.test"));
	assert_false(matches("DNS:rack.test", "*.rack.test"));
	assert_false(matches("DNS:n1.x.rack.test", "*.rack.test"));
	assert_false(matches("DNS:n1.rack.test.evil", "*.rack.test"));
	assert_false(matches("IP:10.0.0.1", "*.0.0.1"));
}

static void a_pattern_of_the_certificate_is_whole_labels(void **state)
{
	assert_true(matches("DNS:*.rack.test", "n1.rack.test"));
	assert_false(matches("DNS:n*.rack.test", "n1.rack.test"));
	assert_false(matches("DNS:*.rack.test", "rack.test"));
}

static void a_list_that_is_too_long_matches_nothing(void **state)
{
	char list[300];

	memset(list, ',', sizeof list);
	memcpy(list, "a.test", 6);
	list[255] = '\0';
	assert_true(matches("DNS:a.test", list));
	list[255] = ',';
	list[256] = '\0';
	assert_false(matches("DNS:a.test", list));
}

static void an_address_is_that_of_the_peer(void **state)
{
	X509 *x = certificate("IP:10.0.0.1,IP:2001:db8::1,DNS:10.0.0.3");
	struct ip_addr a;

	assert_int_equal(ip_addr_parse("10.0.0.1", &a), 0);
	assert_true(tls_peer_name_has_addr(x, &a));
	assert_int_equal(ip_addr_parse("2001:db8::1", &a), 0);
	assert_true(tls_peer_name_has_addr(x, &a));
	assert_int_equal(ip_addr_parse("10.0.0.2", &a), 0);
	assert_false(tls_peer_name_has_addr(x, &a));
	assert_int_equal(ip_addr_parse("10.0.0.3", &a), 0);
	assert_false(tls_peer_name_has_addr(x, &a));
	X509_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_the_names_is_enough),
		cmocka_unit_test(the_common_name_does_not_count),
		cmocka_unit_test(a_pattern_stands_for_one_label),
		cmocka_unit_test(a_pattern_of_the_certificate_is_whole_labels),
		cmocka_unit_test(a_list_that_is_too_long_matches_nothing),
		cmocka_unit_test(an_address_is_that_of_the_peer),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
