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
#include "support/core_dump.h"

#include <string.h>

#define LEN 5000

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

	if (!core_dump_is_told())
		skip();
	p = secret_memory_map(LEN);
	assert_non_null(p);
	assert_true(core_dump_leaves_out(p));
	assert_false(core_dump_leaves_out(other));
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
