/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that arrives, and the user, which takes it, leaves it or goes. */
#include "host.h"
#include "tcp/unread.h"

#include <errno.h>

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start_with(unsigned options, const struct tcp_stack_config *cfg)
{
	c = host_accepted(&h, &p, options, cfg);
}

static void start(unsigned options)
{
	start_with(options, NULL);
}

static void test_user_takes_a_part(void **state)
{
	start(0);
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
		start(0);
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
	start(0);
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
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
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
	start(0);
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
	start(0);
	h.app.take = 0;
	h.app.need = 10;
	peer_send(&p, 0, "abc", 3);
	peer_send(&p, TCP_FIN, NULL, 0);
	assert_int_equal(h.app.shows, 2);
	assert_int_equal(h.app.eof, 1);
	host_end(&h);
}

/** The user reads nothing of so many segments that no one call can list them. */
static void leave_many_unread(unsigned segments)
{
	const struct tcp_stack_config cfg = {.receive_buffer = 1 << 20};
	uint8_t text[1460] = {0};

	start_with(TCP_HAS_MSS | TCP_HAS_WSCALE, &cfg);
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

/** As MPA does with the longest FPDU: it takes nothing before all of it is there. */
#define LONG_FPDU 65544u

static size_t readable_long_fpdu(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct app *a = user;

	a->shows++;
	*need = total == LONG_FPDU ? 0 : LONG_FPDU; /* it looks at the next one */
	if (total < LONG_FPDU)
		return 0;
	for (unsigned i = 0, at = 0; i < n; i++)
		for (uint32_t k = 0; k < v[i].len && at < LONG_FPDU; k++, at++)
			assert_int_equal(v[i].base[k], (uint8_t)(at / 7 % 251));
	a->n_got += LONG_FPDU;
	return LONG_FPDU;
}

/** In which order the segments of an FPDU come. */
enum order { FORWARD, BACKWARD, EVEN_FIRST, INWARD };

static uint32_t nth(enum order order, uint32_t i, uint32_t n)
{
	switch (order) {
	case FORWARD:
		return i;
	case BACKWARD:
		return n - 1 - i;
	case EVEN_FIRST: /* from the far end, each island a segment; then what lies between */
		return n - 1 - (i < n / 2 ? 2 * i : i < n / 2 * 2 ? 2 * (i - n / 2) + 1 : i);
	case INWARD: /* both ends in turn */
		return i & 1 ? i / 2 : n - 1 - i / 2;
	}
	return i;
}

static void send_long_fpdu(uint32_t len, enum order order)
{
	static uint8_t text[LONG_FPDU];
	uint32_t n = (LONG_FPDU + len - 1) / len;

	for (uint32_t i = 0; i < LONG_FPDU; i++)
		text[i] = (uint8_t)(i / 7 % 251);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = nth(order, i, n) * len;

		peer_send_at(&p, TCP_ACK, p.seq + at, p.ack, text + at,
			LONG_FPDU - at < len ? LONG_FPDU - at : len);
		ip_double_drain(&h.ip);
	}
	p.seq += LONG_FPDU;
}

static void check_long_fpdus_taken(unsigned n)
{
	assert_int_equal(c->rcv_nxt, p.seq);
	assert_int_equal(h.app.n_got, n * LONG_FPDU);
	assert_int_equal(c->recvq.count, 0);
	assert_int_equal(h.tcp->rx_held, 0);
}

/** The user waits for long FPDUs, and has taken one: a SYN's window is not wide enough for it. */
static void start_with_long_fpdu(void)
{
	const struct tcp_stack_config cfg = {.receive_buffer = 1 << 20};
	static struct llp_user_ops ops;

	start_with(TCP_HAS_MSS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED, &cfg);
	ops = app_ops;
	ops.readable = readable_long_fpdu;
	llp_set_user(h.app.llp, &ops, &h.app);
	send_long_fpdu(1460, FORWARD);
	check_long_fpdus_taken(1);
}

/** Whatever the packets are that an FPDU lies in, the user gets it. */
static void take_long_fpdus(uint32_t len, enum order order)
{
	start_with_long_fpdu();
	for (unsigned n = 2; n <= 3; n++) {
		send_long_fpdu(len, order);
		check_long_fpdus_taken(n);
	}
	host_end(&h);
}

/** When the user tells what it needs, all of it is there already: nothing else would show it. */
static void test_an_fpdu_waits_behind_the_end_of_another(void **state)
{
	start_with_long_fpdu();
	p.seq += LONG_FPDU;
	send_long_fpdu(300, BACKWARD);
	p.seq -= 2 * LONG_FPDU;
	send_long_fpdu(1460, FORWARD);
	p.seq += LONG_FPDU;
	check_long_fpdus_taken(3);
	host_end(&h);
}

static void test_an_fpdu_comes_in_any_segments(void **state)
{
	static const uint32_t len[] = {100, 256, 257, 300, 500, 511, 512, 536, 1460};

	for (unsigned i = 0; i < sizeof len / sizeof *len; i++)
		for (enum order order = FORWARD; order <= INWARD; order++)
			take_long_fpdus(len[i], order);
}

static void test_an_fpdu_comes_in_single_bytes(void **state)
{
	take_long_fpdus(1, FORWARD);
	take_long_fpdus(1, BACKWARD);
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
	start(0);
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

static void test_single_bytes_do_not_pin_the_pool(void **state)
{
	start(0);
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
	start(0);
	for (uint32_t i = 0; i < 20000; i++) {
		peer_send_at(&p, TCP_ACK, p.seq + 1 + 2 * i, p.ack, "x", 1);
		ip_double_drain(&h.ip);
	}
	assert_true(test_pool_missing(h.pool) <= 1024);
	host_end(&h);
}

static void test_unread_text_of_others_stops_nobody_who_reads(void **state)
{
	start(0);
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

	start(0);
	h.app.abort_in_readable = true;
	peer_send(&p, 0, "abc", 3);
	host_expect(&h, &a);
	assert_true(a.h.flags & TCP_RST);
	assert_int_equal(h.app.closed, 0);
	host_end(&h);
}

static void test_release_inside_readable(void **state)
{
	start(0);
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

	start(0);
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

	start(0);
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
		cmocka_unit_test(test_eof_follows_all_that_was_unread),
		cmocka_unit_test(test_all_that_was_unread_is_shown),
		cmocka_unit_test(test_eof_in_the_midst_of_what_was_unread),
		cmocka_unit_test(test_an_fpdu_comes_in_any_segments),
		cmocka_unit_test(test_an_fpdu_comes_in_single_bytes),
		cmocka_unit_test(test_an_fpdu_waits_behind_the_end_of_another),
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
