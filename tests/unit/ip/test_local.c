/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "ip/stack.h"

#include <errno.h>
#include <stdio.h>

static int add(struct host *h, const char *text, unsigned len)
{
	struct ip_addr a = host_addr(text);

	return ip_addr_add(h->ip, &a, len, h->now);
}

static void expect_source(struct host *h, const char *remote, const char *want)
{
	struct ip_addr r = host_addr(remote), src;
	char text[IP_ADDR_STRLEN];

	assert_int_equal(ip_source(h->ip, &r, &src), 0);
	assert_string_equal(ip_addr_format(&src, text), want);
}

static void refusals(void **state)
{
	struct host *h = host_new();
	char text[32];
	int rc = 0;

	assert_int_equal(add(h, "0.0.0.0", 24), -EINVAL);
	assert_int_equal(add(h, "::", 64), -EINVAL);
	assert_int_equal(add(h, "224.0.0.1", 24), -EINVAL);
	assert_int_equal(add(h, "ff02::1", 64), -EINVAL);
	assert_int_equal(add(h, "127.0.0.1", 8), -EINVAL);
	assert_int_equal(add(h, "255.255.255.255", 32), -EINVAL);
	assert_int_equal(add(h, "10.0.0.1", 33), -EINVAL);
	assert_int_equal(add(h, "fd00::1", 129), -EINVAL);
	host_expect_nothing(h);
	assert_int_equal(add(h, "10.0.0.1", 24), 0);
	assert_int_equal(add(h, "10.0.0.1", 16), -EEXIST);
	assert_int_equal(add(h, "10.0.0.2", 24), 0); /* a second one in the subnet */
	for (unsigned i = 3; i < 100 && rc == 0; i++) {
		snprintf(text, sizeof text, "10.0.0.%u", i);
		rc = add(h, text, 24);
	}
	assert_int_equal(rc, -ENOSPC);
	host_free(h);
}

static void ipv4_is_probed_then_announced(void **state)
{
	static const char probe[] =
		"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 0a 00 00 01";
	static const char announcement[] =
		"ff ff ff ff ff ff 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01"
		"02 00 00 00 00 01 0a 00 00 01 00 00 00 00 00 00 0a 00 00 01";
	struct host *h = host_new();

	assert_int_equal(add(h, "10.0.0.1", 24), 0);
	host_expect(h, probe);
	host_run(h, SECOND + SECOND / 10);
	host_expect(h, probe);
	host_run(h, SECOND);
	host_expect(h, probe);
	host_expect_nothing(h);
	host_run(h, 2 * SECOND);
	host_expect(h, announcement);
	host_run(h, 2 * SECOND);
	host_expect(h, announcement);
	host_run(h, 60 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

static void ipv6_brings_a_link_local_address(void **state)
{
	struct host *h = host_new();
	struct ip_addr ll = host_addr("fe80::ff:fe00:1");

	assert_int_equal(add(h, "10.0.0.1", 24), 0);
	assert_false(ip_addr_is_local(h->ip, &ll));
	assert_int_equal(add(h, "fd00::1", 64), 0);
	assert_true(ip_addr_is_local(h->ip, &ll));
	assert_int_equal(h->ip->local.n, 3);
	assert_int_equal(h->ip->local.a[1].prefix_len, 64);
	assert_int_equal(h->ip->local.a[1].addr.b[0], 0xfd);
	assert_true(ip_addr_equal(&h->ip->local.a[2].addr, &ll));
	host_free(h);
}

static void duplicate_ipv6_address_is_given_up(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1"), dst = host_addr("fd00::2");
	struct ip_path p = {.tos = 0};
	struct rte_mbuf *m;

	assert_int_equal(add(h, "fd00::1", 64), 0);
	assert_int_equal(add(h, "fd00::5", 64), 0);
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
	expect_source(h, "fd00::2", "fd00::5");
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

/** What @p from has sent reaches @p to. */
static void carry(struct host *from, struct host *to)
{
	for (unsigned i = 0; i < from->n_tx; i++)
		assert_int_equal(ip_input(to->ip, &from->tx[i], 1, to->now), 1);
	from->n_tx = 0;
}

/** Two stacks with one address: who comes second goes without it, and the owner keeps it. */
static void owner_answers_the_probe(void **state)
{
	struct host *owner = host_new(), *other = host_new_at(9);
	struct ip_addr a = host_addr("fd00::1"), ll = host_addr("fe80::ff:fe00:9");

	assert_int_equal(add(owner, "fd00::1", 64), 0);
	host_run(owner, 20 * SECOND);
	host_forget(owner);
	assert_int_equal(add(other, "fd00::1", 64), 0);
	carry(other, owner);
	carry(owner, other);
	assert_true(ip_addr_is_local(owner->ip, &a));
	assert_false(ip_addr_is_local(other->ip, &a));
	assert_true(ip_addr_is_local(other->ip, &ll));
	assert_int_equal(ip_stack_stats(owner->ip)->nd_conflicts, 0);
	assert_int_equal(ip_stack_stats(other->ip)->nd_conflicts, 1);
	assert_non_null(strstr(other->log_text, "claimed by 02:00:00:00:00:01: it cannot be used"));
	host_free(owner);
	host_free(other);
}

/** Both did not hear each other's probes: each tells of it, and defends the address once. */
static void owners_that_meet_tell_of_it(void **state)
{
	struct host *h[] = {host_new(), host_new_at(9)};
	struct ip_addr a = host_addr("fd00::1");

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(add(h[i], "fd00::1", 64), 0);
		host_run(h[i], SECOND / 2);
		host_forget(h[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		host_run(h[i], 20 * SECOND);
	for (unsigned i = 0; i < 4; i++)
		carry(h[i % 2], h[(i + 1) % 2]);
	for (unsigned i = 0; i < 2; i++) {
		assert_in_range(ip_stack_stats(h[i]->ip)->nd_conflicts, 1, 2);
		assert_true(ip_addr_is_local(h[i]->ip, &a));
		host_expect_nothing(h[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		host_free(h[i]);
}

/** What was sent about ourselves. */
struct said {
	unsigned arp, ns, na, rs, igmp, mld, other;
};

static struct said said(struct host *h)
{
	struct said n = {0};

	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);
		uint16_t type = load_be16(p + 12);

		n.arp += type == 0x0806;
		n.igmp += type == 0x0800 && p[14 + 9] == 2;
		n.mld += type == 0x86dd && p[14 + 6] == 0;
		n.ns += type == 0x86dd && p[14 + 6] == 58 && p[14 + 40] == 135;
		n.na += type == 0x86dd && p[14 + 6] == 58 && p[14 + 40] == 136;
		n.rs += type == 0x86dd && p[14 + 6] == 58 && p[14 + 40] == 133;
	}
	n.other = h->n_tx - n.arp - n.igmp - n.mld - n.ns - n.na - n.rs;
	host_forget(h);
	return n;
}

/** What was said while the link was down was not heard: it is said again. */
static void link_that_comes_up_hears_all_again(void **state)
{
	struct host *h = host_new();
	struct ip_addr group = host_addr("239.1.2.3");
	struct said first, again;

	assert_int_equal(add(h, "10.0.0.1", 24), 0);
	assert_int_equal(add(h, "fd00::1", 64), 0);
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	host_run(h, 20 * SECOND);
	first = said(h);
	assert_int_equal(first.arp, 3 + 2);
	assert_int_equal(first.ns, 2);
	assert_int_equal(first.na, 2);
	assert_int_equal(first.rs, 3);
	assert_int_equal(first.other, 0);
	for (unsigned i = 0; i < 3; i++) {
		ip_link_up(h->ip, h->now);
		assert_in_range(h->n_tx, 1 + 2 + 2, 7); /* at once */
		host_run(h, 20 * SECOND);
		again = said(h);
		assert_int_equal(again.arp, first.arp);
		assert_int_equal(again.ns, first.ns);
		assert_int_equal(again.na, first.na);
		assert_int_equal(again.rs, first.rs);
		assert_int_equal(again.igmp, first.igmp);
		assert_in_range(again.mld, 2, first.mld);
		assert_int_equal(again.other, 0);
	}
	/* No group has more users by that. */
	ip_group_leave(h->ip, &group, h->now);
	assert_false(ip_group_has(h->ip, &group));
	assert_int_equal(h->ip->mld.n, 1); /* both addresses end alike */
	assert_int_equal(h->ip->mld.group[0].users, 2);
	host_forget(h);
	host_free(h);

	h = host_new_no_link();
	assert_int_equal(add(h, "fd00::1", 64), 0);
	ip_link_up(h->ip, h->now);
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

/** RFC 4862 section 5.4: there an address may have another owner, or none any more. */
static void link_that_comes_up_has_its_own_owners(void **state)
{
	struct host *owner = host_new(), *other = host_new_at(9);
	struct ip_addr a = host_addr("fd00::1"), src = host_addr("fd00::5");
	struct ip_path p = {.tos = 0};

	assert_int_equal(add(owner, "fd00::1", 64), 0);
	assert_int_equal(add(other, "fd00::1", 64), 0);
	assert_int_equal(add(other, "fd00::5", 64), 0);
	host_run(owner, 20 * SECOND);
	host_run(other, 20 * SECOND);
	host_forget(owner);
	host_forget(other);
	ip_link_up(other->ip, other->now);
	carry(other, owner);
	carry(owner, other);
	/* It is asked for once more, as it was in use. */
	assert_true(ip_addr_is_local(other->ip, &a));
	host_run(other, SECOND + SECOND / 10);
	carry(other, owner);
	carry(owner, other);
	assert_true(ip_addr_is_local(owner->ip, &a));
	assert_false(ip_addr_is_local(other->ip, &a));
	host_run(other, 2 * SECOND);
	host_forget(other);
	assert_int_equal(ip_path_init(other->ip, &p, &src, &a, other->now), 0);
	assert_false(p.loop);
	/* Nobody has it there, which is known in two seconds. */
	ip_link_up(other->ip, other->now);
	host_run(other, 2 * SECOND - SECOND / 10);
	assert_false(ip_addr_is_local(other->ip, &a));
	host_run(other, SECOND / 5);
	assert_true(ip_addr_is_local(other->ip, &a));
	assert_int_equal(
		ip_send(other->ip, &p, IP_PROTO_TCP, host_segment(other, 20), other->now), 0);
	assert_true(p.loop);
	host_run(other, 20 * SECOND);
	assert_true(ip_addr_is_local(other->ip, &a));
	host_free(other);
	host_free(owner);
}

/** The switch is back: who goes without the address tries again, and its owner keeps it. */
static void owner_does_not_give_way_to_a_try(void **state)
{
	struct host *owner = host_new(), *other = host_new_at(9);
	struct ip_addr a = host_addr("fd00::1");

	assert_int_equal(add(owner, "fd00::1", 64), 0);
	host_run(owner, 20 * SECOND);
	assert_int_equal(add(other, "fd00::1", 64), 0);
	carry(other, owner);
	host_forget(owner);
	for (unsigned i = 0; i < 3; i++) {
		ip_link_up(owner->ip, owner->now); /* in the midst of its own probing, too */
		ip_link_up(other->ip, other->now);
		carry(other, owner);
		carry(owner, other);
		assert_true(ip_addr_is_local(owner->ip, &a));
		assert_false(ip_addr_is_local(other->ip, &a));
	}
	host_run(owner, 20 * SECOND);
	assert_true(ip_addr_is_local(owner->ip, &a));
	host_forget(owner);
	host_forget(other);
	host_free(other);
	host_free(owner);
}

/** Of two that have used it, each on its own link, neither gives way when the links are joined. */
static void users_of_an_address_do_not_give_way_to_each_other(void **state)
{
	struct host *h[2] = {host_new(), host_new_at(9)};
	struct ip_addr a = host_addr("fd00::1");

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(add(h[i], "fd00::1", 64), 0);
		host_run(h[i], 20 * SECOND);
		host_forget(h[i]);
		ip_link_up(h[i]->ip, h[i]->now);
	}
	for (unsigned i = 0; i < 4; i++)
		carry(h[i % 2], h[1 - i % 2]);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(ip_addr_is_local(h[i]->ip, &a));
		host_forget(h[i]);
	}
	host_free(h[1]);
	host_free(h[0]);
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
	struct said n;

	ip_link_up(h->ip, h->now);
	host_run(h, SECOND / 2);
	claim(h, 1);
	claim(h, 1);
	assert_true(ip_addr_is_local(h->ip, &a));
	assert_int_equal(ip_stack_stats(h->ip)->nd_conflicts, 2);
	host_forget(h);
	host_run(h, SECOND);
	n = said(h);
	assert_int_equal(n.ns, 1);
	assert_int_equal(n.na, 1); /* of the link-local address, which nobody claims */
	host_run(h, SECOND);
	assert_int_equal(said(h).na, 1);
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
	assert_int_equal(add(h, "fd00::1", 64), 0);
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

	assert_int_equal(add(h, "fd00::1", 64), 0);
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
		while (said(h).ns == 0 && h->now - since < 10000 * SECOND)
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

	assert_int_equal(add(h, "fd00::1", 64), 0);
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
	assert_int_equal(said(h).rs, n_tx);
}

/** RFC 4862 section 5.4.5: who else has the address of our MAC has that as well. The others find
 * routers without it. */
static void duplicate_of_our_mac_waits_for_another_link(void **state)
{
	struct host *h = host_new();
	struct ip_addr ll = host_addr("fe80::ff:fe00:1");

	assert_int_equal(add(h, "fd00::1", 64), 0);
	claim_link_local(h);
	assert_non_null(strstr(h->log_text, "it cannot be used"));
	assert_null(strstr(h->log_text, "tried again"));
	assert_int_equal(said(h).rs, 1);
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

	assert_int_equal(add(h, "fd00::1", 64), 0);
	claim(h, 1);
	claim_link_local(h);
	host_forget(h);
	host_run(h, 5 * SECOND);
	assert_int_equal(said(h).rs, 0);
	host_run(h, 60 * SECOND);
	assert_in_range(said(h).rs, 1, 4);
	host_free(h);
}

/** Two that try to have an address at the same moment do not do so for ever. */
static void one_of_two_gets_the_address(void **state)
{
	struct host *h[2] = {host_new(), host_new_at(9)};
	struct ip_addr a = host_addr("fd00::1");

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(add(h[i], "fd00::1", 64), 0);
	for (unsigned n = 0; n < 3000; n++) {
		struct rte_mbuf *tx[HOST_KEEP];
		unsigned n_tx = h[0]->n_tx;

		/* Both speak before they hear. */
		memcpy(tx, h[0]->tx, sizeof tx);
		h[0]->n_tx = 0;
		carry(h[1], h[0]);
		for (unsigned i = 0; i < n_tx; i++)
			assert_int_equal(ip_input(h[1]->ip, &tx[i], 1, h[1]->now), 1);
		if (n == 1) {
			assert_false(ip_addr_is_local(h[0]->ip, &a));
			assert_false(ip_addr_is_local(h[1]->ip, &a));
		}
		for (unsigned i = 0; i < 2; i++)
			host_run(h[i], SECOND / 10);
	}
	assert_true(ip_addr_is_local(h[0]->ip, &a) != ip_addr_is_local(h[1]->ip, &a));
	for (unsigned i = 0; i < 2; i++) {
		host_forget(h[i]);
		host_free(h[i]);
	}
}

/** Groups are reported again when there is an address to do so from, not for each address. */
static void reports_do_not_multiply_by_addresses(void **state)
{
	struct host *h = host_new();
	char text[32];

	for (unsigned i = 1; i <= 8; i++) {
		snprintf(text, sizeof text, "fd00::%u", i);
		assert_int_equal(add(h, text, 64), 0);
	}
	host_run(h, 20 * SECOND);
	host_forget(h);
	ip_link_up(h->ip, h->now);
	host_run(h, 20 * SECOND);
	assert_in_range(said(h).mld, 2, 4);
	host_free(h);
}

static void source_by_subnet_scope_and_prefix(void **state)
{
	struct host *h = host_new();
	struct ip_addr gw = host_addr("10.1.0.254"), any = host_addr("0.0.0.0");
	struct ip_addr gw6 = host_addr("fe80::9"), any6 = host_addr("::");

	assert_int_equal(add(h, "10.0.0.1", 24), 0);
	assert_int_equal(add(h, "10.1.0.1", 24), 0);
	assert_int_equal(add(h, "fd00::1", 64), 0);
	assert_int_equal(add(h, "2001:db8::1", 64), 0);
	assert_int_equal(ip_route_add(h->ip, &any, 0, &gw), 0);
	assert_int_equal(ip_route_add(h->ip, &any6, 0, &gw6), 0);
	expect_source(h, "10.0.0.9", "10.0.0.1");
	expect_source(h, "10.1.0.9", "10.1.0.1");
	expect_source(h, "8.8.8.8", "10.1.0.1");
	expect_source(h, "10.0.0.1", "10.0.0.1"); /* to ourselves, from the same */
	expect_source(h, "fe80::5", "fe80::ff:fe00:1");
	expect_source(h, "fd00::5", "fd00::1");
	expect_source(h, "2001:db8:5::5", "2001:db8::1");
	expect_source(h, "fd99::5", "fd00::1");
	/* Groups of the link from the address of the link, and others not. */
	expect_source(h, "ff02::1234", "fe80::ff:fe00:1");
	expect_source(h, "ff0e::1234", "fd00::1");
	host_free(h);
}

static void broadcast_addresses(void **state)
{
	struct host *h = host_new();
	struct ip_addr a;

	assert_int_equal(add(h, "10.0.0.1", 24), 0);
	assert_int_equal(add(h, "10.2.0.0", 31), 0);
	a = host_addr("10.0.0.255");
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("10.0.0.0");
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("255.255.255.255");
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("10.0.1.255");
	assert_false(local_is_broadcast(h->ip, &a));
	a = host_addr("10.2.0.1"); /* RFC 3021 */
	assert_false(local_is_broadcast(h->ip, &a));
	a = host_addr("ff02::1");
	assert_false(local_is_broadcast(h->ip, &a));
	host_free(h);
}

/** A prefix of no bits: the whole of IPv4 is the subnet. */
static void broadcast_of_everything(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("0.0.0.0");

	assert_false(local_is_broadcast(h->ip, &a));
	assert_int_equal(add(h, "10.0.0.1", 0), 0);
	assert_true(local_is_broadcast(h->ip, &a));
	a = host_addr("10.0.0.255");
	assert_false(local_is_broadcast(h->ip, &a));
	host_free(h);
}

/** Without room in the table of routes for its subnet an address is not ours. */
static void subnet_needs_a_route(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("10.77.0.1");
	char text[32];
	int rc = 0;

	for (unsigned i = 0; rc == 0; i++) {
		struct ip_addr net;

		snprintf(text, sizeof text, "10.1.%u.0", i);
		net = host_addr(text);
		rc = ip_route_add(h->ip, &net, 24, NULL);
	}
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(add(h, "10.77.0.1", 24), -ENOSPC);
	assert_false(ip_addr_is_local(h->ip, &a));
	/* In a subnet that is there, it is. */
	assert_int_equal(add(h, "10.1.0.1", 24), 0);
	host_free(h);
}

/** Its solicited-node group has no place any more: it works, and that is told. */
static void address_without_its_group_is_told(void **state)
{
	struct host *h = host_new();
	struct ip_addr group = host_addr("ff0e::1"), a = host_addr("fd00::1");

	for (unsigned i = 0; i < 256; i++) {
		group.b[14] = (uint8_t)i;
		assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
		host_forget(h);
	}
	assert_int_equal(add(h, "fd00::1", 64), 0);
	assert_non_null(strstr(h->log_text, "too many groups"));
	assert_true(ip_addr_is_local(h->ip, &a));
	host_forget(h);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(ipv4_is_probed_then_announced),
		cmocka_unit_test(ipv6_brings_a_link_local_address),
		cmocka_unit_test(duplicate_ipv6_address_is_given_up),
		cmocka_unit_test(owner_answers_the_probe),
		cmocka_unit_test(owners_that_meet_tell_of_it),
		cmocka_unit_test(link_that_comes_up_hears_all_again),
		cmocka_unit_test(link_that_comes_up_has_its_own_owners),
		cmocka_unit_test(owner_does_not_give_way_to_a_try),
		cmocka_unit_test(users_of_an_address_do_not_give_way_to_each_other),
		cmocka_unit_test(claim_of_an_address_in_use_is_asked_about),
		cmocka_unit_test(address_is_not_in_use_before_there_is_a_link),
		cmocka_unit_test(address_that_was_claimed_is_tried_again),
		cmocka_unit_test(who_has_an_address_is_asked_before_it_is_probed_for),
		cmocka_unit_test(duplicate_of_our_mac_waits_for_another_link),
		cmocka_unit_test(routers_are_found_by_an_address_that_comes_back),
		cmocka_unit_test(one_of_two_gets_the_address),
		cmocka_unit_test(reports_do_not_multiply_by_addresses),
		cmocka_unit_test(source_by_subnet_scope_and_prefix),
		cmocka_unit_test(broadcast_addresses),
		cmocka_unit_test(broadcast_of_everything),
		cmocka_unit_test(subnet_needs_a_route),
		cmocka_unit_test(address_without_its_group_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
