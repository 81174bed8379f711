/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "ip/icmp.h"

#include <rte_mbuf.h>
#include <stdio.h>

#define ETH  "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define FROM "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define TO   "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define FAR  "20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 09 "

static void input_fixed(struct host *h, const char *hex, unsigned piece)
{
	struct bytes b = bytes(hex);

	store_be16(b.b + 18, (uint16_t)(b.len - 54));
	fix_v6(&b);
	host_input(h, &b, piece);
}

static struct host *start(void)
{
	struct host *h = host_new_v6();

	input_fixed(h,
		ETH "60 00 00 00 00 20 3a ff" FROM TO "87 00 00 00 00 00 00 00" TO
		    "01 01 02 00 00 00 00 02",
		0);
	host_forget(h);
	return h;
}

static void echo_is_answered(void **state)
{
	struct host *h = start();
	static const char want[] =
		"02 00 00 00 00 02 02 00 00 00 00 01 86 dd"
		"60 00 00 00 00 0c 3a 40" TO FROM "81 00 01 00 be ef 00 01 61 62 63 64";

	for (unsigned piece = 0; piece < 70; piece += 9) {
		struct bytes w = bytes(want);

		input_fixed(h,
			ETH "60 00 00 00 00 00 3a 40" FROM TO "80 00 00 00 be ef 00 01 61 62 63 64",
			piece);
		assert_int_equal(h->n_tx, 1);
		fix_v6(&w);
		assert_int_equal(h->tx[0]->pkt_len, w.len);
		assert_memory_equal(
			rte_pktmbuf_read(h->tx[0], 0, w.len, (uint8_t[128]){0}), w.b, w.len);
		host_forget(h);
	}
	host_free(h);
}

static void echo_to_all_nodes_is_answered_from_unicast(void **state)
{
	struct host *h = start();

	input_fixed(h,
		"33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 3a 40" FROM
		"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 80 00 00 00 be ef 00 01",
		0);
	assert_int_equal(h->n_tx, 1);
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 22), bytes(TO).b, 16);
	/* From nobody: no answer. */
	host_forget(h);
	input_fixed(h,
		"33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 3a 40"
		"00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
		"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 80 00 00 00 be ef 00 01",
		0);
	host_expect_nothing(h);
	host_free(h);
}

static void bad_messages_are_dropped(void **state)
{
	struct host *h = start();
	struct bytes b = bytes(ETH "60 00 00 00 00 08 3a 40" FROM TO "80 00 00 00 be ef 00 01");

	host_input(h, &b, 0); /* checksum zero */
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_cksum, 1);
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "80 00 00 00 be ef", 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "c8 00 00 00 be ef 00 01", 0);
	host_expect_nothing(h);
	host_free(h);
}

#define QUOTE "60 00 00 00 05 b4 06 40" TO FAR "30 39 00 50 11 22 33 44"

static void errors_reach_the_transport(void **state)
{
	static const struct {
		const char *icmp;
		int kind;
	} t[] = {
		{"01 00 00 00 00 00 00 00", IP_ERROR_NET},
		{"01 01 00 00 00 00 00 00", IP_ERROR_ADMIN},
		{"01 03 00 00 00 00 00 00", IP_ERROR_HOST},
		{"01 04 00 00 00 00 00 00", IP_ERROR_PORT},
		{"03 00 00 00 00 00 00 00", IP_ERROR_TIME},
		{"04 01 00 00 00 00 00 06", IP_ERROR_PROTO},
		{"02 00 00 00 00 00 05 78", IP_ERROR_MTU},
	};
	struct host *h = start();
	char hex[512];

	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		snprintf(hex, sizeof hex, "%s60 00 00 00 00 00 3a 40%s%s%s%s", ETH, FROM, TO,
			t[i].icmp, QUOTE);
		input_fixed(h, hex, i * 11);
		assert_int_equal(h->n_errors, i + 1);
		assert_int_equal(h->error.kind, t[i].kind);
		assert_memory_equal(&h->error.dst, bytes(FAR).b, 16);
		assert_memory_equal(h->error_l4, "\x30\x39\x00\x50\x11\x22\x33\x44", 8);
	}
	assert_int_equal(h->error.mtu, 1400);
	/* More than an IP MTU can be. */
	snprintf(hex, sizeof hex, "%s60 00 00 00 00 00 3a 40%s%s%s%s", ETH, FROM, TO,
		"02 00 00 00 00 01 00 00", QUOTE);
	input_fixed(h, hex, 0);
	assert_int_equal(h->error.mtu, 65535);
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "02 00 00 00 00 00 05 00" QUOTE, 0);
	assert_int_equal(h->error.mtu, 1280);
	host_free(h);
}

static void errors_that_make_no_sense_do_not(void **state)
{
	struct host *h = start();
	struct ip_addr v4 = host_addr("10.0.0.1");

	assert_int_equal(ip_addr_add(h->ip, &v4, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	host_forget(h);
#define MAPPED "00 00 00 00 00 00 00 00 00 00 ff ff 0a 00 00 "
#define ERROR  ETH "60 00 00 00 00 00 3a 40" FROM TO "01 03 00 00 00 00 00 00"
	input_fixed(h, ERROR "60 00 00 00 05 b4 06 40" TO FAR "30 39 00 50 11 22 33", 0);
	input_fixed(h, ERROR "60 00 00 00 05 b4 06 40" TO, 0);
	input_fixed(h, ERROR "40 00 00 00 05 b4 06 40" TO FAR "30 39 00 50 11 22 33 44", 0);
	input_fixed(h, ERROR "60 00 00 00 05 b4 06 40" FROM FAR "30 39 00 50 11 22 33 44", 0);
	input_fixed(h, ERROR "60 00 00 00 05 b4 11 40" TO FAR "30 39 00 50 11 22 33 44", 0);
	/* Our form of IPv4. */
	input_fixed(h,
		ERROR "60 00 00 00 05 b4 06 40" MAPPED "01" MAPPED "02 30 39 00 50 11 22 33 44", 0);
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "01 07 00 00 00 00 00 00" QUOTE, 0);
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "04 00 00 00 00 00 00 00" QUOTE, 0);
	/* RFC 4443 section 2.4(a): of an unknown type, which we have no name for. */
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "64 00 00 00 00 00 00 00" QUOTE, 0);
	/* RFC 8201 section 4: less than a link of IPv6 can have. */
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "02 00 00 00 00 00 04 ff" QUOTE, 0);
	assert_int_equal(h->n_errors, 0);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_ignored, 9);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_errors_rx, 1); /* UDP looks for its port */
	host_free(h);
}

static void no_error_where_rfc_4443_forbids_it(void **state)
{
	struct host *h = start();

	/* From nobody. */
	host_input_hex(h,
		ETH "60 00 00 00 00 08 84 40 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" TO
		    "00 00 00 00 00 00 00 00");
	host_expect_nothing(h);
	/* About an error behind an option that asks for one; about an echo it may be. */
	host_input_hex(h, ETH "60 00 00 00 00 10 3c 40" FROM TO
			      "3a 00 9e 04 00 00 00 00 01 00 00 00 00 00 00 00");
	host_expect_nothing(h);
	host_input_hex(h, ETH "60 00 00 00 00 10 3c 40" FROM TO
			      "3a 00 9e 04 00 00 00 00 80 00 00 00 00 00 00 00");
	assert_int_equal(h->n_tx, 1);
	host_forget(h);
	/* About a redirect; about an ICMPv6 message that has been cut off. */
	host_input_hex(h, ETH "60 00 00 00 00 10 3c 40" FROM TO
			      "3a 00 9e 04 00 00 00 00 89 00 00 00 00 00 00 00");
	host_expect_nothing(h);
	host_input_hex(h, ETH "60 00 00 00 00 08 3c 40" FROM TO "3a 00 9e 04 00 00 00 00");
	host_expect_nothing(h);
	/* To a group. */
	host_input_hex(h,
		"33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 08 84 40" FROM
		"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00");
	host_expect_nothing(h);
	host_free(h);
}

/* RFC 4443 section 2.4(e.3): an option may ask for an error about a packet to a group as well. */
static void option_of_a_group_is_answered_from_unicast(void **state)
{
	struct host *h = start();

	host_input_hex(h, "33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 10 3c 40" FROM
			  "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
			  "84 00 9e 04 00 00 00 00 00 00 00 00 00 00 00 00");
	assert_int_equal(h->n_tx, 1);
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 22), bytes(TO).b, 16);
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 38), bytes(FROM).b, 16);
	/* Parameter problem, unrecognized option, at offset 42. */
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 54), "\x04\x02", 2);
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 58), "\0\0\0\x2a", 4);
	host_free(h);
}

/* RFC 4443 section 2.4(f): fifty at once, then one each 10 ms. */
static void errors_are_limited(void **state)
{
	struct host *h = start();

	for (unsigned i = 0; i < 60; i++)
		host_input_hex(h, ETH "60 00 00 00 00 08 84 40" FROM TO "00 00 00 00 00 00 00 00");
	assert_int_equal(h->n_tx, 50);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_errors_limited, 10);
	host_forget(h);
	host_run(h, SECOND / 100);
	for (unsigned i = 0; i < 3; i++)
		host_input_hex(h, ETH "60 00 00 00 00 08 84 40" FROM TO "00 00 00 00 00 00 00 00");
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

/* No answer can go where there is no route: nothing is sent, and the packet is not lost. */
static void echo_from_nowhere_is_dropped(void **state)
{
	struct host *h = start();

	input_fixed(h,
		"33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 3a 40" FAR
		"ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 80 00 00 00 be ef 00 01",
		0);
	host_expect_nothing(h);
	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FAR TO "80 00 00 00 be ef 00 01", 0);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->no_route, 1);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_ignored, 1);
	host_free(h);
}

static void echo_reply_that_nobody_waits_for_is_ignored(void **state)
{
	struct host *h = start();

	input_fixed(h, ETH "60 00 00 00 00 00 3a 40" FROM TO "81 00 00 00 be ef 00 01", 0);
	host_expect_nothing(h);
	assert_int_equal(h->n_errors, 0);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_rx, 2); /* the solicitation of start(), too */
	assert_int_equal(ip_stack_stats(h->ip)->icmp_ignored, 0);
	host_free(h);
}

static void quotes_fit_into_the_least_mtu(void **state)
{
	struct host *h = start();
	struct bytes b = bytes(ETH "60 00 00 00 05 78 11 40" FROM TO);

	while (b.len < 54 + 1400)
		bytes_add(&b, "77");
	host_input(h, &b, 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(h->tx[0]->pkt_len, 14 + 1280);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo_is_answered),
		cmocka_unit_test(echo_to_all_nodes_is_answered_from_unicast),
		cmocka_unit_test(bad_messages_are_dropped),
		cmocka_unit_test(errors_reach_the_transport),
		cmocka_unit_test(errors_that_make_no_sense_do_not),
		cmocka_unit_test(no_error_where_rfc_4443_forbids_it),
		cmocka_unit_test(option_of_a_group_is_answered_from_unicast),
		cmocka_unit_test(errors_are_limited),
		cmocka_unit_test(echo_from_nowhere_is_dropped),
		cmocka_unit_test(echo_reply_that_nobody_waits_for_is_ignored),
		cmocka_unit_test(quotes_fit_into_the_least_mtu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
