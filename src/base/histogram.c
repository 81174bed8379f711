/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/histogram.h"

#define SUB_BITS 5

static unsigned histogram_bucket_of(uint64_t v)
{
	unsigned shift;

	if (v < HISTOGRAM_SUB)
		return (unsigned)v;
	shift = 63 - (unsigned)__builtin_clzll(v) - SUB_BITS;
	return HISTOGRAM_SUB * shift + (unsigned)(v >> shift);
}

/** The largest value that falls into bucket @p i. */
static uint64_t histogram_top_of(unsigned i)
{
	unsigned shift;

	if (i < HISTOGRAM_SUB)
		return i;
	shift = i / HISTOGRAM_SUB - 1;
	return ((uint64_t)(i % HISTOGRAM_SUB + HISTOGRAM_SUB) << shift) +
	       ((UINT64_C(1) << shift) - 1);
}

static void histogram_widen(struct histogram *h, uint64_t min, uint64_t max)
{
	if (!h->count || min < h->min)
		h->min = min;
	if (!h->count || max > h->max)
		h->max = max;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	histogram_widen(h, value, value);
	h->count++;
	h->bucket[histogram_bucket_of(value)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
	if (!from->count)
		return;
	histogram_widen(h, from->min, from->max);
	h->count += from->count;
	for (unsigned i = 0; i < sizeof h->bucket / sizeof h->bucket[0]; i++)
		h->bucket[i] += from->bucket[i];
}

uint64_t histogram_quantile(const struct histogram *h, uint32_t ppm)
{
	uint64_t wanted = (uint64_t)(((unsigned __int128)h->count * ppm + 999999) / 1000000);
	uint64_t seen = 0, top;
	unsigned i = 0;

	if (!h->count)
		return 0;
	if (!wanted)
		return h->min;
	while (seen + h->bucket[i] < wanted)
		seen += h->bucket[i++];
	top = histogram_top_of(i);
	return top < h->max ? top : h->max;
}
