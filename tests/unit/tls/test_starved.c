/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that wait for room. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "tls/starved.h"
#include "tls_memory.h"

/** By then room has been looked for. */
#define SOON UINT64_C(20000000)

/** Behind new keys nothing that the peer sends helps. */
static void nor_does_what_comes_behind_new_keys(void **state)
{
	unsigned shown;

	begin(40);
	have_memory(false);
	server.chunk = 60000;
	bring(0, 59980, 1400);
	client.stack->records_max = 0;
	assert_int_equal(server.stack->starved.count, 1);
	shown = server.shown;
	llp_mem_set_segment(mem, 1);
	for (size_t at = 59980; at < 59999; at++)
		bring(at, 1, 1);
	assert_int_equal(server.shown, shown);
	have_memory(true);
	bring(59999, 1, 1);
	tls_user_expect(&server, 60000);
	assert_int_equal(server.stack->kept.held, 0);
}

/** Room was there, and then the user wanted all. */
static void room_that_was_not_needed_is_not_held(void **state)
{
	begin(40);
	have_memory(false);
	server.chunk = 60000;
	bring(0, 59980, 1400);
	assert_int_equal(server.stack->starved.count, 1);
	server.chunk = 0;
	have_memory(true);
	tls_user_pass(&server, SOON);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 59980);
	assert_int_equal(server.stack->kept.held, 0);
}

static size_t takes_all(void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	return total;
}

/** What waits behind new keys, for a share that it cannot have, is not opened for others' bytes. */
static void nor_do_the_bytes_of_others(void **state)
{
	static struct llp_user_ops ops;
	struct llp *first;
	unsigned shown;
	uint8_t byte = 1;

	begin(40);
	if (!rationed) /* there would be no second connection */
		return;
	have_memory(false);
	server.chunk = 60000;
	bring(0, 59990, 1400);
	client.stack->records_max = 0;
	assert_int_equal(server.stack->starved.count, 1);
	first = server.llp;
	server.llp = NULL;
	client.connected = server.connected = false;
	tls_user_connect(&client, mem, 1, PORT);
	llp_mem_run(mem, STEPS);
	assert_true(client.connected && server.connected && server.llp != first);
	ops = *server.llp->user_ops;
	ops.readable = takes_all;
	server.llp->user_ops = &ops;
	shown = server.shown;
	for (unsigned i = 0; i < 100; i++) {
		tls_user_send(&client, &byte, 1);
		llp_mem_run(mem, STEPS);
	}
	assert_int_equal(server.shown, shown);
	llp_abort(first);
}

/** The keys of what follows are not had before what was before them is done with. */
static void keys_are_renewed_behind_what_waits(void **state)
{
	begin(4);
	have_memory(false);
	server.chunk = 5000;
	bring(0, 5000, 500);
	tls_user_expect(&server, 0);
	tls_user_pass(&server, SOON);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 0);
	have_memory(true);
	tls_user_pass(&server, SOON);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 5000);
	assert_int_not_equal(tls_stack_stats(server.stack)->updates_received, 0);
	bring(5000, 10000, 500);
	tls_user_expect(&server, 15000);
}

/** What waits for memory may be gone before there is some. */
static void who_waits_may_end(void **state)
{
	begin(0);
	have_memory(false);
	server.chunk = 1000;
	bring(0, 1500, 700);
	llp_abort(server.llp);
	server.llp = NULL;
	tls_user_pass(&server, SOON);
	llp_mem_run(mem, STEPS);
	tls_user_expect(&server, 1000);
}

/** Others have used up what there was; now there is some, but nothing comes for any connection. */
static void room_is_looked_for_while_nothing_comes(void **state)
{
	begin(40);
	have_memory(false);
	server.chunk = 60000;
	bring(0, 59980, 1400);
	assert_int_equal(server.stack->starved.count, 1);
	for (unsigned i = 0; i < 10; i++)
		tls_user_pass(&server, SOON);
	tls_user_expect(&server, 0);
	have_memory(true);
	tls_user_pass(&server, SOON);
	assert_int_equal(server.stack->starved.count, 0);
	assert_int_equal(server.stack->kept.held, 60000);
	bring(59980, 20, 20);
	tls_user_expect(&server, 60000);
}

/** And no more when nobody waits. */
static void no_timer_runs_without_need(void **state)
{
	begin(40);
	server.chunk = 60000;
	bring(0, 59980, 1400);
	assert_true(timer_wheel_next(&server.wheel) == TIMER_NEVER);
	have_memory(false);
	bring(59980, 120000, 1400);
	assert_int_equal(server.stack->starved.count, 1);
	assert_true(timer_wheel_next(&server.wheel) != TIMER_NEVER);
	have_memory(true);
	tls_user_pass(&server, SOON);
	tls_user_pass(&server, SOON);
	assert_true(timer_wheel_next(&server.wheel) == TIMER_NEVER);
}

/** Nothing fires for a stack that has ended. */
static void a_stack_may_end_that_looks_for_room(void **state)
{
	begin(40);
	have_memory(false);
	server.chunk = 60000;
	bring(0, 59980, 1400);
	assert_true(timer_wheel_next(&server.wheel) != TIMER_NEVER);
	have_memory(true);
	tls_user_close(&server);
	assert_true(timer_wheel_next(&server.wheel) == TIMER_NEVER);
	tls_user_close(&client);
	begin(0);
}

int main(void)
{
	int failed = 0;
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
		TEST(nor_does_what_comes_behind_new_keys),
		TEST(room_that_was_not_needed_is_not_held),
		TEST(nor_do_the_bytes_of_others),
		TEST(keys_are_renewed_behind_what_waits),
		TEST(who_waits_may_end),
		TEST(room_is_looked_for_while_nothing_comes),
		TEST(no_timer_runs_without_need),
		TEST(a_stack_may_end_that_looks_for_room),
	};

	for (unsigned i = 0; i < 2; i++) {
		rationed = i;
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed;
}
