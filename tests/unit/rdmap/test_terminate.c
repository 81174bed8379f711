/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdmap/rdmap_priv.h"
#include "rdmap/term_code.h"

#include "qp.h"

#include <errno.h>
#include <stdlib.h>

#define TERMINATE                    "\x41\x47" ZERO4 "\x00\x00\x00\x02\x00\x00\x00\x01" ZERO4
#define QUOTE(type_code, hdrct, len) type_code hdrct "\x00\x00" len
#define READ_REQUEST(msn)            "\x41\x41" ZERO4 "\x00\x00\x00\x01\x00\x00\x00" msn ZERO4

/* ---- building -------------------------------------------------------------------------------- */

static void test_build_bare(void **state)
{
	struct rdmap_error e = {.layer = RDMAP_LAYER_LLP, .etype = 0, .code = MPA_ERROR_CRC};
	uint8_t out[RDMAP_TERM_MAX];

	assert_int_equal(rdmap_terminate_build(&e, out), 4);
	assert_memory_equal(out, "\x20\x02\x00\x00", 4);
}

static void test_build_tagged(void **state)
{
	static const uint8_t segment[] =
		"\xc1\x40\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x20\x00xyz";
	const struct llp_iov v = {.base = segment, .len = 17};
	const struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = 17};
	struct rdmap_error e = {.layer = RDMAP_LAYER_DDP, .etype = 1, .code = 3};
	uint8_t out[RDMAP_TERM_MAX];
	struct ddp_segment s;

	assert_int_equal(ddp_parse(&s, &u), DDP_OK);
	e.segment = &s;
	assert_int_equal(rdmap_terminate_build(&e, out), 20);
	assert_memory_equal(out, QUOTE("\x11\x03", "\xc0", "\x11"), 6);
	assert_memory_equal(out + 6, segment, 14);
}

static void test_build_read(void **state)
{
	struct rdmap_error e = {.layer = RDMAP_LAYER_RDMA, .etype = 1, .code = 1};
	uint8_t out[RDMAP_TERM_MAX], header[RDMAP_READ_HEADER_LEN];

	memset(header, 0xab, sizeof header);
	e.request_opcode = RDMAP_OP_READ_REQUEST;
	e.request_msn = 5;
	e.read_header = header;
	assert_int_equal(rdmap_terminate_build(&e, out), RDMAP_TERM_MAX);
	assert_memory_equal(out, QUOTE("\x01\x01", "\xe0", "\x2e"), 6);
	assert_memory_equal(out + 6, READ_REQUEST("\x05"), 18);
	assert_memory_equal(out + 24, header, sizeof header);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void test_send_local(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	rdmap_terminate(&n.a->r, RDMAP_LAYER_LLP, RDMAP_ETYPE_MPA, MPA_ERROR_INSUFFICIENT_IRD);
	EXPECT_TERMINATE(&n, "\x20\x06\x00\x00");
	qp_expect_end(n.a, RDMAP_END_TERMINATE_TX, 0, 2, 0, 6);
	rdmap_terminate(&n.a->r, 0, 0, 0); /* the first is the one */
	qp_net_expect_nothing(&n);
	assert_int_equal(n.a->endeds, 1);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	assert_null(n.a->r.mpa); /* the LLP has closed; nobody is told */
	assert_int_equal(n.a->endeds, 1);
	qp_net_done(&n);
}

static void test_send_crc_error(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->config.crc = true;
	qp_net_connect(&n);
	qp_wqe_inline(qp_wqe(n.a, 1, RDMAP_WR_WRITE, 0), "x", 1);
	rdmap_sq_at(&n.a->sq, 0)->length = 0; /* an empty Write opens b's direction */
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	assert_int_equal(n.b->operationals, 1);
	llp_mem_send_raw(n.a->m->llp, "\x00\x02zz\x12\x34\x56\x78", 8);
	qp_net_run(&n);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 2, 0, 2);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 2, 0, 2);
	qp_net_done(&n);
}

/* The first FPDU is bad: the responder, silent up to here, says why, and no other word. */
static void test_send_for_the_first_fpdu(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.crc = true;
	qp_net_raw_responder(&n);
	qp_wqe_inline(qp_wqe(n.b, 1, RDMAP_WR_SEND, 0), "abcd", 4);
	qp_post(n.b);
	llp_mem_send_raw(n.peer.llp, "\x00\x02zz\x12\x34\x56\x78", 8);
	EXPECT_TERMINATE(&n, "\x20\x02\x00\x00");
	assert_int_equal(n.b->operationals, 0);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CRC);
	qp_expect_wc(n.b, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_SEND, 0);
	qp_net_done(&n);
}

/* The same where it ends in its middle. */
static void test_send_for_a_cut_first_fpdu(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_responder(&n);
	llp_mem_send_raw(n.peer.llp, "\x00\x02z", 3);
	llp_shutdown(n.peer.llp);
	EXPECT_TERMINATE(&n, "\x20\x01\x00\x00");
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CLOSED);
	qp_net_done(&n);
}

/* Before there is any FPDU a responder may not send one: it only closes. */
static void test_send_before_operational(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_responder(&n);
	rdmap_terminate(&n.b->r, 0, 0, 0);
	qp_net_expect_nothing(&n);
	assert_true(n.peer.eof);
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 0, 0, 0);
	qp_net_done(&n);
}

/* No room in the LLP: the Terminate goes out when there is. */
static void test_send_waits(void **state)
{
	struct qp_net n;
	struct rdmap_wqe *w;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	llp_mem_set_buffer(n.mem, 1);
	w = qp_wqe(n.a, 1, RDMAP_WR_WRITE, 0);
	qp_wqe_inline(w, "x", 1);
	qp_post(n.a);
	qp_run(n.a);
	rdmap_terminate(&n.a->r, 0, 0, 0);
	assert_int_equal(n.a->endeds, 1);
	assert_true(rdmap_terminate_waits(&n.a->r));
	qp_net_run(&n);
	assert_false(rdmap_terminate_waits(&n.a->r));
	llp_mem_peer_consume(&n.peer, mpa_fpdu_len(15));
	EXPECT_TERMINATE(&n, ZERO4);
	qp_net_done(&n);
}

/* Our direction is closed already: nothing can be sent, and nothing waits. */
static void test_send_after_close(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	rdmap_close(&n.a->r);
	rdmap_terminate(&n.a->r, 0, 0, 0);
	assert_int_equal(n.a->endeds, 1);
	assert_false(rdmap_terminate_waits(&n.a->r));
	qp_net_expect_nothing(&n);
	qp_net_done(&n);
}

/* The LLP has an end to tell of when it is asked for the rest of what came. */
static void test_send_on_what_is_over(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	llp_mem_fail(mpa_llp(n.a->m), -ECONNRESET);
	rdmap_terminate(&n.a->r, 0, 0, 0);
	qp_expect_end(n.a, RDMAP_END_LOST, -ECONNRESET, 0, 0, 0);
	assert_null(n.a->r.mpa);
	assert_false(rdmap_terminate_waits(&n.a->r));
	qp_net_done(&n);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static struct qp_region *post_three(struct qp_net *n)
{
	struct qp_region *g;

	qp_net_init(n);
	qp_net_raw_initiator(n);
	g = qp_region_add(n->a, 7, 0, 16, LOCAL);
	for (unsigned i = 1; i <= 2; i++) {
		struct rdmap_wqe *w = qp_wqe(n->a, i, RDMAP_WR_READ, 0);

		qp_wqe_sge(w, g, 0, 4);
		qp_post(n->a);
	}
	return g;
}

static void test_receive_names_read(void **state)
{
	struct qp_net n;

	post_three(&n);
	qp_run(n.a);
	FEED(&n, TERMINATE QUOTE("\x01\x02", "\xe0", "\x2e") READ_REQUEST("\x02")
			 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 0, 1, 2);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_REM_ACCESS_ERR, RDMAP_WC_READ, 0);
	qp_expect_no_wc(n.a);
	qp_net_run(&n);
	assert_true(n.peer.eof);
	qp_net_done(&n);
}

#define QUOTED_WRITE(control, to) control "\x40\x00\x00\xab\xcd\x00\x00\x00\x00\x00\x00" to

/* A Write of @p len bytes to TO 0x1000, then the Terminate. */
static void names_write(uint32_t len, const char *terminate, enum rdmap_wc_status status)
{
	static const uint8_t text[300];
	struct rdmap_wqe *w;
	struct qp_net n;

	post_three(&n);
	llp_mem_set_emss(n.mem, 128);
	w = qp_wqe(n.a, 3, RDMAP_WR_WRITE, 0);
	qp_wqe_inline(w, text, len);
	w->remote_stag = 0xabcd;
	w->remote_to = 0x1000;
	qp_post(n.a);
	qp_run(n.a);
	qp_net_feed(&n, terminate, 18 + 6 + 14);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 3, status, RDMAP_WC_WRITE, 0);
	qp_net_done(&n);
}

/* A Write that waits behind Reads can still be blamed, for a segment that is its own. */
static void test_receive_names_write(void **state)
{
	static const struct {
		const char *terminate;
		enum rdmap_wc_status status;
	} t[] = {
#define WRITE(hdrct, len, control, to, status) \
	{TERMINATE QUOTE("\x11\x01", hdrct, len) QUOTED_WRITE(control, to), status}
		WRITE("\xc0", "\x12", "\xc1", "\x10\x00", RDMAP_WC_REM_ACCESS_ERR),
		/* as Linux siw counts */
		WRITE("\xc0", "\x04", "\xc1", "\x10\x00", RDMAP_WC_REM_ACCESS_ERR),
		/* the length is not told */
		WRITE("\x40", "\x00", "\xc1", "\x10\x03", RDMAP_WC_REM_ACCESS_ERR),
		/* of one that has completed and overlaps: beyond it, to within it, from before it
		 */
		WRITE("\xc0", "\x16", "\xc1", "\x10\x02", RDMAP_WC_WR_FLUSH_ERR),
		WRITE("\xc0", "\x10", "\xc1", "\x10\x00", RDMAP_WC_WR_FLUSH_ERR),
		WRITE("\xc0", "\x12", "\xc1", "\x0f\xfe", RDMAP_WC_WR_FLUSH_ERR),
		/* to its end, behind a segment that would not have been full */
		WRITE("\xc0", "\x11", "\xc1", "\x10\x01", RDMAP_WC_WR_FLUSH_ERR),
		/* shorter than it, and than any header */
		WRITE("\xc0", "\x03", "\xc1", "\x10\x00", RDMAP_WC_WR_FLUSH_ERR),
		/* parts of it, which is too short to be cut */
		WRITE("\xc0", "\x11", "\x81", "\x10\x00", RDMAP_WC_WR_FLUSH_ERR),
		WRITE("\xc0", "\x10", "\xc1", "\x10\x02", RDMAP_WC_WR_FLUSH_ERR),
		/* it would have to go on, and has no more */
		WRITE("\xc0", "\x12", "\x81", "\x10\x00", RDMAP_WC_WR_FLUSH_ERR),
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++)
		names_write(4, t[i].terminate, t[i].status);
}

/* One of 300 bytes in segments of 114, but the last. */
static void test_receive_names_segment(void **state)
{
	static const struct {
		const char *terminate;
		enum rdmap_wc_status status;
	} t[] = {
		WRITE("\xc0", "\x80", "\x81", "\x10\x00", RDMAP_WC_REM_ACCESS_ERR),
		WRITE("\xc0", "\x80", "\x81", "\x10\x72", RDMAP_WC_REM_ACCESS_ERR),
		WRITE("\xc0", "\x56", "\xc1", "\x10\xe4", RDMAP_WC_REM_ACCESS_ERR),
		/* not full, though another would follow */
		WRITE("\xc0", "\x7f", "\x81", "\x10\x72", RDMAP_WC_WR_FLUSH_ERR),
		/* behind one that is not full */
		WRITE("\xc0", "\x80", "\x81", "\x10\x71", RDMAP_WC_WR_FLUSH_ERR),
#undef WRITE
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++)
		names_write(300, t[i].terminate, t[i].status);
}

static void names_send(enum rdmap_wr_op op, const char *type_code, enum rdmap_wc_status status)
{
	uint8_t b[18 + 6 + 18];
	struct qp_net n;

	post_three(&n);
	qp_wqe_inline(qp_wqe(n.a, 3, RDMAP_WR_SEND, 0), "abcd", 4);
	qp_post(n.a);
	qp_wqe_inline(qp_wqe(n.a, 4, op, RDMAP_WR_SIGNALED), "abcd", 4);
	qp_post(n.a);
	qp_run(n.a);
	memcpy(b, TERMINATE, 18);
	memcpy(b + 18, QUOTE("xx", "\xc0", "\x16"), 6);
	memcpy(b + 18, type_code, 2);
	memcpy(b + 24, "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x02" ZERO4, 18);
	qp_net_feed(&n, b, sizeof b);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	/* The Terminate does not say what became of it: it stood behind Reads that failed. */
	qp_expect_wc(n.a, 3, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_SEND, 0);
	qp_expect_wc(n.a, 4, status, RDMAP_WC_SEND, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

static void test_receive_names_send(void **state)
{
	static const enum rdmap_wr_op ops[] = {RDMAP_WR_SEND, RDMAP_WR_SEND_INV};

	for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		names_send(ops[i], "\x12\x05", RDMAP_WC_REM_INV_REQ_ERR);
		names_send(ops[i], "\x12\x02", RDMAP_WC_REM_OP_ERR);
		names_send(ops[i], "\x02\x06", RDMAP_WC_REM_OP_ERR);
		names_send(ops[i], "\x01\x09", RDMAP_WC_REM_INV_REQ_ERR);
	}
}

/* At once, while the LLP has no room. */
static void receive_ulpdu(struct qp *q, const char *ulpdu, size_t len)
{
	const struct llp_iov v = {.base = (const uint8_t *)ulpdu, .len = len};
	const struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = (uint32_t)len};

	q->m->ops->ulpdu(q->m->user, &u);
}

/* A request that waits for room in the LLP looks like the one before it, which has completed. */
static void names_unsent(enum rdmap_wr_op op, const char *quoted, size_t len)
{
	enum rdmap_wr_op first = op == RDMAP_WR_WRITE ? RDMAP_WR_WRITE : RDMAP_WR_SEND;
	struct rdmap_wqe *w;
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	n.a->r.send_imm = true;
	llp_mem_set_buffer(n.mem, 1);
	for (unsigned i = 1; i <= 2; i++) {
		w = qp_wqe(n.a, i, i == 1 ? first : op, RDMAP_WR_SIGNALED);
		qp_wqe_inline(w, "abcd", 4);
		w->remote_stag = 0xabcd;
		w->remote_to = 0x1000;
		qp_post(n.a);
	}
	qp_run(n.a);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, first == op ? RDMAP_WC_WRITE : RDMAP_WC_SEND, 4);
	qp_expect_no_wc(n.a);
	receive_ulpdu(n.a, quoted, len);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 0, 1, 1);
	qp_expect_wc(
		n.a, 2, RDMAP_WC_WR_FLUSH_ERR, first == op ? RDMAP_WC_WRITE : RDMAP_WC_SEND, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

static void test_receive_names_what_was_not_sent(void **state)
{
	static const char write[] =
		TERMINATE QUOTE("\x01\x01", "\xc0", "\x12") QUOTED_WRITE("\xc1", "\x10\x00");
	static const char send[] = TERMINATE QUOTE(
		"\x01\x01", "\xc0", "\x16") "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4;

	names_unsent(RDMAP_WR_WRITE, write, sizeof write - 1);
	names_unsent(RDMAP_WR_SEND_IMM, send, sizeof send - 1);
}

/* Of one whose Immediate Data waits, the peer has seen the Send, however long that is. */
static void names_begun(uint32_t len)
{
	static const char send[] = TERMINATE QUOTE(
		"\x01\x01", "\xc0", "\x16") "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4;
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	n.a->r.send_imm = true;
	llp_mem_set_buffer(n.mem, 1);
	qp_wqe_inline(qp_wqe(n.a, 1, RDMAP_WR_SEND_IMM, RDMAP_WR_SIGNALED), "abcd", len);
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_no_wc(n.a);
	receive_ulpdu(n.a, send, sizeof send - 1);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 0, 1, 1);
	qp_expect_wc(n.a, 1, RDMAP_WC_REM_ACCESS_ERR, RDMAP_WC_SEND, 0);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

static void test_receive_names_what_has_begun(void **state)
{
	names_begun(4);
	names_begun(0);
}

/* The 13 reserved bits are ignored (RFC 5040 section 4.8). */
static void test_receive_reserved(void **state)
{
	struct qp_net n;

	post_three(&n);
	qp_run(n.a);
	FEED(&n, TERMINATE "\x01\x02\xff\xff\x00\x2e" READ_REQUEST("\x02")
			 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 0, 1, 2);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_REM_ACCESS_ERR, RDMAP_WC_READ, 0);
	qp_net_done(&n);
}

/* Odd ones end the stream all the same. */
static void test_receive_odd(void **state)
{
	static const struct {
		const char *header;
		size_t len;
		unsigned layer, etype, code;
	} t[] = {
		{"", 0, 0, 2, 0xff},
		{"\x11\x00\xc0", 3, 0, 2, 0xff},
		{"\x11\x00\xc0\x00", 4, 1, 1, 0},
		{"\x11\x00\xc0\x00\x00", 5, 1, 1, 0},
		{"\x11\x00\xc0\x00\x00\x2e\x41\x41", 8, 1, 1, 0},
		{"\x11\x00\xc0\x00\x00\x2e\x41\x41" ZERO4 ZERO4 ZERO4, 20, 1, 1, 0},
		{"\xff\xff\x00\x00", 4, 15, 15, 255},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		uint8_t b[18 + 32] = TERMINATE;
		struct qp_net n;

		post_three(&n);
		qp_run(n.a);
		memcpy(b + 18, t[i].header, t[i].len);
		qp_net_feed(&n, b, 18 + t[i].len);
		qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, t[i].layer, t[i].etype, t[i].code);
		qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
		qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
		qp_net_done(&n);
	}
}

/* What the user sees of each code: the status of the request that the peer names. */
static enum rdmap_wc_status expected(const struct rdmap_term_code *c)
{
	static const struct {
		uint8_t layer, etype, code;
		enum rdmap_wc_status status;
	} special[] = {
		{0, 1, 0x00, RDMAP_WC_REM_ACCESS_ERR},
		{0, 1, 0x01, RDMAP_WC_REM_ACCESS_ERR},
		{0, 1, 0x02, RDMAP_WC_REM_ACCESS_ERR},
		{0, 1, 0x03, RDMAP_WC_REM_ACCESS_ERR},
		{0, 1, 0x04, RDMAP_WC_REM_ACCESS_ERR},
		{0, 1, 0x09, RDMAP_WC_REM_INV_REQ_ERR},
		{0, 1, 0xff, RDMAP_WC_REM_ACCESS_ERR},
		{0, 2, 0x09, RDMAP_WC_REM_INV_REQ_ERR},
		{1, 1, 0x00, RDMAP_WC_REM_ACCESS_ERR},
		{1, 1, 0x01, RDMAP_WC_REM_ACCESS_ERR},
		{1, 1, 0x02, RDMAP_WC_REM_ACCESS_ERR},
		{1, 1, 0x03, RDMAP_WC_REM_ACCESS_ERR},
		{1, 1, 0x04, RDMAP_WC_REM_ACCESS_ERR},
		{1, 2, 0x05, RDMAP_WC_REM_INV_REQ_ERR},
	};

	for (unsigned i = 0; i < sizeof special / sizeof special[0]; i++)
		if (special[i].layer == c->layer && special[i].etype == c->etype &&
			special[i].code == c->code)
			return special[i].status;
	return RDMAP_WC_REM_OP_ERR;
}

/* RFC 5044 section 8: the other side closed in the middle, by layer, type and code alone. */
static void test_cut_off(void **state)
{
	static const struct {
		const char *terminate;
		bool cut_off;
	} t[] = {
		{TERMINATE "\x20\x01\x00\x00", true},
		{TERMINATE "\x20\x02\x00\x00", false},
		{TERMINATE "\x23\x01\x00\x00", false}, /* of a type that no LLP has */
		{TERMINATE "\x11\x01\x00\x00", false},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct qp_net n;

		qp_net_init(&n);
		qp_net_raw_initiator(&n);
		qp_net_feed(&n, t[i].terminate, sizeof TERMINATE - 1 + 4);
		assert_int_equal(n.a->end.kind, RDMAP_END_TERMINATE_RX);
		assert_int_equal(n.a->end.layer, t[i].terminate[18] >> 4);
		assert_int_equal(n.a->end.etype, t[i].terminate[18] & 15);
		assert_int_equal(rdmap_end_is_cut_off(&n.a->end), t[i].cut_off);
		qp_net_done(&n);
	}
}

static void receive(const struct rdmap_term_code *c, bool swapped)
{
	uint8_t b[18 + 6 + 18];
	struct qp_net n;

	post_three(&n);
	qp_run(n.a);
	memcpy(b, TERMINATE, 18);
	memcpy(b + 18, QUOTE("xx", "\xc0", "\x2e") READ_REQUEST("\x01"), 24);
	b[18] = (uint8_t)(swapped ? c->etype << 4 | c->layer : c->layer << 4 | c->etype);
	b[19] = c->code;
	if (swapped)
		b[20] = 0x03;
	qp_net_feed(&n, b, sizeof b);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, c->layer, c->etype, c->code);
	assert_int_equal(n.a->end.swapped, swapped);
	qp_expect_wc(n.a, 1, expected(c), RDMAP_WC_READ, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_net_done(&n);
}

/* Written as the RFC says, and as siw does. MPA's start-up errors do not come to an initiator. */
static void test_receive_all(void **state)
{
	for (size_t i = 0; i < rdmap_term_codes_count; i++) {
		const struct rdmap_term_code *c = &rdmap_term_codes[i];

		if (c->layer == RDMAP_LAYER_LLP && c->code >= MPA_ERROR_CATASTROPHIC)
			continue;
		receive(c, false);
		receive(c, true);
	}
}

/* RFC 6581 section 8: from an initiator that cannot go on; it is its first message. */
static void test_receive_startup(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_responder(&n);
	FEED(&n, TERMINATE "\x20\x06\x00\x00");
	qp_expect_end(n.b, RDMAP_END_TERMINATE_RX, 0, 2, 0, 6);
	assert_false(n.b->end.swapped);
	assert_int_equal(n.b->operationals, 0);
	qp_net_done(&n);

	/* A bad one is answered, but opens nothing either. */
	qp_net_init(&n);
	qp_net_raw_responder(&n);
	FEED(&n, "\x41\x47" ZERO4 "\x00\x00\x00\x02\x00\x00\x00\x02" ZERO4 "\x20\x06\x00\x00");
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 1, 2, 3);
	assert_int_equal(n.b->operationals, 0);
	qp_net_done(&n);

	/* Later it is siw's way to say "unexpected opcode". */
	qp_net_init(&n);
	qp_net_raw_responder(&n);
	FEED(&n, "\xc1\x40" ZERO4 ZERO4 ZERO4);
	assert_int_equal(n.b->operationals, 1);
	FEED(&n, TERMINATE "\x20\x06\x00\x00");
	qp_expect_end(n.b, RDMAP_END_TERMINATE_RX, 0, 0, 2, 6);
	assert_true(n.b->end.swapped);
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_bare),
		cmocka_unit_test(test_build_tagged),
		cmocka_unit_test(test_build_read),
		cmocka_unit_test(test_send_local),
		cmocka_unit_test(test_send_crc_error),
		cmocka_unit_test(test_send_for_the_first_fpdu),
		cmocka_unit_test(test_send_for_a_cut_first_fpdu),
		cmocka_unit_test(test_send_before_operational),
		cmocka_unit_test(test_send_waits),
		cmocka_unit_test(test_send_after_close),
		cmocka_unit_test(test_send_on_what_is_over),
		cmocka_unit_test(test_receive_names_read),
		cmocka_unit_test(test_receive_names_write),
		cmocka_unit_test(test_receive_names_segment),
		cmocka_unit_test(test_receive_names_send),
		cmocka_unit_test(test_receive_names_what_was_not_sent),
		cmocka_unit_test(test_receive_names_what_has_begun),
		cmocka_unit_test(test_receive_reserved),
		cmocka_unit_test(test_receive_odd),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_receive_all),
		cmocka_unit_test(test_receive_startup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
