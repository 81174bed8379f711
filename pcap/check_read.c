/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/check_read.h"

#include <stdlib.h>
#include <string.h>

bool check_reads_add(struct check_reads *r, const struct check_request *q)
{
	bool fits = r->n < CHECK_READS_MAX;

	if (!fits) {
		check_reads_remove(r, &r->list[0]);
		r->unsure = true;
	}
	if (r->n == r->cap) {
		unsigned cap = r->cap == 0 ? 8 : 2 * r->cap;
		struct check_request *more = realloc(r->list, cap * sizeof *more);

		if (more == NULL) {
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

struct check_request *check_reads_oldest(struct check_reads *r, bool atomic)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->list[i].atomic == atomic)
			return &r->list[i];
	return NULL;
}

struct check_request *check_reads_match(struct check_reads *r, uint32_t stag, uint64_t to)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct check_request *q = &r->list[i];

		if (!q->atomic && !q->blank && q->sink_stag == stag && to - q->sink_to <= q->size)
			return q;
	}
	return NULL;
}

void check_reads_remove(struct check_reads *r, struct check_request *q)
{
	size_t i = (size_t)(q - r->list);

	r->counted -= !q->rtr;
	r->n--;
	r->completed++;
	memmove(q, q + 1, (r->n - i) * sizeof *q);
}

void check_reads_free(struct check_reads *r)
{
	free(r->list);
	*r = (struct check_reads){0};
}
