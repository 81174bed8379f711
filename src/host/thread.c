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

/** Enough for the longest ring of a memif, 16384 descriptors. */
#define CATCH_UP_ROUNDS (16384 / IDLE_FULL_ROUND)

struct engine_thread {
	struct engine_thread_config cfg;
	struct idle idle;
	uint64_t slept; /**< ns, on an interrupt that is to be judged by the next look; or 0 */
	bool woken;     /**< by that */
	bool has_woken; /**< a thread of the application that slept, in its rounds since it slept */
	bool link_up;
	uint64_t next_housekeeping; /**< UINT64_MAX: never */
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
static void engine_thread_learn(struct engine_thread *t, unsigned packets)
{
	if (t->slept && idle_learn(&t->idle, t->slept, t->woken, packets))
		t->cfg.poller->source->disbelieve(t->cfg.poller, IDLE_BLIND_NS / 1000000);
	t->slept = 0;
}

/** What a round of this thread found. */
struct engine_thread_round {
	bool backlog;      /**< frames wait for room in the port */
	uint64_t missed;   /**< ns to leave the engine to who has it; 0: it was had */
	unsigned received; /**< packets */
	unsigned handled;  /**< the same, and those to ourselves */
};

/** A round, with the lock held. @param arm have the port tell of what comes later. */
static struct engine_thread_round engine_thread_round(struct engine_thread *t, bool arm)
{
	struct poller *p = t->cfg.poller;
	struct engine_thread_round r = {0};
	uint64_t before;

	engine_thread_count(&t->stats.rounds);
	if (arm)
		p->source->arm(p);
	before = p->source->received(p);
	r.handled = p->engine->ops->poll(p, p->engine->now);
	r.received = (unsigned)(p->source->received(p) - before);
	engine_thread_learn(t, r.received);
	r.backlog = p->source->has_backlog(p);
	r.handled -= r.backlog;
	return r;
}

/** Drive a round unless somebody else does. @param arm as engine_thread_round(). */
static struct engine_thread_round engine_thread_drive(struct engine_thread *t, bool arm)
{
	struct poller *p = t->cfg.poller;
	struct engine_thread_round r = {0};
	uint64_t woken;

	/* To wait for the lock here would make the application's thread wake this one. */
	if (!engine_trylock(p->engine)) {
		engine_thread_count(&t->stats.busy);
		t->slept = 0;
		r.missed = idle_tried(&t->idle, false);
		return r;
	}
	idle_tried(&t->idle, true);
	r = engine_thread_round(t, arm);
	woken = engine_count_woken(p->engine);
	engine_unlock(p->engine);
	t->has_woken |= engine_count_woken(p->engine) != woken;
	return r;
}

/**
 * The application drives; but what it has posted last may wait for a look
 * (engine_ring_begin_lazy()), and so may the end of its last round (engine_drive_for()).
 */
static void engine_thread_serve_held(struct engine_thread *t)
{
	struct engine *e = t->cfg.poller->engine;

	if (engine_is_expectant(e) && engine_trylock(e))
		engine_unlock(e);
}

/**
 * Handle what is there. The watch lets a memif go whose peer has ended, with all that the peer sent
 * last: data, and the FIN or RST by which it took its leave. Not without end: more may come.
 */
static void engine_thread_catch_up(struct engine_thread *t)
{
	for (unsigned i = 0; i < CATCH_UP_ROUNDS; i++)
		if (engine_thread_round(t, false).received < IDLE_FULL_ROUND)
			return;
}

/** @return the time: without the lock, that is perhaps of a counter that has jumped. */
static uint64_t engine_thread_housekeeping(struct engine_thread *t)
{
	struct poller *p = t->cfg.poller;
	uint64_t now;
	bool up;

	engine_lock(p->engine);
	now = p->engine->now;
	t->next_housekeeping = now + IDLE_LINK_NS;
	engine_thread_catch_up(t);
	up = p->source->watch(p);
	if (up != t->link_up && t->cfg.link_changed)
		t->cfg.link_changed(t->cfg.ctx, up);
	t->link_up = up;
	/* A memif's descriptor comes and goes with its peer. Without a link nothing comes. */
	t->idle.tells = p->source->fd(p) >= 0 || !p->source->carries(p);
	if (t->cfg.housekeeping)
		t->cfg.housekeeping(t->cfg.ctx);
	engine_unlock(p->engine);
	return now;
}

/**
 * Have the port tell of packets, and handle those that came before that.
 * @param sleep ns, what is planned.
 * @return how long to sleep; 0: there was something to do.
 */
static uint64_t engine_thread_arm(struct engine_thread *t, uint64_t sleep)
{
	/* Twice: a peer may just be sending a frame that its interrupt does not tell of. */
	for (unsigned i = 0; i < 2; i++) {
		struct engine_thread_round r = engine_thread_drive(t, i == 0);

		if (r.handled)
			return 0;
		if (r.missed)
			return r.missed;
		if (r.backlog && sleep > IDLE_SHORT_NS)
			return IDLE_SHORT_NS;
	}
	return sleep;
}

static struct timespec engine_thread_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/**
 * The program has closed what it did not open, or the kernel has no memory: ppoll() does not sleep.
 * Nobody can wake this thread now, so look again soon.
 */
static void engine_thread_nap(uint64_t sleep)
{
	struct timespec ts = engine_thread_timespec(sleep < IDLE_BLIND_NS ? sleep : IDLE_BLIND_NS);

	nanosleep(&ts, NULL);
}

/** Sleep on descriptors for at most @p sleep. */
static void engine_thread_wait(struct engine_thread *t, uint64_t sleep, bool wait_rx)
{
	struct poller *p = t->cfg.poller;
	struct timespec ts = engine_thread_timespec(sleep);
	struct pollfd fds[2] = {{.fd = p->wake_fd, .events = POLLIN},
		{.fd = wait_rx ? p->source->fd(p) : -1, .events = POLLIN}};
	uint64_t visits = engine_count_visits(p->engine);
	int r;

	engine_thread_count(&t->stats.sleeps);
	r = ppoll(fds, wait_rx ? 2 : 1, &ts, NULL);
	if (fds[0].revents & POLLIN)
		poller_wake_clear(p);
	if ((r < 0 && errno != EINTR) || ((fds[0].revents | fds[1].revents) & POLLNVAL)) {
		engine_thread_nap(sleep);
		return;
	}
	/* An application that came by may have taken the packet and what told of it. As long as was
	 * meant, not as it took: packets that came while the core was another's prove nothing. */
	t->woken = wait_rx && fds[1].revents != 0;
	if (wait_rx && p->source->is_interrupt(p) &&
		(t->woken || engine_count_visits(p->engine) == visits))
		t->slept = sleep;
}

static void engine_thread_sleep_on(struct engine_thread *t, const struct idle_step *s, uint64_t now)
{
	struct poller *p = t->cfg.poller;
	struct engine *e = p->engine;
	uint64_t sleep = s->sleep;

	if (s->wait_wake) {
		/*
		 * An earlier deadline that is set from here on wakes us; one from before is seen.
		 */
		atomic_store(&e->sleeping_until, now + sleep);
		if (atomic_load(&e->deadline) < now + sleep || engine_is_expectant(e))
			goto out;
	}
	/* A frame that came before that raises no interrupt on some NICs. */
	if (s->wait_rx && p->source->is_interrupt(p))
		sleep = engine_thread_arm(t, sleep);
	if (sleep)
		engine_thread_wait(t, sleep, s->wait_rx);
	if (s->wait_rx)
		p->source->woken(p);
out:
	if (s->wait_wake)
		atomic_store(&e->sleeping_until, 0);
}

/** The application drives. Who hands the engine over from here on wakes this thread. */
static void engine_thread_stay_away(
	struct engine_thread *t, const struct idle_step *s, uint64_t now)
{
	struct engine *e = t->cfg.poller->engine;

	engine_thread_count(&t->stats.away);
	t->slept = 0;
	engine_thread_serve_held(t);
	atomic_store(&e->away, true);
	if (!atomic_load(&e->handed_over))
		engine_thread_sleep_on(t, s, now);
	atomic_store(&e->away, false);
}

/** One look: at the application, the packets, the link; then sleep as is right. */
static void engine_thread_look(struct engine_thread *t)
{
	struct poller *p = t->cfg.poller;
	struct engine *e = p->engine;
	uint64_t now = clock_ns(&p->clock);
	struct engine_thread_round r;
	struct idle_step s;

	engine_thread_count(&t->stats.looks);
	if (now >= t->next_housekeeping)
		now = engine_thread_housekeeping(t);
	if (engine_is_handed_over(e))
		idle_recall(&t->idle, now, engine_count_visits(e));
	if (idle_look(&t->idle, now, engine_count_visits(e), engine_is_held(e))) {
		s = idle_away(&t->idle, now);
		engine_thread_stay_away(t, &s, now);
		return;
	}
	r = engine_thread_drive(t, false);
	now = clock_ns(&p->clock);
	if (t->has_woken) {
		t->has_woken = false;
		s = idle_has_woken(&t->idle, now);
		engine_thread_stay_away(t, &s, now);
		return;
	}
	s = idle_after(&t->idle, now, r.handled, r.backlog, atomic_load(&e->deadline));
	if (s.sleep < r.missed)
		s.sleep = r.missed;
	if (s.sleep)
		engine_thread_sleep_on(t, &s, now);
}

static void engine_thread_look_dedicated(struct engine_thread *t)
{
	engine_thread_count(&t->stats.looks);
	if (clock_ns(&t->cfg.poller->clock) >= t->next_housekeeping)
		(void)engine_thread_housekeeping(t);
	engine_thread_drive(t, false);
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
	t->idle.tells = cfg->poller->source->fd(cfg->poller) >= 0;
	t->idle.unwatched = !cfg->poller->source->watch;
	t->next_housekeeping = t->idle.unwatched ? UINT64_MAX : 0;
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
	poller_wake(t->cfg.poller);
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
