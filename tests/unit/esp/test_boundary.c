/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two IP stacks with an IPsec boundary each: what is protected, what is dropped and how that is
 * counted, path MTUs.
 */
#include "ends.h"

#include "base/bytes.h"
#include "esp/esp_wire.h"
#include "ip/udp.h"
#include "support/eal.h"
#include "support/plain_sum.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <stdlib.h>
#include <string.h>

static void packets_are_protected_each_way(void **state)
{
	static const char *const sas[] = {"", "replay-window 4096 flag esn",
		"replay-window 64 encap espinudp 4500 4500 0.0.0.0",
		"replay-window 64 encap espinudp 4500 4510 0.0.0.0"};

	for (unsigned i = 0; i < 2 * sizeof sas / sizeof sas[0]; i++) {
		char *text;

		ends.v6 = i & 1;
		text = ends_both_ways("", sas[i / 2]);
		ends_begin(text, text);
		for (unsigned n = 1; n < 4; n++) {
			struct rte_mbuf *m;

			assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
			m = end_take(&ends.a);
			assert_int_equal(
				end_octets(m)[ends.v6 ? 6 : 9], i / 2 >= 2 ? 17 : ESP_PROTO);
			end_give(&ends.b, m);
			end_expect_delivered(&ends.b, n);
			assert_int_equal(end_send_one(&ends.b, SEGMENT), 0);
			end_give(&ends.a, end_take(&ends.b));
			end_expect_delivered(&ends.a, n);
			assert_true(ends.a.rx.l4_cksum_good && ends.b.rx.l4_cksum_good);
		}
		assert_int_equal(end_stats(&ends.a)->tx_packets, 3);
		assert_int_equal(end_stats(&ends.a)->rx_packets, 3);
		assert_int_equal(ends.a.log_lines + ends.b.log_lines, 0);
		ends_end();
	}
	ends.v6 = false;
}

/** A fragment of the IPv4 packet @p m: @p len octets of it from @p at on, which is in units of 8.
 */
static struct rte_mbuf *fragment(struct rte_mbuf *m, unsigned at, unsigned len, bool more)
{
	struct rte_mbuf *f = rte_pktmbuf_alloc(ends.pool);
	uint8_t *h;

	assert_non_null(f);
	h = (uint8_t *)rte_pktmbuf_append(f, (uint16_t)(V4 + len));
	memcpy(h, end_octets(m), V4);
	memcpy(h + V4, end_octets(m) + V4 + at * 8, len);
	store_be16(h + 2, (uint16_t)(V4 + len));
	store_be16(h + 6, (uint16_t)(at | (more ? 0x2000 : 0)));
	store_be16(h + 10, 0);
	store_be16(h + 10, (uint16_t)~plain_sum(h, V4, 0));
	return f;
}

/** As a tunnel on the way may have cut it; what is put together has no checksum of its own. */
static void a_packet_in_fragments_is_taken(void **state)
{
	char *text = ends_both_ways("", "");
	struct rte_mbuf *m;

	ends_begin(text, text);
	assert_int_equal(end_send_one(&ends.a, 1000), 0);
	m = end_take(&ends.a);
	end_give(&ends.b, fragment(m, 0, 512, true));
	assert_int_equal(ends.b.n_in, 0);
	end_give(&ends.b, fragment(m, 512 / 8, m->pkt_len - V4 - 512, false));
	assert_int_equal(ends.b.n_in, 1);
	assert_int_equal(ends.b.in_len, 1000);
	assert_int_equal(ip_stack_stats(ends.b.ip)->reassembled, 1);
	rte_pktmbuf_free(m);
	ends_end();
}

/** A fragment of ESP is not known to be a peer's, whatever else may come in the clear. */
static void nobody_is_told_of_a_packet_whose_rest_is_lost(void **state)
{
	char *text = ends_both_ways("ip xfrm policy setdefault in accept out accept\n"
				    "ip xfrm policy add src ::/0 dst ::/0 dir in\n"
				    "ip xfrm policy add src 0.0.0.0/0 dst 0.0.0.0/0 dir in\n"
				    "ip xfrm policy add src 0.0.0.0/0 dst 0.0.0.0/0 proto icmp "
				    "dir out\n",
		"");
	struct rte_mbuf *m;

	ends_begin(text, text);
	assert_int_equal(end_send_one(&ends.a, 1000), 0);
	m = end_take(&ends.a);
	end_give(&ends.b, fragment(m, 0, 512, true));
	rte_pktmbuf_free(m);
	ends.now += 62 * SECOND;
	timer_wheel_run(&ends.b.wheel, ends.now);
	assert_int_equal(ip_stack_stats(ends.b.ip)->reassembly_failed, 1);
	assert_int_equal(end_stats(&ends.b)->rx_clear + end_stats(&ends.b)->rx_discarded, 0);
	assert_int_equal(ends.b.n_out, 0);
	ends_end();
}

/** What TCP sends, and keeps. */
static struct rte_mbuf *kept_segment(void)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(ends.pool);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, SEGMENT), 0x50, SEGMENT);
	memset(end_octets(m) + SEGMENT, 0xa5, 64);
	rte_mbuf_refcnt_update(m, 1);
	return m;
}

/** Retransmission needs them as they were. */
static void octets_of_others_are_not_written_to(void **state)
{
	char *text = ends_both_ways("", "");
	struct ip_addr src = ends_addr(ends_addr_of(&ends.a)),
		       dst = ends_addr(ends_addr_of(&ends.b));
	struct ip_path p = {.tos = 0};
	struct rte_mbuf *text_of, *m;
	uint8_t before[SEGMENT];

	ends_begin(text, text);
	assert_int_equal(ip_path_init(ends.a.ip, &p, &src, &dst, ends.now), 0);
	text_of = kept_segment();
	memcpy(before, end_octets(text_of), SEGMENT);
	assert_int_equal(ip_send(ends.a.ip, &p, IP_PROTO_TCP, text_of, ends.now), 0);
	/* IP has put its header before it, and TCP's checksum into it. */
	assert_memory_equal(end_octets(text_of) + V4 + 18, before + 18, SEGMENT - 18);
	assert_int_equal(end_octets(text_of)[V4 + SEGMENT + ESP_TRAILER_ROOM], 0xa5);
	m = end_take(&ends.a);
	/* What comes may be somebody's, too. */
	rte_mbuf_refcnt_update(m, 1);
	end_give(&ends.b, m);
	assert_int_equal(ends.b.n_in, 1);
	end_give(&ends.b, m);
	assert_int_equal(ends.b.n_in, 2);
	rte_pktmbuf_free(text_of);
	ends_end();
}

/** RFC 4301 section 4.4.2.1. What was sealed before comes too late, too. */
static void an_sa_that_had_its_time_lets_nothing_pass(void **state)
{
	char *text = ends_both_ways("", "limit time-hard 10");
	struct rte_mbuf *m;

	ends_begin(text, text);
	ends.now += 10 * SECOND - 1;
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	end_give(&ends.b, end_take(&ends.a));
	end_expect_delivered(&ends.b, 1);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	m = end_take(&ends.a);
	ends.now++;
	end_give(&ends.b, m);
	assert_int_equal(ends.b.n_in, 1);
	assert_int_equal(end_stats(&ends.b)->rx_ended, 1);
	assert_non_null(strstr(ends.b.log_text, "SA ended"));
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	assert_int_equal(ends.a.n_out, 0);
	assert_int_equal(end_stats(&ends.a)->tx_ended, 1);
	ends_end();
}

static void what_is_wrong_is_counted_by_its_reason(void **state)
{
	char *text = ends_both_ways("", "replay-window 32");
	struct rte_mbuf *first, *m;

	ends_begin(text, text);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	first = end_take(&ends.a);
	end_give(&ends.b, end_again(first));
	end_give(&ends.b, end_again(first));
	assert_int_equal(end_stats(&ends.b)->rx_replay, 1);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
		end_give(&ends.b, end_take(&ends.a));
	}
	end_give(&ends.b, first);
	assert_int_equal(end_stats(&ends.b)->rx_late, 1);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	first = end_take(&ends.a);
	m = end_again(first);
	end_octets(m)[60] ^= 1;
	end_give(&ends.b, m);
	assert_int_equal(end_stats(&ends.b)->rx_bad_icv, 1);
	m = end_again(first);
	store_be32(end_octets(m) + V4 + ESP_SPI, 0x777);
	end_give(&ends.b, m);
	assert_int_equal(end_stats(&ends.b)->rx_no_sa, 1);
	m = end_again(first);
	rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - V4 - 12));
	store_be16(end_octets(m) + 2, V4 + 12);
	store_be16(end_octets(m) + 10, 0);
	store_be16(end_octets(m) + 10, (uint16_t)~plain_sum(end_octets(m), V4, 0));
	end_give(&ends.b, m);
	assert_int_equal(end_stats(&ends.b)->rx_short, 1);
	/* After all of that the true one is still good. */
	end_give(&ends.b, first);
	end_expect_delivered(&ends.b, 42);
	ends_end();
}

static void what_must_be_protected_does_not_come_in_the_clear(void **state)
{
	ends_begin(NULL, ends_both_ways("", ""));
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	end_give(&ends.b, end_take(&ends.a));
	assert_int_equal(ends.b.n_in, 0);
	assert_int_equal(end_stats(&ends.b)->rx_clear, 1);
	assert_non_null(strstr(ends.b.log_text, "in the clear"));
	assert_int_equal(ends.b.n_out, 0);
	ends_end();
}

static void policies_bypass_and_discard(void **state)
{
	ends_begin("ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 proto tcp dport 7174 dir out\n",
		ends_both_ways(
			"ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 proto tcp dir in\n", ""));
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	end_give(&ends.b, end_take(&ends.a));
	end_expect_delivered(&ends.b, 1);
	/* No policy is for that. */
	assert_int_equal(
		end_send_to(&ends.a, &(struct ip_addr){.b = {[10] = 255, 255, 10, 0, 0, 3}}, 60),
		0);
	assert_int_equal(ends.a.n_out, 0);
	assert_int_equal(end_stats(&ends.a)->tx_discarded, 1);
	/* B protects its answer, and A has nothing to open it with. */
	assert_int_equal(end_send_one(&ends.b, SEGMENT), 0);
	end_give(&ends.a, end_take(&ends.b));
	assert_int_equal(end_stats(&ends.a)->rx_no_sa, 1);
	/* A takes nothing in the clear either. */
	end_destroy(&ends.b);
	end_create(&ends.b, NULL);
	assert_int_equal(end_send_one(&ends.b, SEGMENT), 0);
	end_give(&ends.a, end_take(&ends.b));
	assert_int_equal(end_stats(&ends.a)->rx_discarded, 1);
	assert_int_equal(ends.a.n_in, 0);
	ends_end();
}

static void without_an_sa_nothing_leaves(void **state)
{
	ends_begin("ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 dir out tmpl proto esp\n", NULL);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	assert_int_equal(ends.a.n_out, 0);
	assert_int_equal(end_stats(&ends.a)->tx_no_sa, 1);
	assert_non_null(strstr(ends.a.log_text, "there is no SA"));
	ends_end();
}

/** Another host's key is no key to all policies. */
static void an_sa_is_for_its_flow_alone(void **state)
{
	char *text = ends_both_ways("", "");

	ends_begin(text,
		"ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1000 reqid 1" KEY "\n"
		"ip xfrm policy add src 10.0.0.1 dst 10.0.0.2 dir in tmpl proto esp reqid 2\n");
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	end_give(&ends.b, end_take(&ends.a));
	assert_int_equal(end_stats(&ends.b)->rx_mismatch, 1);
	assert_int_equal(ends.b.n_in, 0);
	ends_end();
}

static void tunnels_go_from_end_to_end(void **state)
{
	static const char text[] =
		"ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1000 mode tunnel" KEY
		"\n"
		"ip xfrm policy add src 10.0.0.1 dst 192.0.2.0/24 dir out tmpl src 10.0.0.1 dst "
		"10.0.0.2 proto esp mode tunnel\n"
		"ip xfrm policy add src 10.0.0.1 dst 192.0.2.0/24 dir in tmpl src 10.0.0.1 dst "
		"10.0.0.2 proto esp mode tunnel\n";
	struct ip_addr net = ends_addr("192.0.2.0"), inner = ends_addr("192.0.2.9");
	struct rte_mbuf *m;

	ends_begin(text, text);
	assert_int_equal(ip_route_add(ends.a.ip, &net, 24, NULL), 0);
	assert_int_equal(ip_addr_add(ends.b.ip, &inner, 24, ends.now), 0);
	assert_int_equal(end_send_to(&ends.a, &inner, SEGMENT), 0);
	m = end_take(&ends.a);
	assert_int_equal(load_be32(end_octets(m) + 16), 0x0a000002);
	end_give(&ends.b, end_again(m));
	end_expect_delivered(&ends.b, 1);
	assert_true(ip_addr_equal(&ends.b.rx.dst, &inner));
	assert_false(ends.b.rx.l4_cksum_good);
	rte_pktmbuf_free(m);
	/* A packet that says it is inside, and is not. */
	end_destroy(&ends.a);
	end_create(&ends.a, NULL);
	assert_int_equal(ip_route_add(ends.a.ip, &net, 24, NULL), 0);
	assert_int_equal(end_send_to(&ends.a, &inner, SEGMENT), 0);
	end_give(&ends.b, end_take(&ends.a));
	assert_int_equal(end_stats(&ends.b)->rx_clear, 1);
	ends_end();
}

static struct ip_path path_of(struct end *e)
{
	struct ip_addr src = ends_addr(ends_addr_of(e)),
		       dst = ends_addr(ends_addr_of(e == &ends.a ? &ends.b : &ends.a));
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_path_init(e->ip, &p, &src, &dst, ends.now), 0);
	return p;
}

/**
 * "Fragmentation needed" for the packet @p m of A's, which has ESP's header at @p esp, by a router
 * that quotes @p quoted octets of ESP. @p sequence_off is added to the sequence number, and if it
 * is there to the IV.
 */
static void too_big_quoting(const struct rte_mbuf *m, unsigned esp, unsigned quoted, uint16_t mtu,
	int32_t sequence_off, int32_t iv_off)
{
	uint8_t h[V4 + 8 + V4 + 8 + 16] = {0}, *q = h + V4 + 8 + esp;
	uint16_t len = (uint16_t)(V4 + 8 + esp + quoted);

	h[0] = 0x45;
	store_be16(h + 2, len);
	h[8] = 64;
	h[9] = 1;
	memcpy(h + 12, (uint8_t[]){10, 0, 0, 9, 10, 0, 0, 1}, 8);
	store_be16(h + 10, (uint16_t)~plain_sum(h, V4, 0));
	h[V4] = 3;
	h[V4 + 1] = 4;
	store_be16(h + V4 + 6, mtu);
	memcpy(h + V4 + 8, rte_pktmbuf_mtod(m, const void *), esp + quoted);
	store_be32(q + 4, load_be32(q + 4) + (uint32_t)sequence_off);
	if (quoted >= 16)
		store_be64(q + 8, load_be64(q + 8) + (uint64_t)(int64_t)iv_off);
	store_be16(h + V4 + 2, (uint16_t)~plain_sum(h + V4, len - V4, 0));
	end_give(&ends.a, test_packet(ends.pool, h, len));
}

/** By one that quotes up to there. */
static void too_big_at(const struct rte_mbuf *m, unsigned esp, uint16_t mtu, int32_t sequence_off)
{
	too_big_quoting(m, esp, 8, mtu, sequence_off, 0);
}

static void too_big(const struct rte_mbuf *m, uint16_t mtu, int32_t sequence_off)
{
	too_big_at(m, V4, mtu, sequence_off);
}

static void the_path_mtu_knows_what_esp_takes(void **state)
{
	char *text = ends_both_ways(
		"ip xfrm policy add src 0.0.0.0/0 dst 10.0.0.1 proto icmp dir in\n", "");
	struct ip_path p;
	struct rte_mbuf *m;

	ends_begin(text, text);
	p = path_of(&ends.a);
	assert_int_equal(p.mtu, 1466);
	assert_int_equal(p.link_mtu, 1466);
	assert_int_equal(end_send_one(&ends.a, 1466 - V4 + 1), -EMSGSIZE);
	assert_int_equal(end_send_one(&ends.a, 1466 - V4), 0);
	m = end_take(&ends.a);
	assert_int_equal(m->pkt_len, 1500);
	/* Not of our making: a sequence number that was not sent, or another SPI. */
	too_big(m, 1400, 5);
	too_big(m, 1400, -1);
	assert_int_equal(path_of(&ends.a).mtu, 1466);
	/* Of 4096 packets ago, and then of one less. */
	for (unsigned i = 0; i < ESP_WINDOW_MAX; i++) {
		assert_int_equal(end_send_one(&ends.a, 40), 0);
		rte_pktmbuf_free(end_take(&ends.a));
	}
	too_big(m, 1400, 0);
	assert_int_equal(path_of(&ends.a).mtu, 1466);
	too_big(m, 1400, 1);
	assert_int_equal(path_of(&ends.a).mtu, 1366);
	assert_int_equal(path_of(&ends.a).link_mtu, 1466);
	/* TCP says so itself, of what it has in its packets. */
	p = path_of(&ends.a);
	assert_in_range(ip_path_too_big(ends.a.ip, &p, 1300, ends.now), 1297, 1300);
	assert_in_range(p.mtu, 1297, 1300);
	p = path_of(&ends.a);
	assert_in_range(p.mtu, 1297, 1300);
	rte_pktmbuf_free(m);
	ends_end();
}

static void send_many(unsigned n)
{
	while (n--) {
		assert_int_equal(end_send_one(&ends.a, 40), 0);
		rte_pktmbuf_free(end_take(&ends.a));
	}
}

/** A fast SA has more than 4,096 packets in a round trip; who quotes the IV of one has seen it. */
static void it_knows_them_by_their_iv_for_a_while(void **state)
{
	char *text = ends_both_ways(
		"ip xfrm policy add src 0.0.0.0/0 dst 10.0.0.1 proto icmp dir in\n", "");
	struct rte_mbuf *m;

	ends_begin(text, text);
	send_many(10);
	assert_int_equal(end_send_one(&ends.a, 1466 - V4), 0);
	m = end_take(&ends.a);
	send_many(3 * ESP_WINDOW_MAX);
	ends.now += SECOND / 2;
	/* Without the IV, with another one, and of packets that are not sent yet. */
	too_big_quoting(m, V4, 8, 1400, 0, 0);
	too_big_quoting(m, V4, 15, 1400, 0, 0);
	too_big_quoting(m, V4, 16, 1400, 0, 1);
	too_big_quoting(m, V4, 16, 1400, 1, 0);
	too_big_quoting(m, V4, 16, 1400, 4 * ESP_WINDOW_MAX, 4 * ESP_WINDOW_MAX);
	too_big_quoting(m, V4, 16, 1400, -11, -11);
	assert_int_equal(path_of(&ends.a).mtu, 1466);
	too_big_quoting(m, V4, 16, 1400, 0, 0);
	assert_int_equal(path_of(&ends.a).mtu, 1366);
	/* Others were sent since: once it is still of late, and then not. */
	for (unsigned i = 0; i < 3; i++) {
		ends.now += 2 * SECOND;
		send_many(1);
		too_big_quoting(m, V4, 16, (uint16_t)(1300 - 4 * i), 0, 0);
		assert_int_equal(path_of(&ends.a).mtu, 1266);
	}
	rte_pktmbuf_free(m);
	ends_end();
}

/** As few as they may be. */
static void who_has_seen_one_long_ago_has_no_word(void **state)
{
	char *text = ends_both_ways(
		"ip xfrm policy add src 0.0.0.0/0 dst 10.0.0.1 proto icmp dir in\n", "");
	struct rte_mbuf *m;

	for (unsigned sends = 0; sends < 2; sends++) {
		ends_begin(text, text);
		assert_int_equal(end_send_one(&ends.a, 1466 - V4), 0);
		m = end_take(&ends.a);
		ends.now += 5 * SECOND;
		send_many(sends);
		too_big_quoting(m, V4, 16, 1400, 0, 0);
		assert_int_equal(path_of(&ends.a).mtu, 1466);
		send_many(1 - sends);
		too_big_quoting(m, V4, 8, 1400, 1, 0);
		assert_int_equal(path_of(&ends.a).mtu, 1366);
		rte_pktmbuf_free(m);
		ends_end();
	}
}

/** RFC 3948; the SA's packets leave so, and in no other way. */
static void so_it_does_of_esp_in_udp(void **state)
{
	char *text =
		ends_both_ways("ip xfrm policy add src 0.0.0.0/0 dst 10.0.0.1 proto icmp dir in\n",
			"encap espinudp 4500 4500 0.0.0.0");
	struct rte_mbuf *m, *forged;
	uint16_t mtu;
	uint8_t *h;

	ends_begin(text, text);
	mtu = path_of(&ends.a).mtu;
	assert_in_range(mtu, 1450, 1466 - 8);
	assert_int_equal(end_send_one(&ends.a, mtu - V4), 0);
	m = end_take(&ends.a);
	too_big_at(m, V4 + 8, 1400, 5);
	too_big_at(m, V4 + 8, 1400, -1);
	/* Of other ports, and without UDP. */
	forged = end_again(m);
	h = end_octets(forged);
	h[V4 + 3]++;
	too_big_at(forged, V4 + 8, 1400, 0);
	h[V4 + 3]--;
	h[V4 + 1]++;
	too_big_at(forged, V4 + 8, 1400, 0);
	h[9] = ESP_PROTO;
	memcpy(h + V4, h + V4 + 8, 8);
	too_big(forged, 1400, 0);
	assert_int_equal(path_of(&ends.a).mtu, mtu);
	too_big_at(m, V4 + 8, 1400, 0);
	assert_int_equal(path_of(&ends.a).mtu, mtu - 100);
	assert_int_equal(path_of(&ends.a).link_mtu, mtu);
	send_many(ESP_WINDOW_MAX);
	too_big_quoting(m, V4 + 8, 15, 1300, 0, 0);
	assert_int_equal(path_of(&ends.a).mtu, mtu - 100);
	too_big_quoting(m, V4 + 8, 16, 1300, 0, 0);
	assert_int_equal(path_of(&ends.a).mtu, mtu - 200);
	rte_pktmbuf_free(forged);
	rte_pktmbuf_free(m);
	ends_end();
}

static void without_buffers_packets_are_dropped(void **state)
{
	char *text = ends_both_ways("", "");
	struct ip_addr src = ends_addr(ends_addr_of(&ends.a)),
		       dst = ends_addr(ends_addr_of(&ends.b));
	struct rte_mbuf *all[255], *kept, *m;
	struct ip_path p = {.tos = 0};
	unsigned n = 0;

	ends_begin(text, text);
	assert_int_equal(end_send_one(&ends.a, SEGMENT), 0);
	m = end_take(&ends.a);
	kept = kept_segment();
	assert_int_equal(ip_path_init(ends.a.ip, &p, &src, &dst, ends.now), 0);
	while (rte_mempool_avail_count(ends.pool))
		all[n++] = rte_pktmbuf_alloc(ends.pool);
	assert_int_equal(ip_send(ends.a.ip, &p, IP_PROTO_TCP, kept, ends.now), 0);
	assert_int_equal(end_stats(&ends.a)->tx_no_memory, 1);
	assert_int_equal(ends.a.n_out, 0);
	assert_int_equal(rte_mbuf_refcnt_read(kept), 1);
	rte_mbuf_refcnt_update(m, 1);
	end_give(&ends.b, m);
	assert_int_equal(end_stats(&ends.b)->rx_no_memory, 1);
	while (n)
		rte_pktmbuf_free(all[--n]);
	rte_pktmbuf_free(kept);
	end_give(&ends.b, m);
	end_expect_delivered(&ends.b, 1);
	ends_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_protected_each_way),
		cmocka_unit_test(a_packet_in_fragments_is_taken),
		cmocka_unit_test(nobody_is_told_of_a_packet_whose_rest_is_lost),
		cmocka_unit_test(octets_of_others_are_not_written_to),
		cmocka_unit_test(an_sa_that_had_its_time_lets_nothing_pass),
		cmocka_unit_test(what_is_wrong_is_counted_by_its_reason),
		cmocka_unit_test(what_must_be_protected_does_not_come_in_the_clear),
		cmocka_unit_test(policies_bypass_and_discard),
		cmocka_unit_test(without_an_sa_nothing_leaves),
		cmocka_unit_test(an_sa_is_for_its_flow_alone),
		cmocka_unit_test(tunnels_go_from_end_to_end),
		cmocka_unit_test(the_path_mtu_knows_what_esp_takes),
		cmocka_unit_test(it_knows_them_by_their_iv_for_a_while),
		cmocka_unit_test(who_has_seen_one_long_ago_has_no_word),
		cmocka_unit_test(so_it_does_of_esp_in_udp),
		cmocka_unit_test(without_buffers_packets_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
