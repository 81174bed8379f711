/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "ip/stack.h"

#include <rte_mbuf.h>

#define ETH     "02 00 00 00 00 01 02 00 00 00 00 02 08 00 "
#define SEGMENT "00 01 00 02 00 00 00 03 00 00 00 04 50 02 10 00 00 00 00 00 "

static void input_fixed(struct host *h, const char *hex, unsigned piece)
{
	struct bytes b = bytes(hex);

	fix_v4(&b);
	host_input(h, &b, piece);
}

static void expect_dropped(struct host *h, const char *hex)
{
	input_fixed(h, hex, 0);
	assert_int_equal(h->n_rx, 0);
	host_expect_nothing(h);
}

static void segment_goes_up_without_its_header(void **state)
{
	struct host *h = host_new_v4();

	/* ECN CE, TTL 1, padded to 60 bytes. */
	input_fixed(h,
		ETH "45 03 00 28 12 34 40 00 01 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT
		    "ee ee ee ee ee ee",
		0);
	assert_int_equal(h->n_rx, 1);
	assert_int_equal(h->rx[0]->pkt_len, 20);
	assert_int_equal(h->rx_info[0].tos, 3);
	assert_int_equal(h->rx_info[0].ttl, 1);
	assert_false(h->rx_info[0].l4_cksum_good || h->rx_info[0].l4_cksum_bad);
	assert_false(h->rx_info[0].from_self);
	assert_int_equal(rte_pktmbuf_mtod(h->rx[0], uint8_t *)[3], 2);
	assert_int_equal(h->rx_info[0].src.b[15], 2);
	assert_int_equal(h->rx_info[0].dst.b[15], 1);
	host_free(h);
}

static void pieces_become_contiguous_at_the_front(void **state)
{
	struct host *h = host_new_v4();
	struct bytes b =
		bytes(ETH "45 00 00 64 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT);

	for (unsigned i = 0; i < 60; i++)
		bytes_add(&b, "aa");
	fix_v4(&b);
	for (unsigned piece = 1; piece < 100; piece += 3) {
		host_input(h, &b, piece);
		assert_int_equal(h->n_rx, 1);
		assert_int_equal(h->rx[0]->pkt_len, 80);
		assert_true(h->rx[0]->data_len >= 60);
		assert_int_equal(
			ip_l4_cksum(&h->rx_info[0].src, &h->rx_info[0].dst, 6, h->rx[0], 0), 0);
		host_forget(h);
	}
	host_free(h);
}

static void port_flags_are_believed(void **state)
{
	struct host *h = host_new_v4();
	struct bytes b =
		bytes(ETH "45 00 00 28 12 34 40 00 40 06 de ad 0a 00 00 02 0a 00 00 01" SEGMENT);
	static const uint64_t flags[] = {
		RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD,
		RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD,
		RTE_MBUF_F_RX_IP_CKSUM_BAD,
	};

	for (unsigned i = 0; i < 3; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);

		memcpy(rte_pktmbuf_append(m, (uint16_t)b.len), b.b, b.len);
		m->ol_flags = flags[i];
		(void)ip_input(h->ip, &m, 1, h->now);
	}
	assert_int_equal(h->n_rx, 2);
	assert_true(h->rx_info[0].l4_cksum_good && !h->rx_info[0].l4_cksum_bad);
	assert_true(h->rx_info[1].l4_cksum_bad && !h->rx_info[1].l4_cksum_good);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_cksum, 1);
	host_input(h, &b, 0); /* without a word from the port: verified, and wrong */
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_cksum, 2);
	host_free(h);
}

static void bad_headers(void **state)
{
	struct host *h = host_new_v4();

	host_input_hex(
		h, ETH "45 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00"); /* short */
	expect_dropped(
		h, ETH "65 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT);
	expect_dropped(
		h, ETH "45 00 00 29 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT);
	host_input_hex(
		h, ETH "45 00 00 13 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT);
	host_input_hex(
		h, ETH "44 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT);
	host_input_hex(
		h, ETH "4f 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 6);
	assert_int_equal(h->n_rx, 0);
	host_expect_nothing(h);
	host_free(h);
}

/** A frame with an IP packet of @p len bytes to @p dst, whose header says @p total. */
static void input_cut(struct host *h, const char *dst, unsigned len, unsigned total)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->pool);
	struct bytes b = bytes(ETH "45 00 00 00 12 34 40 00 40 06 00 00 0a 00 00 02");
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(14 + len));

	bytes_add(&b, dst);
	assert_non_null(p);
	memset(p, 0, 14 + len);
	memcpy(p, b.b, b.len);
	store_be16(p + 14 + 2, (uint16_t)total);
	(void)ip_input(h->ip, &m, 1, h->now);
}

/* Linux has put segments together, and the port's frames are not as long. */
static void what_the_port_cuts_off_is_counted(void **state)
{
	struct host *h = host_new_v4();

	input_cut(h, "0a 00 00 01", 1500, 1501);
	input_cut(h, "0a 00 00 01", 1900, 65535);
	assert_int_equal(ip_stack_stats(h->ip)->rx_cut, 2);
	/* A length that is wrong is another thing. */
	input_cut(h, "0a 00 00 01", 1499, 1500);
	assert_int_equal(ip_stack_stats(h->ip)->rx_cut, 2);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 3);
	assert_int_equal(h->n_rx, 0);
	host_free(h);
}

/* The kernel has another address on the same interface: what it gets in one piece is not lost. */
static void what_is_cut_off_for_others_is_not_ours(void **state)
{
	struct host *h = host_new_v4();

	input_cut(h, "0a 00 00 07", 1900, 65535);
	input_cut(h, "e0 01 02 03", 1900, 65535);
	assert_int_equal(ip_stack_stats(h->ip)->rx_cut, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 2);
	host_free(h);
}

static void options_are_skipped_but_source_routes_refused(void **state)
{
	struct host *h = host_new_v4();

	/* Router alert, NOPs, end of list with rubbish behind it. */
	input_fixed(h,
		ETH "46 00 00 2c 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
		    "94 04 00 00" SEGMENT,
		0);
	input_fixed(h,
		ETH "46 00 00 2c 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
		    "01 01 00 99" SEGMENT,
		0);
	assert_int_equal(h->n_rx, 2);
	assert_int_equal(h->rx[0]->pkt_len, 20);
	assert_int_equal(rte_pktmbuf_mtod(h->rx[1], uint8_t *)[3], 2);
	host_forget(h);
	/* Loose and strict source route; lengths 0, 1, beyond the header; cut off. */
	expect_dropped(h, ETH "47 00 00 30 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
			      "83 07 04 0a 00 00 03 00" SEGMENT);
	expect_dropped(h, ETH "47 00 00 30 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
			      "89 07 04 0a 00 00 03 00" SEGMENT);
	expect_dropped(h, ETH "46 00 00 2c 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
			      "94 00 00 00" SEGMENT);
	expect_dropped(h, ETH "46 00 00 2c 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
			      "94 01 00 00" SEGMENT);
	expect_dropped(h, ETH "46 00 00 2c 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
			      "94 05 00 00" SEGMENT);
	expect_dropped(h, ETH "46 00 00 2c 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01"
			      "01 01 01 94" SEGMENT);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 6);
	host_free(h);
}

static void groups_and_others_do_not_reach_tcp(void **state)
{
	struct host *h = host_new_v4();

	expect_dropped(
		h, ETH "45 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 03" SEGMENT);
	expect_dropped(
		h, ETH "45 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 ff" SEGMENT);
	expect_dropped(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 00"
			  "45 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 ff ff ff ff" SEGMENT);
	expect_dropped(h, "01 00 5e 00 00 01 02 00 00 00 00 02 08 00"
			  "45 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 e0 00 00 01" SEGMENT);
	/* To us, but in a link-layer broadcast (RFC 1122 section 3.3.6). */
	expect_dropped(h, "ff ff ff ff ff ff 02 00 00 00 00 02 08 00"
			  "45 00 00 28 12 34 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT);
	assert_int_equal(ip_stack_stats(h->ip)->rx_not_ours, 4);
	assert_int_equal(ip_stack_stats(h->ip)->rx_unknown_proto, 1); /* the group of all hosts */
	host_free(h);
}

static void impossible_sources(void **state)
{
	static const char *const src[] = {"0a 00 00 01", "7f 00 00 01", "e0 00 00 01",
		"ff ff ff ff", "00 00 00 00", "0a 00 00 ff", "0a 00 00 00", "f0 00 00 01"};
	struct host *h = host_new_v4();

	for (unsigned i = 0; i < sizeof src / sizeof *src; i++) {
		struct bytes b = bytes(ETH "45 00 00 28 12 34 40 00 40 06 00 00");

		bytes_add(&b, src[i]);
		bytes_add(&b, "0a 00 00 01" SEGMENT);
		fix_v4(&b);
		host_input(h, &b, 0);
	}
	assert_int_equal(ip_stack_stats(h->ip)->rx_martian, sizeof src / sizeof *src);
	assert_int_equal(h->n_rx, 0);
	host_expect_nothing(h);
	host_free(h);
}

#define STREAM ETH "45 02 00 28 00 00 40 00 40 06 00 00 0a 00 00 02 0a 00 00 01" SEGMENT

/** Let the stack have seen the headers of @p b. */
static void see(struct host *h, const struct bytes *b)
{
	for (unsigned i = 0; i < 2; i++)
		host_input(h, b, 0);
	assert_int_equal(h->ip->seen.generation, h->ip->generation);
	host_forget(h);
}

static void see_nothing(struct host *h)
{
	memset(&h->ip->seen, 0, sizeof h->ip->seen);
}

static void expect_stream(const struct host *h, unsigned i, unsigned len)
{
	const struct ip_rx *rx = &h->rx_info[i];

	assert_int_equal(h->rx[i]->pkt_len, len);
	assert_int_equal(h->rx[i]->data_len, len);
	assert_int_equal(rte_pktmbuf_mtod(h->rx[i], uint8_t *)[3], 2);
	assert_int_equal(rx->tos, 2);
	assert_int_equal(rx->ttl, 64);
	assert_int_equal(rx->src.b[15], 2);
	assert_int_equal(rx->dst.b[15], 1);
	assert_false(rx->l4_cksum_good || rx->l4_cksum_bad || rx->from_self || rx->router_alert);
}

static void headers_of_a_stream_are_known(void **state)
{
	struct host *h = host_new_v4();
	struct bytes b = bytes(STREAM), padded;
	struct ip_addr other = host_addr("10.0.1.1");

	fix_v4(&b);
	padded = b;
	bytes_add(&padded, "ee ee ee ee ee ee");
	host_input(h, &b, 0);
	assert_int_equal(h->ip->seen.generation, 0); /* it may be the only one */
	see(h, &b);
	host_input(h, &b, 0);
	host_input(h, &padded, 0);
	host_input(h, &b, 30); /* in pieces: the other way */
	assert_int_equal(h->n_rx, 3);
	for (unsigned i = 0; i < 3; i++)
		expect_stream(h, i, 20);
	host_forget(h);
	/* Cut short. */
	b.len--;
	host_input(h, &b, 0);
	assert_int_equal(h->n_rx, 0);
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 1);
	b.len++;
	/* What is known of the stack has changed. */
	assert_int_equal(ip_addr_add(h->ip, &other, 24, h->now), 0);
	assert_int_not_equal(h->ip->seen.generation, h->ip->generation);
	host_forget(h);
	host_input(h, &b, 0);
	assert_int_equal(h->n_rx, 1);
	expect_stream(h, 0, 20);
	host_free(h);
}

/** What becomes of frame @p b. */
static struct ip_stats fate(struct host *h, const struct bytes *b, unsigned *up, struct ip_rx *rx)
{
	struct ip_stats before = *ip_stack_stats(h->ip), after;

	host_input(h, b, 0);
	after = *ip_stack_stats(h->ip);
	*up = h->n_rx;
	if (h->n_rx)
		*rx = h->rx_info[0];
	host_forget(h);
	return (struct ip_stats){.rx_bad_header = after.rx_bad_header - before.rx_bad_header,
		.rx_bad_cksum = after.rx_bad_cksum - before.rx_bad_cksum,
		.rx_not_ours = after.rx_not_ours - before.rx_not_ours,
		.rx_martian = after.rx_martian - before.rx_martian,
		.rx_unknown_proto = after.rx_unknown_proto - before.rx_unknown_proto};
}

/** One other bit, and the packet takes the whole way; with its header's sum right, and wrong. */
static void every_bit_of_known_headers_counts(void **state)
{
	struct host *h = host_new_v4();
	struct bytes good = bytes(STREAM);

	fix_v4(&good);
	for (unsigned bit = 0; bit < 2 * 8 * 34; bit++) {
		struct bytes b = good;
		struct ip_rx rx = {0}, rx_known = {0};
		struct ip_stats known, unknown;
		unsigned up, up_known;

		b.b[bit / 2 / 8] ^= (uint8_t)(1 << (bit / 2 % 8));
		if (bit % 2 && (b.b[14] & 15) == 5)
			fix_v4_header(&b);
		see_nothing(h);
		unknown = fate(h, &b, &up, &rx);
		see_nothing(h);
		see(h, &good);
		known = fate(h, &b, &up_known, &rx_known);
		assert_int_equal(up_known, up);
		assert_memory_equal(&known, &unknown, sizeof known);
		assert_memory_equal(&rx_known.src, &rx.src, sizeof rx.src);
		assert_memory_equal(&rx_known.dst, &rx.dst, sizeof rx.dst);
		assert_int_equal(rx_known.tos, rx.tos);
		assert_int_equal(rx_known.ttl, rx.ttl);
	}
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segment_goes_up_without_its_header),
		cmocka_unit_test(pieces_become_contiguous_at_the_front),
		cmocka_unit_test(port_flags_are_believed),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(what_the_port_cuts_off_is_counted),
		cmocka_unit_test(what_is_cut_off_for_others_is_not_ours),
		cmocka_unit_test(options_are_skipped_but_source_routes_refused),
		cmocka_unit_test(groups_and_others_do_not_reach_tcp),
		cmocka_unit_test(impossible_sources),
		cmocka_unit_test(headers_of_a_stream_are_known),
		cmocka_unit_test(every_bit_of_known_headers_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
