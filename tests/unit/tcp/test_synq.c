/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/listen.h"
#include "tcp/synq.h"

#include <rte_mbuf.h>

static struct host h;
static struct tcp_listener *l;

static void start(void)
{
	const struct ip_endpoint to = {addr(LOCAL), PORT};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	l = tcp_listener_find(h.tcp, &to);
}

static void syn_to(uint16_t port, const char *from, uint16_t rport)
{
	const struct ip_addr src = addr(from), dst = addr(LOCAL);
	const struct tcp_segment s = {
		.sport = rport, .dport = port, .seq = 1, .flags = TCP_SYN, .wnd = 1024};
	struct rte_mbuf *m = rte_pktmbuf_alloc(h.pool);

	assert_non_null(m);
	rte_pktmbuf_append(m, (uint16_t)tcp_wire_emit(&s, rte_pktmbuf_mtod(m, uint8_t *)));
	ip_double_deliver(&h.ip, &src, &dst, m, h.now);
	ip_double_drain(&h.ip);
}

/** A SYN from @p from. */
static void syn(const char *from, uint16_t rport)
{
	syn_to(PORT, from, rport);
}

static bool is_half_open(const char *from, uint16_t rport)
{
	const struct tcp_tuple id = {
		.local = addr(LOCAL), .remote = addr(from), .lport = PORT, .rport = rport};

	return tcp_synq_find(&h.tcp->synq, &id) != NULL;
}

/* The peer that has most of them loses its oldest, whichever peer comes. */
static void test_busiest_peer_gives_way(void **state)
{
	const struct tcp_stack_config cfg = {
		.syn_cookies = TCP_COOKIES_OFF, .max_half_open = 6, .max_half_open_per_peer = 4};

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 100);
	syn("10.0.0.3", 1);
	for (uint16_t i = 1; i <= 5; i++)
		syn(REMOTE, i);
	assert_false(is_half_open(REMOTE, 1)); /* one of its own too many */
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 5);
	syn("10.0.0.3", 2);
	syn("10.0.0.4", 1);
	assert_false(is_half_open(REMOTE, 2)); /* too many in all */
	assert_true(is_half_open("10.0.0.3", 1) && is_half_open("10.0.0.3", 2));
	assert_true(is_half_open("10.0.0.4", 1) && is_half_open(REMOTE, 5));
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 2);
	host_end(&h);
}

/* A peer that has all of its own at another listener ends with no more, nor has a listener more
 * than its places. */
static void test_peer_is_bounded_over_listeners(void **state)
{
	const struct tcp_stack_config cfg = {
		.syn_cookies = TCP_COOKIES_OFF, .max_half_open = 100, .max_half_open_per_peer = 4};
	const struct ip_endpoint to = {addr(LOCAL), 6000};
	const struct ip_addr peer = addr(REMOTE);
	struct llp_listener *other;

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 8);
	assert_int_equal(llp_listen(h.llp, &to, 8, NULL, NULL, &other), 0);
	for (uint16_t i = 1; i <= 4; i++)
		syn(REMOTE, i);
	for (uint16_t i = 1; i <= 4; i++) {
		syn_to(6000, "10.0.0.3", i);
		syn_to(6000, "10.0.0.4", i);
	}
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 12);
	syn_to(6000, REMOTE, 5);
	assert_int_equal(peer_set_count(&h.tcp->synq.peers, &peer), 4);
	assert_false(is_half_open(REMOTE, 1));
	assert_int_equal(((struct tcp_listener *)(void *)other)->synq.count, 8);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 11);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 2);
	host_end(&h);
}

/* With cookies nobody has to go. */
static void test_busy_peer_gets_cookies(void **state)
{
	const struct tcp_stack_config cfg = {.max_half_open_per_peer = 4};

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 100);
	for (uint16_t i = 1; i <= 5; i++)
		syn(REMOTE, i);
	syn("10.0.0.3", 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->syn_cookies_sent, 1);
	assert_true(is_half_open(REMOTE, 1) && is_half_open("10.0.0.3", 1));
	assert_int_equal(tcp_stack_stats(h.tcp)->half_recycled, 0);
	host_end(&h);
}

/** A handshake with REMOTE's port @p rport. */
static struct tcp_synq_entry *add(uint16_t rport)
{
	const struct tcp_syn_request e = {
		.id = {.local = addr(LOCAL), .remote = addr(REMOTE), .lport = PORT, .rport = rport},
		.irs = 1000,
		.iss = 2000};

	assert_int_equal(tcp_synq_add(l, &e), 0);
	return tcp_synq_find(&h.tcp->synq, &e.id);
}

/* In the table and in the listener's list, oldest first, wherever one is taken out. */
static void test_lists(void **state)
{
	struct tcp_synq_entry *a, *b, *c;

	start();
	a = add(1);
	b = add(2);
	c = add(3);
	assert_int_equal(h.tcp->synq.count, 3);
	assert_ptr_equal(l->synq.oldest, a);
	tcp_synq_drop(b);
	assert_ptr_equal(a->next, c);
	tcp_synq_unlink(a);
	assert_ptr_equal(l->synq.oldest, c);
	assert_null(tcp_synq_find(&h.tcp->synq, &a->e.id));
	tcp_synq_relink(a); /* the youngest now */
	assert_ptr_equal(c->next, a);
	assert_ptr_equal(tcp_synq_find(&h.tcp->synq, &a->e.id), a);
	tcp_synq_drop(a);
	tcp_synq_drop(c);
	assert_int_equal(l->synq.count, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/* At 0, 1, 3, 7 and 15 s, and at 31 s it is forgotten. */
static void test_answers_end(void **state)
{
	start();
	add(1);
	for (unsigned s = 0; s < 30; s++)
		host_advance(&h, 1000 * MS);
	assert_int_equal(ip_double_pending(&h.ip), 5);
	assert_int_equal(h.tcp->synq.count, 1);
	host_advance(&h, 2000 * MS);
	assert_int_equal(h.tcp->synq.count, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** The next segment that was sent has these flags and this traffic class. */
static struct tcp_segment expect_of_class(uint8_t flags, uint8_t tos)
{
	struct heard a;

	host_expect(&h, &a);
	assert_int_equal(a.h.flags, flags);
	assert_int_equal(h.ip.taken_tos, tos);
	return a.h;
}

static void hear(uint8_t flags, uint32_t seq, uint32_t ack)
{
	const struct tcp_segment s = {.seq = seq, .ack = ack, .flags = flags, .wnd = 1024};

	host_hear(&h, PORT, &s, NULL);
}

/** What the connection sends that begins with the answer @p syn_ack has this traffic class. */
static void begins_with_class(const struct tcp_segment *syn_ack, uint8_t tos)
{
	hear(TCP_ACK, 2, syn_ack->seq + 1);
	assert_int_equal(h.app.accepted, 1);
	tcp_listener_set_tos(h.listener, 0xe0);
	app_send(&h.app, "abc", 3);
	host_round(&h);
	expect_of_class(TCP_ACK | TCP_PSH, tos);
	host_end(&h);
}

/* All that is sent before there is a connection has the one that it has now. The ECN bits are TCP's
 * own. */
static void test_listener_gives_its_class(void **state)
{
	struct tcp_segment syn_ack;

	start();
	tcp_listener_set_tos(h.listener, 0x23);
	hear(TCP_SYN, 1, 0);
	expect_of_class(TCP_SYN | TCP_ACK, 0x20);
	tcp_listener_set_tos(h.listener, 0x40);
	host_advance(&h, 1100 * MS);
	expect_of_class(TCP_SYN | TCP_ACK, 0x40);
	hear(TCP_ACK, 1 << 30, 0);
	expect_of_class(TCP_ACK, 0x40);
	hear(TCP_SYN, 1, 0);
	syn_ack = expect_of_class(TCP_SYN | TCP_ACK, 0x40);
	begins_with_class(&syn_ack, 0x40);
}

static void test_cookies_have_the_class(void **state)
{
	const struct tcp_stack_config cfg = {.syn_cookies = TCP_COOKIES_ALWAYS};
	struct tcp_segment syn_ack;

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 8);
	tcp_listener_set_tos(h.listener, 0x20);
	hear(TCP_SYN, 1, 0);
	syn_ack = expect_of_class(TCP_SYN | TCP_ACK, 0x20);
	begins_with_class(&syn_ack, 0x20);
}

static void test_resets_have_the_class(void **state)
{
	start();
	tcp_listener_set_tos(h.listener, 0x20);
	hear(TCP_SYN, 1, 0);
	expect_of_class(TCP_SYN | TCP_ACK, 0x20);
	llp_unlisten(h.llp, h.listener);
	h.listener = NULL;
	expect_of_class(TCP_RST | TCP_ACK, 0x20);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busiest_peer_gives_way),
		cmocka_unit_test(test_peer_is_bounded_over_listeners),
		cmocka_unit_test(test_busy_peer_gets_cookies),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_answers_end),
		cmocka_unit_test(test_listener_gives_its_class),
		cmocka_unit_test(test_cookies_have_the_class),
		cmocka_unit_test(test_resets_have_the_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
