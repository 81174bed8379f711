/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sample.h What the programs here take their figures with: clocks, order, memory. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "base/clock_id.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline uint64_t sample_now_ns(void)
{
	return clock_id_ns(CLOCK_MONOTONIC);
}

static inline int sample_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/** Ascending, so that v[n / 2] is the median and v[n * 99 / 100] what 99 of 100 stay below. */
static inline void sample_sort(uint64_t *v, size_t n)
{
	qsort(v, n, sizeof *v, sample_compare);
}

static inline int sample_compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** The median of @p v, which is sorted by it. */
static inline double sample_median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, sample_compare_double);
	return v[n / 2];
}

/** Bytes of this process that are in memory. */
static inline size_t sample_memory(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%*u %lu", &pages) != 1)
		err(1, "/proc/self/statm");
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
