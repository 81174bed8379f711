/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file trouble.h
 * What a program of tests/chaos does to itself while its links are under way: children without an
 * end, threads that are cancelled wherever they are.
 */
#ifndef CHAOS_TROUBLE_H
#define CHAOS_TROUBLE_H

#include <infiniband/verbs.h>

/** At most 32 children at a time, which end in different ways. To be called again and again. */
void trouble_fork(void);

/** A child that does nothing for @p seconds; 0: none. */
void trouble_orphan(unsigned seconds);

/** The child's end was noticed by poll() or not: wait for those that are there. */
void trouble_reap(void);

/**
 * Threads that poll, wait for completions and wait for events, of objects of their own.
 * @return -1: there are not enough objects.
 */
int trouble_threads_start(struct ibv_context *context);

/** One of the threads is cancelled, and another one takes its place. */
void trouble_cancel_one(void);

/** All of them are cancelled, and their objects given back. */
void trouble_threads_stop(void);

#endif
