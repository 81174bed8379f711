/* SPDX-License-Identifier: BSD-2-Clause */
/** What is received across the IPsec boundary, and what comes out of it is received again. */
#include "boundary.h"

#include <rte_mbuf.h>
#include <stdio.h>
#include <string.h>

/** Its first octet is that of a neighbour solicitation's, if it were one. */
#define UDP "87 88 c3 50 00 08 00 00"

static const struct {
	const char *esp, *inside;
	bool v6; /**< of what is inside */
} protected[] = {
	{SECURED_V4, ETH_V4 V4("06", PEER, OURS) TCP, false},
	{SECURED_V6, ETH_V6 V6("06", "40", FD2, FD1) TCP, true},
	/* Tunnels through the other family. */
	{SECURED_V4, ETH_V6 V6("06", "40", FD2, FD1) TCP, true},
	{SECURED_V6, ETH_V4 V4("06", PEER, OURS) TCP, false},
	/* A fragment that is whole (RFC 6946). */
	{SECURED_V6, ETH_V6 V6("2c", "40", FD2, FD1) V6_FRAGMENT("06", "00 00") TCP, true},
};

static void expect_tcp_from_inside(const struct host *h)
{
	assert_int_equal(boundary.n_in, 2);
	assert_ptr_equal(boundary.secured, &boundary);
	assert_int_equal(boundary.in.proto, 6);
	assert_int_equal(boundary.in.src_port, 5000);
	assert_int_equal(boundary.in.dst_port, 50000);
	assert_int_equal(h->n_rx, 1);
	assert_int_equal(h->rx[0]->pkt_len, 20);
}

static void what_was_protected_is_received_again(void **state)
{
	for (unsigned i = 0; i < sizeof protected / sizeof protected[0]; i++) {
		const struct boundary_family *f = &boundary_families[protected[i].v6];
		struct host *h = boundary_host(true);
		struct ip_addr peer = host_addr(f->peer), ours = host_addr(f->ours);

		boundary.inside = protected[i].inside;
		boundary.in_verdict = IP_IPSEC_CHANGED;
		boundary_received(h, protected[i].esp);
		expect_tcp_from_inside(h);
		assert_true(ip_addr_equal(&h->rx_info[0].src, &peer));
		assert_true(ip_addr_equal(&h->rx_info[0].dst, &ours));
		assert_false(h->rx_info[0].l4_cksum_good);
		host_free(h);
	}
}

static const struct {
	const char *esp, *inside;
} opened[] = {
	{SECURED_V4, ETH_V4 V4("06", PEER, OURS) TCP},
	{SECURED_V6, ETH_V6 V6("06", "40", FD2, FD1) TCP},
};

/** By what is said of it now, not by what the port has said of the packet that came. */
static void what_was_opened_goes_on(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		struct host *h = boundary_host(true);
		bool good = i / 2;

		boundary.inside = opened[i % 2].inside;
		boundary.inside_flags = good ? RTE_MBUF_F_RX_L4_CKSUM_GOOD : 0;
		boundary.in_verdict = IP_IPSEC_OPENED;
		boundary_received(h, opened[i % 2].esp);
		expect_tcp_from_inside(h);
		assert_int_equal(h->rx_info[0].l4_cksum_good, good);
		assert_false(h->rx_info[0].l4_cksum_bad);
		host_free(h);
	}
}

static void what_was_opened_may_be_refused(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct host *h = boundary_host(true);

		boundary.inside = opened[i].inside;
		boundary.in_verdict = IP_IPSEC_OPENED;
		boundary.inner_verdict = IP_IPSEC_DROPPED;
		boundary_received(h, opened[i].esp);
		assert_int_equal(boundary.n_in, 2);
		assert_int_equal(h->n_rx, 0);
		host_expect_nothing(h);
		host_free(h);
	}
}

/** What comes out of a tunnel is no better than what comes from a wire. */
static void what_was_protected_may_be_nonsense(void **state)
{
	static const char *const inside[] = {
		ETH_V4 V4("06", PEER, FAR) TCP,  /* for another */
		ETH_V4 V4("06", OURS, OURS) TCP, /* from ourselves */
		ETH_V4 "45 00 00", ETH_V6 V6("06", "40", FD2, FD9) TCP,
		ETH_V6 V6("06", "40", FD1, FD1) TCP, ETH_V6 "60 00 00",
		ETH_V6 "75 00 00 14" TCP, /* of no version */
	};

	for (unsigned i = 0; i < sizeof inside / sizeof inside[0]; i++) {
		struct host *h = boundary_host(true);
		const struct ip_stats *stats = ip_stack_stats(h->ip);

		boundary.inside = inside[i];
		boundary.in_verdict = IP_IPSEC_CHANGED;
		boundary_received(h, SECURED_V4);
		assert_int_equal(boundary.n_in, 1);
		assert_int_equal(h->n_rx, 0);
		assert_int_equal(stats->rx_not_ours + stats->rx_martian + stats->rx_bad_header, 1);
		host_expect_nothing(h);
		host_free(h);
	}
}

/** RFC 4301 section 7: no packet is put together of what was protected and what was not. */
static void protected_fragments_are_refused(void **state)
{
	static const struct {
		const char *inside, *rest;
	} fragments[] = {
		/* 512 octets and more follow in the clear. */
		{ETH_V4 V4_FRAGMENT("00 40", "06") TCP, ETH_V4 V4_FRAGMENT("20 00", "06")},
		{ETH_V6 V6("2c", "40", FD2, FD1) V6_FRAGMENT("06", "04 d0") TCP,
			ETH_V6 V6("2c", "40", FD2, FD1) V6_FRAGMENT("06", "00 01")},
	};

	for (unsigned i = 0; i < 2; i++) {
		struct host *h = boundary_host(true);
		char rest[4096];
		unsigned len = i ? 1232 : 512;

		boundary.inside = fragments[i].inside;
		boundary.in_verdict = IP_IPSEC_CHANGED;
		boundary_received(h, i ? SECURED_V6 : SECURED_V4);
		assert_int_equal(boundary.n_in, 1);
		assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
		assert_int_equal(ip_stack_stats(h->ip)->rx_fragments, 1);
		/* The other piece, in the clear, finds nothing that it completes. */
		snprintf(rest, sizeof rest, "%s" TCP, fragments[i].rest);
		for (unsigned at = 20; at < len; at++)
			strcat(rest, "00");
		boundary_received(h, rest);
		assert_int_equal(ip_stack_stats(h->ip)->rx_fragments, 2);
		assert_int_equal(ip_stack_stats(h->ip)->reassembled, 0);
		assert_int_equal(h->n_rx, 0);
		host_run(h, 70 * SECOND);
		host_free(h);
	}
}

static void dropped_packets_are_gone(void **state)
{
	static const char *const esp[] = {SECURED_V4, SECURED_V6};

	for (unsigned i = 0; i < 2; i++) {
		struct host *h = boundary_host(true);

		boundary.in_verdict = IP_IPSEC_DROPPED;
		boundary_received(h, esp[i]);
		assert_int_equal(boundary.n_in, 1);
		assert_int_equal(boundary.in.proto, ESP);
		assert_int_equal(boundary.in.src_port + boundary.in.dst_port, 0);
		assert_int_equal(h->n_rx, 0);
		host_expect_nothing(h); /* no "protocol unreachable" */
		host_free(h);
	}
}

static void ports_are_read_where_they_are(void **state)
{
	static const struct {
		const char *hex;
		uint8_t proto;
		uint16_t src_port, dst_port;
	} packets[] = {
		{ETH_V4 V4("06", PEER, OURS) TCP, 6, 5000, 50000},
		{ETH_V4 V4("11", PEER, OURS) "13 88 c3 50 00 08 00 00", 17, 5000, 50000},
		{ETH_V4 V4("11", PEER, OURS) "13 88 c3", 17, 0, 0},
		{ETH_V4 V4("06", PEER, OURS), 6, 0, 0},
		{ETH_V4 "46 00 00 00 00 00 40 00 40 06 00 00 " PEER OURS "01 01 01 00" TCP, 6, 5000,
			50000},
		{ETH_V4 V4("84", PEER, OURS) "13 88 c3 50 00 00 00 00", 132, 0, 0},
		{ETH_V6 V6("06", "40", FD2, FD1) TCP, 6, 5000, 50000},
		{ETH_V6 V6("06", "40", FD2, FD1) "13 88 c3", 6, 0, 0},
		{ETH_V6 V6("3c", "40", FD2, FD1) "06 00 01 04 00 00 00 00" TCP, 6, 5000, 50000},
		{ETH_V6 V6("3c", "40", FD2, FD1) "11 00 01 04 00 00 00 00", 17, 0, 0},
	};

	for (unsigned i = 0; i < sizeof packets / sizeof packets[0]; i++) {
		struct host *h = boundary_host(true);

		boundary_received(h, packets[i].hex);
		assert_int_equal(boundary.n_in, 1);
		assert_null(boundary.secured);
		assert_int_equal(boundary.in.proto, packets[i].proto);
		assert_int_equal(boundary.in.src_port, packets[i].src_port);
		assert_int_equal(boundary.in.dst_port, packets[i].dst_port);
		host_free(h);
	}
}

/** What a link needs before there can be IPsec on it is nobody's to refuse; all else is. */
static void boundary_is_not_asked_of_the_links_own(void **state)
{
	static const struct {
		uint8_t type;
		bool asked;
	} icmpv6[] = {{1, true}, {4, true}, {128, true}, {129, true}, {130, false}, {131, false},
		{132, false}, {133, false}, {134, false}, {135, false}, {136, false}, {137, false},
		{138, true}, {142, true}, {143, false}, {144, true}, {255, true}};
	struct host *h = boundary_host(false);
	unsigned asked = 0;

	boundary_received(h,
		"01 00 5e 00 00 01 02 00 00 00 00 02 08 00 46 00 00 00 00 00 00 00 01 02 00 "
		"00 " PEER "e0 00 00 01 94 04 00 00 11 64 00 00 00 00 00 00 02 7d 00 00");
	assert_int_equal(boundary.n_in, 0);
	assert_int_equal(ip_stack_stats(h->ip)->igmp_rx, 1);
	for (unsigned i = 0; i < sizeof icmpv6 / sizeof icmpv6[0]; i++) {
		char hex[256];

		snprintf(hex, sizeof hex,
			ETH_V6 V6("3a", "01", FD2, FD1) "%02x 00 00 00 00 00 00 00",
			icmpv6[i].type);
		boundary_received(h, hex);
		asked += icmpv6[i].asked;
		assert_int_equal(boundary.n_in, asked);
	}
	/* Too short to have a type; what looks like one is padding of the link. */
	boundary_received(h, ETH_V6 V6("3a", "ff", FD2, FD1));
	host_input_hex(h, ETH_V6 V6("3a", "ff", FD2, FD1) "87 00 00 00");
	assert_int_equal(boundary.n_in, asked + 2);
	host_free(h);
}

/**
 * What is answered was asked about, whatever is wrong with it: who may not come gets a peer of ours
 * no packet by its SA.
 */
static void the_boundary_is_asked_before_an_answer(void **state)
{
	static const struct {
		const char *hex;
		uint8_t proto;
	} packets[] = {
		/* Exempt in the other family. */
		{ETH_V4 V4("3a", PEER, OURS) "87 00 00 00 00 00 00 00", 58},
		{ETH_V4 V4("3a", PEER, OURS) "8f 00 00 00 00 00 00 00", 58},
		{ETH_V6 V6("02", "40", FD2, FD1) "16 00 00 00 00 00 00 00", 2},
		/* Of headers: an option, a routing header, hop-by-hop out of place. */
		{ETH_V6 V6("3c", "40", FD2, FD1) "11 00 80 04 00 00 00 00" UDP, 17},
		{ETH_V6 V6("00", "40", FD2, FD1) "32 00 80 04 00 00 00 00" SPI, 50},
		{ETH_V6 V6("2b", "40", FD2, FD1) "11 00 00 01 00 00 00 00" UDP, 17},
		{ETH_V6 V6("3c", "40", FD2, FD1) "00 00 01 04 00 00 00 00"
						 "11 00 01 04 00 00 00 00" UDP,
			17},
		/* And is ND, which is exempt only where it is taken. */
		{ETH_V6 V6("3c", "40", FD2, FD1) "3a 00 80 04 00 00 00 00" UDP, 58},
	};

	for (unsigned i = 0; i < 4 * sizeof packets / sizeof packets[0]; i++) {
		bool refused = i & 1, no_link = i & 2;
		struct host *h = boundary_host(no_link);

		boundary.inner_verdict = refused ? IP_IPSEC_DROPPED : IP_IPSEC_PASS;
		boundary_received(h, packets[i / 4].hex);
		assert_int_equal(boundary.n_in, 1);
		assert_int_equal(boundary.in.proto, packets[i / 4].proto);
		assert_int_equal(boundary.in.dst_port, packets[i / 4].proto == 17 ? 50000 : 0);
		/* Or a question for the peer's link address. */
		assert_int_equal(h->n_tx > 0, !refused);
		host_forget(h);
		host_free(h);
	}
}

/** Of a packet whose rest does not come: RFC 792 and RFC 8200 section 4.5, but not to anybody. */
static void a_sender_is_told_of_its_fragments_if_they_may_come(void **state)
{
	static const char *const first[] = {ETH_V4 V4_FRAGMENT("20 00", "06") TCP,
		ETH_V6 V6("2c", "40", FD2, FD1) V6_FRAGMENT("06", "00 01") TCP};

	for (unsigned i = 0; i < 4; i++) {
		bool refused = i & 1;
		struct host *h = boundary_host(true);
		char hex[8192];
		int len = snprintf(hex, sizeof hex, "%s", first[i / 2]);

		for (unsigned more = 0; more < 1232 - 20; more++)
			len += snprintf(hex + len, sizeof hex - (size_t)len, "00 ");
		boundary.inner_verdict = refused ? IP_IPSEC_DROPPED : IP_IPSEC_PASS;
		boundary_received(h, hex);
		assert_int_equal(boundary.n_in, 0);
		host_run(h, 62 * SECOND);
		assert_int_equal(ip_stack_stats(h->ip)->reassembly_failed, 1);
		assert_int_equal(boundary.n_in, 1);
		assert_int_equal(boundary.in.proto, 6);
		assert_int_equal(boundary.in.dst_port, 50000);
		assert_int_equal(h->n_tx, !refused);
		host_free(h);
	}
}

/* Who has an SA with us may be far away, and is on no link of ours. */
static void the_link_s_own_is_not_exempt_inside(void **state)
{
	static const char *const inside[] = {"82", "83", "84", "85", "86", "87", "88", "89", "8f"};

	for (unsigned i = 0; i < 8 * sizeof inside / sizeof inside[0]; i++) {
		struct host *h = boundary_host(false);
		bool refused = i & 1, other = i & 2, tunnel = i & 4;
		char hex[512];

		snprintf(hex, sizeof hex,
			ETH_V6 "60 00 00 00 00 00 3a ff %s" FD1 "%s 00 00 00 00 00 00 00 " FD1,
			other ? FD9 : FD2, inside[i / 8]);
		boundary.inside = hex;
		boundary.in_verdict = tunnel ? IP_IPSEC_TUNNELLED : IP_IPSEC_CHANGED;
		boundary.inner_verdict = refused ? IP_IPSEC_DROPPED : IP_IPSEC_PASS;
		boundary_received(h, SECURED_V6);
		assert_int_equal(boundary.n_in, 2);
		if (refused || tunnel)
			host_expect_nothing(h);
		else if (strcmp(inside[i / 8], "87") == 0)
			assert_true(h->n_tx > 0); /* in transport mode who asks is on the link */
		host_forget(h);
		host_free(h);
	}
}

/* Nor is IGMP: its reports are of the link that it came by (RFC 3376 section 4). */
static void groups_are_not_asked_for_inside(void **state)
{
	for (unsigned tunnel = 0; tunnel < 2; tunnel++) {
		struct host *h = boundary_host(false);

		boundary.inside = ETH_V4 "46 00 00 00 00 00 40 00 01 02 00 00" PEER OURS
					 "94 04 00 00 11 64 ee 9b 00 00 00 00";
		boundary.in_verdict = tunnel ? IP_IPSEC_TUNNELLED : IP_IPSEC_CHANGED;
		boundary_received(h, SECURED_V4);
		assert_int_equal(boundary.n_in, 2);
		assert_int_equal(ip_stack_stats(h->ip)->igmp_rx, !tunnel);
		assert_int_equal(ip_stack_stats(h->ip)->rx_unknown_proto, tunnel);
		host_expect_nothing(h);
		host_free(h);
	}
}

/** No policy is asked of what does not leave the host. */
static void we_are_told_of_our_own_headers(void **state)
{
	struct host *h = boundary_host(true);
	struct ip_addr own = host_addr("fd00::1");
	struct bytes options = bytes("11 00 80 04 00 00 00 00" UDP "00 00 00 00");
	struct rte_mbuf *m = host_segment(h, 20), *none = NULL;
	struct ip_path p = {.tos = 0};

	assert_int_equal(options.len, 20);
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), options.b, options.len);
	boundary.inner_verdict = IP_IPSEC_DROPPED;
	assert_int_equal(ip_path_init(h->ip, &p, &own, &own, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, 60, m, h->now), 0);
	assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_tx, 1);
	assert_int_equal(boundary.n_in, 0);
	host_expect_nothing(h);
	host_free(h);
}

/** RFC 6980 section 5: protected or not, the fragment is what a switch sees. */
static void discovery_in_protected_fragments_is_ignored(void **state)
{
	static const char *const esp[] = {
		SECURED_V6, ETH_V6 V6("2c", "40", FD2, FD1) V6_FRAGMENT("32", "00 00") SPI};

	for (unsigned i = 0; i < 4; i++) {
		struct host *h = boundary_host(false);
		bool fragment = i & 1, tunnel = i & 2;

		boundary.inside = ETH_V6 V6("3a", "ff", FD2, FD1) "87 00 00 00 00 00 00 00 " FD1;
		boundary.in_verdict = tunnel ? IP_IPSEC_TUNNELLED : IP_IPSEC_CHANGED;
		boundary_received(h, esp[fragment]);
		assert_int_equal(boundary.n_in, 2);
		assert_int_equal(ip_stack_stats(h->ip)->nd_rx, !tunnel);
		assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, fragment && !tunnel);
		assert_int_equal(h->n_tx > 0, i == 0);
		host_forget(h);
		host_free(h);
	}
}

/** An error would be a new flow, with what was protected in it. */
static void no_error_quotes_what_was_protected(void **state)
{
	static const char *const inside[] = {
		ETH_V4 V4("11", PEER, OURS) "13 88 c3 50 00 09 00 00 73",
		ETH_V4 V4("63", PEER, OURS) "73 65 63 72 65 74",
		ETH_V6 V6("11", "40", FD2, FD1) "13 88 c3 50 00 09 00 00 73",
		ETH_V6 V6("63", "40", FD2, FD1) "73 65 63 72 65 74",
		ETH_V6 V6("3c", "40", FD2, FD1) "3a 00 9e 00 00 00 00 00 73",
	};

	for (unsigned i = 0; i < sizeof inside / sizeof inside[0]; i++) {
		struct host *h = boundary_host(true);

		boundary.inside = inside[i];
		boundary.in_verdict = IP_IPSEC_CHANGED;
		boundary_received(h, SECURED_V4);
		assert_in_range(boundary.n_in, 1, 2);
		assert_int_equal(boundary.n_out, 0);
		host_expect_nothing(h);
		host_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_protected_is_received_again),
		cmocka_unit_test(what_was_opened_goes_on),
		cmocka_unit_test(what_was_opened_may_be_refused),
		cmocka_unit_test(what_was_protected_may_be_nonsense),
		cmocka_unit_test(protected_fragments_are_refused),
		cmocka_unit_test(dropped_packets_are_gone),
		cmocka_unit_test(ports_are_read_where_they_are),
		cmocka_unit_test(boundary_is_not_asked_of_the_links_own),
		cmocka_unit_test(the_boundary_is_asked_before_an_answer),
		cmocka_unit_test(the_link_s_own_is_not_exempt_inside),
		cmocka_unit_test(a_sender_is_told_of_its_fragments_if_they_may_come),
		cmocka_unit_test(groups_are_not_asked_for_inside),
		cmocka_unit_test(we_are_told_of_our_own_headers),
		cmocka_unit_test(discovery_in_protected_fragments_is_ignored),
		cmocka_unit_test(no_error_quotes_what_was_protected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
