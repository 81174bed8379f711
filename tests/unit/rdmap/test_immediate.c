/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#define ZERO8      ZERO4 ZERO4
#define WRITE_LAST "\xc1\x40"
#define WRITE_MORE "\x81\x40"
#define STAG_TO    "\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00"

/* DDP's header of an Immediate Data message: opcode, MSN. */
#define IMM(opcode, msn) "\x41" opcode ZERO4 ZERO4 "\x00\x00\x00" msn ZERO4
#define SEND(msn)        IMM("\x43", msn)

/* ---- sending ----------------------------------------------------------------------------- */

static struct rdmap_wqe *wqe(struct qp *q, uint64_t wr_id, unsigned flags)
{
	struct rdmap_wqe *w = qp_wqe(q, wr_id, RDMAP_WR_WRITE_IMM, flags);

	w->remote_stag = 12;
	memcpy(&w->imm, "\xde\xad\xbe\xef", 4);
	return w;
}

/* RFC 7306 section 6: a Write, then Immediate Data; a Read Response that is due waits. */
static void test_put(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	qp_wqe_inline(wqe(n.a, 1, RDMAP_WR_SIGNALED), "abc", 3);
	qp_post(n.a);
	wqe(n.a, 2, RDMAP_WR_SIGNALED | RDMAP_WR_SOLICITED);
	qp_post(n.a);
	qp_run(n.a);
	EXPECT(&n, WRITE_LAST STAG_TO "abc");
	EXPECT(&n, IMM("\x48", "\x01") "\xde\xad\xbe\xef" ZERO4);
	EXPECT(&n, WRITE_LAST STAG_TO);
	EXPECT(&n, IMM("\x49", "\x02") "\xde\xad\xbe\xef" ZERO4);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 3);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 0);
	qp_net_done(&n);
}

/* The Write may go before there is room for the rest; nothing comes between. */
static void test_put_blocked(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	llp_mem_set_buffer(n.mem, 1); /* one FPDU at a time */
	qp_region_add(n.a, 12, 0, 16, REMOTE);
	qp_wqe_inline(wqe(n.a, 1, RDMAP_WR_SIGNALED), "abc", 3);
	qp_post(n.a);
	llp_mem_hold(n.a->m->llp, true);
	qp_run(n.a);
	qp_expect_no_wc(n.a);
	FEED(&n, "\x41\x41" ZERO4 "\x00\x00\x00\x01\x00\x00\x00\x01" ZERO4 "\x00\x00\x00\x09" ZERO8
		 "\x00\x00\x00\x01\x00\x00\x00\x0c" ZERO8); /* a Read Request for one byte */
	llp_mem_hold(n.a->m->llp, false);
	EXPECT(&n, WRITE_LAST STAG_TO "abc");
	EXPECT(&n, IMM("\x48", "\x01") "\xde\xad\xbe\xef" ZERO4);
	EXPECT(&n, "\xc1\x42\x00\x00\x00\x09" ZERO8 "\x0c");
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 3);
	qp_net_done(&n);
}

/* A peer without RFC 7306 quotes the message: the request, if it is still there, fails. */
static void test_refused(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	g = qp_region_add(n.a, 7, 0, 8, LOCAL);
	qp_wqe_sge(qp_wqe(n.a, 1, RDMAP_WR_READ, 0), g, 0, 8); /* holds up what is behind it */
	qp_post(n.a);
	wqe(n.a, 2, 0);
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	FEED(&n, "\x41\x47" ZERO4 "\x00\x00\x00\x02\x00\x00\x00\x01" ZERO4
		 "\x02\x06\xc0\x00\x00\x1a" IMM("\x48", "\x01"));
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 0, 2, 6);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_REM_OP_ERR, RDMAP_WC_WRITE, 0);
	qp_net_done(&n);
}

/* ---- receiving --------------------------------------------------------------------------- */

static void setup(struct qp_net *n)
{
	qp_net_init(n);
	qp_net_raw_responder(n);
	qp_region_add(n->b, 12, 0, 64, REMOTE);
}

static void expect_imm(struct qp *q, uint64_t wr_id, uint32_t len, unsigned flags)
{
	const struct rdmap_wc *wc =
		qp_expect_wc(q, wr_id, RDMAP_WC_SUCCESS, RDMAP_WC_RECV_IMM, len);

	assert_int_equal(wc->flags, RDMAP_WC_WITH_IMM | flags);
	assert_memory_equal(&wc->imm, "\x01\x02\x03\x04", 4);
}

#define DATA "\x01\x02\x03\x04" ZERO4

/* Other messages may come between the segments of a Write: its length is that of all of them. */
static void test_write_around_messages(void **state)
{
	struct qp_net n;

	setup(&n);
	for (unsigned i = 1; i <= 4; i++)
		qp_post_recv(n.b, i, NULL, 0, 0);
	FEED(&n, WRITE_MORE STAG_TO "abc");
	FEED(&n, SEND("\x01"));
	FEED(&n, IMM("\x48", "\x02") DATA); /* the Write has not ended */
	FEED(&n, WRITE_LAST "\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x03"
			    "de");
	FEED(&n, IMM("\x48", "\x03") DATA);
	FEED(&n, IMM("\x48", "\x04") DATA);
	qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	expect_imm(n.b, 2, 0, 0);
	expect_imm(n.b, 3, 5, 0);
	expect_imm(n.b, 4, 0, 0);
	qp_net_done(&n);
}

/* Each consumes a receive element, even one without a buffer; the length is that of the Write. */
static void test_receive(void **state)
{
	struct qp_net n;

	setup(&n);
	for (unsigned i = 1; i <= 6; i++)
		qp_post_recv(n.b, i, NULL, 0, 0);
	FEED(&n, IMM("\x48", "\x01") DATA); /* nothing before it */
	FEED(&n, WRITE_MORE STAG_TO "abc");
	FEED(&n, WRITE_LAST "\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x03"
			    "de");
	FEED(&n, IMM("\x49", "\x02") DATA);
	FEED(&n, WRITE_LAST STAG_TO "abcdefg");
	FEED(&n, WRITE_LAST STAG_TO "abcd"); /* of two Writes the last */
	FEED(&n, IMM("\x48", "\x03") DATA);
	FEED(&n, IMM("\x48", "\x04") DATA);
	FEED(&n, WRITE_LAST STAG_TO "abcd");
	FEED(&n, SEND("\x05"));
	FEED(&n, IMM("\x48", "\x06") DATA); /* a Send came between */
	expect_imm(n.b, 1, 0, 0);
	expect_imm(n.b, 2, 5, RDMAP_WC_SOLICITED);
	expect_imm(n.b, 3, 4, 0);
	expect_imm(n.b, 4, 0, 0);
	qp_expect_wc(n.b, 5, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
	expect_imm(n.b, 6, 0, 0);
	qp_expect_no_wc(n.b);
	qp_net_done(&n);
}

/* The receive element's buffer is not written to: the data is in the completion. */
static void test_buffer_untouched(void **state)
{
	struct qp_region *g;
	struct qp_net n;
	uint8_t before[16];

	setup(&n);
	g = qp_region_add(n.b, 3, 0, 16, LOCAL);
	memcpy(before, g->mem, sizeof before);
	qp_post_recv(n.b, 1, g, 0, 16);
	FEED(&n, IMM("\x48", "\x01") DATA);
	expect_imm(n.b, 1, 0, 0);
	assert_memory_equal(g->mem, before, sizeof before);
	qp_net_done(&n);
}

/* Exactly eight bytes (section 6.3), in one segment. */
static void test_length(void **state)
{
	struct qp_net n;

	setup(&n);
	qp_post_recv(n.b, 1, NULL, 0, 0);
	FEED(&n, IMM("\x48", "\x01") "1234567");
	EXPECT_TERMINATE(&n, "\x02\xff\xc0\x00\x00\x19" IMM("\x48", "\x01"));
	qp_expect_wc(n.b, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
	qp_net_done(&n);

	setup(&n);
	FEED(&n, IMM("\x49", "\x01") "123456789");
	EXPECT_TERMINATE(&n, "\x02\xff\xc0\x00\x00\x1b" IMM("\x49", "\x01"));
	qp_net_done(&n);

	setup(&n);
	FEED(&n, "\x01\x48" ZERO8 "\x00\x00\x00\x01" ZERO4 "12345678");
	EXPECT_TERMINATE(&n, "\x02\xff\xc0\x00\x00\x1a"
			     "\x01\x48" ZERO8 "\x00\x00\x00\x01" ZERO4);
	qp_net_done(&n);
}

static void test_no_buffer(void **state)
{
	struct qp_net n;

	setup(&n);
	FEED(&n, IMM("\x48", "\x01") DATA);
	EXPECT_TERMINATE(&n, "\x12\x02\xc0\x00\x00\x1a" IMM("\x48", "\x01"));
	qp_net_done(&n);
}

/* It stays where it is until an element is there, and so does the peer's end. */
static void test_waits(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	n.b->patient = true;
	g = qp_region_add(n.b, 3, 0, 16, LOCAL);
	FEED(&n, IMM("\x48", "\x01") DATA);
	FEED(&n, IMM("\x48", "\x02") DATA);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	assert_int_equal(n.b->recv_waits, 1);
	qp_expect_no_wc(n.b);
	qp_post_recv(n.b, 7, g, 0, 16);
	rdmap_recv_posted(&n.b->r);
	qp_net_run(&n);
	assert_int_equal(n.b->recv_waits, 2);
	qp_expect_wc(n.b, 7, RDMAP_WC_SUCCESS, RDMAP_WC_RECV_IMM, 0);
	qp_expect_no_wc(n.b);
	assert_int_equal(n.b->peer_closeds, 0);
	qp_post_recv(n.b, 8, g, 0, 16);
	rdmap_recv_posted(&n.b->r);
	qp_net_run(&n);
	qp_expect_wc(n.b, 8, RDMAP_WC_SUCCESS, RDMAP_WC_RECV_IMM, 0);
	assert_int_equal(n.b->peer_closeds, 1);
	qp_net_done(&n);
}

/* In the middle of a Send there is no other message. */
static void test_inside_send(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	g = qp_region_add(n.b, 3, 0, 16, LOCAL);
	qp_post_recv(n.b, 1, g, 0, 16);
	FEED(&n, "\x01\x43" ZERO8 "\x00\x00\x00\x01" ZERO4 "abcd");
	FEED(&n, "\x41\x48" ZERO8 "\x00\x00\x00\x01\x00\x00\x00\x04" DATA);
	EXPECT_TERMINATE(&n, "\x02\x06\xc0\x00\x00\x1a"
			     "\x41\x48" ZERO8 "\x00\x00\x00\x01\x00\x00\x00\x04");
	qp_expect_wc(n.b, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
	qp_net_done(&n);
}

/* ---- Send with Immediate, between uiwarps ------------------------------------------------ */

/* The control octet of a Send: its Immediate Data is due; some came before; both. */
#define DUE        "\x63"
#define BEFORE     "\x53"
#define DUE_BEFORE "\x73"
/* A Send's header: control octet, count, MSN. */
#define SEND_IMM(control, count, msn) \
	"\x41" control "\x00\x00\x00" count ZERO4 "\x00\x00\x00" msn ZERO4

static struct rdmap_wqe *send_imm(struct qp *q, uint64_t wr_id, unsigned flags)
{
	struct rdmap_wqe *w = qp_wqe(q, wr_id, RDMAP_WR_SEND_IMM, flags);

	memcpy(&w->imm, "\xde\xad\xbe\xef", 4);
	return w;
}

static void setup_initiator(struct qp_net *n)
{
	qp_net_init(n);
	qp_net_raw_initiator(n);
	n->a->r.send_imm = true;
}

/* Each Send says how many came behind Sends before it; the first says nothing. */
static void test_send_put(void **state)
{
	struct qp_net n;

	setup_initiator(&n);
	qp_wqe_inline(qp_wqe(n.a, 1, RDMAP_WR_SEND, 0), "x", 1);
	qp_post(n.a);
	qp_wqe_inline(send_imm(n.a, 2, RDMAP_WR_SIGNALED), "abc", 3);
	qp_post(n.a);
	send_imm(n.a, 3, RDMAP_WR_SIGNALED | RDMAP_WR_SOLICITED);
	qp_post(n.a);
	qp_wqe_inline(qp_wqe(n.a, 4, RDMAP_WR_SEND, RDMAP_WR_SOLICITED), "y", 1);
	qp_post(n.a);
	qp_wqe(n.a, 5, RDMAP_WR_SEND_INV, 0)->inv_stag = 0x11223344;
	qp_post(n.a);
	qp_run(n.a);
	EXPECT(&n, SEND("\x01") "x");
	EXPECT(&n, SEND_IMM(DUE, "\x00", "\x02") "abc");
	EXPECT(&n, IMM("\x48", "\x03") "\xde\xad\xbe\xef" ZERO4);
	EXPECT(&n, SEND_IMM(DUE_BEFORE, "\x01", "\x04"));
	EXPECT(&n, IMM("\x49", "\x05") "\xde\xad\xbe\xef" ZERO4);
	EXPECT(&n, SEND_IMM("\x55", "\x02", "\x06") "y");
	EXPECT(&n, "\x41\x54\x11\x22\x33\x44" ZERO4 "\x00\x00\x00\x07" ZERO4);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_SEND, 3);
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_SEND, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* One request: it completes when both are with the LLP, and nothing comes between. */
static void test_send_put_blocked(void **state)
{
	struct qp_net n;

	setup_initiator(&n);
	llp_mem_set_buffer(n.mem, 1);
	qp_region_add(n.a, 12, 0, 16, REMOTE);
	qp_wqe_inline(send_imm(n.a, 1, RDMAP_WR_SIGNALED), "abc", 3);
	qp_post(n.a);
	llp_mem_hold(n.a->m->llp, true);
	qp_run(n.a);
	qp_expect_no_wc(n.a);
	FEED(&n, "\x41\x41" ZERO4 "\x00\x00\x00\x01\x00\x00\x00\x01" ZERO4 "\x00\x00\x00\x09" ZERO8
		 "\x00\x00\x00\x01\x00\x00\x00\x0c" ZERO8); /* a Read Request for one byte */
	llp_mem_hold(n.a->m->llp, false);
	EXPECT(&n, SEND_IMM(DUE, "\x00", "\x01") "abc");
	EXPECT(&n, IMM("\x48", "\x02") "\xde\xad\xbe\xef" ZERO4);
	EXPECT(&n, "\xc1\x42\x00\x00\x00\x09" ZERO8 "\x0c");
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_SEND, 3);
	qp_net_done(&n);
}

/* Posted before the peer was known, which does not take it. What is behind it does not succeed. */
static void test_send_not_agreed(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	send_imm(n.a, 1, 0);
	qp_post(n.a);
	qp_wqe(n.a, 2, RDMAP_WR_SEND, RDMAP_WR_SIGNALED);
	qp_post(n.a);
	qp_run(n.a);
	assert_int_equal(n.a->endeds, 1);
	qp_expect_wc(n.a, 1, RDMAP_WC_LOC_QP_OP_ERR, RDMAP_WC_SEND, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_SEND, 0);
	qp_net_done(&n);
}

/* The peer's Terminate names the Send, or the Immediate Data: either way the request failed. */
static void test_send_blamed(void **state)
{
	for (unsigned msn = 1; msn <= 2; msn++) {
		struct qp_net n;
		struct qp_region *g;
		uint8_t terminate[] = "\x41\x47" ZERO4 "\x00\x00\x00\x02\x00\x00\x00\x01" ZERO4
				      "\x02\x06\xc0\x00\x00\x1a" IMM("\x48", "\x00");

		setup_initiator(&n);
		g = qp_region_add(n.a, 7, 0, 8, LOCAL);
		qp_wqe_sge(qp_wqe(n.a, 1, RDMAP_WR_READ, 0), g, 0, 8);
		qp_post(n.a);
		send_imm(n.a, 2, 0);
		qp_post(n.a);
		qp_run(n.a);
		qp_net_run(&n);
		terminate[sizeof terminate - 6] = (uint8_t)msn;
		qp_net_feed(&n, terminate, sizeof terminate - 1);
		qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
		qp_expect_wc(n.a, 2, RDMAP_WC_REM_OP_ERR, RDMAP_WC_SEND, 0);
		qp_net_done(&n);
	}
}

static struct qp_region *setup_responder(struct qp_net *n)
{
	struct qp_region *g;

	setup(n);
	n->b->r.send_imm = true;
	g = qp_region_add(n->b, 3, 0, 64, LOCAL);
	for (unsigned i = 0; i < 4; i++)
		qp_post_recv(n->b, i + 1, g, 8 * i, 8);
	return g;
}

static void expect_send_imm(struct qp *q, uint64_t wr_id, uint32_t len, unsigned flags)
{
	const struct rdmap_wc *wc = qp_expect_wc(q, wr_id, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, len);

	assert_int_equal(wc->flags, RDMAP_WC_WITH_IMM | flags);
	assert_memory_equal(&wc->imm, "\x01\x02\x03\x04", 4);
}

/* One receive element and one completion, which comes with the Immediate Data. */
static void test_send_receive(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup_responder(&n);
	FEED(&n, "\x01" DUE ZERO8 "\x00\x00\x00\x01" ZERO4 "abc");
	FEED(&n, "\x41" DUE ZERO8 "\x00\x00\x00\x01\x00\x00\x00\x03"
		 "de");
	qp_expect_no_wc(n.b);
	FEED(&n, IMM("\x49", "\x02") DATA);
	expect_send_imm(n.b, 1, 5, RDMAP_WC_SOLICITED);
	assert_memory_equal(g->mem, "abcde", 5);
	FEED(&n, SEND_IMM(BEFORE, "\x01", "\x03") "f");
	assert_int_equal(qp_expect_wc(n.b, 2, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 1)->flags, 0);
	FEED(&n, WRITE_LAST STAG_TO "xyz");
	FEED(&n, IMM("\x48", "\x04") DATA); /* of a Write, as ever */
	expect_imm(n.b, 3, 3, 0);
	FEED(&n, SEND_IMM(DUE_BEFORE, "\x01", "\x05"));
	FEED(&n, IMM("\x48", "\x06") DATA);
	expect_send_imm(n.b, 4, 0, 0);
	assert_int_equal(n.b->endeds, 0);
	qp_net_done(&n);
}

/* Who has not agreed looks at no reserved bit. */
static void test_send_reserved_bits(void **state)
{
	struct qp_net n;

	setup_responder(&n);
	n.b->r.send_imm = false;
	FEED(&n, SEND_IMM(DUE_BEFORE, "\x09", "\x01") "a");
	FEED(&n, IMM("\x48", "\x02") DATA);
	qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 1);
	expect_imm(n.b, 2, 0, 0);
	qp_net_done(&n);
}

/* What is due does not come, or the count is not true: the receive that was taken is flushed. */
static void test_send_wrong(void **state)
{
	static const struct {
		const char *second;
		uint64_t flushed;
	} wrong[] = {{SEND_IMM(BEFORE, "\x01", "\x02"), 1}, {SEND_IMM(DUE, "\x00", "\x02"), 1}};
	struct qp_net n;

	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		setup_responder(&n);
		FEED(&n, SEND_IMM(DUE, "\x00", "\x01") "a");
		qp_net_feed(&n, wrong[i].second, DDP_UNTAGGED_LEN);
		qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 0, 2, 6);
		qp_expect_wc(n.b, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
		qp_net_done(&n);
	}
	setup_responder(&n);
	FEED(&n, SEND_IMM(BEFORE, "\x01", "\x01") "a"); /* there was none */
	EXPECT_TERMINATE(&n, "\x02\x06\xc0\x00\x00\x13" SEND_IMM(BEFORE, "\x01", "\x01"));
	qp_net_done(&n);
	setup_responder(&n);
	FEED(&n, SEND_IMM(DUE, "\x00", "\x01") "a");
	FEED(&n, IMM("\x48", "\x02") DATA);
	expect_send_imm(n.b, 1, 1, 0);
	FEED(&n, SEND("\x03") "b"); /* there was one */
	EXPECT_TERMINATE(&n, "\x02\x06\xc0\x00\x00\x13" SEND("\x03"));
	qp_net_done(&n);
	setup_responder(&n);
	FEED(&n, SEND_IMM(DUE, "\x00", "\x01") "a");
	FEED(&n, IMM("\x48", "\x02") DATA);
	expect_send_imm(n.b, 1, 1, 0);
	FEED(&n, SEND_IMM(BEFORE, "\x02", "\x03") "b"); /* there were not two */
	EXPECT_TERMINATE(&n, "\x02\x06\xc0\x00\x00\x13" SEND_IMM(BEFORE, "\x02", "\x03"));
	qp_net_done(&n);
}

/* No Immediate Data is due behind a Send with Invalidate, whatever it says. */
static void test_send_with_invalidate(void **state)
{
	const struct rdmap_wc *wc;
	struct qp_region *g;
	struct qp_net n;

	setup_responder(&n);
	g = qp_region_add(n.b, 5, 0, 8, REMOTE);
	FEED(&n, "\x41\x64\x00\x00\x00\x05" ZERO4 "\x00\x00\x00\x01" ZERO4 "a");
	wc = qp_expect_wc(n.b, 1, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 1);
	assert_int_equal(wc->flags, RDMAP_WC_WITH_INV);
	assert_true(g->invalid);
	FEED(&n, IMM("\x48", "\x02") DATA);
	expect_imm(n.b, 2, 0, 0);
	qp_net_done(&n);
}

/* The stream ends between the two: the message has not come. */
static void test_send_cut_off(void **state)
{
	struct qp_net n;

	setup_responder(&n);
	FEED(&n, SEND_IMM(DUE, "\x00", "\x01") "a");
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, RDMAP_LAYER_LLP, 0, MPA_ERROR_CLOSED);
	qp_expect_wc(n.b, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
	qp_net_done(&n);
}

/* Both messages wait for one receive element. */
static void test_send_waits(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup(&n);
	n.b->r.send_imm = true;
	n.b->patient = true;
	g = qp_region_add(n.b, 3, 0, 16, LOCAL);
	FEED(&n, SEND_IMM(DUE, "\x00", "\x01") "a");
	FEED(&n, IMM("\x48", "\x02") DATA);
	assert_int_equal(n.b->recv_waits, 1);
	qp_expect_no_wc(n.b);
	qp_post_recv(n.b, 7, g, 0, 16);
	rdmap_recv_posted(&n.b->r);
	qp_net_run(&n);
	expect_send_imm(n.b, 7, 1, 0);
	assert_int_equal(n.b->recv_waits, 1);
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_put),
		cmocka_unit_test(test_send_put_blocked),
		cmocka_unit_test(test_send_not_agreed),
		cmocka_unit_test(test_send_blamed),
		cmocka_unit_test(test_send_receive),
		cmocka_unit_test(test_send_reserved_bits),
		cmocka_unit_test(test_send_wrong),
		cmocka_unit_test(test_send_with_invalidate),
		cmocka_unit_test(test_send_cut_off),
		cmocka_unit_test(test_send_waits),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_put_blocked),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_write_around_messages),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_buffer_untouched),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_no_buffer),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_inside_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
