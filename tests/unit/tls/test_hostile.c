/* SPDX-License-Identifier: BSD-2-Clause */
/* Strangers that begin a handshake and go no further, or say what is wrong: what each costs us,
 * and what others notice. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/conn.h"
#include "tls_user.h"

#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#define PORT          4791
#define STRANGER_PORT 4792
#define STEPS         100000000
/** What a connection may cost before its peer is known (docs/security.md). */
#define COST_MAX  65536
#define STRANGERS 10000

/* ---- what OpenSSL has allocated ---------------------------------------------------------- */

static size_t allocated;

union counted {
	size_t len;
	max_align_t align;
};

static void *counted_malloc(size_t len, const char *file, int line)
{
	union counted *c = malloc(sizeof *c + len);

	if (!c)
		return NULL;
	c->len = len;
	allocated += len;
	return c + 1;
}

static void counted_free(void *p, const char *file, int line)
{
	union counted *c = p;

	if (!c)
		return;
	allocated -= c[-1].len;
	free(c - 1);
}

static void *counted_realloc(void *p, size_t len, const char *file, int line)
{
	union counted *c = p;
	void *fresh = counted_malloc(len, file, line);

	if (fresh && c) {
		memcpy(fresh, c, c[-1].len < len ? c[-1].len : len);
		counted_free(c, file, line);
	}
	return fresh;
}

/* ---- the strangers ----------------------------------------------------------------------- */

static struct tls_files files;
static struct llp_mem *mem;
static struct tls_user client, server;
static struct tls_config client_config, server_config;
static struct llp_mem_peer stranger[STRANGERS];
static struct llp *held[STRANGERS];
static unsigned num_held;
static struct llp_listener *listener;

static size_t held_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	fail_msg("a stranger's bytes got through");
	return total;
}

static void held_eof(void *user)
{
}

static void held_closed(void *user, int error)
{
	*(struct llp **)user = NULL;
}

static const struct llp_user_ops held_ops = {
	.readable = held_readable, .eof = held_eof, .closed = held_closed};

static int hold(void *user, struct llp *l)
{
	assert_true(num_held < STRANGERS);
	held[num_held] = l;
	llp_set_user(l, &held_ops, &held[num_held]);
	num_held++;
	return 0;
}

static int set_up(void **state)
{
	tls_files_open_two(&files, &client_config, &server_config);
	tls_files_issue(&files, "three", "IP:10.0.0.3", 10);
	mem = llp_mem_create();
	return 0;
}

static int tear_down(void **state)
{
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

/** One connection of those who are believed, and a port for strangers. */
static void begin(void)
{
	struct ip_endpoint local = llp_mem_endpoint(mem, 1, STRANGER_PORT);

	tls_user_open(&client, mem, 0, &client_config, 0);
	tls_user_open(&server, mem, 1, &server_config, 0);
	tls_user_listen(&server, mem, 1, PORT);
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_true(client.connected && server.connected);
	num_held = 0;
	assert_int_equal(
		llp_listen(tls_llp_stack(server.stack), &local, STRANGERS, hold, NULL, &listener),
		0);
}

/** What each of @p n strangers costs by now. */
static size_t cost_of(unsigned n, size_t before)
{
	return (allocated - before) / n + sizeof(struct tls_conn) + sizeof(struct tls_handshake);
}

/** @p n strangers send these bytes and nothing more. @return what each costs. */
static size_t come(unsigned n, const void *bytes, size_t len)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, STRANGER_PORT);
	size_t before = allocated;

	for (unsigned i = 0; i < n; i++)
		llp_mem_peer_connect(&stranger[i], mem, 2, &to);
	llp_mem_run(mem, STEPS);
	assert_int_equal(num_held, n);
	for (unsigned i = 0; i < n; i++)
		for (size_t at = 0; at < len; at += 1400)
			llp_mem_send_raw(stranger[i].llp, (const uint8_t *)bytes + at,
				len - at < 1400 ? len - at : 1400);
	llp_mem_run(mem, STEPS);
	return cost_of(n, before);
}

/** Those who are believed go on as before. */
static void expect_others_untouched(void)
{
	tls_user_stream(&client, 0, 20000, 1400);
	tls_user_stream(&server, 0, 20000, 1400);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 20000);
	tls_user_expect(&client, 20000);
	assert_false(client.closed || server.closed);
}

/** The deadline of their user is over. */
static void end(unsigned n, size_t before)
{
	for (unsigned i = 0; i < num_held; i++)
		if (held[i])
			llp_abort(held[i]);
	for (unsigned i = 0; i < n; i++)
		llp_mem_peer_done(&stranger[i]);
	llp_unlisten(tls_llp_stack(server.stack), listener);
	llp_mem_run(mem, STEPS);
	/* Nothing of them is left, but what OpenSSL keeps once for all. */
	assert_true(allocated < before + COST_MAX);
	expect_others_untouched();
	tls_user_close(&client);
	tls_user_close(&server);
}

static void strangers_come(unsigned n, const void *bytes, size_t len)
{
	size_t before, cost;

	begin();
	before = allocated;
	cost = come(n, bytes, len);
	print_message("each costs %zu bytes\n", cost);
	assert_true(cost <= COST_MAX);
	end(n, before);
}

/* ---- what they send ---------------------------------------------------------------------- */

/** The header of a record of handshake messages. */
static void put_record(uint8_t *to, size_t len)
{
	const uint8_t header[] = {TLS_HANDSHAKE, 3, 1, (uint8_t)(len >> 8), (uint8_t)len};

	memcpy(to, header, sizeof header);
}

static void silent_ones_cost_next_to_nothing(void **state)
{
	strangers_come(STRANGERS, "", 0);
}

static void one_byte_is_bounded(void **state)
{
	strangers_come(STRANGERS, "\x16", 1);
}

static void a_record_without_an_end_is_bounded(void **state)
{
	static uint8_t bytes[TLS_HEADER_LEN + TLS_CONTENT_MAX - 1];

	put_record(bytes, TLS_CONTENT_MAX);
	bytes[TLS_HEADER_LEN] = 1; /* a ClientHello */
	bytes[TLS_HEADER_LEN + 2] = 0x40;
	strangers_come(500, bytes, sizeof bytes);
}

static void a_long_message_is_bounded(void **state)
{
	/* A ClientHello of almost 128 KiB, of which three records come. */
	static uint8_t bytes[3 * (TLS_HEADER_LEN + TLS_CONTENT_MAX)];

	for (unsigned i = 0; i < 3; i++)
		put_record(bytes + i * (TLS_HEADER_LEN + TLS_CONTENT_MAX), TLS_CONTENT_MAX);
	memcpy(bytes + TLS_HEADER_LEN, "\x01\x01\xff\x00", 4);
	strangers_come(500, bytes, sizeof bytes);
}

/** A client of OpenSSL's, with as many certificates as make a message of about @p len bytes. */
static SSL *stranger_ssl(const char *name, size_t len)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	char path[TLS_MAX_PATH], file[16];
	SSL *ssl;

	assert_int_equal(SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION), 1);
	snprintf(file, sizeof file, "%s.pem", name);
	assert_int_equal(
		SSL_CTX_use_certificate_chain_file(ctx, tls_files_path(&files, file, path)), 1);
	snprintf(file, sizeof file, "%s.key", name);
	assert_int_equal(SSL_CTX_use_PrivateKey_file(
				 ctx, tls_files_path(&files, file, path), SSL_FILETYPE_PEM),
		1);
	for (int size = i2d_X509(files.ca, NULL); len > (size_t)size; len -= (size_t)size)
		assert_int_equal(SSL_CTX_add1_chain_cert(ctx, files.ca), 1);
	ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_set_connect_state(ssl);
	assert_int_equal(SSL_do_handshake(ssl), -1);
	return ssl;
}

/** @return the length of a ClientHello, in @p bytes. */
static size_t put_hello(uint8_t *bytes, size_t room)
{
	SSL *ssl = stranger_ssl("one", 0);
	int len = BIO_read(SSL_get_wbio(ssl), bytes, (int)room);

	assert_true(len > 100);
	SSL_free(ssl);
	return (size_t)len;
}

/** So many come with one. */
static unsigned hellos = 1000;

static void a_hello_without_more_is_bounded(void **state)
{
	uint8_t bytes[2000];

	strangers_come(hellos, bytes, put_hello(bytes, sizeof bytes));
}

static void a_hello_and_a_record_without_an_end_are_bounded(void **state)
{
	static uint8_t bytes[2000 + TLS_HEADER_LEN + TLS_CIPHERTEXT_MAX - 1] = {0};
	size_t len = put_hello(bytes, 2000);

	put_record(bytes + len, TLS_CIPHERTEXT_MAX);
	bytes[len] = TLS_APPLICATION_DATA;
	strangers_come(500, bytes, len + TLS_HEADER_LEN + TLS_CIPHERTEXT_MAX - 1);
}

/** Send what waits, but for @p less bytes at its end. */
static void send_all_but(struct llp_mem_peer *p, SSL *ssl, size_t less)
{
	static uint8_t bytes[100000];
	int len = BIO_read(SSL_get_wbio(ssl), bytes, sizeof bytes);

	assert_true(len > (int)less);
	llp_mem_send_raw(p->llp, bytes, (size_t)len - less);
	llp_mem_run(mem, STEPS);
}

/** Their part of a handshake, but for @p less bytes at its end. */
static void shake_hands(struct llp_mem_peer *p, SSL *ssl, size_t less)
{
	send_all_but(p, ssl, 0);
	assert_true(p->rx_len > 0);
	assert_int_equal(BIO_write(SSL_get_rbio(ssl), p->rx, (int)p->rx_len), p->rx_len);
	llp_mem_peer_consume(p, p->rx_len);
	assert_int_equal(SSL_do_handshake(ssl), 1);
	send_all_but(p, ssl, less);
}

/** Everything of a handshake but its last byte, with certificates of @p len bytes. */
static void almost_all(struct llp_mem_peer *p, size_t len)
{
	SSL *ssl = stranger_ssl("one", len);

	shake_hands(p, ssl, 1);
	SSL_free(ssl);
}

static void many_certificates_are_bounded(void **state)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, STRANGER_PORT);
	const unsigned n = 30;
	size_t before, cost;

	begin();
	before = allocated;
	for (unsigned i = 0; i < n; i++) {
		llp_mem_peer_connect(&stranger[i], mem, 2, &to);
		llp_mem_run(mem, STEPS);
		almost_all(&stranger[i], TLS_CERTIFICATES_MAX - 1000);
		assert_non_null(held[i]);
	}
	cost = cost_of(n, before);
	print_message("each costs %zu bytes\n", cost);
	assert_true(cost <= COST_MAX);
	end(n, before);
}

static void more_certificates_are_refused(void **state)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, STRANGER_PORT);
	size_t before;

	begin();
	before = allocated;
	llp_mem_peer_connect(&stranger[0], mem, 2, &to);
	llp_mem_run(mem, STEPS);
	almost_all(&stranger[0], TLS_CERTIFICATES_MAX + 1000);
	assert_null(held[0]);
	end(1, before);
}

/* ---- what is wrong ----------------------------------------------------------------------- */

/** Each hears an alert, and is gone. */
static void random_bytes_end_in_an_alert(void **state)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, STRANGER_PORT);
	const unsigned n = 300;
	uint32_t x = 12345;
	size_t before;

	begin();
	before = allocated;
	for (unsigned i = 0; i < n; i++) {
		uint8_t bytes[TLS_HEADER_LEN + 100];

		put_record(bytes, sizeof bytes - TLS_HEADER_LEN);
		for (size_t k = TLS_HEADER_LEN; k < sizeof bytes; k++) {
			x = x * 1664525u + 1013904223u;
			bytes[k] = (uint8_t)(x >> 24);
		}
		llp_mem_peer_connect(&stranger[i], mem, 2, &to);
		llp_mem_run(mem, STEPS);
		llp_mem_send_raw(stranger[i].llp, bytes, sizeof bytes);
		llp_mem_run(mem, STEPS);
		assert_null(held[i]);
		assert_int_equal(stranger[i].rx_len, TLS_HEADER_LEN + TLS_ALERT_LEN);
		assert_int_equal(stranger[i].rx[0], TLS_ALERT);
		assert_int_equal(stranger[i].rx[TLS_HEADER_LEN], TLS_ALERT_FATAL);
		assert_true(stranger[i].closed || stranger[i].eof);
	}
	end(n, before);
}

/** Who is believed, and sends what is not what he has sealed, ends his own connection alone. */
static void a_bad_record_ends_its_connection_alone(void **state)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, STRANGER_PORT);
	SSL *ssl = stranger_ssl("three", 0);
	uint8_t record[200];
	size_t before;
	int len;

	begin();
	before = allocated;
	llp_mem_peer_connect(&stranger[0], mem, 2, &to);
	llp_mem_run(mem, STEPS);
	shake_hands(&stranger[0], ssl, 0);
	assert_int_equal(tls_stack_stats(server.stack)->handshakes, 2);
	assert_int_equal(SSL_write(ssl, "text", 4), 4);
	len = BIO_read(SSL_get_wbio(ssl), record, sizeof record);
	assert_int_equal(len, 4 + TLS_RECORD_OVERHEAD);
	record[len - 1] ^= 1;
	llp_mem_send_raw(stranger[0].llp, record, (size_t)len);
	llp_mem_run(mem, STEPS);
	assert_null(held[0]);
	assert_int_equal(tls_stack_stats(server.stack)->records_bad, 1);
	SSL_free(ssl);
	end(1, before);
}

/** test_tls_hostile [HELLOS] */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent_ones_cost_next_to_nothing),
		cmocka_unit_test(one_byte_is_bounded),
		cmocka_unit_test(a_record_without_an_end_is_bounded),
		cmocka_unit_test(a_long_message_is_bounded),
		cmocka_unit_test(a_hello_without_more_is_bounded),
		cmocka_unit_test(a_hello_and_a_record_without_an_end_are_bounded),
		cmocka_unit_test(many_certificates_are_bounded),
		cmocka_unit_test(more_certificates_are_refused),
		cmocka_unit_test(random_bytes_end_in_an_alert),
		cmocka_unit_test(a_bad_record_ends_its_connection_alone),
	};

	if (argc > 1)
		hellos = (unsigned)strtoul(argv[1], NULL, 10);
	if (CRYPTO_set_mem_functions(counted_malloc, counted_realloc, counted_free) != 1)
		return 1;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
