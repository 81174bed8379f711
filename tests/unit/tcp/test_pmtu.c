/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8899, RFC 4821, RFC 5927 section 7. */
#include "path.h"

#include "tcp/output.h"
#include "tcp/pmtu.h"

#include <errno.h>

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

/* ---- the IP layer's value ------------------------------------------------------------------- */

static void test_raise_is_probed(void **state)
{
	struct tcp_info info;

	path_start(&path, OPTIONS, 1500, 1500);
	path.h.ip.path_mtu = 1300; /* somebody else was told */
	path_bulk(&path, 3);
	assert_int_equal(path.c->mtu, 1300);
	path.h.ip.path_mtu = 0; /* and it is forgotten */
	path_send(&path, 1, 100);
	assert_int_equal(path.c->mtu, 1300);
	path_carry(&path);
	path_bulk(&path, 3);
	assert_int_equal(path.c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_probes, 1);
	path_all_arrived(&path);
	tcp_get_info(path.h.app.llp, &info); /* recovery must not hear of the answers */
	assert_int_equal(info.dsacks, 0);
	host_end(&path.h);
}

/** Without SACK no probe could tell: it is used at once. */
static void test_raise_without_sack_is_tried(void **state)
{
	path_start(&path, TCP_HAS_MSS, 1500, 1500);
	path.h.ip.path_mtu = 1300;
	path_bulk(&path, 3);
	assert_int_equal(path.c->mtu, 1300);
	path.h.ip.path_mtu = 0;
	path_bulk(&path, 2);
	assert_int_equal(path.c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_probes, 0);
	path_all_arrived(&path);
	host_end(&path.h);
}

/** Of what the peer does not take nothing is tried. */
static void test_raise_beyond_what_the_peer_takes(void **state)
{
	path_start(&path, OPTIONS, 1500, 9000);
	path_bulk(&path, 2);
	path.h.ip.path_mtu = 9000;
	path_bulk(&path, 3);
	assert_int_equal(path.c->path_mtu, 9000);
	assert_int_equal(path.c->mtu, 1500);
	assert_null(path.c->pmtu);
	path_all_arrived(&path);
	host_end(&path.h);
}

/** IP knew of @p from alone, and has forgotten it: the path takes @p mtu, and may take 1500. */
static void is_to_rise(uint16_t from, uint16_t mtu)
{
	path_start(&path, OPTIONS, 1500, mtu);
	path.h.ip.path_mtu = from;
	path_bulk(&path, 3);
	path.h.ip.path_mtu = 0;
	path_send(&path, 1, 100);
	path_carry(&path);
}

/** A search is about to begin: the path takes 1300, or so it was, and @p n records are queued. */
static void before_a_search(unsigned n)
{
	is_to_rise(1300, 1500);
	for (unsigned i = 0; i < n; i++)
		path_queue(&path, 1260);
}

/** The route changes to a narrower one while it is searched what the old one took. */
static void test_path_shrinks_under_a_search(void **state)
{
	before_a_search(10);
	llp_push(path.h.app.llp);
	assert_int_equal(path.c->pmtu->size, 1500);
	path.h.ip.path_mtu = 1290;
	path_send(&path, 1, 100);
	path_send(&path, 1, 100);
	assert_int_equal(path.c->mtu, 1290);
	assert_null(path.c->pmtu); /* it takes no more */
	path.mtu = 1290;
	path_all_arrived(&path);
	path.mtu = 1500;
	path.h.ip.path_mtu = 0;
	path_bulk(&path, 5);
	path_all_arrived(&path);
	assert_int_equal(path.c->mtu, 1500);
	host_end(&path.h);
}

/** Nor while nothing is in flight to be tried with, as behind a closed window. */
static void test_no_probe_without_a_flight(void **state)
{
	before_a_search(0);
	path_all_arrived(&path);
	path_bulk(&path, 3);
	assert_int_equal(path.c->mtu, 1500);
	path.h.ip.path_mtu = path.c->path.mtu = 1300;
	path_bulk(&path, 3);
	path.p.wnd = 0;
	peer_send(&path.p, 0, NULL, 0);
	path.h.ip.path_mtu = 0;
	path.c->path.mtu = 1500;
	path_send(&path, 1, 1200);
	assert_true(path.c->persist);
	assert_non_null(path.c->pmtu);
	assert_int_equal(path.c->pmtu->size, 0);
	host_expect_none(&path.h);
	path.p.wnd = 65535;
	peer_send(&path.p, 0, NULL, 0);
	path_bulk(&path, 3);
	assert_int_equal(path.c->mtu, 1500);
	path_all_arrived(&path);
	host_end(&path.h);
}

/** Nothing is sent to try a path while the end of the stream is under way. */
static void test_no_probe_beside_a_fin(void **state)
{
	before_a_search(10);
	llp_shutdown(path.h.app.llp);
	path_carry(&path);
	assert_int_equal(path.nxt, path.c->snd_nxt - 1);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_probes, 0);
	host_end(&path.h);
}

/** A probe for which there is no packet is sent later. */
static void test_no_packet_for_a_probe(void **state)
{
	static struct rte_mbuf *taken[4096];
	unsigned n = 0;

	before_a_search(10);
	while ((taken[n] = tcp_stack_packet(path.h.tcp)))
		n++;
	llp_push(path.h.app.llp);
	assert_int_equal(path.c->pmtu->size, 0);
	rte_pktmbuf_free_bulk(taken, n);
	path_carry(&path);
	path_bulk(&path, 3);
	path_all_arrived(&path);
	assert_int_equal(path.c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_probes, 1);
	host_end(&path.h);
}

/** An ACK that waits for a segment to go with does not count as sent with one that IP refuses. */
static void test_refused_probe_takes_no_ack_along(void **state)
{
	uint64_t due;

	path_start(&path, OPTIONS, 1500, 1500);
	path_send(&path, 2, 1000);
	ip_double_drain(&path.h.ip);
	due = path.c->delack_at = path.h.tcp->now + 40 * MS;
	path.h.ip.send_error = -ENETUNREACH;
	assert_int_equal(tcp_send_copy(path.c, path.c->snd_una, 1200), -ENETUNREACH);
	path.h.ip.send_error = 0;
	assert_int_equal(path.c->delack_at, due);
	assert_int_equal(tcp_send_copy(path.c, path.c->snd_una, 1200), 0);
	assert_true(path.c->delack_at == TIMER_NEVER);
	ip_double_drain(&path.h.ip);
	host_end(&path.h);
}

/** The answer to a probe is taken out of the SACK option, and nothing else is. */
static void test_answer_is_taken_out(void **state)
{
	struct tcp_segment seg = {.n_sack = 2}, again;

	is_to_rise(1300, 1500);
	path_send(&path, 10, 1260);
	assert_int_equal(path.c->pmtu->size, 1500);
	seg.sack[0] =
		(struct tcp_range){path.c->pmtu->seq, path.c->pmtu->seq + path.c->pmtu->len - 1};
	seg.sack[1] = (struct tcp_range){7, 8};
	seg.ack = path.c->pmtu->seq + path.c->pmtu->len;
	tcp_pmtu_sack(path.c, &seg);
	assert_int_equal(seg.n_sack, 2);
	assert_int_equal(path.c->mtu, 1300);
	seg.sack[0].right++;
	/* No duplicate: the text itself has arrived, behind a gap (RFC 2883 section 4). */
	again = seg;
	again.ack = path.c->pmtu->seq;
	tcp_pmtu_sack(path.c, &again);
	assert_int_equal(again.n_sack, 2);
	assert_int_equal(path.c->mtu, 1300);
	/* Of a probe that has ended: it is no news, and nobody else is to hear of it. A duplicate
	 * also lies below SEG.ACK or within the block that follows. */
	path.c->pmtu->size = 0;
	path_too_big(&path, path.c->pmtu->seq, 1400);
	assert_int_equal(path.c->pmtu->high, 1500);
	again.sack[1] = again.sack[0];
	tcp_pmtu_sack(path.c, &again);
	assert_int_equal(again.n_sack, 1);
	again = seg;
	tcp_pmtu_sack(path.c, &again);
	assert_int_equal(again.n_sack, 1);
	assert_int_equal(path.c->mtu, 1300);
	path.c->pmtu->size = 1500;
	tcp_pmtu_sack(path.c, &seg);
	assert_int_equal(seg.n_sack, 1);
	assert_int_equal(seg.sack[0].left, 7);
	assert_int_equal(path.c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_raised, 1);
	host_end(&path.h);
}

/** RFC 9293 section 3.7.1: our MSS says what we can receive, not what the path takes from us. */
static void test_our_mss_is_the_links(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct heard a;

	host_init(&path.h, LOCAL, NULL);
	path.h.ip.path_mtu = 1000;
	host_connect(&path.h);
	host_expect(&path.h, &a);
	assert_int_equal(a.h.mss, 1460);
	assert_int_equal(llp_emss(path.h.app.llp), 536);
	host_listen(&path.h, 8);
	host_hear(&path.h, PORT, &syn, NULL);
	host_expect(&path.h, &a);
	assert_int_equal(a.h.mss, 1460);
	host_end(&path.h);
}

static void test_little_text_probes_little(void **state)
{
	is_to_rise(600, 1500);
	for (int i = 0; i < 5; i++) { /* never more than 1000 bytes in flight */
		path_send(&path, 2, 500);
		path_carry(&path);
		host_advance(&path.h, 20 * MS);
	}
	assert_int_equal(path.c->mtu, 1040);
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

static void test_message_about_a_probe(void **state)
{
	is_to_rise(1280, 1400);
	path_send(&path, 10, 1240);
	assert_int_equal(path.c->pmtu->size, 1500);
	/* No news: of another segment, or that it was not too big. */
	path_too_big(&path, path.c->pmtu->seq + 1, 1400);
	path_too_big(&path, path.c->pmtu->seq, 1500);
	assert_int_equal(path.c->pmtu->size, 1500);
	path_too_big(&path, path.c->pmtu->seq, 1400);
	assert_int_equal(path.c->mtu, 1280);
	assert_int_equal(path.c->pmtu->high, 1400);
	path_carry(&path);
	path_bulk(&path, 2);
	assert_int_equal(path.c->mtu, 1400); /* the very next probe */
	assert_int_equal(tcp_stack_stats(path.h.tcp)->pmtu_probes, 2);
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
		cmocka_unit_test(test_raise_is_probed),
		cmocka_unit_test(test_raise_without_sack_is_tried),
		cmocka_unit_test(test_raise_beyond_what_the_peer_takes),
		cmocka_unit_test(test_no_probe_without_a_flight),
		cmocka_unit_test(test_path_shrinks_under_a_search),
		cmocka_unit_test(test_no_probe_beside_a_fin),
		cmocka_unit_test(test_no_packet_for_a_probe),
		cmocka_unit_test(test_refused_probe_takes_no_ack_along),
		cmocka_unit_test(test_answer_is_taken_out),
		cmocka_unit_test(test_our_mss_is_the_links),
		cmocka_unit_test(test_little_text_probes_little),
		cmocka_unit_test(test_message_against_experience_waits),
		cmocka_unit_test(test_message_about_another_loss_waits),
		cmocka_unit_test(test_message_about_a_small_packet_is_false),
		cmocka_unit_test(test_message_without_a_size),
		cmocka_unit_test(test_message_about_a_probe),
		cmocka_unit_test(test_storm_of_messages_costs_nothing),
		cmocka_unit_test(test_message_with_a_full_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
