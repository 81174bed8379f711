/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded: CLOCK_REALTIME is as far off as the first eight bytes of the file say that
 * $CHAOS_REALTIME names, in seconds. The file may change at any time: then the clock steps, for
 * this program and no other.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t *realtime_offset;

__attribute__((constructor)) static void realtime_start(void)
{
	const char *path = getenv("CHAOS_REALTIME");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, sizeof *realtime_offset, PROT_READ, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED)
		realtime_offset = at;
	close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, t);

	if (rc == 0 && realtime_offset &&
		(clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec += atomic_load(realtime_offset);
	return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &t))
		return -1;
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}
