/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/buffer.h"

#include "support/wrapped.h"
#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h> /* libc's tcp_info is older */
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
WRAPPED int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __real_ioctl(int fd, unsigned long request, void *value);
WRAPPED int __wrap_ioctl(int fd, unsigned long request, void *value);

static struct fixture f;
/** Bytes that the kernel tells are not acknowledged; -1: it tells what is so. */
static int outq_told = -1;
/** The kernel tells so much of tcp_info. */
static socklen_t info_told = UINT16_MAX;
/** What it tells is made into this; NULL: it is as it is. */
static void (*info_made)(struct tcp_info *info);
/** It has tried so often to send again, and so often done it. */
static uint8_t info_tries, info_resent;
static uint8_t next_out, next_in;
static size_t read_in;

/** Read what is there and compare it with the pattern. */
static void peer_reads(void)
{
	static uint8_t buf[65536];
	ssize_t n;

	fcntl(f.peer_fd, F_SETFL, O_NONBLOCK);
	while ((n = recv(f.peer_fd, buf, sizeof buf, 0)) > 0)
		for (ssize_t i = 0; i < n; i++, read_in++)
			assert_int_equal(buf[i], next_in++);
}

static void begin(void)
{
	next_out = next_in = 0;
	read_in = 0;
	fixture_open(&f, NULL);
	fixture_connect(&f, "127.0.0.1");
}

static void records_of_a_round_go_in_one_call(void **state)
{
	uint64_t sends;

	begin();
	sends = sock_stack_stats(f.s)->sends;
	assert_int_equal(fixture_queue(&f, 50000, 100, &next_out), 50000);
	assert_int_equal(sock_stack_stats(f.s)->sends, sends);
	fixture_round(&f);
	assert_int_equal(sock_stack_stats(f.s)->sends, sends + 1);
	peer_reads();
	assert_int_equal(read_in, 50000);
	fixture_close(&f);
}

static void what_is_not_pushed_waits(void **state)
{
	uint8_t *room;

	begin();
	room = llp_reserve(f.seen.llp, 10, true);
	memset(room, 0, 10);
	llp_commit(f.seen.llp, 1);
	fixture_round(&f);
	peer_reads();
	assert_int_equal(read_in, 0);
	llp_push(f.seen.llp);
	fixture_round(&f);
	peer_reads();
	assert_int_equal(read_in, 1);
	fixture_close(&f);
}

static void a_reservation_may_be_cancelled(void **state)
{
	begin();
	assert_non_null(llp_reserve(f.seen.llp, 1000, false));
	llp_commit(f.seen.llp, 0);
	assert_int_equal(llp_unacked(f.seen.llp), 0);
	assert_null(llp_reserve(f.seen.llp, 0, false));
	assert_null(llp_reserve(f.seen.llp, SOCK_BUFFER + 1, false));
	fixture_close(&f);
}

static bool is_writable(struct fixture *x)
{
	peer_reads();
	return x->seen.writables != 0;
}

static bool nothing_is_unacked(struct fixture *x)
{
	peer_reads();
	return llp_unacked(x->seen.llp) == 0;
}

/** Until neither the kernel nor we have room: then nothing is lost, and writable() comes. */
static void a_full_buffer_is_told_when_it_has_room(void **state)
{
	size_t queued = 0, some;
	unsigned refused = 0;

	begin();
	while (refused < 50) {
		some = fixture_queue(&f, 65536, 65536, &next_out);
		queued += some;
		if (some)
			f.seen.writables = 0;
		refused = some ? 0 : refused + 1;
		fixture_round(&f);
	}
	assert_int_equal(f.seen.writables, 0);
	fixture_until(&f, is_writable);
	fixture_until(&f, nothing_is_unacked);
	assert_int_equal(read_in, queued);
	fixture_close(&f);
}

/** A part of a segment that could wait for more does not, when there is no more. */
static void what_waits_in_the_kernel_goes(void **state)
{
	begin();
	assert_int_equal(fixture_queue(&f, SOCK_BUFFER - 7, 65535, &next_out), SOCK_BUFFER - 7);
	assert_null(llp_reserve(f.seen.llp, 1000, false));
	fixture_round(&f);
	assert_int_equal(f.seen.writables, 1);
	fixture_until(&f, nothing_is_unacked);
	assert_int_equal(read_in, SOCK_BUFFER - 7);
	fixture_close(&f);
}

static bool has_read_all(struct fixture *x)
{
	peer_reads();
	return read_in == 10000;
}

/** Small messages one after the other share system calls; none waits for good. */
static void a_series_of_small_ones_is_gathered(void **state)
{
	begin();
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(fixture_queue(&f, 10, 10, &next_out), 10);
		sock_flush(f.s);
	}
	/* Time stands still for the stack: the first few went, the rest is one more. */
	assert_true(sock_stack_stats(f.s)->sends < 10);
	fixture_until(&f, has_read_all);
	fixture_close(&f);
}

/** A peer that answers is not kept waiting. */
static void an_answer_is_not_held_back(void **state)
{
	uint64_t sends;

	begin();
	for (unsigned i = 0; i < 100; i++) {
		size_t len = f.seen.len;

		assert_int_equal(send(f.peer_fd, "?", 1, 0), 1);
		while (f.seen.len == len)
			fixture_round(&f);
		sends = sock_stack_stats(f.s)->sends;
		assert_int_equal(fixture_queue(&f, 10, 10, &next_out), 10);
		sock_flush(f.s);
		assert_int_equal(sock_stack_stats(f.s)->sends, sends + 1);
	}
	fixture_close(&f);
}

/** A round at a time that goes by as it likes. */
static void round_at(uint64_t now)
{
	sock_set_now(f.s, now);
	sock_poll(f.s);
	timer_wheel_run(&f.wheel, now);
	sock_flush(f.s);
}

/** Send without a pause for @p ms of the stack's time, or until it is over. */
static void send_for(unsigned ms, bool reads)
{
	static uint64_t now;

	now = now > f.wheel.now ? now : f.wheel.now;
	for (unsigned i = 0; i < ms / 10 && f.seen.closes == 0; i++) {
		if (f.seen.llp)
			fixture_queue(&f, 200000, 50000, &next_out);
		round_at(now += 10000000);
		if (reads)
			peer_reads();
		poll(NULL, 0, 1);
	}
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int rc = __real_getsockopt(fd, level, name, value, len);

	if (rc == 0 && level == IPPROTO_TCP && name == TCP_INFO && *len > info_told) {
		memset((uint8_t *)value + info_told, 0, *len - info_told);
		*len = info_told;
	}
	if (rc == 0 && level == IPPROTO_TCP && name == TCP_INFO && info_made)
		info_made(value);
	return rc;
}

int __wrap_ioctl(int fd, unsigned long request, void *value)
{
	int rc = __real_ioctl(fd, request, value);

	if (rc == 0 && request == SIOCOUTQ && outq_told >= 0)
		*(int *)value = outq_told;
	return rc;
}

/** The last answer to a probe of its closed window is long past, and the next one not sent. */
static void info_between_probes(struct tcp_info *info)
{
	info->tcpi_unacked = info->tcpi_probes = 0;
	info->tcpi_last_ack_recv = 90000;
}

static void info_probed(struct tcp_info *info)
{
	info_between_probes(info);
	info->tcpi_probes = 1;
}

static void info_sent(struct tcp_info *info)
{
	info_between_probes(info);
	info->tcpi_unacked = 1;
	info->tcpi_last_data_sent = 0;
	info->tcpi_backoff = info_tries;
	info->tcpi_total_retrans = info_resent;
}

/** Sent again, and answered, without a part of it being taken. */
static void info_answered(struct tcp_info *info)
{
	info_sent(info);
	info->tcpi_last_data_sent = info->tcpi_last_ack_recv;
	info->tcpi_snd_wnd = 0;
}

/** In the jiffy in which something came last. */
static void info_sent_at_once(struct tcp_info *info)
{
	info_sent(info);
	info->tcpi_last_data_sent = info->tcpi_last_ack_recv;
}

/** Before it: an earlier text was acknowledged. */
static void info_sent_before(struct tcp_info *info)
{
	info_sent(info);
	info->tcpi_last_data_sent = info->tcpi_last_ack_recv + 4;
}

/** The kernel does not say when it has sent a FIN. */
static void info_fin_sent(struct tcp_info *info)
{
	info_sent(info);
	info->tcpi_last_data_sent = info->tcpi_last_ack_recv + 1;
}

/** More than the kernel takes, for a peer that reads nothing. @return the time. */
static uint64_t begin_filled(const struct sock_stack_config *cfg)
{
	uint64_t now;

	next_out = next_in = 0;
	read_in = 0;
	fixture_open(&f, cfg);
	fixture_connect(&f, "127.0.0.1");
	now = f.wheel.now;
	while (fixture_queue(&f, 200000, 50000, &next_out) == 200000)
		round_at(now);
	return now;
}

/** Rounds for @p ms of the stack's time. */
static void rounds_for(uint64_t *now, unsigned ms)
{
	for (unsigned i = 0; i < ms / 10; i++)
		round_at(*now += 10000000);
}

/** Not yet, but in the next second. */
static void expect_timed_out(uint64_t *now)
{
	assert_int_equal(f.seen.closes, 0);
	rounds_for(now, 1000);
	assert_int_equal(f.seen.closes, 1);
	assert_int_equal(f.seen.error, -ETIMEDOUT);
	info_made = NULL;
	fixture_close(&f);
}

/** The kernel asks less and less often, and a peer that answers each time is not silent. */
static void a_closed_window_is_not_silence(void **state)
{
	const struct sock_stack_config cfg = {.user_timeout_ms = 1000};
	uint64_t now;

	if (!fixture_has_tcp_info())
		skip();
	now = begin_filled(&cfg);
	info_made = info_between_probes;
	rounds_for(&now, 120000);
	assert_int_equal(f.seen.closes, 0);
	/* Probed again and again, and answered in between. */
	for (unsigned i = 0; i < 100; i++) {
		info_made = info_probed;
		rounds_for(&now, 500);
		info_made = info_between_probes;
		rounds_for(&now, 500);
	}
	assert_int_equal(f.seen.closes, 0);
	info_made = NULL;
	while (llp_unacked(f.seen.llp)) {
		round_at(now += 10000);
		peer_reads();
	}
	peer_reads();
	assert_int_equal((uint8_t)read_in, next_out);
	fixture_close(&f);
}

/** What was in flight when the peer shrank its window is sent again, also ever less often. */
static void a_window_that_shrank_is_not_silence(void **state)
{
	const struct sock_stack_config cfg = {.user_timeout_ms = 1000};
	uint64_t now;

	if (!fixture_has_tcp_info())
		skip();
	now = begin_filled(&cfg);
	for (unsigned i = 0; i < 20; i++) {
		info_made = info_sent;
		info_tries = info_resent = (uint8_t)i;
		rounds_for(&now, 500);
		info_made = info_answered;
		rounds_for(&now, 5000);
	}
	info_made = info_sent;
	rounds_for(&now, 900);
	expect_timed_out(&now);
	info_tries = info_resent = 0;
}

/** A link that is down, or a route that is gone: nothing leaves that could be answered. */
static void a_way_that_is_lost_is_silence(void **state)
{
	static void (*const made[])(struct tcp_info *) = {
		info_sent_at_once, info_sent_before, info_answered};
	const struct sock_stack_config cfg = {.user_timeout_ms = 1000};

	if (!fixture_has_tcp_info())
		skip();
	for (unsigned i = 0; i < sizeof made / sizeof *made; i++) {
		uint64_t now = begin_filled(&cfg);

		info_made = made[i];
		info_tries = info_resent = 3; /* these went out */
		rounds_for(&now, 5000);
		assert_int_equal(f.seen.closes, 0);
		info_tries++;
		rounds_for(&now, 900);
		expect_timed_out(&now);
		info_tries = info_resent = 0;
	}
}

/** Nothing but a FIN is out, and it is not acknowledged. */
static void a_fin_in_vain_ends_it(void **state)
{
	const struct sock_stack_config cfg = {.user_timeout_ms = 1000};
	uint64_t now;

	if (!fixture_has_tcp_info())
		skip();
	fixture_open(&f, &cfg);
	fixture_connect(&f, "127.0.0.1");
	now = f.wheel.now;
	llp_shutdown(f.seen.llp);
	outq_told = 1;
	info_made = info_fin_sent;
	rounds_for(&now, 900);
	expect_timed_out(&now);
	outq_told = -1;
}

/** From when it was asked. */
static void what_is_asked_in_vain_ends_it(void **state)
{
	const struct sock_stack_config cfg = {.user_timeout_ms = 1000};

	if (!fixture_has_tcp_info())
		skip();
	for (unsigned i = 0; i < 2; i++) {
		uint64_t now = begin_filled(&cfg);

		info_made = info_between_probes;
		rounds_for(&now, 5000);
		info_made = i ? info_sent : info_probed;
		rounds_for(&now, 900);
		expect_timed_out(&now);
	}
}

static void a_closed_window_ends_it_after_its_time(void **state)
{
	const struct sock_stack_config cfg = {.zero_window_timeout_ms = 1000};

	if (!fixture_has_tcp_info())
		skip();
	next_out = next_in = 0;
	fixture_open(&f, &cfg);
	fixture_connect(&f, "127.0.0.1");
	send_for(20000, false);
	assert_int_equal(f.seen.closes, 1);
	assert_int_equal(f.seen.error, -ETIMEDOUT);
	assert_int_equal(sock_stack_stats(f.s)->zero_window_timeouts, 1);
	fixture_close(&f);
	/* A peer that reads lives, and one that does not where no time is set. */
	for (unsigned i = 0; i < 2; i++) {
		next_out = next_in = 0;
		fixture_open(&f, i == 0 ? &cfg : NULL);
		fixture_connect(&f, "127.0.0.1");
		send_for(4000, i == 0);
		assert_int_equal(f.seen.closes, 0);
		fixture_close(&f);
	}
}

/** As Linux before 4.6 does, and qemu-user: what is not told of is not zero. */
static void who_is_told_little_ends_nothing(void **state)
{
	const struct sock_stack_config cfg = {.zero_window_timeout_ms = 1000};

	for (info_told = 4; info_told <= 104; info_told += 100) {
		next_out = next_in = 0;
		fixture_open(&f, &cfg);
		fixture_connect(&f, "127.0.0.1");
		send_for(4000, true);
		assert_int_equal(f.seen.closes, 0);
		assert_int_equal(sock_stack_stats(f.s)->zero_window_timeouts, 0);
		fixture_close(&f);
	}
	info_told = UINT16_MAX;
}

/** The process, or the machine, stood still: what the peer had no time for is no silence of it. */
static void to_stand_still_is_nobodys_silence(void **state)
{
	const struct sock_stack_config cfg = {
		.user_timeout_ms = 1000, .zero_window_timeout_ms = 1000};

	if (!fixture_has_tcp_info())
		skip();
	/* Something is sent and not acknowledged; or all is behind a closed window. */
	for (unsigned i = 0; i < 2; i++) {
		uint64_t now = begin_filled(&cfg);

		info_made = i ? info_between_probes : info_sent;
		rounds_for(&now, 500);
		for (unsigned stops = 0; stops < 3; stops++) {
			round_at(now += UINT64_C(60000000000));
			assert_int_equal(f.seen.closes, 0);
		}
		rounds_for(&now, 200);
		expect_timed_out(&now);
	}
}

/** A released one, or one whose last words wait for room, is not held by a closed window. */
static void a_closed_window_holds_no_orphan(void **state)
{
	const struct sock_stack_config cfg = {.user_timeout_ms = 1000};

	if (!fixture_has_tcp_info())
		skip();
	for (unsigned i = 0; i < 4; i++) {
		bool released = i & 1;
		uint64_t now = begin_filled(&cfg);

		/* Closed, or taken back in front of what is in flight. */
		info_made = i & 2 ? info_answered : info_between_probes;
		rounds_for(&now, 4000);
		assert_int_equal(f.seen.closes, 0);
		llp_orphan(f.seen.llp);
		if (released)
			llp_release(f.seen.llp);
		rounds_for(&now, 700);
		assert_int_equal(f.seen.closes, 0);
		assert_int_equal(sock_stack_stats(f.s)->connections, 1);
		rounds_for(&now, 1000);
		assert_int_equal(sock_stack_stats(f.s)->connections, 0);
		assert_int_equal(sock_stack_stats(f.s)->zero_window_timeouts, 0);
		assert_int_equal(f.seen.closes, !released);
		if (released)
			f.seen.llp = NULL;
		else
			assert_int_equal(f.seen.error, -ETIMEDOUT);
		info_made = NULL;
		fixture_close(&f);
	}
}

/** Nor does it take of the time that a released connection waits for its peer's end. */
static void to_stand_still_ends_no_orphan(void **state)
{
	uint64_t now;
	char byte;

	begin();
	now = f.wheel.now;
	llp_release(f.seen.llp);
	f.seen.llp = NULL;
	round_at(now += 10000000);
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), 0);
	while (sock_is_parting(f.s))
		poll(NULL, 0, 1); /* the kernel delays the acknowledgement */
	rounds_for(&now, 20000);
	round_at(now += UINT64_C(600000000000));
	rounds_for(&now, 20000);
	assert_int_equal(sock_stack_stats(f.s)->connections, 1);
	rounds_for(&now, 60000);
	assert_int_equal(sock_stack_stats(f.s)->connections, 0);
	fixture_close(&f);
}

/** One that is released when we run again, before what was late: it begins to wait then. */
static void to_be_released_late_ends_no_orphan(void **state)
{
	const struct sock_stack_config cfg = {.user_timeout_ms = 1000};
	uint64_t now;
	char byte;

	if (!fixture_has_tcp_info())
		skip();
	fixture_open(&f, &cfg);
	fixture_connect(&f, "127.0.0.1");
	now = f.wheel.now;
	assert_int_equal(fixture_queue(&f, 1, 1, &(uint8_t){0}), 1);
	round_at(now += 10000000);
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), 1);
	while (llp_unacked(f.seen.llp))
		poll(NULL, 0, 1); /* the kernel delays the acknowledgement */
	sock_set_now(f.s, now += UINT64_C(60000000000));
	llp_release(f.seen.llp);
	f.seen.llp = NULL;
	round_at(now);
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), 0);
	while (sock_is_parting(f.s))
		poll(NULL, 0, 1);
	rounds_for(&now, 40000);
	assert_int_equal(sock_stack_stats(f.s)->connections, 1);
	rounds_for(&now, 40000);
	assert_int_equal(sock_stack_stats(f.s)->connections, 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_a_round_go_in_one_call),
		cmocka_unit_test(what_is_not_pushed_waits),
		cmocka_unit_test(a_reservation_may_be_cancelled),
		cmocka_unit_test(a_full_buffer_is_told_when_it_has_room),
		cmocka_unit_test(what_waits_in_the_kernel_goes),
		cmocka_unit_test(a_series_of_small_ones_is_gathered),
		cmocka_unit_test(an_answer_is_not_held_back),
		cmocka_unit_test(a_closed_window_ends_it_after_its_time),
		cmocka_unit_test(a_closed_window_is_not_silence),
		cmocka_unit_test(a_window_that_shrank_is_not_silence),
		cmocka_unit_test(a_way_that_is_lost_is_silence),
		cmocka_unit_test(a_fin_in_vain_ends_it),
		cmocka_unit_test(what_is_asked_in_vain_ends_it),
		cmocka_unit_test(to_stand_still_is_nobodys_silence),
		cmocka_unit_test(a_closed_window_holds_no_orphan),
		cmocka_unit_test(to_stand_still_ends_no_orphan),
		cmocka_unit_test(to_be_released_late_ends_no_orphan),
		cmocka_unit_test(who_is_told_little_ends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
