/* SPDX-License-Identifier: BSD-2-Clause */
#include "qp.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the life of a stream -------------------------------------------------------------------- */

static void post_write(struct qp *q, uint64_t wr_id, uint32_t len, const struct qp_region *g)
{
	struct rdmap_wqe *w = qp_wqe(q, wr_id, RDMAP_WR_WRITE, RDMAP_WR_SIGNALED);

	w->remote_stag = 0x200;
	if (len != 0)
		qp_wqe_sge(w, g, 0, len);
	qp_post(q);
}

static void test_both_ends_operational(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = 0;
	qp_net_connect(&n);
	assert_int_equal(n.b->operationals, 0);
	post_write(n.b, 7, 0, NULL); /* waits for the initiator's first FPDU */
	qp_run(n.b);
	qp_expect_no_wc(n.b);
	post_write(n.a, 1, 0, NULL);
	qp_run(n.a);
	qp_net_run(&n);
	assert_int_equal(n.b->operationals, 1);
	qp_expect_wc(n.b, 7, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 0);
	qp_net_done(&n);
}

/* With an RTR frame of any type the responder may send at once, and no program sees it. */
static void test_peer_to_peer(void **state)
{
	for (uint8_t rtr = 1; rtr <= 4; rtr <<= 1) {
		struct qp_net n;

		qp_net_init(&n);
		n.a->rtr = n.b->rtr = rtr;
		n.a->config.peer_to_peer = true;
		n.b->ird = 0;
		qp_post_recv(n.b, 9, NULL, 0, 0);
		qp_net_connect(&n);
		assert_int_equal(n.b->operationals, 1);
		qp_expect_no_wc(n.a);
		qp_expect_no_wc(n.b);
		assert_int_equal(n.a->endeds + n.b->endeds, 0);
		qp_wqe(n.a, 1, RDMAP_WR_SEND, RDMAP_WR_SIGNALED);
		qp_post(n.a);
		qp_run(n.a);
		qp_net_run(&n);
		qp_expect_wc(n.b, 9, RDMAP_WC_SUCCESS, RDMAP_WC_RECV, 0);
		qp_net_done(&n);
	}
}

static void test_close_finishes_first(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	qp_net_init(&n);
	llp_mem_set_buffer(n.mem, 2000);
	qp_net_connect(&n);
	g = qp_region_add(n.a, 7, 0, 100000, LOCAL);
	qp_region_add(n.b, 0x200, 0, 100000, REMOTE);
	post_write(n.a, 1, 100000, g);
	qp_wqe_sge(qp_wqe(n.a, 2, RDMAP_WR_READ, RDMAP_WR_SIGNALED), g, 0, 50000);
	rdmap_sq_at(&n.a->sq, 1)->remote_stag = 0x200;
	qp_post(n.a);
	rdmap_close(&n.a->r);
	qp_net_run(&n);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 100000);
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 50000);
	assert_memory_equal(n.b->region[0].mem, g->mem, 100000);
	assert_int_equal(n.b->peer_closeds, 1);
	assert_int_equal(n.a->endeds + n.b->endeds, 0);
	post_write(n.b, 3, 0, NULL); /* b's direction is still open */
	rdmap_close(&n.b->r);
	qp_net_run(&n);
	qp_expect_wc(n.b, 3, RDMAP_WC_SUCCESS, RDMAP_WC_WRITE, 0);
	qp_expect_end(n.a, RDMAP_END_CLOSED, 0, 0, 0, 0);
	qp_expect_end(n.b, RDMAP_END_CLOSED, 0, 0, 0, 0);
	assert_int_equal(n.a->peer_closeds, 0);
	qp_net_done(&n);
}

/* A Read that the peer has asked for is answered before our direction closes. */
static void test_close_answers_first(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = 0;
	qp_net_raw_responder(&n);
	FEED(&n, "\xc1\x40" ZERO4 ZERO4 ZERO4);
	llp_mem_set_buffer(n.mem, 1);
	llp_mem_hold(n.b->m->llp, true);
	qp_wqe(n.b, 1, RDMAP_WR_WRITE, 0); /* fills the send buffer */
	qp_post(n.b);
	qp_run(n.b);
	FEED(&n,
		"\x41\x41" ZERO4
		"\x00\x00\x00\x01\x00\x00\x00\x01" ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4);
	rdmap_close(&n.b->r);
	llp_mem_hold(n.b->m->llp, false);
	EXPECT(&n, "\xc1\x40" ZERO4 ZERO4 ZERO4);
	EXPECT(&n, "\xc1\x42" ZERO4 ZERO4 ZERO4);
	assert_true(n.peer.eof);
	qp_net_done(&n);
}

static void test_close_before_operational(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_responder(&n);
	rdmap_close(&n.b->r);
	qp_net_run(&n);
	assert_true(n.peer.eof);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	qp_expect_end(n.b, RDMAP_END_CLOSED, 0, 0, 0, 0);
	qp_net_done(&n);
}

static void test_simultaneous_close(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_connect(&n);
	rdmap_close(&n.a->r);
	rdmap_close(&n.b->r);
	rdmap_close(&n.b->r);
	qp_net_run(&n);
	qp_expect_end(n.a, RDMAP_END_CLOSED, 0, 0, 0, 0);
	qp_expect_end(n.b, RDMAP_END_CLOSED, 0, 0, 0, 0);
	qp_net_done(&n);
}

static void test_reset_by_peer(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_connect(&n);
	rdmap_abort(&n.a->r);
	qp_net_run(&n);
	assert_int_equal(n.a->endeds, 0);
	qp_expect_end(n.b, RDMAP_END_LOST, -ECONNRESET, 0, 0, 0);
	rdmap_run(&n.b->r); /* all of these do nothing now */
	rdmap_close(&n.b->r);
	rdmap_recv_posted(&n.b->r);
	assert_false(rdmap_eof_waits(&n.b->r));
	rdmap_terminate(&n.b->r, 0, 0, 0);
	rdmap_release(&n.b->r);
	assert_int_equal(n.b->endeds, 1);
	qp_net_done(&n);
}

static void test_timeout(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_connect(&n);
	post_write(n.a, 1, 0, NULL);
	llp_mem_fail(n.a->m->llp, -ETIMEDOUT);
	qp_net_run(&n);
	qp_expect_end(n.a, RDMAP_END_LOST, -ETIMEDOUT, 0, 0, 0);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_WRITE, 0);
	qp_net_done(&n);
}

/* FIN where a message has begun, or a Read is outstanding, is not an orderly close. */
static void eof_after(const void *segment, size_t len, bool lost)
{
	struct qp_net n;

	qp_net_init(&n);
	n.b->rtr = 0;
	qp_net_raw_responder(&n);
	qp_region_add(n.b, 9, 0, 16, REMOTE);
	qp_post_recv(n.b, 5, &n.b->region[0], 0, 16);
	qp_net_feed(&n, segment, len);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	if (lost) {
		qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CLOSED);
		EXPECT_TERMINATE(&n, "\x20\x01\x00\x00");
		assert_int_equal(n.b->peer_closeds, 0);
		qp_expect_wc(n.b, 5, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_RECV, 0);
		assert_true(n.peer.closed);
	} else {
		assert_int_equal(n.b->endeds, 0);
		assert_int_equal(n.b->peer_closeds, 1);
	}
	qp_net_done(&n);
}

static void test_eof(void **state)
{
	eof_after("\xc1\x40\x00\x00\x00\x09" ZERO4 ZERO4 "abcd", 18, false);
	eof_after("\x81\x40\x00\x00\x00\x09" ZERO4 ZERO4 "abcd", 18, true);
	eof_after("\x01\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4 "abcd", 22, true);
	eof_after("\x01\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4, 18, true);
}

/* The answer to our Read comes whole in the middle of a Write, whose end never comes. */
static void test_eof_in_a_write_around_an_answer(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	qp_region_add(n.a, 9, 0, 16, REMOTE);
	qp_wqe_sge(qp_wqe(n.a, 1, RDMAP_WR_READ, RDMAP_WR_SIGNALED),
		qp_region_add(n.a, 7, 0, 4, LOCAL), 0, 4);
	qp_post(n.a);
	qp_run(n.a);
	FEED(&n, "\x81\x40\x00\x00\x00\x09" ZERO4 ZERO4 "abcd");
	FEED(&n, "\xc1\x42\x00\x00\x00\x07" ZERO4 ZERO4 "efgh");
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_READ, 4);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CLOSED);
	assert_int_equal(n.a->peer_closeds, 0);
	qp_net_done(&n);
}

static void test_eof_with_read_outstanding(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	qp_wqe_sge(qp_wqe(n.a, 1, RDMAP_WR_READ, 0), qp_region_add(n.a, 7, 0, 4, LOCAL), 0, 4);
	qp_post(n.a);
	qp_run(n.a);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CLOSED);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_READ, 0);
	qp_net_done(&n);
}

/* A request after the peer's end has no answer to wait for, however it came to begin so late. */
static void begins_after_eof(enum rdmap_wr_op op, enum rdmap_wc_op wc_op, bool closing)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	qp_wqe(n.a, 1, RDMAP_WR_SEND, RDMAP_WR_SIGNALED);
	qp_post(n.a);
	qp_wqe_sge(qp_wqe(n.a, 2, op, 0), qp_region_add(n.a, 7, 0, 8, LOCAL), 0, 8);
	qp_post(n.a);
	if (closing) {
		/* Room for the Send alone. */
		llp_mem_set_buffer(n.mem, 1);
		llp_mem_hold(mpa_llp(n.a->m), true);
		rdmap_close(&n.a->r);
	}
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	assert_int_equal(n.a->endeds, 0);
	llp_mem_hold(mpa_llp(n.a->m), false);
	qp_run(n.a);
	qp_net_run(&n);
	EXPECT(&n, "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4);
	EXPECT_TERMINATE(&n, "\x20\x01\x00\x00");
	qp_expect_end(n.a, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CLOSED);
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_SEND, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_WR_FLUSH_ERR, wc_op, 0);
	qp_net_done(&n);
}

static void test_request_after_eof(void **state)
{
	for (unsigned closing = 0; closing < 2; closing++) {
		begins_after_eof(RDMAP_WR_READ, RDMAP_WC_READ, closing);
		begins_after_eof(RDMAP_WR_FETCH_ADD, RDMAP_WC_FETCH_ADD, closing);
	}
}

/* The limit is used up by our RTR Read, whose answer will not come, either. */
static void test_request_after_eof_at_the_limit(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	n.a->ord = 1;
	n.a->rtr = MPA_RTR_READ;
	qp_net_raw_initiator(&n);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	qp_wqe_sge(qp_wqe(n.a, 1, RDMAP_WR_READ, 0), qp_region_add(n.a, 7, 0, 4, LOCAL), 0, 4);
	qp_post(n.a);
	qp_run(n.a);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CLOSED);
	qp_net_done(&n);
}

static void test_eof_inside_fpdu(void **state)
{
	struct qp_net n;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	llp_mem_send_raw(n.peer.llp, "\x00\x20\xc1", 3);
	llp_shutdown(n.peer.llp);
	qp_net_run(&n);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_TX, 0, 2, 0, MPA_ERROR_CLOSED);
	EXPECT_TERMINATE(&n, "\x20\x01\x00\x00");
	qp_net_done(&n);
}

/* The same struct serves the next connection; MSNs start again. */
static void test_attach_again(void **state)
{
	struct qp_net n;
	struct rdmap r;

	qp_net_init(&n);
	qp_net_raw_initiator(&n);
	qp_wqe(n.a, 1, RDMAP_WR_SEND, 0);
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	rdmap_abort(&n.a->r);
	r = n.a->r;
	llp_mem_peer_done(&n.peer);
	n.a->operationals = 0;
	qp_net_raw_initiator(&n);
	assert_ptr_equal(n.a->r.sq, r.sq);
	qp_wqe(n.a, 2, RDMAP_WR_SEND, 0);
	qp_post(n.a);
	qp_run(n.a);
	EXPECT(&n, "\x41\x43" ZERO4 ZERO4 "\x00\x00\x00\x01" ZERO4);
	qp_net_done(&n);
}

/* ---- everything at once, both ways ----------------------------------------------------------- */

/*
 * Each side keeps a window of its own in the other's memory and a shadow of what must stand there.
 * Sizes, operations and segmentation are drawn from fixed seeds.
 */
#define AREA 65536

struct side {
	struct qp *q;
	struct qp_region *local, *exposed, *sink;
	uint8_t *peer_must; /* what we have written into the peer's exposed region */
	uint64_t posted, completed;
	uint32_t recv_posted, recv_done;
	uint32_t sent_len[4096];
	uint32_t sends;
};

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)*seed * below) >> 32);
}

static uint32_t draw_len(uint32_t *seed)
{
	switch (draw(seed, 4)) {
	case 0:
		return draw(seed, 9);
	case 1:
		return draw(seed, 100);
	case 2:
		return draw(seed, 3000);
	default:
		return draw(seed, 20000);
	}
}

#define RECV_LEN 20000

static void post_receives(struct side *s)
{
	while (s->recv_posted - s->recv_done < 16) {
		qp_post_recv(s->q, 1000000 + s->recv_posted, s->sink, 0, RECV_LEN);
		s->recv_posted++;
	}
}

static void side_init(struct side *s, struct qp *q)
{
	s->q = q;
	s->local = qp_region_add(q, 0x100, 0x10000000, AREA, LOCAL);
	s->exposed = qp_region_add(q, 0x200, 0x20000000, AREA, REMOTE);
	s->sink = qp_region_add(q, 0x300, 0x30000000, RECV_LEN, LOCAL);
	s->peer_must = malloc(AREA);
	memcpy(s->peer_must, s->exposed->mem, AREA); /* the same pattern at the peer */
	post_receives(s);
}

/* Reads go to the upper half of local, everything else comes from the lower half. */
static void post_random(struct side *s, uint32_t *seed)
{
	static const enum rdmap_wr_op ops[] = {RDMAP_WR_SEND, RDMAP_WR_WRITE, RDMAP_WR_READ};
	enum rdmap_wr_op op = ops[draw(seed, 3)];
	uint32_t len = draw_len(seed), from = draw(seed, AREA / 2 - len), to, cut;
	struct rdmap_wqe *w;

	w = qp_wqe(s->q, s->posted++, op, RDMAP_WR_SIGNALED);
	if (draw(seed, 8) == 0)
		w->flags |= RDMAP_WR_FENCE;
	w->remote_stag = s->exposed->stag;
	if (op == RDMAP_WR_READ) {
		to = AREA / 2 + draw(seed, AREA / 2 - len); /* what is never written to */
		w->remote_to = s->exposed->to + to;
		qp_wqe_sge(w, s->local, AREA / 2 + from, len);
	} else {
		to = draw(seed, AREA / 2 - len);
		w->remote_to = s->exposed->to + to;
		cut = draw(seed, len + 1);
		if (len <= 64 && draw(seed, 2) == 0) {
			qp_wqe_inline(w, s->local->mem + from, len);
		} else {
			qp_wqe_sge(w, s->local, from, cut);
			qp_wqe_sge(w, s->local, from + cut, len - cut);
		}
		if (op == RDMAP_WR_WRITE) {
			memcpy(s->peer_must + to, s->local->mem + from, len);
		} else {
			s->sent_len[s->sends++ % 4096] = len;
		}
	}
	qp_post(s->q);
}

static void reap(struct side *s, const struct side *peer)
{
	for (; s->q->wc_next < s->q->wcs; s->q->wc_next++) {
		const struct rdmap_wc *wc = &s->q->wc[s->q->wc_next];

		assert_int_equal(wc->status, RDMAP_WC_SUCCESS);
		if (wc->op != RDMAP_WC_RECV) {
			assert_int_equal(wc->wr_id, s->completed++);
			continue;
		}
		assert_int_equal(wc->wr_id, 1000000 + s->recv_done);
		assert_int_equal(wc->byte_len, peer->sent_len[s->recv_done % 4096]);
		s->recv_done++;
	}
	s->q->wcs = s->q->wc_next = 0;
	post_receives(s);
}

static void check(struct side *s, const struct side *peer)
{
	assert_int_equal(s->completed, s->posted);
	assert_int_equal(s->q->endeds, 0);
	assert_memory_equal(peer->q->region[1].mem, s->peer_must, AREA);
}

/* One Read alone, from anywhere: what it brings is what we know to stand there. */
static void read_one(struct qp_net *n, struct side *s, uint32_t *seed)
{
	uint32_t len = draw_len(seed), to = draw(seed, AREA - len);
	struct rdmap_wqe *w = qp_wqe(s->q, s->posted++, RDMAP_WR_READ, RDMAP_WR_SIGNALED);

	w->remote_stag = s->exposed->stag;
	w->remote_to = s->exposed->to + to;
	qp_wqe_sge(w, s->local, AREA - len, len);
	qp_post(s->q);
	qp_run(s->q);
	qp_net_run(n);
	assert_memory_equal(s->local->mem + AREA - len, s->peer_must + to, len);
}

static void exchange(bool crc, size_t segment, uint32_t emss, size_t buffer, uint32_t seed)
{
	struct side a = {0}, b = {0};
	struct qp_net n;

	qp_net_init(&n);
	n.a->config.crc = n.b->config.crc = crc;
	n.a->config.peer_to_peer = true;
	n.a->rtr = n.b->rtr = MPA_RTR_WRITE;
	llp_mem_set_emss(n.mem, emss);
	qp_net_connect(&n);
	llp_mem_set_buffer(n.mem, buffer);
	if (segment != 0)
		llp_mem_set_random_segment(n.mem, segment, seed);
	side_init(&a, n.a);
	side_init(&b, n.b);
	for (unsigned round = 0; round < 60; round++) {
		for (uint32_t i = draw(&seed, 12); i != 0; i--)
			post_random(&a, &seed);
		for (uint32_t i = draw(&seed, 12); i != 0; i--)
			post_random(&b, &seed);
		qp_run(n.a);
		qp_run(n.b);
		qp_net_run(&n);
		reap(&a, &b);
		reap(&b, &a);
		read_one(&n, &a, &seed);
		read_one(&n, &b, &seed);
		reap(&a, &b);
		reap(&b, &a);
	}
	check(&a, &b);
	check(&b, &a);
	rdmap_close(&n.a->r);
	rdmap_close(&n.b->r);
	qp_net_run(&n);
	qp_expect_end(n.a, RDMAP_END_CLOSED, 0, 0, 0, 0);
	qp_expect_end(n.b, RDMAP_END_CLOSED, 0, 0, 0, 0);
	free(a.peer_must);
	free(b.peer_must);
	qp_net_done(&n);
}

static void test_exchange(void **state)
{
	exchange(true, 0, 1448, 1 << 20, 1);
	exchange(true, 3000, 1448, 1 << 20, 2);
	exchange(false, 1448, 1448, 5000, 3);
	exchange(true, 100, 536, 3000, 4);
	exchange(true, 0, 65483, 1 << 18, 5);
	exchange(false, 20000, 8948, 1, 6);
}

/* What a Send brought is the right data too: one at a time, compared whole. */
static void test_send_data(void **state)
{
	uint32_t seed = 7;
	struct side a = {0}, b = {0};
	struct qp_net n;

	qp_net_init(&n);
	qp_net_connect(&n);
	llp_mem_set_random_segment(n.mem, 2000, 7);
	side_init(&a, n.a);
	side_init(&b, n.b);
	for (unsigned i = 0; i < 100; i++) {
		uint32_t len = draw_len(&seed), from = draw(&seed, AREA - len);

		qp_wqe_sge(qp_wqe(n.a, a.posted++, RDMAP_WR_SEND, RDMAP_WR_SIGNALED), a.local, from,
			len);
		qp_post(n.a);
		a.sent_len[a.sends++] = len;
		qp_run(n.a);
		qp_net_run(&n);
		assert_memory_equal(b.sink->mem, a.local->mem + from, len);
		reap(&a, &b);
		reap(&b, &a);
	}
	assert_int_equal(b.recv_done, 100);
	free(a.peer_must);
	free(b.peer_must);
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ends_operational),
		cmocka_unit_test(test_peer_to_peer),
		cmocka_unit_test(test_close_finishes_first),
		cmocka_unit_test(test_close_answers_first),
		cmocka_unit_test(test_close_before_operational),
		cmocka_unit_test(test_simultaneous_close),
		cmocka_unit_test(test_reset_by_peer),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_eof),
		cmocka_unit_test(test_eof_in_a_write_around_an_answer),
		cmocka_unit_test(test_eof_with_read_outstanding),
		cmocka_unit_test(test_request_after_eof),
		cmocka_unit_test(test_request_after_eof_at_the_limit),
		cmocka_unit_test(test_eof_inside_fpdu),
		cmocka_unit_test(test_attach_again),
		cmocka_unit_test(test_exchange),
		cmocka_unit_test(test_send_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
