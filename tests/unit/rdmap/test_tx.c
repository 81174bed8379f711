/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#include "base/bytes.h"

#include <stdlib.h>

/* DDP and RDMAP headers as they must stand on the wire. */
#define WRITE_LAST "\xc1\x40"
#define WRITE_MORE "\x81\x40"
#define STAG_TO    "\x00\x00\xab\xcd\x00\x00\x00\x00\x00\x01\x00\x00"

static void setup(struct qp_net *n)
{
	qp_net_init(n);
	qp_net_raw_initiator(n);
}

static struct rdmap_wqe *write_wqe(struct qp *q, uint64_t wr_id, unsigned flags)
{
	struct rdmap_wqe *w = qp_wqe(q, wr_id, RDMAP_WR_WRITE, flags);

	w->remote_stag = 0xabcd;
	w->remote_to = 0x10000;
	return w;
}

static void test_write(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.a, 0x7, 0x1000, 8, LOCAL);
	memcpy(g->mem, "payload!", 8);
	qp_wqe_sge(write_wqe(n.a, 1, RDMAP_WR_SIGNALED), g, 0, 8);
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 8);
	EXPECT(&n, WRITE_LAST STAG_TO "payload!");
	qp_net_done(&n);
}

static void test_write_inline_and_empty(void **state)
{
	struct qp_net n;

	setup(&n);
	qp_wqe_inline(write_wqe(n.a, 1, 0), "abc", 3);
	qp_post(n.a);
	write_wqe(n.a, 2, RDMAP_WR_SIGNALED);
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 0);
	qp_expect_no_wc(n.a); /* the first was not signalled */
	assert_int_equal(atomic_load(&n.a->sq.tail), 2);
	EXPECT(&n, WRITE_LAST STAG_TO "abc");
	EXPECT(&n, WRITE_LAST STAG_TO);
	qp_net_done(&n);
}

/* 1448 of EMSS carry 1428 of a Write and 1424 of a Send. */
static void test_segmentation(void **state)
{
	uint8_t ulpdu[1442];
	struct qp_net n;
	struct qp_region *g;
	unsigned before;

	setup(&n);
	before = llp_mem_segments(n.mem);
	g = qp_region_add(n.a, 0x7, 0x1000, 3000, LOCAL);
	qp_wqe_sge(write_wqe(n.a, 1, RDMAP_WR_SIGNALED), g, 0, 3000);
	qp_post(n.a);
	qp_wqe_sge(qp_wqe(n.a, 2, RDMAP_WR_SEND, RDMAP_WR_SIGNALED), g, 0, 2848);
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 3000);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_SEND, 2848);
	memcpy(ulpdu, WRITE_MORE STAG_TO, 14);
	memcpy(ulpdu + 14, g->mem, 1428);
	qp_net_expect(&n, ulpdu, 1442);
	memcpy(ulpdu, WRITE_MORE "\x00\x00\xab\xcd\x00\x00\x00\x00\x00\x01\x05\x94", 14);
	memcpy(ulpdu + 14, g->mem + 1428, 1428);
	qp_net_expect(&n, ulpdu, 1442);
	memcpy(ulpdu, WRITE_LAST "\x00\x00\xab\xcd\x00\x00\x00\x00\x00\x01\x0b\x28", 14);
	memcpy(ulpdu + 14, g->mem + 2856, 144);
	qp_net_expect(&n, ulpdu, 158);
	memcpy(ulpdu, "\x01\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4, 18);
	memcpy(ulpdu + 18, g->mem, 1424);
	qp_net_expect(&n, ulpdu, 1442);
	memcpy(ulpdu, "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01\x00\x00\x05\x90", 18);
	memcpy(ulpdu + 18, g->mem + 1424, 1424);
	qp_net_expect(&n, ulpdu, 1442);
	assert_int_equal(llp_mem_segments(n.mem) - before, 5);
	qp_net_done(&n);
}

/* The path's EMSS shrinks while a message is under way: its segments do from then on. */
static void test_mulpdu_changes(void **state)
{
	static const uint32_t lengths[] = {1442, 1442, 530, 158};
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	llp_mem_set_buffer(n.mem, 2900); /* two records */
	g = qp_region_add(n.a, 0x7, 0x1000, 3516, LOCAL);
	qp_wqe_sge(write_wqe(n.a, 1, RDMAP_WR_SIGNALED), g, 0, 3516);
	qp_post(n.a);
	qp_run(n.a);
	llp_mem_set_emss(n.mem, 536);
	qp_net_run(&n);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(load_be16(n.peer.rx), lengths[i]);
		llp_mem_peer_consume(&n.peer, mpa_fpdu_len(lengths[i]));
	}
	qp_net_expect_nothing(&n);
	qp_net_done(&n);
}

/* RFC 5041 section 4.3: from 0xFFFFFFFF to 0, and on. */
static void test_msn_wraps(void **state)
{
	struct qp_net n;

	setup(&n);
	n.a->r.ddp.tx_msn[RDMAP_QN_SEND] = UINT32_MAX;
	for (unsigned i = 0; i < 3; i++) {
		qp_wqe(n.a, i, RDMAP_WR_SEND, 0);
		qp_post(n.a);
	}
	qp_run(n.a);
	EXPECT(&n, "\x41\x43" ZERO4 ZERO4 "\xff\xff\xff\xff" ZERO4);
	EXPECT(&n, "\x41\x43" ZERO4 ZERO4 ZERO4 ZERO4);
	EXPECT(&n, "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4);
	qp_net_done(&n);
}

static void test_send_opcodes(void **state)
{
	struct qp_net n;

	setup(&n);
	qp_wqe_inline(qp_wqe(n.a, 1, RDMAP_WR_SEND, 0), "1", 1);
	qp_post(n.a);
	qp_wqe_inline(qp_wqe(n.a, 2, RDMAP_WR_SEND, RDMAP_WR_SOLICITED), "2", 1);
	qp_post(n.a);
	qp_wqe(n.a, 3, RDMAP_WR_SEND_INV, 0)->inv_stag = 0x11223344;
	qp_post(n.a);
	qp_wqe(n.a, 4, RDMAP_WR_SEND_INV, RDMAP_WR_SOLICITED)->inv_stag = 0x11223344;
	qp_post(n.a);
	qp_run(n.a);
	EXPECT(&n, "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4 "1");
	EXPECT(&n, "\x41\x45" ZERO4 ZERO4 "\x00\x00\x00\x02" ZERO4 "2");
	EXPECT(&n, "\x41\x44\x11\x22\x33\x44" ZERO4 "\x00\x00\x00\x03" ZERO4);
	EXPECT(&n, "\x41\x46\x11\x22\x33\x44" ZERO4 "\x00\x00\x00\x04" ZERO4);
	qp_net_done(&n);
}

static void test_read_request(void **state)
{
	struct qp_net n;
	struct rdmap_wqe *w;

	setup(&n);
	w = qp_wqe(n.a, 1, RDMAP_WR_READ, RDMAP_WR_SIGNALED);
	qp_wqe_sge(w, qp_region_add(n.a, 0x7, 0x1000, 64, LOCAL), 16, 32);
	w->remote_stag = 0xabcd;
	w->remote_to = 0x10000;
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_no_wc(n.a);
	EXPECT(&n, "\x41\x41" ZERO4 "\x00\x00\x00\x01\x00\x00\x00\x01" ZERO4
		   "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x10\x10\x00\x00\x00\x20" STAG_TO);
	qp_net_done(&n);
}

/* Small FPDUs that are posted together share one segment. */
static void test_join(void **state)
{
	struct qp_net n;
	unsigned before;

	setup(&n);
	before = llp_mem_segments(n.mem);
	for (unsigned i = 0; i < 50; i++) {
		qp_wqe_inline(write_wqe(n.a, i, 0), "12345678", 8);
		qp_post(n.a);
	}
	qp_run(n.a);
	qp_net_run(&n);
	assert_int_equal(llp_mem_segments(n.mem) - before, 1);
	assert_int_equal(n.peer.rx_len, 50 * 28);
	qp_net_done(&n);
}

static void post_read(struct qp *q, uint64_t wr_id, const struct qp_region *g)
{
	struct rdmap_wqe *w = qp_wqe(q, wr_id, RDMAP_WR_READ, RDMAP_WR_SIGNALED);

	qp_wqe_sge(w, g, 0, 4);
	w->remote_stag = 0xabcd;
	qp_post(q);
}

#define READ_REQUEST(msn)                                                  \
	"\x41\x41" ZERO4 "\x00\x00\x00\x01\x00\x00\x00" msn ZERO4          \
	"\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x04" \
	"\x00\x00\xab\xcd\x00\x00\x00\x00\x00\x00\x00\x00"
#define RESPONSE                                                   \
	"\xc1\x42\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x10\x00" \
	"data"

/* Never more Reads than the ORD; what is behind them waits, for it is one queue. */
static void test_ord(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	qp_net_init(&n);
	n.a->ord = 2;
	qp_net_raw_initiator(&n);
	g = qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL);
	for (unsigned i = 1; i <= 3; i++)
		post_read(n.a, i, g);
	qp_wqe_inline(write_wqe(n.a, 4, RDMAP_WR_SIGNALED), "x", 1);
	qp_post(n.a);
	qp_run(n.a);
	EXPECT(&n, READ_REQUEST("\x01"));
	EXPECT(&n, READ_REQUEST("\x02"));
	qp_net_expect_nothing(&n);
	FEED(&n, RESPONSE);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	EXPECT(&n, READ_REQUEST("\x03"));
	EXPECT(&n, WRITE_LAST STAG_TO "x");
	qp_expect_no_wc(n.a); /* the Write is done, but Reads before it are not */
	FEED(&n, RESPONSE);
	FEED(&n, RESPONSE);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	qp_expect_wc(n.a, 3, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	qp_expect_wc(n.a, 4, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_net_done(&n);
}

static void test_fence(void **state)
{
	struct qp_net n;

	setup(&n);
	post_read(n.a, 1, qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL));
	qp_wqe_inline(write_wqe(n.a, 2, RDMAP_WR_SIGNALED | RDMAP_WR_FENCE), "x", 1);
	qp_post(n.a);
	qp_run(n.a);
	EXPECT(&n, READ_REQUEST("\x01"));
	qp_net_expect_nothing(&n);
	FEED(&n, RESPONSE);
	EXPECT(&n, WRITE_LAST STAG_TO "x");
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
	qp_net_done(&n);
}

static void test_local_operations(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	g = qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL);
	qp_wqe(n.a, 1, RDMAP_WR_BIND_MW, RDMAP_WR_SIGNALED);
	qp_post(n.a);
	qp_wqe(n.a, 2, RDMAP_WR_LOCAL_INV, RDMAP_WR_SIGNALED)->inv_stag = 0x7;
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_BIND_MW, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_LOCAL_INV, 0);
	assert_int_equal(n.a->local_ops, 1);
	assert_true(g->invalid);
	qp_net_expect_nothing(&n);
	qp_net_done(&n);
}

/* ---- errors of our own: Terminate "local catastrophic", no header (RFC 5040 section 7.1) ---- */

static void expect_local_error(struct qp_net *n, enum rdmap_wc_status status, enum rdmap_wc_op op)
{
	qp_wqe_inline(write_wqe(n->a, 99, 0), "never", 5);
	qp_post(n->a);
	qp_run(n->a);
	qp_expect_wc(n->a, 1, status, op, 0);
	qp_expect_wc(n->a, 99, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_expect_no_wc(n->a);
	EXPECT_TERMINATE(n, "\x00\x00\x00\x00");
	qp_expect_end(n->a, RDMAP_END_TERMINATE_TX, 0, 0, 0, 0);
	qp_net_done(n);
}

static void test_local_errors(void **state)
{
	struct qp_net n;
	struct qp_region *g;
	struct rdmap_wqe *w;

	setup(&n); /* source out of bounds */
	g = qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL);
	qp_wqe_sge(write_wqe(n.a, 1, 0), g, 1, 4);
	qp_post(n.a);
	expect_local_error(&n, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_WRITE);

	setup(&n); /* sink not writable */
	g = qp_region_add(n.a, 0x7, 0x1000, 4, 0);
	post_read(n.a, 1, g);
	expect_local_error(&n, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_READ);

	qp_net_init(&n); /* ORD 0 */
	n.a->ord = 0;
	qp_net_raw_initiator(&n);
	post_read(n.a, 1, qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL));
	expect_local_error(&n, RDMAP_WC_LOC_QP_OP_ERR, RDMAP_WC_READ);

	setup(&n); /* longer than 2^31 - 1 */
	g = qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL);
	w = write_wqe(n.a, 1, 0);
	qp_wqe_sge(w, g, 0, UINT32_C(0x80000000));
	qp_post(n.a);
	expect_local_error(&n, RDMAP_WC_LOC_LEN_ERR, RDMAP_WC_WRITE);

	setup(&n); /* no such STag */
	qp_wqe(n.a, 1, RDMAP_WR_LOCAL_INV, 0)->inv_stag = 0x55;
	qp_post(n.a);
	expect_local_error(&n, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_LOCAL_INV);

	setup(&n);
	n.a->local_op_status = RDMAP_WC_MW_BIND_ERR;
	qp_wqe(n.a, 1, RDMAP_WR_BIND_MW, 0);
	qp_post(n.a);
	expect_local_error(&n, RDMAP_WC_MW_BIND_ERR, RDMAP_WC_BIND_MW);

	setup(&n);
	qp_wqe(n.a, 1, RDMAP_WR_OPS, 0);
	qp_post(n.a);
	expect_local_error(&n, RDMAP_WC_LOC_QP_OP_ERR, RDMAP_WC_SEND);

	setup(&n); /* the list is shorter than the length says */
	g = qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL);
	w = write_wqe(n.a, 1, 0);
	qp_wqe_sge(w, g, 0, 4);
	w->length = 5;
	qp_post(n.a);
	expect_local_error(&n, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_WRITE);
}

/* ---- RTR frames (RFC 6581 section 9.2), as siw sends them ------------------------------------ */

/* Also without room for it at first, and if our direction is to close meanwhile. */
static void test_rtr(void **state)
{
	static const struct {
		uint8_t rtr;
		const char *frame;
		size_t len;
	} t[] = {
		{MPA_RTR_WRITE, "\xc1\x40\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", 14},
		{MPA_RTR_SEND, "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4, 18},
		{MPA_RTR_READ,
			"\x41\x41" ZERO4
			"\x00\x00\x00\x01\x00\x00\x00\x01" ZERO4 ZERO4 ZERO4 ZERO4 ZERO4
			"\x00\x00\x00\x01" ZERO4 ZERO4,
			46},
	};

	for (unsigned i = 0; i < 6; i++) {
		struct qp_net n;

		qp_net_init(&n);
		n.full = i >= 3;
		n.a->rtr = t[i % 3].rtr;
		qp_wqe_inline(write_wqe(n.a, 1, RDMAP_WR_SIGNALED), "x", 1); /* before the start */
		qp_post(n.a);
		qp_net_raw_initiator(&n);
		if (n.full) {
			qp_expect_no_wc(n.a);
			rdmap_close(&n.a->r);
			qp_net_drain(&n, n.a);
		}
		qp_net_expect(&n, t[i % 3].frame, t[i % 3].len);
		EXPECT(&n, WRITE_LAST STAG_TO "x");
		qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 1);
		qp_expect_no_wc(n.a);
		assert_int_equal(n.peer.eof, n.full);
		qp_net_done(&n);
	}
}

/* MSNs go on behind the RTR frame; its response is not told to the program. */
static void test_rtr_read_response(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.a->rtr = MPA_RTR_READ;
	n.a->ord = 1;
	qp_net_raw_initiator(&n);
	llp_mem_peer_consume(&n.peer, n.peer.rx_len);
	post_read(n.a, 1, qp_region_add(n.a, 0x7, 0x1000, 4, LOCAL));
	qp_run(n.a);
	qp_net_expect_nothing(&n); /* the ORD is used up by the RTR Read */
	FEED(&n, "\xc1\x42" ZERO4 ZERO4 ZERO4);
	EXPECT(&n, READ_REQUEST("\x02"));
	FEED(&n, RESPONSE);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* ---- a doorbell inside an upcall ------------------------------------------------------------- */

static void post_and_ring(struct qp *q, const struct rdmap_wc *wc)
{
	if (wc->wr_id == 1) {
		write_wqe(q, 2, RDMAP_WR_SIGNALED);
		qp_post(q);
	}
	qp_run(q);
}

/* Who is sending goes on with what was posted meanwhile, in its turn. */
static void test_doorbell_in_an_upcall(void **state)
{
	struct qp_net n;

	setup(&n);
	n.a->on_complete = post_and_ring;
	qp_wqe_inline(write_wqe(n.a, 1, RDMAP_WR_SIGNALED), "abc", 3);
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 3);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 0);
	qp_expect_no_wc(n.a);
	EXPECT(&n, WRITE_LAST STAG_TO "abc");
	EXPECT(&n, WRITE_LAST STAG_TO);
	qp_net_expect_nothing(&n);
	qp_net_done(&n);
}

/* ---- a full send buffer ---------------------------------------------------------------------- */

static void test_no_room(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup(&n);
	llp_mem_set_buffer(n.mem, 4000);
	g = qp_region_add(n.a, 0x7, 0x1000, 100000, LOCAL);
	qp_wqe_sge(write_wqe(n.a, 1, RDMAP_WR_SIGNALED), g, 0, 100000);
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_no_wc(n.a);
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 100000);
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_write_inline_and_empty),
		cmocka_unit_test(test_segmentation),
		cmocka_unit_test(test_mulpdu_changes),
		cmocka_unit_test(test_msn_wraps),
		cmocka_unit_test(test_send_opcodes),
		cmocka_unit_test(test_read_request),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_ord),
		cmocka_unit_test(test_fence),
		cmocka_unit_test(test_local_operations),
		cmocka_unit_test(test_local_errors),
		cmocka_unit_test(test_rtr),
		cmocka_unit_test(test_rtr_read_response),
		cmocka_unit_test(test_doorbell_in_an_upcall),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
