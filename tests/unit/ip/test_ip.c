/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"
#include "ip/packet.h"
#include "ip_case.h"

#include <rte_mbuf.h>

/** UDP: its checksum is elsewhere, its header of one length, and the port knows TCP alone. */
static void transport_says_where_its_checksum_is(void **state)
{
	const struct ip_transport udp = {
		.tx_cksum = RTE_MBUF_F_TX_UDP_CKSUM, .min_len = 8, .cksum_off = 6};
	struct host *h = host_new_offload();
	struct ip_addr a = host_addr("10.0.0.1"), src, dst;
	struct rte_mbuf *m = host_segment(h, 8);
	const struct ip_rx rx = {.src = a, .dst = host_addr("10.0.0.2")};
	struct ip_path p;

	ip_set_transport(h->ip, 17, &udp);
	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	ip_case_path(h, &p, "10.0.0.2");
	assert_int_equal(ip_send(h->ip, &p, 17, m, h->now), 0);
	host_forget(h);
	host_input_hex(h, IP_CASE_ARP_REPLY);
	m = h->tx[0];
	assert_int_equal(m->ol_flags & RTE_MBUF_F_TX_L4_MASK, 0);
	assert_non_null(ip_peek(h->ip, m, 17, &src, &dst));
	assert_null(ip_peek(h->ip, m, IP_PROTO_TCP, &src, &dst));
	/* The complement of 0a00+0001+0a00+0002+0011+0008. */
	assert_int_equal(
		load_be16(rte_pktmbuf_mtod_offset(m, const uint8_t *, 34 + 6)), (uint16_t)~0x141c);
	packet_skip(m, 34);
	store_be16(rte_pktmbuf_mtod_offset(m, uint8_t *, 6), 0x141c);
	assert_true(ip_l4_cksum_unfilled(h->ip, &rx, 17, m));
	packet_trim(m, 7);
	assert_false(ip_l4_cksum_unfilled(h->ip, &rx, 17, m));
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transport_says_where_its_checksum_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
