/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSSL at the other end: what it sends, whole, changed and cut, and what it makes of ours. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/tls_end.h"
#include "tls/tls_wire.h"
#include "tls_user.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PORT  4791
#define STEPS 10000000

static struct tls_files files;
static struct llp_mem *mem;
static struct tls_user ours;
static struct tls_end theirs;
static struct tls_config our_config, their_config;

static int set_up(void **state)
{
	tls_files_open_two(&files, &their_config, &our_config);
	mem = llp_mem_create();
	return 0;
}

static int tear_down(void **state)
{
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

/** OpenSSL connects to us. */
static void begin_as_server(uint64_t records_max)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, PORT);

	tls_user_open(&ours, mem, 1, &our_config, records_max);
	tls_user_listen(&ours, mem, 1, PORT);
	tls_end_init(&theirs, &their_config, false);
	llp_mem_peer_connect(&theirs.raw, mem, 0, &to);
	llp_mem_run(mem, STEPS);
}

/** We connect to OpenSSL, which sends tickets. */
static void begin_as_client(void)
{
	tls_user_open(&ours, mem, 1, &our_config, 0);
	tls_end_init(&theirs, &their_config, true);
	llp_mem_peer_listen(&theirs.raw, mem, 0, PORT);
	tls_user_connect(&ours, mem, 0, PORT);
}

static void serve(uint64_t records_max)
{
	begin_as_server(records_max);
	tls_end_run(&theirs, mem);
	assert_true(theirs.done && ours.connected && ours.protected_);
}

static void end(void)
{
	tls_end_fini(&theirs);
	llp_mem_run(mem, STEPS);
	tls_user_close(&ours);
}

/** What they encrypt is in @p record; @return its length. */
static size_t encrypt(size_t len, uint8_t *record, size_t room)
{
	static uint8_t bytes[16384];

	for (size_t i = 0; i < len; i++)
		bytes[i] = tls_user_byte(i);
	tls_end_write(&theirs, bytes, len);
	return tls_end_take(&theirs, record, room);
}

/* ---- what is right ----------------------------------------------------------------------- */

static void exchange(void)
{
	static uint8_t bytes[40000];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = tls_user_byte(i);
	tls_end_write(&theirs, bytes, sizeof bytes); /* in records of 16 KiB */
	tls_user_stream(&ours, 0, 30000, 1400);
	tls_end_run(&theirs, mem);
	tls_user_expect(&ours, sizeof bytes);
	assert_int_equal(theirs.text_len, 30000);
	assert_memory_equal(theirs.text, bytes, 30000);
}

static void openssl_connects(void **state)
{
	serve(0);
	assert_string_equal(SSL_get_version(theirs.ssl), "TLSv1.3");
	exchange();
	end();
}

static void openssl_listens_and_sends_tickets(void **state)
{
	begin_as_client();
	tls_end_run(&theirs, mem);
	assert_true(theirs.done && ours.connected);
	exchange();
	end();
}

static void every_cipher_is_understood(void **state)
{
	static const char *const suites[] = {
		"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"};

	for (unsigned i = 0; i < 3; i++) {
		begin_as_server(7);
		assert_int_equal(SSL_set_ciphersuites(theirs.ssl, suites[i]), 1);
		tls_end_run(&theirs, mem);
		assert_true(ours.connected);
		assert_string_equal(SSL_get_cipher_name(theirs.ssl), suites[i]);
		exchange();
		/* And so are the keys that follow. */
		assert_in_range(tls_stack_stats(ours.stack)->updates_sent, 2, 10);
		end();
	}
}

static void openssl_renews_its_keys_and_ours(void **state)
{
	serve(0);
	assert_int_equal(SSL_key_update(theirs.ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
	exchange();
	assert_int_equal(tls_stack_stats(ours.stack)->updates_received, 1);
	assert_int_equal(tls_stack_stats(ours.stack)->updates_sent, 0);
	ours.rx_len = theirs.text_len = 0;
	assert_int_equal(SSL_key_update(theirs.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
	exchange();
	assert_int_equal(tls_stack_stats(ours.stack)->updates_received, 2);
	assert_int_equal(tls_stack_stats(ours.stack)->updates_sent, 1);
	end();
}

static void padding_is_taken_off(void **state)
{
	serve(0);
	assert_int_equal(SSL_set_block_padding(theirs.ssl, 4096), 1);
	exchange();
	end();
}

static void a_second_hello_is_done(void **state)
{
	begin_as_server(0);
	/* A group that we do not guess: a HelloRetryRequest. */
	assert_int_equal(SSL_set1_groups_list(theirs.ssl, "ffdhe2048:P-256"), 1);
	tls_end_run(&theirs, mem);
	assert_true(ours.connected);
	exchange();
	end();
}

static void close_notify_goes_both_ways(void **state)
{
	serve(0);
	llp_shutdown(ours.llp);
	tls_end_run(&theirs, mem);
	assert_true(theirs.closed && theirs.raw.eof);
	SSL_shutdown(theirs.ssl);
	tls_end_run(&theirs, mem);
	assert_true(ours.eof && !ours.closed);
	llp_shutdown(theirs.raw.llp);
	llp_mem_run(mem, STEPS);
	assert_true(ours.closed);
	assert_int_equal(ours.error, 0);
	end();
}

/* ---- what is wrong ----------------------------------------------------------------------- */

static void expect_end(int error, int alert)
{
	tls_end_run(&theirs, mem);
	assert_true(ours.closed);
	assert_int_equal(ours.error, error);
	assert_int_equal(theirs.alert, alert);
	end();
}

static void a_changed_record_is_not_shown(void **state)
{
	uint8_t record[300];

	/* All of the header, the text, its type and the tag; another bit of each. */
	for (size_t at = 0; at < 100 + TLS_RECORD_OVERHEAD; at++) {
		size_t len;

		if (at == 3 || at == 4)
			continue; /* the length: more is waited for */
		serve(0);
		len = encrypt(100, record, sizeof record);
		assert_int_equal(len, 100 + TLS_RECORD_OVERHEAD);
		record[at] ^= (uint8_t)(1 << at % 8);
		llp_mem_send_raw(theirs.raw.llp, record, len);
		llp_mem_run(mem, STEPS);
		assert_int_equal(ours.rx_len, 0);
		expect_end(at == 0 ? -EPROTO : -EBADMSG,
			at == 0 ? TLS_ALERT_UNEXPECTED_MESSAGE : TLS_ALERT_BAD_RECORD_MAC);
	}
}

static void what_came_before_a_bad_record_is_shown(void **state)
{
	uint8_t records[600];

	for (unsigned together = 0; together < 2; together++) {
		size_t len;

		serve(0);
		len = encrypt(100, records, sizeof records / 2);
		memcpy(records + len, records, len); /* a replay */
		llp_mem_set_segment(mem, together ? 0 : len);
		llp_mem_send_raw(theirs.raw.llp, records, 2 * len);
		llp_mem_run(mem, STEPS);
		tls_user_expect(&ours, 100);
		expect_end(-EBADMSG, TLS_ALERT_BAD_RECORD_MAC);
	}
}

static void lengths_out_of_bounds_are_refused(void **state)
{
	static const uint8_t too_long[] = {23, 3, 3, 0x41, 0x01};
	static const uint8_t too_short[] = {23, 3, 3, 0, 16, 1, 2, 3};
	static const uint8_t clear[] = {21, 3, 3, 0, 2, 1, 0};

	serve(0);
	llp_mem_send_raw(theirs.raw.llp, too_long, sizeof too_long);
	expect_end(-EPROTO, TLS_ALERT_RECORD_OVERFLOW);
	serve(0);
	llp_mem_send_raw(theirs.raw.llp, too_short, sizeof too_short);
	expect_end(-EBADMSG, TLS_ALERT_BAD_RECORD_MAC);
	serve(0); /* a close_notify by somebody in the middle */
	llp_mem_send_raw(theirs.raw.llp, clear, sizeof clear);
	expect_end(-EPROTO, TLS_ALERT_UNEXPECTED_MESSAGE);
}

static void a_cut_stream_is_an_error(void **state)
{
	uint8_t record[300];
	size_t len;

	serve(0);
	len = encrypt(100, record, sizeof record);
	llp_mem_send_raw(theirs.raw.llp, record, len);
	llp_shutdown(theirs.raw.llp);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&ours, 100);
	assert_true(ours.closed && !ours.eof);
	assert_int_equal(ours.error, -ECONNRESET);
	assert_int_equal(tls_stack_stats(ours.stack)->truncated, 1);
	end();
	serve(0); /* and within a record */
	len = encrypt(100, record, sizeof record);
	llp_mem_send_raw(theirs.raw.llp, record, len - 1);
	llp_shutdown(theirs.raw.llp);
	llp_mem_run(mem, STEPS);
	assert_int_equal(ours.rx_len, 0);
	assert_true(ours.closed && !ours.eof);
	end();
}

static void an_older_version_is_refused(void **state)
{
	begin_as_server(0);
	assert_int_equal(SSL_set_max_proto_version(theirs.ssl, TLS1_2_VERSION), 1);
	tls_end_run(&theirs, mem);
	assert_true(ours.closed && !ours.connected);
	assert_int_equal(ours.error, -EKEYREJECTED);
	assert_int_equal(theirs.alert, 70); /* protocol_version */
	end();
}

static void a_server_of_an_older_version_is_refused(void **state)
{
	begin_as_client();
	assert_int_equal(SSL_set_max_proto_version(theirs.ssl, TLS1_2_VERSION), 1);
	tls_end_run(&theirs, mem);
	assert_true(ours.closed && !ours.connected);
	assert_int_equal(ours.error, -EKEYREJECTED);
	end();
}

/** Somebody in the middle takes TLS 1.3 out of what a client offers. */
static void a_downgrade_is_refused(void **state)
{
	/* supported_versions (RFC 8446 section 4.2.1): 1.3 and 1.2. */
	static const uint8_t offer[] = {0, 43, 0, 5, 4, 3, 4, 3, 3};
	uint8_t hello[2000], *at;
	size_t len;

	begin_as_server(0);
	assert_int_equal(SSL_set_min_proto_version(theirs.ssl, TLS1_2_VERSION), 1);
	(void)tls_end_work(&theirs);
	len = tls_end_take(&theirs, hello, sizeof hello);
	at = memmem(hello, len, offer, sizeof offer);
	assert_non_null(at);
	at[6] = 3;
	llp_mem_send_raw(theirs.raw.llp, hello, len);
	tls_end_run(&theirs, mem);
	assert_true(ours.closed && !ours.connected);
	assert_int_equal(ours.error, -EKEYREJECTED);
	assert_int_equal(theirs.alert, 70); /* protocol_version */
	end();
}

static void a_client_without_a_certificate_is_refused(void **state)
{
	their_config.certificate[0] = '\0';
	begin_as_server(0);
	tls_end_run(&theirs, mem);
	assert_true(ours.closed && !ours.connected);
	assert_int_equal(ours.error, -EKEYREJECTED);
	assert_int_equal(theirs.alert, 116); /* certificate_required */
	end();
}

static void a_client_without_a_certificate_is_taken_if_it_may(void **state)
{
	their_config.certificate[0] = '\0';
	our_config.verify = TLS_VERIFY_NONE;
	serve(0);
	exchange();
	end();
}

static void an_endless_handshake_ends(void **state)
{
	/* Records of a ClientHello that has no end. */
	static uint8_t record[TLS_HEADER_LEN + 16384] = {22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff};
	unsigned n;

	begin_as_server(0);
	for (n = 0; !ours.closed && n < 20; n++) {
		if (theirs.raw.llp)
			llp_mem_send_raw(theirs.raw.llp, record, sizeof record);
		llp_mem_run(mem, STEPS);
	}
	assert_true(ours.closed);
	assert_in_range(n, 1, 5);
	assert_int_equal(ours.error, -EKEYREJECTED);
	end();
}

static void random_bytes_end_it(void **state)
{
	uint32_t x = 12345;

	for (unsigned run = 0; run < 300; run++) {
		uint8_t bytes[200];

		for (size_t i = 0; i < sizeof bytes; i++) {
			x = x * 1664525u + 1013904223u;
			bytes[i] = (uint8_t)(x >> 24);
		}
		bytes[0] = 22;
		bytes[1] = 3;
		bytes[3] &= 0x3f;
		begin_as_server(0);
		llp_mem_send_raw(theirs.raw.llp, bytes, sizeof bytes);
		llp_mem_run(mem, STEPS);
		if (theirs.raw.llp)
			llp_shutdown(theirs.raw.llp);
		llp_mem_run(mem, STEPS);
		assert_true(ours.closed && !ours.connected);
		end();
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(openssl_connects),
		TEST(openssl_listens_and_sends_tickets),
		TEST(every_cipher_is_understood),
		TEST(openssl_renews_its_keys_and_ours),
		TEST(padding_is_taken_off),
		TEST(a_second_hello_is_done),
		TEST(close_notify_goes_both_ways),
		TEST(a_changed_record_is_not_shown),
		TEST(what_came_before_a_bad_record_is_shown),
		TEST(lengths_out_of_bounds_are_refused),
		TEST(a_cut_stream_is_an_error),
		TEST(an_older_version_is_refused),
		TEST(a_server_of_an_older_version_is_refused),
		TEST(a_downgrade_is_refused),
		TEST(a_client_without_a_certificate_is_refused),
		TEST(a_client_without_a_certificate_is_taken_if_it_may),
		TEST(an_endless_handshake_ends),
		TEST(random_bytes_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
