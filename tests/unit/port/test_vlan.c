/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/vlan.h"

#include "dpdk-port/port_private.h"
#include "support/eal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ADDRESSES 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2

static const uint8_t ipv4[] = {ADDRESSES, 0x08, 0x00, 0x45, 0xb8, 1, 2, 3, 4};
static const uint8_t ipv6[] = {ADDRESSES, 0x86, 0xdd, 0x66, 0x8f, 1, 2, 3, 4};
static const uint8_t arp[] = {ADDRESSES, 0x08, 0x06, 0xff, 0xff, 1, 2, 3, 4};

static struct rte_mempool *pool;

static struct rte_mbuf *frame(const uint8_t *bytes, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, len), bytes, len);
	return m;
}

static void assert_frame(struct rte_mbuf *m, const uint8_t *bytes, uint16_t len)
{
	assert_int_equal(m->pkt_len, len);
	assert_int_equal(m->data_len, len);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), bytes, len);
}

/** The tag, and all else as before; then without it again. */
static void assert_tagged(const uint8_t *bytes, uint16_t len, uint16_t id, uint16_t tci)
{
	struct rte_mbuf *m = frame(bytes, len);
	uint8_t wanted[64];

	memcpy(wanted, bytes, 12);
	wanted[12] = 0x81;
	wanted[13] = 0;
	wanted[14] = (uint8_t)(tci >> 8);
	wanted[15] = (uint8_t)tci;
	memcpy(wanted + 16, bytes + 12, len - 12u);
	m->l2_len = 14;
	assert_true(vlan_push(m, id));
	assert_frame(m, wanted, (uint16_t)(len + 4));
	assert_int_equal(m->l2_len, 18);
	assert_true(vlan_pop(m, id));
	assert_frame(m, bytes, len);
	rte_pktmbuf_free(m);
}

static void priority_is_the_precedence(void **state)
{
	assert_tagged(ipv4, sizeof ipv4, 5, 5 << 13 | 5);
	assert_tagged(ipv6, sizeof ipv6, 4094, 3 << 13 | 4094);
	assert_tagged(arp, sizeof arp, 1, 1);
	assert_tagged(ipv4, 14, 1, 1);
}

static void no_room_leaves_the_frame(void **state)
{
	struct rte_mbuf *m = frame(ipv4, sizeof ipv4);

	m->l2_len = 14;
	m->data_off = 3;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), ipv4, sizeof ipv4);
	assert_false(vlan_push(m, 5));
	assert_frame(m, ipv4, sizeof ipv4);
	assert_int_equal(m->l2_len, 14);
	rte_pktmbuf_free(m);
}

static void other_vlans_are_not_ours(void **state)
{
	struct rte_mbuf *m = frame(ipv4, sizeof ipv4);

	assert_false(vlan_pop(m, 5));
	assert_true(vlan_push(m, 6));
	assert_false(vlan_pop(m, 5));
	/* The priority is not a part of it. */
	assert_true(vlan_pop(m, 6));
	assert_true(vlan_pop(m, 0));
	assert_frame(m, ipv4, sizeof ipv4);
	rte_pktmbuf_free(m);
	/* Too short for a tag. */
	m = frame((const uint8_t[]){ADDRESSES, 0x81, 0, 0, 5}, 16);
	assert_false(vlan_pop(m, 5));
	rte_pktmbuf_free(m);
}

static void assert_stripped(uint16_t tci, uint16_t id, bool ours)
{
	struct rte_mbuf *m = frame(ipv4, sizeof ipv4);

	m->ol_flags =
		RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	m->vlan_tci = tci;
	assert_int_equal(vlan_pop(m, id), ours);
	assert_frame(m, ipv4, sizeof ipv4);
	assert_int_equal(m->ol_flags, RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	rte_pktmbuf_free(m);
}

static void what_the_driver_took_out_counts(void **state)
{
	struct rte_mbuf *m = frame(ipv4, sizeof ipv4);

	assert_stripped(0xa005, 5, true);
	assert_stripped(0xa006, 5, false);
	assert_stripped(0xa006, 0, false);
	assert_stripped(0xa000, 0, true);
	m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 0xa005;
	vlan_restore(m);
	assert_int_equal(m->pkt_len, sizeof ipv4 + 4);
	assert_memory_equal(
		rte_pktmbuf_mtod_offset(m, uint8_t *, 12), "\x81\x00\xa0\x05\x08\x00", 6);
	vlan_restore(m);
	assert_int_equal(m->pkt_len, sizeof ipv4 + 4);
	assert_true(vlan_pop(m, 5));
	assert_frame(m, ipv4, sizeof ipv4);
	rte_pktmbuf_free(m);
}

/* net_ring gives back what is sent. */
static void a_port_takes_its_own_vlan(void **state)
{
	struct port_config cfg = {.device = "net_ring9", .memory_mib = 40, .vlan = 5};
	struct rte_mbuf *got[32];
	struct port_error e = {""};
	struct port *p = NULL;

	if (port_open(&cfg, &p, &e))
		fail_msg("%s", e.text);
	/* Others first, more than a burst of them, and one of ours behind. */
	p->vlan = 6;
	for (unsigned i = 0; i < 70; i++)
		port_tx(p, frame(ipv4, sizeof ipv4));
	p->vlan = 0;
	port_tx(p, frame(ipv4, sizeof ipv4));
	p->vlan = 5;
	port_tx(p, frame(ipv6, sizeof ipv6));
	port_flush(p);
	assert_int_equal(port_rx(p, got, 32), 1);
	assert_frame(got[0], ipv6, sizeof ipv6);
	rte_pktmbuf_free(got[0]);
	assert_int_equal(port_get_stats(p)->rx_other_vlan, 71);
	assert_int_equal(port_get_stats(p)->rx_packets, 72);
	assert_int_equal(port_rx(p, got, 32), 0);
	port_close(p);
	assert_int_equal(test_pool_missing(pool), 0);
}

static int make_pool(void **state)
{
	test_eal_init();
	pool = test_pool("frames", 200, 2048);
	return pool ? 0 : -1;
}

static int free_pool(void **state)
{
	rte_mempool_free(pool);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(priority_is_the_precedence),
		cmocka_unit_test(no_room_leaves_the_frame),
		cmocka_unit_test(other_vlans_are_not_ours),
		cmocka_unit_test(what_the_driver_took_out_counts),
		cmocka_unit_test(a_port_takes_its_own_vlan),
	};

	return cmocka_run_group_tests(tests, make_pool, free_pool);
}
