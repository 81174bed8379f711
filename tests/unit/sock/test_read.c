/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/buffer.h"
#include "sock/conn.h"

#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static struct fixture f;
static uint8_t pattern[4 * SOCK_BUFFER];
static size_t sent;

/** Send on until @p total bytes are sent, as far as there is room. */
static void peer_sends(size_t total)
{
	ssize_t n;

	fcntl(f.peer_fd, F_SETFL, O_NONBLOCK);
	while (sent < total && (n = send(f.peer_fd, pattern + sent, total - sent, 0)) > 0)
		sent += (size_t)n;
}

static bool has_all(struct fixture *x)
{
	peer_sends(sizeof pattern);
	return x->seen.len == sizeof pattern;
}

static void begin(void)
{
	for (size_t i = 0; i < sizeof pattern; i++)
		pattern[i] = (uint8_t)(i * 7 + (i >> 8));
	sent = 0;
	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
}

static void end(void)
{
	assert_memory_equal(f.seen.bytes, pattern, f.seen.len);
	fixture_close(&f);
}

static void all_comes_in_order(void **state)
{
	begin();
	fixture_until(&f, has_all);
	end();
}

static bool has_urgent(struct fixture *x)
{
	return x->seen.len == 2 * 100 + 1;
}

/**
 * TCP's urgent byte is one of the stream's (RFC 6093 section 4), though Linux stops a read before
 * it and tells of what is behind it no more.
 */
static void an_urgent_byte_is_one_of_the_stream(void **state)
{
	for (unsigned accepted = 0; accepted < 2; accepted++) {
		begin();
		if (accepted) {
			fixture_close(&f);
			fixture_open(&f, NULL);
			fixture_accept(&f, "127.0.0.1");
		}
		assert_int_equal(send(f.peer_fd, pattern, 100, 0), 100);
		assert_int_equal(send(f.peer_fd, pattern + 100, 1, MSG_OOB), 1);
		assert_int_equal(send(f.peer_fd, pattern + 101, 100, 0), 100);
		fixture_until(&f, has_urgent);
		end();
	}
}

/** A user like MPA: it takes whole frames only. */
static void what_is_left_is_shown_again_with_more(void **state)
{
	begin();
	f.seen.frame = f.seen.need = 65536;
	fixture_until(&f, has_all);
	end();
}

static bool has_ten(struct fixture *x)
{
	return x->seen.last_total == 10;
}

static bool has_twenty(struct fixture *x)
{
	return x->seen.len == 20;
}

static void nothing_is_shown_before_it_is_enough(void **state)
{
	begin();
	f.seen.take = 0;
	f.seen.need = 20;
	peer_sends(10);
	fixture_until(&f, has_ten);
	assert_int_equal(f.seen.shows, 1);
	peer_sends(19);
	for (unsigned i = 0; i < 20; i++)
		fixture_round(&f);
	assert_int_equal(f.seen.shows, 1);
	f.seen.take = SIZE_MAX;
	peer_sends(20);
	fixture_until(&f, has_twenty);
	assert_int_equal(f.seen.shows, 2);
	end();
}

static bool is_full(struct fixture *x)
{
	peer_sends(sizeof pattern);
	return x->seen.last_total == SOCK_BUFFER;
}

/** A user that does not want any more stops the peer by TCP's window, and costs nothing. */
static void a_paused_user_holds_one_buffer(void **state)
{
	uint64_t receives;

	begin();
	f.seen.take = 0;
	fixture_until(&f, is_full);
	receives = sock_stack_stats(f.s)->receives;
	for (unsigned i = 0; i < 20; i++)
		fixture_round(&f);
	assert_int_equal(sock_stack_stats(f.s)->receives, receives);
	assert_int_equal(f.seen.last_total, SOCK_BUFFER);
	f.seen.take = SIZE_MAX;
	llp_resume(f.seen.llp);
	fixture_until(&f, has_all);
	end();
}

static bool has_two_more(struct fixture *x)
{
	return x->accepts == 3 && x->seen.shows >= 3;
}

/** What nobody takes is bounded for all together; the oldest of the peer that has most goes. */
static void paused_users_hold_so_many_bytes(void **state)
{
	const struct sock_stack_config cfg = {.memory = 2 * 2};
	struct ip_endpoint at, remote;
	struct llp *first;
	int more[2];
	char byte;

	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	first = f.seen.llp;
	llp_endpoints(first, &at, &remote);
	f.seen.take = 0;
	assert_int_equal(send(f.peer_fd, "x", 1, 0), 1);
	while (f.seen.shows == 0)
		fixture_round(&f);
	/* It takes what has come, and is none of them: then it leaves some again. */
	f.seen.take = SIZE_MAX;
	llp_resume(first);
	f.seen.take = 0;
	assert_int_equal(send(f.peer_fd, "x", 1, 0), 1);
	while (f.seen.shows < 3)
		fixture_round(&f);
	f.seen.shows = 1;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(f.seen.closes, 0);
		more[i] = fixture_plain_connect(&at);
		assert_true(more[i] >= 0);
		assert_int_equal(send(more[i], "x", 1, 0), 1);
		while (f.accepts < i + 2 || f.seen.shows < i + 2)
			fixture_round(&f);
	}
	fixture_until(&f, has_two_more);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.closes, 1);
	assert_int_equal(f.seen.error, -ECONNABORTED);
	assert_int_equal(sock_stack_stats(f.s)->buffers_evicted, 1);
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(sock_stack_stats(f.s)->connections, 2);
	close(more[0]);
	close(more[1]);
	fixture_close(&f);
}

static void resume_in_readable(struct seen *s)
{
	if (s->shows == 1)
		llp_resume(s->llp);
}

static void resuming_inside_shows_the_rest_at_once(void **state)
{
	begin();
	f.seen.take = 10;
	f.seen.on_readable = resume_in_readable;
	peer_sends(20);
	fixture_until(&f, has_twenty);
	assert_int_equal(f.seen.shows, 2);
	end();
}

static void abort_in_readable(struct seen *s)
{
	llp_abort(s->llp);
	s->gone = true;
}

static void release_in_readable(struct seen *s)
{
	llp_release(s->llp);
	s->gone = true;
}

static bool is_gone(struct fixture *x)
{
	return x->seen.gone;
}

static void a_user_may_end_it_inside(void **state)
{
	void (*const ways[])(struct seen *) = {abort_in_readable, release_in_readable};

	for (unsigned i = 0; i < 2; i++) {
		begin();
		f.seen.on_readable = ways[i];
		peer_sends(100000);
		fixture_until(&f, is_gone);
		assert_int_equal(f.seen.shows, 1);
		assert_int_equal(f.seen.closes, 0);
		end();
	}
}

static bool has_eof(struct fixture *x)
{
	return x->seen.eofs != 0;
}

static void the_end_comes_behind_all_bytes(void **state)
{
	begin();
	fixture_until(&f, has_all);
	shutdown(f.peer_fd, SHUT_WR);
	fixture_until(&f, has_eof);
	assert_int_equal(f.seen.len, sizeof pattern);
	for (unsigned i = 0; i < 5; i++)
		fixture_round(&f);
	assert_int_equal(f.seen.eofs, 1);
	assert_int_equal(f.seen.closes, 0);
	end();
}

static bool is_full_of_some(struct fixture *x)
{
	return x->seen.last_total == SOCK_BUFFER;
}

static bool end_waits(struct fixture *x)
{
	return x->seen.eof_waits != 0;
}

/** The user leaves a full buffer, behind which the peer has sent @p more bytes. */
static void leave_a_full_buffer(size_t more)
{
	begin();
	f.seen.take = 0;
	while (sent < SOCK_BUFFER + more) {
		peer_sends(SOCK_BUFFER + more);
		fixture_round(&f);
	}
	fixture_until(&f, is_full_of_some);
	for (unsigned i = 0; i < 20; i++)
		fixture_round(&f);
	assert_int_equal(f.seen.eof_waits, 0);
}

/** It is known to the kernel, but nothing is read that would tell. */
static void the_end_waits_behind_a_full_buffer(void **state)
{
	static const size_t more[] = {0, 10000};

	for (unsigned i = 0; i < 2; i++) {
		leave_a_full_buffer(more[i]);
		shutdown(f.peer_fd, SHUT_WR);
		fixture_until(&f, end_waits);
		for (unsigned k = 0; k < 20; k++)
			fixture_round(&f);
		assert_int_equal(f.seen.eof_waits, 1);
		assert_int_equal(f.seen.eofs, 0);
		f.seen.take = SIZE_MAX;
		llp_resume(f.seen.llp);
		fixture_until(&f, has_eof);
		assert_int_equal(f.seen.len, SOCK_BUFFER + more[i]);
		assert_int_equal(f.seen.eof_waits, 1);
		end();
	}
}

/** And each time that some was taken and more was read, but not all. */
static void the_end_waits_again(void **state)
{
	leave_a_full_buffer(10000);
	shutdown(f.peer_fd, SHUT_WR);
	fixture_until(&f, end_waits);
	f.seen.take = 5000;
	llp_resume(f.seen.llp);
	f.seen.take = 0;
	f.seen.eof_waits = 0;
	fixture_until(&f, end_waits);
	assert_int_equal(f.seen.eofs, 0);
	f.seen.take = 5000 + 1; /* now less than a buffer waits */
	llp_resume(f.seen.llp);
	f.seen.take = 0;
	fixture_until(&f, has_eof);
	assert_int_equal(f.seen.len, 10001);
	end();
}

/** As over our own TCP: a peer that is lost is told of at once. */
static void a_reset_does_not_wait_behind_a_full_buffer(void **state)
{
	for (unsigned closed_first = 0; closed_first < 2; closed_first++) {
		leave_a_full_buffer(10000);
		if (closed_first) {
			shutdown(f.peer_fd, SHUT_WR);
			fixture_until(&f, end_waits);
		}
		fixture_peer_resets(&f);
		fixture_until(&f, fixture_is_closed);
		assert_int_equal(f.seen.error, -ECONNRESET);
		assert_int_equal(f.seen.eofs, 0);
		assert_int_equal(f.seen.eof_waits, closed_first);
		end();
	}
}

/** Our direction was closed before: nothing is lost, though the kernel has nothing more to do. */
static void both_ends_wait_behind_a_full_buffer(void **state)
{
	leave_a_full_buffer(10000);
	llp_shutdown(f.seen.llp);
	for (unsigned i = 0; i < 20; i++)
		fixture_round(&f);
	shutdown(f.peer_fd, SHUT_WR);
	fixture_until(&f, end_waits);
	for (unsigned i = 0; i < 20; i++)
		fixture_round(&f);
	assert_int_equal(f.seen.closes, 0);
	f.seen.take = SIZE_MAX;
	llp_resume(f.seen.llp);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.len, SOCK_BUFFER + 10000);
	assert_int_equal(f.seen.error, 0);
	end();
}

static bool has_closed_and_eof(struct fixture *x)
{
	return x->seen.closes != 0 && x->seen.eofs != 0;
}

/** Both sides have closed behind 1,000 bytes that the user does not take. */
static void both_close_behind_what_is_left(void)
{
	f.seen.take = 0;
	peer_sends(1000);
	llp_shutdown(f.seen.llp);
	shutdown(f.peer_fd, SHUT_WR);
}

/** The kernel has told all: what the user has yet to take is here alone. */
static void both_ends_come_behind_what_is_left(void **state)
{
	begin();
	both_close_behind_what_is_left();
	fixture_until(&f, has_eof);
	for (unsigned i = 0; i < 20; i++)
		fixture_round(&f);
	assert_int_equal(f.seen.closes, 0);
	f.seen.take = 999;
	llp_resume(f.seen.llp);
	assert_int_equal(f.seen.closes, 0);
	llp_resume(f.seen.llp);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.len, 1000);
	assert_int_equal(f.seen.error, 0);
	end();
}

/** The user needs more than there is, and no more comes. */
static void what_is_of_no_use_does_not_hold_up_the_end(void **state)
{
	begin();
	f.seen.need = 1001;
	both_close_behind_what_is_left();
	fixture_until(&f, has_closed_and_eof);
	assert_int_equal(f.seen.error, 0);
	end();
}

/** The kernel has both ends, and no more events. */
static bool is_over_in_kernel(struct fixture *x)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof info;
	int fd = sock_conn_of(x->seen.llp)->source.fd;

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state == TCP_CLOSE;
}

/** Nor does what is left, and nobody will take, keep the socket. */
static void nor_does_a_user_that_lets_go_hold_it_up(void **state)
{
	begin();
	both_close_behind_what_is_left();
	fixture_until(&f, has_eof);
	fixture_until(&f, is_over_in_kernel);
	for (unsigned i = 0; i < 20; i++)
		fixture_round(&f);
	assert_int_equal(f.seen.closes, 0);
	llp_release(f.seen.llp);
	f.seen.llp = NULL;
	assert_int_equal(sock_stack_stats(f.s)->connections, 0);
	end();
	assert_int_equal(f.seen.closes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_comes_in_order),
		cmocka_unit_test(an_urgent_byte_is_one_of_the_stream),
		cmocka_unit_test(what_is_left_is_shown_again_with_more),
		cmocka_unit_test(nothing_is_shown_before_it_is_enough),
		cmocka_unit_test(a_paused_user_holds_one_buffer),
		cmocka_unit_test(paused_users_hold_so_many_bytes),
		cmocka_unit_test(resuming_inside_shows_the_rest_at_once),
		cmocka_unit_test(a_user_may_end_it_inside),
		cmocka_unit_test(the_end_comes_behind_all_bytes),
		cmocka_unit_test(the_end_waits_behind_a_full_buffer),
		cmocka_unit_test(the_end_waits_again),
		cmocka_unit_test(a_reset_does_not_wait_behind_a_full_buffer),
		cmocka_unit_test(both_ends_wait_behind_a_full_buffer),
		cmocka_unit_test(both_ends_come_behind_what_is_left),
		cmocka_unit_test(what_is_of_no_use_does_not_hold_up_the_end),
		cmocka_unit_test(nor_does_a_user_that_lets_go_hold_it_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
