/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

void *huge_pages_map(size_t len)
{
	size_t before;
	char *p;

	if (!len || len > SIZE_MAX - HUGE_PAGE)
		return NULL;
	p = mmap(NULL, len + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)p & (HUGE_PAGE - 1);
	if (before)
		munmap(p, before);
	munmap(p + before + len, HUGE_PAGE - before);
	madvise(p + before, len, MADV_HUGEPAGE); /* without, it is slower, no more */
	return p + before;
}
