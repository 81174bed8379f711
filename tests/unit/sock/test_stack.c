/* SPDX-License-Identifier: BSD-2-Clause */
/* In which rounds the stack asks epoll. Time is the test's own. */
#include "tests/unit/sock/fixture.h"

#include "support/limit.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/** Longer than between two looks at epoll. */
#define STEP_NS UINT64_C(10000)

static struct fixture f;
static uint64_t now;

static void begin(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	fixture_open(&f, NULL);
	fixture_accept(&f, "127.0.0.1");
	now += 1000000000;
}

static unsigned poll_at(uint64_t at)
{
	unsigned handled;

	sock_set_now(f.s, at);
	handled = sock_poll(f.s);
	timer_wheel_run(&f.wheel, at);
	sock_flush(f.s);
	return handled;
}

/** The kernel delivers when it likes. */
static void patience(void)
{
	poll(NULL, 0, 1);
}

/** A byte comes, in rounds that are @p step apart. */
static void byte_comes(uint64_t step)
{
	size_t want = f.seen.len + 1;

	assert_int_equal(send(f.peer_fd, "", 1, 0), 1);
	for (unsigned i = 0; f.seen.len < want; i++) {
		assert_true(i < 30000);
		now += step;
		poll_at(now);
		if (f.seen.len < want)
			patience();
	}
}

/** Nothing is left of what epoll had to tell, and that was seen just now. */
static void settle(void)
{
	do
		now += STEP_NS;
	while (poll_at(now));
}

/** A connection that the listener has not been told of. */
static int another_connects(void)
{
	struct pollfd p = {.fd = sock_fd(f.s), .events = POLLIN};
	struct ip_endpoint local, remote;
	int fd;

	f.accept_result = -1;
	llp_endpoints(f.seen.llp, &local, &remote);
	fd = fixture_plain_connect(&local);
	assert_true(fd >= 0);
	assert_int_equal(poll(&p, 1, LIMIT_MS), 1);
	return fd;
}

static void one_alone_is_read_without_being_told_of(void **state)
{
	int fd;

	begin();
	for (unsigned i = 0; i < 8; i++)
		byte_comes(STEP_NS);
	settle();
	fd = another_connects();
	byte_comes(0);
	assert_int_equal(f.accepts, 1);
	/* Who waits longest is told of at the next look. */
	for (unsigned i = 0; f.accepts == 1; i++) {
		assert_true(i < 2);
		now += STEP_NS;
		poll_at(now);
	}
	close(fd);
	fixture_close(&f);
}

static void with_another_all_are_told_of(void **state)
{
	int fd;

	begin();
	for (unsigned i = 0; i < 2; i++)
		byte_comes(STEP_NS);
	settle();
	fd = another_connects();
	poll_at(now);
	assert_int_equal(f.accepts, 2);
	close(fd);
	fixture_close(&f);
}

static bool has_eof(struct fixture *x)
{
	return x->seen.eofs == 1;
}

/** Its end is seen, and it is not asked any more. */
static void one_alone_may_end(void **state)
{
	begin();
	for (unsigned i = 0; i < 8; i++)
		byte_comes(STEP_NS);
	settle();
	shutdown(f.peer_fd, SHUT_WR);
	for (unsigned i = 0; !has_eof(&f); i++) {
		assert_true(i < 30000);
		poll_at(now);
		if (!has_eof(&f))
			patience();
	}
	llp_abort(f.seen.llp);
	f.seen.llp = NULL;
	settle();
	assert_int_equal(sock_stack_stats(f.s)->connections, 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_alone_is_read_without_being_told_of),
		cmocka_unit_test(with_another_all_are_told_of),
		cmocka_unit_test(one_alone_may_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
