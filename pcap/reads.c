/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/reads.h"

#include <stdlib.h>
#include <string.h>

bool reads_add(struct reads *r, const struct reads_request *q)
{
	bool fits = r->n < READS_MAX;

	if (!fits) {
		reads_remove(r, &r->list[0]);
		r->unsure = true;
	}
	if (r->n == r->cap) {
		unsigned cap = r->cap == 0 ? 8 : 2 * r->cap;
		struct reads_request *more = realloc(r->list, cap * sizeof *more);

		if (!more) {
			r->unsure = true;
			return false;
		}
		r->list = more;
		r->cap = cap;
	}
	r->list[r->n++] = *q;
	r->counted += !q->rtr;
	return fits;
}

struct reads_request *reads_oldest(struct reads *r, bool atomic)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->list[i].atomic == atomic)
			return &r->list[i];
	return NULL;
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
	r->n--;
	r->completed++;
	memmove(q, q + 1, (r->n - i) * sizeof *q);
}

void reads_free(struct reads *r)
{
	free(r->list);
	*r = (struct reads){0};
}
