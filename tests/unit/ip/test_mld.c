/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/bytes.h"
#include "support/plain_sum.h"

#include <rte_mbuf.h>

#define ALL    "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01 "
#define LL2    "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define LL_US  "fe 80 00 00 00 00 00 00 00 00 00 ff fe 00 00 01 "
#define FD2    "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define FF0216 "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 16 "
#define SOL1   "ff 02 00 00 00 00 00 00 00 00 00 01 ff 00 00 01 "

#define FF0202 "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 02 "
#define FF0E   "ff 0e 00 00 00 00 00 00 00 00 00 00 00 00 12 34 "
#define GENERAL \
	"82 00 00 00 27 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 7d 00 00"

struct message {
	const char *ttl, *from, *to /* NULL: all nodes */, *hex;
	const char *mac /* NULL: all nodes' */;
	bool no_alert;
};

static void message(struct host *h, const struct message *q)
{
	struct bytes b = bytes("33 33 00 00 00 01 02 00 00 00 00 02 86 dd 60 00 00 00 00 00 3a");
	struct bytes out;

	if (q->mac)
		memcpy(b.b, bytes(q->mac).b, 6);
	store_be16(b.b + 18, (uint16_t)bytes(q->hex).len);
	bytes_add(&b, q->ttl);
	bytes_add(&b, q->from);
	bytes_add(&b, q->to ? q->to : ALL);
	bytes_add(&b, q->hex);
	fix_v6(&b);
	/* The hop-by-hop header goes in after the checksum is known. */
	out = b;
	memcpy(out.b + 54,
		bytes(q->no_alert ? "3a 00 01 04 00 00 00 00" : "3a 00 05 02 00 00 01 00").b, 8);
	memcpy(out.b + 62, b.b + 54, b.len - 54);
	out.len += 8;
	out.b[20] = 0;
	store_be16(out.b + 18, (uint16_t)(load_be16(b.b + 18) + 8));
	host_input(h, &out, 0);
}

/* A general query, version 2, with the router alert that it must have. */
static void query(struct host *h, const char *ttl, const char *from)
{
	message(h, &(struct message){.ttl = ttl, .from = from, .hex = GENERAL});
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

/** The next frame without its checksum, which is right. */
static void expect(struct host *h, const char *hex)
{
	uint8_t *p;

	assert_true(h->n_tx > 0);
	p = rte_pktmbuf_mtod(h->tx[0], uint8_t *);
	assert_int_equal(plain_sum(p + 14 + 40 + 8, h->tx[0]->pkt_len - 62,
				 plain_sum(p + 14 + 8, 32, 58 + h->tx[0]->pkt_len - 62)),
		0xffff);
	store_be16(p + 14 + 40 + 8 + 2, 0);
	host_expect(h, hex);
}

#define OUT(mac, len, src, to)                                                      \
	"33 33 " mac " 02 00 00 00 00 01 86 dd 60 00 00 00 00 " len " 00 01" src to \
	"3a 00 05 02 00 00 01 00 "

/** Within the ten seconds that it gives, and once for all that come meanwhile. */
static void queries_are_answered_together(void **state)
{
	struct host *h = host_new_v6();

	query(h, "01", LL2);
	query(h, "01", LL2);
	host_expect_nothing(h);
	host_run(h, 10 * SECOND);
	/* Both our addresses have the same group. */
	expect(h,
		OUT("00 00 00 16", "24", LL_US, FF0216) "8f 00 00 00 00 00 00 01 02 00 00 00" SOL1);
	host_expect_nothing(h);
	query(h, "01", LL2);
	host_run(h, 10 * SECOND);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

static void bad_queries_are_not(void **state)
{
	static const char *const bad[] = {
		/* Shorter than a query, or of no version. */
		"82 00 00 00 27 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
		"82 00 00 00 27 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 7d 00",
		/* More sources than there are, and sources of no group. */
		"82 00 00 00 27 10 00 00" SOL1 "02 7d ff ff",
		"82 00 00 00 27 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
		"02 7d 00 01" LL2,
	};
	struct host *h = host_new_v6();

	query(h, "02", LL2);
	query(h, "01", "fd 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02");
	message(h, &(struct message){.ttl = "01", .from = LL2, .to = SOL1, .hex = GENERAL});
	message(h, &(struct message){.ttl = "01", .from = LL2, .hex = GENERAL, .no_alert = true});
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		message(h, &(struct message){.ttl = "01", .from = LL2, .hex = bad[i]});
	assert_int_equal(ip_stack_stats(h->ip)->rx_bad_header, 8);
	host_run(h, 60 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

static void groups_of_programs_are_reported(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr group = host_addr("ff0e::1234"), host = host_addr("ff01::5");

	assert_int_equal(ip_group_join(h->ip, &group, h->now), 0);
	expect(h,
		OUT("00 00 00 16", "24", LL_US, FF0216) "8f 00 00 00 00 00 00 01 04 00 00 00" FF0E);
	host_run(h, SECOND);
	expect(h,
		OUT("00 00 00 16", "24", LL_US, FF0216) "8f 00 00 00 00 00 00 01 04 00 00 00" FF0E);
	/* With a source: it is let in. */
	message(h, &(struct message){.ttl = "01",
			   .from = LL2,
			   .to = FF0E,
			   .hex = "82 00 00 00 03 e8 00 00" FF0E "02 7d 00 01" LL2});
	host_run(h, SECOND);
	expect(h, OUT("00 00 00 16", "34", LL_US,
			  FF0216) "8f 00 00 00 00 00 00 01 01 00 00 01" FF0E LL2);
	ip_group_leave(h->ip, &group, h->now);
	expect(h,
		OUT("00 00 00 16", "24", LL_US, FF0216) "8f 00 00 00 00 00 00 01 03 00 00 00" FF0E);
	host_run(h, SECOND);
	host_forget(h);
	/* What stays in the host is nobody's affair. */
	assert_int_equal(ip_group_join(h->ip, &host, h->now), 0);
	host_run(h, SECOND);
	host_expect_nothing(h);
	host_free(h);
}

/** RFC 3810 section 8: version 1 for as long as its querier is there. */
static void version_1_is_spoken_to_its_querier(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr group = host_addr("ff0e::1234");

	message(h, &(struct message){.ttl = "01",
			   .from = LL2,
			   .hex = "82 00 00 00 27 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
				  "00 00 00"});
	ip_group_join(h->ip, &group, h->now);
	expect(h, OUT("00 00 12 34", "20", LL_US, FF0E) "83 00 00 00 00 00 00 00" FF0E);
	host_run(h, 10 * SECOND);
	host_forget(h);
	ip_group_leave(h->ip, &group, h->now);
	expect(h, OUT("00 00 00 02", "20", LL_US, FF0202) "84 00 00 00 00 00 00 00" FF0E);
	/* Another member's report is enough. */
	ip_group_join(h->ip, &group, h->now);
	host_run(h, 10 * SECOND);
	host_forget(h);
	message(h, &(struct message){.ttl = "01",
			   .from = LL2,
			   .to = FF0E,
			   .hex = "82 00 00 00 27 10 00 00" FF0E});
	message(h, &(struct message){.ttl = "01",
			   .from = LL2,
			   .to = FF0E,
			   .hex = "83 00 00 00 00 00 00 00" FF0E});
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	host_run(h, 260 * SECOND);
	ip_group_leave(h->ip, &group, h->now);
	expect(h,
		OUT("00 00 00 16", "24", LL_US, FF0216) "8f 00 00 00 00 00 00 01 03 00 00 00" FF0E);
	host_free(h);
}

/** RFC 3810 section 5.1.3: a code of 0 leaves no time; what is asked of us alone is for us. */
static void queries_in_a_hurry_and_to_us_alone_are_answered(void **state)
{
	static const struct message queries[] = {
		{.hex = "82 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
			"02 7d 00 00"},
		{.hex = "82 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"},
		{.to = LL_US,
			.mac = "02 00 00 00 00 01",
			.hex = "82 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
			       "00 00 02 7d 00 00"},
	};

	for (unsigned i = 0; i < sizeof queries / sizeof queries[0]; i++) {
		struct host *h = host_new_v6();

		struct message q = queries[i];

		q.ttl = "01";
		q.from = LL2;
		message(h, &q);
		host_run(h, 0); /* not all members at once */
		host_expect_nothing(h);
		host_run(h, SECOND / 1000);
		assert_int_equal(h->n_tx, 1);
		host_free(h);
	}
}

/** RFC 3810 section 6: all nodes are in that group, whoever joins it. */
static void all_nodes_is_not_reported(void **state)
{
	struct host *h = host_new_v6();
	struct ip_addr all = host_addr("ff02::1");

	assert_int_equal(ip_group_join(h->ip, &all, h->now), 0);
	host_run(h, 5 * SECOND);
	host_expect_nothing(h);
	query(h, "01", LL2);
	host_run(h, 10 * SECOND);
	expect(h,
		OUT("00 00 00 16", "24", LL_US, FF0216) "8f 00 00 00 00 00 00 01 02 00 00 00" SOL1);
	host_expect_nothing(h);
	host_free(h);
}

/** Reports from beyond the link, to another group than they tell of, and without their alert. */
static void unbelievable_reports_are_not_heard(void **state)
{
	static const struct {
		const char *ttl, *from, *to, *hex;
		bool no_alert, counts;
	} reports[] = {
		{"01", LL2, FF0E, "83 00 00 00 00 00 00 00" FF0E, false, true},
		{"01", FD2, FF0E, "83 00 00 00 00 00 00 00" FF0E, false, false},
		{"01", LL2, NULL, "83 00 00 00 00 00 00 00" FF0E, false, false},
		{"01", LL2, FF0E, "83 00 00 00 00 00 00 00" SOL1, false, false},
		{"02", LL2, FF0E, "83 00 00 00 00 00 00 00" FF0E, false, false},
		{"01", LL2, FF0E, "83 00 00 00 00 00 00 00" FF0E, true, false},
	};

	for (unsigned i = 0; i < sizeof reports / sizeof reports[0]; i++) {
		struct host *h = host_new_v6();
		struct ip_addr group = host_addr("ff0e::1234");
		const struct message asked = {.ttl = "01",
			.from = LL2,
			.to = FF0E,
			.hex = "82 00 00 00 27 10 00 00" FF0E};

		message(h, &asked);
		ip_group_join(h->ip, &group, h->now);
		host_run(h, 20 * SECOND);
		host_forget(h);
		message(h, &asked);
		message(h, &(struct message){.ttl = reports[i].ttl,
				   .from = reports[i].from,
				   .to = reports[i].to,
				   .hex = reports[i].hex,
				   .no_alert = reports[i].no_alert});
		host_run(h, 20 * SECOND);
		assert_int_equal(h->n_tx, !reports[i].counts);
		host_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(join_is_reported_before_the_probe),
		cmocka_unit_test(queries_are_answered_together),
		cmocka_unit_test(bad_queries_are_not),
		cmocka_unit_test(groups_of_programs_are_reported),
		cmocka_unit_test(version_1_is_spoken_to_its_querier),
		cmocka_unit_test(queries_in_a_hurry_and_to_us_alone_are_answered),
		cmocka_unit_test(all_nodes_is_not_reported),
		cmocka_unit_test(unbelievable_reports_are_not_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
