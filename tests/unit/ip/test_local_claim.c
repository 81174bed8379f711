/* SPDX-License-Identifier: BSD-2-Clause */
/* Our addresses, when another station claims one. */
#include "local_case.h"

#include "ip/stack.h"

#include <errno.h>
#include <rte_mbuf.h>

static void duplicate_ipv6_address_is_given_up(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1"), dst = host_addr("fd00::2");
	struct ip_path p = {.tos = 0};
	struct rte_mbuf *m;

	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	assert_int_equal(local_case_add(h, "fd00::5", 64), 0);
	assert_int_equal(ip_path_init(h->ip, &p, &a, &dst, h->now), 0);
	/* fd00::1 advertised by 02:..:09, from the address itself. */
	struct bytes na = bytes("33 33 00 00 00 01 02 00 00 00 00 09 86 dd 60 00 00 00 00 20 3a ff"
				"fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 ff 02 00 00 00 00 "
				"00 00 00 00 00 00"
				"00 00 00 01 88 00 00 00 20 00 00 00 fd 00 00 00 00 00 00 00 00 00 "
				"00 00 00 00 00 01"
				"02 01 02 00 00 00 00 09");
	struct bytes ns = bytes("02 00 00 00 00 01 02 00 00 00 00 09 86 dd 60 00 00 00 00 20 3a ff"
				"fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 09"
				"fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 05 87 00 00 00 00 00 "
				"00 00"
				"fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
				"01 01 02 00 00 00 00 09");
	fix_v6(&na);
	host_input(h, &na, 0);
	assert_false(ip_addr_is_local(h->ip, &a));
	assert_true(ip_addr_is_configured(h->ip, &a));
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 1);
	assert_non_null(strstr(h->log_text, "cannot be used"));
	m = host_segment(h, 20);
	assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, m, h->now), -EADDRNOTAVAIL);
	/* Nothing leaves from it, and who asks for it is not answered. */
	local_case_expect_source(h, "fd00::2", "fd00::5");
	host_run(h, 2 * SECOND);
	host_forget(h);
	fix_v6(&ns);
	host_input(h, &ns, 0);
	host_expect_nothing(h);
	ns.b[14 + 40 + 23] = ns.b[14 + 39] = 5;
	fix_v6(&ns);
	host_input(h, &ns, 0);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

/** An NA of fd00::@p last that nobody asked for, of another station. */
static void claim(struct host *h, uint8_t last)
{
	struct bytes na = bytes("33 33 00 00 00 01 02 00 00 00 00 66 86 dd 60 00 00 00 00 20 3a ff"
				"fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 66"
				"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
				"88 00 00 00 20 00 00 00"
				"fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
				"02 01 02 00 00 00 00 66");

	na.b[14 + 40 + 23] = last;
	fix_v6(&na);
	host_input(h, &na, 0);
}

/** Another station tries to have fd00::1. */
static void probe(struct host *h)
{
	struct bytes ns = bytes("33 33 ff 00 00 01 02 00 00 00 00 66 86 dd 60 00 00 00 00 18 3a ff"
				"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
				"ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 01"
				"87 00 00 00 00 00 00 00"
				"fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01");

	fix_v6(&ns);
	host_input(h, &ns, 0);
}

/** Who forges claims while the link comes up does not take away what is used. */
static void claim_of_an_address_in_use_is_asked_about(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr a = host_addr("fd00::1");
	struct local_case_said n;

	ip_link_up(h->ip, h->now);
	host_run(h, SECOND / 2);
	claim(h, 1);
	claim(h, 1);
	assert_true(ip_addr_is_local(h->ip, &a));
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 2);
	host_forget(h);
	host_run(h, SECOND);
	n = local_case_said(h);
	assert_int_equal(n.ns, 1);
	assert_int_equal(n.na, 1); /* of the link-local address, which nobody claims */
	host_run(h, SECOND);
	assert_int_equal(local_case_said(h).na, 1);
	claim(h, 1);
	assert_true(ip_addr_is_local(h->ip, &a));
	host_forget(h);
	host_free(h);
}

/** What was assigned before there was a link was not used: a single claim is enough. */
static void address_is_not_in_use_before_there_is_a_link(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");

	h->ip->linked = false;
	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	host_run(h, 20 * SECOND);
	for (unsigned i = 0; i < 2; i++) {
		ip_link_up(h->ip, h->now); /* and again, when it is not stable yet */
		host_run(h, SECOND / 2);
	}
	assert_true(ip_addr_is_local(h->ip, &a));
	assert_false(local_is_sure(local_find(h->ip, &a)));
	claim(h, 1);
	assert_false(ip_addr_is_local(h->ip, &a));
	host_forget(h);
	host_free(h);
}

/** Nor for longer than it goes on. */
static void address_that_was_claimed_is_tried_again(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");
	uint64_t since, wait = 10 * SECOND;

	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	host_run(h, 20 * SECOND);
	host_forget(h);
	ip_link_up(h->ip, h->now);
	claim(h, 1);
	host_run(h, SECOND + SECOND / 10);
	claim(h, 1);
	assert_false(ip_addr_is_local(h->ip, &a));
	host_run(h, 2 * SECOND); /* the other address is done */
	since = h->now - 2 * SECOND;
	for (unsigned i = 0; i < 10; i++) {
		if (i % 2) /* not asked for: it tells nothing of the next try */
			claim(h, 1);
		host_forget(h);
		while (local_case_said(h).ns == 0 && h->now - since < 10000 * SECOND)
			host_run(h, SECOND / 10);
		assert_in_range(h->now - since, wait / 2, wait + wait / 2 + SECOND / 5);
		assert_false(ip_addr_is_local(h->ip, &a));
		claim(h, 7); /* nothing to us */
		if (i % 2)
			probe(h);
		else
			claim(h, 1);
		since = h->now;
		wait = 2 * wait < 640 * SECOND ? 2 * wait : 640 * SECOND;
	}
	host_run(h, 962 * SECOND);
	assert_true(ip_addr_is_local(h->ip, &a));
	assert_non_null(strstr(h->log_text, "nobody else claims our address fd00::1 any more"));
	host_forget(h);
	host_free(h);
}

/** How many were sent for fd00::1, of probes or of what asks for a neighbour. */
static unsigned solicitations(struct host *h, bool probe)
{
	struct ip_addr a = host_addr("fd00::1");
	unsigned n = 0;

	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);
		struct ip_addr src = ip_addr_from_v6(p + 14 + 8);

		n += p[14 + 6] == 58 && p[14 + 40] == 135 && ip_addr_is_any(&src) == probe &&
		     memcmp(p + 14 + 48, a.b, 16) == 0;
	}
	host_forget(h);
	return n;
}

/** RFC 4862 section 5.4.3: an owner that is just probing would give it up at ours. */
static void who_has_an_address_is_asked_before_it_is_probed_for(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");
	unsigned lines;

	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	host_forget(h);
	claim(h, 1);
	host_run(h, 4 * SECOND);
	host_forget(h);
	lines = h->log_lines;
	/* At once when the link comes up, and without a word when it is as before. */
	for (unsigned i = 0; i < 3; i++) {
		ip_link_up(h->ip, h->now);
		assert_false(ip_addr_is_local(h->ip, &a));
		assert_int_equal(solicitations(h, false), 1);
		claim(h, 1);
		host_run(h, 4 * SECOND);
		assert_int_equal(solicitations(h, true), 0);
		assert_false(ip_addr_is_local(h->ip, &a));
	}
	assert_int_equal(h->log_lines, lines);
	ip_link_up(h->ip, h->now);
	host_run(h, SECOND - SECOND / 10);
	assert_int_equal(solicitations(h, true), 0);
	host_run(h, SECOND / 5);
	assert_int_equal(solicitations(h, true), 1);
	host_run(h, SECOND);
	assert_true(ip_addr_is_local(h->ip, &a));
	host_forget(h);
	host_free(h);
}

/** An NA of our link-local address. */
static void claim_link_local(struct host *h)
{
	struct bytes na = bytes("33 33 00 00 00 01 02 00 00 00 00 66 86 dd 60 00 00 00 00 20 3a ff"
				"fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 66"
				"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
				"88 00 00 00 20 00 00 00"
				"fe 80 00 00 00 00 00 00 00 00 00 ff fe 00 00 01"
				"02 01 02 00 00 00 00 66");

	fix_v6(&na);
	host_input(h, &na, 0);
}

/** Routers are asked for by our address, and nothing else was sent. */
static void expect_router_solicitations(struct host *h, unsigned n, const char *from)
{
	struct ip_addr src = host_addr(from);
	unsigned n_tx = h->n_tx;

	assert_in_range(n_tx, n, 20);
	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		assert_memory_equal(p + 14 + 8, src.b, 16);
	}
	assert_int_equal(local_case_said(h).rs, n_tx);
}

/** RFC 4862 section 5.4.5: who else has the address of our MAC has that as well. The others find
 * routers without it. */
static void duplicate_of_our_mac_waits_for_another_link(void **state)
{
	struct host *h = host_new();
	struct ip_addr ll = host_addr("fe80::ff:fe00:1");

	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	claim_link_local(h);
	assert_non_null(strstr(h->log_text, "it cannot be used"));
	assert_null(strstr(h->log_text, "tried again"));
	assert_int_equal(local_case_said(h).rs, 1);
	host_run(h, 20 * SECOND);
	host_forget(h);
	host_run(h, 10000 * SECOND);
	expect_router_solicitations(h, 8, "fd00::1");
	assert_false(ip_addr_is_local(h->ip, &ll));
	/* It has it there, too. */
	ip_link_up(h->ip, h->now);
	host_forget(h);
	claim_link_local(h);
	expect_router_solicitations(h, 1, "fd00::1");
	claim_link_local(h);
	host_expect_nothing(h);
	host_run(h, 3 * SECOND);
	assert_false(ip_addr_is_local(h->ip, &ll));
	/* And here nobody has. */
	ip_link_up(h->ip, h->now);
	host_run(h, 3 * SECOND);
	assert_true(ip_addr_is_local(h->ip, &ll));
	host_forget(h);
	host_free(h);
}

/** Where others have all our addresses, routers are looked for when one is ours again. */
static void routers_are_found_by_an_address_that_comes_back(void **state)
{
	struct host *h = host_new();

	assert_int_equal(local_case_add(h, "fd00::1", 64), 0);
	claim(h, 1);
	claim_link_local(h);
	host_forget(h);
	host_run(h, 5 * SECOND);
	assert_int_equal(local_case_said(h).rs, 0);
	host_run(h, 60 * SECOND);
	assert_in_range(local_case_said(h).rs, 1, 4);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(duplicate_ipv6_address_is_given_up),
		cmocka_unit_test(claim_of_an_address_in_use_is_asked_about),
		cmocka_unit_test(address_is_not_in_use_before_there_is_a_link),
		cmocka_unit_test(address_that_was_claimed_is_tried_again),
		cmocka_unit_test(who_has_an_address_is_asked_before_it_is_probed_for),
		cmocka_unit_test(duplicate_of_our_mac_waits_for_another_link),
		cmocka_unit_test(routers_are_found_by_an_address_that_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
