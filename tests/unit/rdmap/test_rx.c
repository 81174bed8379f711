/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#include <stdlib.h>

static void setup(struct qp_net *n)
{
	qp_net_init(n);
	n->b->rtr = 0;
	qp_net_raw_responder(n);
}

/* ---- what is right --------------------------------------------------------------------------- */

static void test_write(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	memset(g->mem, '.', 16);
	FEED(&n, "\x81\x40" AT9("\x04") "abcd");
	assert_int_equal(n.b->operationals, 1);
	FEED(&n, "\xc1\x40" AT9("\x08") "efgh");
	assert_memory_equal(g->mem, "....abcdefgh....", 16);
	qp_expect_no_wc(n.b);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

/* STag and TO of an empty Write MUST NOT be checked (RFC 5041 section 5.2). */
static void test_empty_write(void **state)
{
	struct qp_net n;

	setup(&n);
	FEED(&n, "\xc1\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
	assert_int_equal(n.b->operationals, 1);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

static void test_send(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 5, 0x100, 64, LOCAL);
	qp_post_recv(n.b, 77, g, 8, 32);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "hello ");
	qp_expect_no_wc(n.b);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x06") "world");
	assert_int_equal(qp_expect_wc(n.b, 77, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 11)->flags, 0);
	assert_memory_equal(g->mem + 8, "hello world", 11);
	qp_net_done(&n);
}

static void test_send_kinds(void **state)
{
	const struct rdmap_wc *wc;
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	g = qp_region_add(n.b, 0x11223344, 0x100, 64, REMOTE);
	for (unsigned i = 1; i <= 4; i++)
		qp_post_recv(n.b, i, NULL, 0, 0);
	FEED(&n, "\x41\x45" ZERO4 QN0 MSN("\x01") MO("\x00"));
	wc = qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	assert_int_equal(wc->flags, RDMAP_WC_SOLICITED);
	FEED(&n, "\x41\x44\x11\x22\x33\x44" QN0 MSN("\x02") MO("\x00"));
	wc = qp_expect_wc(n.b, 2, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	assert_int_equal(wc->flags, RDMAP_WC_WITH_INV);
	assert_int_equal(wc->inv_stag, 0x11223344);
	assert_true(g->invalid);
	g->invalid = false;
	FEED(&n, "\x41\x46\x11\x22\x33\x44" QN0 MSN("\x03") MO("\x00"));
	wc = qp_expect_wc(n.b, 3, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	assert_int_equal(wc->flags, RDMAP_WC_WITH_INV | RDMAP_WC_SOLICITED);
	assert_true(g->invalid);
	qp_net_done(&n);
}

/* RFC 5040 section 4.1: bits 26-27, and an Invalidate STag where none belongs, are ignored. */
static void test_reserved_bits(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	qp_post_recv(n.b, 1, NULL, 0, 0);
	qp_post_recv(n.b, 2, NULL, 0, 0);
	qp_post_recv(n.b, 3, NULL, 0, 0);
	FEED(&n, "\xc1\x70" AT9("\x00") "abcd");
	assert_memory_equal(g->mem, "abcd", 4);
	FEED(&n, "\x41\x73\x00\x00\x00\x09" QN0 MSN("\x01") MO("\x00"));
	assert_int_equal(qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0)->flags, 0);
	FEED(&n, "\x41\x75\x00\x00\x00\x09" QN0 MSN("\x02") MO("\x00"));
	qp_expect_wc(n.b, 2, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	FEED(&n, "\x41\x78\x00\x00\x00\x09" QN0 MSN("\x03") MO("\x00") "imm-data");
	qp_expect_wc(n.b, 3, RDMAP_WC_SUCCESS, RDMAP_WC_RECV_IMM, 0);
	assert_false(g->invalid);
	FEED(&n, "\x41\x71\x00\x00\x00\x09\x00\x00\x00\x01" MSN("\x01")
			 MO("\x00") "\x00\x00\x00\x77" ZERO4 ZERO4 "\x00\x00\x00\x02" AT9("\x00"));
	EXPECT(&n, "\xc1\x42\x00\x00\x00\x77" ZERO4 ZERO4 "ab");
	FEED(&n, "\x41\x77\x00\x00\x00\x09\x00\x00\x00\x02" MSN("\x01") MO("\x00") ZERO4);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_RX, 0, 0, 0, 0);
	assert_false(g->invalid);
	qp_net_done(&n);
}

/* Any cutting of the byte stream gives the same. */
static void test_segmentation(void **state)
{
	for (size_t segment = 1; segment < 70; segment++) {
		struct qp_net n;
		struct qp_region *g;

		setup(&n);
		llp_mem_set_segment(n.mem, segment);
		g = qp_region_add(n.b, 9, 0x2000, 32, REMOTE);
		qp_post_recv(n.b, 1, g, 16, 16);
		FEED(&n, "\xc1\x40" AT9("\x00") "0123456789abcdef");
		FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "tuvw");
		FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x04") "xyz");
		qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 7);
		assert_memory_equal(g->mem, "0123456789abcdeftuvwxyz", 23);
		qp_net_done(&n);
	}
}

/* ---- RTR: swallowed when it is the first, and not told --------------------------------------- */

static void test_rtr_send(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = MPA_RTR_SEND;
	qp_net_raw_responder(&n);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00"));
	assert_int_equal(n.b->operationals, 1);
	qp_expect_no_wc(n.b);
	qp_post_recv(n.b, 5, NULL, 0, 0);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x00")); /* this one is the program's */
	qp_expect_wc(n.b, 5, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	qp_net_done(&n);
}

static void test_rtr_read(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = MPA_RTR_READ;
	n.b->ird = 0;
	qp_net_raw_responder(&n);
	FEED(&n, "\x41\x41" ZERO4 "\x00\x00\x00\x01" MSN("\x01") MO("\x00") ZERO4 ZERO4 ZERO4 ZERO4
		"\x00\x00\x00\x01" ZERO4 ZERO4);
	assert_int_equal(n.b->operationals, 1);
	EXPECT(&n, "\xc1\x42" ZERO4 ZERO4 ZERO4);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

/* A first frame that is not an RTR frame is nothing special. */
static void test_no_rtr(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = MPA_RTR_SEND;
	qp_net_raw_responder(&n);
	qp_post_recv(n.b, 5, qp_region_add(n.b, 9, 0, 4, LOCAL), 0, 4);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "data");
	qp_expect_wc(n.b, 5, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 4);
	qp_net_done(&n);

	qp_net_init(&n);
	n.b->rtr = MPA_RTR_SEND;
	qp_net_raw_responder(&n);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00")); /* more is to come: a message */
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, RDMAP_LAYER_DDP, 2, 2);
	qp_net_done(&n);

	/* Nor is one that solicits. */
	qp_net_init(&n);
	n.b->rtr = MPA_RTR_SEND;
	qp_net_raw_responder(&n);
	FEED(&n, "\x41\x45" ZERO4 QN0 MSN("\x01") MO("\x00"));
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, RDMAP_LAYER_DDP, 2, 2);
	qp_net_done(&n);
}

/* ---- what is wrong: each with its Terminate -------------------------------------------------- */

/* A segment and the whole Terminate header that it must bring. */
struct wrong {
	const char *segment;
	size_t len;
	const char *terminate;
	size_t terminate_len;
};

#define WRONG(segment, terminate)                                              \
	{                                                                      \
		segment, sizeof(segment) - 1, terminate, sizeof(terminate) - 1 \
	}
/* The Terminate quotes length and DDP header: M and D. */
#define TAGGED(control, to_lo)          control AT9(to_lo)
#define TERM_MD(type_code, len, header) type_code "\xc0\x00\x00" len header

static const struct wrong wrong[] = {
	/* Tagged: RFC 5041 section 7.2, type 1. Region 9 is [0x2000, 0x2010). */
	WRONG("\xc1\x40\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x20\x00"
	      "abcd",
		TERM_MD("\x11\x00", "\x12",
			"\xc1\x40\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x20\x00")),
	WRONG(TAGGED("\xc1\x40", "\x0d") "abcd",
		TERM_MD("\x11\x01", "\x12", TAGGED("\xc1\x40", "\x0d"))),
	WRONG("\xc1\x40\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x1f\xff"
	      "abcd",
		TERM_MD("\x11\x01", "\x12",
			"\xc1\x40\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x1f\xff")),
	WRONG("\xc1\x40\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x20\x00"
	      "abcd", /* other PD */
		TERM_MD("\x11\x02", "\x12",
			"\xc1\x40\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x20\x00")),
	WRONG("\xc1\x40\x00\x00\x00\x09\xff\xff\xff\xff\xff\xff\xff\xfd"
	      "abcd",
		TERM_MD("\x11\x03", "\x12",
			"\xc1\x40\x00\x00\x00\x09\xff\xff\xff\xff\xff\xff\xff\xfd")),
	WRONG(TAGGED("\xc2\x40", "\x00") "abcd",
		TERM_MD("\x11\x04", "\x12", TAGGED("\xc2\x40", "\x00"))),
	/* STag 10 may not be written to. */
	WRONG("\xc1\x40\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x20\x00"
	      "abcd",
		TERM_MD("\x11\x00", "\x12",
			"\xc1\x40\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x20\x00")),
	/* Untagged: type 2. */
	WRONG("\x41\x43" ZERO4 "\x00\x00\x00\x04" MSN("\x01") MO("\x00"),
		TERM_MD("\x12\x01", "\x12",
			"\x41\x43" ZERO4 "\x00\x00\x00\x04" MSN("\x01") MO("\x00"))),
	WRONG("\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x00"),
		TERM_MD("\x12\x03", "\x12", "\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x00"))),
	WRONG("\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x01") "x",
		TERM_MD("\x12\x04", "\x13", "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x01"))),
	WRONG("\x40\x43" ZERO4 QN0 MSN("\x01") MO("\x00"),
		TERM_MD("\x12\x06", "\x12", "\x40\x43" ZERO4 QN0 MSN("\x01") MO("\x00"))),
	/* No receive is posted. */
	WRONG("\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "x",
		TERM_MD("\x12\x02", "\x13", "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00"))),
	WRONG("\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00"),
		TERM_MD("\x12\x02", "\x12", "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00"))),
	/* RDMAP: RFC 5040 section 4.8, layer 0, type 2. */
	WRONG(TAGGED("\xc1\x00", "\x00"), TERM_MD("\x02\x05", "\x0e", TAGGED("\xc1\x00", "\x00"))),
	WRONG(TAGGED("\xc1\x80", "\x00"), TERM_MD("\x02\x05", "\x0e", TAGGED("\xc1\x80", "\x00"))),
	WRONG(TAGGED("\xc1\x48", "\x00"), TERM_MD("\x02\x06", "\x0e", TAGGED("\xc1\x48", "\x00"))),
	WRONG(TAGGED("\xc1\x43", "\x00"), TERM_MD("\x02\x06", "\x0e", TAGGED("\xc1\x43", "\x00"))),
	WRONG("\x41\x40" ZERO4 QN0 MSN("\x01") MO("\x00"),
		TERM_MD("\x02\x06", "\x12", "\x41\x40" ZERO4 QN0 MSN("\x01") MO("\x00"))),
	WRONG("\x41\x43" ZERO4 "\x00\x00\x00\x01" MSN("\x01") MO("\x00"), /* Send on queue 1 */
		TERM_MD("\x02\x06", "\x12",
			"\x41\x43" ZERO4 "\x00\x00\x00\x01" MSN("\x01") MO("\x00"))),
	WRONG(TAGGED("\xc1\x42", "\x00"), /* a Read Response that nobody asked for */
		TERM_MD("\x02\x06", "\x0e", TAGGED("\xc1\x42", "\x00"))),
	/* Shorter than a DDP header: nothing to quote. */
	WRONG("\xc1\x40\x00\x00\x00\x09", "\x02\xff\x00\x00"),
	WRONG("", "\x02\xff\x00\x00"),
};

static void test_wrong(void **state)
{
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const struct wrong *t = &wrong[i];
		struct qp_region *g;
		struct qp_net n;

		setup(&n);
		g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
		memset(g->mem, '.', 16);
		qp_region_add(n.b, 10, 0x2000, 16, LOCAL);
		qp_region_add(n.b, 11, 0x2000, 16, REMOTE)->foreign = true;
		qp_net_feed(&n, t->segment, t->len);
		qp_net_expect_terminate(&n, t->terminate, t->terminate_len);
		qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, (uint8_t)t->terminate[0] >> 4,
			t->terminate[0] & 0xf, (uint8_t)t->terminate[1]);
		FEED(&n, TAGGED("\xc1\x40", "\x00") "abcd"); /* dropped now */
		assert_memory_equal(g->mem, "................", 16);
		qp_net_done(&n);
	}
}

/* ---- RFC 5041: queues, message numbers, offsets, L ----------------------------------------- */

/* Messages of other queues, and tagged ones, come between the segments of a Send. */
static void test_messages_interleave(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 64, REMOTE);
	qp_post_recv(n.b, 1, g, 32, 16);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "abc");
	FEED(&n, "\x81\x40" AT9("\x00") "0123");
	FEED(&n, "\x41\x41" ZERO4 "\x00\x00\x00\x01" MSN("\x01") MO("\x00") /* a Read Request */
		"\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00" MSN("\x04") AT9("\x00"));
	EXPECT(&n, "\xc1\x42\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00"
		   "0123");
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x03") "def");
	FEED(&n, "\xc1\x40" AT9("\x04") "4567");
	qp_expect_no_wc(n.b);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x06") "ghi");
	qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 9);
	assert_memory_equal(g->mem, "01234567", 8);
	assert_memory_equal(g->mem + 32, "abcdefghi", 9);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

/* A second segment is refused with a code of type 2, and nothing of it is placed. */
static void second_segment(const char *bytes, size_t len, uint8_t code)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 32, LOCAL);
	memset(g->mem, '.', 32);
	qp_post_recv(n.b, 1, g, 0, 16);
	qp_post_recv(n.b, 2, g, 16, 16);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "abcd");
	qp_net_feed(&n, bytes, len);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, RDMAP_LAYER_DDP, 2, code);
	assert_memory_equal(g->mem, "abcd............................", 32);
	qp_expect_wc(n.b, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
	qp_net_done(&n);
}

#define SECOND(literal, code) second_segment(literal, sizeof(literal) - 1, code)

/*
 * Section 7.1, check 3. Segments of a message come with growing MO (section 5.3), and our LLP keeps
 * the order: anything else is a gap or an overlap.
 */
static void test_message_offsets(void **state)
{
	SECOND("\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x05") "xyz", 0x04); /* a gap */
	SECOND("\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x03") "xyz", 0x04); /* an overlap */
	SECOND("\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "xyz", 0x04); /* again */
	SECOND("\x41\x43" ZERO4 QN0 MSN("\x01") "\xff\xff\xff\xff"
						"xyz",
		0x04);
}

/* Section 7.1, check 5: one message of a queue after the other, whatever else is posted. */
static void test_message_numbers(void **state)
{
	struct qp_net n;

	SECOND("\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x00") "xyz", 0x03); /* L was not there */
	SECOND("\x41\x43" ZERO4 QN0 MSN("\x00") MO("\x00") "xyz", 0x03);
	SECOND("\x41\x43" ZERO4 QN0 MSN("\x03") MO("\x00") "xyz", 0x03);
	SECOND("\x41\x43" ZERO4 QN0 "\x80\x00\x00\x01" MO("\x04") "xyz", 0x03);
	setup(&n);
	qp_post_recv(n.b, 1, NULL, 0, 0);
	qp_post_recv(n.b, 2, NULL, 0, 0);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00"));
	qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00")); /* delivered once is enough */
	EXPECT_TERMINATE(&n, "\x12\x03\xc0\x00\x00\x12\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00"));
	qp_expect_wc(n.b, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
	qp_net_done(&n);
}

/* Section 4.1: what has L ends the message, also with nothing in it; until then it is not there. */
static void test_last_flag(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	SECOND("\x41\x43" ZERO4 "\x00\x00\x00\x04" MSN("\x01") MO("\x04"),
		0x01); /* another queue */
	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, LOCAL);
	for (unsigned i = 1; i <= 2; i++)
		qp_post_recv(n.b, i, g, 0, 16);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "abcd");
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x04"));
	qp_expect_no_wc(n.b);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x04"));
	qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 4);
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x00"));
	qp_expect_wc(n.b, 2, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

static void test_message_too_long(void **state)
{
	struct qp_net n;

	setup(&n);
	qp_post_recv(n.b, 1, qp_region_add(n.b, 9, 0, 16, LOCAL), 0, 6);
	qp_post_recv(n.b, 2, NULL, 0, 0);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "1234");
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x04") "567");
	EXPECT_TERMINATE(&n, "\x12\x05\xc0\x00\x00\x15\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x04"));
	qp_expect_wc(n.b, 1, RDMAP_WC_LOC_LEN_ERR, RDMAP_WC_RECV, 0);
	qp_expect_wc(n.b, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
	qp_expect_no_wc(n.b);
	qp_net_done(&n);
}

static void test_receive_buffer_gone(void **state)
{
	struct qp_net n;

	setup(&n);
	qp_post_recv(n.b, 1, qp_region_add(n.b, 9, 0, 16, 0), 0, 6); /* not writable */
	FEED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "1234");
	EXPECT_TERMINATE(&n, ZERO4);
	qp_expect_wc(n.b, 1, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_RECV, 0);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 0, 0, 0);
	qp_net_done(&n);
}

static void test_cannot_invalidate(void **state)
{
	struct qp_net n;

	setup(&n);
	qp_post_recv(n.b, 1, NULL, 0, 0);
	FEED(&n, "\x41\x44\x11\x22\x33\x44" QN0 MSN("\x01") MO("\x00"));
	EXPECT_TERMINATE(
		&n, "\x01\x09\xc0\x00\x00\x12\x41\x44\x11\x22\x33\x44" QN0 MSN("\x01") MO("\x00"));
	qp_expect_wc(n.b, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
	qp_expect_no_wc(n.b);
	qp_net_done(&n);
}

/* Segments that are almost right, drawn from a fixed seed: no access where none may be. */
static void test_garbage(void **state)
{
	static const char *const good[] = {
		"\xc1\x40" AT9("\x04") "abcdefgh",
		"\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "abcdefgh",
		"\x41\x46" ZERO4 QN0 MSN("\x01") MO("\x00") "abcdefgh",
		"\x41\x41" ZERO4 "\x00\x00\x00\x01" MSN("\x01") MO("\x00") AT9("\x00") MSN("\x08")
			AT9("\x00"),
		"\x41\x47" ZERO4 "\x00\x00\x00\x02" MSN("\x01")
			MO("\x00") "\x11\x00\xe0\x00"
				   "\x00\x12\xc1\x40" AT9("\x04"),
	};
	static const size_t len[] = {22, 26, 26, 46, 38};
	uint32_t seed = 11;

	for (unsigned i = 0; i < 3000; i++) {
		struct qp_net n;

		setup(&n);
		qp_post_recv(n.b, 1, qp_region_add(n.b, 9, 0x2000, 16, REMOTE), 0, 16);
		llp_mem_set_random_segment(n.mem, 30, seed | 1);
		for (unsigned k = 0; k < 4 && n.b->endeds == 0; k++) {
			uint8_t ulpdu[46];
			unsigned which = (seed >> 8) % 5;

			memcpy(ulpdu, good[which], len[which]);
			for (unsigned j = (seed >> 12) % 3; j != 0; j--) {
				seed = seed * 1664525u + 1013904223u;
				ulpdu[(seed >> 8) % len[which]] ^=
					(uint8_t)(1u << (seed >> 28) % 8);
			}
			seed = seed * 1664525u + 1013904223u;
			qp_net_feed(&n, ulpdu,
				len[which] - ((seed >> 16) % 8 == 0) * ((seed >> 20) % 20));
		}
		qp_net_done(&n);
	}
}

/* ---- reentrancy ------------------------------------------------------------------------------ */

static void abort_on_complete(struct qp *q, const struct rdmap_wc *wc)
{
	rdmap_abort(&q->r);
	free(q->m);
	q->m = NULL;
}

static void test_abort_in_complete(void **state)
{
	struct qp_net n;

	setup(&n);
	n.b->on_complete = abort_on_complete;
	qp_post_recv(n.b, 1, NULL, 0, 0);
	qp_post_recv(n.b, 2, NULL, 0, 0);
	/* Two FPDUs in one segment. */
	llp_mem_send_raw(n.peer.llp,
		"\x00\x12\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") ZERO4
		"\x00\x12\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x00") ZERO4,
		48);
	qp_net_run(&n);
	assert_int_equal(n.b->wcs, 1);
	assert_int_equal(n.b->endeds, 0);
	assert_true(n.peer.closed);
	qp_net_done(&n);
}

static void release_on_ended(struct qp *q)
{
	rdmap_release(&q->r);
	free(q->m);
	q->m = NULL;
}

static void test_release_in_ended(void **state)
{
	struct qp_net n;

	setup(&n);
	n.b->on_ended = release_on_ended;
	FEED(&n, TAGGED("\xc1\x48", "\x00"));
	EXPECT_TERMINATE(&n, TERM_MD("\x02\x06", "\x0e", TAGGED("\xc1\x48", "\x00")));
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_empty_write),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_send_kinds),
		cmocka_unit_test(test_reserved_bits),
		cmocka_unit_test(test_segmentation),
		cmocka_unit_test(test_rtr_send),
		cmocka_unit_test(test_rtr_read),
		cmocka_unit_test(test_no_rtr),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_messages_interleave),
		cmocka_unit_test(test_message_offsets),
		cmocka_unit_test(test_message_numbers),
		cmocka_unit_test(test_last_flag),
		cmocka_unit_test(test_message_too_long),
		cmocka_unit_test(test_receive_buffer_gone),
		cmocka_unit_test(test_cannot_invalidate),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_abort_in_complete),
		cmocka_unit_test(test_release_in_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
