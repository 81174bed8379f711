/* SPDX-License-Identifier: BSD-2-Clause */
/* A path that may take more than is sent: what IP knows of it, and probes of it (RFC 8899). */
#include "path.h"

#include "tcp/output.h"
#include "tcp/pmtu.h"

#include <errno.h>
#include <rte_mbuf.h>

#define OPTIONS (TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED)

static struct path path;

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raise_is_probed),
		cmocka_unit_test(test_raise_without_sack_is_tried),
		cmocka_unit_test(test_raise_beyond_what_the_peer_takes),
		cmocka_unit_test(test_path_shrinks_under_a_search),
		cmocka_unit_test(test_no_probe_without_a_flight),
		cmocka_unit_test(test_no_probe_beside_a_fin),
		cmocka_unit_test(test_no_packet_for_a_probe),
		cmocka_unit_test(test_refused_probe_takes_no_ack_along),
		cmocka_unit_test(test_answer_is_taken_out),
		cmocka_unit_test(test_our_mss_is_the_links),
		cmocka_unit_test(test_little_text_probes_little),
		cmocka_unit_test(test_message_about_a_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
