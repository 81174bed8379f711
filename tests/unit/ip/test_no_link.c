/* SPDX-License-Identifier: BSD-2-Clause */
/* A stack on a port without a link layer: what it asks of nobody, tells nobody and does not hear.
 */
#include "base/bytes.h"
#include "host.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

/* Frame literals have a link header for fix_v4() and fix_v6(), which is taken off here. */
#define ETH    "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define FD1    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define FD2    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define LL2    "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define ALL    "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define SLLA   "01 01 02 00 00 00 00 02 "
#define TCP_V4 "45 00 00 28 00 00 40 00 40 06 00 00 "
#define TCP    "00 00 00 00 00 00 00 00 00 00 00 00 50 00 00 00 00 00 00 00"

static struct host *start(void)
{
	struct host *h = host_new_no_link();
	struct ip_addr v4 = host_addr("10.0.0.1"), v6 = host_addr("fd00::1");

	assert_int_equal(ip_addr_add(h->ip, &v4, 24, h->now), 0);
	assert_int_equal(ip_addr_add(h->ip, &v6, 64, h->now), 0);
	host_expect_nothing(h);
	return h;
}

static void input_v6(struct host *h, const char *hex)
{
	struct bytes b = bytes(hex);

	store_be16(b.b + 18, (uint16_t)(b.len - 54));
	fix_v6(&b);
	memmove(b.b, b.b + 14, b.len -= 14);
	host_input(h, &b, 0);
}

static void packets_go_out_at_once(void **state)
{
	static const char *const to[] = {"10.0.0.2", "fd00::2"};
	struct host *h = start();

	for (unsigned i = 0; i < 2; i++) {
		struct ip_addr dst = host_addr(to[i]), src;
		struct ip_path p = {.tos = 0};

		assert_int_equal(ip_reach(h->ip, &dst, h->now), 0);
		assert_int_equal(ip_source(h->ip, &dst, &src), 0);
		assert_int_equal(ip_path_init(h->ip, &p, &src, &dst, h->now), 0);
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
		assert_int_equal(h->n_tx, i + 1);
		assert_int_equal(h->tx[i]->pkt_len, i ? 60 : 40);
		assert_int_equal(*rte_pktmbuf_mtod(h->tx[i], uint8_t *) >> 4, i ? 6 : 4);
		assert_false(ip_doubt(h->ip, &dst, h->now));
	}
	host_forget(h);
	host_run(h, 60 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

/* RFC 1122 section 3.2.2: to no address. Only IGMP comes from there, which is of no link here. */
static void nobody_is_told_of_an_unknown_protocol(void **state)
{
	static const char *const from[] = {"00 00 00 00", "0a 00 00 02"};

	for (unsigned i = 0; i < 2; i++) {
		struct host *h = start();
		struct bytes b = bytes("02 00 00 00 00 01 02 00 00 00 00 02 08 00"
				       "45 00 00 1c 00 00 40 00 01 02 00 00");

		bytes_add(&b, from[i]);
		bytes_add(&b, "0a 00 00 01 11 00 ee ff 00 00 00 00");
		fix_v4_header(&b);
		host_run(h, SECOND); /* for errors */
		memmove(b.b, b.b + 14, b.len -= 14);
		host_input(h, &b, 0);
		assert_int_equal(ip_stack_stats(h->ip)->rx_unknown_proto, 1);
		assert_int_equal(h->n_tx, i);
		assert_int_equal(ip_stack_stats(h->ip)->icmp_tx, i);
		host_free(h);
	}
}

static void own_addresses_are_looped(void **state)
{
	static const char *const own[] = {"10.0.0.1", "fd00::1"};
	struct host *h = start();
	struct rte_mbuf *none = NULL;

	for (unsigned i = 0; i < 2; i++) {
		struct ip_addr a = host_addr(own[i]);
		struct ip_path p = {.tos = 0};

		assert_int_equal(ip_path_init(h->ip, &p, &a, &a, h->now), 0);
		assert_int_equal(ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
		assert_int_equal(ip_input(h->ip, &none, 0, h->now), 1);
		assert_int_equal(h->n_rx, i + 1);
		assert_true(h->rx_info[i].from_self);
		assert_int_equal(h->rx[i]->pkt_len, 20);
	}
	host_free(h);
}

static void version_tells_the_families_apart(void **state)
{
	struct host *h = start();
	struct ip_addr src, dst;
	struct bytes b = bytes(ETH TCP_V4 "0a 00 00 02 0a 00 00 01" TCP);
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);

	fix_v4(&b);
	memmove(b.b, b.b + 14, b.len -= 14);
	host_input(h, &b, 0);
	assert_int_equal(h->n_rx, 1);
	assert_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst)); /* nothing is in it */
	memcpy(rte_pktmbuf_append(m, (uint16_t)b.len), b.b, b.len);
	assert_non_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst));
	assert_int_equal(src.b[15], 2);
	rte_pktmbuf_free(m);
	input_v6(h, ETH "60 00 00 00 00 00 06 40" FD2 FD1 TCP);
	assert_int_equal(h->n_rx, 2);
	host_input_hex(h, "50 00 00 00");
	host_input_hex(h, "");
	assert_int_equal(h->n_rx, 2);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 2);
	host_free(h);
}

/* There is no link for neighbours, routers and listeners of groups to speak on. */
static void link_messages_are_ignored(void **state)
{
	struct host *h = start();
	struct ip_addr peer = host_addr("fd00::2"), far = host_addr("2001:db8::1"), hop;

	input_v6(h, ETH "60 00 00 00 00 00 3a ff" FD2 FD1 "87 00 00 00 00 00 00 00" FD1 SLLA);
	input_v6(h, ETH "60 00 00 00 00 00 3a ff" LL2 ALL
			"86 00 00 00 40 00 07 08 00 00 00 00 00 00 00 00" SLLA);
	input_v6(h, ETH "60 00 00 00 00 00 3a 01" LL2 ALL "82 00 00 00 00 00 00 00"
			"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->nd_rx, 0);
	assert_null(neighbour_find(h->ip, &peer));
	assert_true(ip_next_hop(h->ip, &far, &hop) < 0);
	/* But an echo is answered. */
	input_v6(h, ETH "60 00 00 00 00 00 3a 40" FD2 FD1 "80 00 00 00 be ef 00 01");
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_go_out_at_once),
		cmocka_unit_test(nobody_is_told_of_an_unknown_protocol),
		cmocka_unit_test(own_addresses_are_looped),
		cmocka_unit_test(version_tells_the_families_apart),
		cmocka_unit_test(link_messages_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
