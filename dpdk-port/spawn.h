/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file spawn.h
 * Threads of ours within a process that is not ours.
 */
#ifndef DPDK_PORT_SPAWN_H
#define DPDK_PORT_SPAWN_H

#include <pthread.h>

/**
 * pthread_create() of a thread that takes none of the program's signals: they are blocked in it
 * and in all threads that it makes. Not so the signals of its own faults (SIGSEGV and its like):
 * a fault with its signal blocked ends the process at once, without any handler (base/guarded.h,
 * the program's own) and without a word from a sanitizer.
 *
 * @param attr as pthread_create() takes it; may be NULL
 * @return 0 or -errno
 */
int spawn_thread(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

#endif
