/* SPDX-License-Identifier: BSD-2-Clause */
/* Handshake messages behind the handshake: those that may come, and all the others. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/conn.h"
#include "tls/post.h"
#include "tls_user.h"

#include <errno.h>
#include <string.h>

#define PORT  4791
#define STEPS 10000000

static struct tls_files files;
static struct llp_mem *mem;
static struct tls_user client, server;

static int set_up(void **state)
{
	struct tls_config client_config, server_config;

	tls_files_open_two(&files, &client_config, &server_config);
	mem = llp_mem_create();
	tls_user_open(&client, mem, 0, &client_config, 0);
	tls_user_open(&server, mem, 1, &server_config, 0);
	tls_user_listen(&server, mem, 1, PORT);
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	return client.connected && server.connected ? 0 : -1;
}

static int tear_down(void **state)
{
	tls_user_close(&client);
	tls_user_close(&server);
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

/** A record of @p type with these bytes, in pieces of @p piece at most, each in one of its own. */
static void send_record(struct tls_user *from, enum tls_content type, const uint8_t *bytes,
	size_t len, size_t piece)
{
	struct tls_conn *c = tls_conn_of(from->llp);

	for (size_t at = 0; at < len; at += piece)
		assert_true(tls_conn_send(
			c, type, bytes + at, (uint32_t)(len - at < piece ? len - at : piece)));
	llp_push(c->below);
	llp_mem_run(mem, STEPS);
}

static void expect_refusal(struct tls_user *from, struct tls_user *to, const char *reason)
{
	assert_true(to->closed);
	assert_int_equal(to->error, -EPROTO);
	assert_int_equal(tls_stack_stats(to->stack)->records_bad, 1);
	if (!strstr(tls_stack_reason(to->stack), reason))
		fail_msg("\"%s\" does not say \"%s\"", tls_stack_reason(to->stack), reason);
	/* It is told by an alert. */
	assert_true(from->closed);
	assert_int_equal(from->error, -EPROTO);
	assert_non_null(strstr(tls_stack_reason(from->stack), "the peer sent the alert"));
}

static void expect_passing(void)
{
	tls_user_stream(&client, 0, 3000, 1000);
	tls_user_stream(&server, 0, 3000, 1000);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 3000);
	tls_user_expect(&client, 3000);
}

/* ---- those that may come ----------------------------------------------------------------- */

static void tickets_are_ignored_however_they_are_cut(void **state)
{
	static const uint8_t ticket[] = {4, 0, 0, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	static const uint8_t empty[] = {4, 0, 0, 0};
	uint8_t two[2 * sizeof ticket];

	memcpy(two, ticket, sizeof ticket);
	memcpy(two + sizeof ticket, ticket, sizeof ticket);
	for (size_t piece = 1; piece <= sizeof two; piece++)
		send_record(&server, TLS_HANDSHAKE, two, sizeof two, piece);
	send_record(&server, TLS_HANDSHAKE, empty, sizeof empty, 1);
	expect_passing();
}

static void a_key_update_may_be_cut(void **state)
{
	/* Its keys are not changed at the sender: what follows cannot be opened, so it was taken.
	 */
	static const uint8_t update[] = {24, 0, 0, 1, 0};

	send_record(&client, TLS_HANDSHAKE, update, sizeof update, 1);
	assert_int_equal(tls_stack_stats(server.stack)->updates_received, 1);
	assert_false(server.closed);
	assert_true(tls_user_send(&client, "x", 1));
	llp_mem_run(mem, STEPS);
	assert_int_equal(server.error, -EBADMSG);
}

static int64_t clock_now;

static int64_t clock_read(void)
{
	return clock_now;
}

/** So many KeyUpdates, each of which asks for ours, if @p ask. */
static void renew_keys(struct tls_user *from, unsigned n, bool ask)
{
	struct tls_conn *c = tls_conn_of(from->llp);

	for (unsigned i = 0; i < n; i++) {
		c->update_asks = ask;
		assert_true(tls_post_send_update(c));
		llp_push(c->below);
		llp_mem_run(mem, STEPS);
	}
}

static void keys_may_be_renewed_for_ever(void **state)
{
	server.stack->time = clock_read;
	for (clock_now = 1000; clock_now < 1020; clock_now++) {
		renew_keys(&client, TLS_UPDATES_MAX, false);
		assert_false(server.closed);
	}
	assert_int_equal(tls_stack_stats(server.stack)->updates_received, 20 * TLS_UPDATES_MAX);
	assert_int_equal(tls_stack_stats(server.stack)->updates_sent, 0);
	expect_passing();
}

/* ---- and the others ---------------------------------------------------------------------- */

static void refuse_from_client(const uint8_t *bytes, size_t len, const char *reason)
{
	send_record(&client, TLS_HANDSHAKE, bytes, len, len);
	expect_refusal(&client, &server, reason);
}

static void renegotiation_is_refused(void **state)
{
	static const uint8_t hello[] = {1, 0, 0, 2, 3, 3};

	refuse_from_client(hello, sizeof hello, "a handshake message behind the handshake");
}

static void a_servers_renegotiation_is_refused(void **state)
{
	static const uint8_t hello_request[] = {0, 0, 0, 0};

	send_record(&server, TLS_HANDSHAKE, hello_request, sizeof hello_request, 4);
	expect_refusal(&server, &client, "a handshake message behind the handshake");
}

static void authentication_behind_the_handshake_is_refused(void **state)
{
	static const uint8_t request[] = {13, 0, 0, 3, 0, 0, 0};

	send_record(&server, TLS_HANDSHAKE, request, sizeof request, sizeof request);
	expect_refusal(&server, &client, "a handshake message behind the handshake");
}

static void a_clients_ticket_is_refused(void **state)
{
	static const uint8_t ticket[] = {4, 0, 0, 1, 1};

	refuse_from_client(ticket, sizeof ticket, "a handshake message behind the handshake");
}

static void a_long_key_update_is_refused(void **state)
{
	static const uint8_t update[] = {24, 0, 0, 2, 0, 0};

	refuse_from_client(update, sizeof update, "a KeyUpdate of a wrong length");
}

static void a_key_update_that_asks_for_more_is_refused(void **state)
{
	static const uint8_t update[] = {24, 0, 0, 1, 2};

	refuse_from_client(update, sizeof update, "asks for something else");
}

static void two_key_updates_in_a_record_are_refused(void **state)
{
	static const uint8_t updates[] = {24, 0, 0, 1, 0, 24, 0, 0, 1, 0};

	refuse_from_client(updates, sizeof updates, "a KeyUpdate that is not the last");
}

/** Whatever comes between them: bytes are cheap. */
static void key_updates_without_end_are_refused(void **state)
{
	server.stack->time = clock_read;
	for (unsigned i = 0; i < TLS_UPDATES_MAX; i++) {
		renew_keys(&client, 1, true);
		assert_true(tls_user_send(&client, "x", 1));
	}
	llp_mem_run(mem, STEPS);
	assert_false(server.closed);
	assert_int_equal(server.rx_len, TLS_UPDATES_MAX);
	renew_keys(&client, 1, true);
	expect_refusal(&client, &server, "KeyUpdates without end");
	assert_int_equal(tls_stack_stats(server.stack)->updates_received, TLS_UPDATES_MAX);
	assert_int_equal(tls_stack_stats(server.stack)->updates_sent, TLS_UPDATES_MAX);
}

static void data_within_a_message_are_refused(void **state)
{
	static const uint8_t half[] = {24, 0, 0};

	send_record(&client, TLS_HANDSHAKE, half, sizeof half, sizeof half);
	send_record(&client, TLS_APPLICATION_DATA, half, sizeof half, sizeof half);
	assert_int_equal(server.rx_len, 0);
	expect_refusal(&client, &server, "a record of a type that may not be here");
}

static void other_types_are_refused(void **state)
{
	static const uint8_t one[] = {1};

	send_record(&client, TLS_CHANGE_CIPHER_SPEC, one, sizeof one, 1);
	expect_refusal(&client, &server, "a record of a type that may not be here");
}

/** Its length would do for padding; but it has none. */
static void more_content_than_a_record_has_is_refused(void **state)
{
	static uint8_t record[TLS_CONTENT_MAX + 1 + TLS_RECORD_OVERHEAD];
	struct tls_conn *c = tls_conn_of(client.llp);

	assert_true(tls_record_seal(&c->tx, record, TLS_APPLICATION_DATA, TLS_CONTENT_MAX + 1));
	llp_mem_send_raw(c->below, record, sizeof record);
	llp_mem_run(mem, STEPS);
	assert_int_equal(server.rx_len, 0);
	expect_refusal(&client, &server, "a record that is too long");
}

static void an_alert_of_a_wrong_length_is_refused(void **state)
{
	static const uint8_t alert[] = {1, 0, 0};

	send_record(&client, TLS_ALERT, alert, sizeof alert, sizeof alert);
	expect_refusal(&client, &server, "an alert of a wrong length");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(tickets_are_ignored_however_they_are_cut),
		TEST(a_key_update_may_be_cut),
		TEST(keys_may_be_renewed_for_ever),
		TEST(renegotiation_is_refused),
		TEST(a_servers_renegotiation_is_refused),
		TEST(authentication_behind_the_handshake_is_refused),
		TEST(a_clients_ticket_is_refused),
		TEST(a_long_key_update_is_refused),
		TEST(a_key_update_that_asks_for_more_is_refused),
		TEST(two_key_updates_in_a_record_are_refused),
		TEST(key_updates_without_end_are_refused),
		TEST(data_within_a_message_are_refused),
		TEST(other_types_are_refused),
		TEST(more_content_than_a_record_has_is_refused),
		TEST(an_alert_of_a_wrong_length_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
