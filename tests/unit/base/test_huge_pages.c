/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/huge_pages.h"

#include "support/advice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

static void it_is_zero_aligned_and_advised(void **state)
{
	const size_t len = 2 * HUGE_PAGE;
	unsigned char *p = huge_pages_map(len);

	assert_non_null(p);
	assert_int_equal((uintptr_t)p % HUGE_PAGE, 0);
	for (size_t i = 0; i < len; i += 4096)
		assert_int_equal(p[i], 0);
	p[len - 1] = 1;
	/* A kernel without them refuses the advice. */
	if (advice_is_heeded() && madvise(p, len, MADV_HUGEPAGE) == 0)
		assert_true(advice_shows(p, "hg"));
	assert_int_equal(munmap(p, len), 0);
}

static void too_much_is_refused(void **state)
{
	assert_null(huge_pages_map(0));
	assert_null(huge_pages_map(SIZE_MAX));
	assert_null(huge_pages_map(SIZE_MAX / HUGE_PAGE * HUGE_PAGE));
	assert_null(huge_pages_map((size_t)1 << 62));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_zero_aligned_and_advised),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
