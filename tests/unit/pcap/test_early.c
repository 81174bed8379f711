/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/early.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#include <stdlib.h>

/* Around where sequence numbers begin again. */
#define BEGIN 0xffffff00u

static void add(struct cap_early *e, uint32_t at, uint32_t len)
{
	const struct piece p = {.seq = BEGIN + at, .len = len};

	assert_true(cap_early_add(e, &p));
}

static void the_empty_one_has_nothing(void **state)
{
	struct cap_early e = {.n = 0};

	assert_null(cap_early_first(&e));
	assert_null(cap_early_find(&e, 7));
	cap_early_clear(&e);
	add(&e, 0, 1);
	cap_early_clear(&e);
	assert_int_equal(e.n, 0);
	assert_null(cap_early_first(&e));
}

static void a_piece_is_found_by_its_end(void **state)
{
	struct cap_early e = {.n = 0};
	const struct piece *p;

	add(&e, 300, 10); /* beyond where they begin again */
	add(&e, 100, 10);
	p = cap_early_find(&e, BEGIN);
	assert_int_equal(p->seq, BEGIN + 100);
	assert_ptr_equal(cap_early_find(&e, BEGIN + 109), p);
	p = cap_early_find(&e, BEGIN + 110);
	assert_int_equal(p->seq, BEGIN + 300);
	assert_null(cap_early_next(p));
	assert_null(cap_early_find(&e, BEGIN + 310));
	cap_early_clear(&e);
}

/* Drawn: whatever the order, they come out in theirs. */
static void they_come_out_in_order(void **state)
{
	enum { N = 1000 };
	struct cap_early e = {.n = 0};
	const struct piece *p;
	struct piece taken;
	uint32_t at[N];

	srand(1);
	for (unsigned i = 0; i < N; i++) {
		unsigned other = (unsigned)rand() % (i + 1);

		at[i] = at[other];
		at[other] = 3 * i;
	}
	for (unsigned i = 0; i < N; i++)
		add(&e, at[i], 2);
	assert_int_equal(e.n, N);
	p = cap_early_first(&e);
	for (unsigned i = 0; i < N; i++, p = cap_early_next(p))
		assert_int_equal(p->seq, BEGIN + 3 * i);
	assert_null(p);
	for (unsigned i = 0; i < N; i++) {
		cap_early_take(&e, &taken);
		assert_int_equal(taken.seq, BEGIN + 3 * i);
	}
	assert_int_equal(e.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_empty_one_has_nothing),
		cmocka_unit_test(a_piece_is_found_by_its_end),
		cmocka_unit_test(they_come_out_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
