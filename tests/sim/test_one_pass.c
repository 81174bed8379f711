/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What the network sees does not depend on who goes over the bytes: packets are the same, bit for
 * bit and at the same time, whether their sums are made while MPA copies the payload or by TCP, and
 * whether CRCs of what comes are made while TCP sums it or by MPA.
 * Over paths that lose, so that records are sent again, and with a middlebox that makes the path
 * narrow, so that they are cut.
 */
#include "llp/llp.h"
#include "mpa/crc.h"
#include "mpa/mpa.h"
#include "rnic/qp.h"
#include "sim/mtu.h"
#include "sim/rdma_pair.h"
#include "sim/tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GBIT UINT64_C(1000000000)
#define SIZE (256u << 10)
#define OPS  40
#define MOST 20000

struct seen {
	uint64_t at;
	uint32_t len, crc;
};

/** All that was sent in a run. */
struct record {
	struct seen packet[MOST];
	unsigned n;
};

struct stage {
	const char *name;
	bool v6;
	struct sim_path_config path;
	uint16_t narrow; /* MTU of a middlebox; 0: none */
};

static struct record runs[2];

static void note(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct record *r = ctx;
	uint32_t crc = MPA_CRC_START;

	assert_true(r->n < MOST);
	for (const struct rte_mbuf *part = m; part; part = part->next)
		crc = mpa_crc_add(crc, rte_pktmbuf_mtod(part, const void *), part->data_len);
	r->packet[r->n++] = (struct seen){now, m->pkt_len, crc};
}

/* ---- an LLP and a user that know nothing of each other ----------------------------------------
 */

static unsigned asked, covered;

static bool sums_itself(const struct llp *l)
{
	asked++;
	return false;
}

static const struct llp_user_ops *real_ops;

static size_t count_covered(const void *user, const uint8_t *text, size_t len)
{
	size_t n = real_ops->crc_covers(user, text, len);

	covered += n != 0;
	return n;
}

static void watch(struct rdma_side *side, bool one_pass)
{
	static struct llp_user_ops user_ops;
	static struct llp_ops ops;
	struct llp *l = side->qp->rdmap.mpa->llp;

	if (l->user_ops != &user_ops)
		real_ops = l->user_ops;
	user_ops = *real_ops;
	user_ops.crc_covers = one_pass ? count_covered : NULL;
	l->user_ops = &user_ops;
	if (one_pass)
		return;
	assert_true(llp_sums(l)); /* else both runs were the same */
	ops = *l->ops;
	ops.sums = sums_itself;
	l->ops = &ops;
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static void post_all(struct rdma_pair *p, struct prng *random)
{
	for (unsigned i = 0; i < OPS; i++) {
		uint32_t len = (uint32_t)prng_below(random, i % 4 == 0 ? 200 : 20000);
		size_t local = prng_below(random, SIZE / 2), remote = prng_below(random, SIZE / 4);
		bool read = prng_chance(random, 0.3);

		/* Reads go where no Write comes from. */
		rdma_post(p, &p->a, read ? RDMAP_WR_READ : RDMAP_WR_WRITE,
			read ? SIZE - 20000 : local, remote, len);
		if (i % 8 == 7)
			assert_true(rdma_complete(p, &p->a, 8, 120 * SIM_S));
	}
}

/* A black hole. */
static struct sim_element *narrow(struct sim *s, uint16_t mtu)
{
	return sim_mtu_element(sim_mtu_create(s, &(struct sim_mtu_config){.mtu = mtu}));
}

/* Its port makes no checksums. */
static struct sim_host *host(struct sim *s, const char *address)
{
	return sim_host_create(
		s, &(struct sim_host_config){.address = address, .no_offload = true});
}

static void run(const struct stage *stage, bool one_pass, struct record *r)
{
	struct sim *s = sim_create(&(struct sim_config){.seed = 1071});
	struct prng random = {5044};
	struct rdma_pair p;

	r->n = 0;
	rdma_pair_create_on(&p, host(s, stage->v6 ? "fd00::1/64" : "10.0.0.1/24"),
		host(s, stage->v6 ? "fd00::2/64" : "10.0.0.2/24"), 7174, SIZE);
	sim_join(p.a.host, p.b.host, &stage->path, NULL, &p.link);
	if (stage->narrow)
		sim_link_prepend(&p.link, narrow(s, stage->narrow), narrow(s, stage->narrow));
	sim_link_prepend(&p.link, sim_tap_create(s, note, r), sim_tap_create(s, note, r));
	for (size_t i = 0; i < SIZE; i++)
		p.a.buf[i] = p.b.buf[i] = (uint8_t)prng_u64(&random);
	assert_true(rdma_pair_connect(&p, 30 * SIM_S));
	watch(&p.a, one_pass);
	watch(&p.b, one_pass);
	post_all(&p, &random);
	rnic_ep_disconnect(p.a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	rdma_pair_destroy(&p);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	sim_destroy(s);
}

static void packets_are_the_same(void **state)
{
	const struct stage *stage = *state;

	asked = covered = 0;
	run(stage, true, &runs[0]);
	assert_int_equal(asked, 0);
	if (!stage->narrow) /* there, nothing is aligned */
		assert_true(covered > OPS);
	run(stage, false, &runs[1]);
	assert_true(asked > OPS);
	assert_true(runs[0].n > OPS);
	assert_int_equal(runs[0].n, runs[1].n);
	for (unsigned i = 0; i < runs[0].n; i++) {
		const struct seen *a = &runs[0].packet[i], *b = &runs[1].packet[i];

		if (a->at != b->at || a->len != b->len || a->crc != b->crc)
			fail_msg("packet %u of %u differs, of %u bytes", i, runs[0].n, a->len);
	}
}

static const struct stage stages[] = {
	{.name = "clean", .path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "loss",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.02}}},
	{.name = "loss v6",
		.v6 = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.02}}},
	{.name = "narrow",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}},
		.narrow = 1000},
};

int main(void)
{
	struct CMUnitTest tests[sizeof stages / sizeof stages[0]];
	size_t n = sizeof stages / sizeof stages[0];

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = stages[i].name,
			.test_func = packets_are_the_same,
			.initial_state = (void *)&stages[i]};
	return _cmocka_run_group_tests("one_pass", tests, n, NULL, NULL);
}
