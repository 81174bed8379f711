/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file forks.h
 * How often this process was forked off. A child has the parent's objects, but none of the threads
 * that drive them, and perhaps a lock that is held for ever: who notes the count with an object
 * knows a child by another one, without a system call.
 */
#ifndef BASE_FORKS_H
#define BASE_FORKS_H

#include <stdatomic.h>

extern _Atomic unsigned forks_counted;

/** Count from now on. Before the first forks_count(); any thread, any number of times. */
void forks_watch(void);

static inline unsigned forks_count(void)
{
	return atomic_load_explicit(&forks_counted, memory_order_relaxed);
}

#endif
