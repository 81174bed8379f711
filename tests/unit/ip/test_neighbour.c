/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip/stack.h"
#include "neighbour_case.h"

#include <errno.h>
#include <rte_mbuf.h>

#define POLL                                                                \
	"02 00 00 00 00 02 02 00 00 00 00 01 08 06 00 01 08 00 06 04 00 01" \
	"02 00 00 00 00 01 0a 00 00 01 02 00 00 00 00 02 0a 00 00 02"

static void resolution_retries_and_fails(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	neighbour_case_send(h, &p);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_INCOMPLETE);
	host_expect(h, REQUEST);
	host_run(h, SECOND + SECOND / 10);
	host_expect(h, REQUEST);
	host_run(h, SECOND);
	host_expect(h, REQUEST);
	host_run(h, SECOND / 2);
	host_expect_nothing(h);
	assert_int_equal(h->n_errors, 0);
	host_run(h, SECOND);
	host_expect_nothing(h);
	assert_int_equal(h->n_errors, 1);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_FAILED);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_failed, 1);
	host_run(h, 2 * SECOND);
	assert_int_equal(neighbour_case_entry(h)->state,
		NEIGHBOUR_NEW); /* forgotten and made anew by the test */
	host_free(h);
}

static void stale_delay_probe_and_back(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr dst = host_addr("10.0.0.2");
	struct ip_path p = {.tos = 0};

	neighbour_case_send(h, &p);
	host_input_hex(h, REPLY);
	host_run(h, 31 * SECOND);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_STALE);
	host_forget(h);
	neighbour_case_send(h, &p);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_DELAY);
	assert_int_equal(h->n_tx, 1); /* the packet itself, at once */
	host_forget(h);
	assert_int_equal(ip_reach(h->ip, &dst, h->now), 0);
	host_expect_nothing(h);
	host_run(h, 5 * SECOND + SECOND / 10);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_PROBE);
	assert_int_equal(ip_reach(h->ip, &dst, h->now), 0);
	host_expect(h, POLL); /* unicast: RFC 1122 section 2.3.2.1 (2) */
	host_input_hex(h, REPLY);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_REACHABLE);
	host_expect_nothing(h);
	host_free(h);
}

/** What goes between about our own address, probes and announcements: test_local.c has them. */
static void forget_own(struct host *h)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < h->n_tx; i++) {
		if (rte_pktmbuf_mtod(h->tx[i], uint8_t *)[41] == 1)
			rte_pktmbuf_free(h->tx[i]);
		else
			h->tx[kept++] = h->tx[i];
	}
	h->n_tx = kept;
}

/** Who is being asked for is asked for again when the link comes up, as often as from the start. */
static void link_that_comes_up_asks_again(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	ip_link_up(h->ip, h->now);
	host_run(h, 20 * SECOND);
	forget_own(h);
	host_expect_nothing(h);
	neighbour_case_send(h, &p);
	host_expect(h, REQUEST);
	host_run(h, 2 * SECOND + SECOND / 2);
	host_forget(h);
	ip_link_up(h->ip, h->now);
	host_expect(h, REQUEST);
	host_run(h, SECOND - SECOND / 10);
	forget_own(h);
	host_expect_nothing(h);
	host_run(h, 2 * SECOND);
	forget_own(h);
	host_expect(h, REQUEST);
	host_expect(h, REQUEST);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_INCOMPLETE);
	host_input_hex(h, REPLY);
	host_forget(h); /* the packet */
	ip_link_up(h->ip, h->now);
	forget_own(h);
	host_expect_nothing(h);
	host_free(h);
}

/** Once, and without a word if nobody answers. */
static void so_does_a_poll(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr a = host_addr("10.0.0.2");

	neighbour_poll(neighbour_get(h->ip, &a, h->now), h->now);
	host_expect(h, REQUEST);
	ip_link_up(h->ip, h->now);
	host_expect(h, REQUEST);
	host_run(h, 20 * SECOND);
	forget_own(h);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_failed, 0);
	host_free(h);
}

/** Who has failed is asked anew; who has answered need not be. */
static void a_poll_is_of_who_is_not_known_to_answer(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	neighbour_case_send(h, &p);
	host_run(h, 3 * SECOND + SECOND / 10);
	host_forget(h);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_FAILED);
	neighbour_poll(neighbour_case_entry(h), h->now);
	host_expect(h, REQUEST);
	host_input_hex(h, REPLY);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_REACHABLE);
	neighbour_poll(neighbour_case_entry(h), h->now);
	host_expect_nothing(h);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_REACHABLE);
	host_free(h);
}

/** RFC 4861 section 7.2.2: there is no other way for what waits, so its sender is told. */
static void who_waits_for_a_router_that_ends_is_told(void **state)
{
	struct host *h = host_new_v6();
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = host_addr("fe80::2"),
		.origin = ROUTE_ADVERTISED,
		.expires = h->now + 2 * SECOND,
	};
	struct ip_path p = {.tos = 0};

	route_advertise(h->ip, &r, h->now);
	host_send(h, &p, "fd00::1", "2001:db8:9::1");
	host_run(h, 2 * SECOND + SECOND / 2);
	assert_int_equal(h->ip->routes.routers, 0);
	assert_int_equal(h->n_errors, 0);
	host_run(h, SECOND);
	assert_int_equal(h->n_errors, 1);
	assert_int_equal(h->error.kind, IP_ERROR_HOST);
	host_forget(h);
	host_free(h);
}

static void dead_neighbour_is_asked_for_by_broadcast_then_given_up(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	neighbour_case_send(h, &p);
	host_input_hex(h, REPLY);
	host_run(h, 31 * SECOND);
	neighbour_case_send(h, &p);
	host_forget(h);
	host_run(h, 5 * SECOND + 2 * SECOND + SECOND / 10);
	host_expect(h, POLL);
	host_expect(h, POLL);
	host_expect(h, POLL);
	host_run(h, SECOND);
	host_expect(h, REQUEST);
	host_run(h, 3 * SECOND);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_FAILED);
	assert_int_equal(
		ip_send(h->ip, &p, IP_PROTO_TCP, host_segment(h, 20), h->now), -EHOSTUNREACH);
	host_free(h);
}

static void forward_progress_saves_the_probes(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};

	neighbour_case_send(h, &p);
	host_input_hex(h, REPLY);
	host_forget(h);
	for (unsigned i = 0; i < 20; i++) {
		host_run(h, 10 * SECOND);
		neighbour_case_send(h, &p);
		ip_path_confirm(h->ip, &p, h->now, h->now);
		assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_REACHABLE);
	}
	assert_int_equal(h->n_tx, 20);
	host_run(h, 40 * SECOND);
	neighbour_case_send(h, &p);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_DELAY);
	ip_path_confirm(h->ip, &p, h->now, h->now);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_REACHABLE);
	host_free(h);
}

static void learning_follows_rfc_4861(void **state)
{
	static const uint8_t mac_a[6] = {2, 0, 0, 0, 0, 0xa}, mac_b[6] = {2, 0, 0, 0, 0, 0xb};
	struct host *h = host_new_v4();
	struct ip_neighbour *n = neighbour_case_entry(h);
	struct neighbour_news a = {.mac = mac_a}, b = {.mac = mac_b}, none = {.solicited = true};

	neighbour_learn(h->ip, n, &none, h->now); /* nothing to learn from */
	assert_int_equal(n->state, NEIGHBOUR_NEW);
	neighbour_learn(h->ip, n, &a, h->now);
	assert_int_equal(n->state, NEIGHBOUR_STALE);
	assert_memory_equal(n->eth, mac_a, 6);
	a.solicited = true;
	neighbour_learn(h->ip, n, &a, h->now);
	assert_int_equal(n->state, NEIGHBOUR_REACHABLE);
	/* Another address without override: doubt, but no change. */
	neighbour_learn(h->ip, n, &b, h->now);
	assert_int_equal(n->state, NEIGHBOUR_STALE);
	assert_memory_equal(n->eth, mac_a, 6);
	neighbour_learn(h->ip, n, &b, h->now);
	assert_int_equal(n->state, NEIGHBOUR_STALE);
	assert_memory_equal(n->eth, mac_a, 6);
	neighbour_learn(h->ip, n, &none, h->now);
	assert_int_equal(n->state, NEIGHBOUR_REACHABLE);
	b.override = true;
	neighbour_learn(h->ip, n, &b, h->now);
	assert_int_equal(n->state, NEIGHBOUR_STALE);
	assert_memory_equal(n->eth, mac_b, 6);
	/* An answer with another address, where nobody uses the entry: it is believed. */
	a.override = true;
	neighbour_learn(h->ip, n, &a, h->now);
	assert_int_equal(n->state, NEIGHBOUR_REACHABLE);
	assert_memory_equal(n->eth, mac_a, 6);
	host_free(h);
}

/* Who asks while a router is polled gets all tries, and is told of the failure. */
static void reach_goes_beyond_a_poll(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr peer = host_addr("10.0.0.2");

	neighbour_poll(neighbour_case_entry(h), h->now);
	host_expect(h, REQUEST);
	for (unsigned i = 0; i < 3; i++) { /* it does not begin anew each time */
		assert_int_equal(ip_reach(h->ip, &peer, h->now), -EAGAIN);
		assert_int_equal(ip_reach(h->ip, &peer, h->now), -EAGAIN);
		host_expect(h, REQUEST);
		host_expect_nothing(h);
		host_run(h, SECOND + SECOND / 10);
	}
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_failed, 1);
	host_free(h);
}

/* A host with nothing to send yet asks all the same, and again when that was in vain. */
static void reach_asks(void **state)
{
	struct host *h = host_new_v4();
	struct ip_addr peer = host_addr("10.0.0.2"), own = host_addr("10.0.0.1"),
		       beyond = host_addr("192.0.2.1"), all = host_addr("10.0.0.255"),
		       any = host_addr("0.0.0.0"), group = host_addr("224.0.0.1");

	assert_int_equal(ip_reach(h->ip, &own, h->now), 0);
	assert_int_equal(ip_reach(h->ip, &beyond, h->now), -ENETUNREACH);
	assert_int_equal(ip_reach(h->ip, &all, h->now), -ENETUNREACH);
	assert_int_equal(ip_reach(h->ip, &any, h->now), -ENETUNREACH);
	assert_int_equal(ip_reach(h->ip, &group, h->now), -ENETUNREACH);
	/* Nor is there a neighbour to doubt. */
	assert_false(ip_doubt(h->ip, &beyond, h->now));
	assert_false(ip_doubt(h->ip, &own, h->now));
	host_expect_nothing(h);
	assert_int_equal(ip_reach(h->ip, &peer, h->now), -EAGAIN);
	host_expect(h, REQUEST);
	assert_int_equal(ip_reach(h->ip, &peer, h->now), -EAGAIN);
	host_expect_nothing(h);
	host_run(h, 3 * SECOND + SECOND / 2);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_FAILED);
	host_forget(h);
	assert_int_equal(ip_reach(h->ip, &peer, h->now), -EAGAIN);
	host_expect(h, REQUEST);
	host_input_hex(h, REPLY);
	assert_int_equal(ip_reach(h->ip, &peer, h->now), 0);
	host_run(h, 40 * SECOND);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_STALE);
	assert_int_equal(ip_reach(h->ip, &peer, h->now), 0); /* as far as we know */
	host_expect_nothing(h);
	host_free(h);
}

/** Send to 192.0.2.1. @return the last octet of the station that a packet of TCP went to; 0: none.
 */
static unsigned send_beyond(struct host *h, struct ip_path *p)
{
	struct ip_addr src = host_addr("10.0.0.1"), dst = host_addr("192.0.2.1");
	unsigned to = 0;

	host_forget(h);
	if (!p->generation)
		assert_int_equal(ip_path_init(h->ip, p, &src, &dst, h->now), 0);
	assert_int_equal(ip_send(h->ip, p, IP_PROTO_TCP, host_segment(h, 20), h->now), 0);
	for (unsigned i = 0; i < h->n_tx; i++) {
		const uint8_t *f = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

		if (f[12] == 8 && f[13] == 0)
			to = f[5];
	}
	return to;
}

/** Run for @p ns. @return how often 10.0.0.@p of was asked for meanwhile. */
static unsigned asked_within(struct host *h, unsigned of, uint64_t ns)
{
	unsigned n = 0;

	for (uint64_t end = h->now + ns; h->now < end;) {
		host_run(h, SECOND / 10);
		for (unsigned i = 0; i < h->n_tx; i++) {
			const uint8_t *f = rte_pktmbuf_mtod(h->tx[i], const uint8_t *);

			n += f[13] == 6 && f[41] == of;
		}
		host_forget(h);
	}
	return n;
}

static void run_until_asked(struct host *h, unsigned of)
{
	for (uint64_t end = h->now + 61 * SECOND; asked_within(h, of, SECOND / 10) == 0;)
		assert_true(h->now < end);
}

/** 10.0.0.@p of answers ARP. */
static void answer(struct host *h, unsigned of)
{
	struct bytes b = bytes(REPLY);

	b.b[11] = b.b[27] = b.b[31] = (uint8_t)of;
	host_input(h, &b, 0);
}

static void two_routers(struct host *h)
{
	struct ip_addr any = host_addr("0.0.0.0"), first = host_addr("10.0.0.2"),
		       second = host_addr("10.0.0.3");

	assert_int_equal(ip_route_add(h->ip, &any, 0, &first), 0);
	assert_int_equal(ip_route_add(h->ip, &any, 0, &second), 0);
}

/* RFC 1122 section 3.3.1.5, RFC 4191 section 3.5: once a minute, and while packets go elsewhere. */
static void a_router_that_is_there_again_is_used_again(void **state)
{
	struct host *h = host_new_v4();
	struct ip_path p = {.tos = 0};
	unsigned lines;

	two_routers(h);
	assert_int_equal(send_beyond(h, &p), 0);
	assert_int_equal(asked_within(h, 2, 4 * SECOND), 3);
	assert_int_equal(send_beyond(h, &p), 0);
	answer(h, 3);
	assert_int_equal(send_beyond(h, &p), 3);
	lines = h->log_lines;
	/* Nothing was sent since it was left, but now. */
	assert_int_equal(asked_within(h, 2, 60 * SECOND), 1);
	assert_int_equal(asked_within(h, 2, 180 * SECOND), 0);
	for (unsigned i = 0; i < 3; i++) {
		(void)send_beyond(h, &p);
		answer(h, 3);
		assert_int_equal(asked_within(h, 2, 60 * SECOND), 1);
	}
	assert_int_equal(h->log_lines, lines);
	assert_int_equal(ip_stack_stats(h->ip)->neighbour_failed, 1);
	/* With a packet of its own to wait for the answer, it is asked as often as any. */
	assert_int_equal(send_beyond(h, &p), 3);
	answer(h, 3);
	run_until_asked(h, 2);
	neighbour_case_send(h, &(struct ip_path){.tos = 0});
	assert_int_equal(asked_within(h, 2, 4 * SECOND), 3);
	/* And here it is. */
	assert_int_equal(send_beyond(h, &p), 3);
	answer(h, 3);
	run_until_asked(h, 2);
	answer(h, 2);
	assert_string_equal(h->log_text, "ip: 10.0.0.2 answers again, and is used");
	assert_int_equal(send_beyond(h, &p), 2);
	answer(h, 2);
	assert_int_equal(asked_within(h, 3, 120 * SECOND), 0);
	host_free(h);
}

/* RFC 4191 section 3.5: nor is it asked where no packet goes by another in its place. */
static void a_router_is_not_missed_for_another_that_is_left(void **state)
{
	struct ip_addr first = host_addr("10.0.0.2"), second = host_addr("10.0.0.3");
	struct bytes claim = bytes(REPLY);
	struct ip_path p = {.tos = 0};
	struct host *h = host_new_v4();

	two_routers(h);
	route_leave_gateway(h->ip, &first, h->now);
	assert_null(host_neighbour(h, "10.0.0.3"));
	assert_int_equal(asked_within(h, 2, 61 * SECOND), 0);
	route_leave_gateway(h->ip, &second, h->now);
	route_leave_gateway(h->ip, &first, h->now);
	assert_int_equal(asked_within(h, 2, 58 * SECOND), 0);
	/* The other one is tried, and whether it answers is not known when the minute is over. */
	claim.b[21] = 1;
	claim.b[11] = claim.b[27] = claim.b[31] = 3;
	neighbour_get(h->ip, &second, h->now);
	host_input(h, &claim, 0);
	assert_int_equal(send_beyond(h, &p), 3);
	assert_int_equal(asked_within(h, 2, 4 * SECOND), 0);
	host_free(h);
}

/* A claim is no answer: the router may hear nothing of us. */
static void a_router_that_only_speaks_is_not_used_again(void **state)
{
	struct host *h = host_new_v4();
	struct bytes request = bytes(REPLY);
	struct ip_path p = {.tos = 0};

	two_routers(h);
	assert_int_equal(send_beyond(h, &p), 0);
	(void)asked_within(h, 2, 4 * SECOND);
	assert_int_equal(send_beyond(h, &p), 0);
	answer(h, 3);
	request.b[21] = 1;
	host_input(h, &request, 0);
	assert_int_equal(neighbour_case_entry(h)->state, NEIGHBOUR_STALE);
	assert_int_equal(send_beyond(h, &p), 3);
	assert_int_equal(
		asked_within(h, 2, 60 * SECOND), 1); /* it is asked when its time has come */
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolution_retries_and_fails),
		cmocka_unit_test(stale_delay_probe_and_back),
		cmocka_unit_test(link_that_comes_up_asks_again),
		cmocka_unit_test(so_does_a_poll),
		cmocka_unit_test(a_poll_is_of_who_is_not_known_to_answer),
		cmocka_unit_test(who_waits_for_a_router_that_ends_is_told),
		cmocka_unit_test(dead_neighbour_is_asked_for_by_broadcast_then_given_up),
		cmocka_unit_test(forward_progress_saves_the_probes),
		cmocka_unit_test(learning_follows_rfc_4861),
		cmocka_unit_test(reach_asks),
		cmocka_unit_test(reach_goes_beyond_a_poll),
		cmocka_unit_test(a_router_that_is_there_again_is_used_again),
		cmocka_unit_test(a_router_is_not_missed_for_another_that_is_left),
		cmocka_unit_test(a_router_that_only_speaks_is_not_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
