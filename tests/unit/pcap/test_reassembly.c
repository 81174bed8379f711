/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/reassembly.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/** What was handed up: octets as they are, '?' for those that are not in the capture. */
struct fixture {
	struct cap_reassembly r;
	struct cap_reassembly_budget budget;
	char got[4096];
	size_t len;
	unsigned conflicts, pieces;
	uint64_t frame;
};

static void on_text(void *user, const struct piece *p)
{
	struct fixture *x = user;

	assert_true(x->len + p->len < sizeof x->got);
	if (p->bytes != NULL)
		memcpy(x->got + x->len, p->bytes, p->len);
	else
		memset(x->got + x->len, p->lost ? '?' : '-', p->len);
	x->len += p->len;
	x->pieces++;
}

static void on_conflict(void *user, const struct piece *now, const struct piece *before)
{
	struct fixture *x = user;

	assert_true(now->frame > before->frame);
	x->conflicts++;
}

static const struct cap_reassembly_ops ops = {on_text, on_conflict};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof *x);

	x->budget.max = 1000;
	cap_reassembly_init(&x->r, &ops, x, &x->budget);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	cap_reassembly_free(&x->r);
	assert_int_equal(x->budget.used, 0);
	free(x);
	return 0;
}

static void segment_cut(
	struct fixture *x, uint32_t seq, const char *text, uint32_t captured, uint8_t flags)
{
	struct packet p = {
		.seq = seq,
		.flags = flags,
		.len = (uint32_t)strlen(text),
		.captured = captured,
		.text = (const uint8_t *)text,
	};
	struct cap_frame f = {.number = ++x->frame};

	cap_reassembly_segment(&x->r, &p, &f);
}

static void segment(struct fixture *x, uint32_t seq, const char *text)
{
	segment_cut(x, seq, text, (uint32_t)strlen(text), PACKET_ACK);
}

static void expect(struct fixture *x, const char *text)
{
	assert_int_equal(x->len, strlen(text));
	assert_memory_equal(x->got, text, x->len);
}

static void test_in_order(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 103, "def");
	expect(x, "abcdef");
	assert_int_equal(x->pieces, 2);
	assert_int_equal(x->r.counters.segments, 2);
	assert_int_equal(x->r.counters.bytes, 6);
}

static void test_wrap(void **state)
{
	struct fixture *x = *state;

	segment(x, 0xfffffffe, "abc");
	segment(x, 4, "gh");
	segment(x, 1, "def");
	expect(x, "abcdefgh");
}

static void test_reordered(void **state)
{
	struct fixture *x = *state;

	cap_reassembly_start(&x->r, 100);
	segment(x, 106, "ghi");
	segment(x, 103, "def");
	expect(x, "");
	segment(x, 100, "abc");
	expect(x, "abcdefghi");
	assert_int_equal(x->r.counters.early, 2);
	assert_int_equal(x->r.counters.again, 0);
	assert_int_equal(x->budget.used, 0);
}

static void test_sent_again(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 103, "def");
	segment(x, 100, "abc");
	segment(x, 101, "bcdefghi");
	expect(x, "abcdefghi");
	assert_int_equal(x->conflicts, 0);
	assert_int_equal(x->r.counters.again, 1);
	assert_int_equal(x->r.counters.again_bytes, 3 + 5);
}

/* The first octets count; others are told of, wherever they overlap. */
static void test_conflict(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 102, "Xde");
	expect(x, "abcde");
	assert_int_equal(x->conflicts, 1);
	segment(x, 107, "hij");
	segment(x, 106, "gHi");
	assert_int_equal(x->conflicts, 2);
	segment(x, 105, "f");
	expect(x, "abcdefghij");
	assert_int_equal(x->r.counters.conflicts, 2);
}

/* A keep-alive probe is one old octet of any value. */
/* What came last is compared, as far back as the history goes, and no further. */
static void test_history(void **state)
{
	struct fixture *x = *state;

	for (uint32_t i = 0; i < 1000; i++) {
		segment(x, 10 + i * 2, "ab");
		for (uint32_t back = 0; back < 3 && back * back * 16 <= i; back++)
			segment(x, 10 + (i - back * back * 15) * 2, "ab");
		assert_int_equal(x->conflicts, 0);
	}
	segment(x, 10 + 999 * 2, "xb");
	segment(x, 10 + (1000 - REASSEMBLY_HISTORY) * 2, "xb");
	assert_int_equal(x->conflicts, 2);
	segment(x, 10 + (999 - REASSEMBLY_HISTORY) * 2, "xb");
	assert_int_equal(x->conflicts, 2);
	assert_int_equal(x->r.cap_old, REASSEMBLY_HISTORY);
}

static void test_keep_alive(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 102, "Z");
	assert_int_equal(x->conflicts, 0);
	expect(x, "abc");
}

/* A segment over several that wait, with gaps between them. */
static void test_early_overlaps(void **state)
{
	struct fixture *x = *state;

	cap_reassembly_start(&x->r, 100);
	segment(x, 104, "e");
	segment(x, 102, "c");
	segment(x, 107, "h");
	segment(x, 101, "bcdefghij");
	assert_int_equal(x->conflicts, 0);
	segment(x, 100, "a");
	expect(x, "abcdefghij");
	cap_reassembly_start(&x->r, 200);
	x->len = 0;
	segment(x, 203, "d");
	segment(x, 200, "abcdef");
	expect(x, "abcdef");
}

/* What is acknowledged and missing is lost, but only after some patience. */
static void test_hole(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 106, "ghi");
	for (int i = 0; i < 100; i++)
		cap_reassembly_ack(&x->r, 103);
	expect(x, "abc");
	cap_reassembly_ack(&x->r, 109);
	assert_true(cap_reassembly_behind(&x->r));
	expect(x, "abc");
	for (int i = 0; i < 40; i++)
		cap_reassembly_ack(&x->r, 109);
	expect(x, "abc???ghi");
	assert_false(cap_reassembly_behind(&x->r));
	assert_int_equal(x->r.counters.holes, 1);
	assert_int_equal(x->r.counters.hole_bytes, 3);
}

/* What is given up may have nothing behind it, or what came early; never what is behind a FIN. */
static void test_give_up_to(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	cap_reassembly_give_up_to(&x->r, 103);
	expect(x, "abc");
	cap_reassembly_give_up_to(&x->r, 105);
	expect(x, "abc??");
	segment(x, 107, "hi");
	cap_reassembly_give_up_to(&x->r, 110);
	expect(x, "abc????hi?");
	segment_cut(x, 112, "mn", 2, PACKET_ACK | PACKET_FIN);
	cap_reassembly_give_up_to(&x->r, 200);
	expect(x, "abc????hi???mn");
	assert_false(cap_reassembly_lacks(&x->r, 115));
}

/* A later segment that its user holds may have it. */
static void test_held(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 106, "ghi");
	x->r.held = true;
	for (int i = 0; i < 100; i++)
		cap_reassembly_ack(&x->r, 109);
	expect(x, "abc");
	segment(x, 103, "def");
	expect(x, "abcdefghi");
}

/* The SYN comes when its text waits already. */
static void test_begin_earlier(void **state)
{
	struct fixture *x = *state;

	cap_reassembly_start(&x->r, 103);
	segment(x, 106, "ghi");
	cap_reassembly_begin_earlier(&x->r, 100);
	segment(x, 100, "abcdef");
	expect(x, "abcdefghi");
	cap_reassembly_begin_earlier(&x->r, 50);
	assert_int_equal(x->r.next, 109);
}

/* The frame was only late in the capture. */
static void test_late_after_ack(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 106, "ghi");
	cap_reassembly_ack(&x->r, 109);
	segment(x, 103, "def");
	expect(x, "abcdefghi");
	assert_int_equal(x->r.counters.holes, 0);
}

static void test_flush(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 105, "f");
	segment(x, 107, "h");
	cap_reassembly_flush(&x->r);
	expect(x, "abc??f?h");
}

static void test_snap_length(void **state)
{
	struct fixture *x = *state;

	segment_cut(x, 100, "abcdef", 2, PACKET_ACK);
	segment_cut(x, 106, "ghi", 0, PACKET_ACK);
	segment(x, 109, "jk");
	expect(x, "ab-------jk");
	assert_int_equal(x->r.counters.cut, 2);
	assert_int_equal(x->r.counters.cut_bytes, 7);
}

/* However much comes early: what waits has a bound, and all of it is handed up in the end. */
static void test_bounds(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "a");
	/* Nobody is seen to acknowledge: a capture of one direction. */
	for (uint32_t i = 0; i < 600; i++) {
		segment(x, 102 + 2 * i, "x");
		assert_true(x->r.early.n <= 257);
	}
	assert_true(x->r.counters.holes > 300);
	cap_reassembly_flush(&x->r);
	assert_int_equal(x->len, 1 + 2 * 600);
}

static void test_budget(void **state)
{
	struct fixture *x = *state;

	x->budget.max = 10;
	cap_reassembly_start(&x->r, 100);
	cap_reassembly_ack(&x->r, 100);
	for (uint32_t i = 0; i < 100; i++)
		segment(x, 101 + 2 * i, "x");
	assert_true(x->budget.used <= 10);
}

/* What no window holds is of another connection. */
static void test_far_away(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "a");
	segment(x, 100 + 0x50000000, "z");
	segment(x, 101 + 0x80000000u, "y");
	assert_int_equal(x->r.early.n, 0);
	cap_reassembly_flush(&x->r);
	expect(x, "a");
}

static void test_fin(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment_cut(x, 103, "de", 2, PACKET_ACK | PACKET_FIN);
	assert_true(x->r.fin);
	assert_int_equal(x->r.fin_seq, 105);
	assert_int_equal(x->r.next, 105);
	/* FIN takes a number of its own. */
	cap_reassembly_ack(&x->r, 106);
	assert_false(cap_reassembly_behind(&x->r));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* An old one, a forged one, and the one that ends the text. */
static void test_other_fins(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment_cut(x, 101, "", 0, PACKET_FIN);
	assert_false(x->r.fin);
	segment_cut(x, 104, "", 0, PACKET_FIN);
	assert_true(x->r.fin);
	segment(x, 103, "de");
	cap_reassembly_ack(&x->r, 107);
	assert_true(cap_reassembly_behind(&x->r));
	cap_reassembly_give_up_to(&x->r, 107);
	segment_cut(x, 107, "h", 1, PACKET_FIN);
	expect(x, "abcde??h");
	assert_int_equal(x->r.fin_seq, 108);
}

/* Of an end that was not captured for more than 2 GiB, the last acknowledgement is an old one. */
static void test_old_ack(void **state)
{
	struct fixture *x = *state;

	cap_reassembly_start(&x->r, 100);
	cap_reassembly_ack(&x->r, 100);
	cap_reassembly_start(&x->r, 0xc0000000);
	cap_reassembly_ack(&x->r, 0xc0000000);
	assert_int_equal(x->r.acked, 0xc0000000);
	cap_reassembly_ack(&x->r, 0xbfffff00);
	assert_int_equal(x->r.acked, 0xc0000000);
}

static void test_far(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(cap_reassembly_far(&x->r, 0x80000000), 0); /* nothing is known */
	cap_reassembly_start(&x->r, 100);
	assert_int_equal(cap_reassembly_far(&x->r, 100 + REASSEMBLY_WINDOW_MAX - 1), 0);
	assert_int_equal(cap_reassembly_far(&x->r, 100 + REASSEMBLY_WINDOW_MAX), REASSEMBLY_FAR);
	assert_int_equal(cap_reassembly_far(&x->r, 100u - REASSEMBLY_WINDOW_MAX), REASSEMBLY_FAR);
	/* Before the first octet there may be others, unless that follows a SYN. */
	assert_int_equal(cap_reassembly_far(&x->r, 100u - REASSEMBLY_WINDOW_MAX + 1), 0);
	x->r.from_syn = true;
	assert_int_equal(
		cap_reassembly_far(&x->r, 100u - REASSEMBLY_WINDOW_MAX + 1), REASSEMBLY_FAR_BACK);
	assert_int_equal(cap_reassembly_far(&x->r, 100u - REASSEMBLY_BACK_MAX), 0);
	x->r.passed = 4 * REASSEMBLY_BACK_MAX;
	x->r.next += 4 * REASSEMBLY_BACK_MAX;
	assert_int_equal(cap_reassembly_far(&x->r, 100u - REASSEMBLY_BACK_MAX), 0);
	assert_int_equal(cap_reassembly_far(&x->r, 99u - REASSEMBLY_BACK_MAX), REASSEMBLY_FAR_BACK);
	/* What was not acknowledged may be in flight, all of it. */
	assert_int_equal(cap_reassembly_far(&x->r, 100), 0);
	cap_reassembly_ack(&x->r, 100 + 3 * REASSEMBLY_BACK_MAX);
	assert_int_equal(cap_reassembly_far(&x->r, 100 + 2 * REASSEMBLY_BACK_MAX), 0);
	assert_int_equal(
		cap_reassembly_far(&x->r, 99 + 2 * REASSEMBLY_BACK_MAX), REASSEMBLY_FAR_OLD);
}

static void test_jump(void **state)
{
	struct fixture *x = *state;

	segment(x, 100, "abc");
	segment(x, 105, "f");
	cap_reassembly_ack(&x->r, 106);
	segment_cut(x, 106, "", 0, PACKET_FIN);
	cap_reassembly_jump(&x->r, 110);
	segment(x, 110, "k");
	expect(x, "abc??f????k");
	assert_false(x->r.fin);
	assert_false(x->r.acked_set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_in_order),
		TEST(test_wrap),
		TEST(test_reordered),
		TEST(test_sent_again),
		TEST(test_conflict),
		TEST(test_history),
		TEST(test_keep_alive),
		TEST(test_early_overlaps),
		TEST(test_hole),
		TEST(test_late_after_ack),
		TEST(test_flush),
		TEST(test_give_up_to),
		TEST(test_held),
		TEST(test_begin_earlier),
		TEST(test_snap_length),
		TEST(test_bounds),
		TEST(test_budget),
		TEST(test_far_away),
		TEST(test_fin),
		TEST(test_other_fins),
		TEST(test_old_ack),
		TEST(test_far),
		TEST(test_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
