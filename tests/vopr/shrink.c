/* SPDX-License-Identifier: BSD-2-Clause */
#include "vopr/shrink.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** The words of a sentence, without its numbers. */
static void words(char *to, const char *from)
{
	for (; *from; from++)
		if (!isxdigit((unsigned char)*from))
			*to++ = *from;
	*to = '\0';
}

static bool fails_alike(const struct program *p, const char *wrong, const struct world_options *o)
{
	const struct world_options quiet = {.deliberate = o->deliberate};
	struct run_result r;
	char a[256], b[256];

	if (run_program(p, &quiet, &r))
		return false;
	words(a, r.wrong);
	words(b, wrong);
	return !strcmp(a, b);
}

/** @p p without @p n steps from @p at on. */
static struct program without(const struct program *p, unsigned at, unsigned n)
{
	struct program q;

	program_copy(&q, p);
	memmove(q.step + at, q.step + at + n, (q.n - at - n) * sizeof *q.step);
	q.n -= n;
	return q;
}

/** Try to leave out each part of @p n steps, from the last on. @return runs. */
static unsigned leave_out(
	struct program *p, unsigned n, const char *wrong, const struct world_options *o, bool *some)
{
	unsigned runs = 0;

	for (unsigned at = p->n; at > 0;) {
		unsigned from = at > n ? at - n : 0;
		struct program q = without(p, from, at - from);
		bool alike = fails_alike(&q, wrong, o);

		runs++;
		if (alike) {
			program_free(p);
			*p = q;
			*some = true;
		} else {
			program_free(&q);
		}
		at = from;
	}
	return runs;
}

unsigned shrink(struct program *p, const char *wrong, const struct world_options *o)
{
	unsigned runs = 0;
	bool some;

	for (unsigned n = p->n / 2; n; n /= 2) {
		do {
			some = false;
			runs += leave_out(p, n, wrong, o, &some);
		} while (some && n == 1);
	}
	return runs;
}
