/* SPDX-License-Identifier: BSD-2-Clause */
/** Streams over queues that mark instead of dropping, and over paths that mark what they should
 * not. */
#include "sim/flow.h"
#include "sim/mark.h"
#include "sim/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RATE UINT64_C(100000000)
#define RTT  (10 * SIM_MS)
#define BDP  (RATE / 8 * 10 / 1000)
#define TIME (20 * SIM_S)

static struct sim *sim;
static struct sim_link path;
static struct sim_flow *flow;
static struct sim_flow_state end;

static struct sim_host *host(const char *address, const char *cc, enum tcp_ecn_mode ecn)
{
	const struct sim_host_config cfg = {
		.address = address, .no_rnic = true, .tcp = {.congestion_control = cc, .ecn = ecn}};

	return sim_host_create(sim, &cfg);
}

/** One stream for TIME; where it stands is left in @p end. */
static void run(const struct sim_path_config *cfg, const char *cc, enum tcp_ecn_mode ecn)
{
	struct sim_flow_config f = {.port = 5000};

	sim = sim_create(&(struct sim_config){.seed = 11});
	f.from = host("10.0.0.1/24", cc, ecn);
	f.to = host("10.0.0.2/24", cc, TCP_ECN_ACCEPT);
	sim_join(f.from, f.to, cfg, &(struct sim_path_config){.delay = RTT / 2}, &path);
	flow = sim_flow_create(sim, &f);
	sim_run(sim, TIME, NULL, NULL);
	sim_flow_get(flow, &end);
	assert_true(end.connected && !end.failed);
}

static void over(void)
{
	sim_flow_destroy(flow);
	sim_run(sim, SIM_S, NULL, NULL);
	sim_destroy(sim);
}

/** What arrived, in hundredths of what the line carries in that time. */
static unsigned percent(void)
{
	return (unsigned)(end.delivered * 100 / (RATE / 8 * (TIME / SIM_S)));
}

/** A queue of two BDP that marks from half a BDP on: nothing is lost, and the line is busy. */
static const struct sim_path_config marking = {
	.queue = {.rate = RATE, .limit = 2 * BDP, .ecn_threshold = BDP / 2}, .delay = RTT / 2};

static void marks_take_the_place_of_losses(void **state)
{
	const char *cc = *state;

	run(&marking, cc, TCP_ECN_ON);
	assert_true(end.sender.ecn);
	assert_true(end.sender.ece_received > 0);
	assert_true(sim_queue_stats(path.ab.queue)->marks > 0);
	/* Slow start may overshoot before its first mark is back. */
	assert_in_range(percent(), 90, 100);
	assert_int_equal(end.sender.timeouts, 0);
	assert_in_range(end.sender.retransmits, 0, 20);
	over();
}

/** The same queue without: it fills up, and drops. */
static void without_ecn_it_drops(void **state)
{
	uint64_t with, without;

	run(&marking, "cubic", TCP_ECN_ON);
	with = sim_queue_stats(path.ab.queue)->drops;
	over();
	run(&marking, "cubic", TCP_ECN_ACCEPT); /* nobody asks */
	assert_false(end.sender.ecn);
	assert_int_equal(sim_queue_stats(path.ab.queue)->marks, 0);
	without = sim_queue_stats(path.ab.queue)->drops;
	assert_true(without > with);
	over();
}

/** A middlebox that marks every packet that can be: found out, and then no worse than none. */
static void marks_on_everything_are_found_out(void **state)
{
	const struct sim_path_config cfg = {
		.queue = {.rate = RATE, .limit = 2 * BDP}, .delay = RTT / 2, .mark = 1};

	run(&cfg, "cubic", TCP_ECN_ON);
	assert_true(end.sender.ecn);
	assert_in_range(percent(), 85, 100);
	assert_in_range(path.ab.mark->count, 16, 5000);
	over();
}

/** A few marks by chance: as a few losses, but nothing is sent again. */
static void random_marks(void **state)
{
	const struct sim_path_config cfg = {
		.queue = {.rate = RATE, .limit = 2 * BDP}, .delay = RTT / 2, .mark = 0.0005};

	run(&cfg, *state, TCP_ECN_ON);
	assert_true(end.sender.ece_received > 0);
	assert_in_range(percent(), 80, 100);
	assert_int_equal(end.sender.timeouts, 0);
	over();
}

int main(void)
{
	static char *cc[] = {"newreno", "cubic", "bbr"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(marks_take_the_place_of_losses, cc[0]),
		cmocka_unit_test_prestate(marks_take_the_place_of_losses, cc[1]),
		cmocka_unit_test_prestate(marks_take_the_place_of_losses, cc[2]),
		cmocka_unit_test(without_ecn_it_drops),
		cmocka_unit_test(marks_on_everything_are_found_out),
		cmocka_unit_test_prestate(random_marks, cc[0]),
		cmocka_unit_test_prestate(random_marks, cc[1]),
		cmocka_unit_test_prestate(random_marks, cc[2]),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
