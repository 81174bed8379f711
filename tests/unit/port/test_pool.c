/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pool.h"
#include "support/eal.h"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_memory.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void buffers_hold_a_frame(void **state)
{
	const uint16_t mtus[] = {576, 1500, 2048, 9000, 9216};

	for (size_t i = 0; i < sizeof mtus / sizeof mtus[0]; i++) {
		struct rte_mempool *p =
			pool_create("room", pool_frame_size(mtus[i]), 8, SOCKET_ID_ANY, false);

		assert_non_null(p);
		assert_true(rte_pktmbuf_data_room_size(p) >=
			    RTE_PKTMBUF_HEADROOM + pool_frame_size(mtus[i]));
		rte_mempool_free(p);
	}
}

static void memory_asked_for_is_what_it_takes(void **state)
{
	struct rte_mempool *p = pool_create("size", 1500, 16, SOCKET_ID_ANY, false);
	uint64_t bytes;

	assert_non_null(p);
	bytes = (uint64_t)p->size * (p->header_size + p->elt_size + p->trailer_size);
	assert_in_range(bytes, 15 << 20, 17 << 20);
	rte_mempool_free(p);
}

static void note_place(struct rte_mempool *p, void *opaque, void *object, unsigned i)
{
	struct rte_mbuf *m = object;
	unsigned *of_eal = opaque;

	*of_eal += rte_mem_virt2memseg(m->buf_addr, NULL) != NULL;
}

/** How many of its buffers lie in the EAL's memory? */
static unsigned of_eal(struct rte_mempool *p)
{
	unsigned n = 0;

	rte_mempool_obj_iter(p, note_place, &n);
	return n;
}

/* The EAL's memory is a file, and has no huge pages. */
static void private_buffers_lie_in_memory_of_our_own(void **state)
{
	struct rte_mempool *shared = pool_create("shared", 1500, 8, SOCKET_ID_ANY, false);
	struct rte_mempool *p = pool_create("private", 1500, 8, SOCKET_ID_ANY, true);
	struct rte_mbuf *m[64];

	assert_int_equal(of_eal(shared), shared->size);
	assert_int_equal(of_eal(p), 0);
	assert_int_equal(p->size, shared->size);
	assert_int_equal(rte_mempool_avail_count(p), p->size);
	assert_int_equal(rte_pktmbuf_data_room_size(p), rte_pktmbuf_data_room_size(shared));
	assert_int_equal(rte_pktmbuf_alloc_bulk(p, m, 64), 0);
	for (unsigned i = 0; i < 64; i++) {
		assert_ptr_equal(m[i]->pool, p);
		assert_int_equal(rte_pktmbuf_tailroom(m[i]),
			rte_pktmbuf_data_room_size(p) - RTE_PKTMBUF_HEADROOM);
		memset(rte_pktmbuf_append(m[i], 1500), 1, 1500);
	}
	rte_pktmbuf_free_bulk(m, 64);
	assert_int_equal(rte_mempool_avail_count(p), p->size);
	rte_mempool_free(p);
	rte_mempool_free(shared);
}

static void too_much_is_refused(void **state)
{
	assert_null(pool_create("huge", 1500, 1 << 20, SOCKET_ID_ANY, false));
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
		cmocka_unit_test(private_buffers_lie_in_memory_of_our_own),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
