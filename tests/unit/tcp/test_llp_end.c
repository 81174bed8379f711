/* SPDX-License-Identifier: BSD-2-Clause */
/* A user that ends a connection, or leaves it. */
#include "host.h"
#include "tcp/timers.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS, cfg);
}

static void test_fin_rides_on_the_last_record(void **state)
{
	struct heard a;
	void *room;

	start(NULL);
	room = llp_reserve(h.app.llp, 3, false);
	memcpy(room, "abc", 3);
	llp_commit(h.app.llp, 3); /* not pushed */
	llp_shutdown(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.len, 3);
	assert_int_equal(a.h.flags, TCP_FIN | TCP_PSH | TCP_ACK);
	host_end(&h);
}

static void test_release_delivers(void **state)
{
	struct heard a;

	start(NULL);
	app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	llp_release(h.app.llp);
	host_advance(&h, 250 * MS); /* lost: sent again all the same */
	host_expect(&h, &a);
	p.ack = c->snd_nxt;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(c->state, TCP_TIME_WAIT);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(h.app.eof, 0);
	host_end(&h);
}

/** A connection that is not there yet cannot be left to itself. */
static void test_orphan_while_connecting(void **state)
{
	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	llp_orphan(h.app.llp);
	assert_false(tcp_conn_of(h.app.llp)->orphan);
	assert_int_equal(h.tcp->orphans.count, 0);
	llp_abort(h.app.llp);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** The peer's FIN is not waited for without an end. */
static void test_orphan_in_fin_wait_2(void **state)
{
	start(NULL);
	llp_shutdown(h.app.llp);
	p.ack++;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(c->state, TCP_FIN_WAIT_2);
	llp_orphan(h.app.llp);
	assert_int_equal(h.tcp->orphans.count, 1);
	host_advance(&h, TCP_ORPHAN_FIN_WAIT_2 - MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_advance(&h, 2 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 1);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_release_in_eof(void **state)
{
	start(NULL);
	h.app.release_on_eof = true;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(c->state, TCP_LAST_ACK);
	p.ack = c->snd_nxt;
	peer_send(&p, 0, NULL, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_abort(void **state)
{
	struct heard a;

	start(NULL);
	app_send(&h.app, "abc", 3);
	ip_double_drain(&h.ip);
	llp_abort(h.app.llp);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST | TCP_ACK);
	assert_int_equal(a.h.seq, p.ack + 3);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void fill_and_abort(void *user)
{
	(void)app_fill(&h.app, 1024);
	llp_abort(h.app.llp);
}

/** In a round's end, when it is due again in the next: it is there until then. */
static void test_abort_when_writable(void **state)
{
	const struct tcp_stack_config cfg = {.send_buffer = 16 * 1024};
	struct llp_user_ops ops = app_ops;
	struct heard a;

	start(&cfg);
	ops.writable = fill_and_abort;
	llp_set_user(h.app.llp, &ops, &h.app);
	(void)app_fill(&h.app, 1024);
	llp_push(h.app.llp);
	while (ip_double_pending(&h.ip)) {
		host_expect(&h, &a);
		p.ack += a.len;
	}
	peer_send(&p, 0, NULL, 0);
	assert_ptr_equal(h.tcp->dead, c);
	assert_ptr_equal(h.tcp->dirty, c);
	host_round(&h);
	assert_null(h.tcp->dead);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_give_up_connecting(void **state)
{
	host_init(&h, LOCAL, NULL);
	host_connect(&h);
	llp_shutdown(h.app.llp);
	assert_int_equal(h.app.closed, 0); /* never from inside the call */
	host_advance(&h, MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNABORTED);
	host_connect(&h);
	llp_abort(h.app.llp);
	host_connect(&h);
	llp_release(h.app.llp);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(h.app.closed, 1);
	host_end(&h);
}

/** The peer answers the SYN before the user is told that it gave up: it is told all the same. */
static void test_give_up_connecting_as_the_answer_comes(void **state)
{
	const struct tcp_stack_config cfg = {.keepalive_ms = 10000};
	struct tcp_segment syn = {.seq = 9, .flags = TCP_SYN | TCP_ACK, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, &cfg);
	host_connect(&h);
	host_expect(&h, &a);
	llp_shutdown(h.app.llp);
	assert_null(llp_reserve(h.app.llp, 10, false));
	syn.ack = a.h.seq + 1;
	host_hear(&h, a.h.sport, &syn, NULL);
	assert_null(llp_reserve(h.app.llp, 10, false));
	host_round(&h);
	host_advance(&h, MS);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNABORTED);
	host_expect(&h, &a);
	while (ip_double_pending(&h.ip))
		host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fin_rides_on_the_last_record),
		cmocka_unit_test(test_release_delivers),
		cmocka_unit_test(test_orphan_while_connecting),
		cmocka_unit_test(test_orphan_in_fin_wait_2),
		cmocka_unit_test(test_release_in_eof),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_abort_when_writable),
		cmocka_unit_test(test_give_up_connecting),
		cmocka_unit_test(test_give_up_connecting_as_the_answer_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
