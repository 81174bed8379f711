/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file exit_wait.h
 * exit() has begun, and nothing comes any more: threads that wait for it must not wait for ever, as
 * a destructor may join them. Nor may they be told at once, as one may be about to stop them.
 */
#ifndef PROVIDER_EXIT_WAIT_H
#define PROVIDER_EXIT_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/** So long they see no error. */
#define EXIT_PATIENCE_NS UINT64_C(2000000000)

/** CLOCK_MONOTONIC in ns. */
uint64_t exit_clock(void);

/**
 * This thread has looked at @p fd for what it waits for, and found nothing. A cancellation point.
 * @param since exit_clock(), when exit() began.
 * @return 0: look again, a moment has passed; -EAGAIN: O_NONBLOCK; -EINTR: a signal was handled;
 *         -EIO: it is long enough.
 */
int exit_wait(uint64_t since, int fd);

/**
 * Take a lock that threads hold for a moment, in exit(): a signal handler may have called that, on
 * the very thread that has the lock.
 * @return false: it was not to be had.
 */
bool exit_lock(pthread_mutex_t *lock);

#endif
