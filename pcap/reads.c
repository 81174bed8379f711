/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/reads.h"

#include <stdlib.h>
#include <string.h>

/* Those before the list are free: it moves back when they are as many as it has. */
static bool reads_make_room(struct reads *r)
{
	size_t before = (size_t)(r->list - r->base);
	struct reads_request *more = r->base;
	unsigned cap = r->cap;

	if (before + r->n != r->cap)
		return true;
	if (before < r->n || r->cap == 0) {
		cap = r->cap == 0 ? 2 : 2 * r->cap;
		more = realloc(r->base, cap * sizeof *more);
		if (!more)
			return false;
	}
	if (r->n != 0)
		memmove(more, more + before, r->n * sizeof *more);
	r->base = r->list = more;
	r->cap = cap;
	return true;
}

bool reads_add(struct reads *r, const struct reads_request *q)
{
	bool fits = r->n < READS_MAX;

	if (!fits) {
		reads_remove(r, &r->list[0]);
		r->unsure = true;
	}
	if (!reads_make_room(r)) {
		r->unsure = true;
		return false;
	}
	r->list[r->n++] = *q;
	r->counted += !q->rtr;
	r->lost += q->lost;
	return fits;
}

struct reads_request *reads_oldest(struct reads *r, bool atomic)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->list[i].atomic == atomic && !r->list[i].lost)
			return &r->list[i];
	return NULL;
}

unsigned reads_after_lost(const struct reads *r, unsigned *first)
{
	unsigned i = 0;

	while (i < r->n && !r->list[i].lost)
		i++;
	*first = i;
	return r->n - i;
}

static bool reads_may_be(const struct reads_request *q, uint32_t stag, uint64_t to)
{
	return !q->atomic &&
	       (q->blank || q->lost || (q->sink_stag == stag && to - q->sink_to < q->size));
}

unsigned reads_candidates(
	const struct reads *r, uint32_t stag, uint64_t to, struct reads_request **first)
{
	unsigned n = 0;

	for (unsigned i = r->n; i-- != 0;)
		if (reads_may_be(&r->list[i], stag, to)) {
			*first = &r->list[i];
			n++;
		}
	return n;
}

void reads_truncate(struct reads *r, unsigned first)
{
	while (r->n > first)
		reads_remove(r, &r->list[r->n - 1]);
}

struct reads_request *reads_match(struct reads *r, uint32_t stag, uint64_t to)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct reads_request *q = &r->list[i];

		if (!q->atomic && !q->blank && q->sink_stag == stag && to - q->sink_to <= q->size)
			return q;
	}
	return NULL;
}

void reads_remove(struct reads *r, struct reads_request *q)
{
	size_t i = (size_t)(q - r->list);

	r->counted -= !q->rtr;
	r->lost -= q->lost;
	r->n--;
	r->completed++;
	if (i == 0)
		r->list++;
	else
		memmove(q, q + 1, (r->n - i) * sizeof *q);
}

void reads_free(struct reads *r)
{
	free(r->base);
	*r = (struct reads){0};
}
