/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of the text of segments, and their headers where those are alike. */
#include "host.h"

#include "base/digest.h"

static struct host h;
static struct peer p;
static struct tcp_conn *c;

static void start(unsigned options)
{
	c = host_accepted(&h, &p, options, NULL);
}

/** The same, and say what its sum is: the double of IP compares it. */
static void queue_summed(uint32_t len, bool join)
{
	struct digest d = {0};
	uint8_t *room = llp_reserve(h.app.llp, len, join);

	assert_non_null(room);
	for (uint32_t i = 0; i < len; i++)
		room[i] = (uint8_t)(len + i * 5);
	digest_add(&d, DIGEST_SUM, room, len);
	llp_commit_summed(h.app.llp, len, digest_fold(d.sum));
}

/** What was known of the segment that goes out now. */
static void expect_known(uint32_t seq, uint32_t len, uint32_t known)
{
	host_expect_text(&h, seq, len);
	assert_int_equal(h.ip.text_sum.len, known);
}

/** The segments of one push have the header of the first, but for what tells of the text. */
static void expect_alike(const uint16_t *len, unsigned n)
{
	struct heard first, a;
	uint32_t seq = p.ack;

	for (unsigned i = 0; i < n; i++) {
		host_expect(&h, &a);
		if (i == 0)
			first = a;
		assert_int_equal(a.h.seq, seq);
		assert_int_equal(a.len, len[i]);
		assert_int_equal(a.h.flags, i + 1 < n ? TCP_ACK : TCP_ACK | TCP_PSH);
		assert_int_equal(a.h.sport, PORT);
		assert_int_equal(a.h.dport, RPORT);
		assert_int_equal(a.h.ack, p.seq);
		assert_int_equal(a.h.wnd, first.h.wnd);
		assert_int_equal(a.h.has, first.h.has);
		if (a.h.has & TCP_HAS_TS) {
			assert_int_equal(a.h.tsval, first.h.tsval);
			assert_int_equal(a.h.tsecr, first.h.tsecr);
		}
		for (uint32_t k = 0; k < a.len; k++)
			assert_int_equal(a.text[k], (uint8_t)(a.len + k * 5));
		seq += a.len;
	}
	host_expect_none(&h);
	assert_int_equal(c->segments_out, n);
	assert_int_equal(c->bytes_sent, seq - p.ack);
}

static void test_segments_alike(void **state)
{
	/* The second, third and fourth like the first; the eighth like the seventh; the last has
	 * PSH. */
	static const uint16_t len[] = {1400, 1400, 1400, 1400, 600, 500, 700, 700, 700};
	static const unsigned options[] = {TCP_HAS_MSS, TCP_HAS_MSS | TCP_HAS_TS};

	for (unsigned k = 0; k < 2; k++) {
		start(options[k]);
		c->segments_out = 0;
		for (unsigned i = 0; i < sizeof len / sizeof *len; i++)
			queue_summed(len[i], false);
		llp_push(h.app.llp);
		assert_int_equal(h.ip.alike, 4);
		expect_alike(len, sizeof len / sizeof *len);
		host_end(&h);
	}
}

static unsigned alike_of(unsigned n)
{
	h.ip.alike = 0;
	for (unsigned i = 0; i < n; i++)
		queue_summed(500, false);
	llp_push(h.app.llp);
	ip_double_drain(&h.ip);
	p.ack += n * 500;
	return h.ip.alike;
}

static void test_what_has_a_header_of_its_own(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_SACK_PERMITTED);
	assert_int_equal(alike_of(5), 3);
	peer_send(&p, 0, NULL, 0);
	/* The first after a reduction has CWR. */
	c->ecn.on = true;
	c->cwr_pending = true;
	assert_int_equal(alike_of(5), 2);
	assert_false(c->cwr_pending);
	peer_send(&p, 0, NULL, 0);
	/* A sum that is not known. */
	h.ip.alike = 0;
	for (unsigned i = 0; i < 4; i++)
		app_queue(&h.app, 500, false);
	llp_push(h.app.llp);
	assert_int_equal(h.ip.alike, 0);
	ip_double_drain(&h.ip);
	p.ack += 2000;
	peer_send(&p, 0, NULL, 0);
	/* All that has been sent before. */
	assert_int_equal(alike_of(4), 2);
	h.ip.alike = 0;
	host_advance(&h, 5000 * MS);
	assert_true(c->retransmits >= 1);
	assert_int_equal(h.ip.alike, 0);
	ip_double_drain(&h.ip);
	peer_send(&p, 0, NULL, 0);
	/* There is something to tell by SACK. */
	peer_send_at(&p, TCP_ACK, p.seq + 100, p.ack, "x", 1);
	ip_double_drain(&h.ip);
	assert_int_equal(alike_of(4), 0);
	host_end(&h);
}

static void test_a_sum_stays_with_its_record(void **state)
{
	start(TCP_HAS_MSS | TCP_HAS_TS);
	assert_true(llp_sums(h.app.llp));
	queue_summed(701, false);
	llp_push(h.app.llp);
	expect_known(p.ack, 701, 701);
	host_advance(&h, 500 * MS);
	expect_known(p.ack, 701, 701);
	h.ip.no_sums = true;
	assert_false(llp_sums(h.app.llp));
	ip_double_drain(&h.ip);
	host_end(&h);
}

static void test_sums_of_records_that_join(void **state)
{
	start(TCP_HAS_MSS);
	queue_summed(101, false);
	queue_summed(200, true); /* at an odd place */
	queue_summed(33, true);
	llp_push(h.app.llp);
	expect_known(p.ack, 334, 334);
	queue_summed(100, false);
	app_queue(&h.app, 10, true); /* nobody knows */
	queue_summed(100, true);
	llp_push(h.app.llp);
	expect_known(p.ack + 334, 210, 0);
	app_queue(&h.app, 10, false);
	queue_summed(100, true);
	llp_push(h.app.llp);
	expect_known(p.ack + 544, 110, 0);
	host_end(&h);
}

static void test_a_record_that_is_cut_has_no_sum(void **state)
{
	start(TCP_HAS_MSS);
	queue_summed(1460, false);
	h.ip.path_mtu = 1000;
	llp_push(h.app.llp);
	assert_int_equal(ip_double_pending(&h.ip), 2);
	assert_int_equal(h.ip.text_sum.len, 0);
	host_expect_text(&h, p.ack, 960);
	host_expect_text(&h, p.ack + 960, 500);
	p.ack += 960;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 1500 * MS);
	expect_known(p.ack, 500, 0);
	host_end(&h);
}

static void test_a_record_that_is_taken_in_part_has_no_sum(void **state)
{
	start(TCP_HAS_MSS);
	queue_summed(700, false);
	llp_push(h.app.llp);
	expect_known(p.ack, 700, 700);
	p.ack += 300;
	peer_send(&p, 0, NULL, 0);
	host_advance(&h, 1500 * MS);
	expect_known(p.ack, 400, 0);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments_alike),
		cmocka_unit_test(test_what_has_a_header_of_its_own),
		cmocka_unit_test(test_a_sum_stays_with_its_record),
		cmocka_unit_test(test_sums_of_records_that_join),
		cmocka_unit_test(test_a_record_that_is_cut_has_no_sum),
		cmocka_unit_test(test_a_record_that_is_taken_in_part_has_no_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
