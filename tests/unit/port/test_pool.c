/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pool.h"
#include "support/eal.h"

#include <rte_errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void buffers_hold_a_frame(void **state)
{
	const uint16_t mtus[] = {576, 1500, 2048, 9000, 9216};

	for (size_t i = 0; i < sizeof mtus / sizeof mtus[0]; i++) {
		struct rte_mempool *p =
			pool_create("room", pool_frame_size(mtus[i]), 8, SOCKET_ID_ANY);

		assert_non_null(p);
		assert_true(rte_pktmbuf_data_room_size(p) >=
			    RTE_PKTMBUF_HEADROOM + pool_frame_size(mtus[i]));
		rte_mempool_free(p);
	}
}

static void memory_asked_for_is_what_it_takes(void **state)
{
	struct rte_mempool *p = pool_create("size", 1500, 16, SOCKET_ID_ANY);
	uint64_t bytes;

	assert_non_null(p);
	bytes = (uint64_t)p->size * (p->header_size + p->elt_size + p->trailer_size);
	assert_in_range(bytes, 15 << 20, 17 << 20);
	rte_mempool_free(p);
}

static void too_much_is_refused(void **state)
{
	assert_null(pool_create("huge", 1500, 1 << 20, SOCKET_ID_ANY));
	assert_int_equal(rte_errno, ENOMEM);
}

static int setup(void **state)
{
	test_eal_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_hold_a_frame),
		cmocka_unit_test(memory_asked_for_is_what_it_takes),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
