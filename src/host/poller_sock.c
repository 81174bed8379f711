/* SPDX-License-Identifier: BSD-2-Clause */
/* The same from the kernel's sockets. No EAL is there: the clock is the kernel's. */
#include "host/poller.h"

static uint64_t poller_sock_clock(void *ctx)
{
	struct poller *p = ctx;

	p->last = clock_ns(&p->clock);
	if (p->sock)
		sock_set_now(p->sock, p->last);
	return p->last;
}

static void poller_sock_pass(void *ctx)
{
}

static unsigned poller_sock_poll(void *ctx, uint64_t now)
{
	struct poller *p = ctx;
	unsigned handled = p->sock ? sock_poll(p->sock) : 0;

	timer_wheel_run(&p->engine->wheel, now);
	return handled;
}

static void poller_sock_flush(void *ctx)
{
	struct poller *p = ctx;

	if (p->sock && sock_flush(p->sock))
		poller_go_on(p);
}

const struct engine_ops poller_sock_ops = {
	.clock = poller_sock_clock,
	.enter = poller_sock_pass,
	.leave = poller_sock_pass,
	.poll = poller_sock_poll,
	.flush = poller_sock_flush,
	.wake = poller_wake,
	.clock_unlocked = poller_clock_unlocked,
};

static int poller_sock_fd(const struct poller *p)
{
	return p->sock ? sock_fd(p->sock) : -1;
}

/** epoll tells by itself, always. */
static bool poller_sock_is_interrupt(const struct poller *p)
{
	return false;
}

static void poller_sock_arm(struct poller *p)
{
}

static void poller_sock_disbelieve(struct poller *p, unsigned ms)
{
}

static uint64_t poller_sock_received(const struct poller *p)
{
	return p->sock ? sock_stack_stats(p->sock)->receives : 0;
}

/** epoll tells when the kernel has room again. */
static bool poller_sock_has_backlog(const struct poller *p)
{
	return false;
}

static const struct poller_source poller_sock = {
	.fd = poller_sock_fd,
	.is_interrupt = poller_sock_is_interrupt,
	.arm = poller_sock_arm,
	.woken = poller_sock_arm,
	.disbelieve = poller_sock_disbelieve,
	.received = poller_sock_received,
	.has_backlog = poller_sock_has_backlog,
	.watch = NULL, /* what goes up and down below the kernel's sockets is the kernel's */
};

int poller_init_sock(struct poller *p, struct engine *e)
{
	int r = poller_begin(p, e, &poller_sock);

	if (!r)
		engine_init(e, &poller_sock_ops, p);
	return r;
}
