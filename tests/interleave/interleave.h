/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file interleave.h
 * Threads that run one at a time, as a seed says: fibers of one thread, which can change at each
 * access to an atomic and at each lock of what is compiled with hooks.h before it. The same seed is
 * the same order, to the instruction.
 *
 * Stores are seen by others as C11 allows, and no sooner: one that is not sequentially consistent
 * waits in a buffer of its fiber. It leaves that after all before it if it is a release, else after
 * those before it to the same place. Read-modify-writes, sequentially consistent stores, mutexes
 * and all that sleeps empty the buffer, as on x86 and ARMv8. What is no atomic is seen at once: a
 * data race is TSan's to find.
 *
 * Time is virtual: a little passes with each access, and when all sleep, as much as the first of
 * them sleeps.
 */
#ifndef TESTS_INTERLEAVE_H
#define TESTS_INTERLEAVE_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERLEAVE_FIBERS 8
#define INTERLEAVE_FDS    4

/** Forget all fibers, and begin again with this seed. Time goes on from @p now, ns. */
void interleave_begin(uint64_t seed, uint64_t now);

/** One more fiber, which begins when interleave_run() or another fiber lets it. @return its id. */
unsigned interleave_spawn(void (*fn)(void *arg), void *arg);

/**
 * Run all until they have ended.
 * @param patience virtual ns; who has not ended by then never will.
 * @return false: somebody has not. They can be run no further.
 */
bool interleave_run(uint64_t patience);

/** Virtual time, ns. */
uint64_t interleave_now(void);

/** When the first of those that sleep wakes by itself, ns. UINT64_MAX: none does. */
uint64_t interleave_first_wake(void);

/** How often another fiber went on, since interleave_begin(). */
uint64_t interleave_switches(void);

/** Has anybody looked at memory that was freed before, by an atomic or a lock? */
bool interleave_touched_freed(void);

/** Another may go on here. */
void interleave_point(void);

/** Sleep until *@p flag is not 0, which is set to 0, or for @p ns. @return it was not 0. */
bool interleave_sleep(unsigned *flag, uint64_t ns);

/** The caller loses its core at one of its next accesses, for a time in which others come far. */
void interleave_stall_within(unsigned accesses);

/** Descriptor @p fd, from 0, is readable, or not. */
void interleave_set_readable(int fd, bool readable);

/* ---- what hooks.h calls ------------------------------------------------------------------- */

enum interleave_op {
	INTERLEAVE_ADD,
	INTERLEAVE_SUB,
	INTERLEAVE_OR,
	INTERLEAVE_AND,
	INTERLEAVE_SET,
};

/** @param n bytes, 1, 2, 4 or 8. */
uint64_t interleave_load(const volatile void *at, size_t n);
void interleave_store(volatile void *at, size_t n, uint64_t value, int order);
/** @return what was there before. */
uint64_t interleave_change(volatile void *at, size_t n, enum interleave_op op, uint64_t value);
/** @return true: it was *@p expected and is @p value; else *@p expected is what it is. */
bool interleave_swap(volatile void *at, size_t n, uint64_t *expected, uint64_t value);

/** Locks of 32 bits; 0: free. A spin lock's release waits in the buffer, as on x86. */
void interleave_lock(volatile void *lock);
bool interleave_trylock(volatile void *lock);
/** Give up after some time. @return true: it is locked. */
bool interleave_lock_awhile(volatile void *lock);
void interleave_unlock(volatile void *lock, bool spin);

/** The memory stays as it is until interleave_begin(): who touches it is noticed. */
void interleave_free(void *memory);

void interleave_yield(void);
int interleave_ppoll(
	struct pollfd *fds, nfds_t n, const struct timespec *most, const sigset_t *mask);
/** Until the fiber with this id has ended. */
void interleave_join(unsigned id);

#endif
