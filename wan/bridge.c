/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/bridge.h"

#include "dpdk-port/clock.h"
#include "dpdk-port/eal.h"
#include "dpdk-port/lcore.h"
#include "dpdk-port/pool.h"
#include "dpdk-port/priority.h"
#include "wan/frame.h"
#include "wan/line.h"
#include "wan/options.h"

#include <errno.h>
#include <poll.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>

/** Few, so that those at a burst's end do not wait long for those before them. */
#define BURST 32u
#define TICK  UINT64_C(100000000)

/**
 * How long the loop polls after a frame before it sleeps. A frame that comes during a sleep is
 * noticed 50 to 100 us late if a hypervisor has to wake the core. So the loop polls for twice the
 * last interval between frames, within these bounds. Frames that come more seldom do not keep a
 * core busy.
 */
#define LINGER     UINT64_C(2000000)
#define LINGER_MAX UINT64_C(30000000)
/** To be woken takes so long: what is due sooner is waited for awake. */
#define WAKE_UP UINT64_C(200000)
/** Sleep of a port that nothing wakes for. */
#define NAP UINT64_C(50000)

/**
 * Frames of each direction that are checked for missing checksums of a kernel's offloads, and how
 * many among a thousand prove them: a few correct frames look like that.
 */
#define INSPECTED 65536u
#define THOUSAND  1024u
#define UNFILLED  3u

struct direction {
	struct port *from, *to;
	struct wan_path *path;
	uint32_t max_frame; /**< largest that a frame of both ports' MTUs can be */
	uint32_t inspected, unfilled;
	bool told_oversize, told_unfilled;
	struct wan_bridge_stats stats;
};

struct wan_bridge {
	struct wan_bridge_config cfg;
	struct port *port[2];
	bool up[2];    /**< the port's link, at the last tick */
	bool error[2]; /**< its descriptor has told of one since then, or the port is gone */
	struct direction dir[2];
	struct port_clock clock;
	unsigned lcore;
	uint64_t started, now;
	uint64_t next_tick, next_watch;
	uint64_t arrived_at; /**< the last frame */
	uint64_t linger, awake_until;
};

/* ---- opening -------------------------------------------------------------------------------- */

static void *wan_bridge_clone_frame(void *ctx, void *frame)
{
	/* Sent twice and changed by nobody, so one buffer will do. */
	rte_pktmbuf_refcnt_update(frame, 1);
	return frame;
}

static void *wan_bridge_corrupt_frame(void *ctx, void *frame, uint64_t random)
{
	wan_frame_corrupt(frame, random);
	return frame;
}

static const struct wan_path_ops wan_bridge_frame_ops = {
	wan_bridge_clone_frame, wan_bridge_corrupt_frame, NULL};

/** MiB of buffers for what a path can hold, of full-sized frames and half as many small ones. */
static uint32_t wan_bridge_memory_for(const struct wan_path_config *c)
{
	const uint64_t object = 2560, frame = 1514, rings = UINT64_C(48) << 20;
	uint64_t bytes = wan_options_bytes(c) / frame * 3 / 2 * object + rings;

	return (uint32_t)RTE_MIN(bytes >> 20, UINT64_C(1) << 20);
}

/** Frames that may be on the way: the rest of the pool is for the rings of the ports. */
static uint32_t wan_bridge_capacity_of(struct port *p)
{
	uint32_t n = port_pool(p)->size;

	return n - n / 8 - 1024;
}

static int wan_bridge_open_ports(struct wan_bridge *b, struct port_error *e)
{
	struct port_config cfg[2];
	int r = 0;

	for (unsigned i = 0; i < 2; i++)
		cfg[i] = (struct port_config){
			.device = b->cfg.device[i],
			.eal = b->cfg.eal,
			.memory_mib = b->cfg.memory_mib ? b->cfg.memory_mib
							: wan_bridge_memory_for(&b->cfg.path[i]),
			.wire = true,
			.log = b->cfg.log,
		};
	/*
	 * The EAL starts once, for both: with the hardware that either needs, and memory for all.
	 */
	struct port_config both = cfg[eal_is_software(cfg[0].device)];

	both.memory_mib = cfg[0].memory_mib + cfg[1].memory_mib;
	r = eal_start(&both, e);
	for (unsigned i = 0; i < 2 && r == 0; i++)
		r = port_open(&cfg[i], &b->port[i], e);
	return r;
}

/** Largest that a frame of its MTU can be. */
static uint32_t wan_bridge_max_frame(const struct port *p)
{
	return pool_frame_size(port_get_caps(p)->mtu) - 4 /* CRC */;
}

static int wan_bridge_open_direction(struct wan_bridge *b, unsigned d, struct port_error *e)
{
	struct direction *x = &b->dir[d];

	x->from = b->port[d];
	x->to = b->port[1 - d];
	/* A driver may keep for ever what is too large for its device, and all behind it. */
	x->max_frame = RTE_MIN(wan_bridge_max_frame(x->from), wan_bridge_max_frame(x->to));
	x->path = wan_path_create(&b->cfg.path[d], &wan_bridge_frame_ops,
		wan_bridge_capacity_of(x->from), b->cfg.seed + d);
	if (!x->path) {
		snprintf(e->text, sizeof e->text, "no memory for the path");
		return -ENOMEM;
	}
	return 0;
}

int wan_bridge_open(
	const struct wan_bridge_config *cfg, struct wan_bridge **out, struct port_error *e)
{
	struct wan_bridge *b = calloc(1, sizeof *b);
	int r;

	if (!b) {
		snprintf(e->text, sizeof e->text, "no memory");
		return -ENOMEM;
	}
	b->cfg = *cfg;
	b->lcore = LCORE_ID_ANY;
	r = wan_bridge_open_ports(b, e);
	for (unsigned d = 0; d < 2 && r == 0; d++)
		r = wan_bridge_open_direction(b, d, e);
	if (r != 0) {
		wan_bridge_close(b);
		return r;
	}
	b->lcore = lcore_reserve();
	clock_init(&b->clock, eal_clock_sample());
	b->started = b->now = b->clock.base.ns;
	*out = b;
	return 0;
}

static void wan_bridge_drain(struct wan_path *p)
{
	struct rte_mbuf *m;
	uint64_t due;

	while ((m = wan_path_take(p, WAN_NEVER, &due)) != NULL)
		rte_pktmbuf_free(m);
	wan_path_destroy(p);
}

void wan_bridge_close(struct wan_bridge *b)
{
	for (unsigned d = 0; d < 2; d++)
		if (b->dir[d].path)
			wan_bridge_drain(b->dir[d].path);
	for (unsigned i = 0; i < 2; i++)
		if (b->port[i])
			port_stop(b->port[i]);
	for (unsigned i = 0; i < 2; i++)
		if (b->port[i])
			port_close(b->port[i]);
	lcore_release(b->lcore);
	free(b);
}

/* ---- frames --------------------------------------------------------------------------------- */

static void wan_bridge_tell_offloads(struct wan_bridge *b, unsigned d, const char *what)
{
	log_printf(b->cfg.log, LOG_LEVEL_WARNING,
		"port %s: %s: offloads are on where they come from; run \"ethtool -K DEVICE tx off "
		"tso off gso off gro off\" for the sender's end of the link",
		b->cfg.device[d], what);
}

static void wan_bridge_tell_oversize(struct wan_bridge *b, unsigned d, const struct rte_mbuf *m)
{
	if (m->pkt_len <= wan_bridge_max_frame(b->dir[d].from))
		log_printf(b->cfg.log, LOG_LEVEL_WARNING,
			"port %s: frames larger than the MTU of port %s, which is %u, come and are "
			"dropped: give both the same",
			b->cfg.device[d], b->cfg.device[1 - d], port_get_caps(b->dir[d].to)->mtu);
	else if (wan_frame_is_tcp(m))
		wan_bridge_tell_offloads(b, d, "frames larger than its MTU come and are dropped");
	else
		log_printf(b->cfg.log, LOG_LEVEL_WARNING,
			"port %s: frames larger than its MTU come and are dropped: if the driver "
			"is "
			"net_af_packet, they are IPv4 fragments that the kernel put together for "
			"it, "
			"which net_tap and net_pcap do not ask for",
			b->cfg.device[d]);
	b->dir[d].told_oversize = true;
}

/** False for a frame that cannot be passed on as it should be. */
static bool wan_bridge_inspect(struct wan_bridge *b, unsigned d, const struct rte_mbuf *m)
{
	struct direction *x = &b->dir[d];

	if (unlikely(m->pkt_len > x->max_frame)) {
		x->stats.oversize++;
		if (!x->told_oversize)
			wan_bridge_tell_oversize(b, d, m);
		return false;
	}
	if (x->inspected >= INSPECTED)
		return true;
	if (x->inspected++ % THOUSAND == 0)
		x->unfilled = 0;
	if (wan_frame_is_unfilled(m) && ++x->unfilled >= UNFILLED && !x->told_unfilled) {
		wan_bridge_tell_offloads(b, d, "TCP segments come without their checksums");
		x->told_unfilled = true;
	}
	return true;
}

/** Frames are due in the order of their times, which therefore never go back. */
static uint64_t wan_bridge_now(struct wan_bridge *b)
{
	b->now = clock_onward(&b->clock, b->now);
	return b->now;
}

/** A frame came at @p now: how long may it be worth to wait for the next one? */
static void wan_bridge_expect_more(struct wan_bridge *b, uint64_t now)
{
	uint64_t twice = 2 * (now - b->arrived_at);

	b->arrived_at = now;
	b->linger -= b->linger / 16; /* a burst's frames say little of the pause after it */
	if (twice > b->linger)
		b->linger = twice;
	if (b->linger < LINGER || twice > LINGER_MAX)
		b->linger = LINGER;
	b->awake_until = now + b->linger;
}

static unsigned wan_bridge_receive(struct wan_bridge *b, unsigned d)
{
	struct direction *x = &b->dir[d];
	struct rte_mbuf *pkts[BURST];
	unsigned n = port_rx(x->from, pkts, BURST);
	uint64_t now = n ? wan_bridge_now(b) : 0;

	if (n)
		wan_bridge_expect_more(b, now);
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = wan_frame_adopt(pkts[i]);

		if (m && (!wan_bridge_inspect(b, d, m) ||
				 wan_path_put(x->path, now, m, m->pkt_len,
					 wan_frame_header_len(m)) != WAN_TAKEN))
			rte_pktmbuf_free(m);
	}
	return n;
}

/** Send what is due. What a port has no room for waits on the path, not in the port. */
static unsigned wan_bridge_deliver(struct wan_bridge *b, unsigned d, uint64_t *due)
{
	struct direction *x = &b->dir[d];
	unsigned n = 0;

	while (n < BURST && port_backlog(x->to) == 0) {
		struct rte_mbuf *m = wan_path_take(x->path, b->now, &due[n]);

		if (!m)
			break;
		x->stats.bytes_out += m->pkt_len;
		port_tx(x->to, m);
		n++;
	}
	port_flush(x->to);
	return n;
}

/** @return frames that came or went. */
static unsigned wan_bridge_carry(struct wan_bridge *b)
{
	uint64_t due[BURST], sent;
	unsigned all = wan_bridge_receive(b, 0) + wan_bridge_receive(b, 1);

	for (unsigned d = 0; d < 2; d++) {
		unsigned n;

		wan_bridge_now(b);
		if (wan_path_next(b->dir[d].path) > b->now && port_backlog(b->dir[d].to) == 0)
			continue;
		n = wan_bridge_deliver(b, d, due);
		sent = wan_bridge_now(b);
		for (unsigned i = 0; i < n; i++)
			histogram_add(&b->dir[d].stats.lateness, sent - due[i]);
		all += n;
	}
	return all;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static uint64_t wan_bridge_next_due(const struct wan_bridge *b)
{
	return RTE_MIN(wan_path_next(b->dir[0].path), wan_path_next(b->dir[1].path));
}

/** Sleep until a frame comes, or shortly before one is due. */
static void wan_bridge_rest(struct wan_bridge *b)
{
	uint64_t until = RTE_MIN(wan_bridge_next_due(b) - WAKE_UP, b->next_tick);
	struct pollfd fds[3] = {{.fd = b->cfg.wake_fd ? *b->cfg.wake_fd : -1, .events = POLLIN}};
	struct timespec ts;

	for (unsigned i = 0; i < 2; i++) {
		int fd = port_rx_fd(b->port[i]);

		fds[1 + i] = (struct pollfd){.fd = b->error[i] ? -1 : fd, .events = POLLIN};
		/* Nothing comes while its link is down, as of a memif that nobody is at. */
		if (fd < 0 && b->up[i])
			until = RTE_MIN(until, b->now + NAP);
		port_rx_arm(b->port[i]);
	}
	/* A frame that came before its port was armed wakes nobody. */
	if (wan_bridge_carry(b) == 0) {
		ts = (struct timespec){.tv_nsec = until > b->now ? (long)(until - b->now) : 0};
		ppoll(fds, 3, &ts, NULL);
	}
	for (unsigned i = 0; i < 2; i++) {
		port_rx_woken(b->port[i]);
		/* The descriptor of a port that is gone tells of that until port_watch(). */
		if (fds[1 + i].revents & (POLLERR | POLLHUP | POLLNVAL))
			b->error[i] = true;
	}
	if (fds[0].revents != 0)
		b->next_tick = b->now;
}

static bool wan_bridge_may_rest(const struct wan_bridge *b)
{
	return !b->cfg.poll && b->now >= b->awake_until &&
	       wan_bridge_next_due(b) > b->now + WAKE_UP && port_backlog(b->port[0]) == 0 &&
	       port_backlog(b->port[1]) == 0;
}

static void wan_bridge_watch(struct wan_bridge *b, unsigned i)
{
	uint64_t downs = port_link_downs(b->port[i]);

	b->up[i] = port_watch(b->port[i]);
	b->error[i] = port_is_gone(b->port[i]);
	if (port_link_downs(b->port[i]) != downs)
		log_printf(b->cfg.log, LOG_LEVEL_WARNING,
			"port %s: its interface is down or gone, or was for a moment",
			b->cfg.device[i]);
}

static void wan_bridge_tick(struct wan_bridge *b)
{
	/* A port counts its watches as time: words on wake_fd are none. */
	if (b->now >= b->next_watch) {
		b->next_watch = b->now + TICK;
		wan_bridge_watch(b, 0);
		wan_bridge_watch(b, 1);
	}
	b->next_tick = b->next_watch;
	if (clock_take_left(&b->clock))
		log_printf(b->cfg.log, LOG_LEVEL_WARNING, CLOCK_LEFT);
	if (b->cfg.tick)
		b->cfg.tick(b->cfg.ctx);
}

void wan_bridge_run(struct wan_bridge *b, const volatile sig_atomic_t *stop)
{
	unsigned had = lcore_enter(b->lcore);

	priority_ask();
	while (*stop == 0) {
		wan_bridge_carry(b);
		if (b->now >= b->next_tick)
			wan_bridge_tick(b);
		else if (wan_bridge_may_rest(b))
			wan_bridge_rest(b);
	}
	lcore_leave(had);
}

struct wan_path *wan_bridge_path(struct wan_bridge *b, unsigned d)
{
	return b->dir[d].path;
}

const struct wan_bridge_stats *wan_bridge_get_stats(struct wan_bridge *b, unsigned d)
{
	struct direction *x = &b->dir[d];

	x->stats.missed = port_rx_missed(x->from);
	x->stats.refused = port_get_stats(x->to)->tx_dropped;
	return &x->stats;
}

uint64_t wan_bridge_elapsed(const struct wan_bridge *b)
{
	return b->now - b->started;
}
