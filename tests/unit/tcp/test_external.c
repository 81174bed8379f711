/* SPDX-License-Identifier: BSD-2-Clause */
#include "gather.h"

#include <errno.h>
#include <stdlib.h>

static struct gather g;

/* ---- tests --------------------------------------------------------------------------------- */

static void test_sent_from_where_it_lies(void **state)
{
	gather_start(&g, 63);
	gather_send(&g);
	assert_true(gather_is_external(&g, 0));
	assert_int_equal(tcp_stack_stats(g.h.tcp)->external_out, 1);
	assert_int_equal(gather_references(&g), 2);
	gather_expect(&g, g.seq, 0, SIZE);
	peer_send_at(&g.p, TCP_ACK, g.p.seq, g.seq + SIZE, NULL, 0);
	assert_int_equal(gather_references(&g), 0);
	assert_int_equal(g.c->sendq.count, 0);
	gather_finish(&g);
}

/** What is committed reads the memory when it is sent, not before. */
static void test_read_when_it_is_sent(void **state)
{
	gather_start(&g, 63);
	assert_true(gather_commit(&g, false));
	memset(g.bytes, 0x5a, LEN);
	gather_read(&g);
	llp_push(g.h.app.llp);
	gather_expect(&g, g.seq, 0, SIZE);
	gather_finish(&g);
}

static void test_sent_again_from_a_copy(void **state)
{
	gather_start(&g, 63);
	gather_send(&g);
	gather_expect(&g, g.seq, 0, SIZE);
	host_advance(&g.h, 2000 * MS);
	assert_false(gather_is_external(&g, 0));
	assert_int_equal(tcp_stack_stats(g.h.tcp)->external_out, 1);
	assert_int_equal(gather_references(&g), 0);
	gather_expect(&g, g.seq, 0, SIZE);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

static void acknowledge_one(void)
{
	ip_double_drain(&g.h.ip);
	peer_send_at(&g.p, TCP_ACK, g.p.seq, g.c->snd_nxt, NULL, 0);
	assert_int_equal(g.c->sendq.count, 0);
}

/** It is sent again once, and not so often that the path's MTU is in doubt. */
static void lose_one(void)
{
	gather_send(&g);
	while (gather_is_external(&g, 0))
		host_advance(&g.h, 50 * MS);
	acknowledge_one();
}

static void test_device_that_loses_them(void **state)
{
	gather_start(&g, 63);
	for (unsigned i = 1; i < TCP_EXTERNAL_SERIES * TCP_EXTERNAL_BAD; i++)
		lose_one();
	assert_true(llp_takes_external(g.h.app.llp));
	gather_send(&g);
	acknowledge_one();
	assert_int_equal(tcp_stack_stats(g.h.tcp)->external_backoffs, 1);
	assert_true(gather_commit(&g, false)); /* of a user that had asked before */
	llp_push(g.h.app.llp);
	assert_false(gather_is_external(&g, 0));
	gather_expect(&g, g.c->snd_nxt - SIZE, 0, SIZE);
	acknowledge_one();
	host_advance(&g.h, 59000 * MS);
	assert_false(llp_takes_external(g.h.app.llp));
	host_advance(&g.h, 1000 * MS);
	assert_true(llp_takes_external(g.h.app.llp));
	gather_finish(&g);
}

/** The program writes there next: nobody reads it any more. */
static void own(void)
{
	assert_true(llp_own_external(g.h.app.llp));
	assert_int_equal(gather_references(&g), 0);
	memset(g.bytes, 0x5a, LEN);
}

/** Copies are made for a while: of what is queued, too, when its memory is asked for. */
static void test_own_while_it_backs_off(void **state)
{
	gather_start(&g, 63);
	for (unsigned i = 1; i < TCP_EXTERNAL_SERIES * TCP_EXTERNAL_BAD; i++)
		lose_one();
	gather_send(&g);
	acknowledge_one();
	g.seq = g.c->snd_nxt;
	assert_true(gather_commit(&g, false)); /* of a user that had asked before */
	assert_false(llp_takes_external(g.h.app.llp));
	own();
	llp_push(g.h.app.llp);
	gather_expect(&g, g.seq, 0, SIZE);
	acknowledge_one();
	gather_finish(&g);
}

/** The port has not sent it yet: it keeps what it has, and the memory with it. */
static void test_sent_again_while_the_port_has_it(void **state)
{
	gather_start(&g, 63);
	gather_send(&g);
	host_advance(&g.h, 2000 * MS);
	assert_false(gather_is_external(&g, 0));
	assert_int_equal(gather_references(&g), 2);
	gather_expect(&g, g.seq, 0, SIZE);
	assert_int_equal(gather_references(&g), 0);
	gather_expect(&g, g.seq, 0, SIZE);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

/** A part of it is acknowledged: of its head, and beyond. */
static void test_acknowledged_in_part(void **state)
{
	static const uint32_t parts[] = {5, HEAD, HEAD + 1, HEAD + LEN, HEAD + LEN + 1};

	for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		gather_start(&g, 63);
		gather_send(&g);
		gather_expect(&g, g.seq, 0, SIZE);
		peer_send_at(&g.p, TCP_ACK, g.p.seq, g.seq + parts[i], NULL, 0);
		host_advance(&g.h, 3000 * MS);
		gather_expect(&g, g.seq, parts[i], SIZE - parts[i]);
		ip_double_drain(&g.h.ip);
		gather_finish(&g);
	}
}

/** The path takes less than it did: what waits is cut, of what was sent there is a copy. */
static void test_cut(void **state)
{
	gather_start(&g, 63);
	assert_true(gather_commit(&g, false));
	g.h.ip.path_mtu = 600;
	llp_push(g.h.app.llp);
	gather_expect(&g, g.seq, 0, 560);
	gather_expect(&g, g.seq, 560, SIZE - 560);
	assert_int_equal(gather_references(&g), 0);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

static void test_nothing_joins_it(void **state)
{
	struct heard a;

	gather_start(&g, 63);
	assert_true(gather_commit(&g, false));
	assert_non_null(llp_reserve(g.h.app.llp, 10, true));
	llp_commit(g.h.app.llp, 10);
	assert_int_equal(g.c->sendq.count, 2);
	llp_push(g.h.app.llp);
	gather_expect(&g, g.seq, 0, SIZE);
	host_expect(&g.h, &a);
	assert_int_equal(a.len, 10);
	gather_finish(&g);
}

/** It joins others only as a copy. */
static void test_joins_as_a_copy(void **state)
{
	struct heard a;

	gather_start(&g, 63);
	assert_non_null(llp_reserve(g.h.app.llp, 10, false));
	llp_commit(g.h.app.llp, 10);
	assert_true(gather_commit(&g, true));
	assert_int_equal(g.c->sendq.count, 1);
	assert_int_equal(gather_references(&g), 0);
	llp_push(g.h.app.llp);
	host_expect(&g.h, &a);
	assert_int_equal(a.len, 10 + SIZE);
	assert_memory_equal(a.text + 10, g.text, SIZE);
	gather_finish(&g);
}

static void test_copies_without_mbufs(void **state)
{
	gather_start(&g, 1);
	gather_send(&g);
	assert_false(gather_is_external(&g, 0));
	gather_expect(&g, g.seq, 0, SIZE);
	gather_finish(&g);
}

/** Nobody reads the memory after that: the address sanitizer would tell. */
static void test_removed_under_way(void **state)
{
	gather_start_with_device(&g);
	llp_memory_remove(g.h.llp, g.memory);
	g.memory = NULL;
	assert_int_equal(g.settled, 1);
	assert_int_equal(g.mapped, 0);
	assert_int_equal(gather_references(&g), 0);
	free(g.bytes);
	g.bytes = NULL;
	host_advance(&g.h, 2000 * MS);
	gather_expect(&g, g.seq, 0, SIZE);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

/** A driver keeps it: the mapping stays until that is over. */
static void test_removed_and_kept_by_the_port(void **state)
{
	struct rte_mbuf *kept;

	gather_start(&g, 63);
	gather_send(&g);
	kept = ip_double_take(&g.h.ip);
	llp_memory_remove(g.h.llp, g.memory);
	g.memory = NULL;
	assert_int_equal(g.settled, 3);
	assert_int_equal(g.mapped, 1);
	rte_pktmbuf_free(kept);
	assert_int_equal(g.mapped, 0);
	gather_finish(&g);
}

/** There is no memory for the copy: the stream cannot go on, and its peer hears so. */
static void test_no_room_for_the_copy(void **state)
{
	struct rte_mbuf *kept;
	struct heard a;

	gather_start(&g, 63);
	gather_send(&g);
	kept = ip_double_take(&g.h.ip);
	host_take_packets(&g.h, 0);
	llp_memory_remove(g.h.llp, g.memory);
	g.memory = NULL;
	assert_int_equal(g.mapped, 1);
	host_give_packets(&g.h);
	host_advance(&g.h, 100 * MS);
	assert_int_equal(g.h.app.closed, 1);
	assert_int_equal(g.h.app.error, -ECONNABORTED);
	host_expect(&g.h, &a);
	assert_true(a.h.flags & TCP_RST);
	rte_pktmbuf_free(kept);
	assert_int_equal(g.mapped, 0);
	gather_finish(&g);
}

static void test_own(void **state)
{
	gather_start(&g, 63);
	assert_true(gather_commit(&g, false));
	assert_true(gather_commit(&g, false));
	assert_int_equal(gather_references(&g), 4);
	assert_true(llp_own_external(g.h.app.llp));
	assert_int_equal(gather_references(&g), 0);
	memset(g.bytes, 0x5a, LEN);
	llp_push(g.h.app.llp);
	gather_expect(&g, g.seq, 0, SIZE);
	gather_expect(&g, g.seq + SIZE, 0, SIZE);
	gather_finish(&g);
}

static void expect_a_copy(void)
{
	host_advance(&g.h, 3000 * MS);
	gather_expect(&g, g.seq, 0, SIZE);
	ip_double_drain(&g.h.ip);
}

static void test_own_while_the_device_reads(void **state)
{
	gather_start_with_device(&g);
	own();
	assert_int_equal(g.settled, 1);
	expect_a_copy();
	gather_finish(&g);
}

/** What has been sent again, as a copy, the device may have yet to send for the first time. */
static void test_own_what_was_sent_again(void **state)
{
	gather_start_with_device(&g);
	host_advance(&g.h, 2000 * MS);
	assert_false(gather_is_external(&g, 0));
	assert_int_equal(gather_references(&g), 2);
	own();
	gather_expect(&g, g.seq, 0, SIZE);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

/** A peer may acknowledge what it cannot have. */
static void test_own_what_was_acknowledged(void **state)
{
	gather_start_with_device(&g);
	peer_send_at(&g.p, TCP_ACK, g.p.seq, g.seq + SIZE, NULL, 0);
	assert_int_equal(g.c->sendq.count, 0);
	assert_int_equal(gather_references(&g), 2);
	own();
	gather_finish(&g);
}

/** What the device has not been given is lost. Others' frames are not. */
static void test_own_what_waits(void **state)
{
	for (unsigned neighbour = 0; neighbour < 2; neighbour++) {
		gather_start(&g, 63);
		g.h.ip.waits = neighbour;
		assert_non_null(llp_reserve(g.h.app.llp, 10, false));
		llp_commit(g.h.app.llp, 10);
		gather_send(&g);
		assert_int_equal(ip_double_pending(&g.h.ip), 2);
		own();
		assert_int_equal(ip_double_pending(&g.h.ip), 1);
		ip_double_drain(&g.h.ip);
		peer_send_at(&g.p, TCP_ACK, g.p.seq, g.seq + 10, NULL, 0);
		host_advance(&g.h, 3000 * MS);
		gather_expect(&g, g.seq + 10, 0, SIZE);
		ip_double_drain(&g.h.ip);
		gather_finish(&g);
	}
}

static void test_remove_what_waits(void **state)
{
	for (unsigned neighbour = 0; neighbour < 2; neighbour++) {
		gather_start(&g, 63);
		g.h.ip.waits = neighbour;
		gather_send(&g);
		llp_memory_remove(g.h.llp, g.memory);
		g.memory = NULL;
		assert_int_equal(g.mapped, 0);
		free(g.bytes);
		g.bytes = NULL;
		expect_a_copy();
		gather_finish(&g);
	}
}

/** There is an end to waiting for the device. The memory is mapped until then. */
static void test_own_and_kept_by_the_port(void **state)
{
	struct rte_mbuf *kept;

	gather_start(&g, 63);
	gather_send(&g);
	kept = ip_double_take(&g.h.ip);
	assert_true(llp_own_external(g.h.app.llp));
	assert_int_equal(g.settled, 3);
	assert_int_equal(gather_references(&g), 2);
	/* It was waited for once: not again while nothing has changed. */
	g.settled = 0;
	assert_true(llp_own_external(g.h.app.llp));
	llp_abort(g.h.app.llp);
	host_advance(&g.h, 100 * MS);
	ip_double_drain(&g.h.ip);
	assert_int_equal(g.settled, 0);
	g.settled = 3;
	llp_memory_remove(g.h.llp, g.memory);
	g.memory = NULL;
	assert_int_equal(g.mapped, 1);
	rte_pktmbuf_free(kept);
	assert_int_equal(g.mapped, 0);
	assert_int_equal(gather_references(&g), 0);
	gather_finish(&g);
}

/** Its user hears that it is over: then its requests are flushed. */
/** What is not copied has its references until the connection ends, at once: they are not waited
 * for. */
static void test_own_without_room(void **state)
{
	struct rte_mbuf *kept;

	gather_start(&g, 63);
	gather_send(&g);
	kept = ip_double_take(&g.h.ip);
	host_take_packets(&g.h, 0);
	assert_false(llp_own_external(g.h.app.llp));
	assert_int_equal(g.settled, 1);
	host_give_packets(&g.h);
	rte_pktmbuf_free(kept);
	host_advance(&g.h, 100 * MS);
	assert_int_equal(g.h.app.closed, 1);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

static void test_reset_while_the_device_reads(void **state)
{
	gather_start_with_device(&g);
	peer_send_at(&g.p, TCP_RST, g.p.seq, 0, NULL, 0);
	assert_int_equal(g.h.app.closed, 1);
	assert_int_equal(gather_references(&g), 0);
	gather_finish(&g);
}

static void test_abort_while_the_device_reads(void **state)
{
	gather_start_with_device(&g);
	llp_abort(g.h.app.llp);
	assert_int_equal(gather_references(&g), 0);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

static void test_release_while_the_device_reads(void **state)
{
	gather_start_with_device(&g);
	llp_release(g.h.app.llp);
	assert_int_equal(gather_references(&g), 0);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

static void test_release(void **state)
{
	struct heard a;

	gather_start(&g, 63);
	gather_send(&g);
	gather_expect(&g, g.seq, 0, SIZE);
	llp_release(g.h.app.llp);
	assert_int_equal(gather_references(&g), 0);
	memset(g.bytes, 0x5a, LEN);
	ip_double_drain(&g.h.ip); /* the FIN */
	host_advance(&g.h, 2000 * MS);
	do /* and once more */
		host_expect(&g.h, &a);
	while (!a.len);
	assert_int_equal(a.len, SIZE);
	assert_memory_equal(a.text, g.text, SIZE);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

static void test_abort(void **state)
{
	gather_start(&g, 63);
	assert_true(gather_commit(&g, false));
	llp_abort(g.h.app.llp);
	assert_int_equal(gather_references(&g), 0);
	gather_finish(&g);
}

static void test_not_mapped(void **state)
{
	gather_start(&g, 63);
	g.map_error = -EBUSY;
	assert_null(llp_memory_add(g.h.llp, g.bytes, 2 * LEN));
	assert_int_equal(g.mapped, 1);
	gather_finish(&g);
}

static void test_off(void **state)
{
	g.c = host_accepted(&g.h, &g.p, 0, NULL);
	g.h.ip.no_sums = true;
	assert_false(llp_takes_external(g.h.app.llp));
	assert_true(llp_own_external(g.h.app.llp));
	assert_null(llp_memory_add(g.h.llp, &g.h, sizeof g.h));
	host_end(&g.h);
}

/** Then the sum would have to be made here, of what may change. */
static void test_not_where_we_sum(void **state)
{
	gather_start(&g, 63);
	g.h.ip.no_sums = false;
	assert_false(llp_takes_external(g.h.app.llp));
	g.h.ip.no_sums = true;
	gather_finish(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sent_from_where_it_lies),
		cmocka_unit_test(test_read_when_it_is_sent),
		cmocka_unit_test(test_sent_again_from_a_copy),
		cmocka_unit_test(test_device_that_loses_them),
		cmocka_unit_test(test_own_while_it_backs_off),
		cmocka_unit_test(test_sent_again_while_the_port_has_it),
		cmocka_unit_test(test_acknowledged_in_part),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_nothing_joins_it),
		cmocka_unit_test(test_joins_as_a_copy),
		cmocka_unit_test(test_copies_without_mbufs),
		cmocka_unit_test(test_removed_under_way),
		cmocka_unit_test(test_removed_and_kept_by_the_port),
		cmocka_unit_test(test_no_room_for_the_copy),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_own_while_the_device_reads),
		cmocka_unit_test(test_own_what_was_sent_again),
		cmocka_unit_test(test_own_what_was_acknowledged),
		cmocka_unit_test(test_own_what_waits),
		cmocka_unit_test(test_remove_what_waits),
		cmocka_unit_test(test_own_and_kept_by_the_port),
		cmocka_unit_test(test_own_without_room),
		cmocka_unit_test(test_reset_while_the_device_reads),
		cmocka_unit_test(test_abort_while_the_device_reads),
		cmocka_unit_test(test_release_while_the_device_reads),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_not_mapped),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_not_where_we_sum),
	};

	return cmocka_run_group_tests_name("tcp-external", tests, NULL, NULL);
}
