/* SPDX-License-Identifier: BSD-2-Clause */
#include "pattern.h"

#include "base/bytes.h"
#include "ip/cksum.h"

#include <rte_mbuf.h>

struct rte_mbuf *pattern_segment(struct host *h, uint32_t n, struct ip_text_sum *text)
{
	struct rte_mbuf *m = host_segment(h, PATTERN_HEAD + PATTERN_TEXT);
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	store_be32(p + 4, n * UINT32_C(2654435761));
	p[12] = 0x80;
	for (unsigned i = 20; i < PATTERN_HEAD; i++)
		p[i] = (uint8_t)(i * 77);
	for (unsigned i = 0; i < PATTERN_TEXT; i++)
		p[PATTERN_HEAD + i] = (uint8_t)(n * i + (n >> 3));
	*text = (struct ip_text_sum){
		PATTERN_TEXT, cksum_fold(cksum_bytes(p + PATTERN_HEAD, PATTERN_TEXT))};
	return m;
}

static void expect_same_frame(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	assert_int_equal(a->data_len, b->data_len);
	assert_int_equal(a->pkt_len, b->pkt_len);
	assert_int_equal(a->ol_flags, b->ol_flags);
	assert_int_equal(a->tx_offload, b->tx_offload);
	assert_memory_equal(
		rte_pktmbuf_mtod(a, const void *), rte_pktmbuf_mtod(b, const void *), a->data_len);
}

void pattern_send_both_ways(
	struct host *h, struct ip_path *p, const struct ip_pattern *pattern, uint32_t n)
{
	struct ip_text_sum text;
	struct rte_mbuf *m = pattern_segment(h, n, &text);
	uint32_t word;

	assert_int_equal(ip_send_summed(h->ip, p, IP_PROTO_TCP, m, text, h->now), 0);
	m = pattern_segment(h, n, &text);
	memcpy(&word, rte_pktmbuf_mtod_offset(m, const void *, 4), sizeof word);
	memset(rte_pktmbuf_mtod(m, void *), 0xee, PATTERN_HEAD);
	rte_pktmbuf_adj(m, PATTERN_HEAD);
	m->ol_flags = RTE_MBUF_F_TX_TCP_CKSUM;
	m->tx_offload = 0x77;
	ip_send_alike(h->ip, pattern, m, word, text.sum, h->now);
	assert_int_equal(h->n_tx, 2);
	expect_same_frame(h->tx[0], h->tx[1]);
	host_forget(h);
}
