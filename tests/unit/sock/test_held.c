/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for what connections leave half-said, or do not take. */
#include "sock/held.h"

#include "tests/unit/sock/fixture.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define STRANGERS 300u
#define MEMORY    (UINT64_C(4) << 20)

static struct fixture f;
static int stranger[STRANGERS];
static uint8_t text[1 << 20];
static unsigned wanted;

/** Never more than is allowed, whatever the round has brought. */
static void bounded_round(void)
{
	fixture_round(&f);
	assert_true(f.s->rx.bytes <= f.s->rx.most);
}

/** The plain socket sends @p len bytes, which may take rounds. */
static void sends(int fd, size_t len)
{
	for (size_t sent = 0; sent < len;) {
		ssize_t n = send(fd, text, len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			break; /* it has been ended */
		sent += n > 0 ? (size_t)n : 0;
		bounded_round();
	}
}

/** Strangers connect, and each sends @p len bytes of FPDUs of @p frame. */
static void strangers_come(const struct sock_stack_config *cfg, size_t frame, size_t len)
{
	struct ip_endpoint at, remote;

	fixture_open(&f, cfg);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &at, &remote);
	f.seen.frame = f.seen.need = frame;
	for (unsigned i = 0; i < STRANGERS; i++) {
		stranger[i] = fixture_plain_connect(&at);
		assert_true(stranger[i] >= 0);
		while (f.accepts < i + 2)
			bounded_round();
		sends(stranger[i], len);
	}
}

static void strangers_go(void)
{
	for (unsigned i = 0; i < STRANGERS; i++)
		close(stranger[i]);
	fixture_close(&f);
}

static bool so_many_have_ended(struct fixture *x)
{
	return x->seen.closes >= wanted;
}

/** The first that came are the first to go, and are told so. */
static void half_an_fpdu_of_each_does_not_fill_the_memory(void **state)
{
	const struct sock_stack_config cfg = {.memory = MEMORY};
	unsigned fit = (unsigned)(MEMORY / 2 / 40000);
	uint8_t byte;

	strangers_come(&cfg, 65536, 40000);
	wanted = STRANGERS - fit;
	fixture_until(&f, so_many_have_ended);
	assert_int_equal(f.seen.closes, wanted);
	assert_int_equal(f.seen.error, -ECONNABORTED);
	assert_int_equal(sock_stack_stats(f.s)->buffers_evicted, wanted);
	assert_int_equal(recv(stranger[0], &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(recv(stranger[STRANGERS - 1], &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(f.seen.len, 0);
	strangers_go();
}

/** @return a socket of 127.0.0.@p host, connected to @p at. */
static int another_connects(unsigned host, const struct ip_endpoint *at)
{
	const struct sockaddr_in from = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host)};
	const struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(at->port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&from, sizeof from), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

/** A peer with few connections and much in them is in the way, not one with many that hold little.
 */
static void who_holds_most_gives_way(void **state)
{
	const struct sock_stack_config cfg = {.memory = MEMORY};
	unsigned fit = (unsigned)(MEMORY / 2 / 60000), more = 2 * fit;
	struct ip_endpoint at, remote;
	int other[200];
	uint8_t byte;

	assert_in_range(more, fit + 1, 200);
	strangers_come(&cfg, 65536, 300);
	llp_endpoints(f.seen.llp, &at, &remote);
	for (unsigned i = 0; i < more; i++) {
		other[i] = another_connects(2, &at);
		while (f.accepts < STRANGERS + i + 2)
			bounded_round();
		sends(other[i], 60000);
	}
	wanted = more - fit;
	fixture_until(&f, so_many_have_ended);
	for (unsigned i = 0; i < STRANGERS; i++) {
		assert_int_equal(recv(stranger[i], &byte, 1, MSG_DONTWAIT), -1);
		assert_int_equal(errno, EAGAIN);
	}
	assert_int_equal(recv(other[0], &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	for (unsigned i = 0; i < more; i++)
		close(other[i]);
	strangers_go();
}

/** Its buffers are whole as they came first, and are cut before a connection of it ends. */
static void who_came_first_holds_no_more(void **state)
{
	enum { FIRST = 16, OTHERS = 260 };
	const struct sock_stack_config cfg = {.memory = UINT64_C(32) << 20};
	struct ip_endpoint at, remote;
	int fd[FIRST + OTHERS];
	uint8_t byte;

	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &at, &remote);
	f.seen.frame = f.seen.need = 65536;
	for (unsigned i = 0; i < FIRST + OTHERS; i++) {
		fd[i] = i < FIRST ? fixture_plain_connect(&at) : another_connects(2 + i % 8, &at);
		assert_true(fd[i] >= 0);
		while (f.accepts < i + 2)
			bounded_round();
		sends(fd[i], i < FIRST ? 300 : 60000);
	}
	wanted = 1;
	fixture_until(&f, so_many_have_ended);
	for (unsigned i = 0; i < FIRST; i++) {
		assert_int_equal(recv(fd[i], &byte, 1, MSG_DONTWAIT), -1);
		assert_int_equal(errno, EAGAIN);
	}
	for (unsigned i = 0; i < FIRST + OTHERS; i++)
		close(fd[i]);
	fixture_close(&f);
}

static bool all_has_come(struct fixture *x)
{
	return x->seen.len == STRANGERS * 1000;
}

/** What counts is what is there: as many as hold little go on, and lose nothing. */
static void little_of_each_is_kept(void **state)
{
	const struct sock_stack_config cfg = {.memory = MEMORY};

	strangers_come(&cfg, 1000, 300);
	for (unsigned i = 0; i < STRANGERS; i++)
		sends(stranger[i], 600);
	assert_int_equal(f.seen.len, 0);
	for (unsigned i = 0; i < STRANGERS; i++)
		sends(stranger[i], 100);
	fixture_until(&f, all_has_come);
	assert_int_equal(f.seen.closes, 0);
	assert_int_equal(f.s->rx.bytes, 0);
	strangers_go();
}

/**
 * The kernel ends a read before an urgent byte, and the next one may bring nothing. Who has a whole
 * buffer for little then is not the others' loss.
 */
static void a_read_of_nothing_leaves_no_whole_buffer(void **state)
{
	const struct sock_stack_config cfg = {.memory = MEMORY};

	strangers_come(&cfg, 1000, 300);
	for (unsigned i = 0; i < STRANGERS; i++) {
		assert_int_equal(send(stranger[i], text, 1, MSG_OOB), 1);
		for (unsigned n = 0; n < 4; n++)
			bounded_round();
	}
	assert_int_equal(f.seen.closes, 0);
	for (unsigned i = 0; i < STRANGERS; i++)
		sends(stranger[i], 699);
	fixture_until(&f, all_has_come);
	assert_int_equal(f.seen.closes, 0);
	assert_int_equal(f.s->rx.bytes, 0);
	strangers_go();
}

static bool so_much_has_come(struct fixture *x)
{
	return sock_stack_stats(x->s)->bytes_in == wanted;
}

static void has_sent(int fd, size_t len)
{
	wanted += (unsigned)len;
	assert_int_equal(send(fd, text, len, 0), len);
	fixture_until(&f, so_much_has_come);
}

/** Who completes FPDUs does not wait, however long there has been a part of one. */
static void who_goes_on_is_not_the_oldest(void **state)
{
	const struct sock_stack_config cfg = {.memory = UINT64_C(2) * 1000};
	struct ip_endpoint at, remote;
	int second, third;
	uint8_t byte;

	wanted = 0;
	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &at, &remote);
	f.seen.frame = f.seen.need = 500;
	has_sent(f.peer_fd, 450);
	second = fixture_plain_connect(&at);
	has_sent(second, 450);
	/* The end of one, and a part of the next. */
	has_sent(f.peer_fd, 500);
	third = fixture_plain_connect(&at);
	has_sent(third, 450);
	assert_int_equal(f.seen.len, 500);
	fixture_until(&f, fixture_is_closed);
	assert_int_equal(f.seen.closes, 1);
	assert_int_equal(recv(second, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(second);
	close(third);
	fixture_close(&f);
}

static bool the_peer_has_closed(struct fixture *x)
{
	return x->seen.eofs != 0;
}

/** Both ends have closed, and the peer has acknowledged that: only the user has yet to take @p len
 * bytes. @return the connection. */
static struct llp *closes_behind_unread(const struct sock_stack_config *cfg, size_t len)
{
	struct llp *l;
	uint8_t byte;

	wanted = 0;
	fixture_open(&f, cfg);
	fixture_accept(&f, "127.0.0.1");
	l = f.seen.llp;
	f.seen.take = 0;
	has_sent(f.peer_fd, len);
	assert_int_equal(shutdown(f.peer_fd, SHUT_WR), 0);
	fixture_until(&f, the_peer_has_closed);
	llp_shutdown(l);
	sock_flush(f.s);
	assert_int_equal(recv(f.peer_fd, &byte, 1, 0), 0);
	assert_int_equal(f.seen.closes, 0);
	return l;
}

static void ends_for_want_of_memory(void)
{
	assert_int_equal(sock_stack_stats(f.s)->buffers_evicted, 1);
	assert_int_equal(f.seen.closes, 0);
	sock_flush(f.s);
	assert_int_equal(f.seen.closes, 1);
	assert_int_equal(f.seen.error, -ECONNABORTED);
}

/** What was unread is gone: that is no orderly end, whenever the user goes on. */
static void what_gave_way_has_not_ended_in_good_order(void **state)
{
	const struct sock_stack_config cfg = {.memory = UINT64_C(2) * 500};
	struct ip_endpoint at, remote;
	struct llp *first;
	int second;

	first = closes_behind_unread(&cfg, 450);
	llp_endpoints(first, &at, &remote);
	second = fixture_plain_connect(&at);
	while (f.accepts < 2)
		fixture_round(&f);
	assert_int_equal(send(second, text, 400, 0), 400);
	while (sock_stack_stats(f.s)->buffers_evicted == 0)
		sock_poll(f.s);
	f.seen.take = SIZE_MAX;
	llp_resume(first);
	assert_int_equal(f.seen.len, 0);
	ends_for_want_of_memory();
	close(second);
	fixture_close(&f);
}

static struct llp *resumed;

static void resumes_the_other(struct seen *s)
{
	s->on_readable = NULL;
	llp_resume(resumed);
}

/** Nor where it gives way as it goes on: another's whole buffer is shown meanwhile. */
static void who_gives_way_as_it_goes_on_has_not_either(void **state)
{
	const struct sock_stack_config cfg = {.memory = UINT64_C(2) * 500};
	struct ip_endpoint at, remote;
	int second;

	resumed = closes_behind_unread(&cfg, 450);
	llp_endpoints(resumed, &at, &remote);
	second = fixture_plain_connect(&at);
	while (f.accepts < 2)
		fixture_round(&f);
	f.seen.on_readable = resumes_the_other;
	assert_int_equal(send(second, text, 40, 0), 40);
	while (f.seen.on_readable)
		sock_poll(f.s);
	ends_for_want_of_memory();
	close(second);
	fixture_close(&f);
}

/** Fill the kernel's buffers, and ours: the peer does not read. @return the connection. */
static struct llp *stalls(void)
{
	uint8_t next = 0;

	for (unsigned refused = 0; refused < 50; refused++) {
		if (fixture_queue(&f, 65536, 65536, &next))
			refused = 0;
		fixture_round(&f);
	}
	return f.seen.llp;
}

/** Each may have one record on its way; a peer that has long taken nothing is in the way of others.
 */
static void who_does_not_read_gives_way(void **state)
{
	const struct sock_stack_config cfg = {.memory = 2};
	struct ip_endpoint at, remote;
	struct llp *first, *second;
	uint64_t now;
	int reader;

	fixture_open(&f, &cfg);
	fixture_accept(&f, "127.0.0.1");
	llp_endpoints(f.seen.llp, &at, &remote);
	first = stalls();
	reader = fixture_plain_connect(&at);
	assert_true(reader >= 0);
	while (f.accepts < 2)
		fixture_round(&f);
	second = f.seen.llp;
	assert_ptr_not_equal(first, second);
	/* It may be about to read. */
	now = f.s->now;
	sock_set_now(f.s, sock_conn_of(first)->sent_at + UINT64_C(999999999));
	assert_non_null(llp_reserve(second, 1000, false));
	llp_commit(second, 0);
	assert_int_equal(sock_stack_stats(f.s)->buffers_evicted, 0);
	sock_set_now(f.s, sock_conn_of(first)->sent_at + UINT64_C(1000000000));
	assert_non_null(llp_reserve(second, 1000, false));
	llp_commit(second, 0);
	sock_flush(f.s);
	assert_int_equal(sock_stack_stats(f.s)->buffers_evicted, 1);
	assert_int_equal(f.seen.closes, 1);
	assert_int_equal(f.seen.error, -ECONNABORTED);
	assert_int_equal(f.s->tx.bytes, 0);
	sock_set_now(f.s, now);
	close(reader);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_an_fpdu_of_each_does_not_fill_the_memory),
		cmocka_unit_test(who_holds_most_gives_way),
		cmocka_unit_test(who_came_first_holds_no_more),
		cmocka_unit_test(little_of_each_is_kept),
		cmocka_unit_test(a_read_of_nothing_leaves_no_whole_buffer),
		cmocka_unit_test(who_goes_on_is_not_the_oldest),
		cmocka_unit_test(what_gave_way_has_not_ended_in_good_order),
		cmocka_unit_test(who_gives_way_as_it_goes_on_has_not_either),
		cmocka_unit_test(who_does_not_read_gives_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
