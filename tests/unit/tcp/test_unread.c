/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/unread.h"

#include "host.h"
#include "tcp/buffer.h"

#include <errno.h>

#define PEERS 3
#define LEN   1000

static struct host h;
static struct peer p[PEERS];
static struct llp *l[PEERS];
static unsigned closed;
static int last_error;
static size_t takes; /**< of each showing */
static const uint8_t text[LEN];

static void on_closed(void *user, int error)
{
	closed++;
	last_error = error;
	*(struct llp **)user = NULL;
}

static void on_nothing(void *user)
{
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	return total < takes ? total : takes;
}

static const struct llp_user_ops ops = {.connected = on_nothing,
	.readable = on_readable,
	.writable = on_nothing,
	.eof = on_nothing,
	.closed = on_closed};

/** Room for 24 packets that wait, 26 in order, 28 of connections that have few. */
static void start(void)
{
	const struct tcp_stack_config cfg = {.receive_packets = 24};

	closed = 0;
	takes = 0;
	host_init(&h, LOCAL, &cfg);
	for (unsigned i = 0; i < PEERS; i++) {
		h.app.connected = 0;
		peer_connected(&p[i], &h, TCP_HAS_MSS);
		l[i] = h.app.llp;
		llp_set_user(l[i], &ops, &l[i]);
	}
	assert_int_equal(h.tcp->rx_hard_limit, 28);
}

static void end(void)
{
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** Peer @p i sends @p n segments, or until one is not taken in. @return how many are. */
static unsigned sends(unsigned i, unsigned n)
{
	unsigned done;

	for (done = 0; done < n; done++) {
		peer_send_at(&p[i], TCP_ACK, p[i].seq, p[i].ack, text, LEN);
		ip_double_drain(&h.ip);
		if (!l[i] || tcp_conn_of(l[i])->rcv_nxt != p[i].seq + LEN)
			break;
		p[i].seq += LEN;
	}
	return done;
}

static void wait_ms(unsigned ms)
{
	host_advance(&h, ms * MS);
	ip_double_drain(&h.ip);
}

static void test_greediest_goes_for_others(void **state)
{
	start();
	assert_int_equal(sends(0, 10), 10);
	assert_int_equal(sends(1, 16), 16);
	wait_ms(60000);
	assert_int_equal(closed, 0); /* nobody wants anything */
	assert_int_equal(sends(2, 10), 2);
	assert_int_equal(closed, 1);
	assert_null(l[1]);
	assert_int_equal(last_error, -ETIMEDOUT);
	assert_int_equal(tcp_stack_stats(h.tcp)->unread_ended, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->resets_out, 1);
	assert_int_equal(h.tcp->rx_held, 12);
	/* The other has less than the one that wants more. */
	assert_int_equal(sends(2, 30), 14);
	wait_ms(60000);
	assert_int_equal(sends(2, 1), 0);
	assert_int_equal(closed, 1);
	end();
}

static void test_part_is_kept_for_who_has_little(void **state)
{
	start();
	assert_int_equal(sends(0, 40), 26);
	assert_int_equal(sends(1, 10), 2);
	/* A connection that has nothing is never refused. */
	assert_int_equal(sends(2, 1), 1);
	assert_int_equal(closed, 0);
	assert_int_equal(h.tcp->rx_held, 29);
	assert_int_equal(tcp_stack_stats(h.tcp)->no_memory, 2); /* each one's last */
	end();
}

/** Ever so many may come with one packet each. */
static void test_first_packets_are_bounded(void **state)
{
	start();
	h.tcp->rx_hard_limit = 1;
	assert_int_equal(sends(0, 1), 1);
	wait_ms(2000);
	assert_int_equal(sends(1, 1), 1);
	assert_null(l[0]);
	assert_int_equal(h.tcp->rx_held, 1);
	end();
}

static void test_who_moves_stays(void **state)
{
	start();
	assert_int_equal(sends(0, 25), 25);
	wait_ms(900);
	takes = 10;
	assert_int_equal(sends(0, 1), 1);
	takes = 0;
	wait_ms(900);
	assert_int_equal(sends(1, 10), 2);
	assert_int_equal(closed, 0);
	wait_ms(200);
	assert_int_equal(sends(1, 1), 0);
	assert_null(l[0]);
	assert_int_equal(sends(1, 10), 10);
	end();
}

/** What was taken to the end is not unread, and is forgotten. */
static void test_who_reads_is_forgotten(void **state)
{
	start();
	assert_int_equal(sends(0, 3), 3);
	takes = SIZE_MAX;
	llp_resume(l[0]);
	takes = 0;
	assert_true(tcp_conn_of(l[0])->has_unread);
	assert_int_equal(sends(1, 20), 20);
	wait_ms(5000);
	h.tcp->rx_hard_limit = 20;
	assert_int_equal(sends(2, 1), 1);
	assert_null(l[1]);
	assert_false(tcp_conn_of(l[0])->has_unread);
	/* Text that waits anew waits since now. */
	assert_int_equal(sends(0, 18), 18);
	assert_int_equal(sends(2, 8), 1);
	assert_non_null(l[0]);
	llp_release(l[0]);
	l[0] = NULL;
	assert_int_equal(h.tcp->rx_held, 2);
	end();
}

/** Of those that want room who has least counts: more than that is to be given up for it. */
static void test_who_has_least_is_helped(void **state)
{
	start();
	tcp_unread_want(h.tcp, 7);
	tcp_unread_want(h.tcp, 2);
	tcp_unread_want(h.tcp, 5);
	assert_int_equal(h.tcp->rx_wanted, 3);
	assert_int_equal(sends(0, 2), 2);
	assert_int_equal(sends(1, 3), 3);
	h.tcp->rx_wanted = 0;
	wait_ms(2000);
	tcp_unread_want(h.tcp, 5);
	tcp_unread_want(h.tcp, 2);
	host_round(&h);
	assert_int_equal(closed, 1);
	assert_null(l[1]);
	end();
}

/** Text behind gaps that finds no room is wanted as well. */
static void test_gaps_want_room(void **state)
{
	start();
	assert_int_equal(sends(0, 25), 25);
	wait_ms(2000);
	peer_send_at(&p[1], TCP_ACK, p[1].seq + LEN, p[1].ack, text, LEN);
	assert_null(l[0]);
	peer_send_at(&p[1], TCP_ACK, p[1].seq + LEN, p[1].ack, text, LEN);
	assert_int_equal(h.tcp->rx_held, 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greediest_goes_for_others),
		cmocka_unit_test(test_part_is_kept_for_who_has_little),
		cmocka_unit_test(test_first_packets_are_bounded),
		cmocka_unit_test(test_who_moves_stays),
		cmocka_unit_test(test_who_reads_is_forgotten),
		cmocka_unit_test(test_who_has_least_is_helped),
		cmocka_unit_test(test_gaps_want_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
