/* SPDX-License-Identifier: BSD-2-Clause */
/** The rules of membership, with a protocol of the test's own: versions 1 and 2, octets of IPv6. */
#include "ip/membership.h"

#include "base/bytes.h"
#include "host.h"
#include "ip/stack.h"

#include <errno.h>
#include <rte_mbuf.h>

#define HEAD 62

static struct ip_addr sent_to[64];
static uint8_t sent_type[64];
static uint16_t sent_records[64];
static unsigned n_sent, sent_size;

static void send(struct ip_stack *s, struct rte_mbuf *m, const struct ip_addr *to)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(m, const uint8_t *, HEAD);

	assert_true(n_sent < 64);
	sent_to[n_sent] = *to;
	sent_type[n_sent] = p[0];
	sent_records[n_sent++] = load_be16(p + 6);
	sent_size = m->pkt_len;
	rte_pktmbuf_free(m);
}

static bool is_reported(const struct ip_addr *group)
{
	return group->b[15] != 0;
}

static const struct membership_wire wire = {
	.addr_len = 16,
	.head = HEAD,
	.newest = 2,
	.report_type = 1,
	.older_report = {2},
	.older_leave = {3},
	.older_len = 24,
	.older_repeat = 10 * SECOND,
	.is_reported = is_reported,
	.send = send,
};

static struct membership *start(struct host *h)
{
	static struct membership ms;

	memset(&ms, 0, sizeof ms);
	n_sent = 0;
	membership_init(&ms, h->ip, &wire);
	return &ms;
}

static struct ip_addr group(unsigned i)
{
	struct ip_addr a = host_addr("ff0e::");

	store_be16(a.b + 12, (uint16_t)i);
	a.b[15] = 1;
	return a;
}

static void join(struct host *h, struct membership *ms, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct ip_addr a = group(i);

		assert_int_equal(membership_join(ms, &a, h->now), 0);
		n_sent = 0;
	}
}

static void codes(void **state)
{
	assert_int_equal(membership_code(0x7f, 4), 127);
	assert_int_equal(membership_code(0x80, 4), 128);
	assert_int_equal(membership_code(0xff, 4), 31 << 10);
	assert_int_equal(membership_code(0x7fff, 12), 32767);
	assert_int_equal(membership_code(0x8000, 12), 32768);
	assert_int_equal(membership_code(0xffff, 12), 0x1fff << 10);
}

/** 256 groups, at 20 octets each, take four frames of 1500. */
static void reports_fit_the_link(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	struct ip_addr a = group(256);
	unsigned records = 0;

	join(h, ms, MEMBERSHIP_GROUPS);
	assert_int_equal(membership_join(ms, &a, h->now), -ENOSPC);
	host_run(h, 2 * SECOND);
	n_sent = 0;
	membership_query(
		ms, &(struct membership_query){.version = 2, .max_response = SECOND}, h->now);
	host_run(h, SECOND + 1000000);
	assert_int_equal(n_sent, 4);
	for (unsigned i = 0; i < n_sent; i++) {
		assert_true(sent_records[i] <= (1514 - HEAD - 8) / 20);
		records += sent_records[i];
	}
	assert_int_equal(records, MEMBERSHIP_GROUPS);
	membership_fini(ms);
	host_free(h);
}

/** A group that is left has its place until that is told, and one that is joined again keeps it. */
static void left_groups_give_their_place_back(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	struct ip_addr a = group(3), more = group(999), quiet = host_addr("ff0e::");

	join(h, ms, MEMBERSHIP_GROUPS);
	membership_leave(ms, &a, h->now);
	assert_false(membership_has(ms, &a));
	assert_int_equal(membership_join(ms, &more, h->now), -ENOSPC);
	assert_int_equal(membership_join(ms, &a, h->now), 0);
	assert_true(membership_has(ms, &a));
	membership_leave(ms, &a, h->now);
	host_run(h, 2 * SECOND);
	assert_int_equal(membership_join(ms, &more, h->now), 0);
	membership_leave(ms, &more, h->now);
	host_run(h, 2 * SECOND);
	/* One that is never reported is gone at once. */
	assert_int_equal(membership_join(ms, &quiet, h->now), 0);
	membership_leave(ms, &quiet, h->now);
	assert_int_equal(membership_join(ms, &quiet, h->now), 0);
	membership_fini(ms);
	host_free(h);
}

/** RFC 3376 section 5.2: rule 1, rule 4, and what a general answer makes of the others. */
static void answers_are_merged(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	struct ip_addr a = group(1);
	uint8_t sources[32] = {1, [16] = 2};
	struct membership_query general = {.version = 2, .max_response = SECOND};
	struct membership_query specific = {.version = 2, .group = a, .max_response = 10 * SECOND};
	struct membership_query of_sources = specific;

	of_sources.sources = sources;
	of_sources.num_sources = 2;
	join(h, ms, 2);
	host_run(h, 3 * SECOND);
	n_sent = 0;
	/* A general answer that comes before tells it. */
	membership_query(ms, &general, h->now);
	membership_query(ms, &specific, h->now);
	host_run(h, 20 * SECOND);
	assert_int_equal(n_sent, 1);
	assert_int_equal(sent_records[0], 2);
	/* One that comes before the others takes them along. */
	n_sent = 0;
	membership_query(ms, &of_sources, h->now);
	membership_query(ms, &general, h->now);
	host_run(h, 20 * SECOND);
	assert_int_equal(n_sent, 1);
	/* Of all sources and of some: of all. */
	n_sent = 0;
	membership_query(ms, &of_sources, h->now);
	membership_query(ms, &specific, h->now);
	membership_query(ms, &of_sources, h->now);
	host_run(h, 20 * SECOND);
	assert_int_equal(n_sent, 1);
	assert_int_equal(sent_size, HEAD + 8 + 20);
	n_sent = 0;
	membership_query(ms, &of_sources, h->now);
	host_run(h, 20 * SECOND);
	assert_int_equal(n_sent, 1);
	assert_int_equal(sent_size, HEAD + 8 + 20 + 32);
	/* Who has left does not answer. */
	n_sent = 0;
	membership_query(ms, &of_sources, h->now);
	membership_leave(ms, &a, h->now);
	host_run(h, 20 * SECOND);
	assert_int_equal(n_sent, 2);
	membership_fini(ms);
	host_free(h);
}

/** With the version all that waits is dropped, groups that were being left among it. */
static void change_of_version_drops_what_waits(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	struct ip_addr a = group(0), b = group(1);
	struct membership_query older = {.version = 1, .group = group(77), .max_response = SECOND};
	const struct membership_query newest = {.version = 2, .max_response = 4 * SECOND};

	join(h, ms, 2);
	membership_leave(ms, &a, h->now);
	n_sent = 0;
	membership_query(ms, &newest, h->now);
	membership_query(ms, &older, h->now);
	host_run(h, 5 * SECOND);
	assert_int_equal(n_sent, 0);
	assert_int_equal(ms->n, 1);
	older.group = (struct ip_addr){{0}};
	membership_query(ms, &older, h->now);
	host_run(h, 5 * SECOND);
	assert_int_equal(n_sent, 1);
	assert_int_equal(sent_type[0], 2);
	assert_true(ip_addr_equal(&sent_to[0], &b));
	membership_fini(ms);
	host_free(h);
}

/** In the older version a timer moves for a querier that is in more of a hurry, and for no other.
 */
static void older_answers_do_not_wait_longer(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	struct membership_query q = {.version = 1, .max_response = 100 * SECOND};
	uint64_t at;

	join(h, ms, 1);
	membership_query(ms, &q, h->now);
	at = ms->group[0].answer_at;
	host_run(h, SECOND);
	membership_query(ms, &q, h->now);
	assert_true(ms->group[0].answer_at == at);
	q.max_response = SECOND / 10;
	membership_query(ms, &q, h->now);
	assert_true(ms->group[0].answer_at <= h->now + SECOND / 10);
	membership_fini(ms);
	host_free(h);
}

/**
 * However many ask, an answer that is due is sent: it is not put off by the query that is handled
 * before the timer is.
 */
static void older_answers_are_not_put_off(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	struct membership_query q = {.version = 1, .max_response = SECOND};
	uint64_t at;

	join(h, ms, 1);
	membership_query(ms, &q, h->now);
	at = ms->group[0].answer_at;
	for (unsigned i = 0; i < 3; i++) {
		membership_query(ms, &q, at + i);
		assert_true(ms->group[0].answer_at == at);
	}
	host_run(h, SECOND);
	assert_int_equal(n_sent, 1);
	assert_int_equal(sent_type[0], 2);
	/* And one that leaves no time is answered now. */
	n_sent = 0;
	q.max_response = 0;
	membership_query(ms, &q, h->now);
	host_run(h, 0);
	assert_int_equal(n_sent, 1);
	membership_fini(ms);
	host_free(h);
}

/** What waits to be told again is, as if it had just been joined; what is being left is not. */
static void groups_in_use_are_repeated(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	struct ip_addr a = group(0), b = group(1);

	join(h, ms, 2);
	host_run(h, 3 * SECOND);
	membership_leave(ms, &a, h->now);
	n_sent = 0;
	membership_repeat(ms, h->now);
	assert_int_equal(n_sent, 1);
	assert_int_equal(sent_records[0], 1);
	assert_false(membership_has(ms, &a));
	assert_true(membership_has(ms, &b));
	membership_heard(ms, &a, h->now); /* in the newest version it says nothing */
	host_run(h, 3 * SECOND);
	assert_int_equal(ms->n, 1);
	membership_fini(ms);
	host_free(h);
}

/** Only a packet's own room is less than the MTU of a link with jumbo frames. */
static void reports_fit_the_packet(void **state)
{
	struct host *h = host_new_v6();
	struct membership *ms = start(h);
	unsigned records = 0;

	h->ip->mtu_v6 = 9000;
	join(h, ms, MEMBERSHIP_GROUPS);
	host_run(h, 2 * SECOND);
	n_sent = 0;
	membership_query(
		ms, &(struct membership_query){.version = 2, .max_response = SECOND}, h->now);
	host_run(h, SECOND + 1000000);
	assert_int_equal(n_sent, 3);
	for (unsigned i = 0; i < n_sent; i++)
		records += sent_records[i];
	assert_int_equal(records, MEMBERSHIP_GROUPS);
	membership_fini(ms);
	host_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes),
		cmocka_unit_test(reports_fit_the_link),
		cmocka_unit_test(left_groups_give_their_place_back),
		cmocka_unit_test(answers_are_merged),
		cmocka_unit_test(change_of_version_drops_what_waits),
		cmocka_unit_test(older_answers_do_not_wait_longer),
		cmocka_unit_test(older_answers_are_not_put_off),
		cmocka_unit_test(groups_in_use_are_repeated),
		cmocka_unit_test(reports_fit_the_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
