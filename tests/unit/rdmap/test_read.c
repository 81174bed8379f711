/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#include <errno.h>
#include <stdlib.h>

/* A Read Request's DDP header, then sink STag 0x77 at 0x3000, size, source STag 9 at 0x2000. */
#define HEADER(msn)           "\x41\x41" ZERO4 QN1 MSN(msn) ZERO4
#define BODY(size, src)       "\x00\x00\x00\x77\x00\x00\x00\x00\x00\x00\x30\x00\x00\x00\x00" size src
#define SRC9                  "\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x20\x00"
#define REQUEST(msn, size)    HEADER(msn) BODY(size, SRC9)
#define RESPONSE(control, lo) control "\x42\x00\x00\x00\x77\x00\x00\x00\x00\x00\x00\x30" lo

/* ---- Data Source: we answer ------------------------------------------------------------------ */

static void setup_source(struct qp_net *n)
{
	qp_net_init(n);
	n->b->rtr = 0;
	n->b->ird = 2;
	qp_net_raw_responder(n);
	memcpy(qp_region_add(n->b, 9, 0x2000, 16, REMOTE)->mem, "0123456789abcdef", 16);
	qp_region_add(n->b, 10, 0x2000, 16, LOCAL);
	qp_region_add(n->b, 11, 0x2000, 16, REMOTE)->foreign = true;
}

static void test_answer(void **state)
{
	struct qp_net n;

	setup_source(&n);
	FEED(&n, REQUEST("\x01", "\x04"));
	EXPECT(&n, RESPONSE("\xc1", "\x00") "0123");
	FEED(&n, REQUEST("\x02", "\x10"));
	EXPECT(&n, RESPONSE("\xc1", "\x00") "0123456789abcdef");
	qp_expect_no_wc(n.b);
	qp_net_done(&n);
}

/* The source of an empty Read MUST NOT be validated (RFC 5040 section 5.2.1). */
static void test_answer_empty(void **state)
{
	struct qp_net n;

	setup_source(&n);
	FEED(&n, HEADER("\x01") BODY("\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
	EXPECT(&n, RESPONSE("\xc1", "\x00"));
	qp_net_done(&n);
}

static void test_answer_in_segments(void **state)
{
	struct qp_net n;
	struct qp_region *g;
	uint8_t ulpdu[1442];

	setup_source(&n);
	g = qp_region_add(n.b, 12, 0, 2000, REMOTE);
	FEED(&n, HEADER("\x01") "\x00\x00\x00\x77\x00\x00\x00\x00\x00\x00\x30\x00\x00\x00\x07\xd0"
				"\x00\x00\x00\x0c" ZERO4 ZERO4);
	memcpy(ulpdu, RESPONSE("\x81", "\x00"), 14);
	memcpy(ulpdu + 14, g->mem, 1428);
	qp_net_expect(&n, ulpdu, 1442);
	memcpy(ulpdu, "\xc1\x42\x00\x00\x00\x77\x00\x00\x00\x00\x00\x00\x35\x94", 14);
	memcpy(ulpdu + 14, g->mem + 1428, 572);
	qp_net_expect(&n, ulpdu, 586);
	qp_net_done(&n);
}

/* Requests in one arrival, as many as the IRD, then one more. */
static void test_ird(void **state)
{
	struct qp_net n;

	setup_source(&n);
	llp_mem_set_buffer(n.mem, 1);
	FEED(&n, REQUEST("\x01", "\x01"));
	llp_mem_hold(n.b->m->llp, true); /* the send buffer stays full from here */
	FEED(&n, REQUEST("\x02", "\x02"));
	FEED(&n, REQUEST("\x03", "\x03"));
	FEED(&n, REQUEST("\x04", "\x04"));
	assert_int_equal(n.b->endeds, 0);
	FEED(&n, REQUEST("\x05", "\x05"));
	/* RFC 5041: no buffer on queue 1 for that MSN. It waits for room behind one response. */
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 1, 2, 2);
	llp_mem_hold(n.b->m->llp, false);
	EXPECT(&n, RESPONSE("\xc1", "\x00") "0");
	EXPECT(&n, RESPONSE("\xc1", "\x00") "01");
	EXPECT_TERMINATE(&n, "\x12\x02\xc0\x00\x00\x2e" HEADER("\x05"));
	qp_net_done(&n);
}

struct wrong {
	const char *request;
	size_t len;
	const char *terminate;
	size_t terminate_len;
};

/* Layer 0, type 1: M, D and R; all of the request is quoted. */
#define PROTECTION(code, body)                                                         \
	{                                                                              \
		HEADER("\x01")                                                         \
		body, sizeof(HEADER("\x01") body) - 1,                                 \
			"\x01" code "\xe0\x00\x00\x2e" HEADER("\x01") body,            \
			sizeof("\x01" code "\xe0\x00\x00\x2e" HEADER("\x01") body) - 1 \
	}

static const struct wrong wrong[] = {
	PROTECTION("\x00", BODY("\x04", "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x20\x00")),
	PROTECTION("\x01", BODY("\x11", SRC9)),
	PROTECTION("\x01", BODY("\x04", "\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x1f\xff")),
	PROTECTION("\x02", BODY("\x04", "\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x20\x00")),
	PROTECTION("\x03", BODY("\x04", "\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x20\x00")),
	PROTECTION("\x04", BODY("\x04", "\x00\x00\x00\x09\xff\xff\xff\xff\xff\xff\xff\xfe")),
};

static void test_wrong_source(void **state)
{
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct qp_net n;

		setup_source(&n);
		qp_net_feed(&n, wrong[i].request, wrong[i].len);
		qp_net_expect_terminate(&n, wrong[i].terminate, wrong[i].terminate_len);
		qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 0, 1, (uint8_t)wrong[i].terminate[1]);
		qp_net_done(&n);
	}
}

static void test_malformed_request(void **state)
{
	struct qp_net n;

	setup_source(&n); /* a byte too long: DDP, message too long */
	FEED(&n, REQUEST("\x01", "\x04") "x");
	EXPECT_TERMINATE(&n, "\x12\x05\xc0\x00\x00\x2f" HEADER("\x01"));
	qp_net_done(&n);

	setup_source(&n); /* too short */
	FEED(&n, HEADER("\x01") "1234");
	EXPECT_TERMINATE(&n, "\x02\xff\xc0\x00\x00\x16" HEADER("\x01"));
	qp_net_done(&n);

	setup_source(&n); /* not the last segment */
	FEED(&n, "\x01\x41" ZERO4 QN1 MSN("\x01") ZERO4 BODY("\x04", SRC9));
	EXPECT_TERMINATE(&n, "\x02\xff\xc0\x00\x00\x2e\x01\x41" ZERO4 QN1 MSN("\x01") ZERO4);
	qp_net_done(&n);
}

/* The source goes away while we answer: the quoted request tells how far we came. */
static void test_source_gone(void **state)
{
	struct qp_net n;
	struct qp_region *g;

	setup_source(&n);
	g = qp_region_add(n.b, 12, 0, 2000, REMOTE);
	llp_mem_set_buffer(n.mem, 1);
	FEED(&n, REQUEST("\x01", "\x01"));
	llp_mem_hold(n.b->m->llp, true);
	FEED(&n, HEADER("\x02") "\x00\x00\x00\x77\x00\x00\x00\x00\x00\x00\x30\x00\x00\x00\x07\xd0"
				"\x00\x00\x00\x0c" ZERO4 ZERO4);
	g->invalid = true; /* after the first segment of two */
	llp_mem_hold(n.b->m->llp, false);
	qp_net_run(&n);
	EXPECT(&n, RESPONSE("\xc1", "\x00") "0");
	llp_mem_peer_consume(&n.peer, 1448);
	EXPECT_TERMINATE(&n,
		"\x01\x00\xe0\x00\x00\x2e" HEADER(
			"\x02") "\x00\x00\x00\x77\x00\x00\x00\x00\x00\x00\x35\x94\x00\x00\x02\x3c"
				"\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x05\x94");
	qp_net_done(&n);
}

/* There is no room for the answer to a ready-to-receive Read: it waits, and so does our end. */
static void test_answer_to_rtr_waits(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = MPA_RTR_READ;
	qp_net_raw_responder(&n);
	qp_net_fill(&n, n.b);
	FEED(&n, REQUEST("\x01", "\x00"));
	assert_int_equal(n.b->operationals, 1);
	rdmap_close(&n.b->r);
	qp_net_expect_nothing(&n);
	qp_net_drain(&n, n.b);
	EXPECT(&n, RESPONSE("\xc1", "\x00"));
	assert_true(n.peer.eof);
	qp_net_done(&n);
}

/* A Read comes behind it meanwhile: our end waits for both answers, which go in their order. */
static void test_answers_to_rtr_and_read_wait(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = MPA_RTR_READ;
	qp_net_raw_responder(&n);
	qp_net_fill(&n, n.b);
	FEED(&n, REQUEST("\x01", "\x00"));
	FEED(&n, REQUEST("\x02", "\x00"));
	rdmap_close(&n.b->r);
	qp_net_expect_nothing(&n);
	qp_net_drain(&n, n.b);
	EXPECT(&n, RESPONSE("\xc1", "\x00"));
	EXPECT(&n, RESPONSE("\xc1", "\x00"));
	assert_true(n.peer.eof);
	qp_net_done(&n);
}

/* What was not agreed upon as ready-to-receive is a Read like others, for which the IRD counts. */
static void test_what_is_no_rtr(void **state)
{
	static const struct {
		uint8_t rtr;
		const char *request, *terminate;
	} t[] = {
#define NO_RTR(rtr, size) {rtr, REQUEST("\x01", size), "\x12\x02\xc0\x00\x00\x2e" HEADER("\x01")}
		NO_RTR(MPA_RTR_WRITE, "\x00"),
		NO_RTR(MPA_RTR_READ, "\x04"),
#undef NO_RTR
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct qp_net n;

		qp_net_init(&n);
		n.b->rtr = t[i].rtr;
		n.b->ird = 0;
		qp_net_raw_responder(&n);
		qp_region_add(n.b, 9, 0x2000, 16, REMOTE);
		qp_net_feed(&n, t[i].request, 18 + RDMAP_READ_HEADER_LEN);
		qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 1, 2, 2);
		qp_net_expect_terminate(&n, t[i].terminate, 6 + 18);
		qp_net_done(&n);
	}
}

/* ---- Data Sink: we ask ----------------------------------------------------------------------- */

static struct qp_region *post_read(struct qp_net *n, uint32_t len)
{
	struct qp_region *g;
	struct rdmap_wqe *w;

	g = qp_region_add(n->a, 0x77, 0x3000, 16, LOCAL);
	memset(g->mem, '.', 16);
	w = qp_wqe(n->a, 1, RDMAP_WR_READ, RDMAP_WR_SIGNALED);
	qp_wqe_sge(w, g, 0, len);
	w->remote_stag = 9;
	w->remote_to = 0x2000;
	qp_post(n->a);
	qp_run(n->a);
	qp_net_run(n);
	llp_mem_peer_consume(&n->peer, n->peer.rx_len);
	return g;
}

static struct qp_region *setup_sink(struct qp_net *n, uint32_t len)
{
	qp_net_init(n);
	qp_net_raw_initiator(n);
	return post_read(n, len);
}

static void test_response(void **state)
{
	struct qp_net n;
	struct qp_region *g = setup_sink(&n, 8);

	FEED(&n, RESPONSE("\x81", "\x00") "abcd");
	qp_expect_no_wc(n.a);
	FEED(&n, RESPONSE("\xc1", "\x04") "efgh");
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 8);
	assert_memory_equal(g->mem, "abcdefgh........", 16);
	assert_false(g->invalid);
	qp_net_done(&n);
}

static void test_response_empty(void **state)
{
	struct qp_net n;

	setup_sink(&n, 0);
	/* STag and TO of an empty message MUST NOT be checked. */
	FEED(&n, "\xc1\x42\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 0);
	qp_net_done(&n);
}

static const struct {
	const char *segment;
	size_t len;
	const char *type_code;
} bad_responses[] = {
	{"\xc1\x42\x00\x00\x00\x78\x00\x00\x00\x00\x00\x00\x30\x00"
	 "abcdefgh",
		22, "\x11\x00"},
	{RESPONSE("\xc1", "\x01") "abcdefgh", 22, "\x11\x01"},  /* not where it goes on */
	{RESPONSE("\xc1", "\x00") "abcdefghi", 23, "\x11\x01"}, /* more than was asked for */
	{RESPONSE("\xc1", "\x00") "abcdefg", 21, "\x02\xff"},   /* less */
	{"\xc1\x42" ZERO4 ZERO4 ZERO4, 14, "\x02\xff"},
};

static void test_bad_responses(void **state)
{
	for (unsigned i = 0; i < sizeof bad_responses / sizeof bad_responses[0]; i++) {
		struct qp_net n;
		uint8_t term[20] = {[2] = 0xc0};

		setup_sink(&n, 8);
		qp_net_feed(&n, bad_responses[i].segment, bad_responses[i].len);
		memcpy(term, bad_responses[i].type_code, 2);
		term[5] = (uint8_t)bad_responses[i].len;
		memcpy(term + 6, bad_responses[i].segment, 14);
		qp_net_expect_terminate(&n, term, sizeof term);
		qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
		qp_net_done(&n);
	}
}

/* Our own program took the sink away: its Read says so. */
static void test_sink_gone(void **state)
{
	struct qp_net n;

	setup_sink(&n, 8)->invalid = true;
	FEED(&n, RESPONSE("\xc1", "\x00") "abcdefgh");
	EXPECT_TERMINATE(&n, "\x11\x00\xc0\x00\x00\x16" RESPONSE("\xc1", "\x00"));
	qp_expect_wc(n.a, 1, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_READ, 0);
	qp_net_done(&n);
}

/* A later segment has room for what the earlier ones left, not for the whole Read. */
static void test_response_too_long_at_its_end(void **state)
{
	struct qp_net n;
	struct qp_region *g = setup_sink(&n, 8);

	FEED(&n, RESPONSE("\x81", "\x00") "abcd");
	FEED(&n, RESPONSE("\xc1", "\x04") "efghi");
	EXPECT_TERMINATE(&n, "\x11\x01\xc0\x00\x00\x13" RESPONSE("\xc1", "\x04"));
	assert_memory_equal(g->mem, "abcd............", 16);
	qp_net_done(&n);
}

/* The answer to the RTR Read is due first, empty and whole, whether the program reads too or not.
 */
static void test_rtr_response_wrong(void **state)
{
	for (unsigned reads = 0; reads < 3; reads++) {
		struct qp_net n;

		qp_net_init(&n);
		n.a->rtr = MPA_RTR_READ;
		n.a->ord = 2;
		qp_net_raw_initiator(&n);
		llp_mem_peer_consume(&n.peer, n.peer.rx_len);
		if (reads == 1)
			post_read(&n, 4);
		if (reads == 2) {
			FEED(&n, RESPONSE("\x81", "\x00"));
			EXPECT_TERMINATE(&n, "\x02\x06\xc0\x00\x00\x0e" RESPONSE("\x81", "\x00"));
		} else {
			FEED(&n, RESPONSE("\xc1", "\x00") "abcd");
			EXPECT_TERMINATE(&n, "\x02\x06\xc0\x00\x00\x12" RESPONSE("\xc1", "\x00"));
		}
		qp_net_done(&n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_answer_empty),
		cmocka_unit_test(test_answer_in_segments),
		cmocka_unit_test(test_ird),
		cmocka_unit_test(test_wrong_source),
		cmocka_unit_test(test_malformed_request),
		cmocka_unit_test(test_source_gone),
		cmocka_unit_test(test_answer_to_rtr_waits),
		cmocka_unit_test(test_answers_to_rtr_and_read_wait),
		cmocka_unit_test(test_what_is_no_rtr),
		cmocka_unit_test(test_response),
		cmocka_unit_test(test_response_empty),
		cmocka_unit_test(test_bad_responses),
		cmocka_unit_test(test_response_too_long_at_its_end),
		cmocka_unit_test(test_sink_gone),
		cmocka_unit_test(test_rtr_response_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
