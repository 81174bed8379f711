/* SPDX-License-Identifier: BSD-2-Clause */
/* What a hello offers and OpenSSL agrees to by itself: records are ours, and have to know of it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/hex.h"
#include "support/tls_end.h"
#include "tls/record.h"
#include "tls/tls_wire.h"
#include "tls_user.h"

#include <errno.h>
#include <string.h>

#define PORT  4791
#define STEPS 10000000

/* RFC 7301 section 3.2. */
#define ALERT_NO_APPLICATION_PROTOCOL 120
/* RFC 8449 section 4. */
#define RECORD_SIZE_LIMIT 28

static struct tls_files files;
static struct llp_mem *mem;
static struct tls_user ours;
static struct tls_end theirs;
static struct tls_config our_config, their_config;
static SSL_SESSION *their_session;

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

/* ---- OpenSSL connects to us --------------------------------------------------------------- */

static void listen_to_them(void)
{
	tls_user_open(&ours, mem, 1, &our_config, 0);
	tls_user_listen(&ours, mem, 1, PORT);
}

/** A client that has said nothing yet. */
static void begin(void)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, PORT);

	tls_end_init(&theirs, &their_config, false);
	llp_mem_peer_connect(&theirs.raw, mem, 0, &to);
	llp_mem_run(mem, STEPS);
}

static void shake_hands(void)
{
	tls_end_run(&theirs, mem);
	assert_true(theirs.done && ours.connected);
	assert_int_equal(theirs.alert, -1);
}

/** Its connection is over; our stack stays. */
static void end(void)
{
	SSL_set_shutdown(theirs.ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	tls_end_fini(&theirs);
	if (ours.llp)
		llp_abort(ours.llp);
	ours.llp = NULL;
	llp_mem_run(mem, STEPS);
	ours.connected = ours.eof = ours.closed = false;
	ours.rx_len = 0;
}

static void expect_refused(int error, int alert)
{
	tls_end_run(&theirs, mem);
	assert_true(ours.closed);
	assert_int_equal(ours.error, error);
	assert_int_equal(theirs.alert, alert);
}

/** In records of so many octets, 64 KiB and what else there is of the last; and as much comes. */
static void exchange(uint32_t record)
{
	static uint8_t bytes[65536 + 16384];
	size_t len = 0;

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = tls_user_byte(i);
	theirs.text_len = ours.rx_len = 0;
	for (; len < 65536; len += record) {
		tls_user_stream(&ours, len, record, record);
		tls_end_run(&theirs, mem);
	}
	tls_end_write(&theirs, bytes, 65536);
	tls_end_run(&theirs, mem);
	assert_int_equal(theirs.alert, -1);
	assert_false(ours.closed || theirs.closed);
	assert_int_equal(theirs.text_len, len);
	assert_memory_equal(theirs.text, bytes, len);
	tls_user_expect(&ours, 65536);
}

/* ---- RFC 6066: max_fragment_length -------------------------------------------------------- */

static int take_session(SSL *ssl, SSL_SESSION *s)
{
	SSL_SESSION_free(their_session);
	their_session = s;
	return 1;
}

static void forget_session(void)
{
	SSL_SESSION_free(their_session);
	their_session = NULL;
}

static void begin_with_fragments(uint8_t code)
{
	begin();
	assert_int_equal(SSL_set_tlsext_max_fragment_length(theirs.ssl, code), 1);
	SSL_CTX_set_session_cache_mode(
		theirs.ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(theirs.ctx, take_session);
	if (their_session)
		assert_int_equal(SSL_set_session(theirs.ssl, their_session), 1);
}

/** MPA's start-up frames, which are longer than the shortest; and FPDUs, whatever the path has. */
static void exchange_records_of(uint32_t fragment)
{
	static const uint32_t more[] = {511, 512, 513, 532, 1023, 1024, 1025, 1448, 4095, 8193};

	assert_in_range(llp_emss(ours.llp), 1, fragment);
	exchange(llp_emss(ours.llp));
	exchange(TLS_CONTENT_MAX);
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		exchange(more[i]);
}

static void each_length_of_a_fragment_is_kept_to(void **state)
{
	listen_to_them();
	for (uint8_t code = 1; code <= 4; code++) {
		for (int resumed = 0; resumed <= 1; resumed++) {
			begin_with_fragments(code);
			shake_hands();
			assert_int_equal(SSL_session_reused(theirs.ssl), resumed);
			assert_int_equal(
				SSL_SESSION_get_max_fragment_length(SSL_get0_session(theirs.ssl)),
				code);
			exchange_records_of(256u << code);
			end();
		}
		forget_session();
	}
	tls_user_close(&ours);
}

static void without_one_records_are_as_long_as_they_can_be(void **state)
{
	llp_mem_set_emss(mem, 65000);
	listen_to_them();
	begin();
	shake_hands();
	assert_int_equal(llp_emss(ours.llp), TLS_CONTENT_MAX);
	assert_null(llp_reserve(ours.llp, TLS_CONTENT_MAX + 1, false));
	exchange(TLS_CONTENT_MAX);
	end();
	tls_user_close(&ours);
}

static uint8_t their_secret[TLS_SECRET_MAX];

static void take_secret(const SSL *ssl, const char *line)
{
	static const char label[] = "CLIENT_TRAFFIC_SECRET_0 ";
	const char *hex = strrchr(line, ' ') + 1;

	if (strncmp(line, label, sizeof label - 1) == 0)
		assert_true(hex_octets(hex, strlen(hex) / 2, their_secret));
}

/** A record of theirs, @p len octets of content with its padding, whatever was agreed to. */
static void send_record_of(uint32_t len)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(theirs.ssl);
	uint8_t record[TLS_CONTENT_MAX + TLS_RECORD_OVERHEAD] = {0};
	struct tls_direction d = {0};

	assert_true(tls_direction_key(
		&d, tls_suite_find(SSL_CIPHER_get_protocol_id(cipher)), their_secret, true));
	record[TLS_HEADER_LEN] = tls_user_byte(0);
	record[TLS_HEADER_LEN + 1] = TLS_APPLICATION_DATA;
	assert_true(tls_record_seal(&d, record, 0, len));
	tls_direction_clear(&d);
	llp_mem_send_raw(theirs.raw.llp, record, len + TLS_RECORD_OVERHEAD);
	tls_end_run(&theirs, mem);
}

static void a_longer_fragment_of_theirs_is_refused(void **state)
{
	listen_to_them();
	for (uint32_t len = 1024; len <= 1025; len++) {
		begin_with_fragments(TLSEXT_max_fragment_length_1024);
		SSL_CTX_set_keylog_callback(theirs.ctx, take_secret);
		shake_hands();
		send_record_of(len);
		if (len == 1024)
			tls_user_expect(&ours, 1);
		else
			expect_refused(-EPROTO, TLS_ALERT_RECORD_OVERFLOW);
		end();
	}
	forget_session();
	tls_user_close(&ours);
}

#define KEY "00112233445566778899aabbccddeeff"

static int use_shared_key(
	SSL *ssl, const EVP_MD *hash, const unsigned char **id, size_t *len, SSL_SESSION **out)
{
	static const uint8_t suite[] = {0x13, 0x01};
	uint8_t key[sizeof KEY / 2];

	assert_true(hex_octets(KEY, sizeof key, key));
	*id = (const unsigned char *)"a";
	*len = 1;
	*out = SSL_SESSION_new();
	return SSL_SESSION_set1_master_key(*out, key, sizeof key) == 1 &&
	       SSL_SESSION_set_cipher(*out, SSL_CIPHER_find(ssl, suite)) == 1 &&
	       SSL_SESSION_set_protocol_version(*out, TLS1_3_VERSION) == 1;
}

static void it_is_kept_to_with_a_shared_key(void **state)
{
	their_config.certificate[0] = '\0';
	our_config = (struct tls_config){.mode = TLS_REQUIRED};
	tls_files_write(&files, "psk", "a:" KEY "\n");
	tls_files_path(&files, "psk", our_config.psk);
	listen_to_them();
	for (uint8_t code = 1; code <= 4; code++) {
		begin_with_fragments(code);
		SSL_set_psk_use_session_callback(theirs.ssl, use_shared_key);
		shake_hands();
		exchange_records_of(256u << code);
		end();
	}
	tls_user_close(&ours);
}

/* ---- RFC 7301: application protocols ------------------------------------------------------ */

static void begin_with_protocols(const uint8_t *list, unsigned len)
{
	begin();
	assert_int_equal(SSL_set_alpn_protos(theirs.ssl, list, len), 0);
}

static void who_speaks_another_protocol_is_refused(void **state)
{
	static const uint8_t others[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

	listen_to_them();
	begin_with_protocols(others, sizeof others);
	expect_refused(-EKEYREJECTED, ALERT_NO_APPLICATION_PROTOCOL);
	assert_non_null(strstr(tls_stack_reason(ours.stack), "no application protocol"));
	end();
	tls_user_close(&ours);
}

static void who_speaks_ours_among_others_or_does_not_say_is_taken(void **state)
{
	static const uint8_t both[] = {2, 'h', '2', 5, 'i', 'w', 'a', 'r', 'p'};
	const uint8_t *chosen;
	unsigned len;

	listen_to_them();
	begin_with_protocols(both, sizeof both);
	shake_hands();
	SSL_get0_alpn_selected(theirs.ssl, &chosen, &len);
	assert_int_equal(len, 5);
	assert_memory_equal(chosen, "iwarp", len);
	end();
	begin();
	shake_hands();
	SSL_get0_alpn_selected(theirs.ssl, &chosen, &len);
	assert_int_equal(len, 0);
	end();
	tls_user_close(&ours);
}

/* ---- what is never agreed to -------------------------------------------------------------- */

static bool answered;

static int offer(SSL *ssl, unsigned type, unsigned context, const uint8_t **out, size_t *len,
	X509 *x, size_t chain, int *alert, void *arg)
{
	static const uint8_t limit[] = {512 >> 8, 512 & 0xff};

	*out = limit;
	*len = sizeof limit;
	return 1;
}

static int take_answer(SSL *ssl, unsigned type, unsigned context, const uint8_t *in, size_t len,
	X509 *x, size_t chain, int *alert, void *arg)
{
	answered = true;
	return 1;
}

/** If an OpenSSL knows it one day, records have to. */
static void a_limit_of_records_is_not_answered(void **state)
{
	listen_to_them();
	begin();
	answered = false;
	assert_int_equal(SSL_CTX_add_custom_ext(theirs.ctx, RECORD_SIZE_LIMIT,
				 SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_3_ENCRYPTED_EXTENSIONS, offer,
				 NULL, NULL, take_answer, NULL),
		1);
	tls_end_renew(&theirs, false);
	shake_hands();
	assert_false(answered);
	exchange(TLS_CONTENT_MAX);
	end();
	tls_user_close(&ours);
}

static unsigned offered_to_them;

/** RFC 8446 section 4.2: of extensions, those that change what comes after a hello. */
static int look_at_hello(SSL *ssl, int *alert, void *arg)
{
	static const unsigned none[] = {TLSEXT_TYPE_max_fragment_length, 15 /* heartbeat */,
		19 /* client_certificate_type */, 20 /* server_certificate_type */,
		27 /* compress_certificate */, RECORD_SIZE_LIMIT, TLSEXT_TYPE_early_data,
		TLSEXT_TYPE_post_handshake_auth};
	const uint8_t *text;
	size_t len;

	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (SSL_client_hello_get0_ext(ssl, none[i], &text, &len))
			offered_to_them = none[i];
	return SSL_CLIENT_HELLO_SUCCESS;
}

static void our_hello_offers_nothing_that_records_do_not_know(void **state)
{
	offered_to_them = 0;
	tls_user_open(&ours, mem, 1, &our_config, 0);
	tls_end_init(&theirs, &their_config, true);
	SSL_CTX_set_client_hello_cb(theirs.ctx, look_at_hello, NULL);
	llp_mem_peer_listen(&theirs.raw, mem, 0, PORT);
	tls_user_connect(&ours, mem, 0, PORT);
	shake_hands();
	assert_int_equal(offered_to_them, 0);
	/* So there is nobody to ask for a certificate behind the handshake. */
	assert_int_equal(SSL_verify_client_post_handshake(theirs.ssl), 0);
	exchange(1448);
	end();
	tls_user_close(&ours);
}

static void early_data_is_passed_over(void **state)
{
	size_t n;

	listen_to_them();
	for (int resumed = 0; resumed <= 1; resumed++) {
		begin_with_fragments(TLSEXT_max_fragment_length_DISABLED);
		SSL_set_post_handshake_auth(theirs.ssl, 1);
		if (resumed) {
			SSL_SESSION_set_max_early_data(their_session, 1000);
			assert_int_equal(SSL_write_early_data(theirs.ssl, "early", 5, &n), 1);
		}
		shake_hands();
		assert_int_equal(SSL_session_reused(theirs.ssl), resumed);
		assert_int_not_equal(
			SSL_get_early_data_status(theirs.ssl), SSL_EARLY_DATA_ACCEPTED);
		exchange(1448);
		end();
	}
	forget_session();
	tls_user_close(&ours);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(each_length_of_a_fragment_is_kept_to),
		TEST(without_one_records_are_as_long_as_they_can_be),
		TEST(a_longer_fragment_of_theirs_is_refused),
		TEST(it_is_kept_to_with_a_shared_key),
		TEST(who_speaks_another_protocol_is_refused),
		TEST(who_speaks_ours_among_others_or_does_not_say_is_taken),
		TEST(a_limit_of_records_is_not_answered),
		TEST(our_hello_offers_nothing_that_records_do_not_know),
		TEST(early_data_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
