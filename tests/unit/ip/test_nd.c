/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "ip/nd.h"
#include "ip/stack.h"

#include <errno.h>
#include <stdio.h>

#define ETH     "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define ETH_ALL "33 33 00 00 00 01 02 00 00 00 00 02 86 dd "
#define ETH_SOL "33 33 ff 00 00 01 02 00 00 00 00 02 86 dd "
#define HEAD    "60 00 00 00 00 00 3a ff "
#define FD2     "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define FD1     "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define LL2     "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define LL_US   "fe 80 00 00 00 00 00 00 00 00 00 ff fe 00 00 01 "
#define NONE    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
#define ALL     "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define ROUTERS "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define SOL1    "ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 01 "
#define SOL2    "ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 02 "
#define NS      "87 00 00 00 00 00 00 00 "
#define SLLA    "01 01 02 00 00 00 00 02 "
#define TLLA    "02 01 02 00 00 00 00 02 "
#define ETH3    "33 33 00 00 00 01 02 00 00 00 00 03 86 dd "
#define LL3     "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 03 "
#define SLLA3   "01 01 02 00 00 00 00 03 "
#define RIVAL   "02 01 02 00 00 00 00 66 " /* TLLA of another station */

static void input_fixed(struct host *h, const char *hex, unsigned piece)
{
	struct bytes b = bytes(hex);

	store_be16(b.b + 18, (uint16_t)(b.len - 54));
	fix_v6(&b);
	host_input(h, &b, piece);
}

/* The next frame sent must be this, its length and ICMPv6 checksum filled in here. */
static void expect_fixed(struct host *h, const char *hex)
{
	struct bytes b = bytes(hex);
	char text[3 * 200], *p = text;

	store_be16(b.b + 18, (uint16_t)(b.len - 54));
	fix_v6(&b);
	for (unsigned i = 0; i < b.len; i++)
		p += snprintf(p, 4, "%02x ", b.b[i]);
	host_expect(h, text);
}

/* Reports of groups, which go between: test_mld.c has them. */
static void forget_mld(struct host *h)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < h->n_tx; i++) {
		if (rte_pktmbuf_mtod(h->tx[i], uint8_t *)[20] == 0)
			rte_pktmbuf_free(h->tx[i]);
		else
			h->tx[kept++] = h->tx[i];
	}
	h->n_tx = kept;
}

/* Of those that were sent, who tell our link-layer address. */
static unsigned solicitations_with_source(struct host *h)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		n += p[20] == 0x3a && p[54] == 0x87 && h->tx[i]->data_len > 78 && p[78] == 1;
	}
	return n;
}

static struct ip_neighbour *find(struct host *h, const char *addr)
{
	struct ip_addr a = host_addr(addr);

	return neighbour_find(h->ip, &a);
}

static void solicitation_is_answered_and_remembered(void **state)
{
	struct host *h = host_new_v6();

	for (unsigned piece = 0; piece < 80; piece += 13) {
		input_fixed(h, ETH_SOL HEAD FD2 SOL1 NS FD1 SLLA, piece);
		expect_fixed(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 FD2
				"88 00 00 00 60 00 00 00" FD1 "02 01 02 00 00 00 00 01");
		host_expect_nothing(h);
	}
	assert_int_equal(find(h, "fd00::2")->state, NEIGHBOUR_STALE);
	/* The unicast poll of a neighbour that knows us, without its own address. */
	input_fixed(h, ETH HEAD LL2 FD1 NS FD1, 0);
	assert_int_equal(h->n_tx, 1);
	assert_null(find(h, "fe80::2"));
	host_free(h);
}

static void foreign_or_broken_solicitations_are_not(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH HEAD FD2 FD1 NS FD2 SLLA, 0);                      /* not our target */
	input_fixed(h, ETH "60 00 00 00 00 00 3a fe" FD2 FD1 NS FD1 SLLA, 0); /* routed */
	input_fixed(h, ETH HEAD FD2 FD1 "87 01 00 00 00 00 00 00" FD1 SLLA, 0);
	input_fixed(h, ETH HEAD FD2 FD1 NS ALL SLLA, 0); /* a group */
	input_fixed(h, ETH HEAD FD2 FD1 NS "fd 00", 0);  /* short */
	input_fixed(h, ETH HEAD FD2 FD1 NS FD1 "01 00 02 00 00 00 00 02", 0);
	input_fixed(h, ETH HEAD FD2 FD1 NS FD1 "01 02 02 00 00 00 00 02", 0);
	input_fixed(h, ETH HEAD FD2 FD1 NS FD1 "01 01 02 00", 0);
	input_fixed(h, ETH_SOL HEAD NONE SOL1 NS FD1 SLLA, 0); /* from nobody with an address */
	input_fixed(h, ETH HEAD NONE FD1 NS FD1, 0);           /* probes go to the group */
	host_expect_nothing(h);
	assert_null(find(h, "fd00::2"));
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 9);
	host_free(h);
}

static void probes_of_others_are_answered_to_all(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_SOL HEAD NONE SOL1 NS FD1, 0);
	expect_fixed(h, "33 33 00 00 00 01 02 00 00 00 00 01 86 dd" HEAD FD1 ALL
			"88 00 00 00 20 00 00 00" FD1 "02 01 02 00 00 00 00 01");
	host_free(h);
}

static void dad_solicits_and_announces(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	forget_mld(h);
	expect_fixed(h, "33 33 ff 00 00 01 02 00 00 00 00 01 86 dd" HEAD NONE SOL1 NS FD1);
	expect_fixed(h, "33 33 ff 00 00 01 02 00 00 00 00 01 86 dd" HEAD NONE SOL1 NS LL_US);
	host_expect_nothing(h);
	/* Optimistic: answers, but does not override. */
	input_fixed(h, ETH HEAD FD2 FD1 NS FD1 SLLA, 0);
	expect_fixed(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 FD2
			"88 00 00 00 40 00 00 00" FD1 "02 01 02 00 00 00 00 01");
	host_run(h, SECOND + SECOND / 10);
	forget_mld(h);
	assert_int_equal(h->n_tx, 3); /* two announcements, one router solicitation */
	host_free(h);
}

static void dad_sees_the_other_prober(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	host_forget(h);
	/* Our own probe, come back: not a conflict. */
	input_fixed(h, "33 33 ff 00 00 01 02 00 00 00 00 01 86 dd" HEAD NONE SOL1 NS FD1, 0);
	assert_true(ip_addr_is_local(h->ip, &a));
	input_fixed(h, ETH_SOL HEAD NONE SOL1 NS FD1, 0);
	assert_false(ip_addr_is_local(h->ip, &a));
	assert_non_null(strstr(h->log_text, "02:00:00:00:00:02"));
	host_expect_nothing(h);
	host_free(h);
}

static void later_conflict_is_told_and_defended(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	expect_fixed(h, "33 33 00 00 00 01 02 00 00 00 00 01 86 dd" HEAD FD1 ALL
			"88 00 00 00 20 00 00 00" FD1 "02 01 02 00 00 00 00 01");
	input_fixed(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	host_expect_nothing(h);
	host_free(h);
}

/* RFC 4861 section 7.2.4: the other owner speaks from the address that is ours too. */
static void other_owner_is_heard(void **state)
{
	struct host *h = host_new_v6();

	/* Our own, come back. */
	input_fixed(h,
		"33 33 00 00 00 01 02 00 00 00 00 01 86 dd" HEAD FD1 ALL
		"88 00 00 00 20 00 00 00" FD1 TLLA,
		0);
	input_fixed(
		h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00" FD1 "02 01 02 00 00 00 00 01", 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 0);
	input_fixed(h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	assert_non_null(strstr(h->log_text, "also claimed by 02:00:00:00:00:02"));
	assert_int_equal(h->n_tx, 1);
	host_forget(h);
	assert_int_equal(ip_stack_stats(h->ip)->rx_martian, 0);
	/* Nothing else comes from it: what a router passed on, what tells of another address, what
	 * is cut off, an echo, TCP. */
	input_fixed(
		h, ETH_ALL "60 00 00 00 00 00 3a fe" FD1 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	input_fixed(h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00" FD2 TLLA, 0);
	input_fixed(h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00 fd 00", 0);
	input_fixed(h, ETH_SOL HEAD FD1 SOL1 NS FD1 SLLA, 0);
	input_fixed(h, ETH HEAD FD1 FD1 "80 00 00 00 00 00 00 00" FD1, 0);
	input_fixed(h, ETH "60 00 00 00 00 00 06 ff" FD1 FD1 "88 00 00 00 20 00 00 00" FD1, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_martian, 6);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	host_expect_nothing(h);
	host_free(h);
}

static void resolution(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr src = host_addr("fd00::1"), dst = host_addr("fd00::2");
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	expect_fixed(h, "33 33 ff 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 SOL2 NS FD2
			"01 01 02 00 00 00 00 01");
	host_expect_nothing(h);
	/* Without a link-layer address it is of no use; solicited to a group it is wrong. */
	input_fixed(h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" FD2, 0);
	input_fixed(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 60 00 00 00" FD2 TLLA, 0);
	host_expect_nothing(h);
	input_fixed(h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" FD2 TLLA, 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(find(h, "fd00::2")->state, NEIGHBOUR_REACHABLE);
	/* The poll goes to the one address. */
	host_forget(h);
	host_run(h, 31 * SECOND);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_forget(h);
	host_run(h, 5 * SECOND + SECOND / 10);
	expect_fixed(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 FD2 NS FD2
			"01 01 02 00 00 00 00 01");
	host_free(h);
}

/* RFC 4861 section 4.3: stations that hear a question to the group want to know who asks; Linux does
 * not answer else. RFC 4429 section 3.2: they are not told while the address is only tried. */
static void resolution_from_an_address_that_is_tried(void **state)
{
	struct host *h = host_new();
	struct ip_addr src = host_addr("fd00::1"), dst = host_addr("fd00::2");
	struct ip_path p = {.tos = 0};

	assert_int_equal(ip_addr_add(h->ip, &src, 64, h->now), 0);
	host_run(h, SECOND / 2);
	host_forget(h);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	expect_fixed(h, "33 33 ff 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 SOL2 NS FD2);
	/* It is not waited for the next one then. */
	host_run(h, SECOND / 2 + SECOND / 10);
	assert_int_equal(solicitations_with_source(h), 1);
	host_forget(h);
	host_run(h, SECOND);
	assert_int_equal(solicitations_with_source(h), 1);
	host_forget(h);
	host_free(h);
}

static void resolution_while_the_link_comes_up(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr src = host_addr("fd00::1"), dst = host_addr("fd00::2");
	struct ip_path p = {.tos = 0};

	ip_link_up(h->ip, h->now);
	host_forget(h);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	/* It was in use: the stations know it. */
	expect_fixed(h, "33 33 ff 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 SOL2 NS FD2
			"01 01 02 00 00 00 00 01");
	/* But not when another one claims it. */
	input_fixed(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" FD1 RIVAL, 0);
	host_run(h, SECOND + SECOND / 10);
	assert_int_equal(solicitations_with_source(h), 0);
	host_forget(h);
	host_free(h);
}

static void advertisements_make_no_entries(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD2 TLLA, 0);
	assert_null(find(h, "fd00::2"));
	host_free(h);
}

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
	expect_fixed(h, "33 33 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD LL_US ROUTERS
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

/* Life 1800 s, MTU 1400, on-link prefix 2001:db8:1::/64 for 600 s. */
#define RA     "86 00 00 00 40 00 07 08 00 00 00 00 00 00 00 00 "
#define RA_END "86 00 00 00 40 00 00 00 00 00 00 00 00 00 00 00 "
#define MTU    "05 01 00 00 00 00 05 78 "
#define PREFIX                                             \
	"03 04 40 80 00 00 02 58 00 00 02 58 00 00 00 00 " \
	"20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 00 "

static bool hop(struct host *h, const char *dst, const char *want)
{
	struct ip_addr d = host_addr(dst), w = host_addr(want), got;

	return route_next_hop(h->ip, &d, &got) == 0 && ip_addr_equal(&got, &w);
}

static void router_advertisement_gives_routes_and_mtu(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1");

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA MTU PREFIX, 0);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	assert_true(hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	assert_int_equal(pmtu_get(h->ip, &far), 1400);
	assert_true(find(h, "fe80::2")->router);
	host_run(h, 601 * SECOND);
	assert_true(hop(h, "2001:db8:1::7", "fe80::2")); /* no longer on-link */
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_false(hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

/* However many others are advertised: somebody has answered there. */
static void prefix_of_a_neighbour_stays_known(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr src = host_addr("fd00::1"), dst = host_addr("2001:db8:1::7");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA PREFIX, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	input_fixed(h,
		ETH HEAD "20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 07" FD1
			 "88 00 00 00 60 00 00 00"
			 "20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 07" TLLA,
		0);
	for (unsigned i = 1; i <= 2 * ROUTE_PREFIXES_MAX; i++) {
		struct bytes b = bytes(ETH3 HEAD LL3 ALL RA PREFIX);

		store_be16(b.b + 18, (uint16_t)(b.len - 54));
		b.b[b.len - 9] = (uint8_t)i; /* 2001:db8:1:i::/64 */
		fix_v6(&b);
		host_input(h, &b, 0);
	}
	assert_non_null(strstr(h->log_text, "too many prefixes"));
	assert_true(hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	assert_true(hop(h, "2001:db8:1:18::7", "2001:db8:1:18::7"));
	host_forget(h);
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
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	host_forget(h);
	host_run(h, 10000 * SECOND);
	assert_int_equal(router_solicitations(h), 0);
	host_free(h);
}

/* RFC 7559: it may be another link, whose routers are found, also where all that is sent is lost
 * for half a minute at first; the known one may answer as well. */
static void link_that_comes_up_has_its_own_routers(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	ip_link_up(h->ip, h->now);
	host_run(h, 30 * SECOND);
	host_forget(h);
	host_run(h, 70 * SECOND);
	assert_in_range(router_solicitations(h), 1, 2);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	host_forget(h);
	host_run(h, 1000 * SECOND);
	assert_int_equal(router_solicitations(h), 0);
	ip_link_up(h->ip, h->now);
	host_run(h, 2 * SECOND);
	input_fixed(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
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
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END SLLA, 0);
	host_run(h, 5 * SECOND);
	assert_int_equal(router_solicitations(h), 2);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	host_run(h, 20 * SECOND);
	assert_int_equal(router_solicitations(h), 2);
	host_free(h);
}

/* RFC 4861 section 6.3.4: it makes no entry, but a known neighbour is a router from now on. */
static void advertisement_without_an_address_tells_of_a_router(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_null(find(h, "fe80::2"));
	input_fixed(h, ETH HEAD LL2 LL_US NS LL_US SLLA, 0);
	assert_false(find(h, "fe80::2")->router);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_true(find(h, "fe80::2")->router);
	input_fixed(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" LL2 TLLA, 0);
	assert_false(hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

static void advertised_mtu_is_that_of_known_paths(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 1460), h->now), 0);
	host_forget(h);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA MTU, 0);
	assert_int_equal(
		ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 1460), h->now), -EMSGSIZE);
	assert_int_equal(p.mtu, 1400);
	host_expect_nothing(h);
	host_free(h);
}

static void router_that_becomes_a_host_is_no_gateway(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	input_fixed(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 a0 00 00 00" LL2 TLLA, 0);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	input_fixed(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" LL2 TLLA, 0);
	assert_false(hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

/* RFC 4861 section 7.2.5: an advertisement that does not change the entry. */
static void rival_does_not_speak_for_the_router(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	/* Without the override flag, of another address. */
	input_fixed(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 00 00 00 00" LL2 RIVAL, 0);
	assert_true(find(h, "fe80::2")->router);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	/* With it, while packets go to the known address. */
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	input_fixed(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" LL2 RIVAL, 0);
	assert_true(find(h, "fe80::2")->router);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	/* The same without an address, from the other station. */
	input_fixed(h,
		"02 00 00 00 00 01 02 00 00 00 00 66 86 dd" HEAD LL2 LL_US
		"88 00 00 00 40 00 00 00" LL2,
		0);
	assert_true(find(h, "fe80::2")->router);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	/* Nor is a host a router by that. */
	input_fixed(h, ETH HEAD FD2 FD1 NS FD1 SLLA, 0);
	host_forget(h);
	input_fixed(h,
		"33 33 00 00 00 01 02 00 00 00 00 66 86 dd" HEAD FD2 ALL
		"88 00 00 00 80 00 00 00" FD2,
		0);
	assert_false(find(h, "fd00::2")->router);
	/* The router's own word counts, also without an address. */
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 40 00 00 00" LL2, 0);
	assert_false(find(h, "fe80::2")->router);
	assert_false(hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

#define ETH66       "33 33 00 00 00 01 02 00 00 00 00 66 86 dd "
#define SLLA66      "01 01 02 00 00 00 00 66 "
#define RA_SHORT    "86 00 00 00 40 00 00 01 00 00 00 00 00 00 00 00 "
#define RA_LOW      "86 00 00 00 40 18 07 08 00 00 00 00 00 00 00 00 "
#define RA_HIGH     "86 00 00 00 40 08 07 08 00 00 00 00 00 00 00 00 "
#define RA_LOW_LONG "86 00 00 00 40 18 0e 10 00 00 00 00 00 00 00 00 "
#define NA_HOST     "88 00 00 00 20 00 00 00 " /* not a router's; override */

static bool is_router(struct host *h, const char *addr)
{
	struct ip_addr a = host_addr(addr);

	return route_of_router(h->ip, &a) != NULL;
}

static int preference(struct host *h, const char *addr)
{
	struct ip_addr a = host_addr(addr);

	return route_of_router(h->ip, &a)->preference;
}

/* All that another station may say of the router @p addr, whose text is @p ll. */
static void forge(struct host *h, const char *addr, const char *ll)
{
	static const char *const ra[] = {RA_END, RA_SHORT, RA_LOW, RA_HIGH};
	char hex[512];

	for (unsigned i = 0; i < 10; i++) {
		const char *text = i < 8 ? ra[i / 2] : NA_HOST;

		snprintf(hex, sizeof hex, ETH66 HEAD "%s" ALL "%s%s%s", ll, text, i < 8 ? "" : ll,
			!(i & 1) ? ""
			: i < 8  ? SLLA66
				 : RIVAL);
		input_fixed(h, hex, 0);
		host_run(h, SECOND / 100);
		assert_true(is_router(h, addr));
		assert_int_equal(preference(h, addr), 0);
	}
	host_run(h, SECOND / 2);
	assert_true(is_router(h, addr));
}

/* Nor by an RA that ends it, ends it sooner, or makes another router better. */
static void rival_does_not_retire_the_router(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	forge(h, "fe80::2", LL2);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 c0 00 00 00" LL2 TLLA, 0);
	forge(h, "fe80::2", LL2);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	/* Its own word counts. */
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_LOW, 0);
	assert_true(hop(h, "2001:db8:9::1", "fe80::3"));
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_false(is_router(h, "fe80::2"));
	/* What is new takes nothing from it. */
	input_fixed(h, ETH66 HEAD LL2 ALL RA, 0);
	assert_true(is_router(h, "fe80::2"));
	host_free(h);
}

/* Nothing was sent to it yet; nor is its address known, but who advertised it. */
static void nor_a_router_that_waits(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	forge(h, "fe80::3", LL3);
	assert_int_equal(find(h, "fe80::3")->eth[5], 3);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	input_fixed(h, ETH3 HEAD LL3 ALL RA_END SLLA3, 0);
	assert_false(is_router(h, "fe80::3"));
	host_free(h);

	h = host_new_v6();
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA, 0);
	forge(h, "fe80::2", LL2);
	forge(h, "fe80::2", LL2);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_false(is_router(h, "fe80::2"));
	host_free(h);
}

/* RFC 4861 section 6.2.3: a router of several stations need not say whose it is. */
static void another_station_of_a_router_prolongs_it(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH66 HEAD LL2 ALL RA_LOW_LONG, 0);
	assert_int_equal(preference(h, "fe80::2"), 0);
	host_run(h, 3599 * SECOND);
	assert_true(is_router(h, "fe80::2"));
	host_run(h, 2 * SECOND);
	assert_false(is_router(h, "fe80::2"));
	host_free(h);
}

/* A router may get another station: what does not answer any more does not speak for it. */
static void router_that_moved_speaks_for_itself(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	input_fixed(h, ETH66 HEAD LL2 ALL RA SLLA66, 0);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(find(h, "fe80::2")->answered);
	host_run(h, 2 * SECOND);
	input_fixed(h, ETH66 HEAD LL2 ALL RA SLLA66, 0);
	host_run(h, SECOND - SECOND / 10);
	assert_int_equal(find(h, "fe80::2")->eth[5], 0x66);
	input_fixed(h, ETH66 HEAD LL2 ALL RA_LOW SLLA66, 0);
	assert_int_equal(preference(h, "fe80::2"), 0); /* it is being asked */
	input_fixed(h,
		"02 00 00 00 00 01 02 00 00 00 00 66 86 dd" HEAD LL2 LL_US
		"88 00 00 00 e0 00 00 00" LL2 RIVAL,
		0);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_LOW SLLA, 0);
	assert_int_equal(preference(h, "fe80::2"), 0);
	input_fixed(h, ETH66 HEAD LL2 ALL RA, 0);
	/* That is remembered when the neighbour is forgotten. */
	host_run(h, 700 * SECOND);
	assert_null(find(h, "fe80::2"));
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	assert_true(is_router(h, "fe80::2"));
	input_fixed(h, ETH66 HEAD LL2 ALL RA_END, 0);
	assert_false(is_router(h, "fe80::2"));
	host_free(h);
}

/* The last octet of the station that the last packet of TCP went to; 0: none was sent. */
static unsigned last_station(const struct host *h)
{
	for (unsigned i = h->n_tx; i-- > 0;) {
		const uint8_t *f = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		if (f[20] == IP_PROTO_TCP)
			return f[5];
	}
	return 0;
}

/* What is said unasked, as if it had been, proves nothing; what is answered does, and progress. */
static void router_that_answers_was_reached(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1"),
		       ll2 = host_addr("fe80::2");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_int_equal(find(h, "fe80::2")->state, NEIGHBOUR_REACHABLE);
	assert_false(route_of_router(h->ip, &ll2)->reached);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_run(h, 31 * SECOND);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_run(h, 5 * SECOND + SECOND / 10);
	assert_int_equal(find(h, "fe80::2")->state, NEIGHBOUR_PROBE);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	/* It stays so when the preference changes, and when it comes back. */
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_LOW SLLA, 0);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END SLLA, 0);
	assert_false(is_router(h, "fe80::2"));
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	/* But not when it does not answer any more. */
	host_run(h, 31 * SECOND);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_run(h, 8 * SECOND + SECOND / 10);
	assert_int_equal(find(h, "fe80::2")->state, NEIGHBOUR_INCOMPLETE);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END, 0);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_false(route_of_router(h->ip, &ll2)->reached);
	host_free(h);

	/* What comes for another reason while it is being asked is no answer. */
	h = host_new_v6();
	p.generation = 0;
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	input_fixed(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 a0 00 00 00" LL2 TLLA, 0);
	assert_int_equal(last_station(h), 2);
	assert_false(route_of_router(h->ip, &ll2)->reached);
	host_free(h);

	h = host_new_v6();
	p.generation = 0;
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	neighbour_confirm(h->ip, find(h, "fe80::2"), h->now, h->now);
	assert_true(route_of_router(h->ip, &ll2)->reached);
	host_free(h);
}

/* RFC 4861 section 7.2.5: what does not tell the address that is asked for is dropped. */
static void router_without_an_address_stays_unknown(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	assert_int_equal(find(h, "fe80::2")->state, NEIGHBOUR_INCOMPLETE);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2, 0);
	assert_int_equal(find(h, "fe80::2")->state, NEIGHBOUR_INCOMPLETE);
	assert_false(find(h, "fe80::2")->router);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(find(h, "fe80::2")->router);
	host_free(h);
}

/* RFC 4861 sections 6.3.6 and 7.3.3: a router that went away, then one that never was there. */
static void another_router_is_used_when_one_does_not_answer(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	assert_int_equal(last_station(h), 2);
	host_run(h, 8 * SECOND + SECOND / 10);
	host_forget(h);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	assert_int_equal(last_station(h), 3);
	host_free(h);

	h = host_new_v6();
	p.generation = 0;
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA, 0);
	input_fixed(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	assert_int_equal(last_station(h), 0);
	host_run(h, 3 * SECOND + SECOND / 10);
	assert_int_equal(last_station(h), 3); /* it waited for the other one */
	assert_int_equal(h->n_errors, 0);
	/* Nobody is there: each is asked in turn, and what waits is told of. */
	host_run(h, 8 * SECOND);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_run(h, 3 * SECOND + SECOND / 10);
	assert_int_equal(h->n_errors, 1);
	assert_true(hop(h, "2001:db8:9::1", "fe80::3"));
	host_free(h);
}

/** Was fe80::@p of asked for in what was sent? It is forgotten. */
static bool was_asked(struct host *h, unsigned of)
{
	bool asked = false;

	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *f = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		asked |= f[20] == 58 && f[54] == 0x87 && f[62] == 0xfe && f[77] == of;
	}
	host_forget(h);
	return asked;
}

/* Whoever speaks for a router that was left, as if it had been asked, does not keep it so. */
static void router_that_was_left_is_asked_whatever_is_said(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1"), src = host_addr("fd00::1");
	struct ip_path p = {.tos = 0};
	bool asked = false;

	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH3 HEAD LL3 ALL RA SLLA3, 0);
	assert_int_equal(ip_path_init(h->ip, &p, &src, &far, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_run(h, 14 * SECOND);
	assert_null(find(h, "fe80::2"));
	assert_true(hop(h, "2001:db8:9::1", "fe80::3"));
	host_forget(h);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	for (unsigned i = 0; i < 61 && !asked; i++) {
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
		input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
		neighbour_confirm(h->ip, find(h, "fe80::3"), h->now, h->now);
		host_run(h, SECOND);
		asked = was_asked(h, 2);
	}
	assert_true(asked);
	input_fixed(h, ETH HEAD LL2 LL_US "88 00 00 00 e0 00 00 00" LL2 TLLA, 0);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
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
	input_fixed(h, text, 0);
}

/* RFC 4191 section 2.2: high, medium, low, and 10 as medium; the other flags are others'. */
static void routers_are_preferred_by_what_they_say(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr second = host_addr("fe80::2");

	advertise(h, 4, "18");
	assert_true(hop(h, "2001:db8:9::1", "fe80::4"));
	advertise(h, 3, "10");
	assert_true(hop(h, "2001:db8:9::1", "fe80::3"));
	advertise(h, 5, "c0");
	assert_true(hop(h, "2001:db8:9::1", "fe80::3")); /* as good: the first stays */
	advertise(h, 2, "c8");
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	/* A router changes its mind, and is no other one by that. */
	advertise(h, 2, "18");
	assert_true(hop(h, "2001:db8:9::1", "fe80::3"));
	assert_int_equal(h->ip->routes.routers, 4);
	advertise(h, 2, "08");
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	/* Section 3.2: one that can be reached goes before one that is preferred. */
	route_leave_gateway(h->ip, &second, h->now);
	assert_true(hop(h, "2001:db8:9::1", "fe80::3"));
	advertise(h, 2, "00");
	advertise(h, 2, "08");
	assert_true(hop(h, "2001:db8:9::1", "fe80::3"));
	route_return_to_gateway(h->ip, &second);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	host_run(h, 1801 * SECOND);
	assert_int_equal(h->ip->routes.routers, 0);
	host_free(h);
}

static void bad_router_advertisements(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr far = host_addr("2001:db8:9::1");

	input_fixed(h, ETH_ALL HEAD FD2 ALL RA SLLA, 0); /* not link-local */
	input_fixed(h, ETH_ALL "60 00 00 00 00 00 3a 40" LL2 ALL RA SLLA, 0);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA "01 00", 0);
	input_fixed(h, ETH_ALL HEAD LL2 ALL "86 00 00 00 40 00 07 08", 0);
	assert_false(hop(h, "2001:db8:9::1", "fe80::2"));
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 4);
	/* An MTU below 1280 or above the link's; prefixes: link-local, a group, ::/0, ours of v4,
	 * not on-link. */
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END "05 01 00 00 00 00 04 ff", 0);
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END "05 01 00 00 00 00 05 dd", 0);
	assert_int_equal(pmtu_get(h->ip, &far), 1500);
	input_fixed(h,
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

	input_fixed(h,
		ETH_ALL HEAD LL2 ALL RA_END MTU "03 04 40 80 ff ff ff ff ff ff ff ff 00 00 00 00"
						"20 01 0d b8 00 01 00 00 00 00 00 00 00 00 00 00",
		0);
	assert_true(hop(h, "2001:db8:1::7", "2001:db8:1::7"));
	before = h->ip->generation;
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA_END MTU, 0);
	assert_int_equal(h->ip->generation, before);
	host_run(h, UINT64_C(0xffffffff) * SECOND);
	assert_true(hop(h, "2001:db8:1::7", "2001:db8:1::7"));
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
	input_fixed(h,
		ETH_ALL HEAD LL2 ALL RA "01 02 02 00 00 00 00 02 00 00 00 00 00 00 00 00"
					"01 01 33 33 00 00 00 02"
					"05 02 00 00 00 00 05 00 00 00 00 00 00 00 00 00"
					"03 01 40 80 00 00 02 58"
					"0e 01 01 02 03 04 05 06" MTU,
		0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
	assert_null(find(h, "fe80::2"));
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
	input_fixed(h, hex, 0);
	assert_true(hop(h, "2001:db8:7::7", "2001:db8:7::7"));
	assert_false(hop(h, "2001:db8:8::7", "2001:db8:8::7"));
	assert_int_equal(h->ip->routes.prefixes, 8);
	strcpy(hex, ETH_ALL HEAD LL2 ALL RA_END);
	for (unsigned i = 0; i < 32; i++)
		strcat(hex, "0e 01 00 00 00 00 00 00 ");
	strcat(hex, MTU);
	input_fixed(h, hex, 0);
	assert_int_equal(pmtu_get(h->ip, &far), 1500);
	host_free(h);
}

/* RFC 4861 section 7.1.2. */
static void foreign_or_broken_advertisements_are_not_believed(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH HEAD FD2 FD1 NS FD1 SLLA, 0);
	host_forget(h);
	input_fixed(h,
		ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00"
				 "fd 00",
		0);
	input_fixed(h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" FD2 "02 00 02 00 00 00 00 09", 0);
	input_fixed(h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" ALL TLLA, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 3);
	assert_int_equal(find(h, "fd00::2")->state, NEIGHBOUR_STALE);
	/* Of our address, without saying who: the frame's sender it is. */
	input_fixed(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD1, 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	assert_non_null(strstr(h->log_text, "02:00:00:00:00:02"));
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
	assert_false(hop(h, "2001:db8:9::1", "fe80::2"));
	assert_null(find(h, "fe80::2"));
	/* What comes next is none. */
	input_fixed(h, ETH_ALL HEAD LL2 ALL RA SLLA, 0);
	assert_true(hop(h, "2001:db8:9::1", "fe80::2"));
	host_free(h);
}

/* RFC 4861 sections 4.1, 8: a host takes neither solicitations of routers nor redirects of ours. */
static void messages_for_routers_are_ignored(void **state)
{
	struct host *h = host_new_v6();

	input_fixed(h, ETH HEAD LL2 FD1 "85 00 00 00 00 00 00 00" SLLA, 0);
	input_fixed(h,
		ETH HEAD LL2 FD1 "89 00 00 00 00 00 00 00" LL2
				 "20 01 0d b8 00 09 00 00 00 00 00 00 00 00 00 01",
		0);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->nd_rx, 2);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
	assert_false(hop(h, "2001:db8:9::1", "fe80::2"));
	assert_null(find(h, "fe80::2"));
	host_free(h);
}

/* Who is not on our link is answered, and not remembered as a neighbour. */
static void solicitation_from_far_makes_no_entry(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr any = host_addr("::"), gateway = host_addr("fd00::2");

	assert_int_equal(ip_route_add(h->ip, &any, 0, &gateway), 0);
	input_fixed(
		h, ETH HEAD "20 01 0d b8 00 09 00 00 00 00 00 00 00 00 00 01" FD1 NS FD1 SLLA, 0);
	assert_int_equal(h->n_tx, 1);
	assert_null(find(h, "2001:db8:9::1"));
	host_free(h);
}

static void groups(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr a;

	a = host_addr("ff02::1");
	assert_true(ip_group_has(h->ip, &a));
	a = host_addr("ff02::1:ff00:1");
	assert_true(ip_group_has(h->ip, &a));
	a = host_addr("ff02::1:ff00:2");
	assert_false(ip_group_has(h->ip, &a));
	a = host_addr("ff02::2");
	assert_false(ip_group_has(h->ip, &a));
	/* An IPv4 address has no such group. */
	a = host_addr("10.0.0.9");
	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	a = host_addr("ff02::1:ff00:9");
	assert_false(ip_group_has(h->ip, &a));
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(solicitation_is_answered_and_remembered),
		cmocka_unit_test(foreign_or_broken_solicitations_are_not),
		cmocka_unit_test(probes_of_others_are_answered_to_all),
		cmocka_unit_test(dad_solicits_and_announces),
		cmocka_unit_test(dad_sees_the_other_prober),
		cmocka_unit_test(later_conflict_is_told_and_defended),
		cmocka_unit_test(other_owner_is_heard),
		cmocka_unit_test(resolution),
		cmocka_unit_test(resolution_from_an_address_that_is_tried),
		cmocka_unit_test(resolution_while_the_link_comes_up),
		cmocka_unit_test(advertisements_make_no_entries),
		cmocka_unit_test(routers_are_solicited),
		cmocka_unit_test(solicitation_goes_on_and_slows_down),
		cmocka_unit_test(link_that_comes_up_has_its_own_routers),
		cmocka_unit_test(router_advertisement_gives_routes_and_mtu),
		cmocka_unit_test(prefix_of_a_neighbour_stays_known),
		cmocka_unit_test(solicitation_ends_with_a_default_router),
		cmocka_unit_test(advertisement_without_an_address_tells_of_a_router),
		cmocka_unit_test(advertised_mtu_is_that_of_known_paths),
		cmocka_unit_test(router_that_becomes_a_host_is_no_gateway),
		cmocka_unit_test(rival_does_not_speak_for_the_router),
		cmocka_unit_test(rival_does_not_retire_the_router),
		cmocka_unit_test(nor_a_router_that_waits),
		cmocka_unit_test(another_station_of_a_router_prolongs_it),
		cmocka_unit_test(router_that_moved_speaks_for_itself),
		cmocka_unit_test(router_that_answers_was_reached),
		cmocka_unit_test(router_without_an_address_stays_unknown),
		cmocka_unit_test(another_router_is_used_when_one_does_not_answer),
		cmocka_unit_test(router_that_was_left_is_asked_whatever_is_said),
		cmocka_unit_test(routers_are_preferred_by_what_they_say),
		cmocka_unit_test(bad_router_advertisements),
		cmocka_unit_test(lifetime_may_be_endless),
		cmocka_unit_test(options_of_the_wrong_form_are_passed_over),
		cmocka_unit_test(options_are_limited),
		cmocka_unit_test(foreign_or_broken_advertisements_are_not_believed),
		cmocka_unit_test(messages_in_fragments_are_ignored),
		cmocka_unit_test(messages_for_routers_are_ignored),
		cmocka_unit_test(solicitation_from_far_makes_no_entry),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
