/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/llp_mem.h"
#include "traffic/traffic.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PORT 5001

static struct traffic_pattern pattern, other_pattern;

/* Two hosts with a stream each: b listens, a connects. */
struct stage {
	struct llp_mem *m;
	struct traffic a, b;
	unsigned ended;
	uint64_t now;
	struct llp_listener *listener;
};

static uint64_t clock_of(void *ctx)
{
	return ((struct stage *)ctx)->now;
}

static void count_end(void *ctx, struct traffic *t, const struct llp *last)
{
	assert_non_null(last);
	assert_null(t->llp);
	((struct stage *)ctx)->ended++;
}

static int take(void *ctx, struct llp *l)
{
	traffic_accept(&((struct stage *)ctx)->b, l);
	return 0;
}

static void create(struct stage *g, struct traffic_config a, struct traffic_config b)
{
	struct llp_connect_params to = {0};

	*g = (struct stage){.m = llp_mem_create(), .now = 1000};
	a.pattern = a.pattern ? a.pattern : &pattern;
	b.pattern = b.pattern ? b.pattern : &pattern;
	a.clock = b.clock = clock_of;
	a.ended = b.ended = count_end;
	a.ctx = b.ctx = g;
	to.remote = llp_mem_endpoint(g->m, 1, PORT);
	traffic_init(&g->a, &a);
	traffic_init(&g->b, &b);
	assert_int_equal(
		llp_listen(llp_mem_stack(g->m, 1), &to.remote, 8, take, g, &g->listener), 0);
	assert_int_equal(traffic_connect(&g->a, llp_mem_stack(g->m, 0), &to), 0);
}

/* Both ended, in order, and nothing is left. */
static void assert_ended(struct stage *g)
{
	assert_int_equal(g->ended, 2);
	assert_int_equal(g->a.error, 0);
	assert_int_equal(g->b.error, 0);
	assert_int_equal(llp_mem_open_count(g->m), 0);
}

static void destroy(struct stage *g)
{
	llp_unlisten(llp_mem_stack(g->m, 1), g->listener);
	llp_mem_destroy(g->m);
}

#define RUN(g) llp_mem_run((g)->m, 2000000)

/* Larger than the send buffer, so that it fills. */
#define BULK (5 * UINT64_C(1048576) + 77)

static void check_bulk(struct stage *g)
{
	RUN(g);
	assert_ended(g);
	assert_int_equal(g->a.sent, BULK);
	assert_int_equal(g->b.received, BULK);
	assert_false(g->b.wrong);
	assert_true(g->b.eof && g->a.eof);
}

static void source_sends_what_sink_expects(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE, .bytes = BULK},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true});
	check_bulk(&g);
	destroy(&g);
}

static void pieces_of_any_size_are_verified(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE, .bytes = BULK},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true});
	llp_mem_set_random_segment(g.m, 3000, 5);
	llp_mem_set_emss(g.m, 999);
	check_bulk(&g);
	destroy(&g);
}

static void who_listens_may_be_the_source(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SINK, .verify = true},
		(struct traffic_config){.role = TRAFFIC_SOURCE, .bytes = BULK});
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.a.received, BULK);
	assert_false(g.a.wrong);
	destroy(&g);
}

static void a_wrong_byte_is_found(void **state)
{
	uint8_t b[300];
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_ECHO},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true});
	while (!g.a.connected || !g.b.connected)
		assert_true(llp_mem_step(g.m));
	traffic_pattern_fill(&pattern, 0, b, sizeof b);
	b[200] ^= 1;
	llp_mem_send_raw(g.a.llp, b, 150);
	llp_mem_send_raw(g.a.llp, b + 150, 150);
	RUN(&g);
	assert_int_equal(g.b.received, 300);
	assert_true(g.b.wrong);
	assert_int_equal(g.b.wrong_at, 200);
	traffic_abort(&g.a);
	RUN(&g);
	destroy(&g);
}

static void another_seed_is_found(void **state)
{
	struct stage g;

	create(&g,
		(struct traffic_config){
			.role = TRAFFIC_SOURCE, .bytes = 5000, .pattern = &other_pattern},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true});
	RUN(&g);
	assert_ended(&g);
	assert_true(g.b.wrong);
	assert_int_equal(g.b.received, 5000);
	destroy(&g);
}

static void a_source_without_end_stops_when_told(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true});
	while (g.b.received < BULK)
		assert_true(llp_mem_step(g.m));
	traffic_finish(&g.a);
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.b.received, g.a.sent);
	assert_false(g.b.wrong);
	destroy(&g);
}

static void told_before_it_is_connected_a_source_sends_nothing(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE},
		(struct traffic_config){.role = TRAFFIC_SINK});
	traffic_finish(&g.a);
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.b.received, 0);
	destroy(&g);
}

static void a_metered_source_sends_what_it_is_allowed(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE, .bytes = 10000, .metered = true},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true});
	RUN(&g);
	assert_true(g.a.connected);
	assert_int_equal(g.a.sent, 0);
	traffic_allow(&g.a, 1);
	RUN(&g);
	assert_int_equal(g.b.received, 1);
	traffic_allow(&g.a, 4000);
	traffic_allow(&g.a, 3);
	RUN(&g);
	assert_int_equal(g.b.received, 4004);
	assert_int_equal(g.ended, 0);
	traffic_allow(&g.a, 100000);
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.b.received, 10000);
	assert_false(g.b.wrong);
	destroy(&g);
}

static void a_paused_sink_takes_nothing_until_it_resumes(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE, .bytes = 3000},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true, .paused = true});
	RUN(&g);
	assert_true(g.b.eof);
	assert_int_equal(g.b.received, 0);
	assert_int_equal(g.ended, 0);
	traffic_resume(&g.b);
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.b.received, 3000);
	assert_false(g.b.wrong);
	destroy(&g);
}

static void one_way_through_an_echo(struct stage *g, uint64_t bytes)
{
	while (g->a.received < bytes)
		assert_true(llp_mem_step(g->m));
}

/* More than both buffers hold: the echo has to leave bytes unread. */
static void echo_sends_everything_back(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE, .bytes = BULK},
		(struct traffic_config){.role = TRAFFIC_ECHO});
	llp_mem_set_buffer(g.m, 10000);
	llp_mem_set_random_segment(g.m, 5000, 9);
	one_way_through_an_echo(&g, BULK);
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.b.received, BULK);
	assert_int_equal(g.b.sent, BULK);
	assert_int_equal(g.a.received, BULK);
	destroy(&g);
}

static void pingpong_through(size_t message, size_t segment, uint64_t count)
{
	struct histogram latency = {0};
	struct stage g;

	create(&g,
		(struct traffic_config){.role = TRAFFIC_PINGPONG,
			.message = (uint32_t)message,
			.count = count,
			.verify = true,
			.latency = &latency},
		(struct traffic_config){.role = TRAFFIC_ECHO});
	llp_mem_set_buffer(g.m, 20000);
	if (segment)
		llp_mem_set_random_segment(g.m, segment, 3);
	do
		g.now += 10;
	while (llp_mem_step(g.m));
	assert_ended(&g);
	assert_int_equal(g.a.messages, count);
	assert_int_equal(g.a.received, count * message);
	assert_int_equal(g.b.received, count * message);
	assert_false(g.a.wrong);
	assert_int_equal(latency.count, count);
	assert_true(latency.min >= 20);
	destroy(&g);
}

static void pingpong_counts_its_round_trips(void **state)
{
	pingpong_through(1, 0, 1);
	pingpong_through(1, 0, 1000);
	pingpong_through(64, 7, 100);
	pingpong_through(4000, 0, 100);
	pingpong_through(100000, 900, 10); /* larger than the buffers */
}

static void pingpong_without_end_stops_after_a_message(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_PINGPONG, .message = 3000, .verify = 1},
		(struct traffic_config){.role = TRAFFIC_ECHO});
	while (g.a.messages < 5 || g.a.sent == g.a.received)
		assert_true(llp_mem_step(g.m));
	traffic_finish(&g.a);
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.a.messages, 6);
	assert_int_equal(g.a.received, 6 * 3000);
	destroy(&g);
}

static void more_than_was_asked_for_is_wrong(void **state)
{
	struct stage g;
	uint8_t b[11];

	create(&g,
		(struct traffic_config){
			.role = TRAFFIC_PINGPONG, .message = 10, .count = 2, .verify = true},
		(struct traffic_config){.role = TRAFFIC_SINK});
	while (g.b.received < 10)
		assert_true(llp_mem_step(g.m));
	traffic_pattern_fill(&pattern, 0, b, sizeof b);
	llp_mem_send_raw(g.b.llp, b, sizeof b);
	RUN(&g);
	assert_true(g.a.wrong);
	assert_int_equal(g.a.wrong_at, 10);
	traffic_abort(&g.a);
	RUN(&g);
	destroy(&g);
}

static void a_reset_is_told(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE},
		(struct traffic_config){.role = TRAFFIC_SINK});
	while (!g.b.received)
		assert_true(llp_mem_step(g.m));
	g.now = 5000;
	traffic_abort(&g.b);
	RUN(&g);
	assert_int_equal(g.ended, 1);
	assert_true(g.a.ended && !g.b.ended);
	assert_int_equal(g.a.error, -ECONNRESET);
	assert_int_equal(g.a.ended_at, 5000);
	assert_int_equal(llp_mem_open_count(g.m), 0);
	/* Nothing is there to be told; nothing happens. */
	traffic_finish(&g.a);
	traffic_allow(&g.a, 1);
	traffic_resume(&g.a);
	traffic_abort(&g.a);
	destroy(&g);
}

static void a_sink_that_is_told_to_end_closes_and_takes_on(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE, .bytes = BULK},
		(struct traffic_config){.role = TRAFFIC_SINK, .verify = true});
	while (!g.b.received)
		assert_true(llp_mem_step(g.m));
	traffic_finish(&g.b);
	check_bulk(&g);
	destroy(&g);
}

static void times_are_the_clock_s(void **state)
{
	struct stage g;

	create(&g, (struct traffic_config){.role = TRAFFIC_SOURCE, .metered = true, .bytes = 1},
		(struct traffic_config){.role = TRAFFIC_SINK});
	g.now = 2000;
	RUN(&g);
	g.now = 3000;
	traffic_allow(&g.a, 1);
	while (!g.b.received)
		assert_true(llp_mem_step(g.m));
	g.now = 4000;
	RUN(&g);
	assert_ended(&g);
	assert_int_equal(g.a.connected_at, 2000);
	assert_int_equal(g.b.connected_at, 2000);
	assert_int_equal(g.b.first_at, 3000);
	assert_int_equal(g.b.eof_at, 4000);
	assert_int_equal(g.a.ended_at, 4000);
	destroy(&g);
}

static int setup(void **state)
{
	traffic_pattern_init(&pattern, 42);
	traffic_pattern_init(&other_pattern, 43);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(source_sends_what_sink_expects),
		cmocka_unit_test(pieces_of_any_size_are_verified),
		cmocka_unit_test(who_listens_may_be_the_source),
		cmocka_unit_test(a_wrong_byte_is_found),
		cmocka_unit_test(another_seed_is_found),
		cmocka_unit_test(a_source_without_end_stops_when_told),
		cmocka_unit_test(told_before_it_is_connected_a_source_sends_nothing),
		cmocka_unit_test(a_metered_source_sends_what_it_is_allowed),
		cmocka_unit_test(a_paused_sink_takes_nothing_until_it_resumes),
		cmocka_unit_test(echo_sends_everything_back),
		cmocka_unit_test(pingpong_counts_its_round_trips),
		cmocka_unit_test(pingpong_without_end_stops_after_a_message),
		cmocka_unit_test(more_than_was_asked_for_is_wrong),
		cmocka_unit_test(a_reset_is_told),
		cmocka_unit_test(a_sink_that_is_told_to_end_closes_and_takes_on),
		cmocka_unit_test(times_are_the_clock_s),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
