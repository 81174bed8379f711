/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames that come: whose they are, what is in them, and bursts of them. */
#include "base/bytes.h"
#include "ip/packet.h"
#include "ip_case.h"
#include "support/eal.h"

#include <rte_mbuf.h>

static void own_addresses_are_looped(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p;
	struct rte_mbuf *none = NULL;

	ip_case_path(h, &p, "10.0.0.1");
	assert_true(p.loop);
	assert_int_equal(ip_case_send(h, &p), 0);
	assert_int_equal(h->n_rx, 0);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
	assert_int_equal(h->n_rx, 1);
	assert_true(h->rx_info[0].from_self);
	assert_true(h->rx_info[0].l4_cksum_good);
	assert_int_equal(h->rx[0]->pkt_len, 20);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 0);
	host_expect_nothing(h);
	(void)ip_case_send(h, &p); /* left in the loop: the stack frees it */
	host_free(h);
}

static void unfilled_checksum_is_told_from_a_wrong_one(void **state)
{
	struct host *h = host_new_v4();

	/* 141d is the plain sum of the pseudo header of 20 bytes from .2 to .1. */
	host_input_hex(h,
		IP_CASE_ETH_TO_US "08 00"
				  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 14 1d 00 00");
	host_input_hex(h,
		IP_CASE_ETH_TO_US "08 00"
				  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 14 1e 00 00");
	assert_int_equal(h->n_rx, 2);
	assert_true(ip_l4_cksum(&h->rx_info[0].src, &h->rx_info[0].dst, 6, h->rx[0], 0) != 0);
	assert_true(ip_l4_cksum_unfilled(h->ip, &h->rx_info[0], 6, h->rx[0]));
	assert_false(ip_l4_cksum_unfilled(h->ip, &h->rx_info[1], 6, h->rx[1]));
	assert_int_equal(ip_stack_stats(h->ip)->rx_cksum_unfilled, 1);
	host_free(h);
}

/* A look ahead sees what is whole, of this protocol and in one piece, and nothing else. */
static void peek_sees_whole_packets_alone(void **state)
{
	static const char *const none[] = {
		IP_CASE_ETH_TO_US
		"08 00 45 00 00 28 00 00 40 00 40 11 26 ce 0a 00 00 02 0a 00 00 01",
		IP_CASE_ETH_TO_US
		"08 00 45 00 00 28 00 00 20 00 40 06 26 ce 0a 00 00 02 0a 00 00 01",
		IP_CASE_ETH_TO_US
		"08 00 45 00 00 28 00 00 00 02 40 06 26 ce 0a 00 00 02 0a 00 00 01",
		IP_CASE_ETH_TO_US
		"08 00 46 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01",
	};
	struct host *h = host_new_v4();
	struct ip_addr src, dst;

	for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
		struct bytes b = bytes(none[i]);
		struct rte_mbuf *m;

		while (b.len < 14 + 40 + 20)
			b.b[b.len++] = 0;
		m = test_packet(h->pool, b.b, b.len);
		assert_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst));
		b.b[14] = 0x45;
		b.b[14 + 6] = 0x40; /* do not fragment */
		b.b[14 + 7] = 0;
		b.b[14 + 9] = 6;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), b.b, b.len);
		assert_non_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst));
		assert_int_equal(dst.b[15], 1);
		rte_pktmbuf_free(m);
	}
	host_free(h);
}

/* IEEE 802.1Q section 6.9.1: of no VLAN, whatever its priority, and with padding. */
static void frames_tagged_with_a_priority_are_ours(void **state)
{
	static const char *const ours[] = {
		IP_CASE_ETH_TO_US "81 00 00 00 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 f0 00 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 a0 00 08 00" IP_CASE_TCP "00 00 00 00",
	};
	static const char *const others[] = {
		IP_CASE_ETH_TO_US "81 00 a0 01 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 08 00 08 00" IP_CASE_TCP,
		IP_CASE_ETH_TO_US "81 00 a0 00 81 00 00 00 08 00" IP_CASE_TCP,
	};
	struct host *h = host_new_v4();

	for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++) {
		host_input_hex(h, ours[i]);
		assert_int_equal(h->n_rx, i + 1);
	}
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
		host_input_hex(h, others[i]);
		assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, i + 1);
	}
	host_input_hex(h, IP_CASE_ETH_TO_US "81 00 00 00 08");
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	assert_int_equal(h->n_rx, 3);
	host_free(h);
}

/* ARP, too: else nobody would send us anything. */
static void a_request_tagged_with_a_priority_is_answered(void **state)
{
	struct host *h = host_new_v4();

	host_input_hex(h, "ff ff ff ff ff ff 02 00 00 00 00 02 81 00 e0 00 08 06"
			  "00 01 08 00 06 04 00 01 02 00 00 00 00 02 0a 00 00 02"
			  "00 00 00 00 00 00 0a 00 00 01");
	host_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 08 06"
		       "00 01 08 00 06 04 00 02 02 00 00 00 00 01 0a 00 00 01"
		       "02 00 00 00 00 02 0a 00 00 02");
	host_free(h);
}

static void frames_for_others_are_dropped(void **state)
{
	struct host *h = host_new_v4();

	host_input_hex(h, "02 00 00 00 00 03 02 00 00 00 00 02 08 00"
			  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
			  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00");
	/* VLAN 1 */
	host_input_hex(h,
		IP_CASE_ETH_TO_US "81 00 00 01 08 00"
				  "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				  "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00");
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 2);
	host_input_hex(h, "02 00 00 00 00 01 02");
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	assert_int_equal(h->n_rx, 0);
	host_expect_nothing(h);
	host_free(h);
}

/** Frames that come together, for a transport that does not look ahead. */
static void bursts_need_no_look_ahead(void **state)
{
	static const char frame[] = "02 00 00 00 00 01 02 00 00 00 00 02 08 00"
				    "45 00 00 28 00 00 40 00 40 06 26 ce 0a 00 00 02 0a 00 00 01"
				    "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00";
	struct host *h = host_new_v4();
	struct bytes b = bytes(frame);
	struct rte_mbuf *burst[40];

	for (unsigned i = 0; i < 40; i++)
		burst[i] = test_packet(h->pool, b.b, b.len);
	assert_int_equal(ip_input(h->ip, burst, 40, h->now), 40);
	assert_int_equal(h->n_rx, 40);
	host_free(h);
}

/* ---- frames, by what they begin with ---------------------------------------------------------
 */

#define IP_V6 "60 00 00 00 00 14 06 40 "
#define FD1   "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define FD2   "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define TCP   "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 9b e2 00 00"

/* Each counts once, however it is cut. */
static void frames_are_told_apart(void **state)
{
	static const struct {
		const char *frame;
		uint64_t up, not_ours, bad;
	} frames[] = {
		{IP_CASE_ETH_TO_US "08 00" IP_CASE_TCP, 1, 0, 0},
		{IP_CASE_ETH_TO_US "86 dd" IP_V6 FD2 FD1 TCP, 1, 0, 0},
		{IP_CASE_ETH_TO_US "81 00 e0 00 86 dd" IP_V6 FD2 FD1 TCP, 1, 0, 0},
		/* One bit of our address is another's. */
		{"03 00 00 00 00 01 02 00 00 00 00 02 88 cc 00", 0, 1, 0}, /* a group */
		{"02 00 00 00 00 00 02 00 00 00 00 02 08 00" IP_CASE_TCP, 0, 1, 0},
		{"06 00 00 00 00 01 02 00 00 00 00 02 86 dd" IP_V6 FD2 FD1 TCP, 0, 1, 0},
		/* Types that are none of ours, and lengths of IEEE 802.3. */
		{IP_CASE_ETH_TO_US "88 cc", 0, 1, 0},
		{IP_CASE_ETH_TO_US "00 2e 42 42 03", 0, 1, 0},
		{IP_CASE_ETH_TO_US "81 00 00 00 88 cc", 0, 1, 0},
		/* The version is not the type's. */
		{IP_CASE_ETH_TO_US "86 dd" IP_CASE_TCP, 0, 0, 1},
		{IP_CASE_ETH_TO_US "08 00" IP_V6 FD2 FD1 TCP, 0, 0, 1},
		/* Too short. */
		{"", 0, 0, 1},
		{IP_CASE_ETH_TO_US "08", 0, 0, 1},
		{IP_CASE_ETH_TO_US "08 00", 0, 0, 1},
		{IP_CASE_ETH_TO_US "86 dd", 0, 0, 1},
		{IP_CASE_ETH_TO_US "81 00 00 00 08", 0, 0, 1},
		{IP_CASE_ETH_TO_US "81 00 00 00 08 00", 0, 0, 1},
	};
	static const unsigned pieces[] = {0, 1, 13, 14, 17};
	struct host *h = ip_case_host();
	const struct ip_stats *s = ip_stack_stats(h->ip);

	for (unsigned i = 0; i < sizeof frames / sizeof *frames; i++) {
		const struct bytes b = bytes(frames[i].frame);

		for (unsigned k = 0; k < sizeof pieces / sizeof *pieces; k++) {
			const struct ip_stats was = *s;

			host_input(h, &b, pieces[k]);
			assert_int_equal(h->n_rx, frames[i].up);
			assert_int_equal(s->rx_not_ours - was.rx_not_ours, frames[i].not_ours);
			assert_int_equal(s->rx_bad_header - was.rx_bad_header, frames[i].bad);
			assert_int_equal(s->rx_packets - was.rx_packets, 1);
			assert_int_equal(s->rx_bytes - was.rx_bytes, b.len);
			host_expect_nothing(h);
			host_forget(h);
		}
	}
	host_free(h);
}

/* Where there is no link only the version tells, which is read of what is there. */
static void packets_are_told_apart(void **state)
{
	struct host *h = host_new_no_link();
	struct ip_addr a = host_addr("10.0.0.1"), b = host_addr("fd00::1");
	const struct bytes v4 = bytes(IP_CASE_TCP), v6 = bytes(IP_V6 FD2 FD1 TCP);
	const struct ip_stats *s = ip_stack_stats(h->ip);

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	assert_int_equal(ip_addr_add(h->ip, &b, 64, h->now), 0);
	for (unsigned version = 0; version < 16; version++) {
		struct bytes other = version == 6 ? v6 : v4;
		bool ours = version == 4 || version == 6;
		uint64_t was = s->rx_bad_header;

		other.b[0] = (uint8_t)(version << 4 | (other.b[0] & 15));
		for (unsigned piece = 0; piece < 3; piece++)
			host_input(h, &other, piece);
		assert_int_equal(h->n_rx, ours ? 3 : 0);
		assert_int_equal(s->rx_bad_header - was, ours ? 0 : 3);
		host_forget(h);
	}
	host_free(h);
}

/* ---- a look ahead ----------------------------------------------------------------------------
 */

static void expect_addr(const struct ip_addr *a, const char *text)
{
	const struct ip_addr want = host_addr(text);

	assert_memory_equal(a, &want, sizeof want);
}

/* Of both families, with and without a link, and up to the last octet that it needs. */
static void peek_needs_the_whole_header(void **state)
{
	static const struct {
		const char *packet; /* without its link's header */
		unsigned need;      /* 0: it is another packet */
		const char *src, *dst;
	} packets[] = {
		{IP_CASE_TCP, 40, "10.0.0.2", "10.0.0.1"},
		{"46" IP_CASE_TCP, 0, NULL, NULL},
		{"50" IP_CASE_TCP, 0, NULL, NULL},
		{IP_V6 FD2 FD1 TCP, 60, "fd00::2", "fd00::1"},
		{"60 00 00 00 00 14 2c 40" FD2 FD1 TCP, 0, NULL, NULL},
		{"60 00 00 00 00 14 11 40" FD2 FD1 TCP, 0, NULL, NULL},
		{"70 00 00 00 00 14 06 40" FD2 FD1 TCP, 0, NULL, NULL},
	};
	struct ip_addr src, dst;

	for (unsigned no_link = 0; no_link < 2; no_link++) {
		struct host *h = no_link ? host_new_no_link() : host_new();
		unsigned link = no_link ? 0 : 14;

		for (unsigned i = 0; i < sizeof packets / sizeof *packets; i++) {
			struct bytes b = bytes(no_link ? "" : IP_CASE_ETH_TO_US "08 00");
			struct rte_mbuf *m;

			bytes_add(&b, packets[i].packet);
			for (unsigned len = 0; len <= b.len; len++) {
				const uint8_t *l4;

				m = test_packet(h->pool, b.b, len);
				l4 = ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst);
				if (packets[i].need && len >= link + packets[i].need) {
					assert_ptr_equal(
						l4, rte_pktmbuf_mtod_offset(m, const uint8_t *,
							    link + packets[i].need - 20));
					expect_addr(&src, packets[i].src);
					expect_addr(&dst, packets[i].dst);
				} else {
					assert_null(l4);
				}
				rte_pktmbuf_free(m);
			}
		}
		host_free(h);
	}
}

static struct {
	unsigned n[4], calls;
} bursts;

static void note_burst(void *ctx, struct rte_mbuf *const *pkts, unsigned n)
{
	assert_true(bursts.calls < 4);
	bursts.n[bursts.calls++] = n;
}

static void drop(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	rte_pktmbuf_free(m);
}

/* The transport sees all of a burst before its first frame, 32 at a time; one alone is no burst. */
static void bursts_are_shown_ahead(void **state)
{
	static const struct {
		unsigned frames, n[4];
	} rows[] = {
		{0, {0}},
		{1, {0}},
		{2, {2}},
		{31, {31}},
		{32, {32}},
		{33, {32, 1}},
		{64, {32, 32}},
		{65, {32, 32, 1}},
	};
	const struct ip_transport t = {.input = drop, .burst = note_burst, .min_len = 20};
	const struct bytes b = bytes(IP_CASE_ETH_TO_US "08 00" IP_CASE_TCP);
	struct host *h = host_new_v4();
	struct rte_mbuf *burst[65];

	ip_set_transport(h->ip, IP_PROTO_TCP, &t);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		memset(&bursts, 0, sizeof bursts);
		for (unsigned k = 0; k < rows[i].frames; k++)
			burst[k] = test_packet(h->pool, b.b, b.len);
		assert_int_equal(ip_input(h->ip, burst, rows[i].frames, h->now), rows[i].frames);
		assert_memory_equal(bursts.n, rows[i].n, sizeof bursts.n);
	}
	host_free(h);
}

/* ---- our own ---------------------------------------------------------------------------------
 */

static struct {
	struct host *h;
	struct ip_path p;
	unsigned answers;
} talker;

/* Answers what it hears, so many times. */
static void talk(void *ctx, const struct ip_rx *rx, struct rte_mbuf *m, uint64_t now)
{
	assert_true(rx->from_self);
	assert_true(rx->l4_cksum_good);
	assert_false(rx->l4_cksum_bad);
	rte_pktmbuf_free(m);
	if (talker.answers == 0)
		return;
	talker.answers--;
	assert_int_equal(ip_send(talker.h->ip, &talker.p, 200, host_segment(talker.h, 1), now), 0);
}

/* An answer to ourselves comes in the next round: else two of us could keep the engine for ever. */
static void answers_to_ourselves_come_later(void **state)
{
	static const char *const own[] = {"10.0.0.1", "fd00::1"};
	const struct ip_transport t = {.input = talk};
	struct rte_mbuf *none = NULL;

	talker.h = ip_case_host();
	ip_set_transport(talker.h->ip, 200, &t);
	for (unsigned i = 0; i < 2; i++) {
		ip_case_path(talker.h, &talker.p, own[i]);
		talker.answers = 3;
		assert_false(ip_is_looping(talker.h->ip));
		assert_int_equal(ip_send(talker.h->ip, &talker.p, 200, host_segment(talker.h, 1),
					 talker.h->now),
			0);
		for (unsigned left = 3;; left--) {
			assert_int_equal(talker.answers, left);
			assert_true(ip_is_looping(talker.h->ip));
			assert_int_equal(ip_input(talker.h->ip, &none, 0, talker.h->now), 1);
			if (left == 0)
				break;
		}
		assert_false(ip_is_looping(talker.h->ip));
		assert_int_equal(ip_stack_stats(talker.h->ip)->looped, 4 * (i + 1));
	}
	assert_int_equal(ip_stack_stats(talker.h->ip)->rx_packets, 0);
	host_free(talker.h);
}

/* ---- checksums that are not filled in --------------------------------------------------------
 */

static void unfilled_are_of_the_right_pseudo_header(void **state)
{
	static const struct {
		const char *src, *dst;
		uint8_t proto;
		uint16_t field, len;
		bool unfilled;
	} rows[] = {
		/* The plain sums of addresses, protocol and length. */
		{"10.0.0.2", "10.0.0.1", 6, 0x141d, 20, true},
		{"10.0.0.2", "10.0.0.1", 6, 0x141d, 19, false}, /* no header */
		{"10.0.0.2", "10.0.0.1", 6, 0x141e, 21, true},
		{"10.0.0.2", "10.0.0.1", 6, 0x141d, 21, false},
		{"10.0.0.3", "10.0.0.1", 6, 0x141d, 20, false},
		{"fd00::2", "fd00::1", 6, 0xfa1e, 20, true},
		{"fd00::2", "fd00::1", 6, 0x141d, 20, false},
		/* Of nobody who has a checksum. */
		{"10.0.0.2", "10.0.0.1", 200, 0x14df, 20, false},
	};
	struct host *h = host_new();

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ip_rx rx = {
			.src = host_addr(rows[i].src), .dst = host_addr(rows[i].dst)};
		struct rte_mbuf *m = host_segment(h, rows[i].len);
		uint64_t was = ip_stack_stats(h->ip)->rx_cksum_unfilled;

		store_be16(rte_pktmbuf_mtod_offset(m, uint8_t *, 16), rows[i].field);
		assert_int_equal(
			ip_l4_cksum_unfilled(h->ip, &rx, rows[i].proto, m), rows[i].unfilled);
		assert_int_equal(ip_stack_stats(h->ip)->rx_cksum_unfilled - was, rows[i].unfilled);
		rte_pktmbuf_free(m);
	}
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_addresses_are_looped),
		cmocka_unit_test(unfilled_checksum_is_told_from_a_wrong_one),
		cmocka_unit_test(peek_sees_whole_packets_alone),
		cmocka_unit_test(frames_tagged_with_a_priority_are_ours),
		cmocka_unit_test(a_request_tagged_with_a_priority_is_answered),
		cmocka_unit_test(frames_for_others_are_dropped),
		cmocka_unit_test(bursts_need_no_look_ahead),
		cmocka_unit_test(frames_are_told_apart),
		cmocka_unit_test(packets_are_told_apart),
		cmocka_unit_test(peek_needs_the_whole_header),
		cmocka_unit_test(bursts_are_shown_ahead),
		cmocka_unit_test(answers_to_ourselves_come_later),
		cmocka_unit_test(unfilled_are_of_the_right_pseudo_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
