/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8899, RFC 4821, RFC 5927 section 7. */
#include "path.h"

#include "tcp/pmtu.h"

#define OPTIONS (TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED)

static struct path path;

/* ---- black holes --------------------------------------------------------------------------- */

static void test_black_hole_is_found_and_measured(void **state)
{
	uint32_t cwnd;

	path_start(&path, OPTIONS, 1500, 1400);
	path.c->peer_mss = 1460;
	path_send(&path, 4, 1460);
	for (int i = 0; i < 40 && path.p.ack == path.irs; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
	}
	assert_true(path.p.ack != path.irs); /* in less than 4 s */
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 1);
	assert_int_equal(path.c->mtu, 1200);
	path_all_arrived(&path);
	cwnd = path.c->cc.ssthresh;
	path_bulk(&path, 200);
	path_all_arrived(&path);
	/* What the table has below 1400: 1400. */
	assert_int_equal(path.c->mtu, 1400);
	assert_int_equal(llp_emss(path.h.app.llp), 1360);
	assert_int_equal(path.largest, 1400);
	/* Probes were lost, and nothing else: no congestion. */
	assert_int_equal(path.c->cc.ssthresh, cwnd);
	assert_true(tcp_stack_stats(path.h.tcp)->pmtu_probes <= 3 * 6);
	assert_in_range(tcp_stack_stats(path.h.tcp)->pmtu_raised, 1, 4);
	host_end(&path.h);
}

/* It was wider, once: what passed is no news after any time. */
static void test_black_hole_after_a_month(void **state)
{
	path_start(&path, OPTIONS, 1500, 1500);
	path_bulk(&path, 20);
	path_all_arrived(&path);
	host_advance(&path.h, UINT64_C(30) * 24 * 3600 * 1000 * MS);
	path.mtu = 1400;
	path_send(&path, 4, llp_emss(path.h.app.llp));
	path_all_arrived(&path);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 1);
	host_end(&path.h);
}

/** It becomes narrower once more, after the first hole was measured or before. */
static void test_black_hole_behind_another(void **state)
{
	for (unsigned measured = 0; measured < 2; measured++) {
		path_start(&path, OPTIONS, 1500, 1400);
		path_send(&path, 4, 1460);
		path_all_arrived(&path);
		assert_int_equal(path.c->mtu, 1200);
		assert_int_equal(path.c->pmtu->raise_at, 0);
		if (measured) {
			path_bulk(&path, 200);
			path_all_arrived(&path);
			assert_int_equal(path.c->mtu, 1400);
			assert_int_not_equal(path.c->pmtu->raise_at, 0);
		}
		path.mtu = 1000;
		path_send(&path, 4, llp_emss(path.h.app.llp));
		for (int i = 0; i < 200 && path.c->mtu != 576; i++) { /* timeouts double */
			path_carry(&path);
			host_advance(&path.h, 200 * MS);
		}
		path_all_arrived(&path);
		assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 2 + measured);
		assert_int_equal(path.c->mtu, 576);
		path.mtu = 1500; /* and what has failed is found again */
		path_bulk(&path, 200);
		path_all_arrived(&path);
		assert_int_equal(path.c->mtu, measured ? 1400 : 1500);
		host_end(&path.h);
	}
}

/** What vanished is larger than what is looked for, as the route was another when it was sent. */
static void test_black_hole_above_a_search(void **state)
{
	path_start(&path, OPTIONS, 1500, 1500);
	path_bulk(&path, 2);
	path.mtu = 0;
	path_send(&path, 4, 1460);
	path_too_big(&path, path.c->snd_una + 3 * 1460, 1000);
	assert_non_null(path.c->pmtu);
	while (tcp_sendq_at(&path.c->sendq, 0)->rexmits < 2) {
		path_carry(&path);
		host_advance(&path.h, 10 * MS);
	}
	path_carry(&path);
	path.h.ip.path_mtu = path.c->path.mtu = 1300;
	path.mtu = 1500;
	for (int i = 0; i < 1000 && path.c->mtu == 1500; i++)
		host_advance(&path.h, 10 * MS);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 1);
	assert_int_equal(path.c->mtu, 1200);
	path_all_arrived(&path);
	host_end(&path.h);
}

static void test_outage_is_no_black_hole(void **state)
{
	path_start(&path, OPTIONS, 1500, 0); /* nothing passes */
	path_send(&path, 10, 1460);
	for (int i = 0; i < 40; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
	}
	assert_in_range(path.c->mtu, 576, 1200);
	path.mtu = 1500;
	path_all_arrived(&path);
	path_bulk(&path, 3);
	path_all_arrived(&path);
	assert_int_equal(path.c->mtu, 1500); /* at the first probe */
	assert_null(path.c->pmtu);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_probes, 1);
	host_end(&path.h);
}

static void test_small_path(void **state)
{
	path_start(&path, OPTIONS, 1500, 600);
	path_send(&path, 2, 1460);
	for (int i = 0; i < 400 && path.p.ack == path.irs; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
	}
	assert_int_equal(path.c->mtu, 576);
	path_all_arrived(&path);
	path_bulk(&path, 150);
	path_all_arrived(&path);
	assert_int_equal(path.c->mtu, 576);
	host_end(&path.h);
}

static void test_losses_are_no_black_hole(void **state)
{
	path_start(&path, OPTIONS, 1500, 1500);
	path_bulk(&path, 2);
	/* One is lost four times while others of its size arrive. */
	path.unlucky = path.c->snd_nxt;
	path.times = 4;
	path_bulk(&path, 20);
	path_all_arrived(&path);
	assert_int_equal(path.times, 0);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 0);
	/* One segment is lost over and over while others of its size arrive. */
	for (int i = 0; i < 6; i++) {
		struct heard a;

		path_send(&path, 6, 1460);
		host_expect(&path.h, &a); /* lost */
		path_carry(&path);
		host_advance(&path.h, 300 * MS);
		path_carry(&path);
	}
	path_all_arrived(&path);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 0);
	assert_int_equal(path.c->mtu, 1500);
	host_end(&path.h);
}

static void test_small_segments_are_not_suspected(void **state)
{
	path_start(&path, OPTIONS, 1500, 0);
	path_send(&path, 3, 100);
	for (int i = 0; i < 50; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
	}
	assert_int_equal(path.c->mtu, 1500);
	assert_null(path.c->pmtu);
	host_end(&path.h);
}

static void test_path_gets_wider_later(void **state)
{
	path_start(&path, OPTIONS, 1500, 1400);
	path_send(&path, 4, 1460);
	for (int i = 0; i < 40; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
	}
	path_bulk(&path, 150);
	assert_int_equal(path.c->mtu, 1400);
	path.mtu = 1500;
	path_bulk(&path, 20);
	assert_int_equal(path.c->mtu, 1400); /* ten minutes are not over */
	host_advance(&path.h, 600000 * MS);
	path_bulk(&path, 5);
	path_all_arrived(&path);
	assert_int_equal(path.c->mtu, 1500);
	assert_null(path.c->pmtu);
	host_end(&path.h);
}

static void test_without_sack_it_is_tried_later(void **state)
{
	path_start(&path, TCP_HAS_MSS, 1500, 1400);
	path_send(&path, 4, 1460);
	for (int i = 0; i < 60; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
	}
	path_all_arrived(&path);
	assert_int_equal(path.c->mtu, 1200);
	path_bulk(&path, 20);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_probes, 0);
	path.mtu = 1500;
	host_advance(&path.h, 600000 * MS);
	path_bulk(&path, 2);
	assert_int_equal(path.c->mtu, 1500);
	host_end(&path.h);
}

/** A peer that never tells of duplicates gets three probes per size, and no harm. */
static void test_peer_without_dsack(void **state)
{
	path_start(&path, OPTIONS, 1500, 1400);
	path.dsacks = false;
	path_send(&path, 4, 1460);
	for (int i = 0; i < 40; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
	}
	path_bulk(&path, 400);
	path_all_arrived(&path);
	assert_int_equal(path.c->mtu, 1200);
	assert_true(tcp_stack_stats(path.h.tcp)->pmtu_probes <= 3 * 6);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 1);
	host_end(&path.h);
}

/* ---- no packets for cuttings ---------------------------------------------------------------- */

/** Connections with little in their queue may have it between the two. */
static void budget_is_full(void)
{
	assert_true(path.h.tcp->tx_held >= path.h.tcp->tx_limit);
}

/** All that is in flight is lost and too large, and the budget is full of it. */
static void test_black_hole_with_a_full_budget(void **state)
{
	path_start_with_budget(&path, OPTIONS, 1500, 1400, 6);
	path_send(&path, 7, 1460);
	assert_int_equal(path.c->sendq.count, 7);
	budget_is_full();
	path_all_arrived(&path);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 1);
	host_end(&path.h);
}

static void test_black_hole_without_sack_with_a_full_budget(void **state)
{
	path_start_with_budget(&path, TCP_HAS_MSS, 1500, 1400, 6);
	path_send(&path, 7, 1460);
	budget_is_full();
	path_all_arrived(&path);
	host_end(&path.h);
}

/** The neighbour has the budget and gives nothing back: its peer's window is closed. */
static void test_black_hole_beside_a_full_queue(void **state)
{
	struct llp *mine;
	struct peer other;
	uint32_t held;

	path_start_with_budget(&path, OPTIONS, 1500, 1400, 6);
	mine = path.h.app.llp;
	path.h.app.connected = 0;
	peer_connected(&other, &path.h, OPTIONS);
	other.wnd = 0;
	peer_send(&other, 0, NULL, 0);
	for (unsigned i = 0; i < 3; i++)
		app_send_pattern(&path.h.app, 0, 1000);
	path.h.app.llp = mine;
	path_send(&path, 4, 1460);
	assert_int_equal(path.c->sendq.count, 4);
	budget_is_full();
	held = path.h.tcp->tx_held;
	for (int i = 0; i < 100 && path.c->sendq.count; i++) {
		path_carry(&path);
		host_advance(&path.h, 100 * MS);
		assert_true(path.h.tcp->tx_held <= held + 1); /* one cutting at a time */
	}
	path_all_arrived(&path);
	assert_int_equal(path.h.tcp->tx_held, 3);
	host_end(&path.h);
}

/* ---- messages ------------------------------------------------------------------------------ */

/** RFC 5927 section 7.2: what has passed must first be lost. */
static void test_message_against_experience_waits(void **state)
{
	path_start(&path, OPTIONS, 1500, 1500);
	path_bulk(&path, 2);
	path_send(&path, 4, 1460);
	path_too_big(&path, path.c->snd_una, 600);
	assert_int_equal(path.c->mtu, 1500);
	path_carry(&path); /* it arrives: forged */
	path_bulk(&path, 1);
	assert_int_equal(path.c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->path_too_big, 0);
	/* And now it is true. */
	path.mtu = 1300;
	path_send(&path, 4, 1460);
	path_too_big(&path, path.c->snd_una, 1300);
	assert_int_equal(path.c->mtu, 1500);
	for (int i = 0; i < 20 && path.c->mtu == 1500; i++) {
		path_carry(&path);
		host_advance(&path.h, 50 * MS);
	}
	assert_int_equal(path.c->mtu, 1300);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->path_too_big, 1);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->black_holes, 0);
	path_all_arrived(&path);
	host_end(&path.h);
}

/** Nor is a message true that another segment is lost, or a part of that one which is small. */
static void test_message_about_another_loss_waits(void **state)
{
	/* By octets: what the message is about, and what has arrived in order. */
	static const uint32_t cases[][2] = {{0, 2 * 1460}, {5 * 1460, 2 * 1460}, {1200, 1000}};

	for (unsigned i = 0; i < 3; i++) {
		struct tcp_range r;
		uint32_t una;

		path_start(&path, OPTIONS, 1500, 1500);
		path_bulk(&path, 2);
		path_send(&path, 6, 1460);
		una = path.c->snd_una;
		ip_double_drain(&path.h.ip);
		path_too_big(&path, una + cases[i][0], 600);
		assert_int_equal(path.c->pmtu->claimed, 600);
		r = (struct tcp_range){una + (i < 2 ? 3 : 1) * 1460, una + 5 * 1460};
		peer_sack(&path.p, una + cases[i][1], &r, 1);
		assert_int_equal(path.c->retransmits, 1);
		assert_int_equal(path.c->mtu, 1500);
		assert_int_equal(tcp_stack_stats(path.h.tcp)->path_too_big, 0);
		ip_double_drain(&path.h.ip);
		host_end(&path.h);
	}
}

static void test_message_about_a_small_packet_is_false(void **state)
{
	path_start(&path, OPTIONS, 1500, 1500);
	path_send(&path, 1, 500);
	path_too_big(&path, path.c->snd_una, 600);
	assert_int_equal(path.c->mtu, 1500);
	assert_null(path.c->pmtu);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->icmp_ignored, 1);
	host_end(&path.h);
}

static void test_message_without_a_size(void **state)
{
	path_start(&path, OPTIONS, 1500, 1500);
	path_send(&path, 2, 1460);
	path_too_big(
		&path, path.c->snd_una, 0); /* a router older than RFC 1191: the next plateau */
	assert_int_equal(path.c->mtu, 1492);
	host_end(&path.h);
}

static void test_storm_of_messages_costs_nothing(void **state)
{
	path_start(&path, OPTIONS, 1500, 1500);
	path_bulk(&path, 2);
	path_send(&path, 4, 1460);
	ip_double_drain(&path.h.ip);
	for (uint32_t i = 0; i < 10000; i++)
		path_too_big(&path, path.c->snd_una + i % 5840, (uint16_t)(i % 1600));
	assert_int_equal(path.c->mtu, 1500);
	host_expect_none(&path.h);
	host_end(&path.h);
}

/** The path of several connections shrinks, all of whose text is lost. */
static void test_message_with_a_full_budget(void **state)
{
	struct tcp_conn *conn[3];
	struct peer peer[3];
	struct heard a;

	host_init(&path.h, LOCAL, &(struct tcp_stack_config){.send_packets = 14});
	for (int i = 0; i < 3; i++) {
		path.h.app.connected = 0;
		peer_connected(&peer[i], &path.h, OPTIONS);
		conn[i] = tcp_conn_of(path.h.app.llp);
	}
	for (int i = 0; i < 3; i++) {
		path.h.app.llp = &conn[i]->llp;
		for (int k = 0; k < 5; k++)
			app_send_pattern(&path.h.app, 0, 1460);
	}
	budget_is_full();
	ip_double_drain(&path.h.ip);
	for (int i = 0; i < 3; i++)
		path_too_big_for(&path, peer[i].lport, conn[i]->snd_una, 1300);
	for (int n = 0; n < 200 && path.h.tcp->tx_held; n++) {
		host_advance(&path.h, 50 * MS);
		while (ip_double_pending(&path.h.ip)) {
			struct peer *to = peer;

			host_expect(&path.h, &a);
			while (to->lport != a.h.sport)
				to++;
			if (!a.len || a.h.seq != to->ack)
				continue;
			assert_true(a.len <= 1260);
			to->ack += a.len;
			peer_send(to, 0, NULL, 0);
		}
	}
	assert_int_equal(path.h.app.closed, 0);
	assert_int_equal(path.h.tcp->tx_held, 0);
	host_end(&path.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_black_hole_is_found_and_measured),
		cmocka_unit_test(test_black_hole_after_a_month),
		cmocka_unit_test(test_black_hole_behind_another),
		cmocka_unit_test(test_black_hole_above_a_search),
		cmocka_unit_test(test_outage_is_no_black_hole),
		cmocka_unit_test(test_small_path),
		cmocka_unit_test(test_losses_are_no_black_hole),
		cmocka_unit_test(test_small_segments_are_not_suspected),
		cmocka_unit_test(test_path_gets_wider_later),
		cmocka_unit_test(test_without_sack_it_is_tried_later),
		cmocka_unit_test(test_peer_without_dsack),
		cmocka_unit_test(test_black_hole_with_a_full_budget),
		cmocka_unit_test(test_black_hole_without_sack_with_a_full_budget),
		cmocka_unit_test(test_black_hole_beside_a_full_queue),
		cmocka_unit_test(test_message_against_experience_waits),
		cmocka_unit_test(test_message_about_another_loss_waits),
		cmocka_unit_test(test_message_about_a_small_packet_is_false),
		cmocka_unit_test(test_message_without_a_size),
		cmocka_unit_test(test_storm_of_messages_costs_nothing),
		cmocka_unit_test(test_message_with_a_full_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
