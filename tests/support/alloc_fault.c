/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/alloc_fault.h"

#include "base/prng.h"
#include "support/need.h"
#include "support/wrapped.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#undef malloc
#undef calloc
#undef realloc
#undef free

/* By the linker's --wrap: __wrap_malloc() is what the program's objects call as malloc(). */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *s);
void __real_free(void *p);
WRAPPED void *__wrap_malloc(size_t size);
WRAPPED void *__wrap_calloc(size_t n, size_t size);
WRAPPED void *__wrap_realloc(void *p, size_t size);
WRAPPED void *__wrap_aligned_alloc(size_t alignment, size_t size);
WRAPPED char *__wrap_strdup(const char *s);
WRAPPED void __wrap_free(void *p);

extern const char __executable_start[];

/* Threads may allocate while it counts. Only one thread's allocations shall fail. */
static struct {
	_Atomic uint64_t seen;
	_Atomic int64_t live;
	uint64_t at, failed;
	double p;
	struct prng rng;
	size_t where;
} state;

/** One more call. @return its number. */
static uint64_t next_seen(void)
{
	return atomic_fetch_add_explicit(&state.seen, 1, memory_order_relaxed) + 1;
}

static void add_live(int64_t n)
{
	atomic_fetch_add_explicit(&state.live, n, memory_order_relaxed);
}

void alloc_fault_at(uint64_t n)
{
	state.seen = 0;
	state.at = n;
}

void alloc_fault_chance(double p, uint64_t seed)
{
	state.p = p;
	state.rng.state = seed;
}

uint64_t alloc_fault_seen(void)
{
	return state.seen;
}

uint64_t alloc_fault_failed(void)
{
	return state.failed;
}

size_t alloc_fault_where(void)
{
	return state.where;
}

int64_t alloc_fault_live(void)
{
	return state.live;
}

static bool fails_at(const void *caller)
{
	if (need_depth)
		return false;
	if (next_seen() != state.at && !(state.p > 0 && prng_chance(&state.rng, state.p)))
		return false;
	state.failed++;
	state.where = (size_t)((const char *)caller - __executable_start);
	errno = ENOMEM;
	return true;
}

bool alloc_fault_now(void)
{
	return fails_at(__builtin_return_address(0));
}

static void *count(void *p)
{
	add_live(p && !need_depth);
	return p;
}

void *__wrap_malloc(size_t size)
{
	return fails_at(__builtin_return_address(0)) ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails_at(__builtin_return_address(0)) ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (fails_at(__builtin_return_address(0)))
		return NULL;
	return p ? __real_realloc(p, size) : count(__real_realloc(p, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails_at(__builtin_return_address(0)) ? NULL
						     : count(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *s)
{
	return fails_at(__builtin_return_address(0)) ? NULL : count(__real_strdup(s));
}

void __wrap_free(void *p)
{
	add_live(-(p && !need_depth));
	__real_free(p);
}
/* NOLINTEND(bugprone-reserved-identifier) */
