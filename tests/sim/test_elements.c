/* SPDX-License-Identifier: BSD-2-Clause */
/** Each piece of network by itself: what goes in when, and what comes out when. */
#include "ip/eth_wire.h"
#include "ip/ipv4_wire.h"
#include "sim/corrupt.h"
#include "sim/delay.h"
#include "sim/duplicate.h"
#include "sim/headers.h"
#include "sim/loss.h"
#include "sim/mark.h"
#include "sim/mtu.h"
#include "sim/policer.h"
#include "sim/queue.h"
#include "sim/reorder.h"
#include "sim/shaper.h"
#include "sim/sim.h"
#include "sim/tap.h"
#include "tcp/tcp_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#define LEN  1000u /* of a frame */
#define MANY 20000

/** What came out: when, and which. */
struct arrivals {
	unsigned n;
	uint64_t at[2 * MANY];
	uint32_t id[2 * MANY];
	bool marked[2 * MANY];
	bool bad_sum[2 * MANY];
	uint32_t len[2 * MANY];
};

static struct sim *s;
static struct arrivals *out;

static int begin(void **state)
{
	s = sim_create(&(struct sim_config){.seed = 11, .packets = 1023, .copies = 3 * MANY});
	out = calloc(1, sizeof *out);
	return out ? 0 : -1;
}

static int end(void **state)
{
	sim_destroy(s);
	free(out);
	return 0;
}

/** A TCP segment over IPv4 from 10.0.0.1 to 10.0.0.2, its number as its sequence number. */
static struct rte_mbuf *segment(uint32_t id, uint32_t len, unsigned ecn)
{
	struct rte_mbuf *m = sim_packet_new(s);
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len) : NULL;
	struct tcp_segment seg = {.sport = 1, .dport = 2, .seq = id, .flags = TCP_ACK};
	struct sim_headers h;

	if (!p)
		abort();
	memset(p, (int)id, len);
	eth_store(
		p, (const uint8_t *)"\2\0\0\0\0\2", (const uint8_t *)"\2\0\0\0\0\1", ETH_TYPE_IPV4);
	memset(p + ETH_LEN, 0, IPV4_LEN);
	p[ETH_LEN] = 0x45;
	p[ETH_LEN + IPV4_TOS] = (uint8_t)ecn;
	store_be16(p + ETH_LEN + IPV4_TOTAL_LENGTH, (uint16_t)(len - ETH_LEN));
	p[ETH_LEN + IPV4_PROTOCOL] = 6;
	memcpy(p + ETH_LEN + IPV4_SRC, "\12\0\0\1\12\0\0\2", 8);
	tcp_wire_emit(&seg, p + ETH_LEN + IPV4_LEN);
	assert_true(sim_headers_find(m, &h) && h.is_tcp);
	sim_headers_checksum(&h);
	return m;
}

static void arrived(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	struct sim_headers h;
	uint8_t before[2];

	out->at[out->n] = now - SIM_S;
	out->len[out->n] = m->pkt_len;
	out->id[out->n] = load_be32(p + ETH_LEN + IPV4_LEN + TCP_OFF_SEQ);
	out->marked[out->n] = (p[ETH_LEN + IPV4_TOS] & 3) == 3;
	if (sim_headers_find(m, &h) && h.is_tcp) {
		memcpy(before, h.frame + h.l4 + TCP_OFF_CKSUM, 2);
		sim_headers_checksum(&h);
		out->bad_sum[out->n] = memcmp(before, h.frame + h.l4 + TCP_OFF_CKSUM, 2) != 0;
	} else {
		out->bad_sum[out->n] = true;
	}
	out->n++;
}

static void to_us(struct sim_element *e)
{
	e->next = sim_tap_create(s, arrived, NULL);
}

static void send(struct sim_element *e, uint32_t id)
{
	sim_input(e, segment(id, LEN, 2));
}

static void wait_ns(uint64_t ns)
{
	sim_run(s, ns, NULL, NULL);
}

/** 1000 bytes at 3 Gbit/s take 2666 2/3 ns: none of the thirds is lost. */
static void queue_has_its_rate(void **state)
{
	struct sim_queue *q = sim_queue_create(
		s, &(struct sim_queue_config){.rate = UINT64_C(3000000000), .limit = 1 << 30});

	to_us(sim_queue_element(q));
	for (uint32_t i = 0; i < 3000; i++)
		send(sim_queue_element(q), i);
	assert_int_equal(sim_queue_bytes(q), 3000 * LEN);
	wait_ns(SIM_S);
	assert_int_equal(out->n, 3000);
	assert_int_equal(out->at[0], 2666);
	assert_int_equal(out->at[2999], 8000000);
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(out->id[i], i);
	/* It emptied evenly in 8 ms of the second. */
	assert_true(sim_queue_mean(q) > 0.0079 * 1500 * LEN);
	assert_true(sim_queue_mean(q) < 0.0081 * 1500 * LEN);
}

static void queue_drops_its_tail(void **state)
{
	struct sim_queue *q = sim_queue_create(
		s, &(struct sim_queue_config){.rate = 8000000, .limit = 10 * LEN + LEN / 2});

	to_us(sim_queue_element(q));
	for (uint32_t i = 0; i < 15; i++)
		send(sim_queue_element(q), i);
	wait_ns(SIM_S);
	assert_int_equal(out->n, 10);
	assert_int_equal(out->id[9], 9);
	assert_int_equal(sim_queue_stats(q)->drops, 5);
	assert_int_equal(sim_queue_stats(q)->max_bytes, 10 * LEN);
	assert_int_equal(out->at[9], 10 * SIM_MS);
}

/** A packet that is not capable of ECN is let by, not dropped, by the threshold alone. */
static void queue_marks_above_threshold(void **state)
{
	struct sim_queue *q = sim_queue_create(
		s, &(struct sim_queue_config){.rate = 8000000, .ecn_threshold = 5 * LEN});

	to_us(sim_queue_element(q));
	for (uint32_t i = 0; i < 10; i++)
		sim_input(sim_queue_element(q), segment(i, LEN, i == 9 ? 0 : 2));
	wait_ns(SIM_S);
	assert_int_equal(out->n, 10);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(out->marked[i], i >= 5 && i < 9);
		assert_false(out->bad_sum[i]);
	}
	assert_int_equal(sim_queue_stats(q)->marks, 4);
}

/** RED at a constant excess, a tenth more than the line takes; @p odd is ECN of every second. */
static struct sim_queue *overfed_red(unsigned odd)
{
	struct sim_queue *q = sim_queue_create(
		s, &(struct sim_queue_config){.rate = 8000000,
			   .limit = 1 << 20,
			   .red = {.min = 20 * LEN, .max = 60 * LEN, .max_p = 0.2}});

	to_us(sim_queue_element(q));
	for (uint32_t i = 0; i < MANY; i++) {
		sim_input(sim_queue_element(q), segment(i, LEN, i % 2 ? odd : 0));
		wait_ns(SIM_MS * 10 / 11);
	}
	return q;
}

/** RED keeps its average between the thresholds, by more than tail drop. */
static void queue_red(void **state)
{
	struct sim_queue *q = overfed_red(0);

	assert_true(sim_queue_bytes(q) > 20 * LEN && sim_queue_bytes(q) < 60 * LEN);
	assert_true(sim_queue_stats(q)->drops > MANY / 14);
	assert_true(sim_queue_stats(q)->drops < MANY / 10);
	assert_true(sim_queue_stats(q)->max_bytes < 100 * LEN);
}

/** RFC 3168 section 5: where RED would drop, it marks packets that are capable of ECN. */
static void queue_red_marks(void **state)
{
	struct sim_queue *q = overfed_red(2);
	unsigned capable = 0;

	wait_ns(SIM_S);
	for (unsigned i = 0; i < out->n; i++) {
		capable += out->id[i] % 2;
		assert_true(!out->marked[i] || out->id[i] % 2);
	}
	assert_int_equal(capable, MANY / 2);
	assert_int_equal(out->n + sim_queue_stats(q)->drops, MANY);
	assert_true(sim_queue_stats(q)->drops > MANY / 50);
	assert_true(sim_queue_stats(q)->marks > MANY / 50);
}

static void delay_keeps_order_and_time(void **state)
{
	struct sim_delay *d = sim_delay_create(s, 5 * SIM_MS);

	to_us(sim_delay_element(d));
	for (uint32_t i = 0; i < 10; i++) {
		send(sim_delay_element(d), i);
		wait_ns(SIM_US);
	}
	wait_ns(SIM_S);
	assert_int_equal(out->n, 10);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(out->id[i], i);
		assert_int_equal(out->at[i], 5 * SIM_MS + i * SIM_US);
	}
}

static void shorter_route_overtakes(void **state)
{
	struct sim_delay *d = sim_delay_create(s, 5 * SIM_MS);

	to_us(sim_delay_element(d));
	send(sim_delay_element(d), 0);
	send(sim_delay_element(d), 1);
	sim_delay_set(d, SIM_MS);
	send(sim_delay_element(d), 2);
	send(sim_delay_element(d), 3);
	sim_delay_set(d, 0);
	send(sim_delay_element(d), 4);
	wait_ns(SIM_S);
	assert_int_equal(out->n, 5);
	assert_int_equal(out->id[0], 4);
	assert_int_equal(out->id[1], 2);
	assert_int_equal(out->id[2], 3);
	assert_int_equal(out->at[2], SIM_MS);
	assert_int_equal(out->id[3], 0);
	assert_int_equal(out->id[4], 1);
	assert_int_equal(out->at[4], 5 * SIM_MS);
}

static void loss_by_chance(void **state)
{
	struct sim_loss *l = sim_loss_create(s, &(struct sim_loss_config){.chance.good = 0.1});

	to_us(sim_loss_element(l));
	for (uint32_t i = 0; i < MANY; i++)
		send(sim_loss_element(l), i);
	assert_in_range(out->n, MANY * 89 / 100, MANY * 91 / 100);
	assert_int_equal(sim_loss_stats(l)->lost, MANY - out->n);
}

/** Gilbert and Elliott: seldom, and then for five packets on the average, all of them. */
static void loss_in_bursts(void **state)
{
	struct sim_loss *l = sim_loss_create(
		s, &(struct sim_loss_config){.chance = {.enter = 0.01, .leave = 0.2, .bad = 1}});
	uint32_t bursts = 0, lost;

	to_us(sim_loss_element(l));
	for (uint32_t i = 0; i < MANY; i++)
		send(sim_loss_element(l), i);
	for (uint32_t i = 1; i < out->n; i++)
		bursts += out->id[i] != out->id[i - 1] + 1;
	lost = MANY - out->n;
	assert_in_range(lost, MANY * 4 / 100, MANY * 56 / 1000); /* a twenty-first */
	assert_in_range(lost * 10 / bursts, 45, 55);
}

/** A packet every 100 ms: a burst of a thousand would take minutes. */
static void loss_in_bursts_of_a_second(void **state)
{
	struct sim_loss *l = sim_loss_create(
		s, &(struct sim_loss_config){
			   .chance = {.enter = 0.05, .leave = 0.001, .bad = 1}, .longest = SIM_S});
	uint32_t most = 0;

	to_us(sim_loss_element(l));
	for (uint32_t i = 0; i < 2000; i++) {
		send(sim_loss_element(l), i);
		sim_run(s, 100 * SIM_MS, NULL, NULL);
	}
	for (uint32_t i = 1; i < out->n; i++)
		most = out->id[i] - out->id[i - 1] > most ? out->id[i] - out->id[i - 1] : most;
	/* One that begins when another is over makes it longer, seldom. */
	assert_in_range(most, 11, 31);
}

static bool second_of(void *ctx, struct rte_mbuf *m, uint64_t number)
{
	unsigned *seen = ctx;

	return load_be32(rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_LEN + IPV4_LEN + TCP_OFF_SEQ)) ==
		       30 &&
	       ++*seen == 2;
}

static void loss_by_number_and_by_function(void **state)
{
	unsigned seen = 0;
	struct sim_loss *l = sim_loss_create(
		s, &(struct sim_loss_config){
			   .lose = {{2, 3}, {10, 1}}, .predicate = second_of, .ctx = &seen});

	to_us(sim_loss_element(l));
	for (uint32_t i = 0; i < 20; i++)
		send(sim_loss_element(l), i);
	for (uint32_t i = 0; i < 3; i++)
		send(sim_loss_element(l), 30);
	assert_int_equal(out->n, 18);
	assert_int_equal(out->id[1], 1);
	assert_int_equal(out->id[2], 5);
	assert_int_equal(out->id[6], 9);
	assert_int_equal(out->id[7], 11);
	assert_int_equal(seen, 3);
}

static void reorder_holds_some_up(void **state)
{
	struct sim_reorder *r =
		sim_reorder_create(s, &(struct sim_reorder_config){0.05, 10 * SIM_MS});
	unsigned late = 0;

	to_us(sim_reorder_element(r));
	for (uint32_t i = 0; i < MANY; i++) {
		send(sim_reorder_element(r), i);
		wait_ns(100 * SIM_US);
	}
	wait_ns(SIM_S);
	assert_int_equal(out->n, MANY);
	assert_in_range(sim_reorder_count(r), MANY * 4 / 100, MANY * 6 / 100);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t sent = out->id[i] * 100 * SIM_US;

		assert_in_range(out->at[i], sent, sent + 10 * SIM_MS);
		late += out->at[i] != sent;
	}
	assert_int_equal(late, sim_reorder_count(r));
}

static void duplicates_and_marks(void **state)
{
	struct sim_some *d = sim_duplicate_create(s, 0.1);
	struct sim_some *k = sim_mark_create(s, 0.2);
	unsigned marked = 0;

	d->element.next = &k->element;
	to_us(&k->element);
	for (uint32_t i = 0; i < MANY; i++)
		send(&d->element, i);
	assert_int_equal(out->n, MANY + d->count);
	assert_in_range(d->count, MANY * 9 / 100, MANY * 11 / 100);
	for (unsigned i = 0; i < out->n; i++) {
		marked += out->marked[i];
		assert_false(out->bad_sum[i]);
	}
	assert_int_equal(marked, k->count);
	assert_in_range(marked, out->n * 19 / 100, out->n * 21 / 100);
}

static void corruption_is_seen(void **state)
{
	struct sim_some *c = sim_corrupt_create(s, 1);
	unsigned bad = 0;

	to_us(&c->element);
	for (uint32_t i = 0; i < 1000; i++)
		send(&c->element, i);
	assert_int_equal(out->n, 1000);
	/* The IPv4 header's own sum is not what is looked at here. */
	for (unsigned i = 0; i < 1000; i++)
		bad += out->bad_sum[i];
	assert_in_range(bad, 970, 1000);
}

/** 10 packets at once, then one each ms. */
static void policer_and_shaper(void **state)
{
	const struct sim_bucket_config b = {8000000, 10 * LEN};
	struct sim_policer *p = sim_policer_create(s, &b);
	struct sim_shaper *h =
		sim_shaper_create(s, &(struct sim_shaper_config){.bucket = b, .limit = 5 * LEN});

	to_us(sim_policer_element(p));
	for (uint32_t i = 0; i < 30; i++)
		send(sim_policer_element(p), i);
	assert_int_equal(out->n, 10);
	wait_ns(3 * SIM_MS + SIM_US);
	for (uint32_t i = 0; i < 30; i++)
		send(sim_policer_element(p), i);
	assert_int_equal(out->n, 13);
	assert_int_equal(sim_policer_drops(p), 47);

	out->n = 0;
	to_us(sim_shaper_element(h));
	for (uint32_t i = 0; i < 30; i++)
		send(sim_shaper_element(h), i);
	assert_int_equal(out->n, 10);
	wait_ns(SIM_S);
	assert_int_equal(out->n, 15);
	assert_int_equal(out->id[14], 14);
	assert_int_equal(out->at[14] - out->at[9], 5 * SIM_MS);
	assert_int_equal(sim_shaper_stats(h)->drops, 15);
}

static void mtu_tells_or_swallows(void **state)
{
	struct sim_element *back = sim_tap_create(s, arrived, NULL);
	struct sim_mtu *x = sim_mtu_create(s, &(struct sim_mtu_config){.mtu = 900, .back = back});

	sim_input(sim_mtu_element(x), segment(1, 914, 0));
	assert_int_equal(out->n, 0); /* it fits, and went nowhere */
	sim_input(sim_mtu_element(x), segment(2, 915, 0));
	assert_int_equal(out->n, 1);
	assert_int_equal(out->len[0], ETH_LEN + 20 + 8 + 28); /* the quotation is of 28 bytes */
	sim_mtu_config(x)->back = NULL;
	sim_input(sim_mtu_element(x), segment(3, 1500, 0));
	assert_int_equal(out->n, 1);
	assert_int_equal(sim_mtu_drops(x), 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(queue_has_its_rate),
		TEST(queue_drops_its_tail),
		TEST(queue_marks_above_threshold),
		TEST(queue_red),
		TEST(queue_red_marks),
		TEST(delay_keeps_order_and_time),
		TEST(shorter_route_overtakes),
		TEST(loss_by_chance),
		TEST(loss_in_bursts),
		TEST(loss_in_bursts_of_a_second),
		TEST(loss_by_number_and_by_function),
		TEST(reorder_holds_some_up),
		TEST(duplicates_and_marks),
		TEST(corruption_is_seen),
		TEST(policer_and_shaper),
		TEST(mtu_tells_or_swallows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
