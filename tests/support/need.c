/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/need.h"

#undef malloc
#undef calloc
#undef realloc
#undef free

volatile unsigned need_depth;

static void *need(void *p)
{
	need_depth--;
	if (!p)
		abort();
	return p;
}

void *need_malloc(size_t size)
{
	need_depth++;
	return need(malloc(size ? size : 1));
}

void *need_calloc(size_t n, size_t size)
{
	need_depth++;
	return need(calloc(n, size));
}

void *need_realloc(void *p, size_t size)
{
	need_depth++;
	return need(realloc(p, size));
}

void need_free(void *p)
{
	need_depth++;
	free(p);
	need_depth--;
}
