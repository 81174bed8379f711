/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/order.h"

#include <stdlib.h>
#include <string.h>

bool order_add(struct order *o, unsigned side, const struct packet *p, const struct cap_frame *f)
{
	if (o->n == o->cap) {
		unsigned cap = o->cap == 0 ? 8 : 2 * o->cap;
		struct order_segment *more = realloc(o->list, cap * sizeof *more);

		if (!more)
			return false;
		o->list = more;
		o->cap = cap;
	}
	o->list[o->n++] = (struct order_segment){side, *p, *f};
	o->of[side]++;
	return true;
}

const struct order_segment *order_first(const struct order *o, unsigned side)
{
	for (unsigned i = 0; i < o->n; i++)
		if (o->list[i].side == side)
			return &o->list[i];
	return NULL;
}

struct order_segment order_take(struct order *o, unsigned i)
{
	struct order_segment taken = o->list[i];

	o->n--;
	o->waits = 0;
	o->of[taken.side]--;
	memmove(o->list + i, o->list + i + 1, (o->n - i) * sizeof *o->list);
	return taken;
}

void order_free(struct order *o)
{
	free(o->list);
	*o = (struct order){0};
}
