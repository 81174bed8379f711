/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of operations: RFC 5040 section 5.5 with its table in Appendix B, RFC 7306 section 7. A
 * row for each pair; each is run at the peer that answers and at the one that asks.
 */
#include "base/bytes.h"
#include "qp.h"

enum op { SEND, WRITE, READ, IMM, ATOMIC, OPS };

/* What the table promises of the two at the Remote Peer. */
enum guarantee {
	IN_ORDER, /* both are delivered, in order */
	PLACED,   /* when the second is delivered, the first is in its place */
	SEEN,     /* the answer to the second is made when the first has happened, and shows it */
	ANSWERED, /* the first is answered before the second, which does not touch its answer */
	FENCE,    /* nothing: the second may come first, unless it is fenced */
	NONE,     /* nothing */
};

static const struct row {
	enum op first, second;
	enum guarantee guarantee;
} rows[] = {
	/* RFC 5040, Figure 17 */
	{SEND, SEND, IN_ORDER},
	{SEND, WRITE, NONE},
	{SEND, READ, SEEN},
	{WRITE, SEND, PLACED}, /* section 5.5 rule 10 */
	{WRITE, WRITE, NONE},
	{WRITE, READ, SEEN},
	{READ, SEND, FENCE},
	{READ, WRITE, FENCE},
	{READ, READ, ANSWERED},
	/* RFC 7306 section 7 */
	{IMM, SEND, IN_ORDER},
	{IMM, WRITE, NONE},
	{IMM, READ, SEEN},
	{IMM, ATOMIC, SEEN},
	{IMM, IMM, IN_ORDER},
	{SEND, IMM, IN_ORDER},
	{WRITE, IMM, PLACED},
	{READ, IMM, FENCE},
	{ATOMIC, IMM, FENCE},
	{ATOMIC, SEND, FENCE},
	{ATOMIC, WRITE, FENCE},
	{ATOMIC, READ, ANSWERED},
	{ATOMIC, ATOMIC, ANSWERED},
	{SEND, ATOMIC, SEEN},
	{WRITE, ATOMIC, SEEN},
	{READ, ATOMIC, ANSWERED},
};

#define ROWS    (sizeof rows / sizeof rows[0])
#define STAG    9
#define TO      0x2000
#define BEFORE  1u    /* in the word at TO */
#define SENT    0x11u /* by a Send, with a receive of that word */
#define WRITTEN 0x22u
#define ADDED   0x100u

static bool answered(enum op op)
{
	return op == READ || op == ATOMIC;
}

static bool delivered(enum op op)
{
	return op == SEND || op == IMM;
}

/* ---- the peer that answers --------------------------------------------------------------- */

/* What has happened, in this order: completions as letters, the answers' values. */
static struct {
	char events[8];
	unsigned n;
	uint64_t answers[2];
	unsigned n_answers;
	uint64_t word, other; /* when the last was delivered */
} seen;

static uint64_t word_at(const struct qp *q, unsigned i)
{
	uint64_t v;

	memcpy(&v, q->region[0].mem + 8 * i, sizeof v);
	return v;
}

static void set_word(struct qp *q, unsigned i, uint64_t v)
{
	memcpy(q->region[0].mem + 8 * i, &v, sizeof v);
}

static void log_event(char c)
{
	assert_true(seen.n < sizeof seen.events - 1);
	seen.events[seen.n++] = c;
}

static void note_delivery(struct qp *q, const struct rdmap_wc *wc)
{
	assert_int_equal(wc->status, RDMAP_WC_SUCCESS);
	log_event(wc->op == RDMAP_WC_RECV_IMM ? 'i' : 's');
	seen.word = word_at(q, 0);
	seen.other = word_at(q, 1);
}

/* Take the answers that have come. */
static void note_answers(struct qp_net *n)
{
	struct llp_mem_peer *p = &n->peer;

	while (p->rx_len != 0) {
		uint32_t len = load_be16(p->rx);
		bool atomic = (p->rx[3] & 0xf) == RDMAP_OP_ATOMIC_RESPONSE;
		const uint8_t *value = p->rx + 2 + len - 8;

		assert_true(seen.n_answers < 2);
		/* An Atomic's is big-endian, a Read's is memory. */
		if (atomic)
			seen.answers[seen.n_answers++] = load_be64(value);
		else
			memcpy(&seen.answers[seen.n_answers++], value, 8);
		log_event(atomic ? 'a' : 'r');
		llp_mem_peer_consume(p, mpa_fpdu_len(len));
	}
}

/* One message of the raw peer. @p other: a Write into the second word. */
static size_t message(uint8_t *p, enum op op, uint32_t *msn, bool other)
{
	static const uint8_t opcodes[OPS] = {RDMAP_OP_SEND, RDMAP_OP_WRITE, RDMAP_OP_READ_REQUEST,
		RDMAP_OP_IMMEDIATE, RDMAP_OP_ATOMIC_REQUEST};
	uint32_t qn = answered(op) ? RDMAP_QN_READ : RDMAP_QN_SEND;
	uint64_t value = op == SEND ? SENT : WRITTEN;
	uint8_t control = RDMAP_CONTROL(opcodes[op]), *body;
	size_t len[OPS] = {8, 8, RDMAP_READ_HEADER_LEN, 8, RDMAP_ATOMIC_REQUEST_LEN};

	if (op == WRITE)
		ddp_put_tagged(p, true, control, STAG, TO + (other ? 8 : 0));
	else
		ddp_put_untagged(p, true, control, 0, qn, msn[qn]++, 0);
	body = p + (op == WRITE ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN);
	memset(body, 0, len[op]);
	if (op == READ) {
		store_be32(body + RDMAP_AT_SINK_STAG, 0x77);
		store_be32(body + RDMAP_AT_SIZE, 8);
		store_be32(body + RDMAP_AT_SOURCE_STAG, STAG);
		store_be64(body + RDMAP_AT_SOURCE_TO, TO);
	} else if (op == ATOMIC) {
		store_be32(body + RDMAP_AT_ATOMIC_STAG, STAG);
		store_be64(body + RDMAP_AT_ATOMIC_TO, TO);
		store_be64(body + RDMAP_AT_ATOMIC_DATA, ADDED);
	} else {
		memcpy(body, &value, sizeof value);
	}
	return (size_t)(body - p) + len[op];
}

static void start(struct qp_net *n)
{
	memset(&seen, 0, sizeof seen);
	qp_net_init(n);
	qp_net_raw_responder(n);
	qp_region_add(n->b, STAG, TO, 16, REMOTE | RDMAP_ACCESS_REMOTE_ATOMIC);
	set_word(n->b, 0, BEFORE);
	set_word(n->b, 1, 0);
	n->b->on_complete = note_delivery;
	for (unsigned i = 0; i < 2; i++)
		qp_post_recv(n->b, i, &n->b->region[0], 0, 8);
}

/* Both in one arrival, so that only the rules keep them apart. */
static void feed_both(struct qp_net *n, const struct row *t, uint32_t *msn)
{
	uint8_t bytes[256] = {0}, ulpdu[128];
	size_t used = 0;

	for (unsigned i = 0; i < 2; i++) {
		size_t len =
			message(ulpdu, i == 0 ? t->first : t->second, msn, t->guarantee == PLACED);

		store_be16(bytes + used, (uint16_t)len);
		memcpy(bytes + used + 2, ulpdu, len);
		used += mpa_fpdu_len((uint32_t)len);
	}
	llp_mem_send_raw(n->peer.llp, bytes, used);
	qp_net_run(n);
	note_answers(n);
}

/* The word's value after an operation on @p v. */
static uint64_t after(enum op op, uint64_t v)
{
	switch (op) {
	case SEND:
		return SENT;
	case WRITE:
		return WRITTEN;
	case ATOMIC:
		return v + ADDED;
	default:
		return v;
	}
}

static void check_remote(struct qp_net *n, const struct row *t)
{
	static const char letters[OPS] = {'s', 0, 'r', 'i', 'a'};
	const char both[] = {letters[t->first], letters[t->second], 0};
	uint64_t middle = after(t->first, BEFORE);

	switch (t->guarantee) {
	case IN_ORDER:
		assert_string_equal(seen.events, both);
		break;
	case PLACED:
		assert_int_equal(seen.events[0], letters[t->second]);
		assert_int_equal(seen.other, WRITTEN);
		break;
	case SEEN:
		if (delivered(t->first))
			assert_string_equal(seen.events, both);
		assert_int_equal(seen.answers[0], middle);
		assert_int_equal(word_at(n->b, 0), after(t->second, middle));
		break;
	case ANSWERED:
		assert_string_equal(seen.events, both);
		if (t->first == ATOMIC)
			assert_int_equal(seen.answers[0], BEFORE);
		/* Of two Reads, and of a Read before an Atomic, the order of reading is free, but
		 * here what comes later never shows in what was asked before. */
		assert_int_equal(seen.answers[1], middle);
		assert_int_equal(seen.answers[0], BEFORE);
		assert_int_equal(word_at(n->b, 0), after(t->second, middle));
		break;
	case FENCE:
	case NONE:
		assert_int_equal(
			seen.n, (letters[t->first] != 0) + (unsigned)(letters[t->second] != 0));
		break;
	}
}

static void test_remote(void **state)
{
	for (unsigned i = 0; i < ROWS; i++) {
		uint32_t msn[4] = {1, 1, 1, 1};
		struct qp_net n;

		start(&n);
		feed_both(&n, &rows[i], msn);
		check_remote(&n, &rows[i]);
		assert_int_equal(n.b->endeds, 0);
		qp_net_done(&n);
	}
}

/* RFC 5040 section 5.5 rule 18, RFC 7306 section 5.4 rules 4 and 6: what waits for room to be
 * answered does not hold up what comes later. */
static void test_remote_blocked(void **state)
{
	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *t = &rows[i];
		uint32_t msn[4] = {1, 1, 1, 1};
		uint8_t ulpdu[128];
		struct qp_net n;

		if (t->guarantee != FENCE)
			continue;
		start(&n);
		llp_mem_set_buffer(n.mem, 1);
		qp_net_feed(&n, ulpdu, message(ulpdu, READ, msn, false));
		llp_mem_hold(n.b->m->llp, true);
		qp_net_feed(&n, ulpdu, message(ulpdu, READ, msn, false));
		note_answers(&n);
		feed_both(&n, t, msn);
		assert_int_equal(n.b->r.irq_count, 1);
		assert_int_equal(word_at(n.b, 0), after(t->second, BEFORE));
		if (delivered(t->second))
			assert_int_equal(seen.events[seen.n - 1], t->second == SEND ? 's' : 'i');
		memset(&seen, 0, sizeof seen);
		llp_mem_hold(n.b->m->llp, false);
		qp_net_run(&n);
		note_answers(&n);
		assert_int_equal(seen.n_answers, 2);
		/* So late an answer shows what came meanwhile: that is why there are fences. */
		assert_int_equal(seen.answers[1], after(t->second, BEFORE));
		qp_net_done(&n);
	}
}

/* ---- the peer that asks ------------------------------------------------------------------ */

static const uint8_t on_wire[OPS] = {RDMAP_OP_SEND, RDMAP_OP_WRITE, RDMAP_OP_READ_REQUEST,
	RDMAP_OP_WRITE, RDMAP_OP_ATOMIC_REQUEST};

static void post(struct qp *q, enum op op, uint64_t wr_id, unsigned flags)
{
	static const enum rdmap_wr_op wrs[OPS] = {RDMAP_WR_SEND, RDMAP_WR_WRITE, RDMAP_WR_READ,
		RDMAP_WR_WRITE_IMM, RDMAP_WR_FETCH_ADD};
	struct rdmap_wqe *w = qp_wqe(q, wr_id, wrs[op], RDMAP_WR_SIGNALED | flags);

	w->remote_stag = STAG;
	w->remote_to = TO;
	qp_wqe_sge(w, &q->region[0], 0, 8);
	qp_post(q);
}

/* The next messages of ours are these, in this order. */
static void expect_sent(struct qp_net *n, enum op op)
{
	struct llp_mem_peer *p = &n->peer;
	unsigned parts = op == IMM ? 2 : 1;

	qp_net_run(n);
	for (unsigned i = 0; i < parts; i++) {
		assert_true(p->rx_len != 0);
		assert_int_equal(p->rx[3] & 0xf, i == 0 ? on_wire[op] : RDMAP_OP_IMMEDIATE);
		llp_mem_peer_consume(p, mpa_fpdu_len(load_be16(p->rx)));
	}
}

/* The peer answers a Read or an Atomic, the @p nth of those Atomics. */
static void answer(struct qp_net *n, enum op op, uint32_t msn, uint32_t nth)
{
	uint8_t p[64] = {0};

	if (op == READ) {
		ddp_put_tagged(p, true, RDMAP_CONTROL(RDMAP_OP_READ_RESPONSE), 7, 0);
		qp_net_feed(n, p, DDP_TAGGED_LEN + 8);
		return;
	}
	ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_ATOMIC_RESPONSE), 0,
		RDMAP_QN_ATOMIC_RESPONSE, nth, 0);
	store_be32(p + DDP_UNTAGGED_LEN + RDMAP_AT_ATOMIC_ORIGINAL_ID, msn);
	qp_net_feed(n, p, DDP_UNTAGGED_LEN + RDMAP_ATOMIC_RESPONSE_LEN);
}

static void ask(struct qp_net *n, const struct row *t, unsigned flags)
{
	qp_net_init(n);
	qp_net_raw_initiator(n);
	qp_region_add(n->a, 7, 0, 16, LOCAL);
	post(n->a, t->first, 1, 0);
	post(n->a, t->second, 2, flags);
	qp_run(n->a);
}

/* Both are answered; completions come in the order of posting (RFC 5040 section 5.5 rule 15). */
static void finish(struct qp_net *n, const struct row *t)
{
	uint32_t msn = 1, atomics = 1;
	const enum op ops[2] = {t->first, t->second};

	for (unsigned i = 0; i < 2; i++) {
		if (!answered(ops[i]))
			continue;
		assert_int_equal(n->a->wcs, i); /* not before its answer (rule 19) */
		answer(n, ops[i], msn++, atomics);
		atomics += ops[i] == ATOMIC;
	}
	assert_int_equal(n->a->wcs, 2);
	assert_int_equal(n->a->wc[0].wr_id, 1);
	assert_int_equal(n->a->wc[1].wr_id, 2);
	assert_int_equal(n->a->endeds, 0);
	qp_net_done(n);
}

/* Rule 13: submitted in the order of posting, none waits for an answer. */
static void test_local(void **state)
{
	for (unsigned i = 0; i < ROWS; i++) {
		struct qp_net n;

		ask(&n, &rows[i], 0);
		expect_sent(&n, rows[i].first);
		expect_sent(&n, rows[i].second);
		finish(&n, &rows[i]);
	}
}

/* A fence holds back the second until the answer to the first is here; it needs none else. */
static void test_fence(void **state)
{
	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *t = &rows[i];
		struct qp_net n;

		ask(&n, t, RDMAP_WR_FENCE);
		expect_sent(&n, t->first);
		if (answered(t->first)) {
			qp_net_expect_nothing(&n);
			answer(&n, t->first, 1, 1);
			expect_sent(&n, t->second);
			if (answered(t->second))
				answer(&n, t->second, 2, 1 + (t->first == ATOMIC));
			assert_int_equal(n.a->wcs, 2);
			qp_net_done(&n);
		} else {
			expect_sent(&n, t->second);
			finish(&n, t);
		}
	}
}

/* All pairs are there, once. */
static void test_complete(void **state)
{
	unsigned n[OPS][OPS] = {{0}};

	for (unsigned i = 0; i < ROWS; i++)
		n[rows[i].first][rows[i].second]++;
	for (unsigned i = 0; i < OPS * OPS; i++)
		assert_int_equal(n[i / OPS][i % OPS], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_remote_blocked),
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_fence),
		cmocka_unit_test(test_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
