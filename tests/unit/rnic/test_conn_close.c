/* SPDX-License-Identifier: BSD-2-Clause */
/** The deadline of an orderly close: what gets on is let finish, and what does not is cut off. */
#include "rnic/conn.h"

#include "base/bytes.h"
#include "ddp/ddp_wire.h"
#include "mpa/crc.h"
#include "pair.h"
#include "raw.h"
#include "rdmap/rdmap_wire.h"
#include "rnic/qp.h"
#include "support/engine_round.h"

#include <errno.h>

#define LONG  30000 /* some twenty segments */
#define CLOSE 5000  /* ms: the deadline as it is configured */

/** Connected, and the responder may send, too: a first message of the initiator's has come. */
static int setup(void **state)
{
	struct pair *p;

	pair_setup(state);
	p = *state;
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 0, 0, 0);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	return 0;
}

/** One segment of data is delivered, and what is told or ends before. */
static void step(struct pair *p)
{
	unsigned n = llp_mem_segments(p->mem);

	engine_lock(&p->engine);
	while (llp_mem_segments(p->mem) == n && llp_mem_step(p->mem))
		;
	engine_unlock(&p->engine);
}

/** Only timers run. In small steps: who is late stood still, and gives up nobody. */
static void pass(struct pair *p, unsigned ms)
{
	while (ms--) {
		p->clock += PAIR_MS;
		engine_round(&p->engine);
	}
}

static unsigned ends(const struct pair *p)
{
	return pair_count(&p->a, RNIC_EP_DISCONNECTED) + pair_count(&p->b, RNIC_EP_DISCONNECTED);
}

/** One segment in 4 s, until @p n completions are there: nothing has ended before. Then the rest.
 */
static void creep(struct pair *p, struct side *s, unsigned n)
{
	struct rnic_wc wc;

	p->quiet = true;
	for (unsigned i = 0; i < 100 && n != 0; i++) {
		pass(p, 4000);
		assert_int_equal(ends(p), 0);
		step(p);
		while (rnic_cq_poll(s->cq, 1, &wc) == 1) {
			assert_int_equal(wc.wc.status, RDMAP_WC_SUCCESS);
			n--;
		}
	}
	p->quiet = false;
	assert_int_equal(n, 0);
	pair_run(p);
	assert_int_equal(ends(p), 2);
	assert_int_equal(pair_last(&p->a)->status, 0);
	assert_int_equal(pair_last(&p->b)->status, 0);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
	assert_int_equal(p->a.n_events + p->b.n_events, 0);
}

static void post_long(struct side *s, enum rdmap_wr_op op, const struct side *to)
{
	pair_post(s, s->qp, 2, op, 0, LONG, pair_addr(to, 0), rnic_mr_stag(to->mr));
}

/* ---- what gets on ------------------------------------------------------------------------ */

static void a_slow_drain_is_let_finish(void **state)
{
	struct pair *p = *state;

	pair_post_recv(&p->b, p->b.qp, 1, 0, LONG);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, LONG, 0, 0);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	creep(p, &p->b, 1);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
}

/** Meanwhile its side sends nothing but ACKs. */
static void a_slow_read_is_let_finish(void **state)
{
	struct pair *p = *state;

	p->quiet = true;
	post_long(&p->a, RDMAP_WR_READ, &p->b);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	creep(p, &p->a, 1);
}

/** Whenever one looks, as much waits to be acknowledged. */
static void a_slow_read_of_the_peer_is_let_finish(void **state)
{
	struct pair *p = *state;

	llp_mem_set_buffer(p->mem, 1500); /* a segment */
	p->quiet = true;
	post_long(&p->b, RDMAP_WR_READ, &p->a);
	step(p); /* the request */
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	creep(p, &p->b, 1);
}

/** For more than ten minutes, and as much waits to be acknowledged whenever one looks. */
static void a_slow_write_is_let_finish(void **state)
{
	const struct rnic_config cfg = {.mpa = {.revision = 2, .crc = true, .fpdu_max = 256}};
	static struct pair p;
	unsigned k = 0;

	(void)state;
	pair_init(&p, &cfg);
	pair_connect(&p);
	llp_mem_set_buffer(p.mem, 256);
	p.quiet = true;
	pair_post(&p.a, p.a.qp, 2, RDMAP_WR_WRITE, 0, PAIR_BUF, pair_addr(&p.b, 0),
		rnic_mr_stag(p.b.mr));
	assert_int_equal(rnic_ep_disconnect(p.a.ep), 0);
	for (; atomic_load(&p.a.qp->sq.tail) == 0 && ends(&p) == 0; k++) {
		pass(&p, 4000);
		step(&p);
	}
	assert_in_range(k, 10 * 60 / 4 + 50, 1000);
	p.quiet = false;
	pair_expect(&p, &p.a, 2, RDMAP_WC_SUCCESS);
	assert_int_equal(ends(&p), 2);
	assert_int_equal(pair_last(&p.a)->status, 0);
	pair_fini(&p);
}

/** Behind our FIN: it is the peer's direction, and its close waits for what it has posted. */
static void a_slow_write_of_the_peer_is_let_finish(void **state)
{
	struct pair *p = *state;

	memset(p->b.buf, 'w', LONG);
	pair_post_recv(&p->a, p->a.qp, 1, LONG, 0);
	p->quiet = true;
	post_long(&p->b, RDMAP_WR_WRITE, &p->a);
	pair_post(&p->b, p->b.qp, 3, RDMAP_WR_SEND, 0, 0, 0, 0);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	creep(p, &p->a, 1);
	assert_int_equal(p->a.buf[LONG - 1], 'w');
}

/** Nothing of them has a length, and each completes a receive. */
static void slow_empty_sends_of_the_peer_are_let_finish(void **state)
{
	struct pair *p = *state;

	for (unsigned i = 0; i < PAIR_DEPTH; i++)
		pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	p->quiet = true;
	for (unsigned i = 0; i < PAIR_DEPTH - 1; i++)
		pair_post(&p->b, p->b.qp, 2, RDMAP_WR_SEND, 0, 0, 0, 0);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	creep(p, &p->a, PAIR_DEPTH - 1);
}

/* ---- what does not ----------------------------------------------------------------------- */

static void is_cut_off(struct pair *p, struct side *s)
{
	pair_advance(p, CLOSE - 100);
	assert_int_equal(pair_count(s, RNIC_EP_DISCONNECTED), 0);
	pair_advance(p, 200);
	assert_int_equal(pair_count(s, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(pair_last(s)->status, -ETIMEDOUT);
	assert_int_equal(rnic_qp_get_state(s->qp), RNIC_QP_ERROR);
}

/** The peer vanished: after the deadline we let go. */
static void nobody_answers_the_close(void **state)
{
	struct pair *p = *state;

	llp_mem_set_silent(p->mem, 1, true);
	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	is_cut_off(p, &p->a);
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
}

static void a_close_while_all_stand_still(void **state)
{
	struct pair *p = *state;

	llp_mem_set_silent(p->mem, 1, true);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	pair_stand_still(p, 60000);
	is_cut_off(p, &p->a);
}

/** Some of the answer has come, and the rest does not. */
static void a_read_that_stands_still_is_cut_off(void **state)
{
	struct pair *p = *state;

	p->quiet = true;
	post_long(&p->a, RDMAP_WR_READ, &p->b);
	for (unsigned i = 0; i < 5; i++)
		step(p);
	assert_true(p->a.qp->rdmap.read_placed != 0);
	llp_mem_hold(mpa_llp(&p->b.qp->conn->mpa), true);
	p->quiet = false;
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	is_cut_off(p, &p->a);
	pair_expect(p, &p->a, 2, RDMAP_WC_WR_FLUSH_ERR);
}

struct stranger {
	struct pair *p;
	struct llp_mem_peer peer;
	uint32_t msn, mo;
};

/** An FPDU around the ULPDU of @p len octets at @p f + 2: a multiple of four, with these two. */
static void stranger_send(struct stranger *s, uint8_t *f, uint32_t len)
{
	store_be16(f, (uint16_t)len);
	store_le32(f + 2 + len, mpa_crc_end(mpa_crc_add(MPA_CRC_START, f, 2 + len)));
	llp_mem_send_raw(s->peer.llp, f, 2 + len + 4);
	pair_run(s->p);
}

static void stranger_writes_nothing(struct stranger *s)
{
	uint8_t f[2 + DDP_TAGGED_LEN + 4];

	ddp_put_tagged(f + 2, true, RDMAP_CONTROL(RDMAP_OP_WRITE), 1, 0);
	stranger_send(s, f, DDP_TAGGED_LEN);
}

static void stranger_reads_nothing(struct stranger *s)
{
	uint8_t f[2 + DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN + 4] = {0};

	ddp_put_untagged(
		f + 2, true, RDMAP_CONTROL(RDMAP_OP_READ_REQUEST), 0, RDMAP_QN_READ, ++s->msn, 0);
	stranger_send(s, f, DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN);
}

/** And it acknowledges each answer when we have looked. */
static void stranger_reads_nothing_and_delays(struct stranger *s)
{
	struct llp *llp = mpa_llp(&s->p->b.qp->conn->mpa);
	bool waits = llp_unacked(llp) != 0;

	llp_mem_hold(llp, !waits);
	if (waits)
		pair_run(s->p);
	else
		stranger_reads_nothing(s);
}

/** Of an FPDU that is never whole. */
static void stranger_sends_an_octet(struct stranger *s)
{
	llp_mem_send_raw(s->peer.llp, "x", 1);
	pair_run(s->p);
}

/** Four octets more of a Send that does not end. */
static void stranger_goes_on_sending(struct stranger *s)
{
	uint8_t f[2 + DDP_UNTAGGED_LEN + 4 + 4] = {0};

	ddp_put_untagged(f + 2, false, RDMAP_CONTROL(RDMAP_OP_SEND), 0, RDMAP_QN_SEND, 1, s->mo);
	s->mo += 4;
	stranger_send(s, f, DDP_UNTAGGED_LEN + 4);
}

/** Less waits to be acknowledged each other time. */
static void stranger_goes_on_sending_and_delays(struct stranger *s)
{
	stranger_goes_on_sending(s);
	stranger_reads_nothing_and_delays(s);
}

/** One octet more of the answer to our Read. */
static void stranger_answers_an_octet(struct stranger *s)
{
	uint8_t f[2 + DDP_TAGGED_LEN + 1 + 3 + 4] = {0};
	const struct side *b = &s->p->b;

	ddp_put_tagged(f + 2, false, RDMAP_CONTROL(RDMAP_OP_READ_RESPONSE), rnic_mr_stag(b->mr),
		pair_addr(b, s->mo++));
	store_be16(f, DDP_TAGGED_LEN + 1);
	store_le32(f + 20, mpa_crc_end(mpa_crc_add(MPA_CRC_START, f, 20)));
	llp_mem_send_raw(s->peer.llp, f, sizeof f);
	pair_run(s->p);
}

/** A stranger who has been accepted, and is there. */
static void stranger_open(struct stranger *s)
{
	struct pair *p = s->p;
	struct rnic_conn_param cp = {.ird = 4, .ord = 4};

	pair_init(p, NULL);
	pair_listen(p, 4);
	raw_ask(p, &s->peer, REQ_KEY "\x40\x01\x00\x00", 20);
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
	cp.qp = p->b.qp;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	stranger_writes_nothing(s);
	assert_int_equal(pair_count(&p->b, RNIC_EP_ESTABLISHED), 1);
}

static void stranger_was_cut_off(struct stranger *s)
{
	assert_int_equal(pair_last(&s->p->b)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(pair_last(&s->p->b)->status, -ETIMEDOUT);
	pair_expect(s->p, &s->p->b, 2, RDMAP_WC_WR_FLUSH_ERR);
	llp_mem_peer_done(&s->peer);
	pair_fini(s->p);
}

/** What is the peer's alone gets on for ten minutes, and no longer: though it owe us an answer. */
static void a_peer_alone_keeps_no_close_for_ever(void **state)
{
	static const struct {
		void (*sent)(struct stranger *);
		bool owes;
	} kinds[] = {{stranger_goes_on_sending, false}, {stranger_goes_on_sending, true},
		{stranger_goes_on_sending_and_delays, true}, {stranger_answers_an_octet, true}};

	(void)state;
	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		static struct pair p;
		struct stranger s = {.p = &p};
		unsigned k = 0;

		stranger_open(&s);
		pair_post_recv(&p.b, p.b.qp, 2, 0, 1000);
		if (kinds[i].owes)
			post_long(&p.b, RDMAP_WR_READ, &p.a);
		pair_run(&p);
		assert_int_equal(rnic_ep_disconnect(p.b.request), 0);
		pair_advance(&p, 100);
		for (; k < 130 && p.b.qp->conn; k++) {
			kinds[i].sent(&s);
			pair_advance(&p, CLOSE);
		}
		assert_in_range(k, 120, 121);
		stranger_was_cut_off(&s);
	}
}

/** An octet of what we send is acknowledged now and then: it would take days. */
static void an_octet_now_and_then_keeps_no_close_for_ever(void **state)
{
	struct pair *p = *state;
	unsigned k = 0;

	pair_post_recv(&p->b, p->b.qp, 1, 0, LONG);
	llp_mem_set_segment(p->mem, 1);
	p->quiet = true;
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND, 0, LONG, 0, 0);
	assert_int_equal(rnic_ep_disconnect(p->a.ep), 0);
	for (; k < 130 && p->a.qp->conn; k++) {
		step(p);
		pass(p, CLOSE);
	}
	assert_in_range(k, 120, 121);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
	p->quiet = false;
}

/** A peer that owes us the answer to a Read may send what it likes. */
static void what_gets_nobody_on_keeps_no_close(void **state)
{
	static void (*const sent[])(struct stranger *) = {stranger_sends_an_octet,
		stranger_writes_nothing, stranger_reads_nothing, stranger_reads_nothing_and_delays};

	(void)state;
	for (unsigned i = 0; i < sizeof sent / sizeof sent[0]; i++) {
		static struct pair p;
		struct stranger s = {.p = &p};

		stranger_open(&s);
		post_long(&p.b, RDMAP_WR_READ, &p.a);
		pair_run(&p);
		assert_int_equal(rnic_ep_disconnect(p.b.request), 0);
		pair_advance(&p, 100);
		for (unsigned k = 0; k < 3 && p.b.qp->conn; k++) {
			sent[i](&s);
			pair_advance(&p, CLOSE);
		}
		stranger_was_cut_off(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_slow_drain_is_let_finish, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(a_slow_read_is_let_finish, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_slow_read_of_the_peer_is_let_finish, setup, pair_teardown),
		cmocka_unit_test(a_slow_write_is_let_finish),
		cmocka_unit_test_setup_teardown(
			a_slow_write_of_the_peer_is_let_finish, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			slow_empty_sends_of_the_peer_are_let_finish, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(nobody_answers_the_close, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_close_while_all_stand_still, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_read_that_stands_still_is_cut_off, setup, pair_teardown),
		cmocka_unit_test(what_gets_nobody_on_keeps_no_close),
		cmocka_unit_test(a_peer_alone_keeps_no_close_for_ever),
		cmocka_unit_test_setup_teardown(
			an_octet_now_and_then_keeps_no_close_for_ever, setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
