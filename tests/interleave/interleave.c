/* SPDX-License-Identifier: BSD-2-Clause */
#include "interleave/interleave.h"

#include "base/prng.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define STACK   (128 * 1024)
#define STORES  16
#define STEP_NS 5 /**< of an access */
#define FOREVER UINT64_MAX
#define FREED   64
/** Of a thread that loses its core, at most: others come a long way meanwhile. */
#define STALL_NS 50000
/** Of all together, until it counts as endless. What comes to an end has less than a million. */
#define ACCESSES_MOST UINT64_C(5000000)

/** A store that others do not see yet. */
struct interleave_pending {
	volatile void *at;
	size_t n;
	uint64_t value;
	bool release;
};

struct interleave_fiber {
	ucontext_t context;
	void *stack;
	void (*fn)(void *arg);
	void *arg;
	bool ended;
	uint64_t asleep_until;    /**< 0: it is not */
	bool (*awake)(void *arg); /**< it sleeps until this says so, too */
	void *awake_arg;
	struct interleave_pending store[STORES];
	unsigned n_stores;
	unsigned stall_in; /**< accesses, until it loses its core */
};

static struct {
	struct prng r;
	uint64_t now, switches, accesses;
	double change; /**< chance that another goes on */
	double drain;  /**< chance that a store becomes visible */
	struct interleave_fiber fiber[INTERLEAVE_FIBERS];
	unsigned n;
	struct interleave_fiber *current; /**< NULL: nobody, but who set them up */
	bool readable[INTERLEAVE_FDS];
	void *freed[FREED]; /**< while they ran; it is not free before the next begin */
	unsigned n_freed;
	bool touched_freed;
	ucontext_t main;
} all;

/* ---- memory ------------------------------------------------------------------------------- */

static void look_if_freed(const volatile void *at)
{
	for (unsigned i = 0; i < all.n_freed; i++)
		if ((uintptr_t)at - (uintptr_t)all.freed[i] < malloc_usable_size(all.freed[i]))
			all.touched_freed = true;
}

void interleave_free(void *memory)
{
	if (!memory)
		return;
	if (!all.current) {
		free(memory);
		return;
	}
	if (all.n_freed == FREED)
		abort();
	all.freed[all.n_freed++] = memory;
}

static void free_all(void)
{
	while (all.n_freed)
		free(all.freed[--all.n_freed]);
	all.touched_freed = false;
}

bool interleave_touched_freed(void)
{
	return all.touched_freed;
}

/* ---- stores ------------------------------------------------------------------------------- */

static void put(volatile void *at, size_t n, uint64_t value)
{
	look_if_freed(at);
	memcpy((void *)(uintptr_t)at, &value, n);
}

static uint64_t get(const volatile void *at, size_t n)
{
	uint64_t value = 0;

	look_if_freed(at);
	memcpy(&value, (const void *)(uintptr_t)at, n);
	return value;
}

/** May store @p i be seen before those that are older? */
static bool may_leave(const struct interleave_fiber *f, unsigned i)
{
	const struct interleave_pending *s = &f->store[i];

	for (unsigned k = 0; k < i; k++)
		if (s->release || f->store[k].at == s->at)
			return false;
	return true;
}

static void leave(struct interleave_fiber *f, unsigned i)
{
	struct interleave_pending s = f->store[i];

	f->n_stores--;
	memmove(&f->store[i], &f->store[i + 1], (f->n_stores - i) * sizeof s);
	put(s.at, s.n, s.value);
}

static void flush(struct interleave_fiber *f)
{
	while (f && f->n_stores)
		leave(f, 0);
}

static void drain_some(void)
{
	for (unsigned k = 0; k < all.n; k++) {
		struct interleave_fiber *f = &all.fiber[k];
		unsigned i;

		if (!f->n_stores || !prng_chance(&all.r, all.drain))
			continue;
		i = (unsigned)prng_below(&all.r, f->n_stores);
		if (may_leave(f, i))
			leave(f, i);
	}
}

/* ---- who goes on -------------------------------------------------------------------------- */

static bool can_run(struct interleave_fiber *f)
{
	if (f->ended)
		return false;
	return !f->asleep_until || f->asleep_until <= all.now ||
	       (f->awake && f->awake(f->awake_arg));
}

static struct interleave_fiber *any_other(const struct interleave_fiber *than)
{
	unsigned first = (unsigned)prng_below(&all.r, all.n);

	for (unsigned i = 0; i < all.n; i++) {
		struct interleave_fiber *f = &all.fiber[(first + i) % all.n];

		if (f != than && can_run(f))
			return f;
	}
	return NULL;
}

static void go_on_with(struct interleave_fiber *f)
{
	struct interleave_fiber *from = all.current;

	if (f == from)
		return;
	all.current = f;
	all.switches++;
	swapcontext(&from->context, f ? &f->context : &all.main);
}

static void change_to_other(void)
{
	struct interleave_fiber *f = any_other(all.current);

	if (f)
		go_on_with(f);
}

/** Those that only look take no end by themselves: main has to see it. */
static void step(void)
{
	all.now += STEP_NS;
	if (++all.accesses > ACCESSES_MOST)
		go_on_with(NULL);
}

void interleave_yield(void)
{
	flush(all.current);
	if (!all.current)
		return;
	step();
	change_to_other();
}

uint64_t interleave_first_wake(void)
{
	uint64_t first = FOREVER;

	for (unsigned i = 0; i < all.n; i++) {
		const struct interleave_fiber *f = &all.fiber[i];

		if (!f->ended && f->asleep_until && f->asleep_until < first)
			first = f->asleep_until;
	}
	return first;
}

/** All sleep: until the first of them has slept enough. @return false: none will. */
static bool pass_time(void)
{
	uint64_t first = interleave_first_wake();

	if (first == FOREVER)
		return false;
	if (first > all.now)
		all.now = first;
	return true;
}

static bool sleep_until(uint64_t until, bool (*awake)(void *arg), void *arg)
{
	struct interleave_fiber *f = all.current, *other;

	flush(f);
	f->asleep_until = until;
	f->awake = awake;
	f->awake_arg = arg;
	/* Nobody can run: main lets time pass. */
	other = can_run(f) && prng_chance(&all.r, 0.5) ? f : any_other(f);
	if (!other && can_run(f))
		other = f;
	go_on_with(other);
	f->asleep_until = 0;
	return awake && awake(arg);
}

void interleave_point(void)
{
	if (!all.current)
		return;
	step();
	drain_some();
	if (all.current->stall_in && --all.current->stall_in == 0)
		sleep_until(all.now + prng_below(&all.r, STALL_NS), NULL, NULL);
	else if (prng_chance(&all.r, all.change))
		change_to_other();
}

static void fiber_main(unsigned id)
{
	struct interleave_fiber *f = &all.fiber[id];

	f->fn(f->arg);
	flush(f);
	f->ended = true;
	go_on_with(any_other(f));
}

/* ---- the interface ------------------------------------------------------------------------ */

void interleave_begin(uint64_t seed, uint64_t now)
{
	static const double changes[] = {0.5, 0.2, 0.05, 0.02};
	static const double drains[] = {1, 0.3, 0.05};

	free_all();
	all.r.state = seed;
	all.now = now;
	all.switches = all.accesses = 0;
	all.change = changes[prng_below(&all.r, 4)];
	all.drain = drains[prng_below(&all.r, 3)];
	all.n = 0;
	all.current = NULL;
	memset(all.readable, 0, sizeof all.readable);
}

unsigned interleave_spawn(void (*fn)(void *arg), void *arg)
{
	struct interleave_fiber *f = &all.fiber[all.n];
	void *stack = f->stack ? f->stack : malloc(STACK);

	if (!stack || all.n == INTERLEAVE_FIBERS)
		abort();
	*f = (struct interleave_fiber){.stack = stack, .fn = fn, .arg = arg};
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = stack;
	f->context.uc_stack.ss_size = STACK;
	f->context.uc_link = NULL;
	makecontext(&f->context, (void (*)(void))(uintptr_t)fiber_main, 1, all.n);
	return all.n++;
}

bool interleave_run(uint64_t patience)
{
	uint64_t end = all.now + patience;
	unsigned left = all.n;

	while (left && all.now < end && all.accesses <= ACCESSES_MOST) {
		struct interleave_fiber *f = any_other(NULL);

		if (f) {
			all.current = f;
			swapcontext(&all.main, &f->context);
			all.current = NULL;
		} else if (!pass_time()) {
			return false;
		}
		left = 0;
		for (unsigned i = 0; i < all.n; i++)
			left += !all.fiber[i].ended;
	}
	return !left;
}

uint64_t interleave_now(void)
{
	return all.now;
}

uint64_t interleave_switches(void)
{
	return all.switches;
}

void interleave_stall_within(unsigned accesses)
{
	all.current->stall_in = 1 + (unsigned)prng_below(&all.r, accesses);
}

static bool is_set(void *arg)
{
	return *(const unsigned *)arg != 0;
}

bool interleave_sleep(unsigned *flag, uint64_t ns)
{
	bool woken = sleep_until(all.now + ns, is_set, flag);

	*flag = 0;
	return woken;
}

void interleave_set_readable(int fd, bool readable)
{
	all.readable[fd] = readable;
}

/* ---- hooks -------------------------------------------------------------------------------- */

uint64_t interleave_load(const volatile void *at, size_t n)
{
	const struct interleave_fiber *f = all.current;

	interleave_point();
	for (unsigned i = f ? f->n_stores : 0; i--;)
		if (f->store[i].at == at)
			return f->store[i].value;
	return get(at, n);
}

void interleave_store(volatile void *at, size_t n, uint64_t value, int order)
{
	struct interleave_fiber *f = all.current;

	interleave_point();
	if (!f || order == memory_order_seq_cst) {
		flush(f);
		put(at, n, value);
		return;
	}
	if (f->n_stores == STORES)
		leave(f, 0);
	f->store[f->n_stores++] =
		(struct interleave_pending){at, n, value, order == memory_order_release};
}

uint64_t interleave_change(volatile void *at, size_t n, enum interleave_op op, uint64_t value)
{
	uint64_t was;

	interleave_point();
	flush(all.current);
	was = get(at, n);
	switch (op) {
	case INTERLEAVE_ADD:
		put(at, n, was + value);
		break;
	case INTERLEAVE_SUB:
		put(at, n, was - value);
		break;
	case INTERLEAVE_OR:
		put(at, n, was | value);
		break;
	case INTERLEAVE_AND:
		put(at, n, was & value);
		break;
	default:
		put(at, n, value);
	}
	return was;
}

bool interleave_swap(volatile void *at, size_t n, uint64_t *expected, uint64_t value)
{
	uint64_t was;

	interleave_point();
	flush(all.current);
	was = get(at, n);
	if (was == *expected) {
		put(at, n, value);
		return true;
	}
	*expected = was;
	return false;
}

bool interleave_trylock(volatile void *lock)
{
	uint64_t none = 0;

	return interleave_swap(lock, sizeof(uint32_t), &none, 1);
}

static bool is_free(void *lock)
{
	return get(lock, sizeof(uint32_t)) == 0;
}

void interleave_lock(volatile void *lock)
{
	while (!interleave_trylock(lock)) {
		if (!all.current)
			abort();
		/* A release may wait in another's buffer. */
		sleep_until(all.now + 20 * STEP_NS, is_free, (void *)(uintptr_t)lock);
		drain_some();
	}
}

bool interleave_lock_awhile(volatile void *lock)
{
	return interleave_trylock(lock);
}

void interleave_unlock(volatile void *lock, bool spin)
{
	if (spin) {
		interleave_store(lock, sizeof(uint32_t), 0, memory_order_release);
		return;
	}
	interleave_point();
	flush(all.current);
	put(lock, sizeof(uint32_t), 0);
}

static bool any_is_readable(void *arg)
{
	const struct pollfd *fds = arg;

	for (; fds->events; fds++)
		if (fds->fd >= 0 && all.readable[fds->fd])
			return true;
	return false;
}

int interleave_ppoll(
	struct pollfd *fds, nfds_t n, const struct timespec *most, const sigset_t *mask)
{
	struct pollfd look[INTERLEAVE_FDS + 1] = {0};
	int ready = 0;

	(void)mask;
	memcpy(look, fds, n * sizeof *fds);
	sleep_until(all.now + (uint64_t)most->tv_sec * 1000000000 + (uint64_t)most->tv_nsec,
		any_is_readable, look);
	for (nfds_t i = 0; i < n; i++) {
		bool is = fds[i].fd >= 0 && all.readable[fds[i].fd];

		fds[i].revents = is ? POLLIN : 0;
		ready += is;
	}
	return ready;
}

static bool has_ended(void *arg)
{
	return ((const struct interleave_fiber *)arg)->ended;
}

void interleave_join(unsigned id)
{
	while (!all.fiber[id].ended)
		sleep_until(FOREVER, has_ended, &all.fiber[id]);
}
