/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions are plain virtual memory that is not pinned. Here we check that the memory exists. A
 * kernel device would find that by pinning, or by the fault in an on-demand region.
 */
#include "base/populate.h"
#include "provider/verbs/objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Regions up to this size are faulted in at registration. Larger ones, such as files or arenas,
 * could fill the machine's memory, so only their mappings are checked.
 */
#define POPULATE_MAX ((size_t)16 << 20)

static size_t memory_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/** The pages under [addr, addr + len). @return 0, -EFAULT: they do not exist. */
static int memory_whole_pages(const void *addr, size_t len, uintptr_t *first, size_t *span)
{
	size_t page = memory_page_size(), before = (uintptr_t)addr & (page - 1);

	if (len > SIZE_MAX - before - page)
		return -EFAULT;
	*first = (uintptr_t)addr - before;
	*span = (before + len + page - 1) & ~(page - 1);
	return *span - 1 > UINTPTR_MAX - *first ? -EFAULT : 0;
}

/* The kernel (5.14) populates on request: it does so with our own stack. */
static bool memory_can_populate(void)
{
	const uintptr_t here = (uintptr_t)&here & ~(memory_page_size() - 1);

	return madvise((void *)here, memory_page_size(), MADV_POPULATE_READ) == 0;
}

/* Every page is mapped with the rights wanted: by the kernel's list of mappings, in order. */
static bool memory_is_listed(FILE *maps, uintptr_t first, size_t span, bool write)
{
	uintptr_t from, to, last = first + (span - 1);
	char line[4400], rights[5];
	bool covered = false;

	while (!covered && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, rights) != 3)
			break;
		if (to <= first)
			continue;
		if (from > first || rights[0] != 'r' || (write && rights[1] != 'w'))
			break;
		covered = to - 1 >= last;
		first = to;
	}
	return covered;
}

/*
 * A program that has no descriptor left, or no /proc, may register memory all the same. Then the
 * kernel tells of holes alone: a right that is missing is found when the memory is used.
 */
static bool memory_is_mapped(uintptr_t first, size_t span, bool write)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool mapped;

	if (!maps)
		return msync((void *)first, span, MS_ASYNC) == 0;
	mapped = memory_is_listed(maps, first, span, write);
	fclose(maps);
	return mapped;
}

/** Have the pages there. @return 0, -EFAULT, -EAGAIN, -EINVAL: this kernel cannot. */
static int memory_populate(uintptr_t first, size_t span, bool write)
{
	if (madvise((void *)first, span, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
		return 0;
	if (errno == EINVAL && !memory_can_populate())
		return -EINVAL;
	/* EINVAL: no right to it, or memory of a device, which the kernel does not pin either. */
	return errno == EAGAIN ? -EAGAIN : -EFAULT;
}

int memory_verify(const void *addr, size_t len, bool write)
{
	uintptr_t first;
	size_t span;
	int rc;

	if (len == 0)
		return 0;
	if ((uintptr_t)addr + (len - 1) < (uintptr_t)addr)
		return -EINVAL;
	rc = memory_whole_pages(addr, len, &first, &span);
	if (rc == 0)
		rc = len <= POPULATE_MAX ? memory_populate(first, span, write) : -EINVAL;
	if (rc == -EINVAL)
		rc = memory_is_mapped(first, span, write) ? 0 : -EFAULT;
	return rc;
}

bool memory_page_in(const void *addr, size_t len, bool write)
{
	uintptr_t first;
	size_t span;
	int rc = memory_whole_pages(addr, len, &first, &span);

	if (rc == 0)
		rc = memory_populate(first, span, write);
	return rc == 0 || (rc == -EINVAL && memory_is_mapped(first, span, write));
}
