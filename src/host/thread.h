/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file thread.h
 * The engine's own thread. It drives the engine when no application thread does (idle.h). It takes
 * none of the program's signals (spawn.h) and may run on all CPUs of the process.
 */
#ifndef HOST_THREAD_H
#define HOST_THREAD_H

#include "host/poller.h"

struct engine_thread;

struct engine_thread_config {
	struct poller *poller;
	bool dedicated; /**< poll without a pause, on a core of its own */
	bool relaxed;   /**< sleep longer, for bulk (idle.h) */
	int core;       /**< CPU to stay on; -1: any */
	/** The link went up or down. Called under the engine's lock. May be NULL. */
	void (*link_changed)(void *ctx, bool up);
	/** Called about every 100 ms, under the engine's lock, where there is a link. May be NULL.
	 */
	void (*housekeeping)(void *ctx);
	void *ctx;
	const struct log_sink *log;
};

/** @return 0, -EINVAL (no such core), or -errno of thread creation. */
int engine_thread_start(const struct engine_thread_config *cfg, struct engine_thread **out);

/** Stop the thread and wait for its end. NULL does nothing. */
void engine_thread_stop(struct engine_thread *t);

/** Always-on counters. */
struct engine_thread_stats {
	uint64_t looks;  /**< times that it woke up or went on */
	uint64_t rounds; /**< rounds of the engine driven by it */
	uint64_t away;   /**< looks that left the driving to the application */
	uint64_t busy;   /**< looks that found the engine's lock taken */
	uint64_t sleeps;
};

struct engine_thread_stats engine_thread_stats(const struct engine_thread *t);

#endif
