/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"

#define ALL    "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define LL2    "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define LL_US  "fe 80 00 00 00 00 00 00 00 00 00 ff fe 00 00 01 "
#define FF0216 "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 16 "
#define SOL1   "ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 01 "

/* A general query, version 2, with the router alert that it must have. */
static void query(struct host *h, const char *ttl, const char *from)
{
	struct bytes b = bytes("33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 1c 3a");
	struct bytes out;

	bytes_add(&b, ttl);
	bytes_add(&b, from);
	bytes_add(&b, ALL "82 00 00 00 27 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
			  "02 7d 00 00");
	fix_v6(&b);
	/* The hop-by-hop header goes in after the checksum is known. */
	out = b;
	memcpy(out.b + 54, bytes("3a 00 05 02 00 00 01 00").b, 8);
	memcpy(out.b + 62, b.b + 54, b.len - 54);
	out.len += 8;
	out.b[20] = 0;
	store_be16(out.b + 18, 0x24);
	host_input(h, &out, 0);
}

static void join_is_reported_before_the_probe(void **state)
{
	struct host *h = host_new();
	struct ip_addr a = host_addr("fd00::1");
	uint16_t sum;

	assert_int_equal(ip_addr_add(h->ip, &a, 64, h->now), 0);
	/* From nobody, as no address is sure yet; one group, its filter EXCLUDE of nothing.
	 * Sum: ff02+16 + 3a+1c + 8f00+1 + 0400 + ff02+1+ff00+1, folded, is 9076. */
	assert_int_equal(h->tx[0]->pkt_len, 14 + 40 + 8 + 28);
	sum = load_be16(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 14 + 40 + 8 + 2));
	assert_int_equal(sum, (uint16_t)~0x9076);
	store_be16(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 14 + 40 + 8 + 2), 0);
	host_expect(h, "33 33 00 00 00 16 02 00 00 00 00 01 86 dd 60 00 00 00 00 24 00 01"
		       "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" FF0216
		       "3a 00 05 02 00 00 01 00 8f 00 00 00 00 00 00 01 04 00 00 00" SOL1);
	host_free(h);
}

static void query_is_answered_once_a_second(void **state)
{
	struct host *h = host_new_v6();

	query(h, "01", LL2);
	assert_int_equal(h->n_tx, 1);
	store_be16(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 14 + 40 + 8 + 2), 0);
	/* Both our addresses have the same group. */
	host_expect(h,
		"33 33 00 00 00 16 02 00 00 00 00 01 86 dd 60 00 00 00 00 24 00 01" LL_US FF0216
		"3a 00 05 02 00 00 01 00 8f 00 00 00 00 00 00 01 02 00 00 00" SOL1);
	query(h, "01", LL2);
	host_expect_nothing(h);
	host_run(h, SECOND);
	query(h, "01", LL2);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

static void bad_queries_are_not(void **state)
{
	struct host *h = host_new_v6();

	query(h, "02", LL2);
	query(h, "01", "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02");
	host_expect_nothing(h);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(join_is_reported_before_the_probe),
		cmocka_unit_test(query_is_answered_once_a_second),
		cmocka_unit_test(bad_queries_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
