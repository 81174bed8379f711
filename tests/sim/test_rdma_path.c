/* SPDX-License-Identifier: BSD-2-Clause */
/** RDMA between two whole hosts over good, lossy, reordering, duplicating and corrupting paths. */
#include "sim/coalesce.h"
#include "sim/nat.h"
#include "sim/rdma_pair.h"
#include "sim/split.h"
#include "sim/strip.h"
#include "tcp/tcp_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define SIZE (4u << 20)

struct path {
	const char *name;
	bool v6;
	struct sim_path_config path;
	void (*box)(struct rdma_pair *p); /**< adds something to both directions; or NULL */
};

#define GBIT UINT64_C(1000000000)

static void resegment(struct rdma_pair *p)
{
	sim_link_prepend(&p->link, sim_coalesce_create(p->sim, 1400, 20 * SIM_US),
		sim_coalesce_create(p->sim, 1400, 20 * SIM_US));
	sim_link_prepend(&p->link, sim_split_create(p->sim, 601), sim_split_create(p->sim, 601));
}

static void strip(struct rdma_pair *p, uint64_t kinds)
{
	sim_link_prepend(
		&p->link, sim_strip_create(p->sim, kinds), sim_strip_create(p->sim, kinds));
}

static void strip_timestamps(struct rdma_pair *p)
{
	strip(p, 1 << TCP_OPT_TS);
}

static void strip_sack(struct rdma_pair *p)
{
	strip(p, 1 << TCP_OPT_SACK_PERMITTED | 1 << TCP_OPT_SACK);
}

static void strip_all(struct rdma_pair *p)
{
	strip(p, UINT64_MAX);
}

static void translate(struct rdma_pair *p)
{
	struct sim_nat *n = sim_nat_create(
		p->sim, &(struct sim_nat_config){.inside = p->a.host, .outside = "10.0.0.77"});

	sim_link_prepend(&p->link, sim_nat_out(n), NULL);
	sim_path_append(&p->link.ba, sim_nat_in(n));
}

static const struct path paths[] = {
	{.name = "clean", .path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "clean v6",
		.v6 = true,
		.path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "long",
		.path = {.queue = {.rate = GBIT, .limit = 16 << 20}, .delay = 50 * SIM_MS}},
	{.name = "loss",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}}},
	{.name = "loss v6",
		.v6 = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}}},
	{.name = "bursts of loss",
		.path = {.queue = {.rate = GBIT},
			.delay = SIM_MS,
			.loss = {.chance = {.enter = 0.001, .leave = 0.1, .bad = 0.5}}}},
	{.name = "reorder",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .reorder = {0.02, SIM_MS / 2}}},
	{.name = "duplicate",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .duplicate = 0.02}},
	{.name = "corrupt", .path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .corrupt = 0.005}},
	{.name = "shaper",
		.path = {.queue = {.rate = GBIT},
			.delay = SIM_MS,
			.shaper = {.bucket = {GBIT / 10, 30000}, .limit = 100000}}},
	{.name = "policer",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .policer = {GBIT / 10, 100000}}},
	{.name = "red",
		.path = {.queue = {.rate = GBIT / 10,
				 .limit = 400000,
				 .red = {50000, 150000, 0.1, 0.002}},
			.delay = SIM_MS}},
	{.name = "everything",
		.path = {.queue = {.rate = GBIT / 5},
			.delay = 5 * SIM_MS,
			.loss = {.chance.good = 0.005},
			.reorder = {0.01, 3 * SIM_MS},
			.duplicate = 0.005,
			.corrupt = 0.002}},
	{.name = "resegmented",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS},
		.box = resegment},
	{.name = "resegmented v6",
		.v6 = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS},
		.box = resegment},
	{.name = "resegmented, loss",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}},
		.box = resegment},
	{.name = "no timestamps",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}},
		.box = strip_timestamps},
	{.name = "no SACK",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}},
		.box = strip_sack},
	{.name = "no options",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}},
		.box = strip_all},
	{.name = "translated",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS},
		.box = translate},
};

static void write_read_send(struct rdma_pair *p)
{
	rdma_fill(p->a.buf, SIZE / 2, 1);
	rdma_post(p, &p->a, RDMAP_WR_WRITE, 0, 0, SIZE / 2);
	rdma_post(p, &p->a, RDMAP_WR_READ, SIZE / 2, 0, SIZE / 4);
	assert_true(rdma_complete(p, &p->a, 2, 120 * SIM_S));
	assert_memory_equal(p->a.buf, p->b.buf, SIZE / 2);
	assert_memory_equal(p->a.buf + SIZE / 2, p->b.buf, SIZE / 4);

	rdma_post_recv(&p->b, SIZE / 2, SIZE / 2);
	rdma_post_recv(&p->a, SIZE / 2, SIZE / 2);
	rdma_fill(p->a.buf, SIZE / 4, 2);
	rdma_post(p, &p->a, RDMAP_WR_SEND, 0, 0, SIZE / 4);
	assert_true(rdma_complete(p, &p->b, 1, 120 * SIM_S));
	assert_memory_equal(p->a.buf, p->b.buf + SIZE / 2, SIZE / 4);
	assert_true(rdma_complete(p, &p->a, 1, 120 * SIM_S));
	rdma_post(p, &p->b, RDMAP_WR_SEND, SIZE / 2, 0, 0);
	assert_true(rdma_complete(p, &p->a, 1, 120 * SIM_S));
}

static void run_path(void **state)
{
	const struct path *path = *state;
	struct sim *s = sim_create(&(struct sim_config){.seed = 42});
	struct rdma_pair p;

	rdma_pair_create(&p, s, &path->path, path->v6, SIZE);
	if (path->box)
		path->box(&p);
	assert_true(rdma_pair_connect(&p, 30 * SIM_S));
	write_read_send(&p);
	rnic_ep_disconnect(p.a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	assert_true(p.a.disconnected);
	assert_true(p.b.disconnected);
	rdma_pair_destroy(&p);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	sim_destroy(s);
}

/** The peer vanishes in the middle of a transfer: both sides learn it and flush. */
static void vanish(void **state)
{
	struct sim *s = sim_create(&(struct sim_config){.seed = 7});
	struct rdma_pair p;

	rdma_pair_create(&p, s, &paths[0].path, false, SIZE);
	assert_true(rdma_pair_connect(&p, 30 * SIM_S));
	rdma_post(&p, &p.a, RDMAP_WR_WRITE, 0, 0, SIZE);
	rdma_post(&p, &p.a, RDMAP_WR_READ, 0, 0, SIZE);
	sim_loss_config(p.link.ab.loss)->chance.good = 1;
	sim_loss_config(p.link.ba.loss)->chance.good = 1;
	assert_false(rdma_complete(&p, &p.a, 2, 600 * SIM_S));
	assert_true(p.a.disconnected);
	assert_int_equal(rnic_qp_get_state(p.a.qp), RNIC_QP_ERROR);
	rdma_pair_destroy(&p);
	sim_destroy(s);
}

int main(void)
{
	struct CMUnitTest tests[sizeof paths / sizeof paths[0] + 1];
	size_t n = sizeof paths / sizeof paths[0];

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = paths[i].name,
			.test_func = run_path,
			.initial_state = (void *)&paths[i]};
	tests[n] = (struct CMUnitTest){.name = "vanish", .test_func = vanish};
	return _cmocka_run_group_tests("rdma_path", tests, n + 1, NULL, NULL);
}
