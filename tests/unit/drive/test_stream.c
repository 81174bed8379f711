/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define LOTS (8u << 20)
/* Of more packets than TCP shows in one call. */
#define LONG_QUEUE 400000u

static void pattern(uint8_t *p, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)((from + i) * 31 >> 3);
}

/* More than all buffers hold: send() says -EAGAIN and POLLOUT comes back. */
static void much_data_arrives_whole(void **state)
{
	uint8_t *out = malloc(LOTS), in[5000], want[5000];
	size_t sent = 0, got = 0;
	bool blocked = false;
	struct pair p;
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET6, "2001:db8::2", &a, &b);
	pattern(out, 0, LOTS);
	while (got < LOTS) {
		ssize_t r;

		if (sent < LOTS && uiwarp_tcp_poll(p.a, a) & POLLOUT) {
			r = uiwarp_tcp_send(p.a, a, out + sent, LOTS - sent, 0);
			assert_true(r > 0);
			sent += (size_t)r;
			if (sent < LOTS) {
				blocked = true;
				assert_false(uiwarp_tcp_poll(p.a, a) & POLLOUT);
				assert_int_equal(uiwarp_tcp_send(p.a, a, out, 1, 0), -EAGAIN);
			}
		}
		pair_run(&p, MS);
		while ((r = uiwarp_tcp_recv(p.b, b, in, sizeof in, 0)) > 0) {
			pattern(want, got, (size_t)r);
			assert_memory_equal(in, want, (size_t)r);
			got += (size_t)r;
		}
		assert_int_equal(r, -EAGAIN);
	}
	assert_true(blocked);
	free(out);
	uiwarp_tcp_abort(p.a, a);
	uiwarp_tcp_close(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

static void peek_leaves_the_bytes(void **state)
{
	char buf[8] = "";
	struct pair p;
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_poll(p.b, b), POLLOUT);
	uiwarp_tcp_send(p.a, a, "hello", 5, 0);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_poll(p.b, b), POLLIN | POLLOUT);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, MSG_PEEK), 5);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 2, 0), 2);
	assert_memory_equal(buf, "he", 2);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), 3);
	assert_memory_equal(buf, "llo", 3);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), -EAGAIN);
	uiwarp_tcp_close(p.a, a);
	uiwarp_tcp_close(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

/* MSG_MORE gathers: one segment carries both. */
static void more_waits_for_the_rest(void **state)
{
	struct uiwarp_tcp_info before, after;
	struct pair p;
	char buf[8];
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	uiwarp_tcp_info(p.a, a, &before);
	assert_int_equal(uiwarp_tcp_send(p.a, a, "abc", 3, MSG_MORE), 3);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), -EAGAIN);
	assert_int_equal(uiwarp_tcp_send(p.a, a, "def", 3, 0), 3);
	pair_carry(&p);
	uiwarp_tcp_info(p.a, a, &after);
	assert_int_equal(after.segments_out - before.segments_out, 1);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), 6);
	assert_memory_equal(buf, "abcdef", 6);
	uiwarp_tcp_close(p.a, a);
	uiwarp_tcp_close(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

/** What fills the buffer goes: nothing would make room for the next call else. */
static void more_is_not_kept_for_ever(void **state)
{
	static char data[20000];
	const size_t limit[] = {0, 3000};
	struct pair p;
	ssize_t r;
	int l, a, b;

	for (unsigned i = 0; i < 2; i++) {
		pair_init(&p, NULL);
		l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
		assert_int_equal(uiwarp_tcp_set(p.a, a, UIWARP_TCP_SEND_BUFFER, (int)limit[i]), 0);
		do
			r = uiwarp_tcp_send(p.a, a, data, sizeof data, MSG_MORE);
		while (r > 0);
		assert_int_equal(r, -EAGAIN);
		assert_false(uiwarp_tcp_poll(p.a, a) & POLLOUT);
		pair_run(&p, 1000 * MS);
		assert_int_not_equal(uiwarp_tcp_recv(p.b, b, data, sizeof data, 0), -EAGAIN);
		while (uiwarp_tcp_recv(p.b, b, data, sizeof data, 0) > 0)
			;
		pair_run(&p, 1000 * MS);
		assert_true(uiwarp_tcp_poll(p.a, a) & POLLOUT);
		uiwarp_tcp_abort(p.a, a);
		uiwarp_tcp_abort(p.b, b);
		uiwarp_tcp_close(p.b, l);
		pair_end(&p);
	}
}

/** Nor is what a lower limit leaves no room behind. */
static void more_is_not_kept_behind_a_lower_limit(void **state)
{
	struct pair p;
	char buf[200] = "";
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_send(p.a, a, buf, 100, MSG_MORE), 100);
	assert_int_equal(uiwarp_tcp_set(p.a, a, UIWARP_TCP_SEND_BUFFER, 101), 0);
	pair_run(&p, 1000 * MS);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, sizeof buf, 0), -EAGAIN);
	assert_int_equal(uiwarp_tcp_set(p.a, a, UIWARP_TCP_SEND_BUFFER, 100), 0);
	assert_false(uiwarp_tcp_poll(p.a, a) & POLLOUT);
	pair_run(&p, 1000 * MS);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, sizeof buf, 0), 100);
	assert_true(uiwarp_tcp_poll(p.a, a) & POLLOUT);
	uiwarp_tcp_abort(p.a, a);
	uiwarp_tcp_abort(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

/* Bytes that were not read before both sides closed are still there. */
static void the_end_does_not_take_the_bytes_away(void **state)
{
	struct uiwarp_tcp_info info;
	uint8_t *big = calloc(1, 100000);
	struct pair p;
	size_t got = 0;
	ssize_t r;
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_shutdown(p.b, b, SHUT_WR), 0);
	assert_int_equal(uiwarp_tcp_send(p.b, b, "x", 1, 0), -EPIPE);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_recv(p.a, a, big, 10, 0), 0);
	pattern(big, 0, 100000);
	assert_int_equal(uiwarp_tcp_send(p.a, a, big, 100000, 0), 100000);
	pair_run(&p, 1000 * MS);
	assert_int_equal(uiwarp_tcp_close(p.a, a), 0);
	pair_carry(&p);
	uiwarp_tcp_info(p.b, b, &info);
	assert_string_equal(info.state, "CLOSED"); /* it is the kernel's, so to speak, by now */
	while ((r = uiwarp_tcp_recv(p.b, b, big, 7777, 0)) > 0) {
		uint8_t want[7777];

		pattern(want, got, (size_t)r);
		assert_memory_equal(big, want, (size_t)r);
		got += (size_t)r;
	}
	assert_int_equal(r, 0);
	assert_int_equal(got, 100000);
	assert_int_equal(uiwarp_tcp_close(p.b, b), 0);
	uiwarp_tcp_close(p.b, l);
	free(big);
	pair_end(&p);
}

static void a_silent_peer_is_a_time_out(void **state)
{
	struct pair p;
	char c = 'c';
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	p.lose = true;
	assert_int_equal(uiwarp_tcp_send(p.a, a, &c, 1, 0), 1);
	pair_run(&p, 200000 * MS);
	assert_int_equal(uiwarp_tcp_recv(p.a, a, &c, 1, 0), -ETIMEDOUT);
	uiwarp_tcp_close(p.a, a);
	uiwarp_tcp_abort(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

/** As Linux: what comes after it may be read, but nobody waits for it. */
static void shutdown_of_reading_waits_for_nothing(void **state)
{
	struct pair p;
	char buf[8];
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), -EAGAIN);
	assert_int_equal(uiwarp_tcp_shutdown(p.b, b, 77), -EINVAL);
	assert_int_equal(uiwarp_tcp_shutdown(p.b, b, SHUT_RD), 0);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), 0);
	assert_true(uiwarp_tcp_poll(p.b, b) & POLLIN);
	uiwarp_tcp_send(p.a, a, "two", 3, 0);
	pair_run(&p, 100 * MS);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), 3);
	assert_memory_equal(buf, "two", 3);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, 8, 0), 0);
	uiwarp_tcp_close(p.b, b);
	uiwarp_tcp_close(p.a, a);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

/** UIWARP_TCP_SEND_BUFFER: what is queued waits for ACKs, and is not more than that. */
static void a_socket_has_its_own_limit(void **state)
{
	static char data[5000];
	struct pair p;
	int l, a, b, v;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_set(p.a, a, UIWARP_TCP_SEND_BUFFER, -1), -ENOPROTOOPT);
	assert_int_equal(uiwarp_tcp_set(p.a, a, UIWARP_TCP_SEND_BUFFER, 3000), 0);
	assert_int_equal(uiwarp_tcp_get(p.a, a, UIWARP_TCP_SEND_BUFFER, &v), 0);
	assert_int_equal(v, 3000);
	assert_int_equal(uiwarp_tcp_send(p.a, a, data, 5000, 0), 3000);
	assert_int_equal(uiwarp_tcp_send(p.a, a, data, 1, 0), -EAGAIN);
	assert_false(uiwarp_tcp_poll(p.a, a) & POLLOUT);
	pair_run(&p, 100 * MS);
	assert_true(uiwarp_tcp_poll(p.a, a) & POLLOUT);
	assert_int_equal(uiwarp_tcp_send(p.a, a, data, 2000, 0), 2000);
	assert_int_equal(uiwarp_tcp_set(p.a, a, UIWARP_TCP_SEND_BUFFER, 0), 0);
	assert_int_equal(uiwarp_tcp_send(p.a, a, data, 5000, 0), 5000);
	uiwarp_tcp_abort(p.a, a);
	uiwarp_tcp_abort(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

/** More than TCP shows at a time waits, and then the peer's end: it is found at the last bytes. */
static void reads_a_long_queue(struct pair *p, bool peek)
{
	struct uiwarp_tcp_info info;
	uint8_t *in = malloc(LOTS), *out = malloc(LOTS);
	size_t sent = 0, got = 0;
	ssize_t r;
	int l, a, b, unread;

	l = pair_connect(p, AF_INET, "192.0.2.2", &a, &b);
	pattern(out, 0, LOTS);
	while (sent < LONG_QUEUE) {
		r = uiwarp_tcp_send(p->a, a, out + sent, LONG_QUEUE - sent, 0);
		sent += r > 0 ? (size_t)r : 0;
		pair_run(p, MS);
	}
	pair_run(p, 1000 * MS);
	assert_int_equal(uiwarp_tcp_close(p->a, a), 0);
	pair_run(p, 1000 * MS);
	uiwarp_tcp_info(p->b, b, &info);
	assert_string_equal(info.state, "CLOSE-WAIT");
	for (;;) {
		assert_int_equal(uiwarp_tcp_get(p->b, b, UIWARP_TCP_UNREAD, &unread), 0);
		assert_int_equal(unread, sent - got);
		if (peek) {
			r = uiwarp_tcp_recv(p->b, b, in, 10000, MSG_PEEK);
			assert_in_range(r, 0, 10000);
			assert_memory_equal(in, out + got, (size_t)r);
		}
		r = uiwarp_tcp_recv(p->b, b, in, 10000, 0);
		assert_in_range(r, 0, 10000);
		assert_memory_equal(in, out + got, (size_t)r);
		got += (size_t)r;
		if (!r)
			break;
	}
	assert_int_equal(got, sent);
	free(in);
	free(out);
	uiwarp_tcp_close(p->b, b);
	uiwarp_tcp_close(p->b, l);
}

static void the_end_behind_a_long_queue(void **state)
{
	const struct uiwarp_tcp_config cfg = {.receive_buffer = 1 << 20, .send_buffer = 1 << 20};
	struct pair p;

	pair_init(&p, &cfg);
	reads_a_long_queue(&p, false);
	reads_a_long_queue(&p, true);
	pair_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(much_data_arrives_whole),
		cmocka_unit_test(peek_leaves_the_bytes),
		cmocka_unit_test(more_waits_for_the_rest),
		cmocka_unit_test(more_is_not_kept_for_ever),
		cmocka_unit_test(more_is_not_kept_behind_a_lower_limit),
		cmocka_unit_test(the_end_does_not_take_the_bytes_away),
		cmocka_unit_test(a_silent_peer_is_a_time_out),
		cmocka_unit_test(shutdown_of_reading_waits_for_nothing),
		cmocka_unit_test(a_socket_has_its_own_limit),
		cmocka_unit_test(the_end_behind_a_long_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
