/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cancel.h
 * Keeps a thread from being cancelled (pthread_cancel()) while it holds what others need, or has
 * begun what must not stay half done.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <pthread.h>

/** What the thread had before. */
struct cancel_hold {
	int state, type;
};

/**
 * Before the lock is asked for. The type is changed too: glibc lets an asynchronous cancellation
 * that is on its way take effect though the state forbids it by then. There are no system calls.
 * Where neither was changed before it costs two atomic instructions in all.
 */
static inline struct cancel_hold cancel_hold(void)
{
	struct cancel_hold h;

	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &h.type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &h.state);
	return h;
}

/** A cancellation that came meanwhile may take effect in here. */
static inline void cancel_release(struct cancel_hold h)
{
	pthread_setcancelstate(h.state, NULL);
	if (h.type != PTHREAD_CANCEL_DEFERRED)
		pthread_setcanceltype(h.type, NULL);
}

#endif
