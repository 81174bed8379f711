/* SPDX-License-Identifier: BSD-2-Clause */
/* Strangers and peers that want us to send, to wait or to remember more than we should. */
#include "host.h"

#include "tcp/buffer.h"
#include "tcp/input.h"

#include <rte_mbuf.h>

static struct host h, other;
static struct peer p;
static struct tcp_conn *c;
static struct heard a;

static unsigned drain(struct host *x)
{
	unsigned n = ip_double_pending(&x->ip);

	ip_double_drain(&x->ip);
	return n;
}

/* ---- two of ours, and a forger between that set them against each other ---------------------- */

/** Carry what both have sent to the other. @return how many segments. */
static unsigned exchange(void)
{
	struct host *from[] = {&h, &other}, *to[] = {&other, &h};
	unsigned n = 0;

	for (int i = 0; i < 2; i++) {
		unsigned pending = ip_double_pending(&from[i]->ip);

		n += pending;
		while (pending--) {
			struct ip_addr src, dst;
			struct rte_mbuf *m = ip_double_take_from(&from[i]->ip, &src, &dst);
			struct rte_mbuf *copy = rte_pktmbuf_copy(m, to[i]->pool, 0, UINT32_MAX);

			assert_non_null(copy);
			rte_pktmbuf_free(m);
			ip_double_deliver(&to[i]->ip, &src, &dst, copy, to[i]->now);
		}
		host_round(to[i]);
	}
	return n;
}

static unsigned run_both(uint64_t ns)
{
	unsigned n = 0;

	for (uint64_t t = 0; t < ns; t += 10 * MS) {
		n += exchange();
		host_advance(&h, 10 * MS);
		host_advance(&other, 10 * MS);
	}
	return n;
}

static void two_of_ours(void)
{
	const struct ip_endpoint any = {addr("::"), RPORT};
	struct llp_listener *l;

	host_init(&h, LOCAL, NULL);
	host_init(&other, REMOTE, NULL);
	host_listen(&other, 8);
	llp_unlisten(other.llp, other.listener);
	assert_int_equal(llp_listen(other.llp, &any, 8, host_accept, &other.app, &l), 0);
	c = tcp_conn_of(host_connect(&h));
	run_both(100 * MS);
	assert_int_equal(h.app.connected, 1);
	assert_int_equal(other.app.connected, 1);
}

static void end_both(void)
{
	host_end(&h);
	host_end(&other);
}

/** RFC 5961 section 7: each finds the other's ACK wrong; the answers must not go on for ever. */
static void test_ack_loop_is_bounded(void **state)
{
	struct tcp_conn *d;

	two_of_ours();
	d = tcp_conn_of(other.app.llp);
	/* Text that nobody sent was put into both (they believe to have seen it). */
	c->rcv_nxt += 10000;
	c->rcv_adv += 10000;
	d->rcv_nxt += 20000;
	d->rcv_adv += 20000;
	tcp_segment_arrives(c, NULL,
		&(struct tcp_segment){.seq = c->rcv_nxt - 1,
			.ack = c->snd_una,
			.flags = TCP_ACK,
			.has = TCP_HAS_TS,
			.tsval = c->ts_recent},
		NULL);
	/* Ten in 5 s from each. */
	assert_in_range(run_both(20000 * MS), 2, 2 * 10 * 5);
	end_both();
}

static void test_paws_loop_is_bounded(void **state)
{
	two_of_ours();
	c->ts_recent += 1 << 30;
	tcp_conn_of(other.app.llp)->ts_recent += 1 << 30;
	app_send(&h.app, "x", 1);
	/* The text itself is sent again by its timer. */
	assert_in_range(run_both(20000 * MS), 2, 2 * 10 * 5 + 40);
	end_both();
}

/* ---- windows ------------------------------------------------------------------------------- */

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

static void test_flapping_window_starts_no_storm(void **state)
{
	unsigned out = 0;

	start(NULL);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	app_send_pattern(&h.app, 0, 1460);
	for (unsigned i = 0; i < 10000; i++) {
		p.wnd = i & 1 ? 0 : 100; /* never room for the record */
		peer_send(&p, 0, NULL, 0);
	}
	assert_int_equal(drain(&h), 0);
	for (int i = 0; i < 60; i++) { /* nor when time passes between */
		p.wnd = i & 1 ? 0 : 100;
		peer_send(&p, 0, NULL, 0);
		host_advance(&h, 100 * MS);
		out += drain(&h);
	}
	assert_in_range(out, 0, 32); /* at most a probe per RTO */
	host_end(&h);
}

static void test_tiny_windows_get_no_tiny_segments(void **state)
{
	unsigned out = 0;

	start(NULL);
	p.wnd = 0;
	peer_send(&p, 0, NULL, 0);
	/* As much as may wait for a closed window. */
	for (unsigned i = 0; i < TCP_SEND_BUFFER_CLOSED; i++)
		app_send_pattern(&h.app, 0, 1460);
	for (uint16_t w = 1; w < 1000; w++) {
		p.wnd = w;
		peer_send(&p, 0, NULL, 0);
		out += drain(&h);
	}
	assert_int_equal(out, 0);
	host_end(&h);
}

/* ---- ACKs ---------------------------------------------------------------------------------- */

/** Savage et al., "TCP Congestion Control with a Misbehaving Receiver": division. */
static void test_divided_ack_counts_bytes(void **state)
{
	uint32_t cwnd;

	start(NULL);
	for (int i = 0; i < 20; i++)
		app_send_pattern(&h.app, 0, 1460);
	cwnd = c->cc.cwnd;
	for (int i = 0; i < 1460; i++) {
		p.ack++;
		peer_send(&p, 0, NULL, 0);
	}
	assert_in_range(c->cc.cwnd, cwnd, cwnd + 1460);
	host_end(&h);
}

/** ACKs of what was never sent move nothing, and get ten answers. */
static void test_ack_of_the_future_moves_nothing(void **state)
{
	uint32_t cwnd, una;

	start(NULL);
	for (int i = 0; i < 20; i++)
		app_send_pattern(&h.app, 0, 1460);
	cwnd = c->cc.cwnd;
	una = c->snd_una;
	drain(&h);
	for (uint32_t i = 1; i < 1000; i++)
		peer_send_at(&p, TCP_ACK, p.seq, c->snd_max + i * 1460, NULL, 0);
	assert_int_equal(c->snd_una, una);
	assert_int_equal(c->cc.cwnd, cwnd);
	assert_in_range(drain(&h), 1, 10);
	host_end(&h);
}

/* ---- strangers ----------------------------------------------------------------------------- */

static void hear_from(uint16_t rport, uint16_t lport, struct tcp_segment s, uint32_t len)
{
	const struct ip_addr src = addr(REMOTE), dst = addr(LOCAL);
	struct rte_mbuf *m = rte_pktmbuf_alloc(h.pool);
	unsigned hlen;

	assert_non_null(m);
	s.sport = rport;
	s.dport = lport;
	hlen = tcp_wire_emit(&s, rte_pktmbuf_mtod(m, uint8_t *));
	memset(rte_pktmbuf_append(m, (uint16_t)(hlen + len)) + hlen, 0, len);
	ip_double_deliver(&h.ip, &src, &dst, m, h.now);
}

/** Never more than one answer, and none larger than the question but for our MSS on a SYN,ACK. */
static void test_no_amplification(void **state)
{
	host_init(&h, LOCAL, NULL);
	host_listen(&h, 4);
	for (unsigned flags = 0; flags < 256; flags++) {
		for (unsigned k = 0; k < 4; k++) {
			const struct tcp_segment s = {.seq = flags * 77,
				.ack = 12345,
				.flags = (uint8_t)flags,
				.has = k & 1 ? TCP_HAS_TS | TCP_HAS_SACK_PERMITTED : 0};
			struct rte_mbuf *m;

			hear_from((uint16_t)(1000 + flags * 4 + k), k & 2 ? PORT : 7, s, flags & 7);
			host_round(&h);
			m = ip_double_take(&h.ip);
			if (m)
				assert_true(m->pkt_len <= tcp_wire_len(&s) + (flags & 7) + 4);
			rte_pktmbuf_free(m);
			host_expect_none(&h);
		}
	}
	host_end(&h);
}

#define MANY 300

/** As many connections from one peer. @return what we send next on each. */
static uint32_t *many_connections(void)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	static uint32_t seq[MANY];

	host_init(&h, LOCAL, NULL);
	host_listen(&h, MANY);
	for (uint16_t i = 0; i < MANY; i++) {
		struct tcp_segment ack = {.seq = 1001, .flags = TCP_ACK, .wnd = 5000};

		hear_from((uint16_t)(2000 + i), PORT, syn, 0);
		host_expect(&h, &a);
		ack.ack = seq[i] = a.h.seq + 1;
		hear_from((uint16_t)(2000 + i), PORT, ack, 0);
	}
	host_round(&h);
	drain(&h);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, MANY);
	return seq;
}

/** All challenges together are limited too, by a number that nobody can know. */
static void test_all_challenges_are_limited(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	unsigned sent[2];

	many_connections();
	for (int k = 0; k < 2; k++) {
		host_advance(&h, 6000 * MS);
		for (uint16_t i = 0; i < MANY; i++)
			for (int n = 0; n < 10; n++)
				hear_from((uint16_t)(2000 + i), PORT, syn, 0);
		host_round(&h);
		sent[k] = drain(&h);
		assert_in_range(sent[k], 500, 1500);
	}
	assert_int_not_equal(sent[0], sent[1]);
	host_end(&h);
}

/**
 * Keep-alives of all connections at a time are answered, all of them, also when a stranger has used
 * up what there is for challenges; those of one connection only at its own rate.
 */
static void test_all_probes_are_answered(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct tcp_segment probe = {.seq = 1000, .flags = TCP_ACK, .wnd = 5000};
	uint32_t *seq = many_connections();

	host_advance(&h, 6000 * MS);
	for (uint16_t i = 0; i < MANY; i++)
		for (int n = 0; n < 5; n++)
			hear_from((uint16_t)(2000 + i), PORT, syn, 0);
	host_round(&h);
	drain(&h);
	for (uint16_t i = 0; i < MANY; i++) {
		probe.ack = seq[i];
		hear_from((uint16_t)(2000 + i), PORT, probe, 0);
	}
	host_round(&h);
	assert_int_equal(drain(&h), MANY);
	host_advance(&h, 5000 * MS);
	for (int n = 0; n < 20; n++)
		hear_from((uint16_t)(2000 + MANY - 1), PORT, probe, 0);
	host_round(&h);
	assert_int_equal(drain(&h), 10);
	host_end(&h);
}

/* ---- what nobody uses any more --------------------------------------------------------------- */

static void test_orphans_are_limited(void **state)
{
	const struct tcp_stack_config cfg = {.max_orphans = 3};
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 8);
	for (uint16_t i = 0; i < 5; i++) {
		struct tcp_segment ack = {.seq = 1001, .flags = TCP_ACK, .wnd = 5000};

		hear_from((uint16_t)(2000 + i), PORT, syn, 0);
		host_expect(&h, &a);
		ack.ack = a.h.seq + 1;
		hear_from((uint16_t)(2000 + i), PORT, ack, 0);
		drain(&h);
		llp_release(h.app.llp); /* the peer never closes */
		host_expect(&h, &a);
		assert_true(a.h.flags & TCP_FIN);
		if (i >= 3) { /* the oldest goes, with a reset */
			host_expect(&h, &a);
			assert_true(a.h.flags & TCP_RST);
			assert_int_equal(a.h.dport, 2000 + i - 3);
		}
		host_expect_none(&h);
	}
	assert_int_equal(tcp_stack_stats(h.tcp)->orphans_recycled, 2);
	host_round(&h);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 3);
	host_end(&h);
}

/** Among them are those that have something to say yet; who is let go for others is told. */
static void test_orphans_with_a_user_are_limited(void **state)
{
	const struct tcp_stack_config cfg = {.max_orphans = 1};
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 0};

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 8);
	for (uint16_t i = 0; i < 3; i++) {
		struct tcp_segment ack = {.seq = 1001, .flags = TCP_ACK, .wnd = 0};

		hear_from((uint16_t)(2000 + i), PORT, syn, 0);
		host_expect(&h, &a);
		ack.ack = a.h.seq + 1;
		hear_from((uint16_t)(2000 + i), PORT, ack, 0);
		drain(&h);
		assert_int_equal(h.app.closed, i >= 1 ? i - 1 : 0);
		llp_orphan(h.app.llp);
		if (i >= 1) { /* the oldest goes, with a reset */
			host_expect(&h, &a);
			assert_true(a.h.flags & TCP_RST);
			assert_int_equal(a.h.dport, 2000 + i - 1);
			assert_int_equal(h.app.error, -ECONNABORTED);
		}
		assert_int_equal(h.app.closed, i);
		host_expect_none(&h);
	}
	assert_int_equal(tcp_stack_stats(h.tcp)->orphans_recycled, 2);
	host_round(&h);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_end(&h);
}

/** A full table takes a new connection in the place of an orphan. */
static void test_orphan_makes_room(void **state)
{
	const struct tcp_stack_config cfg = {.max_connections = 1};
	const struct llp_connect_params to = {.remote = {addr(REMOTE), 7}};
	struct llp *l;

	start(&cfg);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &l), -12);
	llp_release(h.app.llp);
	drain(&h);
	assert_int_equal(llp_connect(h.llp, &to, &app_ops, &h.app, &h.app.llp), 0);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ack_loop_is_bounded),
		cmocka_unit_test(test_paws_loop_is_bounded),
		cmocka_unit_test(test_flapping_window_starts_no_storm),
		cmocka_unit_test(test_tiny_windows_get_no_tiny_segments),
		cmocka_unit_test(test_divided_ack_counts_bytes),
		cmocka_unit_test(test_ack_of_the_future_moves_nothing),
		cmocka_unit_test(test_no_amplification),
		cmocka_unit_test(test_all_challenges_are_limited),
		cmocka_unit_test(test_all_probes_are_answered),
		cmocka_unit_test(test_orphans_are_limited),
		cmocka_unit_test(test_orphans_with_a_user_are_limited),
		cmocka_unit_test(test_orphan_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
