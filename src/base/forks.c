/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/forks.h"

#include <pthread.h>

_Atomic unsigned forks_counted;

static void forks_in_child(void)
{
	atomic_fetch_add_explicit(&forks_counted, 1, memory_order_relaxed);
}

static void forks_begin(void)
{
	pthread_atfork(NULL, NULL, forks_in_child);
}

void forks_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, forks_begin);
}
