/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of doorbells: any of them ring in any order, also while others are served. */
#include "proofs/prove.h"

#include "engine/engine.c"

#define BELLS 3

static struct engine_doorbell bells[BELLS];
static struct engine engine;
static unsigned rung[BELLS], served[BELLS], order[2 * BELLS], count;
static bool again; /**< the first that is served rings once more */

/* As who rings does it where the lock is held by another. */
static void ring(unsigned i)
{
	rung[i] += !atomic_load(&bells[i].queued);
	engine_list_add(&engine.doorbells, &bells[i]);
}

static void serve(struct engine_doorbell *d)
{
	unsigned i = (unsigned)(d - bells);

	assert(i < BELLS && !atomic_load(&d->queued));
	served[i]++;
	order[count++] = i;
	if (again) {
		again = false;
		ring(i);
	}
}

/* Each that rang is served as often as it was put on the list, the oldest first; none is lost. */
void proof_doorbells(void)
{
	unsigned first[BELLS], n = 0;

	for (unsigned i = 0; i < BELLS; i++)
		bells[i].serve = serve;
	for (unsigned k = 0; k < BELLS; k++) {
		unsigned i = nondet_u8();

		assume(i < BELLS);
		if (!atomic_load(&bells[i].queued))
			first[n++] = i;
		ring(i);
	}
	again = nondet_bool();
	engine_doorbells_serve(&engine);
	assert(count == n);
	for (unsigned k = 0; k < n; k++)
		assert(order[k] == first[k]);
	engine_doorbells_serve(&engine);
	for (unsigned i = 0; i < BELLS; i++)
		assert(served[i] == rung[i] && !atomic_load(&bells[i].queued));
	assert(!engine_has_doorbells(&engine));
}
