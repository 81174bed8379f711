/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * What is sent across the IPsec boundary: what that is told, what becomes of packets that it
 * changes or drops, and path MTUs.
 */
#include "boundary.h"
#include "ip/stack.h"
#include "pattern.h"

#include <errno.h>
#include <rte_mbuf.h>

#define WRONG_SPI "00 00 10 02 00 00 00 07 "
#define UDP       "11 94 11 95 04 00 00 00 "

static struct ip_path path(struct host *h, const char *src, const char *dst)
{
	struct ip_addr from = host_addr(src), to = host_addr(dst);
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_path_init(h->ip, &p, &from, &to, h->now), 0);
	return p;
}

/* ---- path MTU ----------------------------------------------------------------------------- */

/** What a router tells is about the packet as it was outside: the transport has less of that. */
static void paths_leave_room(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(true);
		struct ip_path p = path(h, f->ours, f->peer), other;
		struct ip_addr peer = host_addr(f->peer);

		assert_int_equal(p.mtu, 1500 - OVERHEAD);
		assert_int_equal(p.link_mtu, 1500 - OVERHEAD);
		assert_int_equal(ip_path_too_big(h->ip, &p, 1400, h->now), 1400);
		assert_int_equal(p.mtu, 1400);
		assert_int_equal(p.link_mtu, 1500 - OVERHEAD);
		assert_int_equal(pmtu_get(h->ip, &peer), 1400 + OVERHEAD);
		other = path(h, f->ours, f->peer);
		assert_int_equal(other.mtu, 1400);
		/* Never raised, not by a number that has no room for the overhead either. */
		assert_int_equal(ip_path_too_big(h->ip, &p, 1430, h->now), 1400);
		assert_int_equal(ip_path_too_big(h->ip, &p, UINT16_MAX, h->now), 1400);
		assert_int_equal(ip_path_too_big(h->ip, &p, 1, h->now), f->least - OVERHEAD);
		host_free(h);
	}
}

/** What we send to ourselves is not protected, and needs no room for that. */
static void own_addresses_are_inside(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(true);
		struct ip_path p = path(h, f->ours, f->ours);

		assert_int_equal(p.mtu, 1500);
		assert_int_equal(p.link_mtu, 1500);
		assert_int_equal(ip_path_too_big(h->ip, &p, 1400, h->now), 1400);
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
		assert_int_equal(ip_input(h->ip, NULL, 0, h->now), 1);
		assert_int_equal(h->n_rx, 1);
		assert_int_equal(boundary.n_room + boundary.n_out + boundary.n_in, 0);
		host_free(h);
	}
}

/** Of a tunnel: who is behind it tells of what it carries, who is before it of its packets. */
static void tunnels_have_two_paths(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(true);
		struct ip_addr peer = host_addr(f->peer), far = host_addr(f->far);
		struct ip_path p, other;

		boundary.tunnel = far;
		p = path(h, f->ours, f->peer);
		assert_int_equal(p.mtu, 1500 - OVERHEAD);
		assert_int_equal(ip_path_too_big(h->ip, &p, 1300, h->now), 1300);
		assert_int_equal(pmtu_get(h->ip, &peer), 1300);
		assert_int_equal(pmtu_get(h->ip, &far), 1500);
		assert_int_equal(p.link_mtu, 1500 - OVERHEAD);
		/* Less before the tunnel than behind it, then for others behind it, too. */
		assert_int_equal(pmtu_lower(h->ip, &far, 1290, h->now), 1290);
		p = path(h, f->ours, f->peer);
		assert_int_equal(p.mtu, 1290 - OVERHEAD);
		other = path(h, f->ours, f->foreign[0] == '1' ? "10.0.0.3" : "fd00::3");
		assert_int_equal(other.mtu, 1290 - OVERHEAD);
		host_free(h);
	}
}

/** RFC 3948: also when UDP is around it. */
static void errors_about_esp_in_udp_lower_the_path(void **state)
{
	static const struct {
		const char *hex;
		bool v6;
		uint16_t mtu; /**< of the path, afterwards */
	} errors[] = {
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("11", OURS, PEER) UDP SPI,
			false, 1400},
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 00 00" V4("11", OURS, PEER) UDP SPI,
			false, 576},
		/* Another SPI, a cut quote, another's packet, no matter of MTU. */
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("11", OURS, PEER)
				UDP WRONG_SPI,
			false, 1500},
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("11", OURS, PEER) UDP
			"00 00 10 01 00 00 00",
			false, 1500},
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("11", OURS, PEER) UDP,
			false, 1500},
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("11", FAR, PEER) UDP SPI,
			false, 1500},
		{ETH_V4 V4("01", FAR, OURS) "03 01 00 00 00 00 05 78" V4("11", OURS, PEER) UDP SPI,
			false, 1500},
		{ETH_V6 V6("3a", "40", FD9, FD1) "02 00 00 00 00 00 05 78" V6("11", "40", FD1, FD2)
				UDP SPI,
			true, 1400},
		{ETH_V6 V6("3a", "40", FD9, FD1) "02 00 00 00 00 00 04 ff" V6("11", "40", FD1, FD2)
				UDP SPI,
			true, 1500},
	};

	for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		const struct boundary_family *f = &boundary_families[errors[i].v6];
		struct host *h = boundary_host(true);
		struct ip_addr peer = host_addr(f->peer);

		boundary_received(h, errors[i].hex);
		assert_int_equal(pmtu_get(h->ip, &peer), errors[i].mtu);
		if (errors[i].mtu != 1500) {
			assert_int_equal(boundary.asked.proto, 17);
			assert_int_equal(boundary.asked.src_port, 4500);
			assert_int_equal(boundary.asked.dst_port, 4501);
			assert_true(ip_addr_equal(&boundary.asked.dst, &peer));
		}
		host_expect_nothing(h);
		host_free(h);
	}
}

/** RFC 4301 section 8.2.1: an error about ESP is believed if it quotes what we may have sent. */
static void errors_about_esp_lower_the_path(void **state)
{
	static const struct {
		const char *hex;
		bool v6;
		uint16_t mtu; /**< of the path, afterwards */
	} errors[] = {
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("32", OURS, PEER) SPI,
			false, 1400},
		/* From before RFC 1191. */
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 00 00" V4("32", OURS, PEER) SPI,
			false, 576},
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 ff ff" V4("32", OURS, PEER) SPI,
			false, 1500},
		/* Another SPI, a cut quote, another's packet, no matter of MTU. */
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("32", OURS, PEER)
				WRONG_SPI,
			false, 1500},
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4(
			 "32", OURS, PEER) "00 00 10 01 00 00 00",
			false, 1500},
		{ETH_V4 V4("01", FAR, OURS) "03 04 00 00 00 00 05 78" V4("32", FAR, PEER) SPI,
			false, 1500},
		{ETH_V4 V4("01", FAR, OURS) "03 01 00 00 00 00 05 78" V4("32", OURS, PEER) SPI,
			false, 1500},
		{ETH_V6 V6("3a", "40", FD9, FD1) "02 00 00 00 00 00 05 78" V6("32", "40", FD1, FD2)
				SPI,
			true, 1400},
		{ETH_V6 V6("3a", "40", FD9, FD1) "02 00 00 00 00 00 05 00" V6("32", "40", FD1, FD2)
				SPI,
			true, 1280},
		/* RFC 8201 section 4: less than a link of IPv6 can have. */
		{ETH_V6 V6("3a", "40", FD9, FD1) "02 00 00 00 00 00 04 ff" V6("32", "40", FD1, FD2)
				SPI,
			true, 1500},
		{ETH_V6 V6("3a", "40", FD9, FD1) "02 00 00 00 ff ff 05 78" V6("32", "40", FD1, FD2)
				SPI,
			true, 1500},
		{ETH_V6 V6("3a", "40", FD9, FD1) "02 00 00 00 00 00 05 78" V6("32", "40", FD1, FD2)
				WRONG_SPI,
			true, 1500},
		{ETH_V6 V6("3a", "40", FD9, FD1) "03 00 00 00 00 00 05 78" V6("32", "40", FD1, FD2)
				SPI,
			true, 1500},
	};

	for (unsigned i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		const struct boundary_family *f = &boundary_families[errors[i].v6];
		struct host *h = boundary_host(true);
		struct ip_addr peer = host_addr(f->peer);

		boundary_received(h, errors[i].hex);
		assert_int_equal(boundary.n_in, 1);
		assert_int_equal(pmtu_get(h->ip, &peer), errors[i].mtu);
		assert_int_equal(path(h, f->ours, f->peer).mtu, errors[i].mtu - OVERHEAD);
		host_expect_nothing(h);
		host_free(h);
	}
}

/** Policies that change: the next packet already has other room. */
static void changed_policies_change_paths(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(true);
		struct ip_path p = path(h, f->ours, f->peer);
		unsigned len = 1500 - OVERHEAD - f->head;

		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, len), h->now), 0);
		boundary.overhead = OVERHEAD + 8;
		ip_ipsec_changed(h->ip);
		assert_int_equal(
			ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, len), h->now), -EMSGSIZE);
		assert_int_equal(
			ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, len - 8), h->now), 0);
		assert_int_equal(h->n_tx, 2);
		host_free(h);
	}
}

/* ---- sending ------------------------------------------------------------------------------ */

static struct rte_mbuf *segment(struct host *h, unsigned len)
{
	struct rte_mbuf *m = host_segment(h, len);
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	p[0] = 0x13;
	p[1] = 0x88;
	if (len >= 4) {
		p[2] = 0xc3;
		p[3] = 0x50;
	}
	return m;
}

static void boundary_is_told_of_the_flow(void **state)
{
	static const struct {
		uint8_t proto;
		unsigned len;
		uint16_t src_port, dst_port;
	} packets[] = {{6, 20, 5000, 50000}, {17, 8, 5000, 50000}, {17, 4, 5000, 50000},
		{17, 3, 0, 0}, {132, 20, 0, 0}, {58, 20, 0, 0}};

	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(true);
		struct ip_path p = path(h, f->ours, f->peer);

		for (unsigned k = 0; k < sizeof packets / sizeof packets[0]; k++) {
			assert_int_equal(ip_send(h->ip, &p, packets[k].proto,
						 segment(h, packets[k].len), h->now),
				0);
			assert_int_equal(h->n_tx, k + 1);
			assert_int_equal(boundary.n_out, k + 1);
			assert_int_equal(boundary.out.proto, packets[k].proto);
			assert_true(ip_addr_equal(&boundary.out.src, &p.src));
			assert_true(ip_addr_equal(&boundary.out.dst, &p.dst));
			assert_int_equal(boundary.out.src_port, packets[k].src_port);
			assert_int_equal(boundary.out.dst_port, packets[k].dst_port);
		}
		host_free(h);
	}
}

/** As if it were lost; and where a tunnel leads nowhere the sender is told. */
static void packets_may_not_leave(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(true);
		struct ip_path p = path(h, f->ours, f->peer);

		boundary.out_verdict = IP_IPSEC_DROPPED;
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, segment(h, 20), h->now), 0);
		host_expect_nothing(h);
		assert_int_equal(ip_stack_stats(h->ip)->no_route, 0);
		boundary.out_verdict = IP_IPSEC_CHANGED;
		boundary.tunnel = host_addr(f->foreign);
		assert_int_equal(
			ip_send(h->ip, &p, IP_PROTO_TCP, segment(h, 20), h->now), -ENETUNREACH);
		host_expect_nothing(h);
		assert_int_equal(ip_stack_stats(h->ip)->no_route, 1);
		boundary.tunnel = host_addr(f->far);
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, segment(h, 20), h->now), 0);
		assert_int_equal(h->n_tx, 1);
		host_free(h);
	}
}

/** What is to be encrypted is read, whatever the port sums. */
static void nothing_is_gathered(void **state)
{
	struct host *h = boundary_host(true);
	struct ip_path p = path(h, "10.0.0.1", "10.0.0.2");
	const struct ip_ipsec *x = h->ip->cfg.ipsec;

	h->ip->transport[IP_PROTO_TCP].tx_cksum = RTE_MBUF_F_TX_TCP_CKSUM;
	assert_false(ip_gathers(h->ip, &p, IP_PROTO_TCP));
	h->ip->cfg.ipsec = NULL;
	assert_true(ip_gathers(h->ip, &p, IP_PROTO_TCP));
	h->ip->cfg.ipsec = x;
	host_free(h);
}

/** The packet of a tunnel goes to the station that is on the way to its other end. */
static void tunnels_end_is_the_neighbour(void **state)
{
	static const char *const found[] = {
		"02 00 00 00 00 01 02 00 00 00 00 09 08 06 00 01 08 00 06 04 00 02"
		"02 00 00 00 00 09 0a 00 00 09 02 00 00 00 00 01 0a 00 00 01",
		"02 00 00 00 00 01 02 00 00 00 00 09 86 dd" V6("3a", "ff", FD9,
			FD1) "88 00 00 00 60 00 00 00" FD9 "02 01 02 00 00 00 00 09",
	};

	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(false);
		struct ip_path p;
		const uint8_t *sent_frame;

		boundary.out_verdict = IP_IPSEC_CHANGED;
		boundary.tunnel = host_addr(f->far);
		p = path(h, f->ours, f->peer);
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, segment(h, 20), h->now), 0);
		/* A question for that station, and for no other. */
		assert_int_equal(h->n_tx, 1);
		sent_frame = rte_pktmbuf_mtod(h->tx[0], const uint8_t *);
		if (i)
			assert_memory_equal(sent_frame + 14 + 40 + 8, boundary.tunnel.b, 16);
		else
			assert_memory_equal(sent_frame + 14 + 24, boundary.tunnel.b + 12, 4);
		host_forget(h);
		boundary_received(h, found[i]);
		assert_int_equal(h->n_tx, 1);
		sent_frame = rte_pktmbuf_mtod(h->tx[0], const uint8_t *);
		assert_memory_equal(sent_frame, bytes("02 00 00 00 00 09").b, 6);
		assert_int_equal(h->tx[0]->pkt_len, 14 + f->head + 20);
		host_free(h);
	}
}

/** It is told as of what it has sent: nobody sees that in what waits. */
static void who_waits_for_a_neighbour_in_vain_is_told(void **state)
{
	for (unsigned i = 0; i < 8; i++) {
		const struct boundary_family *f = &boundary_families[i & 1];
		struct host *h = boundary_host(false);
		struct ip_path p;

		boundary.out_verdict = IP_IPSEC_CHANGED;
		boundary.outside = i & 4 ? UDP SPI : SPI;
		boundary.outside_proto = i & 4 ? 17 : ESP;
		if (i & 2)
			boundary.tunnel = host_addr(f->far);
		p = path(h, f->ours, f->peer);
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, segment(h, 20), h->now), 0);
		/* Nobody is told of this one. */
		boundary.outside = i & 4 ? UDP WRONG_SPI : WRONG_SPI;
		assert_int_equal(ip_send(h->ip, &p, 132, segment(h, 20), h->now), 0);
		host_run(h, 7 * SECOND / 2);
		assert_int_equal(h->n_errors, 1);
		assert_int_equal(h->error.kind, IP_ERROR_HOST);
		assert_true(ip_addr_equal(&h->error.src, &p.src));
		assert_true(ip_addr_equal(&h->error.dst, &p.dst));
		assert_memory_equal(h->error_l4, bytes("13 88 c3 50 00 00 00 00").b, 8);
		assert_int_equal(
			ip_send(h->ip, &p, IP_PROTO_TCP, segment(h, 20), h->now), -EHOSTUNREACH);
		host_free(h);
	}
}

static int send_first(struct host *h, struct ip_path *p, struct ip_pattern *pattern)
{
	struct ip_text_sum text;
	struct rte_mbuf *m = pattern_segment(h, 1, &text);

	return ip_send_first(h->ip, p, IP_PROTO_TCP, m, text, 4, pattern, h->now);
}

/** Segments whose headers are alike are protected each by itself. */
static void boundary_is_told_of_each_that_is_alike(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct boundary_family *f = &boundary_families[i];
		struct host *h = boundary_host(true);
		struct ip_path p = path(h, f->ours, f->peer), own = path(h, f->ours, f->ours);
		struct ip_pattern pattern = {.text = 0};

		assert_int_equal(send_first(h, &p, &pattern), 0);
		assert_int_equal(pattern.text, PATTERN_TEXT);
		host_forget(h);
		for (uint32_t n = 0; n < 300; n++)
			pattern_send_both_ways(h, &p, &pattern, n);
		assert_int_equal(boundary.n_out, 601);
		assert_int_equal(boundary.out.proto, IP_PROTO_TCP);
		assert_true(ip_addr_equal(&boundary.out.dst, &p.dst));
		boundary.out_verdict = IP_IPSEC_DROPPED;
		assert_int_equal(send_first(h, &p, &pattern), 0);
		assert_int_equal(h->n_tx, 0);
		/* To ourselves it is not protected, and a tunnel may have no route. */
		assert_int_equal(send_first(h, &own, &pattern), 0);
		assert_int_equal(pattern.text, 0);
		boundary.out_verdict = IP_IPSEC_CHANGED;
		boundary.tunnel = host_addr(f->foreign);
		assert_int_equal(send_first(h, &p, &pattern), -ENETUNREACH);
		assert_int_equal(pattern.text, 0);
		host_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_leave_room),
		cmocka_unit_test(own_addresses_are_inside),
		cmocka_unit_test(tunnels_have_two_paths),
		cmocka_unit_test(errors_about_esp_lower_the_path),
		cmocka_unit_test(errors_about_esp_in_udp_lower_the_path),
		cmocka_unit_test(changed_policies_change_paths),
		cmocka_unit_test(boundary_is_told_of_the_flow),
		cmocka_unit_test(packets_may_not_leave),
		cmocka_unit_test(nothing_is_gathered),
		cmocka_unit_test(tunnels_end_is_the_neighbour),
		cmocka_unit_test(who_waits_for_a_neighbour_in_vain_is_told),
		cmocka_unit_test(boundary_is_told_of_each_that_is_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
