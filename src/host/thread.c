/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/thread.h"

#include "dpdk-port/priority.h"
#include "dpdk-port/spawn.h"
#include "host/idle.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct engine_thread {
	struct engine_thread_config cfg;
	struct idle idle;
	uint64_t slept; /**< ns, on an interrupt that is to be judged by the next look; or 0 */
	bool woken;     /**< by that */
	bool link_up;
	uint64_t next_housekeeping;
	_Atomic bool stop;
	struct {
		_Atomic uint64_t looks, rounds, away, busy, sleeps;
	} stats;
	pthread_t thread;
};

static void engine_thread_count(_Atomic uint64_t *c)
{
	atomic_store_explicit(
		c, atomic_load_explicit(c, memory_order_relaxed) + 1, memory_order_relaxed);
}

/** The sleep that has ended tells whether the port's interrupt comes. Under the engine's lock. */
static void engine_thread_learn(struct engine_thread *t, uint64_t packets)
{
	if (t->slept && idle_learn(&t->idle, t->slept, t->woken, (unsigned)packets))
		port_rx_disbelieve(t->cfg.poller->port, IDLE_BLIND_NS / 1000000);
	t->slept = 0;
}

/**
 * Drive a round unless somebody else does.
 * @param[out] missed somebody else does.
 * @return what there was to do.
 */
static unsigned engine_thread_drive(struct engine_thread *t, bool *missed)
{
	struct poller *p = t->cfg.poller;
	uint64_t before;
	unsigned n;

	/* To wait for the lock here would make the application's thread wake this one. */
	*missed = !engine_trylock(p->engine);
	if (*missed) {
		engine_thread_count(&t->stats.busy);
		t->slept = 0;
		return 0;
	}
	engine_thread_count(&t->stats.rounds);
	before = port_get_stats(p->port)->rx_packets;
	n = poller_ops.poll(p, p->engine->now);
	engine_thread_learn(t, port_get_stats(p->port)->rx_packets - before);
	engine_unlock(p->engine);
	return n;
}

/** The application drives; but what it has posted last may wait for a look (engine_ring_lazy()). */
static void engine_thread_serve_held(struct engine_thread *t)
{
	struct engine *e = t->cfg.poller->engine;

	if (engine_has_doorbells(e) && engine_trylock(e))
		engine_unlock(e);
}

/** How often the application has come by: it drove, or it posted and will drive. */
static uint64_t engine_thread_application_rounds(const struct engine *e)
{
	return atomic_load_explicit(&e->inline_rounds, memory_order_relaxed) +
	       atomic_load_explicit(&e->lazy_rings, memory_order_relaxed);
}

static void engine_thread_housekeeping(struct engine_thread *t, uint64_t now)
{
	struct poller *p = t->cfg.poller;
	bool up;

	t->next_housekeeping = now + IDLE_LINK_NS;
	engine_lock(p->engine);
	up = port_watch(p->port);
	if (up != t->link_up && t->cfg.link_changed)
		t->cfg.link_changed(t->cfg.ctx, up);
	t->link_up = up;
	if (t->cfg.housekeeping)
		t->cfg.housekeeping(t->cfg.ctx);
	engine_unlock(p->engine);
}

static void engine_thread_sleep_on(struct engine_thread *t, const struct idle_step *s, uint64_t now)
{
	struct poller *p = t->cfg.poller;
	struct engine *e = p->engine;
	struct timespec ts = {(time_t)(s->sleep / 1000000000), (long)(s->sleep % 1000000000)};
	struct pollfd fds[2] = {{.fd = p->wake_fd, .events = POLLIN},
		{.fd = s->wait_rx ? port_rx_fd(p->port) : -1, .events = POLLIN}};
	bool missed;

	if (s->wait_wake) {
		/*
		 * An earlier deadline that is set from here on wakes us; one from before is seen.
		 */
		atomic_store(&e->sleeping_until, now + s->sleep);
		if (atomic_load(&e->deadline) < now + s->sleep || atomic_load(&e->doorbells))
			goto out;
	}
	if (s->wait_rx) {
		port_rx_arm(p->port);
		/* A frame that came before that raises no interrupt on some NICs. */
		if (port_rx_is_interrupt(p->port) && engine_thread_drive(t, &missed))
			goto woken;
	}
	engine_thread_count(&t->stats.sleeps);
	ppoll(fds, s->wait_rx ? 2 : 1, &ts, NULL);
	if (s->wait_rx && port_rx_is_interrupt(p->port)) {
		t->slept = clock_ns(&p->clock) - now;
		t->woken = fds[1].revents != 0;
	}
	if (fds[0].revents)
		poller_wake_clear(p);
woken:
	if (s->wait_rx)
		port_rx_woken(p->port);
out:
	if (s->wait_wake)
		atomic_store(&e->sleeping_until, 0);
}

/** One look: at the application, the packets, the link; then sleep as is right. */
static void engine_thread_look(struct engine_thread *t)
{
	struct poller *p = t->cfg.poller;
	struct engine *e = p->engine;
	uint64_t now = clock_ns(&p->clock);
	struct idle_step s;
	unsigned n;
	bool missed;

	engine_thread_count(&t->stats.looks);
	if (now >= t->next_housekeeping)
		engine_thread_housekeeping(t, now);
	if (idle_look(&t->idle, now, engine_thread_application_rounds(e))) {
		engine_thread_count(&t->stats.away);
		t->slept = 0;
		engine_thread_serve_held(t);
		s = idle_away(&t->idle);
	} else {
		n = engine_thread_drive(t, &missed);
		now = clock_ns(&p->clock);
		s = idle_after(&t->idle, now, n, atomic_load(&e->deadline));
		/* The holder of the lock may be waiting for this very core: never go on at once. */
		if (missed && s.sleep < IDLE_SHORT_NS)
			s.sleep = IDLE_SHORT_NS;
	}
	if (s.sleep)
		engine_thread_sleep_on(t, &s, now);
}

static void engine_thread_look_dedicated(struct engine_thread *t)
{
	uint64_t now = clock_ns(&t->cfg.poller->clock);
	bool missed;

	engine_thread_count(&t->stats.looks);
	if (now >= t->next_housekeeping)
		engine_thread_housekeeping(t, now);
	engine_thread_drive(t, &missed);
}

static void *engine_thread_main(void *arg)
{
	struct engine_thread *t = arg;

	if (t->cfg.dedicated) {
		while (!atomic_load_explicit(&t->stop, memory_order_relaxed))
			engine_thread_look_dedicated(t);
		return NULL;
	}
	priority_ask();
	while (!atomic_load_explicit(&t->stop, memory_order_relaxed))
		engine_thread_look(t);
	return NULL;
}

static int engine_thread_spawn(struct engine_thread *t)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int r = 0;

	pthread_attr_init(&attr);
	if (t->cfg.core >= 0) {
		CPU_ZERO(&set);
		if (t->cfg.core < CPU_SETSIZE)
			CPU_SET(t->cfg.core, &set);
		r = pthread_attr_setaffinity_np(&attr, sizeof set, &set);
	}
	r = r ? -r : spawn_thread(&t->thread, &attr, engine_thread_main, t);
	pthread_attr_destroy(&attr);
	if (r == 0)
		pthread_setname_np(t->thread, "uiwarp-engine");
	return r;
}

int engine_thread_start(const struct engine_thread_config *cfg, struct engine_thread **out)
{
	struct engine_thread *t = calloc(1, sizeof *t);
	int r;

	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	t->idle.relaxed = cfg->relaxed;
	t->idle.tells = port_rx_fd(cfg->poller->port) >= 0;
	r = engine_thread_spawn(t);
	if (r) {
		free(t);
		return r;
	}
	*out = t;
	return 0;
}

void engine_thread_stop(struct engine_thread *t)
{
	if (!t)
		return;
	atomic_store(&t->stop, true);
	poller_ops.wake(t->cfg.poller);
	pthread_join(t->thread, NULL);
	free(t);
}

struct engine_thread_stats engine_thread_stats(const struct engine_thread *t)
{
	return (struct engine_thread_stats){
		.looks = atomic_load_explicit(&t->stats.looks, memory_order_relaxed),
		.rounds = atomic_load_explicit(&t->stats.rounds, memory_order_relaxed),
		.away = atomic_load_explicit(&t->stats.away, memory_order_relaxed),
		.busy = atomic_load_explicit(&t->stats.busy, memory_order_relaxed),
		.sleeps = atomic_load_explicit(&t->stats.sleeps, memory_order_relaxed),
	};
}
