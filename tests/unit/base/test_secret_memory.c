/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for secrets: zeros, and not in a core dump. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/secret_memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define LEN 5000

/** The kernel's flags of the mapping that has @p p in it (proc(5), "dd": do not dump). */
static bool is_undumped(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool inside = false, undumped = false;
	unsigned long from, to;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (inside && strncmp(line, "VmFlags:", 8) == 0)
			undumped = strstr(line, " dd") != NULL;
	}
	fclose(f);
	return undumped;
}

/** An emulator may neither ask for it nor tell: QEMU 7.2's user mode does not. */
static bool is_told_of_dumps(void)
{
	void *p = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool told;

	assert_true(p != MAP_FAILED);
	assert_int_equal(madvise(p, LEN, MADV_DONTDUMP), 0);
	told = is_undumped(p);
	munmap(p, LEN);
	return told;
}

static void it_is_zeros(void **state)
{
	static const uint8_t zeros[LEN];
	uint8_t *p = secret_memory_map(LEN);

	assert_non_null(p);
	assert_memory_equal(p, zeros, LEN);
	memset(p, 7, LEN);
	secret_memory_unmap(p, LEN);
	secret_memory_unmap(NULL, LEN);
}

static void it_is_not_dumped(void **state)
{
	static const uint8_t other[LEN];
	uint8_t *p;

	if (!is_told_of_dumps())
		skip();
	p = secret_memory_map(LEN);
	assert_non_null(p);
	assert_true(is_undumped(p));
	assert_false(is_undumped(other));
	secret_memory_unmap(p, LEN);
}

static void what_cannot_be_had_is_null(void **state)
{
	assert_null(secret_memory_map(SIZE_MAX / 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_zeros),
		cmocka_unit_test(it_is_not_dumped),
		cmocka_unit_test(what_cannot_be_had_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
