/* SPDX-License-Identifier: BSD-2-Clause */
/* Two of our ends, over the LLP in memory. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/conn.h"
#include "tls_pair.h"

#include <errno.h>
#include <string.h>

/* ---- how many -------------------------------------------------------------------------------- */

/** One more connection of the client's address. */
static void connect_again(void)
{
	client.connected = client.closed = server.connected = server.closed = false;
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
}

static void expect_connected(void)
{
	assert_true(client.connected && server.connected);
	llp_abort(client.llp);
	llp_mem_run(mem, STEPS);
	assert_true(server.closed);
	client.llp = NULL;
}

/** Four at once and then one in a second. */
static void a_peer_that_begins_too_many_is_reset(void **state)
{
	server_config.handshakes_per_peer = 1;
	connect_both(0);
	expect_connected();
	for (unsigned i = 1; i < 4; i++) {
		connect_again();
		expect_connected();
	}
	for (unsigned i = 1; i <= 3; i++) {
		connect_again();
		assert_true(client.closed && server.closed && !server.connected);
		assert_int_equal(server.error, -ECONNABORTED);
		assert_int_equal(client.error, -ECONNRESET);
		assert_int_equal(tls_stack_stats(server.stack)->handshakes_refused, i);
	}
	assert_non_null(strstr(tls_stack_reason(server.stack), "tls_handshakes_per_peer"));
	assert_int_equal(tls_stack_stats(server.stack)->handshakes_failed, 0);
	assert_int_equal(tls_stack_stats(server.stack)->handshakes, 4);
	tls_user_now += 1000000000;
	connect_again();
	expect_connected();
	server_config.handshakes_per_peer = 0;
	close_both();
}

/** A deadline is the user's, and only TLS knows what it was waited for. */
static void a_handshake_that_is_given_up_is_told_of(void **state)
{
	struct llp_mem_peer silent = {0};

	llp_mem_peer_listen(&silent, mem, 1, PORT);
	tls_user_open(&client, mem, 0, &client_config, 0);
	tls_user_connect(&client, mem, 1, PORT);
	llp_abort(client.llp); /* there is no handshake yet */
	assert_int_equal(tls_stack_stats(client.stack)->handshakes_failed, 0);
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_true(silent.rx_len != 0 && !client.connected && !client.closed);
	llp_abort(client.llp);
	client.llp = NULL;
	assert_int_equal(tls_stack_stats(client.stack)->handshakes_failed, 1);
	assert_non_null(strstr(tls_stack_reason(client.stack), "before its handshake was done"));
	llp_mem_run(mem, STEPS);
	assert_false(client.closed);
	tls_user_close(&client);
	llp_mem_peer_done(&silent);
}

/* ---- data -------------------------------------------------------------------------------- */

static void data_pass_both_ways(void **state)
{
	connect_both(0);
	tls_user_stream(&client, 0, 100000, 1400);
	tls_user_stream(&server, 0, 50000, 77);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 100000);
	tls_user_expect(&client, 50000);
	assert_int_equal(tls_stack_stats(client.stack)->handshakes, 1);
	close_both();
}

static void records_of_every_size_pass(void **state)
{
	size_t at = 0;

	connect_both(0);
	for (uint32_t len = 1; len <= 300; len++, at += len - 1)
		tls_user_stream(&client, at, len, len);
	tls_user_stream(&client, at, 16384, 16384);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, at + 16384);
	close_both();
}

static void segments_of_any_size_do(void **state)
{
	for (size_t segment = 1; segment <= 64; segment++) {
		llp_mem_set_segment(mem, segment);
		connect_both(0);
		tls_user_stream(&client, 0, 600, 100);
		llp_mem_run(mem, STEPS);
		tls_user_expect(&server, 600);
		close_both();
	}
	for (uint32_t seed = 1; seed <= 20; seed++) {
		llp_mem_set_random_segment(mem, 3000, seed);
		connect_both(0);
		tls_user_stream(&client, 0, 60000, 1400);
		llp_mem_run(mem, STEPS);
		tls_user_expect(&server, 60000);
		close_both();
	}
	llp_mem_set_segment(mem, 0);
}

static void a_record_and_its_overhead_fit_the_emss(void **state)
{
	unsigned before;

	connect_both(0);
	assert_int_equal(llp_emss(client.llp), 1448 - 22);
	before = llp_mem_segments(mem);
	tls_user_stream(&client, 0, llp_emss(client.llp), 1448);
	llp_mem_run(mem, STEPS);
	assert_int_equal(llp_mem_segments(mem), before + 1);
	llp_mem_set_emss(mem, 65000);
	assert_int_equal(llp_emss(client.llp), 16384); /* RFC 8446 section 5.1 */
	llp_mem_set_emss(mem, 1448);
	close_both();
}

/* ---- a user that does not take all ---------------------------------------------------------- */

static void a_user_that_needs_more_gets_it(void **state)
{
	connect_both(0);
	server.chunk = 70000; /* as the longest FPDU, in records of a foreign size */
	tls_user_stream(&client, 0, 69999, 999);
	llp_mem_run(mem, STEPS);
	assert_int_equal(server.rx_len, 0);
	tls_user_stream(&client, 69999, 140001 - 69999, 999);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 140000);
	close_both();
}

static void what_waits_stays_below(void **state)
{
	connect_both(0);
	server.pause = true;
	tls_user_stream(&client, 0, 300000, 1400);
	llp_mem_run(mem, STEPS);
	assert_int_equal(server.rx_len, 0);
	/* Not in our memory: it is the window below that closes. */
	assert_in_range(server.shown, 1, 20);
	close_both();
}

static void resuming_shows_all_of_it(void **state)
{
	connect_both(0);
	server.pause = true;
	tls_user_stream(&client, 0, 300000, 1400);
	llp_shutdown(client.llp);
	llp_mem_run(mem, STEPS);
	assert_false(server.eof);
	server.pause = false;
	llp_resume(server.llp);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 300000);
	assert_true(server.eof);
	close_both();
}

static void aborting_in_an_upcall_is_allowed(void **state)
{
	connect_both(0);
	server.abort_in_readable = true;
	tls_user_stream(&client, 0, 5000, 1000);
	llp_mem_run(mem, STEPS);
	assert_null(server.llp);
	assert_true(client.closed);
	assert_int_equal(client.error, -ECONNRESET);
	close_both();
}

/* ---- keys -------------------------------------------------------------------------------- */

static void keys_are_renewed_in_time(void **state)
{
	connect_both(10);
	tls_user_stream(&client, 0, 100000, 500);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 100000);
	/* The server sends nothing but its answers; each is a record under its own keys. */
	assert_in_range(tls_stack_stats(client.stack)->updates_sent, 18, 30);
	assert_int_equal(tls_stack_stats(server.stack)->updates_received,
		tls_stack_stats(client.stack)->updates_sent);
	tls_user_stream(&server, 0, 100000, 500);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&client, 100000);
	close_both();
}

/* ---- ends -------------------------------------------------------------------------------- */

static void an_orderly_close_is_told(void **state)
{
	connect_both(0);
	tls_user_stream(&client, 0, 1000, 100);
	llp_shutdown(client.llp);
	assert_false(tls_user_send(&client, "x", 1));
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 1000);
	assert_true(server.eof && !server.closed);
	tls_user_stream(&server, 0, 1000, 100); /* its direction is open */
	llp_shutdown(server.llp);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&client, 1000);
	assert_true(client.eof && client.closed && server.closed);
	assert_int_equal(client.error, 0);
	assert_int_equal(server.error, 0);
	close_both();
}

static void releasing_with_a_full_buffer_loses_nothing(void **state)
{
	uint8_t bytes[1000];

	llp_mem_set_buffer(mem, 20000);
	connect_both(0);
	client.rx_len = 0;
	for (size_t at = 0;; at += sizeof bytes) {
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = tls_user_byte(at + i);
		if (!tls_user_send(&client, bytes, sizeof bytes)) {
			client.rx_len = at;
			break;
		}
	}
	llp_release(client.llp);
	client.llp = NULL;
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, client.rx_len);
	assert_true(server.eof && !server.closed);
	llp_mem_set_buffer(mem, 1 << 20);
	close_both();
}

/** Release the client while there is no room for its close_notify. @return its LLP. */
static struct llp *release_without_room(void)
{
	struct llp *below;

	connect_both(0);
	tls_user_stream(&client, 0, 1000, 1000);
	llp_mem_set_buffer(mem, 1000);
	below = tls_conn_of(client.llp)->below;
	llp_release(client.llp);
	client.llp = NULL;
	llp_mem_set_buffer(mem, 1 << 20);
	return below;
}

static void who_waits_to_say_the_last_word_is_an_orphan(void **state)
{
	(void)release_without_room();
	assert_int_equal(llp_mem_orphans(mem), 1);
	llp_mem_run(mem, STEPS);
	assert_true(server.eof && !server.closed);
	assert_int_equal(llp_mem_orphans(mem), 0);
	close_both();
	/* One that has said it is the LLP's own. */
	connect_both(0);
	llp_release(client.llp);
	client.llp = NULL;
	assert_int_equal(llp_mem_orphans(mem), 0);
	close_both();
}

static void and_may_end_before(void **state)
{
	llp_mem_fail(release_without_room(), -ETIMEDOUT);
	llp_mem_run(mem, STEPS);
	assert_true(server.closed && !client.closed);
	assert_true(LIST_EMPTY(&client.stack->conns));
	close_both();
}

static void writable_follows_a_refusal(void **state)
{
	static const uint8_t bytes[1000];

	llp_mem_set_buffer(mem, 20000);
	connect_both(0);
	while (tls_user_send(&client, bytes, sizeof bytes))
		;
	assert_int_equal(client.writable, 0);
	llp_mem_run(mem, STEPS);
	assert_int_equal(client.writable, 1);
	llp_mem_set_buffer(mem, 1 << 20);
	close_both();
}

static void a_lost_llp_is_told(void **state)
{
	connect_both(0);
	llp_abort(client.llp);
	client.llp = NULL;
	llp_mem_run(mem, STEPS);
	assert_true(server.closed);
	assert_int_equal(server.error, -ECONNRESET);
	close_both();
}

/** The positions are those of the LLP below, whose records carry ours. */
static void positions_of_acks_are_those_below(void **state)
{
	uint64_t end;

	connect_both(0);
	llp_watch_acks(client.llp);
	assert_true(tls_user_send(&client, "hello", 5));
	end = llp_queued(client.llp);
	assert_true(llp_acked(client.llp) < end);
	llp_mem_run(mem, STEPS);
	assert_int_equal(llp_acked(client.llp), end);
	assert_true(client.acked != 0);
	close_both();
}

/** OpenSSL fails: what was not sent never counts as acknowledged, whatever comes of the FIN. */
static void a_record_that_was_lost_is_never_acknowledged(void **state)
{
	struct tls_conn *c;
	uint64_t end;

	connect_both(0);
	assert_true(tls_user_send(&client, "hello", 5));
	end = llp_queued(client.llp);
	c = tls_conn_of(client.llp);
	c->tx.gcm = NULL;
	EVP_CIPHER_CTX_free(c->tx.ctx);
	c->tx.ctx = EVP_CIPHER_CTX_new(); /* it has no cipher */
	assert_true(tls_user_send(&client, "lost", 4));
	assert_true(llp_queued(client.llp) > end);
	assert_false(tls_user_send(&client, "more", 4));
	server.pause = true;
	while (llp_acked(client.llp) < end || llp_unacked(client.llp) != 0)
		assert_true(llp_mem_step(mem));
	assert_true(llp_queued(client.llp) > llp_acked(client.llp));
	close_both();
}

static void the_type_of_service_is_that_of_what_is_below(void **state)
{
	connect_both(0);
	llp_set_tos(server.llp, 0x68);
	assert_int_equal(llp_mem_tos(tls_conn_of(server.llp)->below), 0x68);
	close_both();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_peer_that_begins_too_many_is_reset),
		TEST(a_handshake_that_is_given_up_is_told_of),
		TEST(data_pass_both_ways),
		TEST(records_of_every_size_pass),
		TEST(segments_of_any_size_do),
		TEST(a_record_and_its_overhead_fit_the_emss),
		TEST(a_user_that_needs_more_gets_it),
		TEST(what_waits_stays_below),
		TEST(resuming_shows_all_of_it),
		TEST(aborting_in_an_upcall_is_allowed),
		TEST(the_type_of_service_is_that_of_what_is_below),
		TEST(keys_are_renewed_in_time),
		TEST(an_orderly_close_is_told),
		TEST(releasing_with_a_full_buffer_loses_nothing),
		TEST(who_waits_to_say_the_last_word_is_an_orphan),
		TEST(and_may_end_before),
		TEST(writable_follows_a_refusal),
		TEST(a_lost_llp_is_told),
		TEST(positions_of_acks_are_those_below),
		TEST(a_record_that_was_lost_is_never_acknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
