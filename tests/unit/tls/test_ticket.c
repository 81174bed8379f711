/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions that are resumed: ours with ours, and with OpenSSL at either end. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/tls_end.h"
#include "tls/conn.h"
#include "tls/stack.h"
#include "tls_user.h"

#include <errno.h>
#include <string.h>

#define PORT  4791
#define STEPS 10000000

static struct tls_files files;
static struct llp_mem *mem;
static struct tls_user client, server;
static struct tls_end theirs;
static struct tls_config client_config, server_config;

static int set_up(void **state)
{
	tls_files_open_two(&files, &client_config, &server_config);
	mem = llp_mem_create();
	return 0;
}

static int tear_down(void **state)
{
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

/** The connection is over; its stack stays. */
static void end_connection(struct tls_user *u)
{
	if (u->llp)
		llp_abort(u->llp);
	u->llp = NULL;
	llp_mem_run(mem, STEPS);
	u->connected = u->eof = u->closed = false;
	u->rx_len = 0;
}

static void open_both(void)
{
	tls_user_open(&client, mem, 0, &client_config, 0);
	tls_user_open(&server, mem, 1, &server_config, 0);
	tls_user_listen(&server, mem, 1, PORT);
}

static void close_both(void)
{
	tls_user_close(&client);
	tls_user_close(&server);
}

/** Connect, say something both ways, and end it. */
static void connect_once(void)
{
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_true(client.connected && client.protected_);
	assert_true(server.connected && server.protected_);
	tls_user_stream(&client, 0, 5000, 1400);
	tls_user_stream(&server, 0, 3000, 77);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 5000);
	tls_user_expect(&client, 3000);
	end_connection(&client);
	end_connection(&server);
}

static void expect_resumed(unsigned n)
{
	assert_int_equal(tls_stack_stats(client.stack)->resumed, n);
	assert_int_equal(tls_stack_stats(server.stack)->resumed, n);
}

static void the_second_connection_resumes(void **state)
{
	open_both();
	for (unsigned i = 0; i < 5; i++) {
		connect_once();
		expect_resumed(i);
	}
	close_both();
}

/** Where the tickets wait for room, what came meanwhile waits for them and for no more. */
static void content_waits_for_room_for_the_tickets(void **state)
{
	llp_mem_set_emss(mem, 60);
	open_both();
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_set_buffer(mem, 1);
	while (!client.connected)
		assert_true(llp_mem_step(mem));
	llp_mem_set_buffer(mem, 1 << 20);
	tls_user_stream(&client, 0, 30, 30);
	llp_mem_set_buffer(mem, 1);
	llp_mem_run(mem, STEPS);
	assert_true(server.connected);
	tls_user_expect(&server, 30);
	close_both();
}

/** A client that says no more than @p len bytes, while the tickets wait for room. */
static void end_before_the_tickets(uint32_t len, bool notify)
{
	struct llp *below;

	open_both();
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_set_buffer(mem, 1);
	while (!client.connected)
		assert_true(llp_mem_step(mem));
	below = tls_conn_of(server.llp)->below;
	llp_mem_hold(below, true);
	llp_mem_set_buffer(mem, 1 << 20);
	tls_user_stream(&client, 0, len, 30);
	llp_shutdown(notify ? client.llp : tls_conn_of(client.llp)->below);
	llp_mem_set_buffer(mem, 1);
	llp_mem_run(mem, STEPS);
	assert_false(server.connected || server.closed);
	llp_mem_hold(below, false);
	llp_mem_run(mem, STEPS);
	llp_mem_set_buffer(mem, 1 << 20);
	assert_true(server.connected);
	tls_user_expect(&server, len);
	assert_int_equal(server.eof, notify);
	assert_int_equal(server.closed, !notify);
	assert_int_equal(server.error, notify ? 0 : -ECONNRESET);
	close_both();
}

/** So does its end, which is in good order then, or is not. */
static void so_does_the_end(void **state)
{
	llp_mem_set_emss(mem, 60);
	for (uint32_t len = 0; len <= 60; len += 30) {
		end_before_the_tickets(len, true);
		end_before_the_tickets(len, false);
	}
}

static void segments_of_any_size_do(void **state)
{
	for (size_t segment = 1; segment < 40; segment += 6) {
		llp_mem_set_segment(mem, segment);
		open_both();
		connect_once();
		connect_once();
		expect_resumed(1);
		close_both();
	}
	llp_mem_set_segment(mem, 0);
}

/** A server that has been started again does not know the ticket, and shows certificates. */
static void an_unknown_ticket_is_no_obstacle(void **state)
{
	open_both();
	connect_once();
	tls_user_close(&server);
	tls_user_open(&server, mem, 1, &server_config, 0);
	tls_user_listen(&server, mem, 1, PORT);
	connect_once();
	expect_resumed(0);
	connect_once();
	expect_resumed(1);
	close_both();
}

/** Who has changed whom it believes believes nobody for what was before. */
static void other_credentials_forget_sessions(void **state)
{
	open_both();
	connect_once();
	connect_once();
	expect_resumed(1);
	tls_files_append(&files, "ca.pem", "two.pem");
	connect_once();
	expect_resumed(1);
	connect_once();
	expect_resumed(2);
	close_both();
}

/** As if its peer's certificate, or one up to the CA, had expired since. */
static void expire(struct tls_user *u)
{
	u->stack->credentials.now->verified = (struct tls_verified_list){0};
}

static void who_has_expired_is_not_believed_again(void **state)
{
	open_both();
	connect_once();
	expire(&client);
	connect_once();
	expect_resumed(0);
	expire(&server);
	connect_once();
	expect_resumed(0);
	connect_once();
	expect_resumed(1);
	close_both();
}

/** A listener that takes any name gives tickets, and another one demands more. */
static void a_ticket_is_no_proof_of_an_address(void **state)
{
	tls_files_issue(&files, "one", "IP:192.0.2.1", 10);
	open_both();
	connect_once();
	connect_once();
	expect_resumed(1);
	server.demand_addr = true;
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_false(server.connected);
	assert_int_equal(server.error, -EKEYREJECTED);
	assert_int_equal(client.error, -EKEYREJECTED);
	assert_int_equal(tls_stack_stats(server.stack)->resumed, 1);
	close_both();
}

static void who_has_the_address_resumes_where_it_is_demanded(void **state)
{
	open_both();
	server.demand_addr = true;
	connect_once();
	connect_once();
	expect_resumed(1);
	close_both();
}

static void shared_keys_need_none(void **state)
{
	tls_files_write(&files, "psk", "node:00112233445566778899aabbccddeeff\n");
	for (unsigned i = 0; i < 2; i++) {
		struct tls_config *c = i == 0 ? &client_config : &server_config;

		memset(c, 0, sizeof *c);
		c->mode = TLS_REQUIRED;
		tls_files_path(&files, "psk", c->psk);
	}
	open_both();
	connect_once();
	connect_once();
	expect_resumed(0);
	close_both();
}

/* ---- OpenSSL at the other end -------------------------------------------------------------- */

static SSL_SESSION *their_session;

static int take_session(SSL *ssl, SSL_SESSION *s)
{
	SSL_SESSION_free(their_session);
	their_session = s;
	return 1;
}

static void exchange(struct tls_user *ours)
{
	static uint8_t bytes[5000];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = tls_user_byte(i);
	tls_end_write(&theirs, bytes, sizeof bytes);
	tls_user_stream(ours, 0, 3000, 1400);
	tls_end_run(&theirs, mem);
	tls_user_expect(ours, sizeof bytes);
	assert_int_equal(theirs.text_len, 3000);
	assert_memory_equal(theirs.text, bytes, 3000);
}

/** A ticket of ours has the session with us, not in it. */
static void expect_a_name(const SSL_SESSION *session)
{
	const unsigned char *ticket;
	size_t len;

	SSL_SESSION_get0_ticket(session, &ticket, &len);
	assert_int_equal(len, SSL_MAX_SSL_SESSION_ID_LENGTH);
}

static void openssl_resumes_with_us(void **state)
{
	struct ip_endpoint to = llp_mem_endpoint(mem, 1, PORT);

	tls_user_open(&server, mem, 1, &server_config, 0);
	tls_user_listen(&server, mem, 1, PORT);
	for (unsigned i = 0; i < 3; i++) {
		tls_end_init(&theirs, &client_config, false);
		SSL_CTX_set_session_cache_mode(
			theirs.ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(theirs.ctx, take_session);
		if (their_session)
			assert_int_equal(SSL_set_session(theirs.ssl, their_session), 1);
		llp_mem_peer_connect(&theirs.raw, mem, 0, &to);
		llp_mem_run(mem, STEPS);
		tls_end_run(&theirs, mem);
		assert_true(theirs.done && server.connected);
		assert_int_equal(SSL_session_reused(theirs.ssl), i != 0);
		exchange(&server);
		assert_int_equal(SSL_SESSION_get_max_early_data(their_session), 0);
		expect_a_name(their_session);
		assert_int_equal(tls_stack_stats(server.stack)->resumed, i);
		SSL_set_shutdown(theirs.ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
		tls_end_fini(&theirs);
		end_connection(&server);
	}
	SSL_SESSION_free(their_session);
	their_session = NULL;
	tls_user_close(&server);
}

static void we_resume_with_openssl(void **state)
{
	static uint8_t keys[80] = {1, 2, 3};
	static const uint8_t context[] = "one";

	tls_user_open(&client, mem, 1, &server_config, 0);
	for (unsigned i = 0; i < 3; i++) {
		tls_end_init(&theirs, &client_config, true);
		assert_int_equal(SSL_CTX_set_tlsext_ticket_keys(theirs.ctx, keys, sizeof keys), 1);
		assert_int_equal(
			SSL_set_session_id_context(theirs.ssl, context, sizeof context), 1);
		llp_mem_peer_listen(&theirs.raw, mem, 0, PORT);
		tls_user_connect(&client, mem, 0, PORT);
		tls_end_run(&theirs, mem);
		assert_true(theirs.done && client.connected);
		assert_int_equal(SSL_session_reused(theirs.ssl), i != 0);
		exchange(&client);
		assert_int_equal(tls_stack_stats(client.stack)->resumed, i);
		tls_end_fini(&theirs);
		end_connection(&client);
	}
	tls_user_close(&client);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_second_connection_resumes),
		TEST(content_waits_for_room_for_the_tickets),
		TEST(so_does_the_end),
		TEST(segments_of_any_size_do),
		TEST(an_unknown_ticket_is_no_obstacle),
		TEST(other_credentials_forget_sessions),
		TEST(who_has_expired_is_not_believed_again),
		TEST(a_ticket_is_no_proof_of_an_address),
		TEST(who_has_the_address_resumes_where_it_is_demanded),
		TEST(shared_keys_need_none),
		TEST(openssl_resumes_with_us),
		TEST(we_resume_with_openssl),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
