/* SPDX-License-Identifier: BSD-2-Clause */
/** What becomes of text in the program's memory where that, or ours, is not to be had. */
#include "support/faults.h"

#include "gather.h"

#include "support/alloc_fault.h"

#include <errno.h>
#include <rte_malloc.h>
#include <stdlib.h>

static struct gather g;

/* ---- the program's memory -------------------------------------------------------------------- */

#ifndef GUARDED_PLAIN

/** It ends early: its peer hears @p probes, a reset, and no text that was never read. */
static void expect_reset(unsigned probes)
{
	struct heard a;

	while (!g.h.app.closed)
		host_advance(&g.h, timer_wheel_next(&g.h.wheel) - g.h.now);
	assert_int_equal(g.h.app.error, -ECONNABORTED);
	for (unsigned i = 0; i < probes; i++) {
		host_expect(&g.h, &a);
		assert_int_equal(a.len, 0);
		assert_false(a.h.flags & TCP_RST);
	}
	host_expect(&g.h, &a);
	assert_true(a.h.flags & TCP_RST);
	host_expect_none(&g.h);
}

/** Its bytes are at the end of what is mapped. */
static void start_at_the_end(unsigned mbufs)
{
	gather_start(&g, mbufs);
	llp_memory_remove(g.h.llp, g.memory);
	free(g.bytes);
	g.bytes = faults_prepare() - 2 * LEN;
	memset(g.bytes, 'm', 2 * LEN);
	gather_read(&g);
	g.memory = llp_memory_add(g.h.llp, g.bytes, 2 * LEN);
	assert_non_null(g.memory);
}

static void unmap_bytes(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	assert_int_equal(munmap((void *)((uintptr_t)g.bytes & ~(page - 1)), page), 0);
}

static void finish_unmapped(void)
{
	ip_double_drain(&g.h.ip);
	g.bytes = NULL;
	gather_finish(&g);
}

/** What has to be copied at once is refused, joined or not, and its reservation given back. */
static void test_gone_before_it_is_queued(void **state)
{
	struct heard a;

	for (unsigned join = 0; join < 2; join++) {
		start_at_the_end(1);
		assert_non_null(llp_reserve(g.h.app.llp, 10, false));
		llp_commit(g.h.app.llp, 10);
		unmap_bytes();
		assert_false(gather_commit(&g, join));
		assert_int_equal(faults, 1);
		llp_commit(g.h.app.llp, 0);
		llp_push(g.h.app.llp);
		host_expect(&g.h, &a);
		assert_int_equal(a.len, 10);
		host_expect_none(&g.h);
		assert_int_equal(g.c->sendq.count, 1);
		assert_int_equal(g.h.tcp->tx_held, 1);
		assert_false(g.c->closing_early);
		finish_unmapped();
	}
}

/** Lost on the way, and it cannot be sent again; the port has it still, or not. */
static void test_gone_before_it_is_sent_again(void **state)
{
	for (unsigned with_port = 0; with_port < 2; with_port++) {
		struct rte_mbuf *kept;

		start_at_the_end(63);
		gather_send(&g);
		kept = ip_double_take(&g.h.ip);
		if (!with_port)
			rte_pktmbuf_free(kept);
		unmap_bytes();
		expect_reset(0);
		if (with_port)
			rte_pktmbuf_free(kept);
		finish_unmapped();
	}
}

static void test_gone_when_it_is_to_be_copied(void **state)
{
	start_at_the_end(63);
	assert_true(gather_commit(&g, false));
	assert_true(gather_commit(&g, false));
	unmap_bytes();
	assert_false(llp_own_external(g.h.app.llp));
	llp_push(g.h.app.llp); /* nothing may be read after that, nor lent */
	expect_reset(0);
	assert_int_equal(gather_references(&g), 0);
	finish_unmapped();
}

/** A window that has room for a part of it: that part cannot be made. */
static void test_gone_when_it_is_to_be_cut(void **state)
{
	start_at_the_end(63);
	assert_true(gather_commit(&g, false));
	g.p.wnd = LEN / 2;
	peer_send(&g.p, 0, NULL, 0);
	llp_push(g.h.app.llp);
	assert_true(g.c->persist);
	unmap_bytes();
	expect_reset(1);
	finish_unmapped();
}

/** A probe of the path copies what is in flight. */
static void test_gone_when_a_probe_needs_it(void **state)
{
	start_at_the_end(63);
	g.h.ip.path_mtu = g.c->path.mtu = 1200;
	assert_non_null(llp_reserve(g.h.app.llp, 10, false));
	llp_commit(g.h.app.llp, 10);
	llp_push(g.h.app.llp);
	g.h.ip.path_mtu = g.c->path.mtu = 1500;
	ip_double_drain(&g.h.ip);
	unmap_bytes();
	assert_true(gather_commit(&g, false));
	assert_true(gather_commit(&g, false));
	llp_push(g.h.app.llp);
	assert_non_null(g.c->pmtu);
	assert_int_equal(faults, 1);
	assert_true(g.c->closing_early);
	for (unsigned i = 0; i < 2; i++) { /* the device may find it, by its own map */
		struct rte_mbuf *m = ip_double_take(&g.h.ip);

		assert_non_null(m);
		assert_int_equal(m->nb_segs, 3);
		rte_pktmbuf_free(m);
	}
	expect_reset(0);
	finish_unmapped();
}

#endif

/* ---- our memory -------------------------------------------------------------------------------
 */

/** What makes a connection's loan is missing, or more would not be counted: it sends copies. */
static void test_no_loan(void **state)
{
	struct rte_mbuf_ext_shared_info *zeros;

	gather_start(&g, 63);
	alloc_fault_at(1);
	gather_send(&g);
	assert_int_equal(alloc_fault_seen(), 1);
	alloc_fault_at(0);
	assert_null(g.c->loan);
	gather_expect(&g, g.seq, 0, SIZE);
	zeros = &g.h.tcp->zeros->shared;
	rte_mbuf_ext_refcnt_set(zeros, UINT16_MAX);
	gather_send(&g);
	assert_null(g.c->loan);
	assert_int_equal(rte_mbuf_ext_refcnt_read(zeros), UINT16_MAX);
	gather_expect(&g, g.seq + SIZE, 0, SIZE);
	rte_mbuf_ext_refcnt_set(zeros, 1);
	gather_send(&g);
	assert_true(gather_is_external(&g, 2));
	gather_expect(&g, g.seq + 2 * SIZE, 0, SIZE);
	gather_finish(&g);
}

static void test_no_memory_for_a_region(void **state)
{
	gather_start(&g, 63);
	alloc_fault_at(1);
	assert_null(llp_memory_add(g.h.llp, g.bytes, 2 * LEN));
	alloc_fault_at(0);
	assert_int_equal(g.mapped, 1);
	gather_finish(&g);
}

/** All that DPDK has left, as a list. */
static void *take_dpdk_memory(void)
{
	void *all = NULL;

	for (size_t size = (size_t)1 << 30; size >= 64; size /= 2) {
		void **more;

		while ((more = rte_malloc(NULL, size, 0))) {
			*more = all;
			all = more;
		}
	}
	return all;
}

static void test_no_dpdk_memory_for_a_stack(void **state)
{
	struct tcp_stack_config cfg;
	struct tcp_stack *s = NULL;
	void *all;

	gather_start(&g, 63);
	cfg = g.h.tcp->cfg;
	all = take_dpdk_memory();
	assert_int_equal(tcp_stack_create(&cfg, g.h.now, &s), -ENOMEM);
	assert_null(s);
	while (all) {
		void *next = *(void **)all;

		rte_free(all);
		all = next;
	}
	gather_finish(&g);
}

/** Sent again when there is a packet for its copy. */
static void test_no_packet_for_a_copy(void **state)
{
	struct rte_mbuf *kept;

	gather_start(&g, 63);
	gather_send(&g);
	kept = ip_double_take(&g.h.ip);
	host_take_packets(&g.h, 0);
	host_advance(&g.h, 3000 * MS);
	assert_true(gather_is_external(&g, 0));
	assert_true(tcp_stack_stats(g.h.tcp)->pool_empty > 0);
	host_expect_none(&g.h);
	host_give_packets(&g.h);
	host_advance(&g.h, 3000 * MS);
	assert_false(gather_is_external(&g, 0));
	gather_expect(&g, g.seq, 0, SIZE);
	rte_pktmbuf_free(kept);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

/** What was acknowledged in this round is as good as the pool's. */
static void test_the_last_packets_are_those_of_the_round(void **state)
{
	struct rte_mbuf *kept;

	gather_start(&g, 63);
	assert_non_null(llp_reserve(g.h.app.llp, 10, false));
	llp_commit(g.h.app.llp, 10);
	llp_push(g.h.app.llp);
	ip_double_drain(&g.h.ip);
	gather_send(&g);
	kept = ip_double_take(&g.h.ip);
	host_take_packets(&g.h, 1); /* what tells of the first */
	host_hear(&g.h, g.p.lport,
		&(struct tcp_segment){
			.seq = g.p.seq, .ack = g.seq + 10, .flags = TCP_ACK, .wnd = g.p.wnd},
		NULL);
	host_take_packets(&g.h, 0);
	assert_int_equal(g.h.tcp->mbuf_cache.n, 1);
	assert_true(llp_own_external(g.h.app.llp));
	assert_false(gather_is_external(&g, 0));
	host_give_packets(&g.h);
	rte_pktmbuf_free(kept);
	host_advance(&g.h, 3000 * MS);
	gather_expect(&g, g.seq + 10, 0, SIZE);
	ip_double_drain(&g.h.ip);
	gather_finish(&g);
}

/* ---- a port, and others -----------------------------------------------------------------------
 */

/** It never says that nothing more can be done. There is an end to asking. */
static void test_kept_by_a_port_that_promises(void **state)
{
	struct rte_mbuf *kept;

	gather_start(&g, 63);
	g.settles = UINT_MAX;
	gather_send(&g);
	kept = ip_double_take(&g.h.ip);
	assert_true(llp_own_external(g.h.app.llp));
	assert_true(g.settled > 1000);
	assert_int_equal(gather_references(&g), 2);
	rte_pktmbuf_free(kept);
	gather_finish(&g);
}

/** Of another region nothing is copied. */
static void test_another_region_is_removed(void **state)
{
	struct llp_memory *first, *second;

	gather_start(&g, 63);
	first = g.memory;
	second = llp_memory_add(g.h.llp, g.bytes, 2 * LEN);
	assert_true(gather_commit(&g, false));
	g.memory = second;
	assert_true(gather_commit(&g, false));
	llp_memory_remove(g.h.llp, second);
	assert_int_equal(g.mapped, 1);
	assert_true(gather_is_external(&g, 0));
	assert_false(gather_is_external(&g, 1));
	g.memory = first;
	llp_push(g.h.app.llp);
	gather_expect(&g, g.seq, 0, SIZE);
	gather_expect(&g, g.seq + SIZE, 0, SIZE);
	gather_finish(&g);
}

static void test_the_connection_ends_behind_a_reservation(void **state)
{
	struct llp *l;

	gather_start(&g, 63);
	l = g.h.app.llp;
	assert_non_null(llp_reserve(l, SIZE, false));
	host_hear(&g.h, g.p.lport, &(struct tcp_segment){.seq = g.p.seq, .flags = TCP_RST}, NULL);
	assert_int_equal(g.h.app.closed, 1);
	assert_true(
		llp_commit_external(l, SIZE, HEAD, &(struct llp_external){g.memory, g.bytes, LEN}));
	assert_int_equal(g.c->sendq.count, 0);
	assert_int_equal(gather_references(&g), 0);
	host_round(&g.h);
	gather_finish(&g);
}

/** Text with a FIN goes to a window that ends with the text; when it opens, as a copy. */
static void test_with_a_fin_behind_the_window(void **state)
{
	struct heard a;

	gather_start(&g, 63);
	g.c->cc.cwnd = 10;
	assert_non_null(llp_reserve(g.h.app.llp, 10, false));
	llp_commit(g.h.app.llp, 10);
	assert_true(gather_commit(&g, false));
	llp_push(g.h.app.llp);
	llp_shutdown(g.h.app.llp);
	assert_int_equal(g.c->sendq.count, 2); /* the FIN has no record of its own */
	host_expect(&g.h, &a);
	g.p.wnd = SIZE;
	peer_send_at(&g.p, TCP_ACK, g.p.seq, g.seq + 10, NULL, 0);
	host_expect_none(&g.h);
	assert_true(g.c->persist);
	while (!ip_double_pending(&g.h.ip))
		host_advance(&g.h, 100 * MS);
	host_expect(&g.h, &a);
	assert_true(a.h.flags & TCP_FIN);
	assert_int_equal(a.len, SIZE);
	assert_true(gather_is_external(&g, 0));
	assert_int_equal(g.c->snd_nxt, g.seq + 10);
	g.p.wnd = 60000;
	peer_send_at(&g.p, TCP_ACK, g.p.seq, g.seq + 10, NULL, 0);
	assert_false(gather_is_external(&g, 0));
	host_expect(&g.h, &a);
	assert_true(a.h.flags & TCP_FIN);
	assert_int_equal(a.h.seq, g.seq + 10);
	assert_memory_equal(a.text, g.text, SIZE);
	peer_send_at(&g.p, TCP_ACK, g.p.seq, g.seq + 10 + SIZE + 1, NULL, 0);
	assert_int_equal(g.c->state, TCP_FIN_WAIT_2);
	gather_finish(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifndef GUARDED_PLAIN
		cmocka_unit_test(test_gone_before_it_is_queued),
		cmocka_unit_test(test_gone_before_it_is_sent_again),
		cmocka_unit_test(test_gone_when_it_is_to_be_copied),
		cmocka_unit_test(test_gone_when_it_is_to_be_cut),
		cmocka_unit_test(test_gone_when_a_probe_needs_it),
#endif
		cmocka_unit_test(test_no_loan),
		cmocka_unit_test(test_no_memory_for_a_region),
		cmocka_unit_test(test_no_dpdk_memory_for_a_stack),
		cmocka_unit_test(test_no_packet_for_a_copy),
		cmocka_unit_test(test_the_last_packets_are_those_of_the_round),
		cmocka_unit_test(test_kept_by_a_port_that_promises),
		cmocka_unit_test(test_another_region_is_removed),
		cmocka_unit_test(test_the_connection_ends_behind_a_reservation),
		cmocka_unit_test(test_with_a_fin_behind_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
