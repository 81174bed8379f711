/* SPDX-License-Identifier: BSD-2-Clause */
/** UDP for the host's own services: lengths, checksums of both families, closed ports, errors. */
#include "ip/udp.h"

#include "base/bytes.h"
#include "host.h"
#include "ip/udp_wire.h"
#include "support/plain_sum.h"

#include <errno.h>
#include <rte_mbuf.h>

#define PORT 3935 /* 0f 5f */

#define ETH4     "02 00 00 00 00 01 02 00 00 00 00 02 08 00 "
#define ETH4_OUT "02 00 00 00 00 02 02 00 00 00 00 01 08 00 "
#define ETH6     "02 00 00 00 00 01 02 00 00 00 00 02 86 dd "
#define PEER6    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define OURS6    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define ARP                                                                 \
	"ff ff ff ff ff ff 02 00 00 00 00 02 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 02 0a 00 00 02 00 00 00 00 00 00 0a 00 00 01"

/** Port 53 of 10.0.0.2 says "abc" to ours; octet 43 is the last of the UDP length. */
#define DATAGRAM4                                                       \
	ETH4 "45 00 00 1f 12 34 00 00 40 11 00 00 0a 00 00 02 0a 00 00" \
	     "01 00 35 0f 5f 00 0b 00 00 61 62 63"
#define DATAGRAM6 ETH6 "60 00 00 00 00 0b 11 40" PEER6 OURS6 "00 35 0f 5f 00 0b 00 00 61 62 63"

struct service {
	struct ip_endpoint from, to;
	uint8_t data[UDP_DATA_MAX];
	size_t len;
	unsigned n, n_errors;
	struct ip_endpoint error_to;
	int error_kind;
};

static void service_input(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len, uint64_t now)
{
	struct service *v = ctx;

	v->from = *from;
	v->to = *to;
	assert_true(len <= sizeof v->data);
	memcpy(v->data, data, len);
	v->len = len;
	v->n++;
}

static void service_error(
	void *ctx, const struct ip_endpoint *to, const struct ip_error *e, uint64_t now)
{
	struct service *v = ctx;

	v->error_to = *to;
	v->error_kind = e->kind;
	v->n_errors++;
}

static struct udp_user user_of(struct service *v)
{
	return (struct udp_user){.input = service_input, .error = service_error, .ctx = v};
}

static struct host *start_v4(struct service *v)
{
	struct host *h = host_new_v4();

	*v = (struct service){.n = 0};
	host_input_hex(h, ARP);
	host_forget(h);
	assert_int_equal(udp_open(h->ip, PORT,
				 &(struct udp_user){
					 .input = service_input, .error = service_error, .ctx = v}),
		0);
	return h;
}

static struct host *start_v6(struct service *v)
{
	struct host *h = host_new_v6();
	struct bytes ns = bytes(ETH6 "60 00 00 00 00 20 3a ff" PEER6 OURS6
				     "87 00 00 00 00 00 00 00" OURS6 "01 01 02 00 00 00 00 02");

	*v = (struct service){.n = 0};
	fix_v6(&ns);
	host_input(h, &ns, 0);
	host_forget(h);
	assert_int_equal(udp_open(h->ip, PORT,
				 &(struct udp_user){
					 .input = service_input, .error = service_error, .ctx = v}),
		0);
	return h;
}

static struct ip_endpoint at(const char *addr, uint16_t port)
{
	return (struct ip_endpoint){.addr = host_addr(addr), .port = port};
}

static void expect_abc(const struct service *v, const char *from, const char *to)
{
	struct ip_endpoint f = at(from, 53), t = at(to, PORT);

	assert_int_equal(v->len, 3);
	assert_memory_equal(v->data, "abc", 3);
	assert_true(ip_addr_equal(&v->from.addr, &f.addr) && v->from.port == f.port);
	assert_true(ip_addr_equal(&v->to.addr, &t.addr) && v->to.port == t.port);
}

static void datagrams_come_in_any_pieces(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct bytes b = bytes(DATAGRAM4);

	fix_v4(&b);
	for (unsigned piece = 0; piece < 46; piece += 5) {
		host_input(h, &b, piece);
		expect_abc(&v, "10.0.0.2", "10.0.0.1");
	}
	assert_int_equal(v.n, 10);
	assert_int_equal(ip_stack_stats(h->ip)->udp_rx, 10);
	host_expect_nothing(h);
	host_free(h);
	h = start_v6(&v);
	b = bytes(DATAGRAM6);
	fix_v6(&b);
	for (unsigned piece = 0; piece < 66; piece += 7)
		host_input(h, &b, piece);
	assert_int_equal(v.n, 10);
	expect_abc(&v, "fd00::2", "fd00::1");
	host_expect_nothing(h);
	host_free(h);
}

/** Sums by hand: 141f of the pseudo header, 0f9f of the header, c462 of the data. */
static void datagrams_go_out_with_a_checksum(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct ip_endpoint from = at("10.0.0.1", PORT), to = at("10.0.0.2", 53);

	assert_int_equal(udp_send(h->ip, &from, &to, "abc", 3, h->now), 0);
	host_expect(h, ETH4_OUT "45 00 00 1f 00 00 40 00 40 11 26 cc 0a 00 00 01 0a 00 00 02"
				"0f 5f 00 35 00 0b 17 df 61 62 63");
	assert_int_equal(ip_stack_stats(h->ip)->udp_tx, 1);
	host_free(h);
	h = start_v6(&v);
	from = at("fd00::1", PORT);
	to = at("fd00::2", 53);
	assert_int_equal(udp_send(h->ip, &from, &to, "abc", 3, h->now), 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(plain_sum(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 22), 32 + 11,
				 UDP_PROTO + 11),
		0xffff);
	assert_int_not_equal(
		load_be16(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 54 + UDP_CKSUM)), 0);
	host_free(h);
}

/** RFC 768: a sum of zero is sent as all ones. */
static void a_checksum_is_never_zero(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct ip_endpoint from = at("10.0.0.1", PORT), to = at("10.0.0.2", 53);
	uint8_t data[2] = {0, 0};
	struct rte_mbuf *m;

	assert_int_equal(udp_send(h->ip, &from, &to, data, 2, h->now), 0);
	m = h->tx[0];
	memcpy(data, rte_pktmbuf_mtod_offset(m, uint8_t *, 34 + UDP_CKSUM), 2);
	host_forget(h);
	/* What the checksum was, as data: now the sum is all ones. */
	assert_int_equal(udp_send(h->ip, &from, &to, data, 2, h->now), 0);
	m = h->tx[0];
	assert_int_equal(load_be16(rte_pktmbuf_mtod_offset(m, uint8_t *, 34 + UDP_CKSUM)), 0xffff);
	host_free(h);
}

/** RFC 768 lets IPv4 do without a checksum, RFC 8200 section 8.1 forbids it for IPv6. */
static void checksums_are_checked(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct bytes b = bytes(DATAGRAM4);

	fix_v4_header(&b);
	host_input(h, &b, 0);
	assert_int_equal(v.n, 1);
	fix_v4(&b);
	b.b[b.len - 1] ^= 1;
	host_input(h, &b, 0);
	assert_int_equal(v.n, 1);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_cksum, 1);
	host_expect_nothing(h);
	host_free(h);
	h = start_v6(&v);
	host_input_hex(h, DATAGRAM6);
	b = bytes(DATAGRAM6);
	fix_v6(&b);
	b.b[b.len - 1] ^= 1;
	host_input(h, &b, 0);
	assert_int_equal(v.n, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_cksum, 2);
	host_expect_nothing(h);
	host_free(h);
}

/** A kernel on a veth leaves the sum to "hardware": the field has that of the pseudo header. */
static void an_unfilled_checksum_is_taken(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct bytes b = bytes(DATAGRAM4);

	/* 0a00+0002+0a00+0001+0011+000b */
	store_be16(b.b + 34 + UDP_CKSUM, 0x141f);
	fix_v4_header(&b);
	host_input(h, &b, 0);
	assert_int_equal(v.n, 1);
	assert_int_equal(ip_stack_stats(h->ip)->rx_cksum_unfilled, 1);
	host_free(h);
}

static void lengths_are_checked(void **state)
{
	static const uint8_t lengths[] = {0, 7, 12, 255};
	struct service v;
	struct host *h = start_v4(&v);
	struct bytes b = bytes(DATAGRAM4), large = bytes(DATAGRAM4);

	for (unsigned i = 0; i < sizeof lengths; i++) {
		b.b[34 + UDP_LENGTH + 1] = lengths[i];
		fix_v4_header(&b);
		host_input(h, &b, 0);
	}
	assert_int_equal(v.n, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, sizeof lengths);
	/* Shorter than what IP has: the rest is not part of it. */
	b.b[34 + UDP_LENGTH + 1] = 10;
	host_input(h, &b, 7);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.len, 2);
	/* The longest that is taken, and one more. */
	for (unsigned more = 0; more < 2; more++) {
		while (large.len < 42 + UDP_DATA_MAX + more)
			bytes_add(&large, "77");
		store_be16(large.b + 16, (uint16_t)(large.len - 14));
		store_be16(large.b + 34 + UDP_LENGTH, (uint16_t)(large.len - 34));
		fix_v4(&large);
		host_input(h, &large, 100);
		assert_int_equal(v.n, 2);
		assert_int_equal(v.len, UDP_DATA_MAX);
	}
	host_expect_nothing(h);
	host_free(h);
}

/** RFC 1122 section 4.1.3.1: an ICMP error; and a header that is cut off has no port. */
static void closed_ports_are_told(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct bytes b = bytes(DATAGRAM4);

	b.b[34 + UDP_DST_PORT] = 0;
	fix_v4(&b);
	host_input(h, &b, 0);
	assert_int_equal(h->n_tx, 1);
	assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 34), "\x03\x03", 2);
	host_forget(h);
	b = bytes(ETH4 "45 00 00 1b 12 34 00 00 40 11 00 00 0a 00 00 02 0a 00 00 01"
		       "00 35 0f 5f 00 07 00");
	fix_v4_header(&b);
	host_input(h, &b, 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(v.n, 0);
	host_forget(h);
	/* And one that was open. */
	udp_close(h->ip, PORT);
	udp_close(h->ip, PORT);
	b = bytes(DATAGRAM4);
	fix_v4(&b);
	host_input(h, &b, 0);
	assert_int_equal(h->n_tx, 1);
	assert_int_equal(v.n, 0);
	host_free(h);
}

/** To a group of ours, over IPv6: these services are nobody's to discover. */
static void groups_are_not_served(void **state)
{
	struct service v;
	struct host *h = start_v6(&v);
	struct bytes b =
		bytes("33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 0b 11 40" PEER6
		      "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
		      "00 35 0f 5f 00 0b 00 00 61 62 63");

	fix_v6(&b);
	host_input(h, &b, 0);
	assert_int_equal(v.n, 0);
	host_expect_nothing(h);
	host_free(h);
}

static void errors_reach_the_port_that_sent(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct ip_endpoint from = at("10.0.0.1", PORT), to = at("10.0.0.2", 53);
	struct bytes b = bytes(ETH4 "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
				    "03 03 00 00 00 00 00 00"
				    "45 00 00 1f 00 00 40 00 40 11 26 cc 0a 00 00 01 0a 00 00 02"
				    "0f 5f 00 35 00 0b 17 df");

	assert_int_equal(udp_send(h->ip, &from, &to, "abc", 3, h->now), 0);
	host_forget(h);
	fix_v4(&b);
	host_input(h, &b, 0);
	assert_int_equal(v.n_errors, 1);
	assert_int_equal(v.error_kind, IP_ERROR_PORT);
	assert_int_equal(v.error_to.port, 53);
	assert_true(ip_addr_equal(&v.error_to.addr, &to.addr));
	/* About another port of ours. */
	b.b[34 + 8 + 20] = 0;
	fix_v4(&b);
	host_input(h, &b, 0);
	assert_int_equal(v.n_errors, 1);
	host_free(h);
}

/** What we send to ourselves comes back without a wire. */
static void we_may_speak_to_ourselves(void **state)
{
	struct service v;
	struct host *h = start_v4(&v);
	struct ip_endpoint from = at("10.0.0.1", 53), to = at("10.0.0.1", PORT);

	assert_int_equal(udp_send(h->ip, &from, &to, "abc", 3, h->now), 0);
	ip_input(h->ip, NULL, 0, h->now);
	assert_int_equal(v.n, 1);
	expect_abc(&v, "10.0.0.1", "10.0.0.1");
	host_expect_nothing(h);
	host_free(h);
}

static void what_cannot_be_is_refused(void **state)
{
	static const uint8_t data[UDP_DATA_MAX + 1];
	struct service v;
	struct host *h = start_v4(&v);
	struct ip_endpoint from = at("10.0.0.1", PORT), to = at("10.0.0.2", 53);
	struct ip_endpoint far = at("192.0.2.1", 53), not_ours = at("10.0.0.9", PORT);
	struct ip_endpoint v6 = at("fd00::2", 53);
	struct udp_user u = user_of(&v);

	assert_int_equal(udp_open(h->ip, PORT, &u), -EADDRINUSE);
	for (uint16_t i = 1; i < UDP_PORTS_MAX; i++)
		assert_int_equal(udp_open(h->ip, i, &u), 0);
	assert_int_equal(udp_open(h->ip, UDP_PORTS_MAX, &u), -ENOSPC);
	assert_int_equal(udp_send(h->ip, &from, &to, data, sizeof data, h->now), -EMSGSIZE);
	assert_int_equal(udp_send(h->ip, &from, &far, data, 1, h->now), -ENETUNREACH);
	assert_int_equal(udp_send(h->ip, &not_ours, &to, data, 1, h->now), -EADDRNOTAVAIL);
	assert_int_equal(udp_send(h->ip, &from, &v6, data, 1, h->now), -EADDRNOTAVAIL);
	assert_int_equal(udp_send(h->ip, &from, &to, data, UDP_DATA_MAX, h->now), 0);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

static struct udp_datagram last;

static void whole_input(void *ctx, const struct udp_datagram *d, uint64_t now)
{
	struct service *v = ctx;

	last = *d;
	v->n++;
}

/* A user that wants longer ones, and the header's fields. */
static void a_user_may_take_more(void **state)
{
	struct service v = {.n = 0};
	struct host *h = host_new_v4();
	const struct udp_user whole = {.datagram = whole_input, .ctx = &v, .max = 600};
	struct udp_datagram d = {.from = at("10.0.0.1", 7),
		.to = at("10.0.0.1", 8),
		.tos = 0x28,
		.ttl = 3,
		.len = 600};
	struct udp_out o;
	uint8_t *room;

	assert_int_equal(udp_open(h->ip, 8, &whole), 0);
	for (unsigned i = 0; i < 3; i++) {
		d.len = 599 + i;
		assert_int_equal(udp_begin(h->ip, &o, &d, &room, h->now), 0);
		memset(room, 0, d.len);
		assert_int_equal(udp_commit(h->ip, &o, 0, h->now), 0);
		ip_input(h->ip, NULL, 0, h->now);
		assert_int_equal(v.n, i < 2 ? i + 1 : 2);
	}
	assert_int_equal(last.len, 600);
	assert_int_equal(last.tos, 0x28);
	assert_int_equal(last.ttl, 3);
	assert_int_equal(last.from.port, 7);
	/* Nothing is left of one that is given up. */
	assert_int_equal(udp_begin(h->ip, &o, &d, &room, h->now), 0);
	udp_cancel(&o);
	d.len = 60000;
	assert_int_equal(udp_begin(h->ip, &o, &d, &room, h->now), -EMSGSIZE);
	d.len = UINT16_MAX + 1u; /* in 16 bits it would be nothing */
	assert_int_equal(udp_begin(h->ip, &o, &d, &room, h->now), -EMSGSIZE);
	d.from = at("10.0.0.9", 7);
	assert_int_equal(udp_begin(h->ip, &o, &d, &room, h->now), -EADDRNOTAVAIL);
	host_free(h);
}

/** Ports may close in any order: those that stay are served, and places are used again. */
static void ports_close_in_any_order(void **state)
{
	struct service v, other = {.n = 0};
	struct host *h = start_v4(&v);
	struct udp_user u = user_of(&other);
	struct bytes b = bytes(DATAGRAM4);

	fix_v4(&b);
	for (uint16_t port = 1; port < UDP_PORTS_MAX; port++)
		assert_int_equal(udp_open(h->ip, port, &u), 0);
	udp_close(h->ip, 1);
	udp_close(h->ip, PORT);
	host_input(h, &b, 0);
	assert_int_equal(v.n, 0);
	assert_int_equal(h->n_tx, 1); /* port unreachable */
	host_forget(h);
	assert_int_equal(udp_open(h->ip, PORT, &u), 0);
	assert_int_equal(udp_open(h->ip, 1, &u), 0);
	assert_int_equal(udp_open(h->ip, UDP_PORTS_MAX, &u), -ENOSPC);
	host_input(h, &b, 0);
	assert_int_equal(other.n, 1);
	for (uint16_t port = 1; port < UDP_PORTS_MAX; port++)
		udp_close(h->ip, port);
	host_input(h, &b, 0);
	assert_int_equal(other.n, 2);
	udp_close(h->ip, PORT);
	host_input(h, &b, 0);
	assert_int_equal(other.n, 2);
	assert_int_equal(h->n_tx, 1);
	for (uint16_t port = 1; port <= UDP_PORTS_MAX; port++)
		assert_int_equal(udp_open(h->ip, port, &u), 0);
	host_free(h);
}

/** A user that does not care is told of no error. */
static void errors_may_be_unwanted(void **state)
{
	struct host *h = host_new_v4();
	struct service v = {.n = 0};
	const struct udp_user u = {.input = service_input, .ctx = &v};
	struct bytes b = bytes(ETH4 "45 00 00 38 12 34 00 00 40 01 00 00 0a 00 00 02 0a 00 00 01"
				    "03 03 00 00 00 00 00 00"
				    "45 00 00 1f 00 00 40 00 40 11 26 cc 0a 00 00 01 0a 00 00 02"
				    "0f 5f 00 35 00 0b 17 df");

	assert_int_equal(udp_open(h->ip, PORT, &u), 0);
	fix_v4(&b);
	host_input(h, &b, 0);
	assert_int_equal(ip_stack_stats(h->ip)->icmp_errors_rx, 1);
	assert_int_equal(v.n + v.n_errors, 0);
	host_expect_nothing(h);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datagrams_come_in_any_pieces),
		cmocka_unit_test(datagrams_go_out_with_a_checksum),
		cmocka_unit_test(a_checksum_is_never_zero),
		cmocka_unit_test(checksums_are_checked),
		cmocka_unit_test(an_unfilled_checksum_is_taken),
		cmocka_unit_test(lengths_are_checked),
		cmocka_unit_test(closed_ports_are_told),
		cmocka_unit_test(groups_are_not_served),
		cmocka_unit_test(errors_reach_the_port_that_sent),
		cmocka_unit_test(we_may_speak_to_ourselves),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(a_user_may_take_more),
		cmocka_unit_test(ports_close_in_any_order),
		cmocka_unit_test(errors_may_be_unwanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
