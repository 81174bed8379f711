/* SPDX-License-Identifier: BSD-2-Clause */
#include "nd_frame.h"

#include "base/bytes.h"
#include "ip/nd.h"
#include "ip/stack.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <stdio.h>

static void routers_are_solicited(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	host_forget(h);
	host_run(h, SECOND + SECOND / 10);
	/* In the same tick come announcements and reports, in no particular order. */
	for (unsigned i = 0; i < h->n_tx;) {
		if (rte_pktmbuf_mtod(h->tx[i], uint8_t *)[54] == 0x85) {
			i++;
			continue;
		}
		rte_pktmbuf_free(h->tx[i]);
		h->tx[i] = h->tx[--h->n_tx];
	}
	assert_int_equal(h->n_tx, 1);
	nd_frame_expect(h, "33 33 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD LL_US ROUTERS
			   "85 00 00 00 00 00 00 00 01 01 02 00 00 00 00 01");
	host_free(h);
}

static unsigned router_solicitations(struct host *h)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->n_tx; i++)
		n += rte_pktmbuf_mtod(h->tx[i], uint8_t *)[54] == 0x85;
	return n;
}

static void router_advertisement_gives_routes_and_mtu(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1");

	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA MTU PREFIX, 0);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	assert_int_equal(pmtu_get(h->ip, &far), 1400);
	assert_true(host_neighbour(h, "fe80::2")->router);
	host_run(h, 601 * SECOND);
	assert_true(host_has_hop(h, "2001:db8:1::7", "fe80::2")); /* no longer on-link */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_false(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

/* Of another station than the router's: 2001:db8:1:i::/64. */
static void forge_prefixes(struct host *h)
{
	for (unsigned i = 1; i <= 2 * ROUTE_PREFIXES_MAX; i++) {
		struct bytes b = bytes(ETH3 HEAD LL3 ALL RA_END PREFIX);

		store_be16(b.b + 18, (uint16_t)(b.len - 54));
		b.b[b.len - 9] = (uint8_t)i;
		fix_v6(&b);
		host_input(h, &b, 0);
	}
}

/* TCP's ACKs come on this path, and the router goes on to advertise its prefix. */
static void make_progress(struct host *h, struct ip_path *p, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i += 5) {
		host_run(h, 5 * SECOND);
		nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA PREFIX, 0);
		assert_int_equal(ip_send(h->ip, p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
		ip_path_confirm(h->ip, p, h->now, h->now);
		host_forget(h);
	}
}

/* 2001:db8:1::7 is here. */
static void answer_in_prefix(struct host *h)
{
	nd_frame_input(h,
		ETH HEAD "20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 07" FD1
			 "88 00 00 00 60 00 00 00"
			 "20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 07" TLLA,
		0);
}

/* However many others are advertised: somebody has answered there. */
static void prefix_of_a_neighbour_stays_known(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr src = host_addr("fd00::1"), dst = host_addr("2001:db8:1::7");
	struct ip_path p = {.tos = 0};

	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA PREFIX, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	answer_in_prefix(h);
	host_forget(h);
	forge_prefixes(h);
	assert_non_null(strstr(h->log_text, "too many prefixes"));
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	assert_true(host_has_hop(h, "2001:db8:1:18::7", "2001:db8:1:18::7"));
	/* For as long as there is progress: ten minutes and more, and also when the prefix was
	 * ended, and came again as the last one. */
	make_progress(h, &p, 700);
	forge_prefixes(h);
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	nd_frame_input(h, ETH3 HEAD LL3 ALL RA PREFIX_END, 0);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA PREFIX, 0);
	make_progress(h, &p, 60);
	forge_prefixes(h);
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	/* Whatever is said that nobody asked for. */
	nd_frame_input(h, ETH3 HEAD LL3 ALL RA PREFIX_END, 0);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA PREFIX, 0);
	for (unsigned i = 0; i < 12; i++) {
		make_progress(h, &p, 5);
		answer_in_prefix(h);
	}
	forge_prefixes(h);
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	host_free(h);
}

/* What the router says from which there was an answer stays, though it came last. */
static void prefix_of_a_router_that_answers_stays_known(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr src = host_addr("fd00::1"), far = host_addr("2001:db8:9::1");
	struct ip_path p = {.tos = 0};

	forge_prefixes(h);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA PREFIX, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	ip_path_confirm(h->ip, &p, h->now, h->now);
	forge_prefixes(h);
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	/* For as long as there is progress. */
	make_progress(h, &p, 700);
	nd_frame_input(h, ETH3 HEAD LL3 ALL RA_END PREFIX_END, 0);
	forge_prefixes(h);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA PREFIX, 0);
	forge_prefixes(h);
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	host_free(h);
}

/* RFC 7559 section 2: each wait is twice the one before, 4 s at first and an hour at last, all by a
 * tenth more or less. */
static void solicitation_goes_on_and_slows_down(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");
	uint64_t last, wait, want = 4 * SECOND;

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	host_run(h, SECOND + SECOND / 10);
	assert_int_equal(router_solicitations(h), 1);
	last = h->now - SECOND / 10;
	for (unsigned i = 0; i < 14; i++) {
		host_forget(h);
		while (!router_solicitations(h) && h->now - last < 10000 * SECOND)
			host_run(h, SECOND / 10);
		assert_int_equal(router_solicitations(h), 1);
		wait = h->now - last;
		assert_in_range(wait, want - want / 10 - SECOND / 2, want + want / 10 + SECOND / 2);
		want = 2 * wait < 3600 * SECOND ? 2 * wait : 3600 * SECOND;
		last = h->now;
	}
	assert_true(want == 3600 * SECOND);
	/* It ends with the first answer, however late. */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	host_forget(h);
	host_run(h, 10000 * SECOND);
	assert_int_equal(router_solicitations(h), 0);
	host_free(h);
}

/* RFC 7559: it may be another link, whose routers are found, also where all that is sent is lost
 * for half a minute at first; the known one may answer as well. */
static void link_that_comes_up_has_its_own_routers(void **state)
{
	struct host *h = nd_frame_host_with_router();

	ip_link_up(h->ip, h->now);
	host_run(h, 30 * SECOND);
	host_forget(h);
	host_run(h, 70 * SECOND);
	assert_in_range(router_solicitations(h), 1, 2);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	host_forget(h);
	host_run(h, 1000 * SECOND);
	assert_int_equal(router_solicitations(h), 0);
	ip_link_up(h->ip, h->now);
	host_run(h, 2 * SECOND);
	nd_frame_input(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	host_run(h, 100 * SECOND);
	assert_int_equal(router_solicitations(h), 1);
	host_free(h);
}

/* RFC 4861 section 6.3.7: only a router that wants to be the default one is found. */
static void solicitation_ends_with_a_default_router(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	host_run(h, SECOND + SECOND / 10);
	assert_int_equal(router_solicitations(h), 1);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END SLLA, 0);
	host_run(h, 5 * SECOND);
	assert_int_equal(router_solicitations(h), 2);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	host_run(h, 20 * SECOND);
	assert_int_equal(router_solicitations(h), 2);
	host_free(h);
}

/* RFC 4861 section 6.3.4: it makes no entry, but a known neighbour is a router from now on. */
static void advertisement_without_an_address_tells_of_a_router(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_null(host_neighbour(h, "fe80::2"));
	nd_frame_input(h, ETH HEAD LL2 LL_US NS LL_US SLLA, 0);
	assert_false(host_neighbour(h, "fe80::2")->router);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_true(host_neighbour(h, "fe80::2")->router);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" LL2 TLLA, 0);
	assert_false(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

static void advertised_mtu_is_that_of_known_paths(void **state)
{
	struct host *h = nd_frame_host_with_router();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 1460), h->now), 0);
	host_forget(h);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA MTU, 0);
	assert_int_equal(
		ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 1460), h->now), -EMSGSIZE);
	assert_int_equal(p.mtu, 1400);
	host_expect_nothing(h);
	host_free(h);
}

static void router_that_becomes_a_host_is_no_gateway(void **state)
{
	struct host *h = nd_frame_host_with_router();

	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 a0 00 00 00" LL2 TLLA, 0);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" LL2 TLLA, 0);
	assert_false(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

/** An RA of fe80::@p of with these flags. */
static void advertise(struct host *h, unsigned of, const char *flags)
{
	char text[400];

	snprintf(text, sizeof text,
		ETH_ALL HEAD "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 %02x " ALL
			     "86 00 00 00 40 %s 07 08 00 00 00 00 00 00 00 00 ",
		of, flags);
	nd_frame_input(h, text, 0);
}

/* RFC 4191 section 2.2: high, medium, low, and 10 as medium; the other flags are others'. */
static void routers_are_preferred_by_what_they_say(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr second = host_addr("fe80::2");

	advertise(h, 4, "18");
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::4"));
	advertise(h, 3, "10");
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3"));
	advertise(h, 5, "c0");
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3")); /* as good: the first stays */
	advertise(h, 2, "c8");
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	/* A router changes its mind, and is no other one by that. */
	advertise(h, 2, "18");
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3"));
	assert_int_equal(h->ip->routes.routers, 4);
	advertise(h, 2, "08");
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	/* Section 3.2: one that can be reached goes before one that is preferred. */
	route_leave_gateway(h->ip, &second, h->now);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3"));
	advertise(h, 2, "00");
	advertise(h, 2, "08");
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::3"));
	route_return_to_gateway(h->ip, &second, h->now);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	host_run(h, 1801 * SECOND);
	assert_int_equal(h->ip->routes.routers, 0);
	host_free(h);
}

static void bad_router_advertisements(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1");

	nd_frame_input(h, ETH_ALL HEAD FD2 ALL RA SLLA, 0); /* not link-local */
	nd_frame_input(h, ETH_ALL "60 00 00 00 00 00 3a 40" LL2 ALL RA SLLA, 0);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA "01 00", 0);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "86 00 00 00 40 00 07 08", 0);
	assert_false(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 4);
	/* An MTU below 1280 or above the link's; prefixes: link-local, a group, ::/0, ours of v4,
	 * not on-link. */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END "05 01 00 00 00 00 04 ff", 0);
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END "05 01 00 00 00 00 05 dd", 0);
	assert_int_equal(pmtu_get(h->ip, &far), 1500);
	nd_frame_input(h,
		ETH_ALL HEAD LL2 ALL RA_END "03 04 40 80 00 00 02 58 00 00 02 58 00 00 00 00" LL2
					    "03 04 40 80 00 00 02 58 00 00 02 58 00 00 00 00" ALL
					    "03 04 00 80 00 00 02 58 00 00 02 58 00 00 00 00" NONE
					    "03 04 60 80 00 00 02 58 00 00 02 58 00 00 00 00"
					    "00 00 00 00 00 00 00 00 00 00 ff ff 00 00 00 00"
					    "03 04 81 80 00 00 02 58 00 00 02 58 00 00 00 00" FD2
					    "03 04 40 00 00 00 02 58 00 00 02 58 00 00 00 00"
					    "20 01 0d b8 00 02 00 00 00 00 00 00 00 00 00 00",
		0);
	assert_int_equal(h->ip->routes.prefixes, 0);
	host_free(h);
}

/* RFC 4861 section 6.3.4: a lifetime of all ones has no end; what is known already changes nothing.
 */
static void lifetime_may_be_endless(void **state)
{
	struct host *h = host_new_v6();
	uint32_t before;

	nd_frame_input(h,
		ETH_ALL HEAD LL2 ALL RA_END MTU "03 04 40 80 ff ff ff ff ff ff ff ff 00 00 00 00"
						"20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 00",
		0);
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	before = h->ip->generation;
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA_END MTU, 0);
	assert_int_equal(h->ip->generation, before);
	host_run(h, UINT64_C(0xffffffff) * SECOND);
	assert_true(host_has_hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	host_free(h);
}

/* RFC 4861 section 4.6: options of another length or kind are passed over, what is behind is used.
 */
static void options_of_the_wrong_form_are_passed_over(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1");

	/* A link-layer address of two units, one that is a group's, an MTU of two units, a prefix
	 * of one, an unknown option; then a good MTU. */
	nd_frame_input(h,
		ETH_ALL HEAD LL2 ALL RA "01 02 02 00 00 00 00 02 00 00 00 00 00 00 00 00"
					"01 01 33 33 00 00 00 02"
					"05 02 00 00 00 00 05 00 00 00 00 00 00 00 00 00"
					"03 01 40 80 00 00 02 58"
					"0e 01 01 02 03 04 05 06" MTU,
		0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
	assert_null(host_neighbour(h, "fe80::2"));
	assert_int_equal(pmtu_get(h->ip, &far), 1400);
	assert_int_equal(h->ip->routes.routers, 1); /* the default route alone */
	host_free(h);
}

/* So many options are looked at, and so many prefixes taken of one message. */
static void options_are_limited(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1");
	char hex[4096] = ETH_ALL HEAD LL2 ALL RA_END;

	for (unsigned i = 0; i < 9; i++)
		snprintf(hex + strlen(hex), sizeof hex - strlen(hex),
			"03 04 40 80 00 00 02 58 00 00 02 58 00 00 00 00 "
			"20 01 0d b8 00 %02x 00 00 00 00 00 00 00 00 00 00 ",
			i);
	nd_frame_input(h, hex, 0);
	assert_true(host_has_hop(h, "2001:db8:7::7", "2001:db8:7::7"));
	assert_false(host_has_hop(h, "2001:db8:8::7", "2001:db8:8::7"));
	assert_int_equal(h->ip->routes.prefixes, 8);
	strcpy(hex, ETH_ALL HEAD LL2 ALL RA_END);
	for (unsigned i = 0; i < 32; i++)
		strcat(hex, "0e 01 00 00 00 00 00 00 ");
	strcat(hex, MTU);
	nd_frame_input(h, hex, 0);
	assert_int_equal(pmtu_get(h->ip, &far), 1500);
	host_free(h);
}

/* Of an option that nobody knows: a piece that is not the last is no smaller. */
#define PADDING 1232

static void input_fragment(struct host *h, const struct bytes *ra, unsigned from, unsigned to)
{
	struct bytes b = bytes(ETH_ALL "60 00 00 00 00 00 2c ff" LL2 ALL "3a 00 00 00 00 00 00 07");

	store_be16(b.b + 18, (uint16_t)(8 + to - from));
	store_be16(b.b + 54 + 2, (uint16_t)(from | (to < ra->len)));
	memcpy(b.b + b.len, ra->b + from, to - from);
	b.len += to - from;
	host_input(h, &b, 0);
}

static struct bytes long_advertisement(void)
{
	struct bytes b = bytes(ETH_ALL HEAD LL2 ALL RA SLLA "fd");

	b.b[b.len] = PADDING / 8;
	memset(b.b + b.len + 1, 0, PADDING - 2);
	b.len += PADDING - 1;
	store_be16(b.b + 18, (uint16_t)(b.len - 54));
	fix_v6(&b);
	b.len -= 54;
	memmove(b.b, b.b + 54, b.len);
	return b;
}

/* RFC 6980 section 5. */
static void messages_in_fragments_are_ignored(void **state)
{
	struct host *h = host_new_v6();
	struct bytes ra = long_advertisement();

	input_fragment(h, &ra, 0, ra.len); /* an atomic fragment (RFC 6946) */
	input_fragment(h, &ra, 0, PADDING);
	input_fragment(h, &ra, PADDING, ra.len);
	assert_int_equal(ip_stack_stats(h->ip)->reassembled, 1);
	assert_int_equal(ip_stack_stats(h->ip)->nd_rx, 2);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 2);
	assert_false(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	assert_null(host_neighbour(h, "fe80::2"));
	/* What comes next is none. */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	assert_true(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

/* RFC 4861 sections 4.1, 8: a host takes neither solicitations of routers nor redirects of ours. */
static void messages_for_routers_are_ignored(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH HEAD LL2 FD1 "85 00 00 00 00 00 00 00" SLLA, 0);
	nd_frame_input(h,
		ETH HEAD LL2 FD1 "89 00 00 00 00 00 00 00" LL2
				 "20 01 0d b8 00 09 00 00 00 00 00 00 00 00 00 01",
		0);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->nd_rx, 2);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
	assert_false(host_has_hop(h, "2001:db8:9::1", "fe80::2"));
	assert_null(host_neighbour(h, "fe80::2"));
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routers_are_solicited),
		cmocka_unit_test(solicitation_goes_on_and_slows_down),
		cmocka_unit_test(link_that_comes_up_has_its_own_routers),
		cmocka_unit_test(router_advertisement_gives_routes_and_mtu),
		cmocka_unit_test(prefix_of_a_neighbour_stays_known),
		cmocka_unit_test(prefix_of_a_router_that_answers_stays_known),
		cmocka_unit_test(solicitation_ends_with_a_default_router),
		cmocka_unit_test(advertisement_without_an_address_tells_of_a_router),
		cmocka_unit_test(advertised_mtu_is_that_of_known_paths),
		cmocka_unit_test(router_that_becomes_a_host_is_no_gateway),
		cmocka_unit_test(routers_are_preferred_by_what_they_say),
		cmocka_unit_test(bad_router_advertisements),
		cmocka_unit_test(lifetime_may_be_endless),
		cmocka_unit_test(options_of_the_wrong_form_are_passed_over),
		cmocka_unit_test(options_are_limited),
		cmocka_unit_test(messages_in_fragments_are_ignored),
		cmocka_unit_test(messages_for_routers_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
