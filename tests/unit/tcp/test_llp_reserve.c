/* SPDX-License-Identifier: BSD-2-Clause */
/* What a user queues: room for it, and its positions. */
#include "host.h"

#include <rte_mbuf.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

static void test_buffer_fills_and_empties(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 64 * 1024};

	start(&cfg);
	assert_int_equal(app_fill(&h.app, 1024), 64);
	llp_push(h.app.llp);
	host_round(&h);
	assert_int_equal(h.app.writable, 0);
	while (llp_unacked(h.app.llp)) {
		ip_double_drain(&h.ip);
		p.ack = c->snd_nxt;
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(h.app.writable, 1);
	host_end(&h);
}

static void test_many_small_records_are_bounded(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 64 * 1024};

	start(&cfg);
	assert_int_equal(app_fill(&h.app, 1), 256);
	host_end(&h);
}

static void test_pool_share(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 1 << 30};

	start(&cfg);
	c->snd_wnd = 1 << 30; /* it is not the window that bounds it */
	assert_int_equal(app_fill(&h.app, 1000), (4095 / 8 * 3 * 4 + 4) / 5);
	host_end(&h);
}

static void test_reserve_bounds(void **state)
{
	start(NULL);
	assert_null(llp_reserve(h.app.llp, 2049, false));
	assert_null(llp_reserve(h.app.llp, 0, false));
	assert_non_null(llp_reserve(h.app.llp, 2048, false));
	llp_commit(h.app.llp, 0); /* given back */
	assert_int_equal(test_pool_missing(h.pool), 0);
	assert_non_null(llp_reserve(h.app.llp, 100, false));
	llp_commit(h.app.llp, 60); /* less than reserved */
	assert_int_equal(llp_unacked(h.app.llp), 60);
	assert_non_null(llp_reserve(h.app.llp, 100, true));
	llp_commit(h.app.llp, 0);
	assert_int_equal(llp_unacked(h.app.llp), 60);
	host_end(&h);
}

/** Positions: of what is queued, also in a record that others share, and of what is acknowledged.
 */
static void test_acknowledged_up_to(void **state)
{
	uint64_t first, begin;

	start(NULL);
	begin = llp_queued(h.app.llp);
	assert_int_equal(llp_acked(h.app.llp), begin);
	app_send(&h.app, "hello", 5);
	first = llp_queued(h.app.llp);
	assert_int_equal(first, begin + 5);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(llp_acked(h.app.llp), first);
	assert_int_equal(h.app.acked, 0); /* nobody asked */
	llp_watch_acks(h.app.llp);
	app_queue(&h.app, 10, false);
	app_queue(&h.app, 20, true);
	assert_int_equal(llp_queued(h.app.llp), first + 30);
	llp_push(h.app.llp);
	host_round(&h);
	assert_int_equal(llp_acked(h.app.llp), first);
	h.app.acked = 0;
	p.ack += 10; /* a part of it */
	peer_send(&p, 0, NULL, 0);
	assert_true(h.app.acked > 0);
	assert_int_equal(llp_acked(h.app.llp), first + 10);
	p.ack += 20;
	h.app.acked = 0;
	/* With text the ACK is not put off: the user waits for it. */
	peer_send(&p, 0, "x", 1);
	assert_int_equal(llp_acked(h.app.llp), first + 30);
	assert_int_equal(llp_acked(h.app.llp), llp_queued(h.app.llp));
	assert_true(h.app.acked_before > 0);
	host_end(&h);
}

/** A FIN is no byte that was queued before it. */
static void test_acknowledged_before_fin(void **state)
{
	uint64_t end;

	start(NULL);
	llp_watch_acks(h.app.llp);
	app_send(&h.app, "bye", 3);
	end = llp_queued(h.app.llp);
	llp_shutdown(h.app.llp);
	host_round(&h);
	assert_true(llp_acked(h.app.llp) < end);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_true(llp_acked(h.app.llp) >= end);
	host_end(&h);
}

/** Headers do not lie in the headroom, unless a full segment would not fit behind them. */
static void test_headers_behind_the_headroom(void **state)
{
	uint8_t *room, *begin;

	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_TS, NULL);
	room = llp_reserve(h.app.llp, 100, false);
	begin = c->reserved->buf_addr;
	assert_ptr_equal(room, rte_pktmbuf_mtod(c->reserved, uint8_t *));
	assert_true(
		room - begin >= RTE_PKTMBUF_HEADROOM + IP_HEADROOM + TCP_HEADER_LEN + TCP_TS_LEN);
	llp_commit(h.app.llp, 0);
	room = llp_reserve(h.app.llp, c->s->room, false);
	begin = c->reserved->buf_addr;
	assert_int_equal(room - begin, RTE_PKTMBUF_HEADROOM);
	llp_commit(h.app.llp, 0);
	host_end(&h);
}

static void test_reservation_dies_with_the_connection(void **state)
{
	start(NULL);
	assert_non_null(llp_reserve(h.app.llp, 100, false));
	llp_abort(h.app.llp);
	host_end(&h);
}

/** The ring of a queue that runs empty meanwhile is kept for what is reserved. */
static void test_ring_stays_for_what_is_reserved(void **state)
{
	struct heard a;
	void *room;

	start(NULL);
	for (unsigned i = 0; i < 3; i++)
		app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	assert_int_equal(c->sendq.cap, 4);
	room = llp_reserve(h.app.llp, 3, false);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->sendq.count, 0);
	assert_int_equal(c->sendq.cap, 4);
	memcpy(room, "def", 3);
	llp_commit(h.app.llp, 3);
	llp_push(h.app.llp);
	host_expect(&h, &a);
	assert_memory_equal(a.text, "def", 3);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->sendq.cap, 1);
	host_end(&h);
}

/** The peer resets it while its user writes: what was reserved is not to be had any more. */
static void test_reset_behind_a_reservation(void **state)
{
	const struct tcp_segment rst = {.seq = 1001, .flags = TCP_RST};

	start(NULL);
	assert_non_null(llp_reserve(h.app.llp, 100, false));
	host_hear(&h, PORT, &rst, NULL);
	assert_int_equal(h.app.closed, 1);
	llp_commit(&c->llp, 100);
	llp_push(&c->llp);
	host_round(&h);
	host_expect_none(&h);
	assert_int_equal(test_pool_missing(h.pool), 0);
	host_end(&h);
}

static void reserve_when_closed(void *user, int error)
{
	struct app *a = user;

	a->closed++;
	assert_null(llp_reserve(a->llp, 10, false));
}

static void test_nothing_when_closed(void **state)
{
	struct llp_user_ops ops = app_ops;

	start(NULL);
	ops.closed = reserve_when_closed;
	llp_set_user(h.app.llp, &ops, &h.app);
	peer_send_at(&p, TCP_RST, p.seq, p.ack, NULL, 0);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

static void test_nothing_after_shutdown(void **state)
{
	start(NULL);
	llp_shutdown(h.app.llp);
	assert_null(llp_reserve(h.app.llp, 10, false));
	host_end(&h);
}

static void test_queued_before_the_connection(void **state)
{
	struct heard a;
	struct tcp_segment syn = {.seq = 9, .flags = TCP_SYN | TCP_ACK, .wnd = 5000};

	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	app_send(&h.app, "early", 5);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	host_expect_none(&h);
	syn.ack = a.h.seq + 1;
	host_hear(&h, a.h.sport, &syn, NULL);
	host_round(&h);
	host_expect(&h, &a); /* carries the ACK of the SYN */
	assert_int_equal(a.len, 5);
	assert_int_equal(a.h.ack, 10);
	host_expect_none(&h);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buffer_fills_and_empties),
		cmocka_unit_test(test_many_small_records_are_bounded),
		cmocka_unit_test(test_pool_share),
		cmocka_unit_test(test_reserve_bounds),
		cmocka_unit_test(test_acknowledged_up_to),
		cmocka_unit_test(test_acknowledged_before_fin),
		cmocka_unit_test(test_headers_behind_the_headroom),
		cmocka_unit_test(test_reservation_dies_with_the_connection),
		cmocka_unit_test(test_ring_stays_for_what_is_reserved),
		cmocka_unit_test(test_reset_behind_a_reservation),
		cmocka_unit_test(test_nothing_when_closed),
		cmocka_unit_test(test_nothing_after_shutdown),
		cmocka_unit_test(test_queued_before_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
