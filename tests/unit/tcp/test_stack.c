/* SPDX-License-Identifier: BSD-2-Clause */
/* Two whole stacks back to back, in virtual time, over a link that loses, delays and reorders. */
#include "host.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>

struct link {
	uint32_t seed;
	unsigned loss;      /**< per thousand */
	unsigned reorder;   /**< per thousand: delayed by another delay */
	unsigned duplicate; /**< per thousand */
	uint64_t delay;
	bool share; /**< hand over the sender's own mbufs, as loopback does */
};

struct flying {
	struct rte_mbuf *m;
	struct ip_addr src, dst;
	uint64_t at;
	struct host *to;
};

#define FLYING_MAX 8192

struct net {
	struct host *h[2];
	struct link link;
	struct flying fly[FLYING_MAX];
	unsigned n;
	uint64_t now;
};

static uint32_t roll(struct net *n)
{
	n->link.seed = n->link.seed * 1664525 + 1013904223;
	return (n->link.seed >> 8) % 1000;
}

static void launch(struct net *n, struct host *to, struct rte_mbuf *m, const struct ip_addr *src,
	const struct ip_addr *dst)
{
	uint64_t at = n->now + n->link.delay;

	if (roll(n) < n->link.reorder)
		at += n->link.delay;
	assert_true(n->n < FLYING_MAX);
	n->fly[n->n++] = (struct flying){m, *src, *dst, at, to};
}

static struct rte_mbuf *copy(struct net *n, struct host *to, struct rte_mbuf *m)
{
	struct rte_mbuf *c = rte_pktmbuf_copy(m, to->pool, 0, UINT32_MAX);

	assert_non_null(c);
	return c;
}

static void collect(struct net *n)
{
	for (unsigned i = 0; i < 2; i++) {
		struct host *to = n->h[!i];
		struct ip_addr src, dst;
		struct rte_mbuf *m;

		while ((m = ip_double_take_from(&n->h[i]->ip, &src, &dst))) {
			if (roll(n) >= n->link.loss)
				launch(n, to, n->link.share ? m : copy(n, to, m), &src, &dst);
			else if (n->link.share)
				rte_pktmbuf_free(m);
			if (!n->link.share && roll(n) < n->link.duplicate)
				launch(n, to, copy(n, to, m), &src, &dst);
			if (!n->link.share)
				rte_pktmbuf_free(m);
		}
	}
}

static void deliver(struct net *n)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n->n; i++) {
		struct flying *f = &n->fly[i];

		if (f->at > n->now)
			n->fly[k++] = *f;
		else
			ip_double_deliver(&f->to->ip, &f->src, &f->dst, f->m, n->now);
	}
	n->n = k;
}

/** One event further. @return false when nothing is left to happen. */
static bool step(struct net *n)
{
	uint64_t next = TIMER_NEVER;

	collect(n);
	for (unsigned i = 0; i < n->n; i++)
		next = n->fly[i].at < next ? n->fly[i].at : next;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t t = timer_wheel_next(&n->h[i]->wheel);

		next = t < next ? t : next;
	}
	if (next == TIMER_NEVER)
		return false;
	if (next > n->now)
		n->now = next;
	for (unsigned i = 0; i < 2; i++)
		tcp_set_now(n->h[i]->tcp, n->now);
	deliver(n);
	for (unsigned i = 0; i < 2; i++) {
		timer_wheel_run(&n->h[i]->wheel, n->now);
		tcp_round_end(n->h[i]->tcp);
	}
	return true;
}

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 2654435761u >> 13);
}

struct writer {
	size_t sent, total;
	uint32_t seed;
};

/** Fill the send buffer with records of random sizes. */
static void write_on(struct writer *w, struct llp *l)
{
	while (w->sent < w->total) {
		uint32_t len, most = llp_emss(l);
		uint8_t *room;

		w->seed = w->seed * 1664525 + 1013904223;
		len = w->seed & 0x10000 ? most : 1 + (w->seed >> 8) % most;
		if (len > w->total - w->sent)
			len = (uint32_t)(w->total - w->sent);
		room = llp_reserve(l, len, (w->seed & 0x20000) != 0);
		if (!room)
			break;
		for (uint32_t i = 0; i < len; i++)
			room[i] = pattern(w->sent + i);
		llp_commit(l, len);
		w->sent += len;
	}
	llp_push(l);
}

static void check_bytes(const struct app *a, size_t total)
{
	assert_int_equal(a->n_got, total);
	for (size_t i = 0; i < total; i++)
		if (a->got[i] != pattern(i))
			fail_msg("byte %zu is wrong", i);
}

/** Connect b to a, send @p total bytes from b to a, close both ends. */
static void transfer(const struct link *link, size_t total, const struct tcp_stack_config *cfg)
{
	static struct host a, b;
	static struct net n;
	const struct llp_connect_params p = {.remote = {addr(LOCAL), PORT}};
	struct writer w = {.total = total, .seed = link->seed};
	struct tcp_info info;
	unsigned steps = 0;

	host_init(&a, LOCAL, cfg);
	host_init(&b, REMOTE, cfg);
	n = (struct net){.h = {&a, &b}, .link = *link, .now = a.now};
	a.app.shutdown_on_eof = true;
	host_listen(&a, 8);
	assert_int_equal(llp_connect(b.llp, &p, &app_ops, &b.app, &b.app.llp), 0);
	while (!b.app.connected)
		assert_true(step(&n));
	while (w.sent < total || llp_unacked(b.app.llp)) {
		write_on(&w, b.app.llp);
		assert_true(step(&n));
		assert_true(++steps < 10 * 1000 * 1000);
	}
	tcp_get_info(b.app.llp, &info);
	if (link->loss)
		assert_true(info.retransmits > 0);
	else if (!link->reorder)
		assert_int_equal(info.retransmits, 0);
	llp_shutdown(b.app.llp);
	while (!b.app.closed || !a.app.closed)
		assert_true(step(&n));
	assert_int_equal(b.app.error, 0);
	assert_int_equal(a.app.error, 0);
	assert_int_equal(a.app.eof, 1);
	assert_int_equal(b.app.eof, 1);
	check_bytes(&a.app, total);
	while (step(&n))
		;
	assert_int_equal(tcp_stack_stats(a.tcp)->connections, 0);
	assert_int_equal(tcp_stack_stats(b.tcp)->connections, 0);
	/* The shares of the pool are given back to the last packet. */
	assert_int_equal(a.tcp->tx_held + a.tcp->rx_held, 0);
	assert_int_equal(b.tcp->tx_held + b.tcp->rx_held, 0);
	tcp_stack_destroy(a.tcp);
	tcp_stack_destroy(b.tcp);
	assert_int_equal(test_pool_missing(a.pool), 0);
	assert_int_equal(test_pool_missing(b.pool), 0);
	free(a.app.got);
	free(b.app.got);
	rte_mempool_free(a.pool);
	rte_mempool_free(b.pool);
}

static void test_clean_transfer(void **state)
{
	transfer(&(struct link){.seed = 1, .delay = 20000}, 4 << 20, NULL);
}

static void test_shared_packets(void **state)
{
	transfer(&(struct link){.seed = 2, .delay = 20000, .share = true}, 4 << 20, NULL);
}

static void test_loss_with_sack(void **state)
{
	for (uint32_t seed = 1; seed <= 5; seed++)
		transfer(&(struct link){.seed = seed, .delay = MS, .loss = 20}, 1 << 20, NULL);
}

static void test_loss_without_options(void **state)
{
	const struct tcp_stack_config cfg = {
		.no_sack = true, .no_timestamps = true, .no_window_scale = true};

	for (uint32_t seed = 1; seed <= 5; seed++)
		transfer(&(struct link){.seed = seed, .delay = MS, .loss = 20}, 1 << 20, &cfg);
}

static void test_loss_reorder_duplicate(void **state)
{
	const struct link l = {.seed = 9, .delay = MS, .loss = 30, .reorder = 100, .duplicate = 50};

	transfer(&l, 1 << 20, NULL);
}

static void test_shared_packets_with_loss(void **state)
{
	transfer(&(struct link){.seed = 3, .delay = MS, .loss = 30, .share = true}, 1 << 20, NULL);
}

static void test_cubic(void **state)
{
	const struct tcp_stack_config cfg = {.congestion_control = "cubic"};

	transfer(&(struct link){.seed = 4, .delay = 5 * MS, .loss = 5}, 4 << 20, &cfg);
}

static void test_unknown_congestion_control(void **state)
{
	const struct tcp_stack_config cfg = {.congestion_control = "reno2"};
	struct tcp_stack *s;

	assert_int_equal(tcp_stack_create(&cfg, 0, &s), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_congestion_control),
		cmocka_unit_test(test_clean_transfer),
		cmocka_unit_test(test_shared_packets),
		cmocka_unit_test(test_loss_with_sack),
		cmocka_unit_test(test_loss_without_options),
		cmocka_unit_test(test_loss_reorder_duplicate),
		cmocka_unit_test(test_shared_packets_with_loss),
		cmocka_unit_test(test_cubic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
