/* SPDX-License-Identifier: BSD-2-Clause */
/** Multicast groups: which there are, datagrams to them and from them, our own among those. */
#include "base/bytes.h"
#include "host.h"
#include "ip/udp.h"
#include "support/eal.h"

#include <errno.h>
#include <rte_mbuf.h>

#define PORT 61652

struct member {
	struct udp_datagram last;
	uint8_t data[64];
	unsigned n;
};

static void member_datagram(void *ctx, const struct udp_datagram *d, uint64_t now)
{
	struct member *v = ctx;

	v->last = *d;
	assert_true(d->len <= sizeof v->data);
	memcpy(v->data, d->data, d->len);
	v->n++;
}

static void unwanted(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len, uint64_t now)
{
	fail();
}

static void open_port(struct host *h, struct member *v)
{
	*v = (struct member){.n = 0};
	assert_int_equal(
		udp_open(h->ip, PORT,
			&(struct udp_user){.datagram = member_datagram, .groups = true, .ctx = v}),
		0);
	assert_int_equal(udp_open(h->ip, 53, &(struct udp_user){.input = unwanted}), 0);
}

static int say(struct host *h, const char *from, const char *to, uint8_t ttl)
{
	const struct udp_datagram d = {.from = {.addr = host_addr(from), .port = 7},
		.to = {.addr = host_addr(to), .port = PORT},
		.ttl = ttl,
		.len = 3};
	struct udp_out o;
	uint8_t *room;
	int rc = udp_begin(h->ip, &o, &d, &room, h->now);

	if (rc)
		return rc;
	memcpy(room, "abc", 3);
	return udp_commit(h->ip, &o, 0x62c4, h->now);
}

static void only_groups_are_joined(void **state)
{
	static const char *const bad[] = {
		"10.0.0.1", "224.0.0.0", "255.255.255.255", "fd00::1", "ff00::1", "ff0f::1", "::"};
	struct host *h = host_new_v4();
	struct ip_addr a = host_addr("224.0.0.1"), group;

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		group = host_addr(bad[i]);
		assert_int_equal(ip_group_join(h->ip, &group, h->now), -EINVAL);
	}
	assert_true(ip_group_has(h->ip, &a));
	a = host_addr("ff02::1"); /* no IPv6 address */
	assert_false(ip_group_has(h->ip, &a));
	for (unsigned i = 0; i < 257; i++) {
		a = host_addr("239.0.0.0");
		store_be16(a.b + 14, (uint16_t)i);
		assert_int_equal(ip_group_join(h->ip, &a, h->now), i < 256 ? 0 : -ENOSPC);
		host_forget(h);
	}
	/* One query, and 256 groups: reports of no more than the link's MTU. */
	host_run(h, 5 * SECOND);
	host_forget(h);
	host_free(h);
}

static void datagrams_come_to_members_only(void **state)
{
	static const char frame[] = "01 00 5e 01 02 03 02 00 00 00 00 02 08 00 45 00 00 1f 00 00 40"
				    "00 01 11 00 00 0a 00 00 02 ef 01 02 03 00 07 f0 d4 00 0b 00 00"
				    "61 62 63";
	struct host *h = host_new_v4();
	struct bytes b = bytes(frame), closed;
	struct ip_addr group = host_addr("239.1.2.3");
	struct member v;

	fix_v4(&b);
	open_port(h, &v);
	host_input(h, &b, 0);
	assert_int_equal(v.n, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 1);
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	host_run(h, 5 * SECOND);
	host_forget(h);
	host_input(h, &b, 0);
	host_input(h, &b, 9);
	assert_int_equal(v.n, 2);
	assert_memory_equal(v.data, "abc", 3);
	assert_true(ip_addr_equal(&v.last.to.addr, &group));
	assert_int_equal(v.last.ttl, 1);
	/* Nobody is told of a port that is closed, or is no business of groups; nor by TCP. */
	closed = b;
	closed.b[37] = 0xd5;
	fix_v4(&closed);
	host_input(h, &closed, 0);
	store_be16(closed.b + 36, 53);
	fix_v4(&closed);
	host_input(h, &closed, 0);
	closed.b[23] = 6;
	fix_v4(&closed);
	host_input(h, &closed, 0);
	closed.b[23] = 1;
	closed.b[34] = 8;
	fix_v4(&closed);
	host_input(h, &closed, 0);
	host_expect_nothing(h);
	assert_int_equal(h->n_rx, 0);
	b.b[40] ^= 1; /* the checksum */
	host_input(h, &b, 0);
	assert_int_equal(v.n, 2);
	host_free(h);
}

/** The sum by hand: 0a00+1+ef81+203+11+b + 7+f0d4+b + 6162+6300, folded, is b0eb. */
static void datagrams_go_to_the_groups_address(void **state)
{
	struct host *h = host_new_v4();
	struct member v;

	open_port(h, &v);
	assert_int_equal(say(h, "10.0.0.1", "239.129.2.3", 0), 0);
	host_expect(h, "01 00 5e 01 02 03 02 00 00 00 00 01 08 00 45 00 00 1f 00 00 40 00 01 11 7e"
		       "49 0a 00 00 01 ef 81 02 03 00 07 f0 d4 00 0b 4f 14 61 62 63");
	/* Not a member: nothing comes back. */
	assert_int_equal(ip_input(h->ip, NULL, 0, h->now), 0);
	assert_int_equal(say(h, "10.0.0.1", "239.1.2.3", 9), 0);
	assert_int_equal(rte_pktmbuf_mtod(h->tx[0], uint8_t *)[22], 9);
	host_free(h);
}

static void members_hear_themselves(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr group = host_addr("ff02::1234"), host = host_addr("ff01::5");
	struct member v;

	open_port(h, &v);
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	assert_int_equal(ip_group_join(h->ip, &host, h->now), 0);
	host_run(h, 5 * SECOND);
	host_forget(h);
	assert_int_equal(say(h, "fd00::1", "ff02::1234", 0), 0);
	assert_int_equal(h->n_tx, 1);
	assert_memory_equal(rte_pktmbuf_mtod(h->tx[0], uint8_t *), "\x33\x33\0\0\x12\x34", 6);
	assert_int_equal(rte_pktmbuf_mtod(h->tx[0], uint8_t *)[21], 1);
	host_forget(h);
	assert_true(ip_is_looping(h->ip));
	assert_int_equal(ip_input(h->ip, NULL, 0, h->now), 1);
	assert_int_equal(v.n, 1);
	assert_true(ip_addr_equal(&v.last.to.addr, &group));
	/* What does not leave the host is on no wire. */
	assert_int_equal(say(h, "fd00::1", "ff01::5", 0), 0);
	host_expect_nothing(h);
	assert_int_equal(ip_input(h->ip, NULL, 0, h->now), 1);
	assert_int_equal(v.n, 2);
	/* It is there still when the stack goes. */
	assert_int_equal(say(h, "fd00::1", "ff01::5", 0), 0);
	host_free(h);
}

static void without_a_link_there_is_no_frame(void **state)
{
	struct host *h = host_new_no_link();
	struct ip_addr a = host_addr("10.0.0.1"), group = host_addr("239.1.2.3");
	struct member v;

	open_port(h, &v);
	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	assert_int_equal(say(h, "10.0.0.1", "239.1.2.3", 0), 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(h->tx[0]->pkt_len, 31);
	assert_int_equal(ip_input(h->ip, NULL, 0, h->now), 1);
	assert_int_equal(v.n, 1);
	host_free(h);
}

/** Connections have no business with groups. */
static void transports_do_not_send_to_groups(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr a = host_addr("10.0.0.1"), group = host_addr("239.1.2.3");
	struct ip_path p = {.mtu = 0};

	assert_int_equal(ip_path_init(h->ip, &p, &a, &group, h->now), -ENETUNREACH);
	host_free(h);
}

/** Who is in no group: all systems and all nodes are groups of hosts with such an address. */
static void hosts_are_in_all_systems_of_their_family(void **state)
{
	struct ip_addr systems = host_addr("224.0.0.1"), nodes = host_addr("ff02::1");
	struct host *h = host_new_v6();

	assert_false(ip_group_has(h->ip, &systems));
	assert_true(ip_group_has(h->ip, &nodes));
	host_free(h);
}

/** What members hear of themselves is lost when its queue is full; what is on the wire is not. */
static void full_loop_drops_our_own_alone(void **state)
{
	const struct ip_transport none = {.min_len = 1};
	struct host *h = host_new_v4();
	struct rte_mempool *mine = h->pool, *large = test_pool("loop", 4095, 128);
	struct ip_addr us = host_addr("10.0.0.1"), group = host_addr("239.1.2.3");
	struct ip_path p = {.mtu = 0};
	struct member v;

	open_port(h, &v);
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	host_run(h, 5 * SECOND);
	host_forget(h);
	ip_set_transport(h->ip, 200, &none);
	assert_int_equal(ip_path_init(h->ip, &p, &us, &us, h->now), 0);
	h->pool = large;
	for (unsigned i = 0; i < 2048; i++)
		assert_int_equal(ip_send(h->ip, &p, 200, host_segment(h, 1), h->now), 0);
	assert_int_equal(say(h, "10.0.0.1", "239.1.2.3", 0), 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(ip_stack_stats(h->ip)->loop_full, 1);
	assert_int_equal(ip_input(h->ip, NULL, 0, h->now), 2048);
	assert_int_equal(v.n, 0);
	/* And the next one is heard. */
	host_forget(h);
	assert_int_equal(say(h, "10.0.0.1", "239.1.2.3", 0), 0);
	ip_input(h->ip, NULL, 0, h->now);
	assert_int_equal(v.n, 1);
	while (ip_is_looping(h->ip)) /* answers to what nobody knows */
		ip_input(h->ip, NULL, 0, h->now);
	assert_int_equal(test_pool_missing(large), 0);
	h->pool = mine;
	rte_mempool_free(large);
	host_free(h);
}

/** IGMP is the link's: from ourselves, or without a link, it is a protocol that nobody speaks. */
static void igmp_is_of_a_link(void **state)
{
	static const char query[] = "02 00 00 00 00 01 02 00 00 00 00 02 08 00"
				    "46 00 00 20 00 00 00 00 01 02 00 00 0a 00 00 02 0a 00 00 01"
				    "94 04 00 00 11 64 00 00 00 00 00 00";
	struct host *h = host_new_no_link();
	struct ip_addr a = host_addr("10.0.0.1"), group = host_addr("239.1.2.3");
	struct ip_path p = {.to_group = true};
	struct bytes b = bytes(query);

	fix_v4(&b);
	memmove(b.b, b.b + 14, b.len -= 14);
	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, SECOND);
	host_input(h, &b, 0);
	assert_int_equal(h->n_tx, 1);
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 20), "\x03\x02", 2);
	assert_int_equal(ip_stack_stats(h->ip)->igmp_rx, 0);
	host_free(h);
	h = host_new_v4();
	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	host_run(h, 5 * SECOND);
	assert_int_equal(ip_path_init(h->ip, &p, &a, &group, h->now), 0);
	assert_int_equal(ip_send(h->ip, &p, 2, host_segment(h, 8), h->now), 0);
	host_forget(h);
	assert_int_equal(ip_input(h->ip, NULL, 0, h->now), 1);
	assert_int_equal(ip_stack_stats(h->ip)->igmp_rx, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_unknown_proto, 1);
	host_expect_nothing(h); /* no error about what went to a group */
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_groups_are_joined),
		cmocka_unit_test(datagrams_come_to_members_only),
		cmocka_unit_test(datagrams_go_to_the_groups_address),
		cmocka_unit_test(members_hear_themselves),
		cmocka_unit_test(without_a_link_there_is_no_frame),
		cmocka_unit_test(transports_do_not_send_to_groups),
		cmocka_unit_test(hosts_are_in_all_systems_of_their_family),
		cmocka_unit_test(full_loop_drops_our_own_alone),
		cmocka_unit_test(igmp_is_of_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
