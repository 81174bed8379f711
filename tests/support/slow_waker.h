/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file slow_waker.h
 * A thread in the middle of waking somebody (engine_wake_after()): it stays there until it is
 * awaited, and a while after that, in which who does not wait for it would be back.
 */
#ifndef TESTS_SUPPORT_SLOW_WAKER_H
#define TESTS_SUPPORT_SLOW_WAKER_H

#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct slow_waker {
	struct engine *engine;
	struct engine_doorbell wake;
	pthread_t thread;
	_Atomic bool begun, awaited, done;
};

/** Start the thread. Returns when it wakes. */
void slow_waker_begin(struct slow_waker *s, struct engine *e);

/** Somebody is about to wait for it. */
void slow_waker_await(struct slow_waker *s);

/** Somebody has waited: it must have woken. Joins the thread. */
void slow_waker_end(struct slow_waker *s);

#endif
