/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/net.h"

#include "base/container_of.h"
#include "base/own_file.h"
#include "base/wait_limit.h"
#include "host/config_kernel.h"
#include "host/net_priv.h"
#include "host/net_telemetry.h"
#include "tls/tls.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/** How long the end of the process is put off for what peers have yet to acknowledge. */
#define LINGER_NS UINT64_C(1000000000)
/* A process that ends without exit() may do so in the middle of a verb, with the engine in hand. */
#define RESET_NS UINT64_C(100000000)

/** How long the holder of the engine may take at the end of the process; it may wait for a core. */
#define STUCK_MS 1000

/** How long to wait at the start for a link that is slow to come up, a NIC's or a TAP's. */
#define LINK_NS UINT64_C(3000000000)

static void net_random_fill(void *ctx, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			abort(); /* unpredictability is what STags and sequence numbers rest on */
		p += n;
		len -= (size_t)n;
	}
}

const struct random_source net_random = {.fill = net_random_fill};

/* ---- opening ----------------------------------------------------------------------------- */

static uint64_t net_tls_now(const void *ctx)
{
	return net_now(ctx);
}

static int64_t net_time(void)
{
	return time(NULL);
}

/** The part of `memory` that TLS may keep of what users do not take, in memory of its own. */
#define NET_TLS_KEPT 8

static int net_open_tls(struct net *n, struct config_error *e)
{
	struct tls_stack_config cfg = {.below = n->ops->llp(n),
		.wheel = &n->engine.wheel,
		.tls = &n->config.tls,
		.log = &n->log.sink,
		.kept_max = ((size_t)n->config.memory << 20) / NET_TLS_KEPT,
		.random = net_random,
		.now = net_tls_now,
		.now_ctx = n,
		.time = net_time};
	struct tls_error te = {""};
	int r;

	if (n->config.tls.mode == TLS_OFF)
		return 0;
	e->step = CONFIG_STEP_SECRETS;
	r = tls_stack_create(&cfg, &n->tls, &te);
	if (r)
		snprintf(e->text, sizeof e->text, "%s", te.text);
	return r;
}

static void net_link_changed(void *ctx, bool up)
{
	struct net *n = ctx;

	log_printf(&n->log.sink, LOG_LEVEL_INFO, "port %s: link %s", n->config.port,
		up ? "up" : "down");
	if (up && n->ops->link_up)
		n->ops->link_up(n);
	if (n->events.link_changed && n->ops->has_carrier(n))
		n->events.link_changed(n->events.ctx, up);
}

static void net_tell_gone(struct net *n)
{
	n->told_gone = true;
	log_printf(&n->log.sink, LOG_LEVEL_ERROR, "port %s: it is gone for good", n->config.port);
	if (n->events.gone)
		n->events.gone(n->events.ctx);
}

static void net_housekeeping(void *ctx)
{
	struct net *n = ctx;

	if (!n->told_gone && n->ops->is_gone(n))
		net_tell_gone(n);
	if (clock_take_left(&n->poller.clock))
		log_printf(&n->log.sink, LOG_LEVEL_WARNING, CLOCK_LEFT);
	n->ops->housekeeping(n);
}

static int net_open_thread(struct net *n, struct config_error *e)
{
	struct engine_thread_config cfg = {
		.poller = &n->poller,
		.dedicated = n->config.progress_dedicated,
		.relaxed = n->config.progress_relaxed,
		.core = n->config.progress_dedicated ? n->config.progress_core : -1,
		.link_changed = net_link_changed,
		.housekeeping = net_housekeeping,
		.ctx = n,
		.log = &n->log.sink,
	};
	int r = engine_thread_start(&cfg, &n->thread);

	e->step = CONFIG_STEP_STACK;
	if (r && cfg.core >= 0)
		snprintf(e->text, sizeof e->text,
			"progress = dedicated:%d: this process cannot run on that core: %s",
			cfg.core, strerror(-r));
	else if (r)
		snprintf(e->text, sizeof e->text, "the engine's thread does not start: %s",
			strerror(-r));
	return r;
}

/* Who naps counts by the kernel's clock: the engine's may go back, or far on, until a round has
 * seen that the counter jumped. */
static void net_nap(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/** Programs look at the port's state once, at their start, and give up when it is down. */
static void net_await_link(struct net *n)
{
	struct wait_limit limit;

	wait_limit_start(&limit, LINK_NS, clock_kernel_ns());
	while (n->ops->has_carrier(n) && !net_link(n, NULL) &&
		!wait_limit_over(&limit, clock_kernel_ns()))
		net_nap(10000000);
}

/** Listeners for changes take the link to be up at first. */
static void net_begin_link(struct net *n)
{
	engine_lock(&n->engine);
	if (n->ops->has_carrier(n) && !n->ops->link(n, NULL))
		net_link_changed(n, false);
	engine_unlock(&n->engine);
}

/** A switch may take its time before it forwards what comes from a port that is just up. */
static void net_await_switch(struct net *n)
{
	uint64_t end = clock_kernel_ns() + n->config.settle * UINT64_C(1000000000);

	while (clock_kernel_ns() < end)
		net_nap(10000000);
}

/* ---- closing ------------------------------------------------------------------------------ */

/**
 * True while a peer has yet to acknowledge what we sent before we closed, and while somebody else
 * has the engine: it may be the very thread that asks, in a signal handler.
 */
static bool net_is_parting(struct net *n)
{
	bool parting;

	if (!engine_trylock(&n->engine))
		return true;
	parting = n->ops->is_parting(n);
	engine_unlock(&n->engine);
	return parting;
}

/** Connections that were closed in good order are not in the kernel's care when we are gone. */
void net_linger(struct net *n)
{
	uint64_t end;

	if (!n->thread)
		return;
	end = clock_kernel_ns() + LINGER_NS;
	while (net_is_parting(n) && clock_kernel_ns() < end)
		net_nap(200000);
}

bool net_is_stuck(struct net *n)
{
	if (!engine_lock_within(&n->engine, STUCK_MS))
		return true;
	engine_unlock(&n->engine);
	return false;
}

void net_stop(struct net *n)
{
	if (n->telemetry)
		telemetry_stop(n->telemetry);
	if (!n->thread)
		return;
	engine_thread_stop(n->thread);
	n->thread = NULL;
	n->connected = n->ops->is_connected(n);
	n->ops->log_totals(n);
}

/** Nobody resets or removes what a process leaves when it has ended. */
static void net_reset_at_end(struct net *n)
{
	n->ops->reset_all(n);
	claims_release(n->claim);
}

void net_end(struct net *n)
{
	uint64_t end = clock_kernel_ns() + RESET_NS;

	if (n->telemetry)
		telemetry_unlink(n->telemetry);
	net_linger(n);
	if (!n->thread)
		return;
	while (!engine_trylock(&n->engine)) {
		if (clock_kernel_ns() >= end)
			return;
		net_nap(200000);
	}
	net_reset_at_end(n);
}

/** Called with the engine held, perhaps in a signal handler: nothing is allocated or freed. */
static void net_serve_end(struct engine_doorbell *d)
{
	struct net *n = container_of(d, struct net, end_bell);

	if (n->telemetry)
		telemetry_unlink(n->telemetry);
	net_reset_at_end(n);
	kill(getpid(), n->end_signal);
}

void net_end_by(struct net *n, int sig)
{
	n->end_signal = sig;
	engine_ring(&n->engine, &n->end_bell);
}

void net_release_slot(struct net *n)
{
	slot_release(&n->config.slot_hold);
}

void net_let_go(struct net *n)
{
	net_release_slot(n);
	if (n->telemetry)
		telemetry_let_go(n->telemetry);
	n->ops->let_go(n);
}

void net_leave(struct net *n)
{
	net_stop(n);
	engine_lock(&n->engine);
	n->ops->end(n);
	engine_end(&n->engine);
}

void net_close(struct net *n)
{
	net_stop(n);
	if (n->have_poller)
		engine_lock(&n->engine);
	net_mapper_close(n);
	n->ops->close_stack(n);
	if (n->tls)
		tls_stack_destroy(n->tls);
	if (n->have_poller) {
		engine_unlock(&n->engine);
		poller_fini(&n->poller);
	}
	n->ops->close(n);
	net_release_slot(n);
	telemetry_destroy(n->telemetry);
	stack_log_close(&n->log);
	pthread_mutex_destroy(&n->ud_groups.settling);
	free(n);
}

/* ---- the interface ------------------------------------------------------------------------ */

int net_open(const struct config *c, struct net **out, struct config_error *e)
{
	struct net *n = calloc(1, sizeof *n);
	struct slot_hold hold;
	int r;

	e->step = CONFIG_STEP_STACK;
	if (!n) {
		snprintf(e->text, sizeof e->text, "no memory");
		hold = c->slot_hold;
		slot_release(&hold);
		return -ENOMEM;
	}
	n->config = *c;
	n->ops = config_is_kernel(c) ? &net_kernel_ops : &net_port_ops;
	n->end_bell.serve = net_serve_end;
	pthread_mutex_init(&n->ud_groups.settling, NULL);
	r = stack_log_open(&n->log, c->log, c->log_file);
	if (r) {
		snprintf(e->text, sizeof e->text, "log_file \"%.300s\": %s", c->log_file,
			own_file_strerror(r));
		e->step = CONFIG_STEP_OUTPUT;
		net_release_slot(n);
		pthread_mutex_destroy(&n->ud_groups.settling);
		free(n);
		return r;
	}
	r = n->ops->open(n, e);
	if (!r)
		r = net_open_tls(n, e);
	if (!r)
		r = net_mapper_open(n, e);
	if (r) {
		net_close(n);
		return r;
	}
	n->started = net_now(n);
	net_telemetry_create(n);
	*out = n;
	return 0;
}

int net_start(struct net *n, const struct net_events *events, struct config_error *e)
{
	int r;

	if (events)
		n->events = *events;
	r = net_open_thread(n, e);
	if (!r) {
		net_await_link(n);
		net_begin_link(n);
		net_await_switch(n);
		net_telemetry_start(n);
	}
	return r;
}

const struct config *net_config(const struct net *n)
{
	return &n->config;
}

const struct log_sink *net_log(const struct net *n)
{
	return &n->log.sink;
}

struct engine *net_engine(struct net *n)
{
	return &n->engine;
}

struct ip_stack *net_ip(struct net *n)
{
	return n->ip;
}

struct tcp_stack *net_tcp(struct net *n)
{
	return n->tcp;
}

struct esp_boundary *net_esp(struct net *n)
{
	return n->esp;
}

struct tls_stack *net_tls(struct net *n)
{
	return n->tls;
}

struct llp_stack *net_llp(struct net *n)
{
	return n->tls ? tls_llp_stack(n->tls) : n->ops->llp(n);
}

struct iwpm *net_mapper(struct net *n)
{
	return n->mapper;
}

uint64_t net_now(const struct net *n)
{
	return clock_ns(&n->poller.clock);
}

void net_mac(const struct net *n, uint8_t mac[6])
{
	n->ops->mac(n, mac);
}

uint16_t net_mtu(const struct net *n)
{
	return n->ops->mtu(n);
}

bool net_has_link(struct net *n)
{
	return n->ops->link(n, NULL);
}

bool net_link(struct net *n, uint32_t *speed)
{
	bool up = ENGINE_LOCKED(&n->engine, n->ops->link(n, speed));

	if (speed && n->ops->speed)
		*speed = n->ops->speed(n);
	return up;
}

struct telemetry *net_telemetry(struct net *n)
{
	return n->telemetry;
}
