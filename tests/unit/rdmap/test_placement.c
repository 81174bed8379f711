/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#include "base/prng.h"
#include "rdmap/opcode.h"
#include "rdmap/rdmap_priv.h"

#include <stdlib.h>

/* ---- one stream, its ULPDUs handed in as MPA does ---------------------------------------- */

static void setup(struct qp_net *n)
{
	qp_net_init(n);
	n->b->rtr = 0;
	qp_net_raw_responder(n);
	FEED(n, "\xc1\x40" AT9("\x00")); /* an empty Write: the stream is open */
}

/* Each in its own allocation, for the address sanitizer. */
static uint32_t early(struct qp *q, const void *bytes, size_t len)
{
	uint8_t *copy = memcpy(malloc(len), bytes, len);
	const struct llp_iov v = {.base = copy, .len = len};
	const struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = (uint32_t)len};
	uint32_t kept = rdmap_on_placement(&q->r, &u);

	assert_true(kept <= len);
	if (kept != 0)
		assert_true(rdmap_on_place(&q->r, &u));
	free(copy);
	return kept;
}

/* Its turn: only the header is left. */
static void placed_as(struct qp *q, const void *bytes, size_t header, size_t len, bool whole)
{
	uint8_t *copy = memcpy(malloc(header), bytes, header);
	const struct llp_iov v = {.base = copy, .len = header};
	const struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = (uint32_t)len};

	rdmap_on_placed(&q->r, &u, whole);
	free(copy);
}

static void placed(struct qp *q, const void *bytes, size_t header, size_t len)
{
	placed_as(q, bytes, header, len, true);
}

#define EARLY(n, literal) early((n)->b, literal, sizeof(literal) - 1)
#define PLACED(n, literal) \
	placed((n)->b, literal, literal[0] & '\x80' ? 14 : 18, sizeof(literal) - 1)

static const char write_1[] = "\x81\x40" AT9("\x04") "abcd";
static const char write_2[] = "\xc1\x40" AT9("\x08") "efgh";

static void test_write(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	memset(g->mem, '.', 16);
	assert_int_equal(EARLY(&n, write_2), 14);
	assert_memory_equal(g->mem, "........efgh....", 16);
	assert_false(n.b->r.write_open);
	FEED(&n, "\x81\x40" AT9("\x04") "abcd");
	assert_true(n.b->r.write_open);
	memcpy(g->mem + 8, "EFGH", 4); /* not placed again */
	PLACED(&n, write_2);
	assert_memory_equal(g->mem, "....abcdEFGH....", 16);
	assert_false(n.b->r.write_open);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

/* Of an empty Write there is nothing to place, and nothing of its memory to look at. */
static void test_empty_write(void **state)
{
	struct qp_net n;

	setup(&n);
	assert_int_equal(EARLY(&n, "\xc1\x40" AT9("\x04")), 14);
	PLACED(&n, "\xc1\x40" AT9("\x04"));
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

/* To ask is not to place: another FPDU of the segment may be refused. */
static void test_asking_copies_nothing(void **state)
{
	const struct llp_iov v = {.base = (const uint8_t *)write_2, .len = sizeof write_2 - 1};
	const struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = sizeof write_2 - 1};
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	memset(g->mem, '.', 16);
	assert_int_equal(rdmap_on_placement(&n.b->r, &u), 14);
	assert_memory_equal(g->mem, "................", 16);
	assert_true(rdmap_on_place(&n.b->r, &u));
	assert_memory_equal(g->mem, "........efgh....", 16);
	qp_net_done(&n);
}

/* The memory was gone when it was placed: in its turn that ends the stream, whatever is there. */
static void test_placing_failed(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	memset(g->mem, '.', 16);
	placed_as(n.b, write_2, 14, sizeof write_2 - 1, false);
	EXPECT_TERMINATE(&n, "\x11\x01\xc0\x00\x00\x12\xc1\x40" AT9("\x08"));
	assert_int_equal(n.b->endeds, 1);
	assert_memory_equal(g->mem, "................", 16);
	qp_net_done(&n);
}

/* What is wrong is left alone, and told in its turn, as if it had come only then. */
static void test_errors_wait(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
#define BAD(literal) {literal, sizeof(literal) - 1}
		BAD("\xc1\x40\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x20\x00x"),  /* no STag */
		BAD("\xc1\x40" AT9("\x0e") "abcd"),                                /* bounds */
		BAD("\xc1\x40\x00\x00\x00\x09\xff\xff\xff\xff\xff\xff\xff\xffxy"), /* TO wraps */
		BAD("\xc2\x40" AT9("\x00") "abcd"),                                /* DDP version */
		BAD("\xc1\x00" AT9("\x00") "abcd"),                   /* RDMAP version */
		BAD("\xc1\x4f" AT9("\x00") "abcd"),                   /* opcode */
		BAD("\xc1\x43" AT9("\x00") "abcd"),                   /* a Send, tagged */
		BAD("\xc1\x42" AT9("\x00") "abcd"),                   /* no Read is under way */
		BAD("\xc1\x40" AT9("")),                              /* too short */
		BAD("\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "x"), /* no receive element */
		BAD("\x41\x43" ZERO4 "\x00\x00\x00\x09" MSN("\x01") MO("\x00") "x"), /* no queue */
	};

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct qp_net n;
		struct qp_region *g;

		setup(&n);
		g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
		memset(g->mem, '.', 16);
		assert_int_equal(early(n.b, bad[i].bytes, bad[i].len), 0);
		assert_memory_equal(g->mem, "................", 16);
		assert_int_equal(n.b->endeds, 0);
		qp_net_expect_nothing(&n);
		qp_net_feed(&n, bad[i].bytes, bad[i].len);
		assert_int_equal(n.b->endeds, 1);
		assert_int_equal(n.b->end.kind, RDMAP_END_TERMINATE_TX);
		qp_net_done(&n);
	}
}

/* The region goes away before the turn: the Terminate comes as it would have. */
static void test_deregistered_in_between(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	assert_int_equal(EARLY(&n, write_2), 14);
	g->invalid = true;
	PLACED(&n, write_2);
	EXPECT_TERMINATE(&n, "\x11\x00\xc0\x00\x00\x12\xc1\x40" AT9("\x08"));
	assert_int_equal(n.b->endeds, 1);
	/* After that nothing is placed or delivered. */
	g->invalid = false;
	assert_int_equal(EARLY(&n, write_1), 0);
	PLACED(&n, write_1);
	assert_int_equal(n.b->endeds, 1);
	qp_net_done(&n);
}

/* MSN and MO tell where the payload of a Send belongs; it completes in order. */
static void test_send(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 5, 0x100, 64, LOCAL);
	memset(g->mem, '.', 64);
	qp_post_recv(n.b, 71, g, 0, 16);
	qp_post_recv(n.b, 72, g, 16, 16);
	assert_int_equal(EARLY(&n, "\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x06") "second"), 18);
	assert_memory_equal(g->mem + 16, "......second....", 16);
	assert_int_equal(EARLY(&n, "\x01\x43" ZERO4 QN0 MSN("\x02") MO("\x00") "second"), 18);
	/* Beyond its buffer, beyond the last element, before the first. */
	assert_int_equal(EARLY(&n, "\x01\x43" ZERO4 QN0 MSN("\x02") MO("\x0e") "abc"), 0);
	assert_int_equal(EARLY(&n, "\x01\x43" ZERO4 QN0 MSN("\x03") MO("\x00") "abc"), 0);
	assert_int_equal(EARLY(&n, "\x01\x43" ZERO4 QN0 MSN("\x00") MO("\x00") "abc"), 0);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "first ");
	/* The one in hand. */
	assert_int_equal(EARLY(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x0c") "last"), 18);
	qp_expect_no_wc(n.b);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x06") "middle");
	PLACED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x0c") "last");
	qp_expect_wc(n.b, 71, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 16);
	assert_memory_equal(g->mem, "first middlelast", 16);
	PLACED(&n, "\x01\x43" ZERO4 QN0 MSN("\x02") MO("\x00") "second");
	qp_expect_no_wc(n.b);
	PLACED(&n, "\x41\x43" ZERO4 QN0 MSN("\x02") MO("\x06") "second");
	qp_expect_wc(n.b, 72, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 12);
	assert_memory_equal(g->mem + 16, "secondsecond....", 16);
	qp_net_done(&n);
}

/* It is not known which QP takes which element of a shared queue; the one in hand is ours. */
static void test_send_with_a_shared_queue(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	n.b->shared_rq = true;
	g = qp_region_add(n.b, 5, 0x100, 64, LOCAL);
	qp_post_recv(n.b, 71, g, 0, 16);
	assert_int_equal(EARLY(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x06") "abc"), 0);
	FEED(&n, "\x01\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "abcdef");
	assert_int_equal(EARLY(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x07") "ij"), 18);
	qp_net_done(&n);
}

/*
 * Immediate Data behind a Send takes no receive element: Sends behind it say how many came before
 * them. A Send with Invalidate cannot, so it waits, unless it is the next message.
 */
static void test_send_with_immediate(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	n.b->r.send_imm = true;
	g = qp_region_add(n.b, 5, 0, 40, LOCAL);
	memset(g->mem, '.', 40);
	for (unsigned i = 0; i < 4; i++)
		qp_post_recv(n.b, i + 1, g, 10 * i, 10);
	/* Sends 1 and 3 have Immediate Data; all is early but the first segment. */
	assert_int_equal(EARLY(&n, "\x41\x63" ZERO4 QN0 MSN("\x01") MO("\x02") "b"), 18);
	assert_int_equal(EARLY(&n, "\x41\x73" MSN("\x01") QN0 MSN("\x03") MO("\x00") "c"), 18);
	assert_int_equal(EARLY(&n, "\x41\x53" MSN("\x02") QN0 MSN("\x05") MO("\x00") "d"), 18);
	assert_int_equal(EARLY(&n, "\x41\x54" MSN("\x02") QN0 MSN("\x06") MO("\x00") "e"), 0);
	assert_memory_equal(g->mem, "..b.......c.........d.........", 30);
	FEED(&n, "\x01\x63" ZERO4 QN0 MSN("\x01") MO("\x00") "aa");
	PLACED(&n, "\x41\x63" ZERO4 QN0 MSN("\x01") MO("\x02") "b");
	/* Whole: nothing is placed in it any more, whatever the count says. */
	assert_int_equal(EARLY(&n, "\x41\x53" MSN("\x02") QN0 MSN("\x03") MO("\x00") "x"), 0);
	assert_int_equal(EARLY(&n, "\x41\x73" MSN("\x01") QN0 MSN("\x03") MO("\x00") "c"), 18);
	FEED(&n, "\x41\x48" ZERO4 QN0 MSN("\x02") MO("\x00") "\1\2\3\4" ZERO4);
	PLACED(&n, "\x41\x73" MSN("\x01") QN0 MSN("\x03") MO("\x00") "c");
	FEED(&n, "\x41\x48" ZERO4 QN0 MSN("\x04") MO("\x00") "\1\2\3\4" ZERO4);
	PLACED(&n, "\x41\x53" MSN("\x02") QN0 MSN("\x05") MO("\x00") "d");
	qp_region_add(n.b, 2, 0, 8, REMOTE);
	assert_int_equal(EARLY(&n, "\x41\x54" MSN("\x02") QN0 MSN("\x06") MO("\x00") "e"), 18);
	PLACED(&n, "\x41\x54" MSN("\x02") QN0 MSN("\x06") MO("\x00") "e");
	assert_memory_equal(g->mem, "aab.......c.........d.........e", 31);
	qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 3);
	qp_expect_wc(n.b, 2, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 1);
	qp_expect_wc(n.b, 3, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 1);
	qp_expect_wc(n.b, 4, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 1);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

/* What is placed comes no second time: it cannot wait for another element, however patient it is.
 */
static void test_placed_without_an_element(void **state)
{
	struct qp_net n;

	setup(&n);
	n.b->patient = true;
	PLACED(&n, "\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00") "x");
	EXPECT_TERMINATE(&n, "\x12\x02\xc0\x00\x00\x13\x41\x43" ZERO4 QN0 MSN("\x01") MO("\x00"));
	assert_int_equal(n.b->recv_waits, 0);
	qp_net_done(&n);
}

static void post_inline(struct qp *q, enum rdmap_wr_op op, const char *text)
{
	struct rdmap_wqe *w = qp_wqe(q, 0, op, 0);

	w->remote_stag = 9;
	w->remote_to = 0x2000;
	qp_wqe_inline(w, text, (uint32_t)strlen(text));
	qp_post(q);
	qp_run(q);
}

/* Nor can what comes before it: that would have to wait with all behind it. */
static void test_no_element_before_what_is_placed(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_connect(&n);
	n.b->patient = true;
	qp_region_add(n.b, 9, 0x2000, 4, REMOTE);
	for (unsigned i = 0; i < MPA_ALIGNED_ENOUGH; i++) {
		post_inline(n.a, RDMAP_WR_WRITE, "....");
		qp_net_run(&n);
	}
	llp_mem_hold(mpa_llp(n.a->m), true);
	post_inline(n.a, RDMAP_WR_SEND, "x");
	post_inline(n.a, RDMAP_WR_WRITE, "abcd");
	assert_true(llp_mem_ooo(mpa_llp(n.a->m), 1));
	assert_memory_equal(n.b->region[0].mem, "abcd", 4);
	llp_mem_hold(mpa_llp(n.a->m), false);
	qp_net_run(&n);
	assert_int_equal(n.b->recv_waits, 1);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, RDMAP_LAYER_DDP, 2, 2);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, RDMAP_LAYER_DDP, 2, 2);
	qp_net_done(&n);
}

/* A Send with Invalidate invalidates in its turn alone. */
static void test_send_with_invalidate(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	qp_post_recv(n.b, 71, NULL, 0, 0);
	assert_int_equal(EARLY(&n, "\x41\x44\x00\x00\x00\x09" QN0 MSN("\x01") MO("\x00")), 18);
	assert_false(g->invalid);
	PLACED(&n, "\x41\x44\x00\x00\x00\x09" QN0 MSN("\x01") MO("\x00"));
	assert_true(g->invalid);
	qp_expect_wc(n.b, 71, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	qp_net_done(&n);
}

/* Requests and whatever acts when it comes is not for now (RFC 5040 section 5.5 rule 12). */
static void test_what_acts_waits(void **state)
{
	struct qp_net n;
	uint8_t request[18 + RDMAP_ATOMIC_REQUEST_LEN] = {0x41};

	setup(&n);
	qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	qp_post_recv(n.b, 71, NULL, 0, 0);
	for (uint8_t op = 0; op < 16; op++) {
		const struct rdmap_opcode_info *info = rdmap_opcode_info(op);
		bool send = op >= RDMAP_OP_SEND && op <= RDMAP_OP_SEND_SE_INV;

		if (info == NULL || info->tagged)
			continue;
		request[1] = 0x40 | op;
		request[9] = info->qn;
		request[13] = 1;
		assert_int_equal(
			early(n.b, request, 18 + (send ? 0 : info->min_len)), send ? 18 : 0);
	}
	assert_int_equal(n.b->r.irq_count, 0);
	assert_int_equal(n.b->endeds, 0);
	qp_expect_no_wc(n.b);
	qp_net_done(&n);
}

/* Into the sink of a Read that is under way, whichever; it completes in order. */
static void test_read_response(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	qp_net_init(&n);
	n.a->rtr = 0;
	qp_net_raw_initiator(&n);
	g = qp_region_add(n.a, 9, 0x2000, 32, LOCAL);
	memset(g->mem, '.', 32);
	for (unsigned i = 0; i < 2; i++) {
		struct rdmap_wqe *w = qp_wqe(n.a, i, RDMAP_WR_READ, RDMAP_WR_SIGNALED);

		w->remote_stag = 1;
		qp_wqe_sge(w, g, 16 * i, 8);
		qp_post(n.a);
	}
	qp_run(n.a);
	llp_mem_run(n.mem, 1000);
#define A_EARLY(literal) early(n.a, literal, sizeof(literal) - 1)
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x14") "3333"), 14);
	assert_int_equal(A_EARLY("\x81\x42" AT9("\x10") "2222"), 14);
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x04") "1111"), 14);
	assert_memory_equal(g->mem, "....1111........22223333........", 32);
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x06") "1111"), 0); /* beyond the sink */
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x08") "x"), 0);    /* between both */
	assert_int_equal(A_EARLY("\xc1\x42\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x20\x10x"), 0);
	qp_expect_no_wc(n.a);
	FEED(&n, "\x81\x42" AT9("\x00") "0000");
	placed(n.a, "\xc1\x42" AT9("\x04"), 14, 18);
	qp_expect_wc(n.a, 0, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 8);
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x04") "1111"), 0); /* that is over */
	placed(n.a, "\x81\x42" AT9("\x10"), 14, 18);
	qp_expect_no_wc(n.a);
	placed(n.a, "\xc1\x42" AT9("\x14"), 14, 18);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 8);
	assert_memory_equal(g->mem, "00001111........22223333........", 32);
	qp_net_done(&n);
}

/* What is answered far behind the oldest request waits for its turn: 64 are looked at. */
static void test_read_response_far_behind(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	qp_net_init(&n);
	n.a->rtr = 0;
	qp_net_raw_initiator(&n);
	g = qp_region_add(n.a, 9, 0x2000, 32, LOCAL);
	memset(g->mem, '.', 32);
	for (unsigned i = 0; i < 66; i++) {
		bool read = i == 0 || i >= 64;
		struct rdmap_wqe *w =
			qp_wqe(n.a, i, read ? RDMAP_WR_READ : RDMAP_WR_WRITE, RDMAP_WR_SIGNALED);

		w->remote_stag = 1;
		if (read)
			qp_wqe_sge(w, g, i == 0 ? 0 : 8 * (i - 63), 4);
		qp_post(n.a);
	}
	qp_run(n.a);
	qp_net_run(&n);
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x00") "0000"), 14);
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x08") "1111"), 0);
	FEED(&n, "\xc1\x42" AT9("\x00") "0000");
	assert_int_equal(A_EARLY("\xc1\x42" AT9("\x08") "1111"), 14);
	FEED(&n, "\xc1\x42" AT9("\x08") "1111");
	FEED(&n, "\xc1\x42" AT9("\x10") "2222");
	for (unsigned i = 0; i < 66; i++)
		qp_expect_wc(n.a, i, RDMAP_WC_SUCCESS,
			i == 0 || i >= 64 ? RDMAP_WC_READ : RDMAP_WC_WRITE,
			i == 0 || i >= 64 ? 4 : 0);
	assert_memory_equal(g->mem, "0000....1111....2222............", 32);
	qp_net_done(&n);
}

/* The frame that may come first is not like others (RFC 6581 section 9.2). */
static void test_before_the_first_frame(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = MPA_RTR_SEND | MPA_RTR_WRITE;
	qp_net_raw_responder(&n);
	qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
	assert_int_equal(EARLY(&n, write_1), 0);
	FEED(&n, "\xc1\x40" AT9("\x00"));
	assert_int_equal(EARLY(&n, write_1), 14);
	qp_net_done(&n);
}

/* Likewise the response to our own, when that was a Read. */
static void test_before_the_first_response(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.a->rtr = MPA_RTR_READ;
	qp_net_raw_initiator(&n);
	qp_region_add(n.a, 9, 0x2000, 16, REMOTE);
	assert_int_equal(early(n.a, write_1, sizeof write_1 - 1), 0);
	FEED(&n, "\xc1\x42" ZERO4 ZERO4 ZERO4);
	assert_int_equal(early(n.a, write_1, sizeof write_1 - 1), 14);
	qp_net_done(&n);
}

/* ---- two streams over a path that reorders ----------------------------------------------- */

#define AREA  (64u * 1024)
#define CHUNK (AREA / 8)

struct traffic {
	struct qp_net n;
	struct prng random;
	struct qp_region *mem[2], *recv[2];
	unsigned taken;
	uint64_t wr_id;
};

static struct qp *side(struct traffic *t, unsigned i)
{
	return i == 0 ? t->n.a : t->n.b;
}

static void fill(struct traffic *t, uint8_t *p, uint32_t len)
{
	while (len-- != 0)
		*p++ = (uint8_t)prng_below(&t->random, 256);
}

/* Steps and early arrivals by turns, until all is quiet. */
static void pass(struct traffic *t)
{
	do {
		for (unsigned i = 0; i < 4; i++) {
			struct qp *q = side(t, prng_below(&t->random, 2));

			if (q->m != NULL && q->m->llp != NULL)
				t->taken += llp_mem_ooo(q->m->llp, 1 + prng_below(&t->random, 12));
		}
	} while (llp_mem_step(t->n.mem));
}

/*
 * Chunks 0 to 3 of an area are what the owner writes from, 4 and 5 what is written to, 6 and 7 the
 * sink of its Reads.
 */
static void round_of(struct traffic *t, unsigned from)
{
	struct qp *us = side(t, from), *peer = side(t, !from);
	struct qp_region *ours = t->mem[from], *theirs = t->mem[!from];
	static const enum rdmap_wc_op ops[] = {RDMAP_WC_WRITE, RDMAP_WC_SEND, RDMAP_WC_READ};
	uint32_t len[3];
	struct rdmap_wqe *w;

	for (unsigned i = 0; i < 3; i++)
		len[i] = prng_below(&t->random, i == 2 ? 2 * CHUNK : CHUNK);
	fill(t, ours->mem, 4 * CHUNK);
	w = qp_wqe(us, t->wr_id, RDMAP_WR_WRITE, RDMAP_WR_SIGNALED);
	w->remote_stag = theirs->stag;
	w->remote_to = theirs->to + 4 * CHUNK;
	qp_wqe_sge(w, ours, 0, len[0]);
	qp_post(us);
	w = qp_wqe(us, t->wr_id + 1, RDMAP_WR_SEND, RDMAP_WR_SIGNALED);
	qp_wqe_sge(w, ours, CHUNK, len[1]);
	qp_post(us);
	w = qp_wqe(us, t->wr_id + 2, RDMAP_WR_READ, RDMAP_WR_SIGNALED);
	w->remote_stag = theirs->stag;
	w->remote_to = theirs->to + 2 * CHUNK;
	qp_wqe_sge(w, ours, 6 * CHUNK, len[2]);
	qp_post(us);
	qp_post_recv(peer, t->wr_id + 3, t->recv[!from], 0, CHUNK);
	qp_run(us);
	pass(t);
	for (unsigned i = 0; i < 3; i++)
		qp_expect_wc(us, t->wr_id + i, RDMAP_WC_SUCCESS, ops[i], len[i]);
	qp_expect_wc(peer, t->wr_id + 3, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, len[1]);
	assert_memory_equal(ours->mem, theirs->mem + 4 * CHUNK, len[0]);
	assert_memory_equal(ours->mem + CHUNK, t->recv[!from]->mem, len[1]);
	assert_memory_equal(ours->mem + 6 * CHUNK, theirs->mem + 2 * CHUNK, len[2]);
	t->wr_id += 4;
}

static void test_traffic(void **state)
{
	struct traffic t = {.random = {7}};

	qp_net_init(&t.n);
	for (unsigned i = 0; i < 2; i++) {
		t.mem[i] = qp_region_add(side(&t, i), 1 + i, 0x100000, AREA, REMOTE);
		t.recv[i] = qp_region_add(side(&t, i), 3 + i, 0x900000, CHUNK, LOCAL);
	}
	qp_net_connect(&t.n);
	for (unsigned i = 0; i < 200; i++)
		round_of(&t, i & 1);
	assert_true(t.taken > 500);
	qp_net_done(&t.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_empty_write),
		cmocka_unit_test(test_asking_copies_nothing),
		cmocka_unit_test(test_placing_failed),
		cmocka_unit_test(test_errors_wait),
		cmocka_unit_test(test_deregistered_in_between),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_send_with_a_shared_queue),
		cmocka_unit_test(test_placed_without_an_element),
		cmocka_unit_test(test_no_element_before_what_is_placed),
		cmocka_unit_test(test_send_with_invalidate),
		cmocka_unit_test(test_send_with_immediate),
		cmocka_unit_test(test_what_acts_waits),
		cmocka_unit_test(test_read_response),
		cmocka_unit_test(test_read_response_far_behind),
		cmocka_unit_test(test_before_the_first_frame),
		cmocka_unit_test(test_before_the_first_response),
		cmocka_unit_test(test_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
