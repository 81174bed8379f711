/* SPDX-License-Identifier: BSD-2-Clause */
/** What networks do to connections between transfers: forget them, shrink, lose the goodbye. */
#include "base/bytes.h"
#include "sim/greedy.h"
#include "sim/headers.h"
#include "sim/nat.h"
#include "sim/rdma_writes.h"
#include "sim/scenario.h"
#include "sim/tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define SIZE (2u << 20)
#define GBIT UINT64_C(1000000000)

static const struct sim_path_config good = {.queue = {.rate = GBIT}, .delay = 5 * SIM_MS};

static struct rdma_pair pair;
static struct sim *s;

static void connect_pair(const struct sim_path_config *path, const struct tcp_stack_config *tcp,
	bool v6, struct sim_nat_config *nat, struct sim_nat **n)
{
	struct sim_host_config h = {.tcp = *tcp, .address = v6 ? "fd00::1/64" : "10.0.0.1/24"};
	struct sim_host *a, *b;

	s = sim_create(&(struct sim_config){.seed = 3});
	a = sim_host_create(s, &h);
	h.address = v6 ? "fd00::2/64" : "10.0.0.2/24";
	b = sim_host_create(s, &h);
	rdma_pair_create_on(&pair, a, b, 7174, SIZE);
	sim_join(a, b, path, NULL, &pair.link);
	if (nat) {
		nat->inside = a;
		nat->outside = "10.0.0.77";
		*n = sim_nat_create(s, nat);
		sim_link_prepend(&pair.link, sim_nat_out(*n), NULL);
		sim_path_append(&pair.link.ba, sim_nat_in(*n));
	}
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
}

static bool write_all(uint64_t limit)
{
	for (size_t i = 0; i < SIZE; i++)
		pair.a.buf[i] = (uint8_t)(i * 31 ^ i >> 9);
	memset(pair.b.buf, 0, SIZE);
	rdma_post(&pair, &pair.a, RDMAP_WR_WRITE, 0, 0, SIZE);
	rdma_post(&pair, &pair.a, RDMAP_WR_READ, 0, 0, 1);
	if (!rdma_complete(&pair, &pair.a, 2, limit))
		return false;
	assert_memory_equal(pair.a.buf, pair.b.buf, SIZE);
	return true;
}

static void disconnect_and_end(void)
{
	rnic_ep_disconnect(pair.a.ep);
	sim_run(s, 150 * SIM_S, NULL, NULL);
	rdma_pair_destroy(&pair);
	sim_run(s, 150 * SIM_S, NULL, NULL);
	assert_int_equal(tcp_stack_stats(sim_host_tcp(pair.a.host))->connections, 0);
	assert_int_equal(tcp_stack_stats(sim_host_tcp(pair.b.host))->connections, 0);
	sim_destroy(s);
}

/* ---- goodbyes ------------------------------------------------------------------------------ */

#define WORDS 4

/**
 * A program says its last words and is gone, with nothing under way (FIN) or in the middle of a
 * Read (RST). What it said comes right before that end, which must not overtake it.
 */
static void last_words(bool reset)
{
	const struct sim_path_config fast = {.queue = {.rate = 100 * GBIT}, .delay = SIM_MS};
	struct rnic_wc wc[2 * WORDS];

	connect_pair(&fast, &(struct tcp_stack_config){0}, false, NULL, NULL);
	for (unsigned i = 0; i <= WORDS; i++)
		rdma_post_recv(&pair.b, i * 4096, 4096);
	for (unsigned i = 0; i < WORDS; i++)
		rdma_post(&pair, &pair.a, RDMAP_WR_SEND, 0, 0, 2000);
	assert_true(rdma_complete(&pair, &pair.a, WORDS, SIM_MS / 2));
	if (reset)
		rdma_post(&pair, &pair.a, RDMAP_WR_READ, 0, 0, 1);
	rnic_qp_destroy(pair.a.qp);
	pair.a.qp = NULL;
	assert_int_equal(rnic_cq_poll(pair.b.cq, 2 * WORDS, wc), 0); /* it is all on its way */
	sim_run(s, SIM_S, NULL, NULL);
	assert_int_equal(rnic_cq_poll(pair.b.cq, 2 * WORDS, wc), WORDS + 1);
	for (unsigned i = 0; i < WORDS; i++)
		assert_int_equal(wc[i].wc.status, RDMAP_WC_SUCCESS);
	assert_int_equal(wc[WORDS].wc.status, RDMAP_WC_WR_FLUSH_ERR);
	assert_true(pair.b.disconnected);
	rdma_pair_destroy(&pair);
	sim_destroy(s);
}

static void last_words_before_fin(void **state)
{
	last_words(false);
}

static void last_words_before_reset(void **state)
{
	last_words(true);
}

/* ---- translators that forget ------------------------------------------------------------- */

/** What is sent into nothing ends in an error, not in waiting for ever. */
static void nat_drops_idle_connection(void **state)
{
	struct sim_nat *n;

	connect_pair(&good, &(struct tcp_stack_config){0}, false,
		&(struct sim_nat_config){.idle = 30 * SIM_S}, &n);
	assert_true(write_all(10 * SIM_S));
	sim_run(s, 60 * SIM_S, NULL, NULL);
	assert_false(write_all(300 * SIM_S));
	assert_true(pair.a.disconnected);
	assert_int_equal(sim_nat_stats(n)->expired, 1);
	assert_in_range(sim_nat_stats(n)->drops, 3, 100);
	rdma_pair_destroy(&pair);
	sim_destroy(s);
}

/** The peer does not know the new port: its RST ends the connection at once. */
static void nat_gives_another_port(void **state)
{
	struct sim_nat *n;

	connect_pair(&good, &(struct tcp_stack_config){0}, false,
		&(struct sim_nat_config){.idle = 30 * SIM_S, .remap = true}, &n);
	assert_true(write_all(10 * SIM_S));
	sim_run(s, 60 * SIM_S, NULL, NULL);
	assert_false(write_all(2 * SIM_S));
	assert_true(pair.a.disconnected);
	assert_int_equal(sim_nat_stats(n)->mapped, 2);
	rdma_pair_destroy(&pair);
	sim_destroy(s);
}

static void keepalive_keeps_nat_awake(void **state)
{
	struct sim_nat *n;

	connect_pair(&good, &(struct tcp_stack_config){.keepalive_ms = 20000}, false,
		&(struct sim_nat_config){.idle = 30 * SIM_S}, &n);
	assert_true(write_all(10 * SIM_S));
	sim_run(s, 600 * SIM_S, NULL, NULL);
	assert_true(write_all(10 * SIM_S));
	assert_int_equal(sim_nat_stats(n)->expired, 0);
	disconnect_and_end();
}

/* ---- paths that shrink ------------------------------------------------------------------- */

struct shrink {
	const char *name;
	bool v6, silent, later;
	uint16_t mtu;
};

static const struct shrink shrinks[] = {
	{"too big, told", .mtu = 1300},
	{"too big, told, v6", .v6 = true, .mtu = 1400},
	{"too big, told, during the connection", .later = true, .mtu = 1300},
	{"black hole", .silent = true, .mtu = 1300},
	{"black hole v6", .silent = true, .v6 = true, .mtu = 1400},
	{"black hole during the connection", .silent = true, .later = true, .mtu = 1000},
};

static void set_mtu(const struct shrink *k)
{
	struct sim_mtu_config *ab = sim_mtu_config(pair.link.ab.mtu),
			      *ba = sim_mtu_config(pair.link.ba.mtu);

	*ab = *ba = (struct sim_mtu_config){.mtu = k->mtu};
	if (!k->silent) {
		ab->back = sim_delay_element(pair.link.ba.delay);
		ba->back = sim_delay_element(pair.link.ab.delay);
	}
}

static void path_shrinks(void **state)
{
	const struct shrink *k = *state;

	connect_pair(&good, &(struct tcp_stack_config){0}, k->v6, NULL, NULL);
	if (k->later)
		assert_true(write_all(10 * SIM_S));
	set_mtu(k);
	/* It takes a few round trips to see, or the timer when nothing gets through. */
	assert_true(write_all(20 * SIM_S));
	assert_true(sim_mtu_drops(pair.link.ab.mtu) > 0);
	assert_true(write_all(2 * SIM_S));
	disconnect_and_end();
}

/** TCP segments with text: how many, how many of them are exactly one FPDU, the largest. */
struct fpdus {
	unsigned segments, whole;
	uint32_t largest;
};

static void look_at_fpdus(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct fpdus *f = ctx;
	struct sim_headers h;
	uint8_t length[2];
	const uint8_t *p;
	uint32_t text, fpdu;

	if (!sim_headers_find(m, &h) || !h.is_tcp || h.end - h.text < 64)
		return;
	text = h.end - h.text;
	p = rte_pktmbuf_read(m, h.text, sizeof length, length);
	fpdu = ((2u + load_be16(p) + 3) & ~3u) + 4; /* RFC 5044 section 4: padding and CRC */
	f->segments++;
	f->whole += fpdu == text;
	if (text > f->largest)
		f->largest = text;
}

/**
 * RFC 5044 section 5.1: an FPDU is a segment, whatever the path's MTU has become; what was cut
 * before arrives all the same. And when the path is wide again, so are they, ten minutes later.
 */
static void fpdus_follow_the_mtu(void **state)
{
	static const struct shrink narrow = {.silent = true, .mtu = 1300};
	struct fpdus f = {0};

	connect_pair(&good, &(struct tcp_stack_config){0}, false, NULL, NULL);
	sim_link_prepend(&pair.link, sim_tap_create(s, look_at_fpdus, &f), NULL);
	assert_true(write_all(10 * SIM_S));
	assert_true(f.whole * 100 > f.segments * 99);
	assert_in_range(f.largest, 1440, 1448);

	set_mtu(&narrow);
	for (int i = 0; i < 20; i++) { /* the search must end, too */
		assert_true(write_all(20 * SIM_S));
		sim_run(s, SIM_S, NULL, NULL);
	}
	f = (struct fpdus){0};
	assert_true(write_all(10 * SIM_S));
	assert_true(f.whole * 100 > f.segments * 99);
	assert_in_range(f.largest, 1200, 1300 - 52);

	sim_mtu_config(pair.link.ab.mtu)->mtu = sim_mtu_config(pair.link.ba.mtu)->mtu = 0;
	sim_run(s, 601 * SIM_S, NULL, NULL);
	for (int i = 0; i < 3; i++)
		assert_true(write_all(10 * SIM_S));
	f = (struct fpdus){0};
	assert_true(write_all(10 * SIM_S));
	assert_true(f.whole * 100 > f.segments * 99);
	assert_in_range(f.largest, 1440, 1448);
	disconnect_and_end();
}

/* ---- the last words ---------------------------------------------------------------------- */

/** Both sides close at one time and a third of all packets is lost: nothing stays behind. */
static void simultaneous_close_over_loss(void **state)
{
	for (uint64_t seed = 1; seed <= 25; seed++) {
		s = sim_create(&(struct sim_config){.seed = seed, .packets = 2047, .copies = 1023});
		rdma_pair_create(&pair, s, &good, false, 4096);
		assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
		rdma_post(&pair, &pair.a, RDMAP_WR_WRITE, 0, 0, 4096);
		assert_true(rdma_complete(&pair, &pair.a, 1, SIM_S));
		sim_run(s, SIM_S, NULL, NULL);
		sim_loss_config(pair.link.ab.loss)->chance.good = 0.33;
		sim_loss_config(pair.link.ba.loss)->chance.good = 0.33;
		rnic_ep_disconnect(pair.a.ep);
		rnic_ep_disconnect(pair.b.request);
		sim_run(s, 300 * SIM_S, NULL, NULL);
		assert_true(pair.a.disconnected && pair.b.disconnected);
		assert_int_equal(tcp_stack_stats(sim_host_tcp(pair.a.host))->connections, 0);
		assert_int_equal(tcp_stack_stats(sim_host_tcp(pair.b.host))->connections, 0);
		rdma_pair_destroy(&pair);
		sim_destroy(s);
	}
}

/* ---- receivers that want more than their share --------------------------------------------- */

/** A stream through @p g's tricks. */
static struct sim_scenario *towards(
	struct sim_scenario_config c, const struct sim_greedy_config *cfg, struct sim_greedy **g)
{
	struct sim_scenario *x;

	c.seed = 11;
	c.settle = SIM_S / 10;
	c.n_flows = 1;
	x = sim_scenario_create(&c);
	*g = sim_greedy_create(x->sim, cfg);
	sim_path_append(&x->forward, sim_greedy_in(*g));
	sim_path_append(&x->backward, sim_greedy_out(*g));
	return x;
}

/**
 * It hides all losses of a queue that overflows, so that we should send as fast as the windows let
 * us. What it hid is never sent again: its own stream ends there.
 */
static void receiver_that_hides_losses(void **state)
{
	static const char *const names[] = {"newreno", "cubic", "bbr"};
	const struct sim_greedy_config cfg = {.hide = true};

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct sim_scenario_config c = {.rate = GBIT / 10,
			.rtt = 20 * SIM_MS,
			.queue = 60000,
			.forward.loss.chance.good = 0.01,
			.duration = 5 * SIM_S,
			.flow[0].cc = names[i]};
		struct sim_greedy *g;
		struct sim_scenario *x = towards(c, &cfg, &g);
		struct sim_flow_state f;

		sim_scenario_run(x);
		sim_flow_get(x->flow[0], &f);
		assert_false(f.failed);
		assert_int_equal(f.sender.retransmits, 0);
		assert_in_range(f.delivered, 1, f.sender.bytes_acked / 1000);
		sim_scenario_destroy(x);
	}
}

/** What is sent in the first round trips does not depend on how many ACKs tell of it. */
static void receiver_that_divides_acks(void **state)
{
	static const char *const names[] = {"newreno", "cubic", "bbr"};

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		uint64_t sent[2];

		for (unsigned k = 0; k < 2; k++) {
			struct sim_scenario_config c = {.rate = GBIT,
				.rtt = 100 * SIM_MS,
				.duration = 550 * SIM_MS,
				.flow[0].cc = names[i]};
			const struct sim_greedy_config cfg = {.pieces = k ? 50 : 1};
			struct sim_greedy *g;
			struct sim_scenario *x = towards(c, &cfg, &g);

			sim_scenario_run(x);
			sent[k] = tcp_stack_stats(sim_host_tcp(x->from[0]))->bytes_out;
			assert_true(sim_greedy_count(g) > (k ? 500 : 10));
			sim_scenario_destroy(x);
		}
		/* An ACK for each piece lets it out a little more evenly; counting ACKs instead of
		 * bytes, it would be some ten times as much. */
		assert_in_range(sent[1], 1, sent[0] + sent[0] / 4);
	}
}

/* ---- another route ------------------------------------------------------------------------- */

#define LINE (50 * GBIT / 1000)

/** What part of the line was used from one second to another. */
static double use_of_line(const unsigned *done, unsigned from, unsigned to)
{
	double pieces = 0;

	for (unsigned i = from; i < to; i++)
		pieces += done[i];
	return pieces * (SIZE / RDMA_WRITES_PIECES) * 8 / (to - from) / LINE;
}

static void route_of_75_ms(void *ctx)
{
	sim_delay_set(pair.link.ab.delay, 75 * SIM_MS);
	sim_delay_set(pair.link.ba.delay, 75 * SIM_MS);
}

/** What leaves now overtakes a whole window that took the longer way. */
static void route_of_2_ms(void *ctx)
{
	sim_delay_set(pair.link.ab.delay, 5 * SIM_MS / 2);
	sim_delay_set(pair.link.ba.delay, 5 * SIM_MS / 2);
}

/**
 * A round trip of 20 ms becomes 150 ms, and then 5 ms: all arrives, and the line is full again
 * each time. Of 100 %, 94 are text of Writes. The longer way takes its time: CUBIC's window must
 * grow, and BBR believes the shorter round trip until it is ten seconds old.
 */
static void route_changes(void **state)
{
	const struct sim_path_config path = {
		.queue = {.rate = LINE, .limit = 250000}, .delay = 10 * SIM_MS};
	static const char *const names[] = {"cubic", "bbr"};

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct tcp_stack_config tcp = {.congestion_control = names[i]};
		unsigned done[33] = {0};

		connect_pair(&path, &tcp, false, NULL, NULL);
		sim_at(s, sim_now(s) + 5 * SIM_S, route_of_75_ms, NULL);
		sim_at(s, sim_now(s) + 25 * SIM_S, route_of_2_ms, NULL);
		assert_true(rdma_writes_run(&pair, 33, 10 * SIM_S, done));
		assert_true(use_of_line(done, 1, 5) > 0.9);
		assert_true(use_of_line(done, 20, 25) > 0.87);
		assert_true(use_of_line(done, 27, 33) > 0.92);
		disconnect_and_end();
	}
}

/* ---- the first words --------------------------------------------------------------------- */

/** A SYN that waits for the neighbour's address takes two round trips, and measures none. */
static void resolution_is_no_round_trip(void **state)
{
	struct sim_scenario_config c = {.seed = 1,
		.rate = GBIT,
		.rtt = 100 * SIM_MS,
		.duration = 350 * SIM_MS,
		.settle = 100 * SIM_MS,
		.n_flows = 1,
		.flow[0] = {.kind = SIM_FLOW_STREAM}};
	struct sim_scenario *x = sim_scenario_create(&c);
	struct sim_flow_state f;

	sim_scenario_run(x);
	sim_flow_get(x->flow[0], &f);
	assert_true(f.connected && f.sender.bytes_acked > 0);
	assert_in_range(f.sender.srtt, 100 * SIM_MS, 105 * SIM_MS);
	sim_scenario_destroy(x);
}

/* ---- the simulator itself ---------------------------------------------------------------- */

static void hash_packet(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	uint64_t *h = ctx;
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	*h = (*h ^ now) * UINT64_C(0x100000001b3);
	for (uint32_t i = 0; i < m->data_len; i++)
		*h = (*h ^ p[i]) * UINT64_C(0x100000001b3);
}

static uint64_t hash_of_run(uint64_t seed)
{
	struct sim_scenario_config c = {.seed = seed,
		.rate = GBIT / 50,
		.rtt = 30 * SIM_MS,
		.duration = 5 * SIM_S,
		.settle = SIM_S,
		.n_flows = 3,
		.forward = {.loss.chance.good = 0.002,
			.reorder = {0.01, 10 * SIM_MS},
			.duplicate = 0.001}};
	struct sim_scenario *x;
	uint64_t h = 1;

	c.flow[0].kind = SIM_FLOW_RDMA;
	c.flow[1].cc = "newreno";
	x = sim_scenario_create(&c);
	sim_path_append(&x->forward, sim_tap_create(x->sim, hash_packet, &h));
	sim_path_append(&x->backward, sim_tap_create(x->sim, hash_packet, &h));
	sim_scenario_run(x);
	sim_scenario_destroy(x);
	return h;
}

static void same_seed_same_packets(void **state)
{
	uint64_t h = hash_of_run(1);

	assert_true(h == hash_of_run(1));
	assert_true(h != hash_of_run(2));
}

/** A hundred pairs of hosts share 100 Mbit/s, and each gets on. */
static void two_hundred_hosts(void **state)
{
	struct sim_scenario_config c = {.seed = 5,
		.rate = GBIT / 10,
		.rtt = 20 * SIM_MS,
		.duration = 10 * SIM_S,
		.settle = 5 * SIM_S,
		.n_flows = 100};
	struct sim_scenario *x;
	double sum = 0;

	for (unsigned i = 0; i < c.n_flows; i++)
		c.flow[i] = (struct sim_scenario_flow){
			.kind = i % 2 ? SIM_FLOW_RDMA : SIM_FLOW_STREAM, .start = i * 10 * SIM_MS};
	x = sim_scenario_create(&c);
	sim_scenario_run(x);
	for (unsigned i = 0; i < c.n_flows; i++) {
		struct sim_flow_state f;

		sim_flow_get(x->flow[i], &f);
		assert_true(f.connected && !f.failed);
		assert_true(sim_scenario_goodput(x, i, c.settle, c.duration) > 1e5);
		sum += sim_scenario_goodput(x, i, c.settle, c.duration);
	}
	assert_true(sum > 0.97 * sim_scenario_capacity(x, 0));
	sim_scenario_destroy(x);
}

#define N_SHRINKS (sizeof shrinks / sizeof shrinks[0])

int main(void)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(last_words_before_fin),
		cmocka_unit_test(last_words_before_reset),
		cmocka_unit_test(nat_drops_idle_connection),
		cmocka_unit_test(nat_gives_another_port),
		cmocka_unit_test(keepalive_keeps_nat_awake),
		cmocka_unit_test(fpdus_follow_the_mtu),
		cmocka_unit_test(simultaneous_close_over_loss),
		cmocka_unit_test(receiver_that_hides_losses),
		cmocka_unit_test(receiver_that_divides_acks),
		cmocka_unit_test(route_changes),
		cmocka_unit_test(resolution_is_no_round_trip),
		cmocka_unit_test(same_seed_same_packets),
		cmocka_unit_test(two_hundred_hosts),
	};
	struct CMUnitTest shrinking[N_SHRINKS];
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	for (size_t i = 0; i < N_SHRINKS; i++)
		shrinking[i] = (struct CMUnitTest){.name = shrinks[i].name,
			.test_func = path_shrinks,
			.initial_state = (void *)(uintptr_t)&shrinks[i]};
	return failed + _cmocka_run_group_tests("path_shrinks", shrinking, N_SHRINKS, NULL, NULL);
}
