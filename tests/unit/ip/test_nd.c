/* SPDX-License-Identifier: BSD-2-Clause */
#include "nd_frame.h"

#include "base/bytes.h"
#include "ip/nd.h"
#include "ip/stack.h"

#include <rte_mbuf.h>
#include <stdio.h>

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

static void solicitation_is_answered_and_remembered(void **state)
{
	struct host *h = host_new_v6();

	for (unsigned piece = 0; piece < 80; piece += 13) {
		nd_frame_input(h, ETH_SOL HEAD FD2 SOL1 NS FD1 SLLA, piece);
		nd_frame_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 FD2
				   "88 00 00 00 60 00 00 00" FD1 "02 01 02 00 00 00 00 01");
		host_expect_nothing(h);
	}
	assert_int_equal(host_neighbour(h, "fd00::2")->state, NEIGHBOUR_STALE);
	/* The unicast poll of a neighbour that knows us, without its own address. */
	nd_frame_input(h, ETH HEAD LL2 FD1 NS FD1, 0);
	assert_int_equal(h->n_tx, 1);
	assert_null(host_neighbour(h, "fe80::2"));
	host_free(h);
}

/* RFC 4861 section 4.6: what is not known is passed over, the rest of the message counts. */
static void unknown_options_are_ignored(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h,
		ETH_SOL HEAD FD2 SOL1 NS FD1 "fe 01 02 00 00 00 00 66 " SLLA
					     "fd 02 02 00 00 00 00 66 00 00 00 00 00 00 00 00",
		0);
	nd_frame_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 FD2
			   "88 00 00 00 60 00 00 00" FD1 "02 01 02 00 00 00 00 01");
	assert_int_equal(host_neighbour(h, "fd00::2")->eth[5], 2);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
	host_free(h);
}

static void foreign_or_broken_solicitations_are_not(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH HEAD FD2 FD1 NS FD2 SLLA, 0); /* not our target */
	nd_frame_input(h, ETH "60 00 00 00 00 00 3a fe" FD2 FD1 NS FD1 SLLA, 0); /* routed */
	nd_frame_input(h, ETH HEAD FD2 FD1 "87 01 00 00 00 00 00 00" FD1 SLLA, 0);
	nd_frame_input(h, ETH HEAD FD2 FD1 NS ALL SLLA, 0); /* a group */
	nd_frame_input(h, ETH HEAD FD2 FD1 NS "fd 00", 0);  /* short */
	nd_frame_input(h, ETH HEAD FD2 FD1 NS FD1 "01 00 02 00 00 00 00 02", 0);
	nd_frame_input(h, ETH HEAD FD2 FD1 NS FD1 "01 02 02 00 00 00 00 02", 0);
	nd_frame_input(h, ETH HEAD FD2 FD1 NS FD1 "01 01 02 00", 0);
	nd_frame_input(h, ETH_SOL HEAD NONE SOL1 NS FD1 SLLA, 0); /* from nobody with an address */
	nd_frame_input(h, ETH HEAD NONE FD1 NS FD1, 0);           /* probes go to the group */
	host_expect_nothing(h);
	assert_null(host_neighbour(h, "fd00::2"));
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 9);
	host_free(h);
}

/** An address of IPv4 in our form of it, ::ffff:10.0.0.1, and the one of a neighbour. */
static void nothing_is_told_of_ipv4(void **state)
{
#define MAPPED "00 00 00 00 00 00 00 00 00 00 ff ff 0a 00 00 "
	static const char *const targets[] = {MAPPED "01 ", MAPPED "02 "};
	struct host *h = host_new_v6();
	struct ip_addr a = host_addr("10.0.0.1"), b = host_addr("10.0.0.2");
	struct ip_neighbour *n;

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	n = neighbour_get(h->ip, &b, h->now);
	assert_non_null(n);
	host_run(h, SECOND);
	host_forget(h);
	for (unsigned i = 0; i < 2; i++) {
		char text[512];

		snprintf(text, sizeof text, ETH HEAD FD2 FD1 NS "%s" SLLA, targets[i]);
		nd_frame_input(h, text, 0);
		snprintf(text, sizeof text, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00 %s" RIVAL,
			targets[i]);
		nd_frame_input(h, text, 0);
		assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 2 * (i + 1));
	}
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 0);
	assert_int_equal(ip_stack_stats(h->ip)->arp_conflicts, 0);
	assert_int_not_equal(n->eth[5], 0x66);
	host_free(h);
}

static void probes_of_others_are_answered_to_all(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH_SOL HEAD NONE SOL1 NS FD1, 0);
	nd_frame_expect(h, "33 33 00 00 00 01 02 00 00 00 00 01 86 dd" HEAD FD1 ALL
			   "88 00 00 00 20 00 00 00" FD1 "02 01 02 00 00 00 00 01");
	host_free(h);
}

/* The text of a frame: that which is sent next, from the station @p mac. */
static void next_sent(struct host *h, const char *mac, char text[512])
{
	const uint8_t *p = rte_pktmbuf_mtod(h->tx[0], const uint8_t *);
	unsigned len = h->tx[0]->data_len;

	assert_in_range(len, 1, 150);
	for (unsigned i = 0; i < len; i++)
		snprintf(text + 3 * i, 4, "%02x ", p[i]);
	memcpy(text + 3 * 6, mac, strlen(mac));
}

/* @p head, and a nonce that is as it happens to be. */
static void expect_probe(struct host *h, const char *head)
{
	char sent[512], want[512];

	next_sent(h, "", sent);
	snprintf(want, sizeof want, "%s 0e 01 %s", head, sent + 3 * (14 + 40 + 24 + 2));
	assert_int_equal(strlen(sent), 3 * (14 + 40 + 24 + 8));
	nd_frame_expect(h, want);
}

static void dad_solicits_and_announces(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	forget_mld(h);
	expect_probe(h, "33 33 ff 00 00 01 02 00 00 00 00 01 86 dd" HEAD NONE SOL1 NS FD1);
	expect_probe(h, "33 33 ff 00 00 01 02 00 00 00 00 01 86 dd" HEAD NONE SOL1 NS LL_US);
	host_expect_nothing(h);
	/* Optimistic: answers, but does not override. */
	nd_frame_input(h, ETH HEAD FD2 FD1 NS FD1 SLLA, 0);
	nd_frame_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 FD2
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
	nd_frame_input(h, "33 33 ff 00 00 01 02 00 00 00 00 01 86 dd" HEAD NONE SOL1 NS FD1, 0);
	assert_true(ip_addr_is_local(h->ip, &a));
	nd_frame_input(h, ETH_SOL HEAD NONE SOL1 NS FD1, 0);
	assert_false(ip_addr_is_local(h->ip, &a));
	assert_non_null(strstr(h->log_text, "02:00:00:00:00:02"));
	host_expect_nothing(h);
	host_free(h);
}

/* RFC 7527 section 4.2: it has gone out by another port of a bond, whose MAC it has. */
static void dad_knows_its_own_probe(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");
	char text[512];

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	forget_mld(h);
	next_sent(h, "02 00 00 00 00 02", text);
	host_forget(h);
	nd_frame_input(h, text, 0);
	assert_true(ip_addr_is_local(h->ip, &a));
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 0);
	/* Nor is it answered. */
	host_run(h, 20 * SECOND);
	host_forget(h);
	nd_frame_input(h, text, 0);
	host_expect_nothing(h);
	/* Another nonce, and one of another length, are others'. */
	memcpy(text + 3 * (14 + 40 + 24 + 2), "00 00", 5);
	nd_frame_input(h, text, 0);
	assert_int_equal(h->n_tx, 1);
	nd_frame_input(h,
		ETH_SOL HEAD NONE SOL1 NS FD1 "0e 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00", 0);
	assert_int_equal(h->n_tx, 2);
	host_forget(h);
	host_free(h);
}

static void later_conflict_is_told_and_defended(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	nd_frame_expect(h, "33 33 00 00 00 01 02 00 00 00 00 01 86 dd" HEAD FD1 ALL
			   "88 00 00 00 20 00 00 00" FD1 "02 01 02 00 00 00 00 01");
	nd_frame_input(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	host_expect_nothing(h);
	host_free(h);
}

/* RFC 4861 section 7.2.4: the other owner speaks from the address that is ours too. */
static void other_owner_is_heard(void **state)
{
	struct host *h = host_new_v6();

	/* Our own, come back. */
	nd_frame_input(h,
		"33 33 00 00 00 01 02 00 00 00 00 01 86 dd" HEAD FD1 ALL
		"88 00 00 00 20 00 00 00" FD1 TLLA,
		0);
	nd_frame_input(
		h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00" FD1 "02 01 02 00 00 00 00 01", 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 0);
	nd_frame_input(h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	assert_non_null(strstr(h->log_text, "also claimed by 02:00:00:00:00:02"));
	assert_int_equal(h->n_tx, 1);
	host_forget(h);
	assert_int_equal(ip_stack_stats(h->ip)->rx_martian, 0);
	/* Nothing else comes from it: what a router passed on, what tells of another address, what
	 * is cut off, an echo, TCP. */
	nd_frame_input(
		h, ETH_ALL "60 00 00 00 00 00 3a fe" FD1 ALL "88 00 00 00 20 00 00 00" FD1 TLLA, 0);
	nd_frame_input(h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00" FD2 TLLA, 0);
	nd_frame_input(h, ETH_ALL HEAD FD1 ALL "88 00 00 00 20 00 00 00 fd 00", 0);
	nd_frame_input(h, ETH_SOL HEAD FD1 SOL1 NS FD1 SLLA, 0);
	nd_frame_input(h, ETH HEAD FD1 FD1 "80 00 00 00 00 00 00 00" FD1, 0);
	nd_frame_input(h, ETH "60 00 00 00 00 00 06 ff" FD1 FD1 "88 00 00 00 20 00 00 00" FD1, 0);
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
	nd_frame_expect(h, "33 33 ff 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 SOL2 NS FD2
			   "01 01 02 00 00 00 00 01");
	host_expect_nothing(h);
	/* Without a link-layer address it is of no use; solicited to a group it is wrong. */
	nd_frame_input(h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" FD2, 0);
	nd_frame_input(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 60 00 00 00" FD2 TLLA, 0);
	host_expect_nothing(h);
	nd_frame_input(h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" FD2 TLLA, 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(host_neighbour(h, "fd00::2")->state, NEIGHBOUR_REACHABLE);
	/* The poll goes to the one address. */
	host_forget(h);
	host_run(h, 31 * SECOND);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	host_forget(h);
	host_run(h, 5 * SECOND + SECOND / 10);
	nd_frame_expect(h, "02 00 00 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 FD2 NS FD2
			   "01 01 02 00 00 00 00 01");
	host_free(h);
}

/* RFC 4861 section 4.3: stations that hear a question to the group want to know who asks; Linux
 * does not answer else. RFC 4429 section 3.2: they are not told while the address is only tried. */
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
	nd_frame_expect(h, "33 33 ff 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 SOL2 NS FD2);
	/* When it may be, the next one says it; that goes a second later (RFC 4861 section 7.2.2),
	 * and is counted. */
	host_run(h, SECOND - SECOND / 10);
	assert_int_equal(solicitations_with_source(h), 0);
	for (unsigned i = 0; i < 2; i++) {
		host_forget(h);
		host_run(h, SECOND);
		assert_int_equal(solicitations_with_source(h), 1);
	}
	host_forget(h);
	host_run(h, SECOND);
	assert_int_equal(solicitations_with_source(h), 0);
	assert_int_equal(host_neighbour(h, "fd00::2")->state, NEIGHBOUR_FAILED);
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
	nd_frame_expect(h, "33 33 ff 00 00 02 02 00 00 00 00 01 86 dd" HEAD FD1 SOL2 NS FD2
			   "01 01 02 00 00 00 00 01");
	/* But not when another one claims it. */
	nd_frame_input(h, ETH_ALL HEAD LL2 ALL "88 00 00 00 20 00 00 00" FD1 RIVAL, 0);
	host_run(h, SECOND + SECOND / 10);
	assert_int_equal(solicitations_with_source(h), 0);
	host_forget(h);
	host_free(h);
}

static void advertisements_make_no_entries(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD2 TLLA, 0);
	assert_null(host_neighbour(h, "fd00::2"));
	host_free(h);
}

/* RFC 4861 section 7.1.2. */
static void foreign_or_broken_advertisements_are_not_believed(void **state)
{
	struct host *h = host_new_v6();

	nd_frame_input(h, ETH HEAD FD2 FD1 NS FD1 SLLA, 0);
	host_forget(h);
	nd_frame_input(h,
		ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00"
				 "fd 00",
		0);
	nd_frame_input(
		h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" FD2 "02 00 02 00 00 00 00 09", 0);
	nd_frame_input(h, ETH HEAD FD2 FD1 "88 00 00 00 60 00 00 00" ALL TLLA, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 3);
	assert_int_equal(host_neighbour(h, "fd00::2")->state, NEIGHBOUR_STALE);
	/* Of our address, without saying who: the frame's sender it is. */
	nd_frame_input(h, ETH_ALL HEAD FD2 ALL "88 00 00 00 20 00 00 00" FD1, 0);
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	assert_non_null(strstr(h->log_text, "02:00:00:00:00:02"));
	host_free(h);
}

/* Who is not on our link is answered, and not remembered as a neighbour. */
static void solicitation_from_far_makes_no_entry(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr any = host_addr("::"), gateway = host_addr("fd00::2");

	assert_int_equal(ip_route_add(h->ip, &any, 0, &gateway), 0);
	nd_frame_input(
		h, ETH HEAD "20 01 0d b8 00 09 00 00 00 00 00 00 00 00 00 01" FD1 NS FD1 SLLA, 0);
	assert_int_equal(h->n_tx, 1);
	assert_null(host_neighbour(h, "2001:db8:9::1"));
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
		cmocka_unit_test(unknown_options_are_ignored),
		cmocka_unit_test(foreign_or_broken_solicitations_are_not),
		cmocka_unit_test(nothing_is_told_of_ipv4),
		cmocka_unit_test(probes_of_others_are_answered_to_all),
		cmocka_unit_test(dad_solicits_and_announces),
		cmocka_unit_test(dad_sees_the_other_prober),
		cmocka_unit_test(dad_knows_its_own_probe),
		cmocka_unit_test(later_conflict_is_told_and_defended),
		cmocka_unit_test(other_owner_is_heard),
		cmocka_unit_test(resolution),
		cmocka_unit_test(resolution_from_an_address_that_is_tried),
		cmocka_unit_test(resolution_while_the_link_comes_up),
		cmocka_unit_test(advertisements_make_no_entries),
		cmocka_unit_test(foreign_or_broken_advertisements_are_not_believed),
		cmocka_unit_test(solicitation_from_far_makes_no_entry),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
