/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sock/fixture.h"

#include "sock/address.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <errno.h>
#include <linux/tcp.h> /* libc's tcp_info is older */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- upcalls ----------------------------------------------------------------------------- */

static void seen_connected(void *user)
{
	((struct seen *)user)->connected++;
}

static size_t seen_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct seen *s = user;
	size_t sum = 0, left;

	s->shows++;
	s->last_total = total;
	for (unsigned i = 0; i < n; i++)
		sum += v[i].len;
	assert_int_equal(sum, total);
	if (s->on_readable)
		s->on_readable(s);
	if (s->gone)
		return total;
	left = total < s->take ? total : s->take;
	if (s->frame)
		left -= left % s->frame;
	sum = left;
	s->bytes = realloc(s->bytes, s->len + left + 1);
	for (unsigned i = 0; i < n && left; i++) {
		size_t some = v[i].len < left ? v[i].len : left;

		memcpy(s->bytes + s->len, v[i].base, some);
		s->len += some;
		left -= some;
	}
	*need = sum < total || s->need > total ? s->need : 0;
	return sum;
}

static void seen_writable(void *user)
{
	((struct seen *)user)->writables++;
}

static void seen_acked(void *user)
{
	((struct seen *)user)->ackeds++;
}

static void seen_eof(void *user)
{
	((struct seen *)user)->eofs++;
}

static void seen_eof_waits(void *user)
{
	((struct seen *)user)->eof_waits++;
}

static void seen_closed(void *user, int error)
{
	struct seen *s = user;

	s->closes++;
	s->error = error;
	s->acked = llp_acked(s->llp);
	s->llp = NULL;
}

const struct llp_user_ops seen_ops = {
	.connected = seen_connected,
	.readable = seen_readable,
	.writable = seen_writable,
	.acked = seen_acked,
	.eof = seen_eof,
	.eof_waits = seen_eof_waits,
	.closed = seen_closed,
};

/* ---- the stack --------------------------------------------------------------------------- */

static void fixture_line(void *ctx, enum log_level level, const char *text)
{
	struct fixture *f = ctx;

	snprintf(f->log, sizeof f->log, "%s", text);
	f->lines++;
}

static struct log_sink fixture_log = {.line = fixture_line, .max_level = LOG_LEVEL_DEBUG};

static void fixture_fill(void *ctx, void *buf, size_t len)
{
	memset(buf, 0x5a, len);
}

static const struct random_source fixture_random = {.fill = fixture_fill};

void fixture_open(struct fixture *f, const struct sock_stack_config *cfg)
{
	struct sock_stack_config c = cfg ? *cfg : (struct sock_stack_config){0};

	*f = (struct fixture){.listen_fd = -1, .peer_fd = -1, .seen.take = SIZE_MAX};
	timer_wheel_init(&f->wheel, now_ns());
	fixture_log.ctx = f;
	c.wheel = &f->wheel;
	c.log = &fixture_log;
	c.random = &fixture_random;
	assert_int_equal(sock_stack_create(&c, now_ns(), &f->s), 0);
	f->llp = sock_llp_stack(f->s);
}

void fixture_close(struct fixture *f)
{
	if (f->listener)
		llp_unlisten(f->llp, f->listener);
	sock_stack_destroy(f->s);
	if (f->listen_fd >= 0)
		close(f->listen_fd);
	if (f->peer_fd >= 0)
		close(f->peer_fd);
	free(f->seen.bytes);
}

void fixture_round(struct fixture *f)
{
	uint64_t now = now_ns();

	sock_set_now(f->s, now);
	sock_poll(f->s);
	timer_wheel_run(&f->wheel, now);
	sock_flush(f->s);
}

void fixture_until(struct fixture *f, bool (*done)(struct fixture *f))
{
	uint64_t end = now_ns() + LIMIT_NS;

	while (!done(f)) {
		struct pollfd p = {.fd = sock_fd(f->s), .events = POLLIN};

		assert_true(now_ns() < end);
		fixture_round(f);
		if (!done(f))
			poll(&p, 1, 1);
	}
}

struct ip_endpoint fixture_at(const char *address, uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	assert_int_equal(ip_addr_parse(address, &e.addr), 0);
	return e;
}

/* ---- the peer ---------------------------------------------------------------------------- */

static int plain_socket(const struct ip_addr *a)
{
	int fd = socket(sock_family(a), SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

pid_t fixture_child(void)
{
	pid_t child = child_fork();

	assert_true(child >= 0);
	if (child)
		return child;
	for (;;)
		pause();
}

void fixture_peer_resets(struct fixture *f)
{
	const struct linger now = {.l_onoff = 1};

	assert_int_equal(setsockopt(f->peer_fd, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
	close(f->peer_fd);
	f->peer_fd = -1;
}

void fixture_end_child(pid_t child)
{
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

void fixture_assert_untold(struct fixture *f)
{
	struct epoll_event e;

	assert_int_equal(epoll_wait(sock_fd(f->s), &e, 1, 0), 0);
}

uint16_t fixture_peer_listens(struct fixture *f, const char *address)
{
	struct ip_endpoint at = fixture_at(address, 0);
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(&at, &sa);

	f->listen_fd = plain_socket(&at.addr);
	assert_int_equal(bind(f->listen_fd, (struct sockaddr *)&sa, len), 0);
	assert_int_equal(listen(f->listen_fd, 8), 0);
	assert_int_equal(sock_address_local(f->listen_fd, &at), 0);
	return at.port;
}

int fixture_begin(struct fixture *f, struct ip_endpoint remote)
{
	struct llp_connect_params p = {.remote = remote};

	return llp_connect(f->llp, &p, &seen_ops, &f->seen, &f->seen.llp);
}

static bool fixture_is_connected(struct fixture *f)
{
	return f->seen.connected != 0;
}

bool fixture_is_closed(struct fixture *f)
{
	return f->seen.closes != 0;
}

void fixture_connect(struct fixture *f, const char *address)
{
	uint16_t port = fixture_peer_listens(f, address);

	assert_int_equal(fixture_begin(f, fixture_at(address, port)), 0);
	assert_int_equal(f->seen.connected, 0);
	f->peer_fd = accept4(f->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	assert_true(f->peer_fd >= 0);
	fixture_until(f, fixture_is_connected);
}

static int fixture_on_accept(void *user, struct llp *l)
{
	struct fixture *f = user;

	f->accepts++;
	if (f->accept_result)
		return f->accept_result;
	f->seen.llp = l;
	llp_set_user(l, &seen_ops, &f->seen);
	return 0;
}

static bool fixture_has_accepted(struct fixture *f)
{
	return f->accepts != 0;
}

int fixture_plain_connect(const struct ip_endpoint *to)
{
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(to, &sa);
	int fd = plain_socket(&to->addr);

	if (connect(fd, (struct sockaddr *)&sa, len) == 0)
		return fd;
	len = (socklen_t)errno;
	close(fd);
	return -(int)len;
}

bool fixture_has_tcp_info(void)
{
	struct ip_endpoint any = fixture_at("127.0.0.1", 0);
	int fd = plain_socket(&any.addr);
	struct tcp_info info;
	socklen_t len = sizeof info;
	int rc = getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);

	close(fd);
	return rc == 0 && len >= offsetof(struct tcp_info, tcpi_snd_wnd);
}

void fixture_accept(struct fixture *f, const char *address)
{
	struct ip_endpoint at = fixture_at(address, 0);

	assert_int_equal(llp_port_reserve(f->llp, &at, 0), 0);
	assert_int_equal(llp_listen(f->llp, &at, 8, fixture_on_accept, f, &f->listener), 0);
	f->peer_fd = fixture_plain_connect(&at);
	assert_true(f->peer_fd >= 0);
	fixture_until(f, fixture_has_accepted);
}

size_t fixture_queue(struct fixture *f, size_t len, uint32_t record, uint8_t *next)
{
	size_t done = 0;

	while (done < len) {
		uint32_t n = len - done < record ? (uint32_t)(len - done) : record;
		uint8_t *room = llp_reserve(f->seen.llp, n, true);

		if (!room)
			break;
		for (uint32_t i = 0; i < n; i++)
			room[i] = (*next)++;
		llp_commit(f->seen.llp, n);
		done += n;
	}
	llp_push(f->seen.llp);
	return done;
}
