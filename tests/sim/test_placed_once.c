/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Payload is placed once (docs/placement.md): programs that look at their memory all the time, use
 * what they see and put zeros in its place, over paths that lose, repeat and reorder. Nothing that
 * they have used comes back, whatever shares a segment and whatever TCP had to forget.
 */
#include "sim/rdma_pair.h"
#include "sim/split.h"
#include "tcp/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define GBIT UINT64_C(1000000000)

/* Of each side: what it sends from; what comes, in the order of the peer's and its own requests. */
#define SOURCE (96u << 10)
#define SINK   (2 * SOURCE)
#define SIZE   (SOURCE + SINK)
#define OPS    24
#define ROUNDS 12

struct choice {
	const char *name;
	bool in_order, markers;
	uint32_t split;     /* segments are cut to this; 0: not */
	bool short_of_room; /* other connections fill the memory, now and then */
	struct sim_path_config path;
	uint64_t seed;
};

struct reader {
	struct rdma_side *side;
	uint8_t expected[SINK]; /* and not seen yet */
	size_t source, sink;    /* used in this round */
	uint64_t counter;       /* what the last eight bytes of the peer's memory are */
	unsigned posted, done;  /* own requests */
	unsigned sends, received;
};

struct scene {
	struct rdma_pair p;
	struct reader reader[2];
	struct prng random;
	bool short_of_room;
	uint32_t room[2];
};

/* ---- the reader -------------------------------------------------------------------------- */

static void use_byte(struct reader *r, size_t i)
{
	uint8_t *at = r->side->buf + SOURCE + i;

	if (*at == 0)
		return;
	if (*at != r->expected[i])
		fail_msg("byte %zu: %s", i,
			r->expected[i] == 0 ? "it was used already" : "it is another");
	r->expected[i] = *at = 0;
}

static void use_all(struct reader *r)
{
	for (size_t i = 0; i < SINK - sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, r->side->buf + SOURCE + i, sizeof word);
		for (size_t k = 0; word != 0 && k < sizeof word; k++)
			use_byte(r, i + k);
	}
}

static bool poll_one(struct reader *r)
{
	struct rnic_wc wc;

	use_all(r);
	while (rnic_cq_poll(r->side->cq, 1, &wc) == 1) {
		assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
		if (wc.wc.op >= RDMAP_WC_RECV)
			r->received++;
		else
			r->done++;
	}
	return r->done == r->posted && r->received == r->sends;
}

static bool look(void *ctx)
{
	struct scene *x = ctx;
	bool one = poll_one(&x->reader[0]), two = poll_one(&x->reader[1]);

	for (unsigned i = 0; i < 2 && x->short_of_room; i++) {
		struct tcp_stack *t = sim_host_tcp(x->reader[i].side->host);

		t->rx_hard_limit = prng_below(&x->random, 4) ? x->room[i] : t->rx_held / 2;
	}
	return one && two;
}

/* ---- the requests ------------------------------------------------------------------------ */

static const enum rdmap_wr_op kinds[] = {RDMAP_WR_WRITE, RDMAP_WR_WRITE, RDMAP_WR_WRITE,
	RDMAP_WR_SEND, RDMAP_WR_WRITE_IMM, RDMAP_WR_READ, RDMAP_WR_FETCH_ADD};

/* The next bytes of @to's memory are those of @from, where they shall be seen. */
static size_t expect(struct reader *to, const uint8_t *from, size_t len)
{
	size_t at = to->sink;

	memcpy(to->expected + at, from, len);
	to->sink += (len + 15) & ~(size_t)7; /* apart, and words aligned */
	assert_true(to->sink <= SINK - sizeof(uint64_t));
	return SOURCE + at;
}

static void post_atomic(struct scene *x, struct reader *us)
{
	size_t at = expect(us, (const uint8_t *)&us->counter, sizeof us->counter);
	struct rdmap_wqe *w = rdma_begin(&x->p, us->side, RDMAP_WR_FETCH_ADD, at,
		SIZE - sizeof us->counter, sizeof us->counter);

	w->atomic = (struct rdmap_atomic){.data = 0x0102030405060708, .mask = 0};
	us->counter += 0x0102030405060708;
	rdma_commit(us->side);
}

static void post(struct scene *x, struct reader *us, struct reader *peer, uint32_t len)
{
	enum rdmap_wr_op op = kinds[prng_below(&x->random, sizeof kinds / sizeof kinds[0])];
	size_t source = us->source, at;

	us->posted++;
	if (op == RDMAP_WR_FETCH_ADD) {
		post_atomic(x, us);
		return;
	}
	if (op == RDMAP_WR_READ) { /* from where the peer sends */
		at = expect(us, peer->side->buf + source, len);
		rdma_post(&x->p, us->side, op, at, source, len);
		return;
	}
	us->source += len;
	at = expect(peer, us->side->buf + source, len);
	if (op != RDMAP_WR_WRITE) {
		peer->sends++;
		rdma_post_recv(peer->side, at, op == RDMAP_WR_SEND ? len : 0);
	}
	rdma_post(&x->p, us->side, op, source, at, len);
}

/* A large one, then small ones that share segments; both ways, and the other's between. */
static void post_round(struct scene *x)
{
	for (unsigned i = 0; i < 2; i++) {
		struct reader *r = &x->reader[i];

		for (size_t k = 0; k < SOURCE; k++)
			r->side->buf[k] = (uint8_t)(1 + prng_below(&x->random, 255));
		r->source = r->sink = 0;
		r->posted = r->done = r->sends = r->received = 0;
	}
	for (unsigned k = 0; k < OPS; k++) {
		uint32_t len = k % 12 == 0 ? 16000 + prng_below(&x->random, 8000)
					   : 1 + prng_below(&x->random, k % 5 ? 120 : 1500);

		post(x, &x->reader[0], &x->reader[1], len);
		post(x, &x->reader[1], &x->reader[0], len);
	}
}

/* ---- the stage --------------------------------------------------------------------------- */

static struct sim_host *host(struct sim *s, const struct choice *ch, const char *address)
{
	const struct sim_host_config c = {.address = address,
		.tcp = {.congestion_control = "bbr"},
		.rnic.mpa = {.revision = 2,
			.crc = MPA_CRC_PREFERRED,
			.rtr = MPA_RTR_WRITE | MPA_RTR_READ,
			.markers = ch->markers,
			.in_order = ch->in_order}};

	return sim_host_create(s, &c);
}

static void start(struct scene *x, const struct choice *ch)
{
	struct sim *s = sim_create(&(struct sim_config){.seed = ch->seed});
	struct sim_host *a = host(s, ch, "10.0.0.1/24"), *b = host(s, ch, "10.0.0.2/24");

	rdma_pair_create_on(&x->p, a, b, 7174, SIZE);
	sim_join(a, b, &ch->path, NULL, &x->p.link);
	if (ch->split != 0)
		sim_link_prepend(
			&x->p.link, sim_split_create(s, ch->split), sim_split_create(s, ch->split));
	assert_true(rdma_pair_connect(&x->p, 30 * SIM_S));
	x->reader[0].side = &x->p.a;
	x->reader[1].side = &x->p.b;
	for (unsigned i = 0; i < 2; i++)
		x->room[i] = sim_host_tcp(x->reader[i].side->host)->rx_hard_limit;
}

static void end(struct scene *x)
{
	struct sim *s = x->p.sim;

	rnic_ep_disconnect(x->p.a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	rdma_pair_destroy(&x->p);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	sim_destroy(s);
}

static uint64_t sum(const struct scene *x, size_t field)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct tcp_stats *t = tcp_stack_stats(sim_host_tcp(x->reader[i].side->host));

		n += *(const uint64_t *)(const void *)((const char *)t + field);
	}
	return n;
}

static void run(void **state)
{
	const struct choice *ch = *state;
	static struct scene x;
	uint64_t early, reneged;

	x = (struct scene){.random = {ch->seed}};
	start(&x, ch);
	x.short_of_room = ch->short_of_room;
	for (unsigned i = 0; i < ROUNDS; i++) {
		post_round(&x);
		assert_true(sim_run(x.p.sim, 300 * SIM_S, look, &x));
		for (unsigned k = 0; k < 2; k++) {
			static const uint8_t none[SINK];
			const struct reader *r = &x.reader[k], *peer = &x.reader[!k];

			assert_memory_equal(r->expected, none, SINK);
			assert_memory_equal(peer->side->buf + SIZE - sizeof r->counter, &r->counter,
				sizeof r->counter);
		}
	}
	early = sum(&x, offsetof(struct tcp_stats, taken_ooo));
	reneged = sum(&x, offsetof(struct tcp_stats, reneged));
	print_message("  %-28s %lu segments placed early, %lu packets forgotten\n", ch->name,
		(unsigned long)early, (unsigned long)reneged);
	assert_true(ch->in_order ? early == 0 : early > (ch->split ? 0 : 20));
	assert_true(!ch->short_of_room || reneged > 20);
	for (unsigned i = 0; i < 2; i++)
		sim_host_tcp(x.reader[i].side->host)->rx_hard_limit = x.room[i];
	end(&x);
}

#define BAD_PATH                                                                         \
	.queue = {.rate = GBIT / 2}, .delay = 2 * SIM_MS, .loss = {.chance.good = 0.03}, \
	.reorder = {0.03, 2 * SIM_MS}, .duplicate = 0.03, .corrupt = 0.002

static const struct choice choices[] = {
	{.name = "loss",
		.seed = 1,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.02}}},
	{.name = "anything", .path = {BAD_PATH}, .seed = 2},
	{.name = "anything, another seed", .path = {BAD_PATH}, .seed = 3},
	{.name = "in order", .path = {BAD_PATH}, .seed = 4, .in_order = true},
	{.name = "markers", .path = {BAD_PATH}, .seed = 5, .markers = true},
	{.name = "cut anew, markers", .path = {BAD_PATH}, .seed = 6, .markers = true, .split = 700},
	{.name = "cut anew, short of memory",
		.path = {BAD_PATH},
		.seed = 7,
		.markers = true,
		.split = 700,
		.short_of_room = true},
	{.name = "in order, short of memory",
		.path = {BAD_PATH},
		.seed = 8,
		.in_order = true,
		.split = 700,
		.short_of_room = true},
};

#define CHOICES (sizeof choices / sizeof choices[0])

int main(void)
{
	struct CMUnitTest tests[CHOICES];

	for (unsigned i = 0; i < CHOICES; i++)
		tests[i] = (struct CMUnitTest){.name = choices[i].name,
			.test_func = run,
			.initial_state = (void *)(uintptr_t)&choices[i]};
	return _cmocka_run_group_tests("placed once", tests, CHOICES, NULL, NULL);
}
