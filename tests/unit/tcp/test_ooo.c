/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/digest.h"
#include "host.h"
#include "tcp/mbuf.h"

static struct rte_mempool *pool;

static int set_up(void **state)
{
	test_eal_init();
	pool = test_pool("ooo", 20479, 384);
	return 0;
}

static int tear_down(void **state)
{
	unsigned missing = test_pool_missing(pool);

	rte_mempool_free(pool);
	return missing ? -1 : 0;
}

static uint8_t text_at(uint32_t seq)
{
	return (uint8_t)(seq * 31 ^ seq >> 8);
}

/** As one that came from the port: the CRC of its text is known, but for some bytes at the end. */
static struct rte_mbuf *packet(uint32_t seq, uint32_t len)
{
	struct digest d = {.crc = DIGEST_CRC_START};
	uint32_t summed = len - len % 4;
	struct rte_mbuf *m;
	uint8_t text[384];

	for (uint32_t i = 0; i < len; i++)
		text[i] = text_at(seq + i);
	m = test_packet(pool, text, len);
	digest_add(&d, DIGEST_CRC, text, summed);
	tcp_mbuf_set_crc(m, summed, d.crc);
	return m;
}

static struct tcp_ooo_result insert(struct tcp_ooo *o, uint32_t seq, uint32_t len)
{
	return tcp_ooo_insert(o, packet(seq, len), seq, len, pool);
}

/** A note in place of text, if nothing of it is there. @return bytes that it stands for. */
static uint32_t note(struct tcp_ooo *o, uint32_t seq, uint32_t len)
{
	struct tcp_note *n = tcp_ooo_note(o, (struct tcp_range){seq, seq + len}, true);

	if (!n)
		return 0;
	n->text.len = sizeof seq;
	memcpy(n->text.bytes, &seq, sizeof seq);
	tcp_ooo_keep_note(o, n);
	return len;
}

static void expect(struct tcp_ooo_result r, uint32_t kept, uint32_t dup_left, uint32_t dup_len)
{
	assert_int_equal(r.kept, kept);
	assert_int_equal(r.dup.right - r.dup.left, dup_len);
	if (dup_len)
		assert_int_equal(r.dup.left, dup_left);
}

/** Bytes for which notes stand, which are in order and within @p at. */
static uint32_t noted(const struct tcp_island *at)
{
	uint32_t sum = 0, end = at->r.left;

	for (const struct tcp_note *n = at->notes.first; n; n = n->next) {
		assert_true(seq_leq(end, n->r.left) && seq_lt(n->r.left, n->r.right));
		end = n->r.right;
		sum += end - n->r.left;
		assert_true(n->next || n == at->notes.last);
	}
	assert_true(seq_leq(end, at->r.right));
	return sum;
}

/** Sorted, apart, and as long and as many as it says. */
static void check(const struct tcp_ooo *o)
{
	uint32_t held = 0, bytes = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		const struct tcp_island *at = tcp_ooo_at(o, i);

		assert_true(seq_lt(at->r.left, at->r.right));
		assert_true(i == 0 || seq_lt(tcp_ooo_at(o, i - 1)->r.right, at->r.left));
		assert_int_equal(at->text.bytes + noted(at), at->r.right - at->r.left);
		held += at->text.count;
		bytes += at->r.right - at->r.left;
	}
	assert_int_equal(o->held, held + o->notes.count);
	assert_int_equal(o->bytes, bytes);
	assert_int_equal(test_pool_missing(pool), held);
}

/** What is known of each piece's CRC is true of the bytes that it has now. */
static void check_crcs(const struct tcp_mbufs *l)
{
	for (const struct rte_mbuf *m = l->first; m; m = m->next) {
		struct llp_iov v = tcp_mbuf_iov(m);
		struct digest d = {.crc = DIGEST_CRC_START};

		assert_true(v.crc_len <= v.len);
		digest_add(&d, DIGEST_CRC, v.base, v.crc_len);
		assert_true(!v.crc_len || d.crc == v.crc);
	}
}

static void check_run(struct tcp_ooo_run *run, uint32_t at)
{
	uint32_t noted, end = at + run->len;

	if (!run->text.first) {
		assert_int_equal(run->note.len, sizeof noted);
		memcpy(&noted, run->note.bytes, sizeof noted);
		assert_int_equal(noted, at);
		return;
	}
	check_crcs(&run->text);
	for (struct rte_mbuf *m = run->text.first; m; m = m->next)
		for (uint32_t i = 0; i < m->data_len; i++, at++)
			assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[i], text_at(at));
	assert_int_equal(at, end);
	tcp_mbufs_free(&run->text);
}

/** Take all from @p next on. @return where the run ends. */
static uint32_t drain(struct tcp_ooo *o, uint32_t next)
{
	struct tcp_ooo_run run;

	while (tcp_ooo_take(o, next, &run)) {
		check_run(&run, next);
		next += run.len;
	}
	return next;
}

static void test_sorted_over_the_wrap(void **state)
{
	struct tcp_ooo o = {0};

	expect(insert(&o, 10, 10), 10, 0, 0);
	expect(insert(&o, 0xfffffff0, 16), 16, 0, 0);
	assert_int_equal(o.n, 2);
	expect(insert(&o, 0, 10), 10, 0, 0); /* joins both */
	assert_int_equal(o.n, 1);
	check(&o);
	assert_int_equal(drain(&o, 0xffffffe0), 0xffffffe0);
	assert_int_equal(drain(&o, 0xfffffff0), 20);
	assert_null(o.ring);
}

static void test_overlaps(void **state)
{
	struct tcp_ooo o = {0};

	expect(insert(&o, 100, 20), 20, 0, 0);
	expect(insert(&o, 110, 20), 10, 110, 10); /* its end is new */
	expect(insert(&o, 90, 20), 10, 100, 10);  /* its begin is */
	expect(insert(&o, 105, 10), 0, 105, 10);
	expect(insert(&o, 90, 40), 0, 90, 40);
	expect(insert(&o, 140, 5), 5, 0, 0);
	check(&o);
	assert_int_equal(o.n, 2);
	expect(insert(&o, 80, 70), 25, 90, 40); /* before, between and after */
	check(&o);
	assert_int_equal(o.n, 1);
	assert_int_equal(drain(&o, 83), 150);
	assert_int_equal(test_pool_missing(pool), 0);
}

/** A segment that lies over many islands fills each gap with a copy of what belongs there. */
static void test_many_gaps_at_once(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < 100; i++)
		expect(insert(&o, 1000 + 3 * i, 1), 1, 0, 0);
	assert_int_equal(o.n, 100);
	expect(insert(&o, 990, 320), 220, 1000, 1);
	check(&o);
	assert_int_equal(o.n, 1);
	assert_int_equal(drain(&o, 990), 1310);
}

static void test_delivered_islands_are_dropped(void **state)
{
	struct tcp_ooo o = {0};
	struct tcp_ooo_run run;

	insert(&o, 100, 10);
	insert(&o, 120, 10);
	assert_false(tcp_ooo_take(&o, 115, &run));
	assert_int_equal(o.n, 1);
	check(&o);
	assert_int_equal(drain(&o, 124), 130);
}

/** A peer that sends something else the second time: its text is not covered by the first CRC. */
static void test_other_bytes_have_no_known_crc(void **state)
{
	struct tcp_ooo o = {0};
	struct tcp_ooo_run run;
	struct rte_mbuf *bad = packet(390, 20);

	rte_pktmbuf_mtod(bad, uint8_t *)[5] ^= 0x55;
	tcp_mbuf_forget_crc(bad);
	tcp_ooo_insert(&o, bad, 390, 20, pool);
	expect(insert(&o, 100, 300), 290, 390, 10);
	assert_true(tcp_ooo_take(&o, 100, &run));
	assert_int_equal(run.len, 310);
	check_crcs(&run.text);
	tcp_mbufs_free(&run.text);
}

static void test_find(void **state)
{
	struct tcp_ooo o = {0};

	assert_null(tcp_ooo_find(&o, 100));
	insert(&o, 100, 10);
	insert(&o, 200, 10);
	assert_null(tcp_ooo_find(&o, 99));
	assert_int_equal(tcp_ooo_find(&o, 100)->r.left, 100);
	assert_int_equal(tcp_ooo_find(&o, 109)->r.left, 100);
	assert_null(tcp_ooo_find(&o, 110));
	assert_int_equal(tcp_ooo_find(&o, 205)->r.left, 200);
	assert_null(tcp_ooo_find(&o, 210));
	tcp_ooo_clear(&o);
}

static void test_the_farthest_goes_first(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < 10; i++)
		insert(&o, 1000 * i, 300);
	tcp_ooo_prune(&o, 3);
	assert_int_equal(o.n, 7);
	check(&o);
	assert_non_null(tcp_ooo_find(&o, 6000));
	tcp_ooo_prune(&o, 100);
	assert_null(o.ring);
	assert_int_equal(test_pool_missing(pool), 0);
}

/** Neither direction of small steps costs more than its bytes do. */
static void test_small_pieces_are_packed(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < 3000; i++)
		insert(&o, 10000 + i, 1);
	assert_true(o.held <= 3000 / 256 + 1);
	for (uint32_t i = 0; i < 3000; i++)
		insert(&o, 9999 - i, 1);
	assert_int_equal(o.n, 1);
	assert_true(o.held <= 2 * (6000 / 256 + 1));
	check(&o);
	assert_int_equal(drain(&o, 7000), 13000);
}

static void test_islands_are_bounded(void **state)
{
	struct tcp_ooo o = {0};

	for (uint32_t i = 0; i < TCP_OOO_ISLANDS; i++)
		assert_int_equal(insert(&o, 100 + 2 * i, 1).kept, 1);
	expect(insert(&o, 100 + 2 * TCP_OOO_ISLANDS, 1), 0, 0, 0);
	expect(insert(&o, 50, 10), 0, 0, 0);
	expect(insert(&o, 101, 1), 1, 0, 0); /* fills a gap: always welcome */
	check(&o);
	tcp_ooo_clear(&o);
	assert_int_equal(test_pool_missing(pool), 0);
}

static void test_no_packet_for_a_copy(void **state)
{
	struct tcp_ooo o = {0};
	struct rte_mbuf *all[20479];
	unsigned n = 0;
	struct rte_mbuf *m;

	insert(&o, 110, 10);
	m = packet(100, 30);
	while ((all[n] = rte_pktmbuf_alloc(pool)))
		n++;
	expect(tcp_ooo_insert(&o, m, 100, 30, pool), 0, 110, 10);
	rte_pktmbuf_free_bulk(all, n);
	check(&o);
	tcp_ooo_clear(&o);
}

/** Five pieces of 10 octets from 100 on: notes, and text between them. */
static void notes_and_text(struct tcp_ooo *o)
{
	for (uint32_t i = 0; i < 5; i++) {
		if (i % 2)
			expect(insert(o, 100 + 10 * i, 10), 10, 0, 0);
		else
			assert_int_equal(note(o, 100 + 10 * i, 10), 10);
	}
}

/* Text that cannot be dropped, as its notes would be too many islands, stays. */
static void test_text_between_notes_stays(void **state)
{
	struct tcp_ooo o = {0};

	notes_and_text(&o);
	for (uint32_t i = 0; i < TCP_OOO_ISLANDS - 2; i++)
		assert_int_equal(note(&o, 1000 + 20 * i, 10), 10);
	assert_int_equal(o.n, TCP_OOO_ISLANDS - 1);
	tcp_ooo_prune(&o, UINT32_MAX);
	assert_int_equal(o.n, TCP_OOO_ISLANDS - 1);
	assert_int_equal(drain(&o, 100), 150);
	tcp_ooo_clear(&o);
	assert_int_equal(test_pool_missing(pool), 0);
}

/* Text between notes goes, and each run of those is an island; those above move up. */
static void test_text_between_notes_goes(void **state)
{
	struct tcp_ooo o = {0};

	notes_and_text(&o);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(note(&o, 1000 + 20 * i, 10), 10);
	assert_int_equal(o.n, 4);
	tcp_ooo_prune(&o, UINT32_MAX);
	assert_int_equal(o.n, 6);
	assert_int_equal(o.bytes, 60);
	check(&o);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(
			tcp_ooo_at(&o, i)->r.left, i < 3 ? 100 + 20 * i : 1000 + 20 * (i - 3));
	tcp_ooo_clear(&o);
	assert_int_equal(test_pool_missing(pool), 0);
}

/* Of a segment over several gaps that there is no packet for, nothing is told as kept. */
static void test_no_packet_for_a_piece(void **state)
{
	static struct rte_mbuf *taken[20479];
	struct tcp_ooo o = {0};
	struct rte_mbuf *m;
	unsigned n = 0;

	expect(insert(&o, 110, 10), 10, 0, 0);
	m = packet(100, 30);
	while ((taken[n] = rte_pktmbuf_alloc(pool)))
		n++;
	expect(tcp_ooo_insert(&o, m, 100, 30, pool), 0, 110, 10);
	rte_pktmbuf_free_bulk(taken, n);
	check(&o);
	assert_int_equal(o.bytes, 10);
	expect(insert(&o, 100, 30), 20, 110, 10);
	assert_int_equal(drain(&o, 100), 130);
	assert_int_equal(test_pool_missing(pool), 0);
}

/* Text beside a note is not packed with text beyond it; all comes in order. */
static void test_notes_between_text(void **state)
{
	struct tcp_ooo o = {0};
	struct tcp_ooo_run run;

	expect(insert(&o, 50, 10), 10, 0, 0);
	assert_false(tcp_ooo_has_notes(&o));
	expect(insert(&o, 100, 10), 10, 0, 0);
	assert_int_equal(note(&o, 110, 300), 300);
	assert_true(tcp_ooo_has_notes(&o));
	assert_int_equal(drain(&o, 50), 60);
	assert_int_equal(o.n, 1);
	expect(insert(&o, 410, 10), 10, 0, 0);
	assert_int_equal(note(&o, 420, 5), 5);
	assert_int_equal(note(&o, 425, 5), 5);
	check(&o);
	assert_int_equal(o.n, 1);
	assert_int_equal(o.held, 2 + 1);
	assert_true(tcp_ooo_has_notes_before(&o, 111));
	assert_true(tcp_ooo_has_notes(&o));
	assert_true(tcp_ooo_take(&o, 104, &run)); /* begins inside of its text */
	check_run(&run, 104);
	assert_int_equal(run.len, 6);
	assert_true(tcp_ooo_take(&o, 110, &run));
	assert_null(run.text.first);
	assert_int_equal(run.len, 300);
	assert_false(tcp_ooo_take(&o, 409, &run));
	assert_int_equal(drain(&o, 410), 430);
	assert_null(o.ring);
	assert_null(o.notes.blocks);
}

/* Text is dropped from the far end on; each note stays where it is, an island with its likes. */
static void test_prune_leaves_notes(void **state)
{
	struct tcp_ooo o = {0};
	struct tcp_ooo_run run;
	uint32_t notes = 0;

	for (uint32_t i = 0; i < 40; i++) {
		uint32_t at = 1000 + 300 * i;

		if (i % 4 == 3 || i == 20)
			expect(insert(&o, at, 300), 300, 0, 0);
		else
			notes += note(&o, at, 300) != 0;
	}
	expect(insert(&o, 100, 300), 300, 0, 0);
	expect(insert(&o, 20000, 300), 300, 0, 0);
	assert_int_equal(o.n, 3);
	tcp_ooo_prune(&o, 1);
	check(&o);
	assert_int_equal(o.n, 2);
	tcp_ooo_prune(&o, 1);
	check(&o);
	assert_int_equal(o.n, 1 + 10);
	assert_non_null(tcp_ooo_find(&o, 100));
	assert_null(tcp_ooo_find(&o, 1000 + 300 * 20));
	assert_int_equal(o.bytes, 300 * (notes + 1));
	assert_true(tcp_ooo_has_notes_before(&o, 1001));
	assert_false(tcp_ooo_has_notes_before(&o, 1000));
	tcp_ooo_prune(&o, 100);
	check(&o);
	assert_int_equal(o.bytes, 300 * notes);
	/* What comes again joins them. */
	for (uint32_t i = 0; i < 40; i++)
		insert(&o, 1000 + 300 * i, 300);
	check(&o);
	assert_int_equal(o.n, 1);
	for (uint32_t seq = 1000; tcp_ooo_take(&o, seq, &run); seq += run.len) {
		notes -= !run.text.first;
		tcp_mbufs_free(&run.text);
	}
	assert_int_equal(notes, 0);
	assert_null(o.ring);
	assert_int_equal(test_pool_missing(pool), 0);
}

/* Before, behind and between islands, of text and of notes. */
static void test_notes_join_islands(void **state)
{
	for (unsigned kinds = 0; kinds < 8; kinds++) {
		for (unsigned order = 0; order < 6; order++) {
			static const uint8_t orders[6][3] = {
				{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
			struct tcp_ooo o = {0};

			for (unsigned i = 0; i < 3; i++) {
				uint32_t k = orders[order][i], at = 1000 + 20 * k;

				if (kinds >> k & 1)
					assert_int_equal(note(&o, at, 20), 20);
				else
					expect(insert(&o, at, 20), 20, 0, 0);
				check(&o);
			}
			assert_int_equal(o.n, 1);
			assert_int_equal(drain(&o, 1000), 1060);
		}
	}
	assert_int_equal(test_pool_missing(pool), 0);
}

/* Only text all of which is missing can be noted; and what a note stands for is there. */
static void test_notes_and_overlaps(void **state)
{
	struct tcp_ooo o = {0};

	expect(insert(&o, 100, 20), 20, 0, 0);
	assert_int_equal(note(&o, 90, 11), 0);
	assert_int_equal(note(&o, 119, 5), 0);
	assert_int_equal(note(&o, 105, 5), 0);
	assert_int_equal(note(&o, 90, 100), 0);
	assert_int_equal(note(&o, 130, 20), 20);
	expect(insert(&o, 135, 5), 0, 135, 5);
	expect(insert(&o, 110, 60), 30, 110, 10);
	check(&o);
	assert_int_equal(drain(&o, 100), 170);
	/* A note of which a part came again in order says nothing of the rest. */
	assert_int_equal(note(&o, 200, 20), 20);
	expect(insert(&o, 220, 20), 20, 0, 0);
	assert_int_equal(drain(&o, 210), 210);
	assert_int_equal(tcp_ooo_at(&o, 0)->r.left, 220);
	check(&o);
	assert_int_equal(drain(&o, 225), 240);
}

static void test_notes_are_given_back(void **state)
{
	struct tcp_ooo o = {0};
	struct tcp_note *n;

	assert_null(tcp_ooo_note(&o, (struct tcp_range){10, 20}, false));
	assert_null(o.ring);
	n = tcp_ooo_note(&o, (struct tcp_range){10, 20}, true);
	assert_non_null(n);
	tcp_ooo_drop_note(&o, n);
	assert_null(o.ring);
	assert_null(o.notes.blocks);
	assert_int_equal(o.held, 0);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(note(&o, 1000 * i, 500), 500);
		check(&o);
	}
	assert_int_equal(o.held, (100 + TCP_NOTES_PER_BLOCK - 1) / TCP_NOTES_PER_BLOCK);
	/* Where memory is short, what is there serves on. */
	assert_int_equal(drain(&o, 0), 500);
	n = tcp_ooo_note(&o, (struct tcp_range){100000, 100500}, false);
	assert_non_null(n);
	tcp_ooo_keep_note(&o, n);
	check(&o);
	tcp_ooo_clear(&o);
	assert_null(o.ring);
	assert_int_equal(o.held, 0);
}

/** Against a plain map of bytes, with everything that can overlap. */
static void test_random_segments(void **state)
{
	static uint8_t have[4096];
	struct tcp_ooo o = {0};
	uint32_t x = 7, base = 0xfffff800, next = base;

	memset(have, 0, sizeof have);
	for (unsigned round = 0; round < 40000; round++) {
		uint32_t at, len, kept = 0;
		struct tcp_ooo_result r;

		x = x * 1664525 + 1013904223;
		at = (x >> 8) % 3700;
		len = 1 + (x >> 20) % (round % 3 ? 40 : 380);
		if (seq_leq(base + at, next)) { /* the one that is missing, at times */
			uint32_t to;

			if (x & 0x40000000)
				continue;
			to = drain(&o, next + 1);
			have[(next - base) & 4095] = 0;
			for (uint32_t i = next + 1; i != to; i++) {
				assert_int_equal(have[(i - base) & 4095], 1);
				have[(i - base) & 4095] = 0;
			}
			assert_int_equal(have[(to - base) & 4095], 0);
			next = to;
			if (next - base > 3000) {
				tcp_ooo_clear(&o);
				memset(have, 0, sizeof have);
				base = next;
			}
			continue;
		}
		if (x & 0x2000) {
			uint32_t some = note(&o, base + at, len);

			for (uint32_t i = at; i < at + len; i++) {
				assert_true(!some || !have[i & 4095]);
				have[i & 4095] |= some != 0;
			}
			check(&o);
			continue;
		}
		r = insert(&o, base + at, len);
		for (uint32_t i = at; i < at + len; i++) {
			kept += !have[i & 4095];
			have[i & 4095] = 1;
		}
		assert_int_equal(r.kept, kept);
		assert_true(kept == len || r.dup.right != r.dup.left);
		check(&o);
	}
	tcp_ooo_clear(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_over_the_wrap),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_many_gaps_at_once),
		cmocka_unit_test(test_delivered_islands_are_dropped),
		cmocka_unit_test(test_other_bytes_have_no_known_crc),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_the_farthest_goes_first),
		cmocka_unit_test(test_small_pieces_are_packed),
		cmocka_unit_test(test_islands_are_bounded),
		cmocka_unit_test(test_no_packet_for_a_copy),
		cmocka_unit_test(test_text_between_notes_stays),
		cmocka_unit_test(test_text_between_notes_goes),
		cmocka_unit_test(test_no_packet_for_a_piece),
		cmocka_unit_test(test_notes_between_text),
		cmocka_unit_test(test_prune_leaves_notes),
		cmocka_unit_test(test_notes_join_islands),
		cmocka_unit_test(test_notes_and_overlaps),
		cmocka_unit_test(test_notes_are_given_back),
		cmocka_unit_test(test_random_segments),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
