/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Placement out of order between whole hosts (docs/placement.md): what a receiver holds while
 * packets are lost, and that what programs see is the same as without.
 */
#include "sim/rdma_pair.h"
#include "tcp/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define GBIT UINT64_C(1000000000)

/* ---- the stage --------------------------------------------------------------------------- */

struct choice {
	const char *name;
	bool in_order, crc_off;
	bool markers_to_a, markers_to_b;
	struct sim_path_config path;
	uint64_t seed;
};

static struct sim_host *host(
	struct sim *s, const struct choice *ch, const char *address, bool markers)
{
	const struct sim_host_config c = {.address = address,
		.tcp = {.congestion_control = "bbr"},
		.rnic.mpa = {.revision = 2,
			.crc = ch->crc_off ? MPA_CRC_OFF : MPA_CRC_PREFERRED,
			.rtr = MPA_RTR_WRITE | MPA_RTR_READ,
			.markers = markers,
			.in_order = ch->in_order}};

	return sim_host_create(s, &c);
}

static void start(struct rdma_pair *p, struct sim *s, const struct choice *ch, size_t size)
{
	struct sim_host *a = host(s, ch, "10.0.0.1/24", ch->markers_to_a);
	struct sim_host *b = host(s, ch, "10.0.0.2/24", ch->markers_to_b);

	rdma_pair_create_on(p, a, b, 7174, size);
	sim_join(a, b, &ch->path, NULL, &p->link);
	assert_true(rdma_pair_connect(p, 30 * SIM_S));
}

static void end(struct rdma_pair *p, struct sim *s)
{
	rnic_ep_disconnect(p->a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	assert_true(p->a.disconnected && p->b.disconnected);
	rdma_pair_destroy(p);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	sim_destroy(s);
}

static const struct tcp_stats *stats(const struct rdma_side *side)
{
	return tcp_stack_stats(sim_host_tcp(side->host));
}

/* ---- memory ------------------------------------------------------------------------------ */

#define FLOW_SIZE (16u << 20)
#define WRITE_LEN (256u * 1024)

struct flow {
	struct rdma_pair p;
	unsigned completed;
	uint32_t most; /* packets held by the receiver, ever */
};

static bool watch(void *ctx)
{
	struct flow *f = ctx;
	uint32_t held = sim_host_tcp(f->p.b.host)->rx_held;
	struct rnic_wc wc;

	if (held > f->most)
		f->most = held;
	while (rnic_cq_poll(f->p.a.cq, 1, &wc) == 1) {
		assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
		f->completed++;
	}
	return rnic_cq_poll(f->p.b.cq, 1, &wc) == 1;
}

/* Writes that fill the buffer, then a Send: when it is delivered all of them must be there. */
static void write_flow(struct flow *f, const struct choice *ch)
{
	struct sim *s = sim_create(&(struct sim_config){.seed = 5});
	struct prng random = {9};

	*f = (struct flow){.completed = 0};
	start(&f->p, s, ch, FLOW_SIZE);
	for (size_t i = 0; i < FLOW_SIZE; i++)
		f->p.a.buf[i] = (uint8_t)prng_u64(&random);
	rdma_post_recv(&f->p.b, 0, 0);
	for (size_t at = 0; at < FLOW_SIZE; at += 2 * WRITE_LEN) /* half of them: others stay */
		rdma_post(&f->p, &f->p.a, RDMAP_WR_WRITE, at, at, WRITE_LEN);
	rdma_post(&f->p, &f->p.a, RDMAP_WR_SEND, 0, 0, 0);
	assert_true(sim_run(s, 120 * SIM_S, watch, f));
	for (size_t at = 0; at < FLOW_SIZE; at += 2 * WRITE_LEN) {
		static const uint8_t untouched[WRITE_LEN];

		assert_memory_equal(f->p.a.buf + at, f->p.b.buf + at, WRITE_LEN);
		assert_memory_equal(f->p.b.buf + at + WRITE_LEN, untouched, WRITE_LEN);
	}
	print_message("  %-23s %4u packets held at most, %lu of %lu early segments placed\n",
		ch->name, f->most, (unsigned long)stats(&f->p.b)->taken_ooo,
		(unsigned long)stats(&f->p.b)->out_of_order);
}

static void run_flow(void **state)
{
	const struct choice *with = *state;
	struct choice without = *with;
	struct flow f;
	uint64_t taken, early;
	uint32_t most;

	write_flow(&f, with);
	most = f.most;
	taken = stats(&f.p.b)->taken_ooo;
	early = stats(&f.p.b)->out_of_order;
	end(&f.p, f.p.sim);
	without.in_order = true;
	without.name = "... in order";
	write_flow(&f, &without);
	assert_int_equal(stats(&f.p.b)->taken_ooo, 0);
	assert_true(f.most > 300);
	assert_true(most <= f.most / 10 + 8);
	assert_true(taken >= early / 100 * 98);
	end(&f.p, f.p.sim);
}

#define LONG_PATH .queue = {.rate = GBIT, .limit = 4 << 20}, .delay = 10 * SIM_MS

static const struct choice flows[] = {
	{.name = "loss", .path = {LONG_PATH, .loss = {.chance.good = 0.01}}},
	{.name = "reordering", .path = {LONG_PATH, .reorder = {0.01, 8 * SIM_MS}}},
	{.name = "bursts of loss",
		.path = {LONG_PATH,
			.loss = {.chance = {.enter = 0.001, .leave = 0.1, .bad = 0.5}}}},
	{.name = "loss, markers",
		.markers_to_b = true,
		.path = {LONG_PATH, .loss = {.chance.good = 0.01}}},
	{.name = "loss, markers, no CRC",
		.markers_to_b = true,
		.crc_off = true,
		.path = {LONG_PATH, .loss = {.chance.good = 0.01}}},
};

/* Without CRCs or markers nothing says where an FPDU begins. */
static void no_proof(void **state)
{
	const struct choice ch = {.name = "loss, no CRC",
		.crc_off = true,
		.path = {LONG_PATH, .loss = {.chance.good = 0.01}}};
	struct flow f;

	write_flow(&f, &ch);
	assert_int_equal(stats(&f.p.b)->taken_ooo, 0);
	end(&f.p, f.p.sim);
}

/* ---- everything at once ------------------------------------------------------------------ */

#define SIZE   (2u << 20)
#define AREA   (SIZE / 4) /* sources; written by the peer; received into; read into */
#define OPS    10
#define ROUNDS 8

struct op {
	enum rdmap_wr_op op;
	size_t local, remote; /* a Send: where it should arrive */
	uint32_t len;
};

struct actor {
	struct rdma_side *us, *peer;
	struct op op[OPS];
	unsigned ops, sends, done; /* own completions */
	unsigned received;         /* of the peer's Sends */
	struct actor *other;
};

struct soak {
	struct rdma_pair p;
	struct actor actor[2];
	struct prng random;
};

static void plan(struct soak *x, struct actor *a)
{
	static const enum rdmap_wr_op kinds[] = {RDMAP_WR_WRITE, RDMAP_WR_SEND, RDMAP_WR_READ};
	size_t area[] = {AREA, 2 * AREA, 3 * AREA}, source = 0;

	a->ops = 1 + prng_below(&x->random, OPS);
	a->sends = a->done = a->received = 0;
	for (unsigned i = 0; i < a->ops; i++) {
		/* The last is a Read: with its answer, all before it has been delivered. */
		uint32_t k = i + 1 == a->ops ? 2 : prng_below(&x->random, 3),
			 max = prng_below(&x->random, 2) ? 200 : 48000;
		uint32_t len = prng_below(&x->random, max);

		a->op[i] = (struct op){kinds[k], source, area[k], len};
		if (kinds[k] == RDMAP_WR_READ) /* from where the peer's sources are */
			a->op[i] = (struct op){kinds[k], area[k], source, len};
		a->sends += kinds[k] == RDMAP_WR_SEND;
		source += len;
		area[k] += len;
	}
	for (size_t i = 0; i < AREA; i++)
		a->us->buf[i] = (uint8_t)prng_u64(&x->random);
	memset(a->us->buf + AREA, 0, SIZE - AREA);
}

static void check_op(const struct actor *a, const struct op *op)
{
	assert_memory_equal(a->us->buf + op->local, a->peer->buf + op->remote, op->len);
}

/*
 * RFC 5040 section 5.5 rule 10: now that this Send is delivered, all Writes and Sends before it are
 * where they belong.
 */
static void delivered(const struct actor *from, unsigned n, uint32_t len)
{
	for (unsigned i = 0; i < from->ops; i++) {
		const struct op *op = &from->op[i];

		if (op->op != RDMAP_WR_READ)
			check_op(from, op);
		if (op->op != RDMAP_WR_SEND || n-- != 0)
			continue;
		assert_int_equal(op->len, len);
		return;
	}
	fail();
}

static bool poll(struct actor *a)
{
	struct rnic_wc wc;

	while (rnic_cq_poll(a->us->cq, 1, &wc) == 1) {
		assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
		if (wc.wc.op == RDMAP_WC_RECV) {
			delivered(a->other, a->received++, wc.wc.byte_len);
			continue;
		}
		/* In the order of posting; a Read is all here. */
		if (a->op[a->done].op == RDMAP_WR_READ) {
			assert_int_equal(wc.wc.op, RDMAP_WC_READ);
			check_op(a, &a->op[a->done]);
		}
		a->done++;
	}
	return a->done == a->ops && a->received == a->other->sends;
}

static bool all_done(void *ctx)
{
	struct soak *x = ctx;
	bool one = poll(&x->actor[0]), two = poll(&x->actor[1]);

	return one && two;
}

static void post(struct soak *x, struct actor *a)
{
	for (unsigned i = 0; i < a->ops; i++)
		rdma_post(&x->p, a->us, a->op[i].op, a->op[i].local, a->op[i].remote, a->op[i].len);
}

static void post_receives(struct actor *a)
{
	for (unsigned i = 0; i < a->other->ops; i++) {
		const struct op *op = &a->other->op[i];

		if (op->op == RDMAP_WR_SEND)
			rdma_post_recv(a->us, op->remote, op->len);
	}
}

/* What nobody wrote to is as it was. */
static void check_rest(const struct actor *a)
{
	static const enum rdmap_wr_op kinds[] = {RDMAP_WR_WRITE, RDMAP_WR_SEND, RDMAP_WR_READ};

	for (unsigned k = 0; k < 3; k++) {
		const struct actor *by = kinds[k] == RDMAP_WR_READ ? a : a->other;
		size_t at = (k + 1) * AREA;

		for (unsigned i = 0; i < by->ops; i++)
			at += by->op[i].op == kinds[k] ? by->op[i].len : 0;
		for (; at < (k + 2) * AREA; at++)
			assert_int_equal(a->us->buf[at], 0);
	}
}

static void run_soak(void **state)
{
	const struct choice *ch = *state;
	struct sim *s = sim_create(&(struct sim_config){.seed = ch->seed});
	struct soak x = {.random = {ch->seed}};

	start(&x.p, s, ch, SIZE);
	for (unsigned i = 0; i < 2; i++)
		x.actor[i] = (struct actor){.us = i ? &x.p.b : &x.p.a,
			.peer = i ? &x.p.a : &x.p.b,
			.other = &x.actor[!i]};
	for (unsigned i = 0; i < ROUNDS; i++) {
		plan(&x, &x.actor[0]);
		plan(&x, &x.actor[1]);
		post_receives(&x.actor[0]);
		post_receives(&x.actor[1]);
		post(&x, &x.actor[0]);
		post(&x, &x.actor[1]);
		assert_true(sim_run(s, 120 * SIM_S, all_done, &x));
		check_rest(&x.actor[0]);
		check_rest(&x.actor[1]);
	}
	assert_true(stats(&x.p.a)->taken_ooo + stats(&x.p.b)->taken_ooo > 20);
	end(&x.p, s);
}

#define BAD_PATH                                                                         \
	.queue = {.rate = GBIT / 2}, .delay = 2 * SIM_MS, .loss = {.chance.good = 0.01}, \
	.reorder = {0.03, 2 * SIM_MS}, .duplicate = 0.02, .corrupt = 0.002

static const struct choice soaks[] = {
	{.name = "soak 1", .path = {BAD_PATH}, .seed = 1},
	{.name = "soak 2", .path = {BAD_PATH}, .seed = 2},
	{.name = "soak 3", .path = {BAD_PATH}, .seed = 3},
	{.name = "soak, markers to b", .path = {BAD_PATH}, .seed = 4, .markers_to_b = true},
	{.name = "soak, markers both ways",
		.path = {BAD_PATH},
		.seed = 5,
		.markers_to_a = true,
		.markers_to_b = true},
	{.name = "soak, markers, no CRC",
		.path = {BAD_PATH},
		.seed = 6,
		.crc_off = true,
		.markers_to_a = true,
		.markers_to_b = true},
};

#define N_FLOWS (sizeof flows / sizeof flows[0])
#define N_SOAKS (sizeof soaks / sizeof soaks[0])

int main(void)
{
	struct CMUnitTest tests[N_FLOWS + N_SOAKS + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < N_FLOWS; i++)
		tests[n++] = (struct CMUnitTest){.name = flows[i].name,
			.test_func = run_flow,
			.initial_state = (void *)(uintptr_t)&flows[i]};
	for (unsigned i = 0; i < N_SOAKS; i++)
		tests[n++] = (struct CMUnitTest){.name = soaks[i].name,
			.test_func = run_soak,
			.initial_state = (void *)(uintptr_t)&soaks[i]};
	tests[n++] = (struct CMUnitTest){.name = "no proof", .test_func = no_proof};
	return _cmocka_run_group_tests("placement", tests, n, NULL, NULL);
}
