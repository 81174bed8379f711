/* SPDX-License-Identifier: BSD-2-Clause */
/** @file must.h Demands of threads, where cmocka's cannot be used: they jump back to the test. */
#ifndef TESTS_UNIT_PROVIDER_MUST_H
#define TESTS_UNIT_PROVIDER_MUST_H

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition)                                                                   \
	do {                                                                              \
		if (!(condition)) {                                                       \
			fprintf(stderr, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, \
				#condition, strerror(errno));                             \
			abort();                                                          \
		}                                                                         \
	} while (0)

/** Wait until another thread has posted @p s. */
static inline void must_wait(sem_t *s)
{
	int r;

	do
		r = sem_wait(s);
	while (r && errno == EINTR);
	MUST(r == 0);
}

#endif
