/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a stream behind text that the user has left. */
#include "host.h"
#include "tcp/unread.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

/** The user reads nothing of so many segments that no one call can list them. */
static void leave_many_unread(unsigned segments)
{
	const struct tcp_stack_config cfg = {.receive_buffer = 1 << 20};
	uint8_t text[1460] = {0};

	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_WSCALE, &cfg);
	h.app.take = 0;
	for (unsigned i = 0; i < segments; i++)
		peer_send(&p, 0, text, sizeof text);
	assert_int_equal(c->recvq.bytes, segments * sizeof text);
	assert_true(h.app.shown < c->recvq.bytes);
	ip_double_drain(&h.ip);
}

static void test_eof_follows_all_that_was_unread(void **state)
{
	leave_many_unread(300);
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.eof, 0);
	h.app.take = 128 * 1460; /* all of one call */
	llp_resume(h.app.llp);
	assert_int_equal(h.app.n_got, 300 * 1460);
	assert_int_equal(h.app.eof, 1);
	host_end(&h);
}

/** Nothing more comes that would show the rest to a user that wants so much of it at a time. */
static void test_all_that_was_unread_is_shown(void **state)
{
	leave_many_unread(300);
	h.app.take = 100 * 1460;
	h.app.need = 28 * 1460 + 1;
	llp_resume(h.app.llp);
	assert_int_equal(h.app.n_got, 300 * 1460);
	host_end(&h);
}

/** Less than the user needs is there, and no more will come: it is told that this is the end. */
static void test_eof_in_the_midst_of_what_was_unread(void **state)
{
	leave_many_unread(300);
	h.app.take = 0;
	h.app.need = 301 * 1460;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.eof, 0);
	h.app.take = 50 * 1460;
	llp_resume(h.app.llp);
	assert_int_equal(h.app.eof, 1);
	host_end(&h);
}

/** It stands behind more than one call lists: the user may want to know. */
static void test_eof_waits_behind_what_is_unread(void **state)
{
	leave_many_unread(300);
	assert_int_equal(h.app.eof_waits, 0);
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.eof_waits, 1);
	h.app.take = 100 * 1460;
	llp_resume(h.app.llp);
	assert_int_equal(h.app.n_got, 100 * 1460);
	assert_int_equal(h.app.eof_waits, 2);
	assert_int_equal(h.app.eof, 0);
	h.app.take = SIZE_MAX;
	llp_resume(h.app.llp);
	assert_int_equal(h.app.n_got, 300 * 1460);
	assert_int_equal(h.app.eof, 1);
	assert_int_equal(h.app.eof_waits, 2);
	host_end(&h);
}

/** What is shown at once stands before no end that waits. */
static void test_eof_does_not_wait_behind_what_is_shown(void **state)
{
	leave_many_unread(129); /* one more than is shown */
	h.app.take = 1460;
	llp_resume(h.app.llp);
	h.app.take = 0;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.eof_waits, 0);
	assert_int_equal(h.app.eof, 1);
	host_end(&h);
}

static void test_reset_behind_what_is_unread(void **state)
{
	leave_many_unread(300);
	peer_send(&p, TCP_FIN, NULL, 0);
	peer_send_at(&p, TCP_RST, p.seq, p.ack, NULL, 0);
	assert_int_equal(h.app.eof_waits, 1);
	assert_int_equal(h.app.eof, 0);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ECONNRESET);
	host_end(&h);
}

static void test_abort_when_eof_waits(void **state)
{
	leave_many_unread(300);
	h.app.abort_on_eof_waits = true;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.eof_waits, 1);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

/* ---- both directions have ended before all was read ----------------------------------------- */

/** Where our FIN and its ACK are when the peer's FIN comes. */
enum close_order { FIN_WAIT_2, CLOSING, LAST_ACK };

/** The user has left "abc", as it needs so much, and both FINs have been sent and acknowledged. */
static void close_behind_unread(enum close_order order, size_t need)
{
	c = host_accepted(&h, &p, 0, NULL);
	h.app.take = 0;
	h.app.need = need;
	peer_send(&p, 0, "abc", 3);
	if (order == LAST_ACK)
		peer_send(&p, TCP_FIN, NULL, 0);
	llp_shutdown(h.app.llp);
	if (order == CLOSING)
		peer_send(&p, TCP_FIN, NULL, 0);
	p.ack = c->snd_nxt;
	if (order == FIN_WAIT_2)
		peer_send(&p, TCP_FIN, NULL, 0);
	else
		peer_send(&p, 0, NULL, 0);
	assert_int_equal(h.app.eof, 1);
	ip_double_drain(&h.ip);
}

static void check_closed_behind_what_was_read(void)
{
	assert_int_equal(h.app.n_got, 3);
	assert_memory_equal(h.app.got, "abc", 3);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, 0);
	assert_int_equal(h.app.eof, 1);
	assert_int_equal(h.tcp->rx_held, 0);
}

/** Nothing is left of the connection when TIME-WAIT is over. */
static void check_time_wait_runs(void)
{
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_advance(&h, 60001 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

/** TIME-WAIT is for who has closed first (RFC 9293 section 3.10.7.4): LAST-ACK, then CLOSED. */
static void check_is_over(enum close_order order)
{
	if (order != LAST_ACK) {
		check_time_wait_runs();
		return;
	}
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

/** However long the user takes, it is told of the end when it has read what was before. */
static void test_closed_follows_all_that_was_unread(void **state)
{
	for (enum close_order order = FIN_WAIT_2; order <= LAST_ACK; order++) {
		close_behind_unread(order, 0);
		assert_int_equal(h.app.closed, 0);
		host_advance(&h, 600 * 1000 * MS);
		host_expect_none(&h);
		assert_int_equal(h.app.closed, 0);
		h.app.take = 2;
		llp_resume(h.app.llp);
		assert_int_equal(h.app.closed, 0);
		llp_resume(h.app.llp);
		check_closed_behind_what_was_read();
		host_expect_none(&h); /* there is no window to tell of */
		check_is_over(order);
	}
}

static void test_closed_follows_what_one_call_cannot_list(void **state)
{
	leave_many_unread(300);
	llp_shutdown(h.app.llp);
	p.ack = c->snd_nxt;
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.eof_waits, 1);
	assert_int_equal(h.app.closed, 0);
	h.app.take = SIZE_MAX;
	llp_resume(h.app.llp);
	assert_int_equal(h.app.n_got, 300 * 1460);
	assert_int_equal(h.app.eof, 1);
	assert_int_equal(h.app.closed, 1);
	check_time_wait_runs();
}

/** Of half an FPDU the user waits for the rest, which will not come. */
static void test_closed_does_not_wait_for_what_is_of_no_use(void **state)
{
	for (enum close_order order = FIN_WAIT_2; order <= LAST_ACK; order++) {
		close_behind_unread(order, 4);
		assert_int_equal(h.app.closed, 1);
		assert_int_equal(h.app.error, 0);
		assert_int_equal(h.tcp->rx_held, 0);
		host_end(&h);
	}
}

/** What the peer still sends is answered, and ends nothing. */
static void check_unread_outlives_the_peer(enum close_order order)
{
	struct heard a;

	close_behind_unread(order, 3);
	peer_send_at(&p, TCP_RST, p.seq, p.ack, NULL, 0);
	peer_send_at(&p, TCP_FIN | TCP_ACK, p.seq - 1, p.ack, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.ack, p.seq);
	peer_send_at(&p, TCP_SYN, p.seq + 1000, 0, NULL, 0); /* for another connection */
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_ACK);
	assert_int_equal(h.app.accepted, 1);
	host_advance(&h, 61000 * MS);
	assert_int_equal(h.app.closed, 0);
	h.app.take = SIZE_MAX;
	llp_resume(h.app.llp);
	check_closed_behind_what_was_read();
	peer_send_at(&p, TCP_SYN, p.seq + 1000, 0, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	host_end(&h);
}

static void test_what_is_unread_outlives_the_peer(void **state)
{
	for (enum close_order order = FIN_WAIT_2; order <= LAST_ACK; order++)
		check_unread_outlives_the_peer(order);
}

/** A user that does not want it lets go, or aborts: the first may leave TIME-WAIT behind. */
static void test_user_lets_go_of_what_is_unread(void **state)
{
	static void (*const let_go[])(struct llp *) = {llp_release, llp_orphan};

	for (unsigned i = 0; i < 2; i++)
		for (enum close_order order = FIN_WAIT_2; order <= LAST_ACK; order++) {
			close_behind_unread(order, 3);
			let_go[i](h.app.llp);
			host_round(&h);
			assert_int_equal(h.tcp->rx_held, 0);
			host_expect_none(&h);
			check_is_over(order);
		}
	close_behind_unread(FIN_WAIT_2, 3);
	llp_abort(h.app.llp);
	host_round(&h);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(h.tcp->rx_held, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

static void test_user_lets_go_inside_readable_of_what_is_unread(void **state)
{
	for (enum close_order order = FIN_WAIT_2; order <= LAST_ACK; order++) {
		close_behind_unread(order, 3);
		h.app.release_in_readable = true;
		llp_resume(h.app.llp);
		host_round(&h);
		assert_int_equal(h.app.closed, 0);
		assert_int_equal(h.tcp->rx_held, 0);
		check_is_over(order);
	}
	close_behind_unread(FIN_WAIT_2, 3);
	h.app.abort_in_readable = true;
	llp_resume(h.app.llp);
	host_round(&h);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

/** It counts as all that is unread: others may want the memory. */
static void test_what_is_unread_gives_way_to_others(void **state)
{
	close_behind_unread(FIN_WAIT_2, 3);
	host_advance(&h, 2000 * MS);
	tcp_unread_want(h.tcp, 0);
	host_round(&h);
	assert_int_equal(h.app.closed, 1);
	assert_int_equal(h.app.error, -ETIMEDOUT);
	assert_int_equal(h.tcp->rx_held, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eof_follows_all_that_was_unread),
		cmocka_unit_test(test_all_that_was_unread_is_shown),
		cmocka_unit_test(test_eof_in_the_midst_of_what_was_unread),
		cmocka_unit_test(test_eof_waits_behind_what_is_unread),
		cmocka_unit_test(test_eof_does_not_wait_behind_what_is_shown),
		cmocka_unit_test(test_reset_behind_what_is_unread),
		cmocka_unit_test(test_abort_when_eof_waits),
		cmocka_unit_test(test_closed_follows_all_that_was_unread),
		cmocka_unit_test(test_closed_follows_what_one_call_cannot_list),
		cmocka_unit_test(test_closed_does_not_wait_for_what_is_of_no_use),
		cmocka_unit_test(test_what_is_unread_outlives_the_peer),
		cmocka_unit_test(test_user_lets_go_of_what_is_unread),
		cmocka_unit_test(test_user_lets_go_inside_readable_of_what_is_unread),
		cmocka_unit_test(test_what_is_unread_gives_way_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
