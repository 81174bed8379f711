/* SPDX-License-Identifier: BSD-2-Clause */
/** @file spawn.h Threads of our own in the program's process. */
#ifndef DPDK_PORT_SPAWN_H
#define DPDK_PORT_SPAWN_H

#include <pthread.h>

/**
 * pthread_create() of a thread that takes none of the program's signals. They are blocked in it and
 * in all threads that it creates. The signals of its own faults (SIGSEGV and the like) are not
 * blocked: a fault with a blocked signal would end the process without any handler (base/guarded.h,
 * the program's own, a sanitizer's).
 *
 * @param attr as pthread_create() takes it; may be NULL
 * @return 0 or -errno
 */
int spawn_thread(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

#endif
