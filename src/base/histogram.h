/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file histogram.h
 * Counts of values of any size in fixed memory, so that quantiles of millions of samples can be
 * told: 32 buckets to each power of two, hence to 1/32 of the value.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

/** Buckets to a power of two. */
#define HISTOGRAM_SUB 32

/** Zero-initialised is empty. */
struct histogram {
	uint64_t count, min, max;
	uint64_t bucket[HISTOGRAM_SUB * 60];
};

void histogram_add(struct histogram *h, uint64_t value);

/** Add what @p from has counted. */
void histogram_merge(struct histogram *h, const struct histogram *from);

/**
 * The value that @p ppm of a million samples do not exceed (500,000: the median), at most 1/32 too
 * large and never outside what was added. 0 if there are none.
 */
uint64_t histogram_quantile(const struct histogram *h, uint32_t ppm);

#endif
