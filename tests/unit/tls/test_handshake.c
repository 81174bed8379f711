/* SPDX-License-Identifier: BSD-2-Clause */
/* The handshake, ours against ours, byte by byte, and hellos that say too much. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/core_dump.h"
#include "support/tls_files.h"
#include "tls/handshake.h"

#include <string.h>

static struct tls_files files;
static struct tls_config configs[2];
static struct tls_credentials_source sources[2];
static struct tls_handshake *client, *server;
static int64_t now;

static int set_up(void **state)
{
	struct tls_error e;

	now = tls_files_time();
	tls_files_open_two(&files, &configs[0], &configs[1]);
	for (unsigned i = 0; i < 2; i++)
		if (tls_credentials_open(&sources[i], &configs[i], NULL, &e) != 0)
			fail_msg("%s", e.text);
	return 0;
}

static int tear_down(void **state)
{
	for (unsigned i = 0; i < 2; i++)
		tls_credentials_close(&sources[i]);
	tls_files_close(&files);
	return 0;
}

static void begin(void)
{
	struct ip_endpoint one = {.port = 1}, two = {.port = 2};

	assert_int_equal(ip_addr_parse("10.0.0.1", &one.addr), 0);
	assert_int_equal(ip_addr_parse("10.0.0.2", &two.addr), 0);
	client = tls_handshake_create(&sources[0], &two, false, now);
	server = tls_handshake_create(&sources[1], &one, true, now);
	assert_true(client && server);
}

static void end(void)
{
	tls_handshake_free(client);
	tls_handshake_free(server);
}

/** Carry what waits, in pieces. @return how much. */
static size_t carry(struct tls_handshake *from, struct tls_handshake *to, size_t piece)
{
	size_t total = 0, n;

	while ((n = tls_handshake_pending(from)) != 0) {
		uint8_t bytes[20000];

		if (n > piece)
			n = piece;
		assert_true(n <= sizeof bytes);
		tls_handshake_output(from, bytes, n);
		total += n;
		if (tls_handshake_input(to, bytes, n) != n)
			break;
	}
	return total;
}

static void run(size_t piece)
{
	while (carry(client, server, piece) + carry(server, client, piece) != 0)
		;
}

static void expect_done(void)
{
	if (client->state != TLS_HANDSHAKE_DONE || server->state != TLS_HANDSHAKE_DONE)
		fail_msg("client: %s; server: %s", client->reason, server->reason);
	assert_ptr_equal(client->suite, server->suite);
	assert_memory_equal(client->secrets->tx, server->secrets->rx, client->suite->secret_len);
	assert_memory_equal(client->secrets->rx, server->secrets->tx, client->suite->secret_len);
	assert_memory_not_equal(
		client->secrets->tx, client->secrets->rx, client->suite->secret_len);
}

static void core_dumps_leave_its_secrets_out(void **state)
{
	if (!core_dump_is_told())
		skip();
	begin();
	run(20000);
	expect_done();
	assert_true(core_dump_leaves_out(client->secrets));
	assert_true(core_dump_leaves_out(server->secrets));
	end();
}

static void both_get_the_same_secrets(void **state)
{
	static const size_t pieces[] = {1, 2, 5, 6, 100, 16384};

	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
		begin();
		run(pieces[i]);
		expect_done();
		end();
	}
}

/** At that time, with what both sides remember of earlier ones. */
static void expect_refused(int64_t at, const char *reason)
{
	int64_t present = now;

	now = at;
	begin();
	run(16384);
	assert_int_equal(client->state, TLS_HANDSHAKE_FAILED);
	if (!strstr(client->reason, reason))
		fail_msg("%s", client->reason);
	end();
	now = present;
}

static void certificates_are_judged_by_the_time_that_is_given(void **state)
{
	const int64_t day = 86400;

	expect_refused(now + 11 * day, "expired");
	for (unsigned i = 0; i < 2; i++) {
		begin();
		run(16384);
		expect_done();
		end();
		expect_refused(now + 11 * day, "expired");
		expect_refused(now - 9000 * day, "not yet valid");
	}
}

/** The client knows the CA alone; the server shows the one between. */
static void a_ca_between_is_shown(void **state)
{
	tls_files_delegate(&files);
	tls_files_issue(&files, "two", "IP:10.0.0.2", 10);
	tls_files_append(&files, "two.pem", "between.pem");
	begin();
	run(16384);
	expect_done();
	end();
}

static void what_follows_is_not_taken(void **state)
{
	static const uint8_t more[] = {TLS_APPLICATION_DATA, 3, 3, 0, 20, 1, 2, 3};
	uint8_t bytes[20000];
	size_t len;

	begin();
	(void)carry(client, server, 16384);
	(void)carry(server, client, 16384);
	len = tls_handshake_pending(client);
	tls_handshake_output(client, bytes, len);
	memcpy(bytes + len, more, sizeof more);
	assert_int_equal(tls_handshake_input(server, bytes, len + sizeof more), len);
	expect_done();
	/* Nor anything else from now on. */
	assert_int_equal(tls_handshake_input(server, more, sizeof more), 0);
	end();
}

/** The server, after these bytes of a stranger. */
static void expect_refusal(const uint8_t *bytes, size_t len, int alert, const char *reason)
{
	uint8_t out[100];
	size_t n;

	begin();
	(void)tls_handshake_input(server, bytes, len);
	assert_int_equal(server->state, TLS_HANDSHAKE_FAILED);
	if (!strstr(server->reason, reason))
		fail_msg("\"%s\" does not say \"%s\"", server->reason, reason);
	n = tls_handshake_pending(server);
	assert_int_equal(n, TLS_HEADER_LEN + TLS_ALERT_LEN);
	tls_handshake_output(server, out, n);
	assert_int_equal(out[0], TLS_ALERT);
	assert_int_equal(out[TLS_HEADER_LEN], TLS_ALERT_FATAL);
	assert_int_equal(out[TLS_HEADER_LEN + 1], alert);
	end();
}

/** A record with the begin of a hello that is going to have @p len bytes. */
static size_t hello(uint8_t *record, uint8_t type, uint32_t len)
{
	const uint8_t begin_of_it[] = {TLS_HANDSHAKE, 3, 1, 0x40, 0, type, (uint8_t)(len >> 16),
		(uint8_t)(len >> 8), (uint8_t)len};

	memset(record, 0, TLS_HEADER_LEN + TLS_CONTENT_MAX);
	memcpy(record, begin_of_it, sizeof begin_of_it);
	return TLS_HEADER_LEN + TLS_CONTENT_MAX;
}

static void a_hello_that_says_too_much_is_refused(void **state)
{
	static uint8_t record[TLS_HEADER_LEN + TLS_CONTENT_MAX];
	/* Its header in records of a byte each. */
	static const uint8_t cut[] = {22, 3, 1, 0, 1, 1, 22, 3, 1, 0, 1, 0xff, 22, 3, 1, 0, 1, 0xff,
		22, 3, 1, 0, 1, 0xff};

	expect_refusal(record, hello(record, 1, TLS_HELLO_MAX + 1), TLS_ALERT_ILLEGAL_PARAMETER,
		"longer than 16 KiB");
	expect_refusal(record, hello(record, 1, 0xffffff), TLS_ALERT_ILLEGAL_PARAMETER,
		"longer than 16 KiB");
	expect_refusal(cut, sizeof cut, TLS_ALERT_ILLEGAL_PARAMETER, "longer than 16 KiB");
	/* The longest that is allowed is waited for. */
	begin();
	(void)hello(record, 1, TLS_HELLO_MAX);
	assert_int_equal(tls_handshake_input(server, record, sizeof record), sizeof record);
	assert_int_equal(server->state, TLS_HANDSHAKE_MORE);
	end();
}

static void a_record_that_is_too_long_is_refused_at_its_header(void **state)
{
	static const uint8_t header[] = {22, 3, 1, 0xff, 0xff};

	expect_refusal(header, sizeof header, TLS_ALERT_RECORD_OVERFLOW, "");
}

/** The header of a record of @p body bytes comes, and one byte behind it, which is not looked at.
 */
static void expect_overflow(struct tls_handshake *h, uint16_t body)
{
	const uint8_t record[] = {TLS_HANDSHAKE, 3, 1, (uint8_t)(body >> 8), (uint8_t)body, 1};
	uint8_t alert[TLS_HEADER_LEN + TLS_ALERT_LEN];

	assert_int_equal(tls_handshake_input(h, record, sizeof record), TLS_HEADER_LEN);
	assert_int_equal(h->state, TLS_HANDSHAKE_FAILED);
	assert_string_equal(h->reason, "a record that is too long");
	assert_int_equal(tls_handshake_pending(h), sizeof alert);
	tls_handshake_output(h, alert, sizeof alert);
	assert_int_equal(alert[TLS_HEADER_LEN + 1], TLS_ALERT_RECORD_OVERFLOW);
}

/** Longer than TLS 1.3 has it, but not than OpenSSL takes before it knows that it is TLS 1.3. */
static void a_record_that_openssl_would_wait_for_is_refused_at_its_header(void **state)
{
	static const uint16_t bodies[] = {TLS_CIPHERTEXT_MAX + 1, TLS_CONTENT_MAX + 320};

	for (unsigned i = 0; i < 2; i++) {
		begin();
		expect_overflow(server, bodies[i]);
		(void)carry(client, server, 16384);
		expect_overflow(client, bodies[i]);
		end();
	}
}

static void what_is_no_tls_is_refused_at_once(void **state)
{
	static const uint8_t text[] = "SSH-2.0-";

	expect_refusal(text, sizeof text - 1, TLS_ALERT_UNEXPECTED_MESSAGE, "does not speak TLS");
}

static void a_client_refuses_the_same(void **state)
{
	static uint8_t record[TLS_HEADER_LEN + TLS_CONTENT_MAX];

	begin();
	(void)carry(client, server, 16384);
	(void)tls_handshake_input(client, record, hello(record, 2, TLS_HELLO_MAX + 1));
	assert_int_equal(client->state, TLS_HANDSHAKE_FAILED);
	assert_non_null(strstr(client->reason, "longer than 16 KiB"));
	assert_int_equal(tls_handshake_pending(client), TLS_HEADER_LEN + TLS_ALERT_LEN);
	end();
}

static void a_failure_says_why(void **state)
{
	begin();
	/* Somebody else's address. */
	assert_int_equal(ip_addr_parse("10.0.0.9", &client->verifier.remote.addr), 0);
	run(16384);
	assert_int_equal(client->state, TLS_HANDSHAKE_FAILED);
	assert_non_null(strstr(client->reason, "the peer's certificate: hostname mismatch"));
	assert_int_equal(server->state, TLS_HANDSHAKE_FAILED);
	assert_string_equal(server->reason, "the peer sent the alert \"bad certificate\"");
	end();
}

/** Verified once, it is believed without that again, but only by who believes its CA. */
static void another_ca_verifies_anew(void **state)
{
	struct tls_files other;

	for (unsigned i = 0; i < 2; i++) {
		begin();
		run(16384);
		expect_done();
		end();
	}
	tls_files_open(&other);
	tls_files_write(&files, "ca.pem", "");
	tls_files_append_of(&files, "ca.pem", &other, "ca.pem");
	tls_files_close(&other);
	begin();
	run(16384);
	assert_int_equal(server->state, TLS_HANDSHAKE_FAILED);
	assert_non_null(strstr(client->reason, "the peer's certificate"));
	end();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(both_get_the_same_secrets),
		TEST(core_dumps_leave_its_secrets_out),
		TEST(certificates_are_judged_by_the_time_that_is_given),
		TEST(a_ca_between_is_shown),
		TEST(what_follows_is_not_taken),
		TEST(a_hello_that_says_too_much_is_refused),
		TEST(a_record_that_is_too_long_is_refused_at_its_header),
		TEST(a_record_that_openssl_would_wait_for_is_refused_at_its_header),
		TEST(what_is_no_tls_is_refused_at_once),
		TEST(a_client_refuses_the_same),
		TEST(a_failure_says_why),
		TEST(another_ca_verifies_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
