/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"
#include "support/mempool_ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* An echo request from 192.0.2.2 to 192.0.2.1, checksums by hand. */
static const uint8_t ping[] = {0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0xf6, 0xdd, 192, 0, 2, 2, 192, 0,
	2, 1, 8, 0, 0xf7, 0xfd, 0, 1, 0, 1};

static void packets_are_bare_ip(void **state)
{
	struct pair p;
	uint8_t out[1500];
	uint64_t at = 0;

	pair_init(&p, NULL);
	assert_int_equal(uiwarp_tcp_output_time(p.a), UIWARP_TCP_NEVER); /* no DAD, no ARP */
	uiwarp_tcp_advance(p.a, 2000 * MS);
	assert_int_equal(uiwarp_tcp_input(p.a, ping, sizeof ping), 0);
	assert_int_equal(uiwarp_tcp_output_time(p.a), 2000 * MS);
	assert_int_equal(uiwarp_tcp_output(p.a, out, sizeof out, &at), sizeof ping);
	assert_int_equal(at, 2000 * MS);
	assert_int_equal(out[0], 0x45);
	assert_int_equal(out[20], 0); /* echo reply */
	assert_memory_equal(out + 12, ping + 16, 4);
	assert_int_equal(uiwarp_tcp_output(p.a, out, sizeof out, &at), 0);
	pair_end(&p);
}

static void nonsense_is_dropped(void **state)
{
	struct pair p;
	uint8_t big[4096] = {0x45}, bad[sizeof ping];

	pair_init(&p, NULL);
	assert_int_equal(uiwarp_tcp_input(p.a, ping, 0), 0);
	assert_int_equal(uiwarp_tcp_input(p.a, ping, 1), 0);
	memcpy(bad, ping, sizeof bad);
	bad[0] = 0x95;
	assert_int_equal(uiwarp_tcp_input(p.a, bad, sizeof bad), 0);
	assert_int_equal(uiwarp_tcp_input(p.a, big, sizeof big), -EMSGSIZE);
	assert_int_equal(uiwarp_tcp_input(p.a, big, 100000), -EMSGSIZE);
	assert_int_equal(uiwarp_tcp_output_time(p.a), UIWARP_TCP_NEVER);
	pair_end(&p);
}

/* Neighbour discovery has no place where there is no link. */
static void no_neighbours_are_asked_or_answered(void **state)
{
	/* A neighbour solicitation for 2001:db8::1 by 2001:db8::2, sent to it. */
	static const uint8_t ns[] = {0x60, 0, 0, 0, 0, 24, 58, 255, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 2, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 135,
		0, 0, 0, 0, 0, 0, 0, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	uint8_t m[sizeof ns];
	uint32_t sum = 24 + 58;
	struct pair p;

	memcpy(m, ns, sizeof m);
	for (unsigned i = 8; i < sizeof m; i += 2)
		sum += (uint32_t)m[i] << 8 | m[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	m[42] = (uint8_t)(~sum >> 8);
	m[43] = (uint8_t)~sum;
	pair_init(&p, NULL);
	assert_int_equal(uiwarp_tcp_input(p.a, m, sizeof m), 0);
	uiwarp_tcp_advance(p.a, 60000 * MS);
	assert_int_equal(uiwarp_tcp_output_time(p.a), UIWARP_TCP_NEVER);
	pair_end(&p);
}

static void same_calls_same_packets(void **state)
{
	struct sockaddr_storage e = endpoint("192.0.2.9", PORT);
	uint8_t out[2][1500];
	size_t n[2];

	for (unsigned i = 0; i < 2; i++) {
		struct pair p;
		int s;

		pair_init(&p, NULL);
		s = uiwarp_tcp_socket(p.a, AF_INET);
		uiwarp_tcp_connect(p.a, s, (struct sockaddr *)&e, sizeof e);
		n[i] = uiwarp_tcp_output(p.a, out[i], sizeof out[i], NULL);
		assert_int_equal(uiwarp_tcp_abort(p.a, s), 0);
		pair_end(&p);
	}
	assert_true(n[0] >= 40);
	assert_int_equal(n[0], n[1]);
	assert_memory_equal(out[0], out[1], n[0]);
}

static void bad_configurations_are_refused(void **state)
{
	struct uiwarp_tcp *h;
	struct uiwarp_tcp_config mtu = {.mtu = 576}, cc = {.congestion_control = "none such"};

	assert_int_equal(uiwarp_tcp_create(&mtu, 0, &h), -EINVAL);
	assert_int_equal(uiwarp_tcp_create(&cc, 0, &h), -EINVAL);
	assert_int_equal(uiwarp_tcp_create(&(struct uiwarp_tcp_config){0}, 0, &h), 0);
	assert_int_equal(uiwarp_tcp_add_address(h, "192.0.2.300/24"), -EINVAL);
	assert_int_equal(uiwarp_tcp_add_address(h, "192.0.2.1/24"), 0);
	assert_int_equal(uiwarp_tcp_add_address(h, "192.0.2.1/24"), -EEXIST);
	assert_int_equal(uiwarp_tcp_add_route(h, "0.0.0.0/0"), 0);
	assert_int_equal(uiwarp_tcp_add_route(h, "0.0.0.0/0"), -EEXIST);
	uiwarp_tcp_destroy(h);
	uiwarp_tcp_destroy(NULL);
}

static void note_line(void *ctx, const char *line)
{
	snprintf(ctx, 256, "%s", line);
}

static void a_pool_that_cannot_be_made_is_told_of(void **state)
{
	char said[256] = "";
	struct uiwarp_tcp_config cfg = {.packets = 1u << 31, .log = note_line, .log_ctx = said};
	struct uiwarp_tcp *h;

	assert_int_equal(uiwarp_tcp_create(&cfg, 0, &h), -EINVAL);
	assert_non_null(strstr(said, "packets 2147483648: at most 1073741823"));
	cfg.packets = 0;
	mempool_ops_leave_out("ring_mp_mc");
	assert_int_equal(uiwarp_tcp_create(&cfg, 0, &h), -ENODEV);
	mempool_ops_leave_out(NULL);
	assert_non_null(strstr(said, "no mempool driver"));
	assert_int_equal(uiwarp_tcp_create(&cfg, 0, &h), 0);
	uiwarp_tcp_destroy(h);
}

static void a_lost_syn_comes_again_after_a_second(void **state)
{
	struct sockaddr_storage e = endpoint("2001:db8::9", PORT);
	struct pair p;
	uint8_t out[1500];
	uint64_t t;
	int s;

	pair_init(&p, NULL);
	s = uiwarp_tcp_socket(p.a, AF_INET6);
	uiwarp_tcp_connect(p.a, s, (struct sockaddr *)&e, sizeof e);
	assert_true(uiwarp_tcp_output(p.a, out, sizeof out, &t) > 0);
	assert_int_equal(t, 1000 * MS);
	uiwarp_tcp_advance(p.a, 10000 * MS);
	assert_true(uiwarp_tcp_output(p.a, out, sizeof out, &t) > 0); /* RFC 6298 section 2.1 */
	assert_in_range(t, 2000 * MS, 2000 * MS + UIWARP_TCP_TICK_NS);
	assert_int_equal(uiwarp_tcp_abort(p.a, s), 0);
	pair_end(&p);
}

/* On a host that waits for nothing, too; and time goes on from its last event. */
static void time_passes_until_nothing_is_waited_for(void **state)
{
	struct sockaddr_storage e = endpoint("2001:db8::9", PORT);
	struct pair p;
	uint64_t end;
	int s;

	pair_init(&p, NULL);
	uiwarp_tcp_advance(p.b, UIWARP_TCP_NEVER);
	assert_int_equal(uiwarp_tcp_next(p.b), UIWARP_TCP_NEVER);
	assert_true(uiwarp_tcp_now(p.b) < UIWARP_TCP_NEVER);
	p.lose = true;
	s = uiwarp_tcp_socket(p.a, AF_INET6);
	uiwarp_tcp_connect(p.a, s, (struct sockaddr *)&e, sizeof e);
	uiwarp_tcp_advance(p.a, UIWARP_TCP_NEVER);
	end = uiwarp_tcp_now(p.a);
	assert_in_range(end, 1000 * MS, 1000000 * MS); /* of the SYN's last time-out */
	uiwarp_tcp_advance(p.a, end + MS);
	assert_int_equal(uiwarp_tcp_now(p.a), end + MS);
	assert_int_equal(uiwarp_tcp_close(p.a, s), 0);
	pair_carry(&p);
	pair_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_bare_ip),
		cmocka_unit_test(nonsense_is_dropped),
		cmocka_unit_test(no_neighbours_are_asked_or_answered),
		cmocka_unit_test(same_calls_same_packets),
		cmocka_unit_test(bad_configurations_are_refused),
		cmocka_unit_test(a_pool_that_cannot_be_made_is_told_of),
		cmocka_unit_test(a_lost_syn_comes_again_after_a_second),
		cmocka_unit_test(time_passes_until_nothing_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
