/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8899, RFC 4821, RFC 5927 section 7. The path is a test of lengths between host and peer. */
#include "base/bytes.h"
#include "host.h"

#include "tcp/pmtu.h"

#define OPTIONS (TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED)

static struct host h;
static struct peer p;
static struct tcp_conn *c;

/** The path, and a receiver that keeps what comes: ACK, SACK, D-SACK as RFC 2018 and 2883 say. */
static struct {
	uint16_t mtu;
	uint32_t irs, nxt; /* in order so far */
	bool got[1 << 23]; /* by offset from irs */
	bool dsacks;
	uint32_t unlucky; /**< the segment that begins here is dropped so many times */
	unsigned times;
	unsigned dropped, largest;
} path;

/** @p budget packets may wait to be sent, of all connections. */
static void start_with_budget(unsigned options, uint16_t link, uint16_t mtu, unsigned budget)
{
	const struct tcp_stack_config cfg = {.user_timeout_ms = 10000000, .send_packets = budget};

	host_init(&h, LOCAL, &cfg);
	h.ip.mtu = link;
	peer_accepted(&p, &h, options);
	c = tcp_conn_of(h.app.llp);
	memset(&path, 0, sizeof path);
	path.mtu = mtu;
	path.irs = path.nxt = p.ack;
	path.dsacks = true;
}

static void start(unsigned options, uint16_t link, uint16_t mtu)
{
	start_with_budget(options, link, mtu, 0);
}

static struct tcp_range arrive(const struct heard *a)
{
	struct tcp_range dup = {0, 0};
	bool fresh = false;

	for (uint32_t i = 0; i < a->len; i++) {
		bool *got = &path.got[(a->h.seq - path.irs + i) % (1 << 23)];

		assert_true(a->text[i] == (uint8_t)((a->h.seq - path.irs + i) % 251));
		fresh |= !*got;
		*got = true;
	}
	while (path.got[(path.nxt - path.irs) % (1 << 23)])
		path.nxt++;
	if (!fresh && a->len)
		dup = (struct tcp_range){a->h.seq, a->h.seq + a->len};
	return dup;
}

/** Carry what was sent over the path, and the answers back. */
static void carry(void)
{
	struct heard a;

	while (ip_double_pending(&h.ip)) {
		struct tcp_range dup, r[2];
		unsigned n = 0;

		host_expect(&h, &a);
		if (20u + a.h.header_len + a.len > path.mtu ||
			(a.len && a.h.seq == path.unlucky && path.times)) {
			path.times -= path.times > 0;
			path.dropped++;
			continue;
		}
		if (20u + a.h.header_len + a.len > path.largest)
			path.largest = 20u + a.h.header_len + a.len;
		dup = arrive(&a);
		if (!a.len)
			continue;
		if (dup.left != dup.right && path.dsacks)
			r[n++] = dup;
		else if (seq_gt(a.h.seq, path.nxt))
			r[n++] = (struct tcp_range){a.h.seq, a.h.seq + a.len};
		p.ack = path.nxt;
		if (c->sack_on && n)
			peer_sack(&p, p.ack, r, n);
		else
			peer_send(&p, 0, NULL, 0);
	}
}

static bool queue_record(uint32_t len)
{
	static uint32_t at;
	uint8_t *room = llp_reserve(h.app.llp, len, false);

	if (!room)
		return false;
	if (p.ack == path.irs && !c->sendq.count)
		at = 0;
	for (uint32_t k = 0; k < len; k++)
		room[k] = (uint8_t)(at++ % 251);
	llp_commit(h.app.llp, len);
	return true;
}

static void send_records(unsigned n, uint32_t len)
{
	for (unsigned i = 0; i < n && queue_record(len); i++)
		;
	llp_push(h.app.llp);
}

/** A round of bulk text, each record as large as the EMSS says, as MPA makes them. */
static void bulk(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		send_records(10, llp_emss(h.app.llp));
		carry();
		host_advance(&h, 20 * MS);
		carry();
	}
}

static void all_arrived(void)
{
	for (int i = 0; i < 50 && c->sendq.count; i++) {
		carry();
		host_advance(&h, 200 * MS);
	}
	assert_int_equal(c->sendq.count, 0);
	assert_int_equal(path.nxt, c->snd_nxt);
}

/* ---- black holes --------------------------------------------------------------------------- */

static void test_black_hole_is_found_and_measured(void **state)
{
	uint32_t cwnd;

	start(OPTIONS, 1500, 1400);
	c->peer_mss = 1460;
	send_records(4, 1460);
	for (int i = 0; i < 40 && p.ack == path.irs; i++) {
		carry();
		host_advance(&h, 100 * MS);
	}
	assert_true(p.ack != path.irs); /* in less than 4 s */
	assert_int_equal(tcp_stack_stats(h.tcp)->black_holes, 1);
	assert_int_equal(c->mtu, 1200);
	all_arrived();
	cwnd = c->cc.ssthresh;
	bulk(200);
	all_arrived();
	/* What the table has below 1400: 1400. */
	assert_int_equal(c->mtu, 1400);
	assert_int_equal(llp_emss(h.app.llp), 1360);
	assert_int_equal(path.largest, 1400);
	/* Probes were lost, and nothing else: no congestion. */
	assert_int_equal(c->cc.ssthresh, cwnd);
	assert_true(tcp_stack_stats(h.tcp)->pmtu_probes <= 3 * 6);
	assert_in_range(tcp_stack_stats(h.tcp)->pmtu_raised, 1, 4);
	host_end(&h);
}

/* It was wider, once: what passed is no news after any time. */
static void test_black_hole_after_a_month(void **state)
{
	start(OPTIONS, 1500, 1500);
	bulk(20);
	all_arrived();
	host_advance(&h, UINT64_C(30) * 24 * 3600 * 1000 * MS);
	path.mtu = 1400;
	send_records(4, llp_emss(h.app.llp));
	all_arrived();
	assert_int_equal(tcp_stack_stats(h.tcp)->black_holes, 1);
	host_end(&h);
}

static void test_outage_is_no_black_hole(void **state)
{
	start(OPTIONS, 1500, 0); /* nothing passes */
	send_records(10, 1460);
	for (int i = 0; i < 40; i++) {
		carry();
		host_advance(&h, 100 * MS);
	}
	assert_in_range(c->mtu, 576, 1200);
	path.mtu = 1500;
	all_arrived();
	bulk(3);
	all_arrived();
	assert_int_equal(c->mtu, 1500); /* at the first probe */
	assert_null(c->pmtu);
	assert_int_equal(tcp_stack_stats(h.tcp)->pmtu_probes, 1);
	host_end(&h);
}

static void test_small_path(void **state)
{
	start(OPTIONS, 1500, 600);
	send_records(2, 1460);
	for (int i = 0; i < 400 && p.ack == path.irs; i++) {
		carry();
		host_advance(&h, 100 * MS);
	}
	assert_int_equal(c->mtu, 576);
	all_arrived();
	bulk(150);
	all_arrived();
	assert_int_equal(c->mtu, 576);
	host_end(&h);
}

static void test_losses_are_no_black_hole(void **state)
{
	start(OPTIONS, 1500, 1500);
	bulk(2);
	/* One is lost four times while others of its size arrive. */
	path.unlucky = c->snd_nxt;
	path.times = 4;
	bulk(20);
	all_arrived();
	assert_int_equal(path.times, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->black_holes, 0);
	/* One segment is lost over and over while others of its size arrive. */
	for (int i = 0; i < 6; i++) {
		struct heard a;

		send_records(6, 1460);
		host_expect(&h, &a); /* lost */
		carry();
		host_advance(&h, 300 * MS);
		carry();
	}
	all_arrived();
	assert_int_equal(tcp_stack_stats(h.tcp)->black_holes, 0);
	assert_int_equal(c->mtu, 1500);
	host_end(&h);
}

static void test_small_segments_are_not_suspected(void **state)
{
	start(OPTIONS, 1500, 0);
	send_records(3, 100);
	for (int i = 0; i < 50; i++) {
		carry();
		host_advance(&h, 100 * MS);
	}
	assert_int_equal(c->mtu, 1500);
	assert_null(c->pmtu);
	host_end(&h);
}

static void test_path_gets_wider_later(void **state)
{
	start(OPTIONS, 1500, 1400);
	send_records(4, 1460);
	for (int i = 0; i < 40; i++) {
		carry();
		host_advance(&h, 100 * MS);
	}
	bulk(150);
	assert_int_equal(c->mtu, 1400);
	path.mtu = 1500;
	bulk(20);
	assert_int_equal(c->mtu, 1400); /* ten minutes are not over */
	host_advance(&h, 600000 * MS);
	bulk(5);
	all_arrived();
	assert_int_equal(c->mtu, 1500);
	assert_null(c->pmtu);
	host_end(&h);
}

static void test_without_sack_it_is_tried_later(void **state)
{
	start(TCP_HAS_MSS, 1500, 1400);
	send_records(4, 1460);
	for (int i = 0; i < 60; i++) {
		carry();
		host_advance(&h, 100 * MS);
	}
	all_arrived();
	assert_int_equal(c->mtu, 1200);
	bulk(20);
	assert_int_equal(tcp_stack_stats(h.tcp)->pmtu_probes, 0);
	path.mtu = 1500;
	host_advance(&h, 600000 * MS);
	bulk(2);
	assert_int_equal(c->mtu, 1500);
	host_end(&h);
}

/** A peer that never tells of duplicates gets three probes per size, and no harm. */
static void test_peer_without_dsack(void **state)
{
	start(OPTIONS, 1500, 1400);
	path.dsacks = false;
	send_records(4, 1460);
	for (int i = 0; i < 40; i++) {
		carry();
		host_advance(&h, 100 * MS);
	}
	bulk(400);
	all_arrived();
	assert_int_equal(c->mtu, 1200);
	assert_true(tcp_stack_stats(h.tcp)->pmtu_probes <= 3 * 6);
	assert_int_equal(tcp_stack_stats(h.tcp)->black_holes, 1);
	host_end(&h);
}

/* ---- no packets for cuttings ---------------------------------------------------------------- */

/** Connections with little in their queue may have it between the two. */
static void budget_is_full(void)
{
	assert_true(h.tcp->tx_held >= h.tcp->tx_limit);
}

/** All that is in flight is lost and too large, and the budget is full of it. */
static void test_black_hole_with_a_full_budget(void **state)
{
	start_with_budget(OPTIONS, 1500, 1400, 6);
	send_records(7, 1460);
	assert_int_equal(c->sendq.count, 7);
	budget_is_full();
	all_arrived();
	assert_int_equal(tcp_stack_stats(h.tcp)->black_holes, 1);
	host_end(&h);
}

static void test_black_hole_without_sack_with_a_full_budget(void **state)
{
	start_with_budget(TCP_HAS_MSS, 1500, 1400, 6);
	send_records(7, 1460);
	budget_is_full();
	all_arrived();
	host_end(&h);
}

/** The neighbour has the budget and gives nothing back: its peer's window is closed. */
static void test_black_hole_beside_a_full_queue(void **state)
{
	struct llp *mine;
	struct peer other;
	uint32_t held;

	start_with_budget(OPTIONS, 1500, 1400, 6);
	mine = h.app.llp;
	h.app.connected = 0;
	peer_connected(&other, &h, OPTIONS);
	other.wnd = 0;
	peer_send(&other, 0, NULL, 0);
	for (unsigned i = 0; i < 3; i++)
		app_send_pattern(&h.app, 0, 1000);
	h.app.llp = mine;
	send_records(4, 1460);
	assert_int_equal(c->sendq.count, 4);
	budget_is_full();
	held = h.tcp->tx_held;
	for (int i = 0; i < 100 && c->sendq.count; i++) {
		carry();
		host_advance(&h, 100 * MS);
		assert_true(h.tcp->tx_held <= held + 1); /* one cutting at a time */
	}
	all_arrived();
	assert_int_equal(h.tcp->tx_held, 3);
	host_end(&h);
}

static void too_big_for(uint16_t lport, uint32_t seq, uint16_t mtu)
{
	uint8_t l4[20] = {0};
	struct ip_error e = {.src = addr(LOCAL),
		.dst = addr(REMOTE),
		.kind = IP_ERROR_MTU,
		.mtu = mtu,
		.l4 = l4,
		.l4_len = 8};

	store_be16(l4, lport);
	store_be16(l4 + 2, RPORT);
	store_be32(l4 + 4, seq);
	h.ip.transport.error(h.ip.transport.ctx, &e, h.now);
}

static void too_big(uint32_t seq, uint16_t mtu)
{
	too_big_for(PORT, seq, mtu);
}

/* ---- the IP layer's value ------------------------------------------------------------------- */

static void test_raise_is_probed(void **state)
{
	struct tcp_info info;

	start(OPTIONS, 1500, 1500);
	h.ip.path_mtu = 1300; /* somebody else was told */
	bulk(3);
	assert_int_equal(c->mtu, 1300);
	h.ip.path_mtu = 0; /* and it is forgotten */
	send_records(1, 100);
	assert_int_equal(c->mtu, 1300);
	carry();
	bulk(3);
	assert_int_equal(c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(h.tcp)->pmtu_probes, 1);
	all_arrived();
	tcp_get_info(h.app.llp, &info); /* recovery must not hear of the answers */
	assert_int_equal(info.dsacks, 0);
	host_end(&h);
}

/** A search is about to begin: the path takes 1300, or so it was, and @p n records are queued. */
static void before_a_search(unsigned n)
{
	start(OPTIONS, 1500, 1500);
	h.ip.path_mtu = 1300;
	bulk(3);
	h.ip.path_mtu = 0;
	send_records(1, 100);
	carry();
	for (unsigned i = 0; i < n; i++)
		queue_record(1260);
}

/** The route changes to a narrower one while it is searched what the old one took. */
static void test_path_shrinks_under_a_search(void **state)
{
	before_a_search(10);
	llp_push(h.app.llp);
	assert_int_equal(c->pmtu->size, 1500);
	h.ip.path_mtu = 1290;
	send_records(1, 100);
	send_records(1, 100);
	assert_int_equal(c->mtu, 1290);
	assert_null(c->pmtu); /* it takes no more */
	path.mtu = 1290;
	all_arrived();
	path.mtu = 1500;
	h.ip.path_mtu = 0;
	bulk(5);
	all_arrived();
	assert_int_equal(c->mtu, 1500);
	host_end(&h);
}

/** Nothing is sent to try a path while the end of the stream is under way. */
static void test_no_probe_beside_a_fin(void **state)
{
	before_a_search(10);
	llp_shutdown(h.app.llp);
	carry();
	assert_int_equal(path.nxt, c->snd_nxt - 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->pmtu_probes, 0);
	host_end(&h);
}

/** A probe for which there is no packet is sent later. */
static void test_no_packet_for_a_probe(void **state)
{
	static struct rte_mbuf *taken[4096];
	unsigned n = 0;

	before_a_search(10);
	while ((taken[n] = tcp_stack_packet(h.tcp)))
		n++;
	llp_push(h.app.llp);
	assert_int_equal(c->pmtu->size, 0);
	rte_pktmbuf_free_bulk(taken, n);
	carry();
	bulk(3);
	all_arrived();
	assert_int_equal(c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(h.tcp)->pmtu_probes, 1);
	host_end(&h);
}

/** The answer to a probe is taken out of the SACK option, and nothing else is. */
static void test_answer_is_taken_out(void **state)
{
	struct tcp_segment seg = {.n_sack = 2}, again;

	start(OPTIONS, 1500, 1500);
	h.ip.path_mtu = 1300;
	bulk(3);
	h.ip.path_mtu = 0;
	send_records(1, 100);
	carry();
	send_records(10, 1260);
	assert_int_equal(c->pmtu->size, 1500);
	seg.sack[0] = (struct tcp_range){c->pmtu->seq, c->pmtu->seq + c->pmtu->len - 1};
	seg.sack[1] = (struct tcp_range){7, 8};
	seg.ack = c->pmtu->seq + c->pmtu->len;
	tcp_pmtu_sack(c, &seg);
	assert_int_equal(seg.n_sack, 2);
	assert_int_equal(c->mtu, 1300);
	seg.sack[0].right++;
	/* No duplicate: the text itself has arrived, behind a gap (RFC 2883 section 4). */
	again = seg;
	again.ack = c->pmtu->seq;
	tcp_pmtu_sack(c, &again);
	assert_int_equal(again.n_sack, 2);
	assert_int_equal(c->mtu, 1300);
	/* Of a probe that has ended: it is no news, and nobody else is to hear of it. A duplicate
	 * also lies below SEG.ACK or within the block that follows. */
	c->pmtu->size = 0;
	too_big(c->pmtu->seq, 1400);
	assert_int_equal(c->pmtu->high, 1500);
	again.sack[1] = again.sack[0];
	tcp_pmtu_sack(c, &again);
	assert_int_equal(again.n_sack, 1);
	again = seg;
	tcp_pmtu_sack(c, &again);
	assert_int_equal(again.n_sack, 1);
	assert_int_equal(c->mtu, 1300);
	c->pmtu->size = 1500;
	tcp_pmtu_sack(c, &seg);
	assert_int_equal(seg.n_sack, 1);
	assert_int_equal(seg.sack[0].left, 7);
	assert_int_equal(c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(h.tcp)->pmtu_raised, 1);
	host_end(&h);
}

/** RFC 9293 section 3.7.1: our MSS says what we can receive, not what the path takes from us. */
static void test_our_mss_is_the_links(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, NULL);
	h.ip.path_mtu = 1000;
	host_connect(&h);
	host_expect(&h, &a);
	assert_int_equal(a.h.mss, 1460);
	assert_int_equal(llp_emss(h.app.llp), 536);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.mss, 1460);
	host_end(&h);
}

static void test_little_text_probes_little(void **state)
{
	start(OPTIONS, 1500, 1500);
	h.ip.path_mtu = 600;
	bulk(3);
	h.ip.path_mtu = 0;
	send_records(1, 100);
	carry();
	for (int i = 0; i < 5; i++) { /* never more than 1000 bytes in flight */
		send_records(2, 500);
		carry();
		host_advance(&h, 20 * MS);
	}
	assert_int_equal(c->mtu, 1040);
	host_end(&h);
}

/* ---- messages ------------------------------------------------------------------------------ */

/** RFC 5927 section 7.2: what has passed must first be lost. */
static void test_message_against_experience_waits(void **state)
{
	start(OPTIONS, 1500, 1500);
	bulk(2);
	send_records(4, 1460);
	too_big(c->snd_una, 600);
	assert_int_equal(c->mtu, 1500);
	carry(); /* it arrives: forged */
	bulk(1);
	assert_int_equal(c->mtu, 1500);
	assert_int_equal(tcp_stack_stats(h.tcp)->path_too_big, 0);
	/* And now it is true. */
	path.mtu = 1300;
	send_records(4, 1460);
	too_big(c->snd_una, 1300);
	assert_int_equal(c->mtu, 1500);
	for (int i = 0; i < 20 && c->mtu == 1500; i++) {
		carry();
		host_advance(&h, 50 * MS);
	}
	assert_int_equal(c->mtu, 1300);
	assert_int_equal(tcp_stack_stats(h.tcp)->path_too_big, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->black_holes, 0);
	all_arrived();
	host_end(&h);
}

static void test_message_about_a_small_packet_is_false(void **state)
{
	start(OPTIONS, 1500, 1500);
	send_records(1, 500);
	too_big(c->snd_una, 600);
	assert_int_equal(c->mtu, 1500);
	assert_null(c->pmtu);
	assert_int_equal(tcp_stack_stats(h.tcp)->icmp_ignored, 1);
	host_end(&h);
}

static void test_message_without_a_size(void **state)
{
	start(OPTIONS, 1500, 1500);
	send_records(2, 1460);
	too_big(c->snd_una, 0); /* a router older than RFC 1191: the next plateau */
	assert_int_equal(c->mtu, 1492);
	host_end(&h);
}

static void test_message_about_a_probe(void **state)
{
	start(OPTIONS, 1500, 1400);
	h.ip.path_mtu = 1280;
	bulk(3);
	h.ip.path_mtu = 0;
	send_records(1, 100);
	carry();
	send_records(10, 1240);
	assert_int_equal(c->pmtu->size, 1500);
	/* No news: of another segment, or that it was not too big. */
	too_big(c->pmtu->seq + 1, 1400);
	too_big(c->pmtu->seq, 1500);
	assert_int_equal(c->pmtu->size, 1500);
	too_big(c->pmtu->seq, 1400);
	assert_int_equal(c->mtu, 1280);
	assert_int_equal(c->pmtu->high, 1400);
	carry();
	bulk(2);
	assert_int_equal(c->mtu, 1400); /* the very next probe */
	assert_int_equal(tcp_stack_stats(h.tcp)->pmtu_probes, 2);
	host_end(&h);
}

static void test_storm_of_messages_costs_nothing(void **state)
{
	start(OPTIONS, 1500, 1500);
	bulk(2);
	send_records(4, 1460);
	ip_double_drain(&h.ip);
	for (uint32_t i = 0; i < 10000; i++)
		too_big(c->snd_una + i % 5840, (uint16_t)(i % 1600));
	assert_int_equal(c->mtu, 1500);
	host_expect_none(&h);
	host_end(&h);
}

/** The path of several connections shrinks, all of whose text is lost. */
static void test_message_with_a_full_budget(void **state)
{
	struct tcp_conn *conn[3];
	struct peer peer[3];
	struct heard a;

	host_init(&h, LOCAL, &(struct tcp_stack_config){.send_packets = 14});
	for (int i = 0; i < 3; i++) {
		h.app.connected = 0;
		peer_connected(&peer[i], &h, OPTIONS);
		conn[i] = tcp_conn_of(h.app.llp);
	}
	for (int i = 0; i < 3; i++) {
		h.app.llp = &conn[i]->llp;
		for (int k = 0; k < 5; k++)
			app_send_pattern(&h.app, 0, 1460);
	}
	budget_is_full();
	ip_double_drain(&h.ip);
	for (int i = 0; i < 3; i++)
		too_big_for(peer[i].lport, conn[i]->snd_una, 1300);
	for (int n = 0; n < 200 && h.tcp->tx_held; n++) {
		host_advance(&h, 50 * MS);
		while (ip_double_pending(&h.ip)) {
			struct peer *to = peer;

			host_expect(&h, &a);
			while (to->lport != a.h.sport)
				to++;
			if (!a.len || a.h.seq != to->ack)
				continue;
			assert_true(a.len <= 1260);
			to->ack += a.len;
			peer_send(to, 0, NULL, 0);
		}
	}
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(h.tcp->tx_held, 0);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_black_hole_is_found_and_measured),
		cmocka_unit_test(test_black_hole_after_a_month),
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
		cmocka_unit_test(test_path_shrinks_under_a_search),
		cmocka_unit_test(test_no_probe_beside_a_fin),
		cmocka_unit_test(test_no_packet_for_a_probe),
		cmocka_unit_test(test_answer_is_taken_out),
		cmocka_unit_test(test_our_mss_is_the_links),
		cmocka_unit_test(test_little_text_probes_little),
		cmocka_unit_test(test_message_against_experience_waits),
		cmocka_unit_test(test_message_about_a_small_packet_is_false),
		cmocka_unit_test(test_message_without_a_size),
		cmocka_unit_test(test_message_about_a_probe),
		cmocka_unit_test(test_storm_of_messages_costs_nothing),
		cmocka_unit_test(test_message_with_a_full_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
