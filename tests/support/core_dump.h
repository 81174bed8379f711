/* SPDX-License-Identifier: BSD-2-Clause */
/** @file core_dump.h What a core dump of this process would leave out. Behind cmocka.h. */
#ifndef TESTS_SUPPORT_CORE_DUMP_H
#define TESTS_SUPPORT_CORE_DUMP_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** The kernel's flags of the mapping that has @p p in it (proc(5), "dd": do not dump). */
static inline bool core_dump_leaves_out(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool inside = false, left_out = false;
	unsigned long from, to;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (inside && strncmp(line, "VmFlags:", 8) == 0)
			left_out = strstr(line, " dd") != NULL;
	}
	fclose(f);
	return left_out;
}

/** An emulator may neither ask for it nor tell: QEMU 7.2's user mode does not. */
static inline bool core_dump_is_told(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool told;

	assert_true(p != MAP_FAILED);
	assert_int_equal(madvise(p, 4096, MADV_DONTDUMP), 0);
	told = core_dump_leaves_out(p);
	munmap(p, 4096);
	return told;
}

#define CORE_DUMP_PIECE (1 << 20)
/** Sanitizers reserve terabytes, which nobody can go over: there the search is no test. */
#define CORE_DUMP_MAPPING (1ul << 30)
/** What is looked for is given with this on each octet, as it must not be in memory itself. */
#define CORE_DUMP_MASK 0x5a

static inline bool core_dump_matches(const uint8_t *at, const uint8_t *masked, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((at[i] ^ CORE_DUMP_MASK) != masked[i])
			return false;
	return true;
}

/** The same of the mapping from @p from to @p to. What cannot be read is not in a dump. */
static inline bool core_dump_mapping_has(
	int mem, uint8_t *room, off_t from, off_t to, const uint8_t *masked, size_t len)
{
	for (; from < to; from += CORE_DUMP_PIECE - (off_t)len) {
		off_t want = to - from < CORE_DUMP_PIECE ? to - from : CORE_DUMP_PIECE;
		ssize_t n = pread(mem, room, (size_t)want, from);

		for (ssize_t i = 0; i + (ssize_t)len <= n; i++)
			if (core_dump_matches(room + i, masked, len))
				return true;
		if (n < want || want < CORE_DUMP_PIECE)
			break;
	}
	return false;
}

/** Would a core dump of this process have these octets, which are given as of CORE_DUMP_MASK? */
static inline bool core_dump_has(const uint8_t *masked, size_t len)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	uint8_t *room = mmap(
		NULL, CORE_DUMP_PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long from = 0, to = 0, a, b;
	bool has = false;
	char line[512];

	assert_true(f && mem >= 0 && room != MAP_FAILED);
	assert_int_equal(madvise(room, CORE_DUMP_PIECE, MADV_DONTDUMP), 0);
	while (!has && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
			from = a;
			to = b;
		} else if (strncmp(line, "VmFlags:", 8) == 0 && !strstr(line, " dd") &&
			   to <= INT64_MAX && to - from <= CORE_DUMP_MAPPING) {
			has = core_dump_mapping_has(mem, room, (off_t)from, (off_t)to, masked, len);
		}
	}
	munmap(room, CORE_DUMP_PIECE);
	close(mem);
	fclose(f);
	return has;
}

#endif
