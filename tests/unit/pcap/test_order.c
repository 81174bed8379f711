/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Any of them can be taken, the rest stays in its order. */
static void test_take(void **state)
{
	struct order o = {0};

	for (uint32_t i = 0; i < 20; i++) {
		struct packet p = {.seq = i};
		struct cap_frame f = {.number = 100 + i};

		assert_true(order_add(&o, i % 2, &p, &f));
	}
	assert_int_equal(o.n, 20);
	assert_int_equal(o.of[0], 10);
	assert_int_equal(order_take(&o, 3).p.seq, 3);
	assert_int_equal(o.of[1], 9);
	assert_int_equal(order_take(&o, 3).f.number, 104);
	assert_int_equal(o.of[0], 9);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(order_take(&o, 0).p.seq, i);
	assert_int_equal(order_take(&o, 0).p.seq, 5);
	order_free(&o);
	assert_int_equal(o.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
