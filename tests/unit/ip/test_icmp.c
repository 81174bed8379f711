/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "ip/icmp.h"

#include <rte_mbuf.h>
#include <stdio.h>

#define ETH     "02 00 00 00 00 01 02 00 00 00 00 02 08 00 "
#define ETH_OUT "02 00 00 00 00 02 02 00 00 00 00 01 08 00 "
/* Makes 10.0.0.2 a neighbour; its answer is thrown away. */
#define ARP                                                                 \
	"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01"

static struct host *start(void)
{
	struct host *h = host_new_v4();

	host_input_hex(h, ARP);
	host_forget(h);
	return h;
}

static void input_fixed(struct host *h, const char *hex, unsigned piece)
{
	struct bytes b = bytes(hex);

	fix_v4(&b);
	host_input(h, &b, piece);
}

static void echo_is_answered(void **state)
{
	struct host *h = start();
	const char *request = ETH "45 20 00 20 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
				  "08 00 00 00 be ef 00 01 61 62 63 64";

	const char *reply = ETH_OUT "45 20 00 20 00 00 40 00 40 01 26 bb 0a 00 00 01 0a 00 00 02"
				    "00 00 00 00 be ef 00 01 61 62 63 64";
	struct bytes want = bytes(reply);
	char hex[3 * 64], *p = hex;

	fix_v4(&want);
	assert_int_equal(load_be16(want.b + 14 + 20 + 2), 0x7c48);
	for (unsigned i = 0; i < want.len; i++)
		p += snprintf(p, 4, "%02x ", want.b[i]);
	for (unsigned piece = 0; piece < 40; piece += 5) {
		input_fixed(h, request, piece);
		host_expect(h, hex);
	}
	host_free(h);
}

static void bad_echoes_are_not_answered(void **state)
{
	struct host *h = start();
	struct bytes b = bytes(ETH "45 00 00 20 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
				   "08 00 00 00 be ef 00 01 61 62 63 64");

	fix_v4(&b);
	b.b[b.len - 1] ^= 1;
	host_input(h, &b, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_cksum, 1);
	input_fixed(h,
		ETH "45 00 00 1b 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
		    "08 00 00 00 be ef 00",
		0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	/* To a broadcast address: RFC 1122 section 3.2.2.6. */
	input_fixed(h,
		"ff ff ff ff ff ff 02 00 00 00 00 02 08 00"
		"45 00 00 20 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 ff"
		"08 00 00 00 be ef 00 01 61 62 63 64",
		0);
	/* A reply that nobody asked for; an unknown type. */
	input_fixed(h,
		ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
		    "00 00 00 00 be ef 00 01",
		0);
	input_fixed(h,
		ETH "45 00 00 1c 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
		    "63 00 00 00 be ef 00 01",
		0);
	host_expect_nothing(h);
	host_free(h);
}

static void unknown_protocols_are_unreachable(void **state)
{
	struct host *h = start();
	struct rte_mbuf *m;
	const uint8_t *p;

	input_fixed(h,
		ETH "45 00 00 1e 12 34 00 00 40 11 00 00 0a 00 00 02 0a 00 00 01"
		    "00 35 00 35 00 0a 00 00 61 62",
		0);
	input_fixed(h,
		ETH "45 00 00 18 12 34 00 00 40 84 00 00 0a 00 00 02 0a 00 00 01"
		    "00 35 00 35",
		0);
	assert_int_equal(h->n_tx, 2);
	m = h->tx[0];
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(m->pkt_len, 14 + 20 + 8 + 30);
	assert_int_equal(p[34], 3);
	assert_int_equal(p[35], 3); /* UDP: port */
	assert_memory_equal(p + 42, "\x45\x00\x00\x1e\x12\x34", 6);
	assert_memory_equal(p + 30, "\x0a\x00\x00\x02", 4);
	assert_int_equal(rte_pktmbuf_mtod(h->tx[1], const uint8_t *)[35], 2); /* protocol */
	assert_int_equal(ip_stack_stats(h->ip)->rx_unknown_proto, 2);
	host_free(h);
}

static void quotes_are_limited_to_576_bytes(void **state)
{
	struct host *h = start();
	struct bytes b = bytes(ETH "45 00 04 00 12 34 00 00 40 11 00 00 0a 00 00 02 0a 00 00 01");

	while (b.len < 14 + 1024)
		bytes_add(&b, "77");
	fix_v4(&b);
	host_input(h, &b, 0);
	assert_int_equal(h->tx[0]->pkt_len, 14 + 576);
	host_free(h);
}

static void errors_are_rate_limited(void **state)
{
	struct host *h = start();

	for (unsigned i = 0; i < 100; i++) {
		input_fixed(h,
			ETH "45 00 00 1c 12 34 00 00 40 11 00 00 0a 00 00 02 0a 00 00 01"
			    "00 35 00 35 00 08 00 00",
			0);
	}
	assert_int_equal(h->n_tx, 50);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_errors_limited, 50);
	host_forget(h);
	host_run(h, SECOND / 10);
	for (unsigned i = 0; i < 100; i++) {
		input_fixed(h,
			ETH "45 00 00 1c 12 34 00 00 40 11 00 00 0a 00 00 02 0a 00 00 01"
			    "00 35 00 35 00 08 00 00",
			0);
	}
	assert_int_equal(h->n_tx, 10);
	host_free(h);
}

/* An error about a segment 10.0.0.1 -> 192.0.2.9 from the router 10.0.0.2. */
static void error(struct host *h, const char *icmp8, const char *quote)
{
	struct bytes b = bytes(ETH "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01");

	bytes_add(&b, icmp8);
	bytes_add(&b, quote);
	store_be16(b.b + 16, (uint16_t)(b.len - 14));
	fix_v4(&b);
	host_input(h, &b, 0);
}

#define QUOTE                                                         \
	"45 00 05 dc 00 00 40 00 3f 06 00 00 0a 00 00 01 c0 00 02 09" \
	"30 39 00 50 11 22 33 44"

static void errors_reach_the_transport(void **state)
{
	static const struct {
		const char *icmp;
		int kind;
	} t[] = {
		{"03 00 00 00 00 00 00 00", IP_ERROR_NET},
		{"03 06 00 00 00 00 00 00", IP_ERROR_NET},
		{"03 0b 00 00 00 00 00 00", IP_ERROR_NET},
		{"03 01 00 00 00 00 00 00", IP_ERROR_HOST},
		{"03 05 00 00 00 00 00 00", IP_ERROR_HOST},
		{"03 07 00 00 00 00 00 00", IP_ERROR_HOST},
		{"03 0c 00 00 00 00 00 00", IP_ERROR_HOST},
		{"03 02 00 00 00 00 00 00", IP_ERROR_PROTO},
		{"03 03 00 00 00 00 00 00", IP_ERROR_PORT},
		{"03 09 00 00 00 00 00 00", IP_ERROR_ADMIN},
		{"03 0a 00 00 00 00 00 00", IP_ERROR_ADMIN},
		{"03 0d 00 00 00 00 00 00", IP_ERROR_ADMIN},
		{"0b 00 00 00 00 00 00 00", IP_ERROR_TIME},
		{"03 04 00 00 00 00 05 78", IP_ERROR_MTU},
	};
	struct host *h = start();
	struct ip_addr src = host_addr("10.0.0.1"), dst = host_addr("192.0.2.9");

	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		error(h, t[i].icmp, QUOTE);
		assert_int_equal(h->n_errors, i + 1);
		assert_int_equal(h->error.kind, t[i].kind);
		assert_true(ip_addr_equal(&h->error.src, &src));
		assert_true(ip_addr_equal(&h->error.dst, &dst));
		assert_int_equal(h->error.l4_len, 8);
		assert_memory_equal(h->error_l4, "\x30\x39\x00\x50\x11\x22\x33\x44", 8);
	}
	assert_int_equal(h->error.mtu, 1400);
	host_expect_nothing(h);
	host_free(h);
}

static void errors_that_make_no_sense_do_not(void **state)
{
	struct host *h = start();

	error(h, "03 01 00 00 00 00 00 00", "45 00 05 dc 00 00 40 00 3f 06 00 00 0a 00 00 01");
	/* Seven bytes of TCP; a broken length; IPv6; a later fragment. */
	error(h, "03 01 00 00 00 00 00 00",
		"45 00 05 dc 00 00 40 00 3f 06 00 00 0a 00 00 01 c0 00 02 09 30 39 00 50 11 22 33");
	error(h, "03 01 00 00 00 00 00 00",
		"44 00 05 dc 00 00 40 00 3f 06 00 00 0a 00 00 01 c0 00 02 09 30 39 00 50 11 22 33 "
		"44");
	error(h, "03 01 00 00 00 00 00 00",
		"4f 00 05 dc 00 00 40 00 3f 06 00 00 0a 00 00 01 c0 00 02 09 30 39 00 50 11 22 33 "
		"44");
	error(h, "03 01 00 00 00 00 00 00",
		"65 00 05 dc 00 00 40 00 3f 06 00 00 0a 00 00 01 c0 00 02 09 30 39 00 50 11 22 33 "
		"44");
	error(h, "03 01 00 00 00 00 00 00",
		"45 00 05 dc 00 00 40 01 3f 06 00 00 0a 00 00 01 c0 00 02 09 30 39 00 50 11 22 33 "
		"44");
	/* Not sent by us; a protocol that we do not have; an unknown code. */
	error(h, "03 01 00 00 00 00 00 00",
		"45 00 05 dc 00 00 40 00 3f 06 00 00 0a 00 00 03 c0 00 02 09 30 39 00 50 11 22 33 "
		"44");
	error(h, "03 01 00 00 00 00 00 00",
		"45 00 05 dc 00 00 40 00 3f 11 00 00 0a 00 00 01 c0 00 02 09 30 39 00 50 11 22 33 "
		"44");
	error(h, "03 63 00 00 00 00 00 00", QUOTE);
	/* Source quench: RFC 6633. */
	error(h, "04 00 00 00 00 00 00 00", QUOTE);
	assert_int_equal(h->n_errors, 0);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_ignored, 9);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_errors_rx, 1); /* UDP looks for its port */
	host_free(h);
}

static void no_error_about_an_error(void **state)
{
	struct host *h = start();
	struct ip_rx rx = {.src = host_addr("10.0.0.2"), .dst = host_addr("10.0.0.1")};
	struct bytes b = bytes("45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
			       "03 01 00 00 00 00 00 00");
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
	struct icmp_about about = {.rx = &rx, .m = m, .proto = 1, .l4_off = 20};

	memcpy(rte_pktmbuf_append(m, (uint16_t)b.len), b.b, b.len);
	icmp_unreachable(h->ip, &about, 1, h->now);
	host_expect_nothing(h);
	rte_pktmbuf_mtod(m, uint8_t *)[20] = 8; /* about an echo request it may be */
	icmp_unreachable(h->ip, &about, 1, h->now);
	assert_int_equal(h->n_tx, 1);
	rte_pktmbuf_mtod(m, uint8_t *)[20] = 0; /* and about the answer to one */
	icmp_unreachable(h->ip, &about, 1, h->now);
	assert_int_equal(h->n_tx, 2);
	rte_pktmbuf_trim(m, (uint16_t)(m->data_len - 20)); /* what it was cannot be seen */
	icmp_unreachable(h->ip, &about, 1, h->now);
	assert_int_equal(h->n_tx, 2);
	rte_pktmbuf_free(m);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo_is_answered),
		cmocka_unit_test(bad_echoes_are_not_answered),
		cmocka_unit_test(unknown_protocols_are_unreachable),
		cmocka_unit_test(quotes_are_limited_to_576_bytes),
		cmocka_unit_test(errors_are_rate_limited),
		cmocka_unit_test(errors_reach_the_transport),
		cmocka_unit_test(errors_that_make_no_sense_do_not),
		cmocka_unit_test(no_error_about_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
