/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/secret_memory.h"

#include <string.h>
#include <sys/mman.h>

void *secret_memory_map(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* A kernel without it dumps them: no reason to refuse to work. */
	(void)madvise(p, len, MADV_DONTDUMP);
	return p;
}

void secret_memory_unmap(void *p, size_t len)
{
	if (!p)
		return;
	explicit_bzero(p, len);
	munmap(p, len);
}
