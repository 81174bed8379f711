/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sock/fixture.h"

#include <unistd.h>

static struct fixture f;
static uint8_t next_out;
static uint64_t end;

static void begin(void)
{
	next_out = 0;
	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
}

static bool is_acked(struct fixture *fx)
{
	return llp_acked(fx->seen.llp) == end;
}

static bool is_told(struct fixture *fx)
{
	return fx->seen.ackeds != 0;
}

static bool is_rest_unacked(struct fixture *fx)
{
	return llp_acked(fx->seen.llp) + llp_unacked(fx->seen.llp) == end;
}

static void send_some(size_t len)
{
	assert_int_equal(fixture_queue(&f, len, 1000, &next_out), len);
	end = llp_queued(f.seen.llp);
}

static void what_is_sent_is_acknowledged_and_told(void **state)
{
	begin();
	llp_watch_acks(f.seen.llp);
	send_some(3000);
	assert_int_equal(end, 3000);
	assert_int_equal(llp_acked(f.seen.llp), 0); /* nothing has gone */
	fixture_until(&f, is_told);
	fixture_until(&f, is_acked);
	assert_true(llp_acked(f.seen.llp) <= llp_queued(f.seen.llp));
	f.seen.ackeds = 0;
	send_some(500);
	assert_int_equal(end, 3500);
	fixture_until(&f, is_told);
	fixture_until(&f, is_acked);
	fixture_close(&f);
}

static void nobody_is_told_who_does_not_ask(void **state)
{
	begin();
	send_some(100);
	fixture_until(&f, is_acked);
	assert_int_equal(f.seen.ackeds, 0);
	fixture_close(&f);
}

/** The peer's buffer is full: what the kernel holds is not acknowledged. */
static void what_does_not_fit_waits(void **state)
{
	begin();
	for (unsigned i = 0; i < 2000; i++) {
		fixture_queue(&f, 10000, 1000, &next_out);
		fixture_round(&f);
	}
	end = llp_queued(f.seen.llp);
	fixture_until(&f, is_rest_unacked);
	assert_true(llp_unacked(f.seen.llp) > 0);
	fixture_close(&f);
}

/** A reset: what was acknowledged stays known in closed(), and no more than that. */
static void a_reset_tells_no_more(void **state)
{
	begin();
	llp_watch_acks(f.seen.llp);
	send_some(1000);
	fixture_until(&f, is_acked);
	close(f.peer_fd); /* with text unread: a reset */
	f.peer_fd = -1;
	send_some(1000);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.acked, 1000);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_is_acknowledged_and_told),
		cmocka_unit_test(nobody_is_told_who_does_not_ask),
		cmocka_unit_test(what_does_not_fit_waits),
		cmocka_unit_test(a_reset_tells_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
