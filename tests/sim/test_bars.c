/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How much of a path is used, in virtual time: without loss, with random loss, with reordering; and
 * how two flows share. Each bar exists twice: short, and (as `test_bars full`) at its full
 * rate and time.
 */
#include "sim/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define MBIT UINT64_C(1000000)
#define GBIT UINT64_C(1000000000)

struct bar {
	const char *name;
	uint64_t rate, short_rate;
	uint64_t rtt;
	uint64_t time, short_time;
	const char *cc;
	double loss;
	double reorder; /**< by up to half a round trip */
	double least;   /**< of the line, after 5 s */
	bool model;     /**< least is what RFC 9438 expects for this loss */
	bool no_rto;
	bool steady; /**< no part of the time is much worse: a reduction that lasts would show */
};

static const struct bar bars[] = {
	{.name = "no loss, 1 ms, cubic",
		.rate = 10 * GBIT,
		.short_rate = GBIT,
		.rtt = SIM_MS,
		.cc = "cubic",
		.least = 0.97},
	{.name = "no loss, 10 ms, cubic",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 2,
		.rtt = 10 * SIM_MS,
		.cc = "cubic",
		.least = 0.97},
	{.name = "no loss, 100 ms, cubic",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 5,
		.rtt = 100 * SIM_MS,
		.cc = "cubic",
		.least = 0.97},
	{.name = "no loss, 1 ms, bbr",
		.rate = 10 * GBIT,
		.short_rate = GBIT,
		.rtt = SIM_MS,
		.cc = "bbr",
		.least = 0.97},
	{.name = "no loss, 10 ms, bbr",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 2,
		.rtt = 10 * SIM_MS,
		.cc = "bbr",
		.least = 0.97},
	{.name = "no loss, 100 ms, bbr",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 5,
		.rtt = 100 * SIM_MS,
		.cc = "bbr",
		.least = 0.97},
	{.name = "0.01 % loss, bbr",
		.rate = GBIT,
		.short_rate = GBIT / 4,
		.rtt = 100 * SIM_MS,
		.cc = "bbr",
		.loss = 0.0001,
		.least = 0.90},
	{.name = "0.01 % loss, cubic",
		.rate = GBIT,
		.short_rate = GBIT / 4,
		.rtt = 100 * SIM_MS,
		.short_time = 60 * SIM_S,
		.cc = "cubic",
		.loss = 0.0001,
		.model = true},
	{.name = "1 % loss, bbr",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 4,
		.rtt = 100 * SIM_MS,
		.cc = "bbr",
		.loss = 0.01,
		.least = 0.85,
		.no_rto = true},
	{.name = "1 % loss, cubic",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 4,
		.rtt = 100 * SIM_MS,
		.cc = "cubic",
		.short_time = 60 * SIM_S,
		.loss = 0.01,
		.no_rto = true},
	{.name = "reordering, cubic",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 4,
		.rtt = 100 * SIM_MS,
		.cc = "cubic",
		.reorder = 0.01,
		.least = 0.95,
		.steady = true},
	{.name = "reordering, bbr",
		.rate = 10 * GBIT,
		.short_rate = GBIT / 4,
		.rtt = 100 * SIM_MS,
		.cc = "bbr",
		.reorder = 0.01,
		.least = 0.95,
		.steady = true},
};

static bool full;

static void print_verdict(const char *name, double got, double wanted, const char *unit)
{
	print_message("  %s: %.2f %s, at least %.2f\n", name, got, unit, wanted);
}

/** Every five seconds by themselves. */
static void expect_steady(const struct sim_scenario *x, double line)
{
	for (uint64_t t = x->cfg.settle; t < x->cfg.duration; t += 5 * SIM_S) {
		double got = sim_scenario_goodput(x, 0, t, t + 5 * SIM_S);

		print_verdict("its five seconds", got / 1e6, 0.9 * line / 1e6, "Mbit/s");
		assert_true(got >= 0.9 * line);
	}
}

static void run_once(const struct bar *b, uint64_t seed)
{
	struct sim_scenario_config c = {.seed = seed,
		.rate = full ? b->rate : b->short_rate,
		.rtt = b->rtt,
		.duration = full            ? 60 * SIM_S
			    : b->short_time ? b->short_time
					    : 15 * SIM_S,
		.poll = 10 * SIM_US,
		.n_flows = 1,
		.forward = {.loss.chance.good = b->loss, .reorder = {b->reorder, b->rtt / 2}},
		.flow[0] = {.kind = SIM_FLOW_RDMA, .cc = b->cc}};
	struct sim_scenario *x = sim_scenario_create(&c);
	struct sim_flow_state f;
	double got, line, least, model;

	sim_scenario_run(x);
	sim_report_print(x, stdout);
	sim_flow_get(x->flow[0], &f);
	line = sim_scenario_capacity(x, 0);
	got = sim_scenario_goodput(x, 0, x->cfg.settle, c.duration);
	model = b->loss > 0 ? sim_report_cubic_model(x, b->loss, b->rtt) : 0;
	least = b->model ? model : b->least * line;
	if (b->loss > 0 && strcmp(b->cc, "cubic") == 0)
		print_message(
			"  RFC 9438 section 5 expects, in a round trip, the greater of (C (3 + "
			"beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4) and (3/2 / p)^(1/2) "
			"segments: %.2f Mbit/s\n",
			model / 1e6);
	print_verdict(b->name, got / 1e6, least / 1e6, "Mbit/s");
	assert_false(f.failed);
	assert_true(f.writes > 0);
	assert_true(got >= least);
	assert_true(got <= 1.02 * line);
	if (b->no_rto)
		assert_int_equal(f.sender.timeouts, 0);
	if (b->steady)
		expect_steady(x, line);
	sim_scenario_destroy(x);
}

static void run_bar(void **state)
{
	const struct bar *b = *state;

	/* What a model says of the mean is not for one run of chance. */
	for (uint64_t seed = 1; seed <= (full && b->model ? 5 : 1); seed++)
		run_once(b, seed);
}

/* ---- two flows --------------------------------------------------------------------------- */

/** The second begins 20 s after the first; the last 20 s count. */
static struct sim_scenario *run_two(const char *first, const char *second, uint64_t rtt)
{
	struct sim_scenario_config c = {.seed = 1,
		.rate = full ? 10 * GBIT : 100 * MBIT,
		.rtt = rtt,
		.duration = 60 * SIM_S,
		.n_flows = 2,
		.poll = 10 * SIM_US,
		.flow = {{.kind = SIM_FLOW_RDMA, .cc = first},
			{.kind = SIM_FLOW_RDMA, .cc = second, .start = 20 * SIM_S}}};
	struct sim_scenario *x = sim_scenario_create(&c);

	sim_scenario_run(x);
	sim_report_print(x, stdout);
	return x;
}

static void cubic_with_cubic(void **state)
{
	/* A period of CUBIC's growth must be short enough for a dozen of them in 40 s (RFC 9438,
	 * equation 2): at 1 Gbit/s and 20 ms it lasts 13 s, and chance in the second flow's slow
	 * start decides. */
	struct sim_scenario *x = run_two("cubic", "cubic", full ? SIM_MS : 20 * SIM_MS);
	double fair = sim_scenario_fairness(x, 40 * SIM_S, 60 * SIM_S);

	print_verdict("cubic with cubic", fair, 0.95, "(Jain's index)");
	assert_true(fair >= 0.95);
	sim_scenario_destroy(x);
}

/**
 * RFC 9438 section 5.1: where Reno performs well, CUBIC is at least as good and not much more
 * aggressive: here in the Reno-friendly region, at a short round trip, or a small window.
 */
static void cubic_with_newreno(void **state)
{
	struct sim_scenario_config c = {.seed = 1,
		.rate = full ? 10 * GBIT : 10 * MBIT,
		.rtt = full ? SIM_MS : 10 * SIM_MS,
		.queue = full ? 0 : 30000,
		.poll = full ? 10 * SIM_US : 0,
		.duration = full ? 60 * SIM_S : 120 * SIM_S,
		.settle = 20 * SIM_S,
		.n_flows = 2,
		.flow = {{.kind = SIM_FLOW_RDMA, .cc = "cubic"},
			{.kind = SIM_FLOW_RDMA, .cc = "newreno"}}};
	struct sim_scenario *x = sim_scenario_create(&c);
	double cubic, reno;

	sim_scenario_run(x);
	sim_report_print(x, stdout);
	cubic = sim_scenario_goodput(x, 0, c.settle, c.duration);
	reno = sim_scenario_goodput(x, 1, c.settle, c.duration);
	print_verdict("cubic with newreno", reno / cubic, 0.5, "times cubic's for newreno");
	assert_true(reno / cubic >= 0.5 && reno / cubic <= 2);
	sim_scenario_destroy(x);
}

/**
 * Losses are no reason to leave Startup below the path's rate, or to be kept there by the peer's
 * window: with 1 % of them, from the first byte on, whatever chance brings.
 */
static void startup_under_loss(void **state)
{
	struct sim_scenario_config c = {.rate = full ? GBIT : GBIT / 5,
		.rtt = 100 * SIM_MS,
		.duration = 6 * SIM_S,
		.poll = 20 * SIM_US,
		.n_flows = 1,
		.forward.loss.chance.good = 0.01,
		.flow[0] = {.kind = SIM_FLOW_STREAM, .cc = "bbr"}};
	const double least = full ? 0.6 : 0.65;

	for (c.seed = 1; c.seed <= (full ? 20 : 8); c.seed++) {
		struct sim_scenario *x = sim_scenario_create(&c);
		double got, line;

		sim_scenario_run(x);
		line = sim_scenario_capacity(x, 0);
		got = sim_scenario_goodput(x, 0, 0, c.duration);
		print_verdict("startup under loss", got / 1e6, least * line / 1e6, "Mbit/s");
		assert_true(got >= least * line);
		sim_scenario_destroy(x);
	}
}

#define N_BARS (sizeof bars / sizeof bars[0])

int main(int argc, char **argv)
{
	struct CMUnitTest tests[N_BARS + 3];

	full = argc > 1 && strcmp(argv[1], "full") == 0;
	if (argc > 2)
		cmocka_set_test_filter(argv[2]);
	for (size_t i = 0; i < N_BARS; i++)
		tests[i] = (struct CMUnitTest){.name = bars[i].name,
			.test_func = run_bar,
			.initial_state = (void *)(uintptr_t)&bars[i]};
	tests[N_BARS] =
		(struct CMUnitTest){.name = "cubic with cubic", .test_func = cubic_with_cubic};
	tests[N_BARS + 1] =
		(struct CMUnitTest){.name = "cubic with newreno", .test_func = cubic_with_newreno};
	tests[N_BARS + 2] =
		(struct CMUnitTest){.name = "startup under loss", .test_func = startup_under_loss};
	return _cmocka_run_group_tests("bars", tests, N_BARS + 3, NULL, NULL);
}
