/* SPDX-License-Identifier: BSD-2-Clause */
/** IGMP: what it sends, octet by octet, which queries it believes, older queriers. */
#include "host.h"

#include "base/bytes.h"
#include "ip/igmp_wire.h"

#include <rte_mbuf.h>

#define ALL_SYSTEMS "e0 00 00 01"
#define ALL_ROUTERS "e0 00 00 02"
#define GROUP       "ef 01 02 03"
#define OTHER       "ef 01 02 04"
#define PEER        "0a 00 00 02"
#define ALERT       "94 04 00 00"
#define TENTH       (SECOND / 10)

/** What goes out: from 10.0.0.1 with its router alert, its header's checksum 0. */
#define OUT(mac, total, to)                                                                       \
	"01 00 5e " mac " 02 00 00 00 00 01 08 00 46 c0 00 " total " 00 00 40 00 01 02 00 00 0a " \
	"00 00 01 " to ALERT

static struct ip_addr group_a, group_b;

static struct host *start(void)
{
	struct host *h = host_new_v4();

	group_a = host_addr("239.1.2.3");
	group_b = host_addr("239.1.2.4");
	return h;
}

static struct bytes message(
	const char *src, const char *dst, const char *ttl, const char *alert, const char *hex)
{
	struct bytes b = bytes("01 00 5e 00 00 01 02 00 00 00 00 02 08 00"), body = bytes(hex);
	unsigned options = bytes(alert).len;

	b.b[b.len++] = (uint8_t)(0x45 + options / 4);
	bytes_add(&b, "00 00 00 00 00 00 00");
	store_be16(b.b + 16, (uint16_t)(20 + options + body.len));
	bytes_add(&b, ttl);
	bytes_add(&b, "02 00 00");
	bytes_add(&b, src);
	bytes_add(&b, dst);
	bytes_add(&b, alert);
	bytes_add(&b, hex);
	fix_v4(&b);
	return b;
}

static void query(struct host *h, const char *dst, const char *hex)
{
	struct bytes b = message(PEER, dst, "01", ALERT, hex);

	host_input(h, &b, 0);
}

/** The next frame, its checksums looked at and blanked. */
static void expect(struct host *h, const char *hex)
{
	uint8_t *p;
	struct bytes want;

	assert_true(h->n_tx > 0);
	p = rte_pktmbuf_mtod(h->tx[0], uint8_t *);
	want = (struct bytes){.len = h->tx[0]->pkt_len};
	memcpy(want.b, p, want.len);
	fix_v4(&want);
	assert_memory_equal(p, want.b, want.len);
	store_be16(p + 14 + 10, 0);
	store_be16(p + 14 + 24 + 2, 0);
	host_expect(h, hex);
}

static void joins_and_leaves_are_reported_twice(void **state)
{
	struct host *h = start();

	assert_int_equal(ip_group_join(h->ip, &group_a, h->now), 0);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 04 00 00 00" GROUP);
	/* A second user changes nothing. */
	assert_int_equal(ip_group_join(h->ip, &group_a, h->now), 0);
	host_expect_nothing(h);
	host_run(h, SECOND);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 04 00 00 00" GROUP);
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	ip_group_leave(h->ip, &group_a, h->now);
	assert_true(ip_group_has(h->ip, &group_a));
	host_expect_nothing(h);
	ip_group_leave(h->ip, &group_a, h->now);
	assert_false(ip_group_has(h->ip, &group_a));
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 03 00 00 00" GROUP);
	host_run(h, SECOND);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 03 00 00 00" GROUP);
	/* Left more often than joined: nothing. */
	ip_group_leave(h->ip, &group_a, h->now);
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	assert_int_equal(ip_stack_stats(h->ip)->igmp_tx, 4);
	host_free(h);
}

/** Two groups in one report, after some of the ten seconds that the querier gives. */
static void general_queries_are_answered_in_time(void **state)
{
	struct host *h = start();

	ip_group_join(h->ip, &group_a, h->now);
	ip_group_join(h->ip, &group_b, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00 02 7d 00 00");
	host_expect_nothing(h);
	host_run(h, 10 * SECOND);
	expect(h, OUT("00 00 16", "30", "e0 00 00 16") "22 00 00 00 00 00 00 02 02 00 00 00" GROUP
						       "02 00 00 00" OTHER);
	host_run(h, 30 * SECOND);
	host_expect_nothing(h);
	/* Any number of them is one answer. */
	for (unsigned i = 0; i < 100; i++)
		query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00 02 7d 00 00");
	host_run(h, 30 * SECOND);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

/** The querier's robustness says how often a change is told; 0 stands for two. */
static void robustness_is_the_queriers(void **state)
{
	struct host *h = start();

	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00 05 7d 00 00");
	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 40 * SECOND);
	assert_int_equal(h->n_tx, 5 + 1);
	host_forget(h);
	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00 00 7d 00 00");
	host_run(h, 40 * SECOND);
	host_forget(h);
	ip_group_leave(h->ip, &group_a, h->now);
	host_run(h, 40 * SECOND);
	assert_int_equal(h->n_tx, 2);
	host_free(h);
}

static void queries_name_a_group_and_sources(void **state)
{
	struct host *h = start();

	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, OTHER, "11 0a 00 00" OTHER "02 7d 00 00");
	host_run(h, 5 * SECOND);
	host_expect_nothing(h);
	query(h, GROUP, "11 0a 00 00" GROUP "02 7d 00 00");
	host_run(h, 2 * SECOND);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 02 00 00 00" GROUP);
	/* Sources, of two queries together: all of them are let in. */
	query(h, GROUP, "11 0a 00 00" GROUP "02 7d 00 02 01 01 01 01 02 02 02 02");
	query(h, GROUP, "11 0a 00 00" GROUP "02 7d 00 02 02 02 02 02 03 03 03 03");
	host_run(h, 2 * SECOND);
	expect(h, OUT("00 00 16", "34", "e0 00 00 16") "22 00 00 00 00 00 00 01 01 00 00 03" GROUP
						       "01 01 01 01 02 02 02 02 03 03 03 03");
	host_expect_nothing(h);
	host_free(h);
}

/** More sources than are kept: the answer is for the whole group. */
static void many_sources_are_all(void **state)
{
	struct host *h = start();
	char hex[2048] = "11 0a 00 00" GROUP "02 7d 00 09";

	for (unsigned i = 1; i <= 9; i++) {
		size_t at = strlen(hex);

		snprintf(hex + at, sizeof hex - at, "01 01 01 %02x", i);
	}
	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, GROUP, hex);
	host_run(h, 2 * SECOND);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 02 00 00 00" GROUP);
	host_expect_nothing(h);
	host_free(h);
}

/** Max Resp Code 0x9a: (10 | 16) << 4, 41.6 s. The "random" time is 0x5a..., the same each time. */
static void long_times_are_floating_point(void **state)
{
	struct host *h = start();
	uint64_t random = UINT64_C(0x5a5a5a5a5a5a5a5a) % (416 * TENTH) + 1;

	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, ALL_SYSTEMS, "11 9a 00 00 00 00 00 00 02 7d 00 00");
	host_run(h, random - SECOND / 1000);
	host_expect_nothing(h);
	host_run(h, SECOND / 500);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

static void unbelievable_queries_are_not_answered(void **state)
{
	static const struct {
		const char *src, *dst, *ttl, *alert, *hex;
	} bad[] = {
		{PEER, ALL_SYSTEMS, "01", "", "11 64 00 00 00 00 00 00 02 7d 00 00"},
		{PEER, ALL_SYSTEMS, "01", "", "11 64 00 00 00 00 00 00"},
		{PEER, ALL_SYSTEMS, "02", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 00"},
		{PEER, GROUP, "01", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 00"},
		{PEER, ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00 00 02 7d ff ff"},
		{PEER, ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 01 01 01 01 01"},
		{PEER, GROUP, "01", ALERT, "11 64 00 00" GROUP "02 7d ff ff 01 01 01 01"},
		{PEER, GROUP, "01", ALERT, "11 64 00 00" GROUP "02 7d 00 02 01 01 01 01"},
		{PEER, ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00 00 02"},
		{PEER, ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00"},
		{"0a 00 00 01", ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 00"},
		{"7f 00 00 01", ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 00"},
	};
	struct host *h = start();
	struct bytes b;

	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		b = message(bad[i].src, bad[i].dst, bad[i].ttl, bad[i].alert, bad[i].hex);
		host_input(h, &b, 0);
	}
	b = message(PEER, ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 00");
	b.b[14 + 24 + 2] ^= 1;
	host_input(h, &b, 0);
	host_run(h, 60 * SECOND);
	host_expect_nothing(h);
	/* A switch that has no address may ask, and in any pieces. */
	b = message("00 00 00 00", ALL_SYSTEMS, "01", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 00");
	host_input(h, &b, 7);
	host_run(h, 60 * SECOND);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

/** Leaves of others, and what is no message, change nothing. */
static void spoofed_leaves_are_for_routers(void **state)
{
	struct host *h = start();

	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, GROUP, "17 00 00 00" GROUP);
	query(h, ALL_SYSTEMS, "17 00 00 00" GROUP);
	query(h, ALL_SYSTEMS, "22 00 00 00 00 00 00 01 03 00 00 00" GROUP);
	query(h, ALL_SYSTEMS, "99 00 00 00 00 00 00 00");
	assert_true(ip_group_has(h->ip, &group_a));
	host_run(h, 5 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

/** RFC 3376 section 7.2.1: version 2 for as long as its querier is there, then 3 again. */
static void version_2_is_spoken_to_its_querier(void **state)
{
	struct host *h = start();

	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00");
	host_run(h, 10 * SECOND);
	expect(h, OUT("01 02 03", "20", GROUP) "16 00 00 00" GROUP);
	ip_group_join(h->ip, &group_b, h->now);
	expect(h, OUT("01 02 04", "20", OTHER) "16 00 00 00" OTHER);
	host_run(h, 10 * SECOND);
	expect(h, OUT("01 02 04", "20", OTHER) "16 00 00 00" OTHER);
	ip_group_leave(h->ip, &group_b, h->now);
	expect(h, OUT("00 00 02", "20", ALL_ROUTERS) "17 00 00 00" OTHER);
	host_run(h, 10 * SECOND);
	host_expect_nothing(h);
	/* Twice 125 s, and the ten of the response. */
	host_run(h, 220 * SECOND);
	ip_group_join(h->ip, &group_b, h->now);
	expect(h, OUT("01 02 04", "20", OTHER) "16 00 00 00" OTHER);
	host_run(h, 30 * SECOND);
	host_forget(h);
	ip_group_leave(h->ip, &group_b, h->now);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 03 00 00 00" OTHER);
	host_free(h);
}

/** RFC 3376 section 7.2.1: only a general query tells of a querier of version 2. */
static void version_3_answers_version_2_about_a_group(void **state)
{
	struct host *h = start();

	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, GROUP, "11 0a 00 00" GROUP);
	host_run(h, SECOND);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 02 00 00 00" GROUP);
	ip_group_leave(h->ip, &group_a, h->now);
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 03 00 00 00" GROUP);
	host_free(h);
}

/** One member's report is enough, and who did not report last need not tell that he leaves. */
static void version_2_hears_the_others(void **state)
{
	struct host *h = start();
	struct bytes b = message(PEER, GROUP, "01", ALERT, "16 00 00 00" GROUP);

	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00");
	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 20 * SECOND);
	host_forget(h);
	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00");
	host_input(h, &b, 0);
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	ip_group_leave(h->ip, &group_a, h->now);
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	host_free(h);
	/* With version 3 it does not count. */
	h = start();
	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00 02 7d 00 00");
	host_input(h, &b, 0);
	host_run(h, 20 * SECOND);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

static void version_1_has_no_leave(void **state)
{
	struct host *h = start();
	struct bytes b = message(PEER, ALL_SYSTEMS, "01", "", "11 00 00 00 00 00 00 00");

	host_input(h, &b, 0);
	ip_group_join(h->ip, &group_a, h->now);
	expect(h, OUT("01 02 03", "20", GROUP) "12 00 00 00" GROUP);
	host_run(h, 20 * SECOND);
	host_forget(h);
	ip_group_leave(h->ip, &group_a, h->now);
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	host_free(h);
}

/** RFC 3376 section 4.2.13: as long as there is none of IPv4, from nobody. */
static void reports_have_the_source_that_there_is(void **state)
{
	struct host *h = host_new();
	struct ip_addr v6 = host_addr("fd00::1"), v4 = host_addr("10.0.0.7");

	group_a = host_addr("239.1.2.3");
	for (unsigned i = 0; i < 3; i++) {
		if (i)
			assert_int_equal(ip_addr_add(h->ip, i == 1 ? &v6 : &v4, 24, h->now), 0);
		host_run(h, 20 * SECOND);
		host_forget(h);
		assert_int_equal(ip_group_join(h->ip, &group_a, h->now), 0);
		assert_int_equal(h->n_tx, 1);
		assert_memory_equal(rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 14 + 12),
			i == 2 ? "\x0a\0\0\x07" : "\0\0\0\0", 4);
		ip_group_leave(h->ip, &group_a, h->now);
	}
	host_free(h);
}

/** RFC 3376 section 4.1.1: a code of 0 leaves no time; what is asked of us alone is for us. */
static void queries_in_a_hurry_and_to_us_alone_are_answered(void **state)
{
	struct host *h = start();
	struct bytes b =
		message(PEER, "0a 00 00 01", "01", ALERT, "11 64 00 00 00 00 00 00 02 7d 00 00");

	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	host_forget(h);
	query(h, ALL_SYSTEMS, "11 00 00 00 00 00 00 00 02 7d 00 00");
	host_run(h, 0); /* not all members at once */
	host_expect_nothing(h);
	host_run(h, TENTH);
	assert_int_equal(h->n_tx, 1);
	host_forget(h);
	memcpy(b.b, bytes("02 00 00 00 00 01").b, 6);
	host_input(h, &b, 0);
	host_run(h, 10 * SECOND);
	assert_int_equal(h->n_tx, 1);
	host_free(h);
}

/** Version 2 is kept for the interval that the querier of version 3 told; for 125 s if for none. */
static void queriers_interval_may_be_untold(void **state)
{
	for (unsigned told = 0; told < 2; told++) {
		struct host *h = start();

		query(h, ALL_SYSTEMS,
			told ? "11 64 00 00 00 00 00 00 02 0a 00 00"
			     : "11 64 00 00 00 00 00 00 02 00 00 00");
		query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00");
		host_run(h, 31 * SECOND);
		ip_group_join(h->ip, &group_a, h->now);
		assert_int_equal(h->n_tx, 1);
		assert_int_equal(*rte_pktmbuf_mtod_offset(h->tx[0], uint8_t *, 38),
			told ? IGMP_V3_REPORT : IGMP_V2_REPORT);
		host_free(h);
	}
}

/** Reports that are sent elsewhere than to their group, of groups that are not ours, and of one
 * that we have left: none of them speaks for us. */
static void version_2_hears_no_others(void **state)
{
	static const struct {
		const char *dst, *hex;
		bool counts;
	} reports[] = {
		{GROUP, "16 00 00 00" GROUP, true},
		{GROUP, "12 00 00 00" GROUP, true},
		{GROUP, "16 00 00 00" OTHER, false},
		{ALL_SYSTEMS, "16 00 00 00" GROUP, false},
		{OTHER, "16 00 00 00" OTHER, false},
		{ALL_SYSTEMS, "16 00 00 00" ALL_SYSTEMS, false},
	};

	for (unsigned i = 0; i < sizeof reports / sizeof reports[0]; i++) {
		struct host *h = start();

		query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00");
		ip_group_join(h->ip, &group_a, h->now);
		ip_group_join(h->ip, &group_b, h->now);
		host_run(h, 20 * SECOND);
		ip_group_leave(h->ip, &group_b, h->now);
		host_run(h, 20 * SECOND);
		host_forget(h);
		query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00");
		query(h, reports[i].dst, reports[i].hex);
		host_run(h, 20 * SECOND);
		assert_int_equal(h->n_tx, !reports[i].counts);
		host_free(h);
	}
}

/** Groups that are being left: another leave, a report and a query of them change nothing. */
static void groups_that_are_left_stay_so(void **state)
{
	struct host *h = start();

	ip_group_leave(h->ip, &group_a, h->now);
	host_expect_nothing(h);
	ip_group_join(h->ip, &group_a, h->now);
	host_run(h, 5 * SECOND);
	ip_group_leave(h->ip, &group_a, h->now);
	host_forget(h);
	ip_group_leave(h->ip, &group_a, h->now);
	query(h, ALL_SYSTEMS, "11 01 00 00" GROUP "02 7d 00 00");
	query(h, GROUP, "16 00 00 00" GROUP);
	query(h, ALL_SYSTEMS, "11 01 00 00 00 00 00 00 02 7d 00 00");
	host_run(h, 5 * SECOND);
	/* The leave once more, and no answer. */
	expect(h, OUT("00 00 16", "28", "e0 00 00 16") "22 00 00 00 00 00 00 01 03 00 00 00" GROUP);
	host_expect_nothing(h);
	host_free(h);
}

static void nothing_is_told_without_a_link_or_about_all_systems(void **state)
{
	struct host *h = start();
	struct ip_addr all = host_addr("224.0.0.1");

	assert_int_equal(ip_group_join(h->ip, &all, h->now), 0);
	host_run(h, 5 * SECOND);
	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00 02 7d 00 00");
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	query(h, ALL_SYSTEMS, "11 64 00 00 00 00 00 00");
	host_run(h, 20 * SECOND);
	host_expect_nothing(h);
	host_free(h);
	h = host_new_no_link();
	assert_int_equal(ip_group_join(h->ip, &group_a, h->now), 0);
	assert_true(ip_group_has(h->ip, &group_a));
	host_run(h, 5 * SECOND);
	ip_group_leave(h->ip, &group_a, h->now);
	host_expect_nothing(h);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_and_leaves_are_reported_twice),
		cmocka_unit_test(general_queries_are_answered_in_time),
		cmocka_unit_test(robustness_is_the_queriers),
		cmocka_unit_test(queries_name_a_group_and_sources),
		cmocka_unit_test(many_sources_are_all),
		cmocka_unit_test(long_times_are_floating_point),
		cmocka_unit_test(unbelievable_queries_are_not_answered),
		cmocka_unit_test(spoofed_leaves_are_for_routers),
		cmocka_unit_test(version_2_is_spoken_to_its_querier),
		cmocka_unit_test(version_3_answers_version_2_about_a_group),
		cmocka_unit_test(version_2_hears_the_others),
		cmocka_unit_test(version_1_has_no_leave),
		cmocka_unit_test(reports_have_the_source_that_there_is),
		cmocka_unit_test(queries_in_a_hurry_and_to_us_alone_are_answered),
		cmocka_unit_test(queriers_interval_may_be_untold),
		cmocka_unit_test(version_2_hears_no_others),
		cmocka_unit_test(groups_that_are_left_stay_so),
		cmocka_unit_test(nothing_is_told_without_a_link_or_about_all_systems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
