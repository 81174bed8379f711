/* SPDX-License-Identifier: BSD-2-Clause */
/** RDMA between two whole hosts over good, lossy, reordering, duplicating and corrupting paths. */
#include "sim/rdma_pair.h"

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
};

#define GBIT UINT64_C(1000000000)

static const struct path paths[] = {
	{"clean", false, {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{"clean v6", true, {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{"long", false, {.queue = {.rate = GBIT, .limit = 16 << 20}, .delay = 50 * SIM_MS}},
	{"loss", false, {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}}},
	{"loss v6", true,
		{.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}}},
	{"bursts of loss", false,
		{.queue = {.rate = GBIT},
			.delay = SIM_MS,
			.loss = {.chance = {.enter = 0.001, .leave = 0.1, .bad = 0.5}}}},
	{"reorder", false,
		{.queue = {.rate = GBIT}, .delay = SIM_MS, .reorder = {0.02, SIM_MS / 2}}},
	{"duplicate", false, {.queue = {.rate = GBIT}, .delay = SIM_MS, .duplicate = 0.02}},
	{"corrupt", false, {.queue = {.rate = GBIT}, .delay = SIM_MS, .corrupt = 0.005}},
	{"shaper", false,
		{.queue = {.rate = GBIT},
			.delay = SIM_MS,
			.shaper = {.bucket = {GBIT / 10, 30000}, .limit = 100000}}},
	{"policer", false,
		{.queue = {.rate = GBIT}, .delay = SIM_MS, .policer = {GBIT / 10, 100000}}},
	{"red", false,
		{.queue = {.rate = GBIT / 10, .limit = 400000, .red = {50000, 150000, 0.1, 0.002}},
			.delay = SIM_MS}},
	{"everything", false,
		{.queue = {.rate = GBIT / 5},
			.delay = 5 * SIM_MS,
			.loss = {.chance.good = 0.005},
			.reorder = {0.01, 3 * SIM_MS},
			.duplicate = 0.005,
			.corrupt = 0.002}},
};

static void fill(uint8_t *p, size_t n, uint32_t x)
{
	while (n--) {
		x = x * 1664525 + 1013904223;
		*p++ = (uint8_t)(x >> 24);
	}
}

static void write_read_send(struct rdma_pair *p)
{
	fill(p->a.buf, SIZE / 2, 1);
	rdma_post(p, &p->a, RDMAP_WR_WRITE, 0, 0, SIZE / 2);
	rdma_post(p, &p->a, RDMAP_WR_READ, SIZE / 2, 0, SIZE / 4);
	assert_true(rdma_complete(p, &p->a, 2, 120 * SIM_S));
	assert_memory_equal(p->a.buf, p->b.buf, SIZE / 2);
	assert_memory_equal(p->a.buf + SIZE / 2, p->b.buf, SIZE / 4);

	rdma_post_recv(&p->b, SIZE / 2, SIZE / 2);
	rdma_post_recv(&p->a, SIZE / 2, SIZE / 2);
	fill(p->a.buf, SIZE / 4, 2);
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
