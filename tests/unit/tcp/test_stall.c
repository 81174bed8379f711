/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/stall.h"

#include "host.h"
#include "tcp/buffer.h"

#include <errno.h>

#define PEERS 3

static struct host h;
static struct peer p[PEERS];
static struct llp *l[PEERS];
static unsigned closed;
static struct llp **also; /**< the user of one that ends ends this one too, */
static bool lets_go;      /**< or lets go of it */
static int last_error;

static void on_closed(void *user, int error)
{
	closed++;
	last_error = error;
	*(struct llp **)user = NULL;
	if (also) {
		(lets_go ? llp_release : llp_abort)(*also);
		*also = NULL;
		also = NULL;
	}
}

static void on_nothing(void *user)
{
}

static size_t on_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	return total;
}

static const struct llp_user_ops ops = {.connected = on_nothing,
	.readable = on_readable,
	.writable = on_nothing,
	.eof = on_nothing,
	.closed = on_closed};

static void start(const struct tcp_stack_config *cfg)
{
	closed = 0;
	also = NULL;
	host_init(&h, LOCAL, cfg);
	for (unsigned i = 0; i < PEERS; i++) {
		h.app.connected = 0;
		peer_connected(&p[i], &h, TCP_HAS_MSS);
		l[i] = h.app.llp;
		llp_set_user(l[i], &ops, &l[i]);
	}
}

static void end(void)
{
	ip_double_drain(&h.ip);
	host_end(&h);
}

/** @return how many of @p n records were taken. */
static unsigned queue(struct llp *to, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		void *room = llp_reserve(to, 10, false);

		if (!room)
			break;
		memset(room, 0, 10);
		llp_commit(to, 10);
	}
	llp_push(to);
	return i;
}

/** Take back the windows of those before @p n, and wait until that is noticed. */
static void stall(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		p[i].wnd = 0;
		peer_send(&p[i], 0, NULL, 0);
	}
	for (unsigned ms = 0; ms < 5000; ms += 100) {
		host_advance(&h, 100 * MS);
		ip_double_drain(&h.ip);
		for (unsigned i = 0; i < n; i++)
			if (l[i])
				peer_send(&p[i], 0, NULL, 0);
	}
	ip_double_drain(&h.ip);
}

/** @param greedy which of the first two it is. */
static void greediest_goes_for_others(unsigned greedy)
{
	const struct tcp_stack_config cfg = {.send_packets = 24};

	start(&cfg);
	assert_int_equal(h.tcp->tx_hard_limit, 28);
	assert_int_equal(queue(l[0], greedy == 0 ? 12 : 6), greedy == 0 ? 12 : 6);
	assert_int_equal(queue(l[1], greedy == 1 ? 12 : 6), greedy == 1 ? 12 : 6);
	stall(2);
	assert_int_equal(h.tcp->stalls.peers.count, 2);
	assert_int_equal(closed, 0); /* nobody wants anything */
	/* The part that is kept for connections that have little. */
	assert_int_equal(queue(l[2], 20), TCP_SEND_FLOOR);
	host_round(&h);
	assert_int_equal(closed, 1);
	assert_null(l[greedy]);
	assert_int_equal(last_error, -ETIMEDOUT);
	assert_int_equal(tcp_stack_stats(h.tcp)->stalls_ended, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->resets_out, 1);
	/* The other has less than the one that wants more. */
	assert_in_range(queue(l[2], 100), 1, 20);
	host_round(&h);
	assert_int_equal(closed, 1);
	end();
}

static void test_greediest_goes_for_others(void **state)
{
	for (unsigned greedy = 0; greedy < 2; greedy++)
		greediest_goes_for_others(greedy);
}

/** Of two that have more than who wants some, wherever it stands. */
static void test_greedier_of_two_goes(void **state)
{
	for (unsigned greedy = 0; greedy < 2; greedy++) {
		start(NULL);
		queue(l[greedy], 3);
		queue(l[!greedy], 2);
		for (unsigned i = 0; i < 2; i++)
			tcp_stall_begin(tcp_conn_of(l[i]));
		h.tcp->tx_wanted = 2;
		host_round(&h);
		assert_int_equal(closed, 1);
		assert_null(l[greedy]);
		end();
	}
}

/** 64 are looked at in a round, others each time: the one that has something is found in the next.
 */
static void test_many_are_looked_at_in_turns(void **state)
{
	start(NULL);
	for (unsigned i = 0; i < 64; i++) {
		struct peer q;

		h.app.connected = 0;
		peer_connected(&q, &h, TCP_HAS_MSS);
		tcp_stall_begin(tcp_conn_of(h.app.llp));
	}
	queue(l[0], 3);
	tcp_stall_begin(tcp_conn_of(l[0]));
	assert_int_equal(h.tcp->stalls.peers.count, 65);
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(closed, 0);
		h.tcp->tx_wanted = 2; /* as if a connection with one packet had been refused */
		host_round(&h);
	}
	assert_int_equal(closed, 1);
	assert_null(l[0]);
	end();
}

static void test_slow_is_not_stalled(void **state)
{
	start(NULL);
	queue(l[0], 3);
	stall(1);
	assert_int_equal(h.tcp->stalls.peers.count, 1);
	p[0].ack += 10; /* of the 30 bytes */
	peer_send(&p[0], 0, NULL, 0);
	assert_int_equal(h.tcp->stalls.peers.count, 0);
	stall(1);
	assert_int_equal(h.tcp->stalls.peers.count, 1);
	llp_release(l[0]); /* without a user it has the user time-out */
	assert_int_equal(h.tcp->stalls.peers.count, 0);
	end();
}

/** The peer of l[0] opens its window for one record, and takes it back, unless it has some. */
static void get_a_record(void)
{
	if (tcp_flight(container_of(l[0], struct tcp_conn, llp)))
		return;
	p[0].wnd = 10;
	peer_send(&p[0], 0, NULL, 0);
	p[0].wnd = 0;
	peer_send(&p[0], 0, NULL, 0);
}

/** The peer of l[0] takes a little now and then, @p most times. @return bytes when it is over. */
static unsigned take_little(unsigned most)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < most && l[0] && h.tcp->stalls.peers.count; i++) {
		get_a_record();
		host_advance(&h, 500 * MS);
		ip_double_drain(&h.ip);
		p[0].ack += 2;
		taken += 2;
		peer_send(&p[0], 0, NULL, 0);
	}
	return taken;
}

/* A few bytes now and then keep the rest of our packets as none would. */
static void test_slow_is_stalled(void **state)
{
	const struct tcp_stack_config cfg = {.send_packets = 24};

	start(&cfg);
	assert_int_equal(queue(l[0], 12), 12);
	stall(1);
	assert_int_equal(take_little(10), 20);
	assert_int_equal(h.tcp->stalls.peers.count, 1);
	queue(l[2], 20); /* more than there is */
	queue(l[1], 20);
	queue(l[2], 1); /* who has more is not who has to be helped */
	host_round(&h);
	assert_null(l[0]);
	assert_int_equal(tcp_stack_stats(h.tcp)->stalls_ended, 1);
	end();
}

/* What a user goes on queueing counts, too: a quarter of 120 bytes. */
static void test_slow_catches_up(void **state)
{
	start(NULL);
	queue(l[0], 2);
	stall(1);
	queue(l[0], 10);
	assert_int_equal(take_little(50), 30);
	assert_non_null(l[0]);
	end();
}

static void test_slow_is_left_when_told(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 10000};

	start(&cfg);
	queue(l[0], 40);
	stall(1);
	assert_in_range(take_little(50), 18, 24);
	assert_null(l[0]);
	assert_int_equal(tcp_stack_stats(h.tcp)->zero_window_timeouts, 1);
	end();
}

/* A window of one byte, and none, in turns, and always before the time-out: nothing fits. */
static void test_flapping_window_is_closed(void **state)
{
	const struct tcp_stack_config cfg = {.zero_window_timeout_ms = 5000};
	unsigned turns = 0;

	start(&cfg);
	p[0].wnd = 0;
	peer_send(&p[0], 0, NULL, 0);
	assert_int_equal(queue(l[0], 3), 3);
	for (; turns < 400 && l[0]; turns++) {
		p[0].wnd = turns % 2 ? 0 : 1;
		peer_send(&p[0], 0, NULL, 0);
		host_advance(&h, 50 * MS);
		ip_double_drain(&h.ip);
		if (turns == 60)
			assert_int_equal(h.tcp->stalls.peers.count, 1);
	}
	assert_in_range(turns, 95, 110);
	assert_int_equal(last_error, -ETIMEDOUT);
	assert_int_equal(tcp_stack_stats(h.tcp)->zero_window_timeouts, 1);
	end();
}

static void test_one_peer_has_so_many(void **state)
{
	const struct tcp_stack_config cfg = {.max_stalled_per_peer = 2};

	for (unsigned most = 0; most < 2; most++) {
		start(&cfg);
		queue(l[most], 3);
		queue(l[!most], 2);
		queue(l[2], 1);
		stall(2);
		assert_int_equal(closed, 0);
		stall(3);
		assert_int_equal(closed, 1);
		assert_null(l[most]);
		assert_int_equal(h.tcp->stalls.peers.count, 2);
		end();
	}
}

/** Room is made for one whose user ends it, or lets go of it, when told of that. */
static void test_one_that_is_to_have_room_ends(void **state)
{
	const struct tcp_stack_config cfg = {.max_stalled_per_peer = 2};

	for (unsigned way = 0; way < 4; way++) {
		bool in_flight = way & 1;

		lets_go = way & 2;
		start(&cfg);
		queue(l[0], 2);
		queue(l[1], 3);
		if (in_flight)
			queue(l[2], 1);
		stall(2);
		also = &l[2];
		if (!in_flight) { /* then the window is probed, not the text sent again */
			p[2].wnd = 0;
			peer_send(&p[2], 0, NULL, 0);
			queue(l[2], 1);
		}
		stall(3);
		assert_int_equal(closed, 1);
		assert_null(l[1]);
		assert_null(l[2]);
		assert_int_equal(h.tcp->stalls.peers.count, 1);
		assert_int_equal(h.tcp->orphans.count, lets_go);
		host_advance(&h, 120000 * MS); /* nobody waits for a window of an orphan's peer */
		assert_int_equal(h.tcp->orphans.count, 0);
		end();
	}
}

/** One that is stalled and is refused a packet asks nobody to give way for it. */
static void test_a_stalled_one_wants_nothing(void **state)
{
	start(NULL);
	queue(l[0], 1);
	stall(1);
	assert_true(tcp_conn_of(l[0])->stalled);
	h.tcp->tx_limit = h.tcp->tx_hard_limit = 0;
	assert_int_equal(queue(l[0], 1), 0);
	assert_int_equal(h.tcp->tx_wanted, 0);
	assert_int_equal(queue(l[1], 1), 0);
	assert_int_equal(h.tcp->tx_wanted, 1);
	host_round(&h);
	assert_null(l[0]);
	assert_int_equal(closed, 1);
	end();
}

/** What waits for a window that is closed from the beginning, or closes. */
static void test_closed_window_holds_little(void **state)
{
	static char text[1400];
	struct tcp_conn *c;
	unsigned n = 0;

	start(NULL);
	c = tcp_conn_of(l[0]);
	c->cc.cwnd = 1 << 30;
	p[0].wnd = 0;
	peer_send(&p[0], 0, NULL, 0);
	for (void *room; (room = llp_reserve(l[0], sizeof text, false)); n++) {
		memcpy(room, text, sizeof text);
		llp_commit(l[0], sizeof text);
	}
	assert_in_range(n, 1, TCP_SEND_BUFFER_CLOSED);
	assert_int_equal(tcp_buffer_send_limit(c), TCP_SEND_BUFFER_CLOSED * c->emss);
	/* It opens: as much as it takes, and some. */
	p[0].wnd = 40000;
	peer_send(&p[0], 0, NULL, 0);
	assert_int_equal(tcp_buffer_send_limit(c), 50000);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greediest_goes_for_others),
		cmocka_unit_test(test_greedier_of_two_goes),
		cmocka_unit_test(test_many_are_looked_at_in_turns),
		cmocka_unit_test(test_slow_is_not_stalled),
		cmocka_unit_test(test_slow_is_stalled),
		cmocka_unit_test(test_slow_catches_up),
		cmocka_unit_test(test_slow_is_left_when_told),
		cmocka_unit_test(test_flapping_window_is_closed),
		cmocka_unit_test(test_one_peer_has_so_many),
		cmocka_unit_test(test_one_that_is_to_have_room_ends),
		cmocka_unit_test(test_a_stalled_one_wants_nothing),
		cmocka_unit_test(test_closed_window_holds_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
