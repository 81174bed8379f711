/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cancel.h
 * Defers the cancellation of a thread (pthread_cancel()) while it holds a lock, or while it does
 * something that must be completed.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <pthread.h>

/** The cancel state and type of the thread before cancel_hold(). */
struct cancel_hold {
	int state, type;
};

/**
 * Defer cancellation. Call it before taking the lock.
 *
 * The type is changed too: in glibc, an asynchronous cancellation that is already on its way takes
 * effect even if the state forbids it. No system call is made.
 */
static inline struct cancel_hold cancel_hold(void)
{
	struct cancel_hold h;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &h.type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &h.state);
	return h;
}

/** Restore what was before. A deferred cancellation may take effect in here. */
static inline void cancel_release(struct cancel_hold h)
{
	pthread_setcancelstate(h.state, NULL);
	if (h.type != PTHREAD_CANCEL_DEFERRED)
		pthread_setcanceltype(h.type, NULL);
}

#endif
