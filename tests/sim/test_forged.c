/* SPDX-License-Identifier: BSD-2-Clause */
/** Others say by ARP or ND that a peer's address is theirs: liars, and routers that take over. */
#include "sim/forger.h"
#include "sim/rdma_writes.h"
#include "support/thorough.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define SIZE    (1u << 20)
#define SECONDS 20
#define BEGIN   3 /* s, when it begins, and when it ends */
#define END     8

struct forged {
	const char *name;
	bool v6, both;               /**< the owner is lied to as well, about the victim */
	struct sim_forger_acts acts; /**< from BEGIN to END */
	unsigned gap;                /**< seconds after which pieces arrive again, counted from: */
	unsigned from;
};

static const struct forged cases[] = {
	{.name = "claims", .both = true, .acts = {.claims = true}, .from = BEGIN},
	{.name = "claims, ND", .v6 = true, .both = true, .acts = {.claims = true}, .from = BEGIN},
	{.name = "claims and answers",
		.both = true,
		.acts = {.claims = true, .answers = true},
		.from = BEGIN},
	{.name = "claims and answers, ND",
		.v6 = true,
		.both = true,
		.acts = {.claims = true, .answers = true},
		.from = BEGIN},
	/* The owner cannot be asked: the forger must be believed, but for no longer than it acts.
	 */
	{.name = "owner is silenced",
		.both = true,
		.acts = {.claims = true, .silences = true},
		.gap = 3,
		.from = END},
	{.name = "owner is silenced, ND",
		.v6 = true,
		.both = true,
		.acts = {.claims = true, .silences = true},
		.gap = 3,
		.from = END},
	{.name = "owner is silenced, forger answers",
		.both = true,
		.acts = {.claims = true, .silences = true, .answers = true},
		.gap = 3,
		.from = END},
	{.name = "owner is silenced, forger answers, ND",
		.v6 = true,
		.both = true,
		.acts = {.claims = true, .silences = true, .answers = true},
		.gap = 3,
		.from = END},
	/* A router, which takes the address of one that is dead. */
	{.name = "takeover",
		.acts = {.claims = true, .silences = true, .answers = true, .forwards = true},
		.gap = 2,
		.from = BEGIN},
	{.name = "takeover, ND",
		.v6 = true,
		.acts = {.claims = true, .silences = true, .answers = true, .forwards = true},
		.gap = 2,
		.from = BEGIN},
};

static struct rdma_pair pair;
static struct sim *s;
static struct sim_forger *forger[2];

static void forgers_create(const struct forged *c)
{
	struct sim_forger_config fc = {
		.victim = pair.a.host, .owner = pair.b.host, .mac = {2, 6, 6, 6, 6, 1}};

	forger[0] = sim_forger_create(s, &fc);
	sim_link_prepend(&pair.link, sim_forger_out(forger[0]), NULL);
	sim_path_append(&pair.link.ba, sim_forger_in(forger[0]));
	forger[1] = NULL;
	if (!c->both)
		return;
	fc = (struct sim_forger_config){
		.victim = pair.b.host, .owner = pair.a.host, .mac = {2, 6, 6, 6, 6, 2}};
	forger[1] = sim_forger_create(s, &fc);
	sim_link_prepend(&pair.link, NULL, sim_forger_out(forger[1]));
	sim_path_append(&pair.link.ab, sim_forger_in(forger[1]));
}

static void forgers_set(const struct sim_forger_acts *acts)
{
	for (unsigned i = 0; i < 2 && forger[i]; i++)
		sim_forger_set(forger[i], acts);
}

static void forgers_begin(void *ctx)
{
	forgers_set(&((const struct forged *)ctx)->acts);
}

static void forgers_end(void *ctx)
{
	forgers_set(&(struct sim_forger_acts){0});
}

static void pair_create(const struct forged *c)
{
	const struct sim_path_config path = {
		.queue = {.rate = 100000000, .limit = 250000}, .delay = SIM_MS / 2};

	s = sim_create(&(struct sim_config){.seed = 17});
	rdma_pair_create(&pair, s, &path, c->v6, SIZE);
	forgers_create(c);
}

static void pair_end(void)
{
	rnic_ep_disconnect(pair.a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	assert_true(pair.a.disconnected && pair.b.disconnected);
	rdma_pair_destroy(&pair);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	sim_destroy(s);
}

static void forged(void **state)
{
	const struct forged *c = *state;
	unsigned done[SECONDS] = {0};
	bool lied = !c->acts.forwards;

	pair_create(c);
	assert_true(rdma_pair_connect(&pair, 10 * SIM_S));
	sim_at(s, sim_now(s) + BEGIN * SIM_S, forgers_begin, (void *)c);
	if (lied)
		sim_at(s, sim_now(s) + END * SIM_S, forgers_end, NULL);
	assert_true(rdma_writes_run(&pair, SECONDS, 20 * SIM_S, done));
	assert_true(sim_forger_stats(forger[0])->said >= 50);
	/* The line takes 190 pieces a second. Nothing was lost by lies that were not believed. */
	for (unsigned i = c->from + c->gap; i < SECONDS; i++)
		assert_true(done[i] > (c->gap ? 100 : 160));
	if (!c->acts.silences)
		assert_int_equal(sim_forger_stats(forger[0])->got, 0);
	if (!lied)
		assert_true(sim_forger_stats(forger[0])->got > 1000);
	pair_end();
}

/** Before anybody knows anybody the first answer is believed: it is the forger's, at both ends. */
static void forged_from_the_start(void **state)
{
	const struct forged *c = *state;

	pair_create(c);
	sim_run(s, 5 * SIM_S, NULL, NULL); /* the addresses have announced themselves */
	forgers_set(&c->acts);
	assert_true(rdma_pair_connect(&pair, 20 * SIM_S));
	rdma_post(&pair, &pair.a, RDMAP_WR_WRITE, 0, 0, SIZE);
	rdma_post(&pair, &pair.a, RDMAP_WR_READ, 0, 0, SIZE);
	assert_true(rdma_complete(&pair, &pair.a, 2, 10 * SIM_S));
	assert_true(sim_forger_stats(forger[0])->got > 0);
	forgers_end(NULL);
	pair_end();
}

static const struct forged starts[] = {
	{.name = "first answer is forged", .both = true, .acts = {.claims = true, .answers = true}},
	{.name = "first answer is forged, ND",
		.v6 = true,
		.both = true,
		.acts = {.claims = true, .answers = true}},
};

#define N_CASES  (sizeof cases / sizeof cases[0])
#define N_STARTS (sizeof starts / sizeof starts[0])

int main(void)
{
	struct CMUnitTest tests[N_CASES + N_STARTS];
	size_t n = 0;

	for (size_t i = 0; i < N_CASES; i += THOROUGH_STEP(3))
		tests[n++] = (struct CMUnitTest){.name = cases[i].name,
			.test_func = forged,
			.initial_state = (void *)(uintptr_t)&cases[i]};
	for (size_t i = 0; i < N_STARTS; i++)
		tests[n++] = (struct CMUnitTest){.name = starts[i].name,
			.test_func = forged_from_the_start,
			.initial_state = (void *)(uintptr_t)&starts[i]};
	return _cmocka_run_group_tests("forged", tests, n, NULL, NULL);
}
