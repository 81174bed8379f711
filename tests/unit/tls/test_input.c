/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Input of a user that does not take all of it, while there is no memory to keep the rest, or no
 * share of it.
 */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "support/alloc_fault.h"
#include "tls_memory.h"

#include <errno.h>

static void an_fpdu_is_whole_in_the_end(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 1000;
	for (size_t at = 0; at < 21000; at += 700)
		bring(at, 700, 700);
	assert_int_not_equal(
		rationed ? tls_stack_stats(server.stack)->rationed : alloc_fault_failed(), 0);
	tls_user_expect(&server, 21000);
	assert_int_equal(server.stack->kept.held, 0);
}

static void one_longer_than_what_is_opened_at_a_time_is(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 66060; /* the longest with markers */
	bring(0, 100000, 1400);
	tls_user_expect(&server, 66060);
	bring(100000, 32120, 1400);
	tls_user_expect(&server, 132120);
}

/** What the user is done with makes room for what follows. */
static void many_of_the_longest_are(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 66060;
	bring(0, 3 * 66060, 1400);
	tls_user_expect(&server, 3 * 66060);
	/* Many at once. */
	server.pause = true;
	bring(3 * 66060, 2 * 66060, 1400);
	go_on();
	tls_user_expect(&server, 5 * 66060);
}

/** The same records are not opened with each byte that comes. */
static void what_others_have_costs_no_time(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 30000;
	for (size_t at = 0; at < 30000; at += 100)
		bring(at, 100, 100);
	tls_user_expect(&server, 30000);
	assert_in_range(server.shown, 1, 12);
	server.pause = true;
	for (size_t at = 30000; at < 60000; at += 100)
		bring(at, 100, 100);
	assert_in_range(server.shown, 1, 30);
	go_on();
	tls_user_expect(&server, 60000);
}

/** Nor when there is more than is opened at a time. */
static void nor_does_more_than_is_opened_at_a_time(void **state)
{
	begin(0);
	have_memory(false);
	server.pause = true;
	for (size_t at = 0; at < 399000; at += 1400)
		bring(at, 1400, 1400);
	assert_in_range(server.shown, 1, 30);
	go_on();
	tls_user_expect(&server, 399000);
}

/** Of a record, either, that nothing can be had of before it is whole. */
static void nor_does_a_record_in_pieces(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 60000;
	bring(0, 58800, 1400);
	llp_mem_set_segment(mem, 1);
	bring(58800, 16000, 16000);
	tls_user_expect(&server, 60000);
	assert_in_range(server.shown, 1, 20);
}

/** Nor of records of which there are more octets than content: they are opened once, to see. */
static void nor_do_empty_records(void **state)
{
	unsigned shown;

	begin(0);
	have_memory(false);
	server.chunk = 60000;
	bring(0, 59990, 1400);
	shown = server.shown;
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(tls_conn_send(
			tls_conn_of(client.llp), TLS_APPLICATION_DATA, (const uint8_t *)"", 0));
		llp_push(client.llp);
		llp_mem_run(mem, STEPS);
	}
	bring(59990, 9, 1);
	assert_int_equal(server.shown, shown);
	tls_user_expect(&server, 0);
	bring(59999, 1, 1);
	tls_user_expect(&server, 60000);
}

static void segments_of_any_size_do(void **state)
{
	for (size_t segment = 1; segment < 60; segment += 7) {
		llp_mem_set_segment(mem, segment);
		begin(0);
		have_memory(false);
		server.chunk = 300;
		bring(0, 1000, 131);
		tls_user_expect(&server, 900);
		bring(1000, 800, 131);
		tls_user_expect(&server, 1800);
		have_memory(true);
		tls_user_close(&client);
		tls_user_close(&server);
	}
	begin(0);
}

static void what_was_kept_before_comes_first(void **state)
{
	begin(0);
	server.chunk = 3000;
	bring(0, 2000, 1400);
	have_memory(false);
	for (size_t at = 2000; at < 10000; at += 500)
		bring(at, 500, 500);
	tls_user_expect(&server, 9000);
	have_memory(true);
	bring(10000, 2000, 1400);
	tls_user_expect(&server, 12000);
}

static void memory_comes_and_goes(void **state)
{
	begin(0);
	server.chunk = 4500;
	for (size_t i = 0; i < 100; i++) {
		have_memory(i % 3 == 0);
		bring(i * 900, 900, 400);
	}
	tls_user_expect(&server, 90000);
}

static void a_user_that_pauses_goes_on(void **state)
{
	begin(0);
	have_memory(false);
	server.pause = true;
	bring(0, 5000, 1400);
	bring(5000, 5000, 1400);
	tls_user_expect(&server, 0);
	go_on();
	tls_user_expect(&server, 10000);
}

static void half_an_fpdu_does_not_hide_the_end(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 1000;
	tls_user_stream(&client, 0, 1500, 700);
	llp_shutdown(client.llp);
	llp_mem_run(mem, STEPS);
	assert_true(server.eof);
	assert_false(server.closed);
	tls_user_expect(&server, 1000);
}

static void nor_that_the_stream_was_cut_off(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 1000;
	bring(0, 1500, 700);
	llp_shutdown(tls_conn_of(client.llp)->below); /* without a close_notify */
	llp_mem_run(mem, STEPS);
	assert_true(server.closed);
	assert_int_equal(server.error, -ECONNRESET);
	tls_user_expect(&server, 1000);
}

/** @p len bytes of the stream, and its end, with a close_notify or without. */
static void bring_the_end(size_t len, bool notify)
{
	server.pause = true;
	tls_user_stream(&client, 0, len, 1400);
	llp_shutdown(notify ? client.llp : tls_conn_of(client.llp)->below);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 0);
	assert_false(server.closed);
}

/** Enough is kept, the rest is not opened: whether there was a close_notify is not known yet. */
static void the_end_waits_behind_records(void **state)
{
	begin(0);
	bring_the_end(100000, true);
	assert_false(server.eof);
	assert_int_equal(server.eof_waits, 1);
	go_on();
	tls_user_expect(&server, 100000);
	assert_true(server.eof);
	assert_int_equal(server.eof_waits, 1);
}

static void so_does_one_that_was_cut_off(void **state)
{
	begin(0);
	bring_the_end(100000, false);
	assert_int_equal(server.eof_waits, 1);
	go_on();
	tls_user_expect(&server, 100000);
	assert_false(server.eof);
	assert_true(server.closed);
	assert_int_equal(server.error, -ECONNRESET);
}

static void what_was_opened_stands_before_no_end_that_waits(void **state)
{
	begin(0);
	bring_the_end(10000, true);
	assert_true(server.eof);
	assert_int_equal(server.eof_waits, 0);
	go_on();
	tls_user_expect(&server, 10000);
}

/** The LLPs have both FINs then: the end waits until what is before it was taken. */
static void both_ends_wait_behind_records(size_t len, bool memory, bool notify)
{
	begin(0);
	llp_shutdown(server.llp);
	llp_mem_run(mem, STEPS);
	assert_true(client.eof);
	have_memory(memory);
	bring_the_end(len, notify);
	go_on();
	tls_user_expect(&server, len);
	assert_true(server.closed);
	assert_int_equal(server.eof, notify);
	assert_int_equal(server.error, notify ? 0 : -ECONNRESET);
	assert_int_equal(tls_stack_stats(server.stack)->truncated, !notify);
	have_memory(true);
}

static void both_ends_wait(void **state)
{
	static const size_t len[] = {1, 10000, 100000};

	for (unsigned i = 0; i < 12; i++) {
		bool memory = i / 3 & 1, notify = i >= 6;

		/* That a stream was cut off is told at once, if it is known. */
		if (memory && !notify && len[i % 3] < 100000)
			continue;
		both_ends_wait_behind_records(len[i % 3], memory, notify);
		if (i == 11)
			break;
		tls_user_close(&client);
		tls_user_close(&server);
	}
}

/** They do not wait for a user that needs more than is left. */
static void both_ends_do_not_wait_behind_half_an_fpdu(void **state)
{
	for (unsigned memory = 0; memory < 2; memory++) {
		begin(0);
		llp_shutdown(server.llp);
		llp_mem_run(mem, STEPS);
		have_memory(memory);
		server.chunk = 1000;
		tls_user_stream(&client, 0, 1500, 700);
		llp_shutdown(client.llp);
		llp_mem_run(mem, STEPS);
		tls_user_expect(&server, 1000);
		assert_true(server.eof && server.closed);
		assert_int_equal(server.error, 0);
		have_memory(true);
		if (memory)
			break;
		tls_user_close(&client);
		tls_user_close(&server);
	}
}

/** The LLP below has not shown all, either. */
static void the_end_waits_below(void **state)
{
	begin(0);
	llp_mem_set_unread(mem, 20000);
	bring_the_end(100000, true);
	assert_false(server.eof);
	assert_true(server.eof_waits >= 1);
	go_on();
	tls_user_expect(&server, 100000);
	assert_true(server.eof);
}

/** Nothing is kept, as there is no memory. */
static void the_end_waits_for_memory(void **state)
{
	for (unsigned notify = 0; notify < 2; notify++) {
		begin(0);
		have_memory(false);
		bring_the_end(10000, notify);
		assert_true(server.eof_waits >= 1);
		assert_false(server.eof);
		have_memory(true);
		go_on();
		tls_user_expect(&server, 10000);
		assert_int_equal(server.eof, notify);
		assert_int_equal(server.closed, !notify);
		if (notify)
			break;
		tls_user_close(&client);
		tls_user_close(&server);
	}
}

int main(void)
{
	int failed = 0;
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
		TEST(an_fpdu_is_whole_in_the_end),
		TEST(one_longer_than_what_is_opened_at_a_time_is),
		TEST(many_of_the_longest_are),
		TEST(what_others_have_costs_no_time),
		TEST(nor_does_more_than_is_opened_at_a_time),
		TEST(nor_does_a_record_in_pieces),
		TEST(nor_do_empty_records),
		TEST(segments_of_any_size_do),
		TEST(what_was_kept_before_comes_first),
		TEST(memory_comes_and_goes),
		TEST(a_user_that_pauses_goes_on),
		TEST(half_an_fpdu_does_not_hide_the_end),
		TEST(nor_that_the_stream_was_cut_off),
		TEST(the_end_waits_behind_records),
		TEST(so_does_one_that_was_cut_off),
		TEST(both_ends_wait),
		TEST(both_ends_do_not_wait_behind_half_an_fpdu),
		TEST(what_was_opened_stands_before_no_end_that_waits),
		TEST(the_end_waits_below),
		TEST(the_end_waits_for_memory),
	};

	for (unsigned i = 0; i < 2; i++) {
		rationed = i;
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
