/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file histogram.h
 * A histogram of 64-bit values in fixed memory, for quantiles of millions of samples. There are 32
 * buckets for each power of two, so a quantile is exact to 1/32 of its value.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

/** Buckets for each power of two. */
#define HISTOGRAM_SUB 32

/** Zero-initialised is empty. */
struct histogram {
	uint64_t count, min, max;
	uint64_t bucket[HISTOGRAM_SUB * 60];
};

void histogram_add(struct histogram *h, uint64_t value);

/** Add all samples of @p from. */
void histogram_merge(struct histogram *h, const struct histogram *from);

/**
 * The value that @p ppm of a million samples do not exceed (500,000: the median), at most 1/32 too
 * large and never outside the range of the samples. 0 if there are no samples.
 */
uint64_t histogram_quantile(const struct histogram *h, uint32_t ppm);

#endif
