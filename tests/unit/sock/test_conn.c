/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/conn.h"

#include "support/child_fork.h"
#include "support/limit.h"
#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fixture f;

static const char *const loopbacks[] = {"127.0.0.1", "::1"};

static bool has_come(struct fixture *x)
{
	return x->seen.len == 4;
}

static bool has_eof(struct fixture *x)
{
	return x->seen.eofs != 0;
}

/** What the peer's socket reads: bytes, 0, or -errno. */
static ssize_t peer_reads(void *buf, size_t len)
{
	ssize_t n = recv(f.peer_fd, buf, len, MSG_WAITALL);

	return n < 0 ? -errno : n;
}

static void it_connects_and_tells_its_endpoints(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct ip_endpoint local, remote;

		fixture_open(&f, NULL);
		fixture_connect(&f, loopbacks[i]);
		llp_endpoints(f.seen.llp, &local, &remote);
		assert_true(ip_addr_equal(&local.addr, &remote.addr));
		assert_int_not_equal(local.port, 0);
		assert_int_not_equal(local.port, remote.port);
		assert_true(llp_emss(f.seen.llp) >= 536);
		assert_int_equal(f.seen.connected, 1);
		fixture_close(&f);
	}
}

static bool is_connected(struct fixture *x)
{
	return x->seen.connected != 0;
}

/** Options of TCP's header take their part of what the peer takes. */
static void a_record_fits_a_segment_of_the_peers(void **state)
{
	const int most = 1400;
	uint16_t port;

	fixture_open(&f, NULL);
	port = fixture_peer_listens(&f, "127.0.0.1");
	assert_int_equal(setsockopt(f.listen_fd, IPPROTO_TCP, TCP_MAXSEG, &most, sizeof most), 0);
	assert_int_equal(fixture_begin(&f, fixture_at("127.0.0.1", port)), 0);
	fixture_until(&f, is_connected);
	assert_in_range(llp_emss(f.seen.llp), most - 40, most);
	fixture_close(&f);
}

static void a_larger_record_may_be_asked_for(void **state)
{
	const struct sock_stack_config cfg = {.record_max = 200000};

	fixture_open(&f, &cfg);
	fixture_connect(&f, "127.0.0.1");
	assert_int_equal(llp_emss(f.seen.llp), 200000);
	fixture_close(&f);
}

static void a_refusal_is_told_after_the_call(void **state)
{
	uint16_t port;

	fixture_open(&f, NULL);
	port = fixture_peer_listens(&f, "127.0.0.1");
	close(f.listen_fd);
	f.listen_fd = -1;
	assert_int_equal(fixture_begin(&f, fixture_at("127.0.0.1", port)), 0);
	assert_int_equal(f.seen.closes, 0);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.error, -ECONNREFUSED);
	assert_int_equal(f.seen.connected, 0);
	assert_int_equal(sock_stack_stats(f.s)->connections, 0);
	fixture_close(&f);
}

static void what_cannot_be_reached_is_said_at_once(void **state)
{
	fixture_open(&f, NULL);
	assert_int_equal(fixture_begin(&f, fixture_at("224.0.0.1", 1)), -ENETUNREACH);
	assert_int_equal(fixture_begin(&f, fixture_at("::", 1)), -ENETUNREACH);
	fixture_close(&f);
}

static void a_local_address_must_be_ours(void **state)
{
	const struct ip_addr only = fixture_at("127.0.0.2", 0).addr;
	const struct sock_stack_config cfg = {.addresses = &only, .num_addresses = 1};
	struct llp_connect_params p = {.local = fixture_at("127.0.0.1", 0)};
	struct ip_endpoint local, remote;
	struct ip_addr source;

	fixture_open(&f, &cfg);
	p.remote = fixture_at("127.0.0.1", fixture_peer_listens(&f, "127.0.0.1"));
	assert_int_equal(llp_connect(f.llp, &p, &seen_ops, &f.seen, &f.seen.llp), -EADDRNOTAVAIL);
	assert_true(llp_is_local(f.llp, &only));
	assert_false(llp_is_local(f.llp, &p.local.addr));
	/* The route's own source is not ours: ours is. */
	assert_int_equal(llp_source(f.llp, &p.remote.addr, &source), 0);
	assert_true(ip_addr_equal(&source, &only));
	assert_int_equal(fixture_begin(&f, p.remote), 0);
	llp_endpoints(f.seen.llp, &local, &remote);
	assert_true(ip_addr_equal(&local.addr, &only));
	fixture_close(&f);
}

static void both_close_in_good_order(void **state)
{
	uint8_t byte;

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	llp_shutdown(f.seen.llp);
	assert_null(llp_reserve(f.seen.llp, 1, false));
	fixture_round(&f);
	assert_int_equal(peer_reads(&byte, 1), 0);
	assert_int_equal(f.seen.closes, 0);
	close(f.peer_fd);
	f.peer_fd = -1;
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.eofs, 1);
	assert_int_equal(f.seen.error, 0);
	fixture_close(&f);
}

static void the_peer_closes_first(void **state)
{
	uint8_t next = 0, got[100];

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	assert_int_equal(send(f.peer_fd, "last", 4, 0), 4);
	assert_int_equal(shutdown(f.peer_fd, SHUT_WR), 0);
	fixture_until(&f, has_eof);
	assert_int_equal(f.seen.len, 4);
	/* Our direction is open yet. */
	assert_int_equal(fixture_queue(&f, 100, 100, &next), 100);
	llp_shutdown(f.seen.llp);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.error, 0);
	assert_int_equal(peer_reads(got, sizeof got), 100);
	assert_int_equal(peer_reads(got, 1), 0);
	fixture_close(&f);
}

static void a_reset_is_told(void **state)
{
	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	fixture_peer_resets(&f);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.error, -ECONNRESET);
	assert_int_equal(f.seen.closes, 1);
	fixture_close(&f);
}

/** The last words of a peer come before its reset, also when we were sending. */
static void what_came_before_a_reset_is_shown(void **state)
{
	uint8_t next = 0;

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	assert_int_equal(fixture_queue(&f, 1000, 1000, &next), 1000);
	fixture_round(&f);
	assert_int_equal(send(f.peer_fd, "why", 3, 0), 3);
	/* Our bytes are unread there: this resets. */
	close(f.peer_fd);
	f.peer_fd = -1;
	fixture_queue(&f, 1000, 1000, &next);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.len, 3);
	assert_int_equal(f.seen.error, -ECONNRESET);
	fixture_close(&f);
}

static void close_our_direction(void)
{
	uint8_t byte;

	llp_shutdown(f.seen.llp);
	fixture_round(&f);
	assert_int_equal(peer_reads(&byte, 1), 0);
}

static void an_abort_resets_and_tells_nothing(void **state)
{
	uint8_t byte;

	for (unsigned shut = 0; shut < 2; shut++) {
		fixture_open(&f, NULL);
		fixture_connect(&f, "127.0.0.1");
		if (shut)
			close_our_direction();
		llp_abort(f.seen.llp);
		fixture_round(&f);
		if (shut)
			assert_int_equal(send(f.peer_fd, "x", 1, MSG_NOSIGNAL), -1);
		else
			assert_int_equal(peer_reads(&byte, 1), -ECONNRESET);
		assert_int_equal(f.seen.closes, 0);
		assert_int_equal(sock_stack_stats(f.s)->connections, 0);
		fixture_close(&f);
	}
}

static bool peer_was_reset(void)
{
	struct pollfd p = {.fd = f.peer_fd, .events = POLLIN};
	uint8_t byte;

	return poll(&p, 1, LIMIT_MS) == 1 && recv(f.peer_fd, &byte, 1, 0) < 0 &&
	       errno == ECONNRESET;
}

/** A child that has yet to execute its program holds what the parent closes. */
static void an_abort_does_not_wait_for_a_child(void **state)
{
	for (unsigned shut = 0; shut < 2; shut++) {
		pid_t child;

		fixture_open(&f, NULL);
		fixture_connect(&f, "127.0.0.1");
		child = fixture_child();
		if (shut)
			close_our_direction();
		llp_abort(f.seen.llp);
		fixture_assert_untold(&f);
		if (shut)
			assert_int_equal(send(f.peer_fd, "x", 1, MSG_NOSIGNAL), -1);
		else
			assert_true(peer_was_reset());
		fixture_end_child(child);
		fixture_close(&f);
	}
}

static bool nothing_is_open(struct fixture *x)
{
	return sock_stack_stats(x->s)->connections == 0;
}

static void a_release_delivers_all_that_is_queued(void **state)
{
	static uint8_t got[100000];
	uint8_t next = 0;

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	assert_int_equal(fixture_queue(&f, sizeof got, 1000, &next), sizeof got);
	/* What comes is of no interest any more, and does not reset the connection. */
	assert_int_equal(send(f.peer_fd, "dropped", 7, 0), 7);
	llp_release(f.seen.llp);
	assert_true(sock_is_parting(f.s));
	fixture_round(&f);
	assert_int_equal(send(f.peer_fd, "dropped", 7, 0), 7);
	fixture_round(&f);
	assert_int_equal(peer_reads(got, sizeof got), sizeof got);
	for (size_t i = 0; i < sizeof got; i++)
		assert_int_equal(got[i], (uint8_t)i);
	assert_int_equal(peer_reads(got, 1), 0);
	assert_false(sock_is_parting(f.s));
	close(f.peer_fd);
	f.peer_fd = -1;
	fixture_until(&f, nothing_is_open);
	assert_int_equal(f.seen.closes, 0);
	fixture_close(&f);
}

static bool is_accepted(struct fixture *x)
{
	return x->seen.llp != NULL;
}

/** Accept connection @p i, of which the first is there, and close it: its peer does not. @return
 * that.
 */
static int close_next(const struct ip_endpoint *at, unsigned i)
{
	int fd = i ? fixture_plain_connect(at) : f.peer_fd;
	char byte;

	assert_true(fd >= 0);
	fixture_until(&f, is_accepted);
	llp_release(f.seen.llp);
	f.seen.llp = NULL;
	fixture_round(&f);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	return fd;
}

/** Of those that we have closed and their peer has not the oldest goes for one more. */
static void so_many_wait_for_their_peer_at_most(void **state)
{
	const struct sock_stack_config cfg = {.max_orphans = 2};
	struct ip_endpoint at, remote;
	int fd[4];

	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &at, &remote);
	for (unsigned i = 0; i < 4; i++) {
		fd[i] = close_next(&at, i);
		assert_int_equal(sock_stack_stats(f.s)->connections, i ? 2 : 1);
	}
	assert_int_equal(sock_stack_stats(f.s)->orphans_recycled, 2);
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
	f.peer_fd = -1;
	fixture_until(&f, nothing_is_open);
	fixture_close(&f);
}

/** What ended in good order and is let go is not told of either, while a child holds it. */
static void one_for_too_many_is_not_told_of_again(void **state)
{
	const struct sock_stack_config cfg = {.max_orphans = 1};
	struct ip_endpoint at, remote;
	int fd[2];
	pid_t child;

	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &at, &remote);
	child = fixture_child();
	for (unsigned i = 0; i < 2; i++)
		fd[i] = close_next(&at, i);
	assert_int_equal(sock_stack_stats(f.s)->orphans_recycled, 1);
	fixture_round(&f);
	assert_int_equal(send(fd[0], "x", 1, MSG_NOSIGNAL), 1);
	fixture_assert_untold(&f);
	fixture_end_child(child);
	close(fd[0]);
	close(fd[1]);
	f.peer_fd = -1;
	fixture_close(&f);
}

static void unacknowledged_bytes_are_counted(void **state)
{
	uint8_t next = 0;

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	assert_int_equal(fixture_queue(&f, 5000, 1000, &next), 5000);
	assert_int_equal(llp_unacked(f.seen.llp), 5000);
	fixture_round(&f);
	while (llp_unacked(f.seen.llp))
		fixture_round(&f);
	fixture_close(&f);
}

/** A process that ends resets what it has not closed. */
static void the_end_of_the_process_resets(void **state)
{
	uint8_t byte;

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	sock_reset_all(f.s);
	assert_int_equal(peer_reads(&byte, 1), -ECONNRESET);
	fixture_close(&f);
}

static void the_end_of_the_process_does_not_wait_for_a_child(void **state)
{
	pid_t child;

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	child = fixture_child();
	sock_reset_all(f.s);
	assert_true(peer_was_reset());
	fixture_end_child(child);
	fixture_close(&f);
}

/** A child that is told of fork() has its parent's sockets and its epoll: it changes neither. */
static void a_child_lets_go_of_what_is_its_parents(void **state)
{
	int status;
	pid_t child;

	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
	child = child_fork();
	assert_true(child >= 0);
	if (!child) {
		sock_let_go(f.s);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(send(f.peer_fd, "here", 4, 0), 4);
	fixture_until(&f, has_come);
	fixture_close(&f);
}

static bool kernel_has_sysctl_below(const char *path, unsigned long long bytes)
{
	FILE *file = fopen(path, "r");
	unsigned long long most = bytes;

	if (!file)
		return false;
	if (fscanf(file, "%llu", &most) != 1)
		most = bytes;
	fclose(file);
	return most < bytes;
}

/** Once, however many sockets there are. */
static void a_buffer_that_the_kernel_does_not_give_is_told_of(void **state)
{
	static const char *const sysctl[] = {"wmem_max", "rmem_max"};

	for (unsigned i = 0; i < 2; i++) {
		struct sock_stack_config cfg = {0};
		char path[64];

		snprintf(path, sizeof path, "/proc/sys/net/core/%s", sysctl[i]);
		if (!kernel_has_sysctl_below(path, 1023u << 20))
			skip();
		*(i ? &cfg.receive_buffer : &cfg.send_buffer) = 1023u << 20;
		fixture_open(&f, &cfg);
		fixture_connect(&f, "127.0.0.1");
		assert_int_equal(f.lines, 1);
		assert_non_null(strstr(f.log, sysctl[i]));
		assert_int_equal(fixture_begin(&f, fixture_at("127.0.0.1", 1)), 0);
		assert_int_equal(f.lines, 1);
		fixture_close(&f);
		/* What it gives is not told of. */
		*(i ? &cfg.receive_buffer : &cfg.send_buffer) = 16384;
		fixture_open(&f, &cfg);
		fixture_connect(&f, "127.0.0.1");
		assert_int_equal(f.lines, 0);
		fixture_close(&f);
	}
}

static void errors_are_those_of_the_interface(void **state)
{
	assert_int_equal(sock_conn_error(0), 0);
	assert_int_equal(sock_conn_error(-ETIMEDOUT), -ETIMEDOUT);
	assert_int_equal(sock_conn_error(-EPIPE), -ECONNRESET);
	assert_int_equal(sock_conn_error(-EPERM), -EHOSTUNREACH);
	assert_int_equal(sock_conn_error(-EIO), -ECONNABORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_connects_and_tells_its_endpoints),
		cmocka_unit_test(a_record_fits_a_segment_of_the_peers),
		cmocka_unit_test(a_larger_record_may_be_asked_for),
		cmocka_unit_test(a_refusal_is_told_after_the_call),
		cmocka_unit_test(what_cannot_be_reached_is_said_at_once),
		cmocka_unit_test(a_local_address_must_be_ours),
		cmocka_unit_test(both_close_in_good_order),
		cmocka_unit_test(the_peer_closes_first),
		cmocka_unit_test(a_reset_is_told),
		cmocka_unit_test(what_came_before_a_reset_is_shown),
		cmocka_unit_test(an_abort_resets_and_tells_nothing),
		cmocka_unit_test(an_abort_does_not_wait_for_a_child),
		cmocka_unit_test(the_end_of_the_process_does_not_wait_for_a_child),
		cmocka_unit_test(a_child_lets_go_of_what_is_its_parents),
		cmocka_unit_test(one_for_too_many_is_not_told_of_again),
		cmocka_unit_test(a_release_delivers_all_that_is_queued),
		cmocka_unit_test(so_many_wait_for_their_peer_at_most),
		cmocka_unit_test(unacknowledged_bytes_are_counted),
		cmocka_unit_test(the_end_of_the_process_resets),
		cmocka_unit_test(a_buffer_that_the_kernel_does_not_give_is_told_of),
		cmocka_unit_test(errors_are_those_of_the_interface),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
