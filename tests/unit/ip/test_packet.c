/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"
#include "ip/packet.h"
#include "support/eal.h"

#include <rte_mbuf.h>

static struct rte_mbuf *numbered(struct host *h, unsigned len, unsigned piece)
{
	struct rte_mbuf *m = NULL;
	uint8_t b[256];

	for (unsigned i = 0; i < len; i++)
		b[i] = (uint8_t)i;
	for (unsigned at = 0; at < len; at += piece) {
		struct rte_mbuf *part =
			test_packet(h->pool, b + at, len - at < piece ? len - at : piece);

		if (!m)
			m = part;
		else
			rte_pktmbuf_chain(m, part);
	}
	return m;
}

static void expect_numbered(struct rte_mbuf *m, unsigned len)
{
	uint8_t b[256];
	const uint8_t *p;

	rte_mbuf_sanity_check(m, 1);
	assert_int_equal(m->pkt_len, len);
	p = rte_pktmbuf_read(m, 0, len, b);
	for (unsigned i = 0; i < len; i++)
		assert_int_equal(p[i], i);
}

static void pull_makes_contiguous(void **state)
{
	struct host *h = host_new();

	for (unsigned piece = 1; piece <= 200; piece += 9) {
		for (uint16_t len = 1; len <= 200; len += 7) {
			struct rte_mbuf *m = packet_pull(h->ip, numbered(h, 200, piece), len);

			assert_true(m->data_len >= len);
			expect_numbered(m, 200);
			rte_pktmbuf_free(m);
		}
	}
	host_free(h);
}

static void head_leaves_alone_what_is_contiguous(void **state)
{
	struct host *h = host_new();
	struct rte_mbuf *m = numbered(h, 100, 100);

	assert_ptr_equal(packet_head(h->ip, m, 60), m);
	assert_ptr_equal(packet_head(h->ip, m, 120), m);
	rte_pktmbuf_free(m);
	m = packet_head(h->ip, numbered(h, 100, 30), 120);
	assert_int_equal(m->data_len, 100);
	expect_numbered(m, 100);
	rte_pktmbuf_free(m);
	host_free(h);
}

static void trim_frees_what_is_behind(void **state)
{
	struct host *h = host_new();

	for (unsigned len = 1; len <= 100; len++) {
		struct rte_mbuf *m = numbered(h, 100, 10);

		packet_trim(m, len);
		assert_int_equal(m->nb_segs, (len + 9) / 10);
		expect_numbered(m, len);
		rte_pktmbuf_free(m);
	}
	host_free(h);
}

static void own_does_not_write_into_shared_memory(void **state)
{
	struct host *h = host_new();
	struct rte_mbuf *m = numbered(h, 100, 100);
	struct rte_mbuf *shared;

	assert_ptr_equal(packet_own(h->ip, m, 8), m);
	shared = rte_pktmbuf_clone(m, h->pool);
	shared = packet_own(h->ip, shared, 8);
	memset(rte_pktmbuf_mtod(shared, void *), 0xff, 8);
	expect_numbered(m, 100);
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(shared);
	/* No room for headers: received at the very front of a buffer. */
	m = numbered(h, 100, 100);
	m->data_off = 10;
	m = packet_own(h->ip, m, 8);
	assert_true(rte_pktmbuf_headroom(m) >= IP_HEADROOM);
	rte_pktmbuf_free(m);
	host_free(h);
}

static void an_empty_pool_loses_the_packet_only(void **state)
{
	struct host *h = host_new();
	struct rte_mbuf *all[600], *m = numbered(h, 100, 10);
	unsigned n = 0;

	while ((all[n] = rte_pktmbuf_alloc(h->pool)) != NULL)
		n++;
	assert_null(packet_new(h->ip));
	assert_null(packet_pull(h->ip, m, 50));
	while (n)
		rte_pktmbuf_free(all[--n]);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pull_makes_contiguous),
		cmocka_unit_test(head_leaves_alone_what_is_contiguous),
		cmocka_unit_test(trim_frees_what_is_behind),
		cmocka_unit_test(own_does_not_write_into_shared_memory),
		cmocka_unit_test(an_empty_pool_loses_the_packet_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
