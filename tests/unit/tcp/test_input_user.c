/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that arrives, and the user, which takes it, leaves it or goes. */
#include "host.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(void)
{
	c = host_accepted(&h, &p, 0, NULL);
}

static void test_user_takes_a_part(void **state)
{
	start();
	h.app.take = 2;
	peer_send(&p, 0, "abcde", 5);
	assert_int_equal(h.app.n_got, 2);
	assert_int_equal(c->recvq.bytes, 3);
	peer_send(&p, 0, "fg", 2); /* shown from its beginning */
	assert_int_equal(h.app.shown, 5);
	assert_int_equal(h.app.n_got, 4);
	h.app.take = SIZE_MAX;
	llp_resume(h.app.llp);
	assert_int_equal(h.app.n_got, 7);
	assert_memory_equal(h.app.got, "abcdefg", 7);
	assert_int_equal(c->recvq.bytes, 0);
	host_end(&h);
}

static unsigned resumes; /**< showings in which the user asks for more */

static size_t readable_resumed(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct app *a = user;

	if (a->shows < resumes)
		llp_resume(a->llp);
	return app_ops.readable(user, v, n, total, need);
}

/** Who asks for more while he is shown it gets the rest at once. */
static void test_resume_inside_readable(void **state)
{
	struct llp_user_ops ops = app_ops;

	ops.readable = readable_resumed;
	for (resumes = 1; resumes < 3; resumes++) {
		start();
		llp_set_user(h.app.llp, &ops, &h.app);
		h.app.take = 4 - resumes;
		peer_send(&p, 0, "abcde", 5);
		assert_int_equal(h.app.shows, resumes + 1);
		assert_int_equal(h.app.n_got, 5);
		assert_memory_equal(h.app.got, "abcde", 5);
		host_end(&h);
	}
}

/** Who ends it in the text does not hear of the FIN behind. */
static void test_user_ends_it_before_a_fin(void **state)
{
	start();
	h.app.abort_in_readable = true;
	peer_send(&p, TCP_FIN, "abc", 3);
	assert_int_equal(h.app.shows, 1);
	assert_int_equal(h.app.eof, 0);
	assert_int_equal(h.tcp->stats.connections, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** Who lets go when the gap is filled does not get what lay behind it. */
static void test_user_lets_go_before_what_lay_behind_a_gap(void **state)
{
	c = host_accepted(&h, &p, TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED, NULL);
	peer_send_at(&p, TCP_ACK, p.seq + 3, p.ack, "def", 3);
	h.app.release_in_readable = true;
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.app.shows, 1);
	assert_int_equal(c->rcv_nxt, p.seq + 3);
	assert_int_equal(h.tcp->rx_held, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_need(void **state)
{
	start();
	h.app.take = 0;
	h.app.need = 10;
	peer_send(&p, 0, "abcde", 5);
	assert_int_equal(h.app.shows, 1);
	peer_send(&p, 0, "fghi", 4);
	assert_int_equal(h.app.shows, 1); /* nine: not enough */
	h.app.take = SIZE_MAX;
	h.app.need = 0;
	peer_send(&p, 0, "j", 1);
	assert_int_equal(h.app.shows, 2);
	assert_int_equal(h.app.shown, 10);
	assert_memory_equal(h.app.got, "abcdefghij", 10);
	host_end(&h);
}

static void test_need_is_forgotten_at_fin(void **state)
{
	start();
	h.app.take = 0;
	h.app.need = 10;
	peer_send(&p, 0, "abc", 3);
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.shows, 2);
	assert_int_equal(h.app.eof, 1);
	host_end(&h);
}

static void test_single_bytes_do_not_pin_the_pool(void **state)
{
	start();
	h.app.take = 0;
	h.app.need = 5000;
	for (int i = 0; i < 4000; i++) {
		peer_send(&p, 0, "x", 1);
		ip_double_drain(&h.ip);
	}
	assert_true(test_pool_missing(h.pool) <= 3);
	assert_int_equal(c->recvq.bytes, 4000);
	host_end(&h);
}

static void test_single_bytes_out_of_order_are_bounded(void **state)
{
	start();
	for (uint32_t i = 0; i < 20000; i++) {
		peer_send_at(&p, TCP_ACK, p.seq + 1 + 2 * i, p.ack, "x", 1);
		ip_double_drain(&h.ip);
	}
	assert_true(test_pool_missing(h.pool) <= 1024);
	host_end(&h);
}

static void test_unread_text_of_others_stops_nobody_who_reads(void **state)
{
	start();
	h.tcp->rx_hard_limit = 0; /* others have filled it */
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.app.n_got, 3);
	h.app.take = 0;
	peer_send(&p, 0, "def", 3);
	assert_int_equal(c->recvq.bytes, 3);
	peer_send(&p, 0, "ghi", 3);
	assert_int_equal(c->recvq.bytes, 3); /* but a user that does not read gets no more */
	assert_int_equal(c->rcv_nxt, p.seq - 3);
	host_end(&h);
}

static void test_abort_inside_readable(void **state)
{
	struct heard a;

	start();
	h.app.abort_in_readable = true;
	peer_send(&p, 0, "abc", 3);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_release_inside_readable(void **state)
{
	start();
	h.app.take = 0;
	peer_send(&p, 0, "abc", 3);
	h.app.release_in_readable = true;
	peer_send(&p, TCP_FIN, "def", 3);
	assert_int_equal(h.app.eof, 0);
	assert_int_equal(h.app.closed, 0);
	assert_int_equal(c->state, TCP_CLOSING);
	host_end(&h);
}

static void test_orphan_drops_what_comes(void **state)
{
	struct heard a;

	start();
	llp_release(h.app.llp);
	ip_double_drain(&h.ip);
	peer_send(&p, 0, "abc", 3);
	assert_int_equal(h.app.shows, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->text_unwanted, 1);
	host_expect(&h, &a);
	assert_int_equal(a.h.ack, p.seq);
	host_expect_none(&h);
	host_end(&h);
}

/** Of one whose user waits for room, too, and what it has left unread is given back. */
static void test_orphan_with_a_user_drops_what_comes(void **state)
{
	struct heard a;
	unsigned shows;

	start();
	h.app.need = 100;
	peer_send(&p, 0, "abc", 3);
	shows = h.app.shows;
	llp_orphan(h.app.llp);
	assert_int_equal(tcp_stack_stats(h.tcp)->text_unwanted, 0);
	ip_double_drain(&h.ip);
	peer_send(&p, 0, "def", 3);
	assert_int_equal(h.app.shows, shows);
	assert_int_equal(tcp_stack_stats(h.tcp)->text_unwanted, 1);
	host_expect(&h, &a);
	assert_int_equal(a.h.ack, p.seq);
	host_expect_none(&h);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_takes_a_part),
		cmocka_unit_test(test_resume_inside_readable),
		cmocka_unit_test(test_user_ends_it_before_a_fin),
		cmocka_unit_test(test_user_lets_go_before_what_lay_behind_a_gap),
		cmocka_unit_test(test_need),
		cmocka_unit_test(test_need_is_forgotten_at_fin),
		cmocka_unit_test(test_single_bytes_do_not_pin_the_pool),
		cmocka_unit_test(test_single_bytes_out_of_order_are_bounded),
		cmocka_unit_test(test_unread_text_of_others_stops_nobody_who_reads),
		cmocka_unit_test(test_abort_inside_readable),
		cmocka_unit_test(test_release_inside_readable),
		cmocka_unit_test(test_orphan_drops_what_comes),
		cmocka_unit_test(test_orphan_with_a_user_drops_what_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
