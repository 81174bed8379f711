/* SPDX-License-Identifier: BSD-2-Clause */
/* A check goes on without what there was no memory for. */
#include "check_case.h"

#include "support/alloc_fault.h"
#include "support/cap_bytes.h"

/** A check of @p m in which allocation @p n fails, if it is none of its start. @return how many
 *  there were. */
static uint64_t check_without(struct cap_maker *m, uint64_t n)
{
	static const struct follow_config config;
	struct check k = {.report = {0}};
	struct cap_error e;
	struct cap_file *c = cap_open_bytes(m->bytes, m->len, &e);
	struct follow w;

	assert_non_null(c);
	assert_int_equal(follow_init(&w, &config, &check_ops, &k), 0);
	alloc_fault_at(n);
	assert_int_equal(follow_capture(&w, c, &e), CAP_END);
	n = alloc_fault_seen();
	alloc_fault_at(0);
	cap_close(c);
	return n;
}

static void each_allocation_fails_once(void **state)
{
	struct cap_maker m;
	uint64_t n = 0;

	cap_maker_init(&m);
	running(&m);
	cap_maker_read_request(&m, 0, 1, 64);
	cap_maker_read_response(&m, 1, 0x100, 64);
	for (unsigned i = 2; i < 80; i++)
		cap_maker_send(&m, i & 1, 1 + i / 2, 5);
	cap_maker_fin(&m, 1);
	while (n < check_without(&m, n + 1))
		n++;
	assert_true(n > 10);
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
