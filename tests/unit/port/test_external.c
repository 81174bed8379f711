/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/external.h"

#include "dpdk-port/pool.h"
#include "support/eal.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* After the four that it needs. */
#include <cmocka.h>

#define ENOUGH (RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_TCP_CKSUM)

static void assert_refused(const char *device, uint64_t offloads, const char *word)
{
	const char *why = external_refusal(device, offloads);

	assert_non_null(why);
	assert_non_null(strstr(why, word));
}

/** Each of the reasons that does not take a device of this machine. */
static void test_refusals(void **state)
{
	assert_refused("net_memif0,role=server", ENOUGH, "another process");
	assert_refused("net_af_packet0,iface=lo", ENOUGH, "copies");
	assert_refused("net_tap0", RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "checksum");
	assert_null(external_refusal("net_tap0", ENOUGH));
	assert_null(external_refusal("eth_tap0", ENOUGH));
	assert_refused("ffff:1f:00.7", RTE_ETH_TX_OFFLOAD_TCP_CKSUM, "parts");
	assert_refused("ffff:1f:00.7", RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "checksum");
	assert_refused("ffff:1f:00.7", ENOUGH, "vfio-pci");
}

/** Whoever shares a page with another is copied from; and there is an end. */
static void test_claims(void **state)
{
	const uint64_t page = 4096;

	assert_int_equal(external_claim(2 * page, 2 * page), 0);
	assert_int_equal(external_claim(page, 2 * page), -EEXIST);
	assert_int_equal(external_claim(3 * page, page), -EEXIST);
	assert_int_equal(external_claim(0, 8 * page), -EEXIST);
	assert_int_equal(external_claim(4 * page, page), 0);
	external_disclaim(2 * page);
	assert_int_equal(external_claim(0, 4 * page), 0);
	assert_int_equal(external_claim(3 * page, 2 * page), -EEXIST);
	for (unsigned i = 0; i < 254; i++)
		assert_int_equal(external_claim((8 + i) * page, page), 0);
	assert_int_equal(external_claim(1000 * page, page), -ENOSPC);
	external_disclaim(4 * page);
	assert_int_equal(external_claim(1000 * page, page), 0);
}

/** A part of a frame needs no memory of its own, and as many as there can be are counted. */
static void test_external_pool(void **state)
{
	struct rte_mempool *p = pool_create_external("external", SOCKET_ID_ANY);

	assert_non_null(p);
	assert_int_equal(rte_pktmbuf_data_room_size(p), 0);
	assert_in_range(p->size, 8192, UINT16_MAX / 2);
	rte_mempool_free(p);
}

static int set_up(void **state)
{
	test_eal_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_external_pool),
	};

	return cmocka_run_group_tests_name("port-external", tests, set_up, NULL);
}
