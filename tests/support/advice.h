/* SPDX-License-Identifier: BSD-2-Clause */
/** @file advice.h What became of madvise(), as Linux shows it in /proc/self/smaps. */
#ifndef TESTS_SUPPORT_ADVICE_H
#define TESTS_SUPPORT_ADVICE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/** Has the mapping in which @p at lies the flag @p flag, of two letters, in its VmFlags? */
static inline bool advice_shows(const void *at, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512], word[8];
	uint64_t from, to;
	bool here = false, found = false;

	if (!f)
		return false;
	snprintf(word, sizeof word, " %s", flag);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2)
			here = (uintptr_t)at >= from && (uintptr_t)at < to;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			found = strstr(line, word) != NULL;
	}
	fclose(f);
	return found;
}

/** Linux refuses an advice that it does not know. qemu-user takes any, and does nothing with it. */
static inline bool advice_is_heeded(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool heeded = p != MAP_FAILED && madvise(p, 4096, 0x7fff) != 0;

	if (p != MAP_FAILED)
		munmap(p, 4096);
	return heeded;
}

#endif
