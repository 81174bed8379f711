/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/poller.h"

#include "dpdk-port/eal.h"
#include "dpdk-port/lcore.h"
#include "host/idle.h"

#include <errno.h>
#include <rte_mbuf.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define POLL_BURST  IDLE_FULL_ROUND
#define LOOP_ROUNDS 16

static uint64_t poller_clock(void *ctx)
{
	struct poller *p = ctx;

	/* Two cores' counters may differ by a little; the stack's time must not go back. */
	p->last = clock_onward(&p->clock, p->last);
	/* Asked whenever the lock was taken, also for posting: what is sent has this time. */
	if (p->tcp)
		tcp_set_now(p->tcp, p->last);
	port_set_now(p->port, p->last);
	p->may_expedite = true;
	return p->last;
}

static void poller_enter(void *ctx)
{
	struct poller *p = ctx;

	p->had = lcore_enter(p->lcore);
}

static void poller_leave(void *ctx)
{
	struct poller *p = ctx;

	lcore_leave(p->had);
}

static unsigned poller_poll(void *ctx, uint64_t now)
{
	struct poller *p = ctx;
	struct rte_mbuf *pkts[POLL_BURST];
	unsigned n, handled = 0;

	n = port_rx(p->port, pkts, POLL_BURST);
	p->may_expedite = n <= 1;
	if (p->ip)
		handled = ip_input(p->ip, pkts, n, now);
	else if (n)
		rte_pktmbuf_free_bulk(pkts, n);
	timer_wheel_run(&p->engine->wheel, now);
	/* Frames that wait for room in the port are work too: a sleep must be short. */
	return handled + (port_backlog(p->port) > 0);
}

/** The engine's thread shall not sleep: that is all there is to it. */
static void poller_come_again(struct timer *t, uint64_t now)
{
}

void poller_go_on(struct poller *p)
{
	timer_start(&p->engine->wheel, &p->again, p->last);
}

/**
 * Packets to ourselves are handled before the lock is released, as no arrival will wake a thread
 * for them. But not without end: a stream to oneself never stops.
 */
static void poller_hear_ourselves(struct poller *p)
{
	for (unsigned i = 0; i < LOOP_ROUNDS && ip_is_looping(p->ip); i++) {
		ip_input(p->ip, NULL, 0, p->last);
		if (p->tcp)
			tcp_round_end(p->tcp);
	}
	if (ip_is_looping(p->ip))
		poller_go_on(p);
}

static void poller_flush(void *ctx)
{
	struct poller *p = ctx;

	if (p->tcp)
		tcp_round_end(p->tcp);
	if (p->ip)
		poller_hear_ourselves(p);
	port_flush(p->port);
}

/** What is in the port's queue is a frame for somebody, and so is what loops back to us. */
static bool poller_flush_may_wait(void *ctx)
{
	struct poller *p = ctx;

	return p->tcp && tcp_round_end_may_wait(p->tcp) && !ip_is_looping(p->ip) &&
	       !port_has_queued(p->port);
}

void poller_wake(void *ctx)
{
	struct poller *p = ctx;
	uint64_t one = 1;

	if (write(p->wake_fd, &one, sizeof one) < 0)
		return; /* the counter is full: a wake-up is pending */
}

uint64_t poller_clock_unlocked(void *ctx)
{
	const struct poller *p = ctx;

	return clock_ns(&p->clock);
}

const struct engine_ops poller_ops = {
	.clock = poller_clock,
	.enter = poller_enter,
	.leave = poller_leave,
	.poll = poller_poll,
	.flush = poller_flush,
	.wake = poller_wake,
	.clock_unlocked = poller_clock_unlocked,
	.flush_may_wait = poller_flush_may_wait,
};

/* ---- what the engine's thread asks -------------------------------------------------------- */

static int poller_port_fd(const struct poller *p)
{
	return port_rx_fd(p->port);
}

static bool poller_port_is_interrupt(const struct poller *p)
{
	return port_rx_is_interrupt(p->port);
}

static void poller_port_arm(struct poller *p)
{
	port_rx_arm(p->port);
}

static void poller_port_woken(struct poller *p)
{
	port_rx_woken(p->port);
}

static void poller_port_disbelieve(struct poller *p, unsigned ms)
{
	port_rx_disbelieve(p->port, ms);
}

static uint64_t poller_port_received(const struct poller *p)
{
	return port_get_stats(p->port)->rx_packets;
}

static bool poller_port_has_backlog(const struct poller *p)
{
	return port_backlog(p->port) > 0;
}

static bool poller_port_watch(struct poller *p)
{
	return port_watch(p->port);
}

static bool poller_port_carries(const struct poller *p)
{
	return port_carries(p->port);
}

static const struct poller_source poller_port = {
	.fd = poller_port_fd,
	.is_interrupt = poller_port_is_interrupt,
	.arm = poller_port_arm,
	.woken = poller_port_woken,
	.disbelieve = poller_port_disbelieve,
	.received = poller_port_received,
	.has_backlog = poller_port_has_backlog,
	.watch = poller_port_watch,
	.carries = poller_port_carries,
};

/* ---- life --------------------------------------------------------------------------------- */

int poller_begin(struct poller *p, struct engine *e, const struct poller_source *source)
{
	*p = (struct poller){.engine = e, .source = source};
	p->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	timer_init(&p->again, poller_come_again);
	return p->wake_fd < 0 ? -errno : 0;
}

int poller_init(struct poller *p, struct engine *e, struct port *port)
{
	int r = poller_begin(p, e, &poller_port);

	if (r)
		return r;
	p->port = port;
	clock_init(&p->clock, eal_clock_sample());
	p->last = p->clock.base.ns;
	p->lcore = lcore_reserve();
	engine_init(e, &poller_ops, p);
	return 0;
}

void poller_fini(struct poller *p)
{
	engine_fini(p->engine);
	if (p->port)
		lcore_release(p->lcore);
	close(p->wake_fd);
}

void poller_transmit(void *port, struct rte_mbuf *m)
{
	port_tx(port, m);
}

void poller_expedite(void *poller)
{
	struct poller *p = poller;

	if (!p->may_expedite)
		return;
	p->may_expedite = false;
	port_flush(p->port);
}

void poller_wake_clear(struct poller *p)
{
	uint64_t n;

	if (read(p->wake_fd, &n, sizeof n) < 0)
		return; /* none was pending */
}
