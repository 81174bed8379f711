/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/exit_wait.h"

#include "base/clock_id.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#define EXIT_WAIT_LOOK_NS 10000000
#define EXIT_LOCK_TRIES   100
#define EXIT_LOCK_NAP_NS  1000000

uint64_t exit_clock(void)
{
	return clock_id_ns(CLOCK_MONOTONIC);
}

static int exit_nap(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	return nanosleep(&t, NULL) == 0 ? 0 : -errno;
}

int exit_wait(uint64_t since, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (exit_clock() >= since + EXIT_PATIENCE_NS)
		return -EIO;
	if (flags >= 0 && flags & O_NONBLOCK)
		return -EAGAIN;
	return exit_nap(EXIT_WAIT_LOOK_NS);
}

bool exit_lock(pthread_mutex_t *lock)
{
	for (unsigned i = 0; pthread_mutex_trylock(lock) != 0; i++) {
		if (i == EXIT_LOCK_TRIES)
			return false;
		(void)exit_nap(EXIT_LOCK_NAP_NS);
	}
	return true;
}
