/* SPDX-License-Identifier: BSD-2-Clause */
/* UD queue pairs (docs/ud.md) of two RNICs, which hand each other their datagrams. */
#include "rnic/ud.h"

#include "pair.h"
#include "rnic/qp.h"
#include "ud/datagram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#define QKEY 0x11223344
#define MTU  1024
#define AT_B 30000 /* where receives are in the buffer of a side */

/* One end of the wire, and what is on its way from it. */
struct wire {
	struct ud_net net;
	struct wire *peer;
	ud_input_fn *input;
	void *user;
	struct ud_path path;
	uint16_t port, to_port;
	uint8_t room[UD_DATAGRAM_MAX];
	size_t len;
	int begin_rc, open_rc;
	bool stuck;            /**< flush() has not sent all */
	void (*sending)(void); /**< called for each datagram */
	unsigned commits, cancels, flushes, prepared;
};

static struct pair pair;
static struct wire wire[2];
static struct rnic_qp *qp[2];
static struct side *const side[2] = {&pair.a, &pair.b};

static int wire_open(void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user)
{
	struct wire *w = ctx;

	w->port = port;
	w->input = input;
	w->user = user;
	return w->open_rc;
}

static void wire_close(void *ctx)
{
	struct wire *w = ctx;

	w->input = NULL;
}

static int wire_begin(
	void *ctx, const struct ud_path *path, uint16_t port, size_t len, uint8_t **room)
{
	struct wire *w = ctx;

	w->path = *path;
	w->to_port = port;
	w->len = len;
	*room = w->room;
	return w->begin_rc;
}

static void wire_commit(void *ctx, uint16_t sum)
{
	struct wire *w = ctx;
	const struct ud_path path = {
		.local = w->path.remote, .remote = w->path.local, .tos = w->path.tos, .ttl = 61};

	w->commits++;
	if (w->sending)
		w->sending();
	if (w->peer->input)
		w->peer->input(w->peer->user, &path, w->room, w->len);
}

static void wire_cancel(void *ctx)
{
	struct wire *w = ctx;

	w->cancels++;
}

static bool wire_flush(void *ctx)
{
	struct wire *w = ctx;

	w->flushes++;
	return !w->stuck;
}

static void wire_prepare(void *ctx, const struct ip_addr *remote)
{
	struct wire *w = ctx;

	w->prepared++;
}

static struct rnic_qp *ud_qp(struct side *s, struct rnic_srq *srq)
{
	struct rnic_qp_init init = {.send_cq = s->cq,
		.recv_cq = s->cq,
		.srq = srq,
		.max_send_wr = 128,
		.max_recv_wr = srq ? 0 : 64,
		.max_send_sge = 2,
		.max_recv_sge = srq ? 0 : 2,
		.max_inline = 64,
		.ud = true};
	struct rnic_qp *q;

	assert_int_equal(rnic_qp_create(s->pd, &init, &q), 0);
	return q;
}

static void go(struct rnic_qp *q)
{
	const struct rnic_qp_attr attr = {.state = RNIC_QP_INIT, .qkey = QKEY};

	assert_int_equal(rnic_qp_modify(q, RNIC_QP_STATE | RNIC_QP_QKEY, &attr), 0);
	assert_int_equal(pair_go(q, RNIC_QP_RTR), 0);
	assert_int_equal(pair_go(q, RNIC_QP_RTS), 0);
}

static int setup(void **state)
{
	static const struct ud_net net = {.open = wire_open,
		.close = wire_close,
		.begin = wire_begin,
		.commit = wire_commit,
		.cancel = wire_cancel,
		.flush = wire_flush,
		.prepare = wire_prepare,
		.max_message = MTU};

	pair_engine_init(&pair);
	for (unsigned i = 0; i < 2; i++) {
		struct rnic_config cfg = {.mpa = {.revision = 2},
			.pairing_port = 61525,
			.ud = &wire[i].net,
			.ud_port = 61000};

		wire[i] = (struct wire){.net = net, .peer = &wire[!i]};
		wire[i].net.ctx = &wire[i];
		pair_rnic(&pair, side[i], i, &cfg);
		pair_side(side[i]);
		qp[i] = ud_qp(side[i], NULL);
		go(qp[i]);
	}
	return 0;
}

static int teardown(void **state)
{
	for (unsigned i = 0; i < 2; i++)
		if (qp[i])
			assert_int_equal(rnic_qp_destroy(qp[i]), 0);
	pair_fini(&pair);
	return 0;
}

static const struct rnic_ud_to to_b = {.local = {{1}}, .remote = {{2}}, .qkey = QKEY, .tos = 4};

/* Begin a Send from a to b's QP. */
static struct rdmap_wqe *begin_to(uint64_t wr_id, uint32_t len, const struct rnic_ud_to *to)
{
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(qp[0]), 0);
	w = rnic_sq_next(qp[0]);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->op = RDMAP_WR_SEND;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){
		.addr = (uintptr_t)pair.a.buf, .len = len, .stag = rnic_mr_stag(pair.a.mr)};
	w->remote_stag = rnic_qp_num(qp[1]);
	rnic_ud_aim(w, to);
	return w;
}

static void end(void)
{
	rnic_sq_commit(qp[0]);
	rnic_sq_end(qp[0]);
}

static void send(uint64_t wr_id, uint32_t len)
{
	begin_to(wr_id, len, &to_b);
	end();
}

static void expect_sent(uint64_t wr_id, unsigned status)
{
	assert_int_equal(pair_expect(&pair, &pair.a, wr_id, status).wc.op, RDMAP_WC_SEND);
}

static void post_recv(uint64_t wr_id, uint32_t len)
{
	pair_post_recv(&pair.b, qp[1], wr_id, AT_B, len);
}

static struct rdmap_wc expect_received(uint64_t wr_id, uint32_t len)
{
	struct rdmap_wc wc = pair_expect(&pair, &pair.b, wr_id, RDMAP_WC_SUCCESS).wc;

	assert_int_equal(wc.op, RDMAP_WC_RECV);
	assert_int_equal(wc.byte_len, RNIC_UD_GRH_LEN + len);
	assert_int_equal(wc.src_qp, rnic_qp_num(qp[0]));
	assert_memory_equal(pair.b.buf + AT_B + RNIC_UD_GRH_LEN, pair.a.buf, len);
	return wc;
}

static struct rnic_ud_stats stats(void)
{
	return rnic_ud_get_stats(pair.b.rnic);
}

/* ---- what arrives -------------------------------------------------------------------------- */

/* A GRH of 40 octets, then the message; none of it was there before. */
static void test_message(void **state)
{
	static const uint8_t grh[] = {
		0x60, 0x40, 0, 0, 0, 100, 0x1b, 61, [8] = 1, [24] = 2, [39] = 0};
	struct rdmap_wc wc;

	post_recv(7, 1000);
	send(1, 100);
	expect_sent(1, RDMAP_WC_SUCCESS);
	wc = expect_received(7, 100);
	assert_int_equal(wc.flags, RDMAP_WC_GRH);
	assert_memory_equal(pair.b.buf + AT_B, grh, sizeof grh);
	assert_int_equal(wire[0].to_port, 61000);
	assert_int_equal(wire[0].path.tos, 4);
	assert_int_equal(stats().received, 1);
	assert_int_equal(rnic_ud_get_stats(pair.a.rnic).sent, 1);
}

static void test_immediate(void **state)
{
	struct rdmap_wqe *w;
	struct rdmap_wc wc;

	assert_true(rnic_qp_takes_send_imm(qp[0]));
	post_recv(7, 1000);
	post_recv(8, 1000);
	w = begin_to(1, 3, &to_b);
	w->op = RDMAP_WR_SEND_IMM;
	w->imm = 0x01020304;
	w->flags = RDMAP_WR_INLINE | RDMAP_WR_SOLICITED;
	w->num_sge = 0;
	memcpy(rdmap_wqe_inline(w), pair.a.buf, 3);
	end();
	wc = expect_received(7, 3);
	assert_int_equal(wc.flags, RDMAP_WC_GRH | RDMAP_WC_WITH_IMM | RDMAP_WC_SOLICITED);
	assert_int_equal(wc.imm, 0x01020304);
	pair_expect_none(&pair, &pair.a);
	send(2, 0);
	expect_sent(2, RDMAP_WC_SUCCESS);
	assert_int_equal(expect_received(8, 0).flags, RDMAP_WC_GRH);
}

/* An empty element is passed over, whatever its key. */
static void test_gather_empty(void **state)
{
	struct rdmap_wqe *w;

	post_recv(7, 1000);
	w = begin_to(1, 3, &to_b);
	w->sge[1] = w->sge[0];
	w->sge[0] = (struct rdmap_sge){.len = 0};
	w->num_sge = 2;
	end();
	expect_sent(1, RDMAP_WC_SUCCESS);
	expect_received(7, 3);
}

/* The message and its GRH lie across the elements of a list. */
static void test_scatter(void **state)
{
	struct rdmap_rqe *e;

	assert_int_equal(rnic_rq_begin(qp[1]), 0);
	e = rnic_rq_next(qp[1]);
	e->wr_id = 7;
	e->length = 60;
	e->num_sge = 2;
	for (unsigned i = 0; i < 2; i++)
		e->sge[i] = (struct rdmap_sge){.addr = (uintptr_t)pair.b.buf + AT_B + 30 * i,
			.len = 30,
			.stag = rnic_mr_stag(pair.b.mr)};
	rnic_rq_commit(qp[1]);
	rnic_rq_end(qp[1]);
	send(1, 20);
	expect_sent(1, RDMAP_WC_SUCCESS);
	expect_received(7, 20);
}

static void test_srq(void **state)
{
	struct rnic_srq *srq;
	struct rdmap_rqe *e;

	assert_int_equal(rnic_srq_create(pair.b.pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(qp[1]), 0);
	qp[1] = ud_qp(&pair.b, srq);
	go(qp[1]);
	assert_int_equal(rnic_srq_begin(srq), 0);
	e = rnic_srq_next(srq);
	e->wr_id = 9;
	e->length = 100;
	e->num_sge = 1;
	e->sge[0] = (struct rdmap_sge){
		.addr = (uintptr_t)pair.b.buf + AT_B, .len = 100, .stag = rnic_mr_stag(pair.b.mr)};
	rnic_srq_commit(srq);
	rnic_srq_end(srq);
	send(1, 61); /* one octet too many: the element stays */
	expect_sent(1, RDMAP_WC_SUCCESS);
	send(2, 60);
	expect_sent(2, RDMAP_WC_SUCCESS);
	expect_received(9, 60);
	assert_int_equal(stats().too_long, 1);
	send(3, 60);
	expect_sent(3, RDMAP_WC_SUCCESS);
	assert_int_equal(stats().no_receive, 1);
	assert_int_equal(rnic_qp_destroy(qp[1]), 0);
	qp[1] = NULL;
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

/* ---- what does not ------------------------------------------------------------------------- */

/* Dropped and counted: no completion, and what is posted stays. */
static void test_dropped(void **state)
{
	struct rnic_ud_to to = to_b;

	send(1, 100);
	expect_sent(1, RDMAP_WC_SUCCESS);
	assert_int_equal(stats().no_receive, 1);
	post_recv(7, RNIC_UD_GRH_LEN + 99);
	send(2, 100);
	expect_sent(2, RDMAP_WC_SUCCESS);
	assert_int_equal(stats().too_long, 1);
	to.qkey ^= 1;
	begin_to(3, 10, &to);
	end();
	expect_sent(3, RDMAP_WC_SUCCESS);
	assert_int_equal(stats().wrong_qkey, 1);
	begin_to(4, 10, &to_b)->remote_stag = rnic_qp_num(pair.b.qp); /* reliable, connected */
	end();
	begin_to(5, 10, &to_b)->remote_stag += 77;
	end();
	expect_sent(4, RDMAP_WC_SUCCESS);
	expect_sent(5, RDMAP_WC_SUCCESS);
	assert_int_equal(stats().no_qp, 2);
	pair_expect_none(&pair, &pair.b);
	to.qkey = 0x80000000; /* ours */
	begin_to(6, 99, &to);
	end();
	expect_sent(6, RDMAP_WC_SUCCESS);
	expect_received(7, 99);
}

static void test_states(void **state)
{
	static const enum rnic_qp_state states[] = {RNIC_QP_RESET, RNIC_QP_INIT, RNIC_QP_ERROR};

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pair_go(qp[1], RNIC_QP_RESET), 0);
		if (states[i] != RNIC_QP_RESET)
			assert_int_equal(pair_go(qp[1], states[i]), 0);
		send(i, 10);
		expect_sent(i, RDMAP_WC_SUCCESS);
		assert_int_equal(stats().no_qp, i + 1);
	}
	assert_int_equal(pair_go(qp[1], RNIC_QP_RESET), 0);
	assert_int_equal(qp[1]->ud->qkey, 0);
	go(qp[1]);
	assert_int_equal(pair_go(qp[1], RNIC_QP_SQD), 0);
	post_recv(7, 100);
	send(9, 10);
	expect_sent(9, RDMAP_WC_SUCCESS);
	expect_received(7, 10);
}

static void test_malformed(void **state)
{
	const struct ud_path path = {.ttl = 1};
	uint8_t bytes[UD_OVERHEAD] = {0};

	for (size_t len = 0; len <= sizeof bytes; len++)
		wire[1].input(wire[1].user, &path, bytes, len);
	assert_int_equal(stats().bad, sizeof bytes + 1);
	wire[1].net.refused = 3;
	assert_int_equal(stats().refused, 3);
}

/* The program's own mistake: its receive says so, and the QP is in ERROR. */
static void test_receive_without_memory(void **state)
{
	struct rdmap_rqe *e;

	assert_int_equal(rnic_rq_begin(qp[1]), 0);
	e = rnic_rq_next(qp[1]);
	e->wr_id = 7;
	e->length = 100;
	e->num_sge = 1;
	e->sge[0] = (struct rdmap_sge){.addr = 8, .len = 100, .stag = 12345};
	rnic_rq_commit(qp[1]);
	rnic_rq_end(qp[1]);
	post_recv(8, 100);
	send(1, 10);
	expect_sent(1, RDMAP_WC_SUCCESS);
	pair_expect(&pair, &pair.b, 7, RDMAP_WC_LOC_PROT_ERR);
	pair_expect(&pair, &pair.b, 8, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(rnic_qp_get_state(qp[1]), RNIC_QP_ERROR);
}

/* ---- sends --------------------------------------------------------------------------------- */

static void test_send_errors(void **state)
{
	static const unsigned status[] = {
		RDMAP_WC_LOC_LEN_ERR, RDMAP_WC_LOC_PROT_ERR, RDMAP_WC_LOC_QP_OP_ERR};

	for (unsigned i = 0; i < 3; i++) {
		struct rdmap_wqe *w = begin_to(1, i == 0 ? MTU + 1 : 10, &to_b);

		if (i == 1)
			w->sge[0].stag = 12345;
		if (i == 2)
			w->op = RDMAP_WR_WRITE;
		rnic_sq_commit(qp[0]);
		w = rnic_sq_next(qp[0]);
		w->wr_id = 2;
		w->op = RDMAP_WR_SEND;
		end();
		assert_int_equal(pair_expect(&pair, &pair.a, 1, status[i]).wc.status, status[i]);
		expect_sent(2, RDMAP_WC_WR_FLUSH_ERR);
		assert_int_equal(rnic_qp_get_state(qp[0]), RNIC_QP_ERROR);
		assert_int_equal(wire[0].commits, 0);
		assert_int_equal(wire[0].cancels, i >= 1);
		assert_int_equal(pair_go(qp[0], RNIC_QP_RESET), 0);
		go(qp[0]);
	}
}

/* There is no way to that peer: the datagram is lost, as anywhere. */
static void test_no_way(void **state)
{
	wire[0].begin_rc = -ENETUNREACH;
	send(1, 10);
	expect_sent(1, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_ud_get_stats(pair.a.rnic).no_way, 1);
}

/* What has no room waits, and goes in its order. */
static void test_waits(void **state)
{
	wire[0].begin_rc = -EAGAIN;
	for (unsigned i = 0; i < 3; i++) {
		post_recv(7 + i, 100);
		send(i, 10 + i);
	}
	pair_expect_none(&pair, &pair.a);
	wire[0].begin_rc = 0;
	pair_advance(&pair, 1);
	for (unsigned i = 0; i < 3; i++) {
		expect_sent(i, RDMAP_WC_SUCCESS);
		expect_received(7 + i, 10 + i);
	}
	/* Nor is it forgotten what the port has not sent yet. */
	wire[0].stuck = true;
	send(9, 1);
	wire[0].stuck = false;
	wire[0].flushes = 0;
	pair_advance(&pair, 1);
	assert_true(wire[0].flushes != 0);
	expect_sent(9, RDMAP_WC_SUCCESS);
}

/* So many Sends without signals, in one post. */
static void send_many_as(unsigned n, unsigned flags)
{
	begin_to(0, 10, &to_b)->flags = (uint8_t)flags;
	for (unsigned i = 1; i < n; i++) {
		struct rdmap_wqe *first = rdmap_sq_at(&qp[0]->sq, qp[0]->sq_posted), *w;

		rnic_sq_commit(qp[0]);
		w = rnic_sq_next(qp[0]);
		assert_non_null(w);
		memcpy(w, first, sizeof *w + sizeof w->sge[0]);
	}
	end();
}

static void send_many(unsigned n)
{
	send_many_as(n, 0);
}

/* More than a burst goes on by itself. */
static void test_burst(void **state)
{
	send_many(2 * UD_BURST);
	assert_int_equal(wire[0].commits, UD_BURST);
	pair_advance(&pair, 1);
	assert_int_equal(wire[0].commits, 2 * UD_BURST);
}

/* A program that ends does not take back what it has posted. */
static void test_destroyed(void **state)
{
	send_many(2 * UD_BURST);
	assert_int_equal(wire[0].commits, UD_BURST);
	assert_int_equal(rnic_qp_destroy(qp[0]), 0);
	qp[0] = NULL;
	assert_int_equal(wire[0].commits, 2 * UD_BURST);
	assert_true(wire[0].flushes != 0);
	pair_advance(&pair, 1);
	assert_int_equal(wire[0].commits, 2 * UD_BURST);
}

static void send_one_more(void)
{
	send_many(1);
}

/* Nor is it waited for a thread that goes on posting. */
static void test_destroyed_while_posted_to(void **state)
{
	send_many(2 * UD_BURST);
	wire[0].sending = send_one_more;
	rnic_qp_retire(qp[0]);
	assert_in_range(wire[0].commits, 2 * UD_BURST, 3 * UD_BURST);
	assert_int_equal(rnic_sq_begin(qp[0]), -EINVAL);
	rnic_qp_free(qp[0]);
	qp[0] = NULL;
}

/* Nor does one that fails then tell of a QP that is gone. */
static void test_destroyed_by_a_send_that_fails(void **state)
{
	struct rnic_srq *srq;

	assert_int_equal(rnic_srq_create(pair.a.pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(rnic_qp_destroy(qp[0]), 0);
	qp[0] = ud_qp(&pair.a, srq);
	go(qp[0]);
	wire[0].begin_rc = -EAGAIN;
	begin_to(1, 10, &to_b)->sge[0].stag ^= 0x100;
	end();
	wire[0].begin_rc = 0;
	assert_int_equal(rnic_qp_destroy(qp[0]), 0);
	qp[0] = NULL;
	assert_int_equal(wire[0].cancels, 1);
	assert_int_equal(pair.a.n_events, 0);
	pair_expect_none(&pair, &pair.a);
	assert_int_equal(rnic_srq_destroy(srq), 0);
}

/* Its completions, which nobody will poll, take no room from the others at its CQ. */
static void test_destroyed_at_a_full_cq(void **state)
{
	struct rnic_qp *other = ud_qp(&pair.a, NULL);

	go(other);
	assert_int_equal(rnic_cq_resize(pair.a.cq, UD_BURST), 0);
	send_many_as(2 * UD_BURST, RDMAP_WR_SIGNALED);
	assert_int_equal(rnic_qp_destroy(qp[0]), 0);
	qp[0] = NULL;
	assert_int_equal(wire[0].commits, 2 * UD_BURST);
	pair_expect_none(&pair, &pair.a);
	assert_int_equal(pair_count_async(&pair.a, RNIC_EVENT_CQ_ERROR), 0);
	assert_int_equal(rnic_qp_get_state(other), RNIC_QP_RTS);
	assert_int_equal(rnic_qp_destroy(other), 0);
}

/* Many that have no way do not keep back what is behind them. */
static void test_destroyed_without_a_way(void **state)
{
	uint64_t before = rnic_ud_get_stats(pair.a.rnic).no_way;

	send_many(3 * UD_BURST);
	wire[0].begin_rc = -EHOSTUNREACH;
	assert_int_equal(rnic_qp_destroy(qp[0]), 0);
	qp[0] = NULL;
	assert_int_equal(rnic_ud_get_stats(pair.a.rnic).no_way - before, 2 * UD_BURST);
}

/* In SQD nothing is sent; what waits is sent in RTS. */
static void test_sqd(void **state)
{
	post_recv(7, 100);
	assert_int_equal(pair_go(qp[0], RNIC_QP_SQD), 0);
	send(1, 10);
	pair_expect_none(&pair, &pair.a);
	assert_int_equal(pair_go(qp[0], RNIC_QP_RTS), 0);
	expect_sent(1, RDMAP_WC_SUCCESS);
	expect_received(7, 10);
	/* Destroyed while something waits. */
	wire[0].begin_rc = -EAGAIN;
	send(2, 10);
	assert_int_equal(rnic_qp_destroy(qp[0]), 0);
	qp[0] = NULL;
	pair_advance(&pair, 1);
}

/* ---- life ---------------------------------------------------------------------------------- */

static void test_not_there(void **state)
{
	struct rnic_qp_init init = {.send_cq = pair.a.cq, .recv_cq = pair.a.cq, .ud = true};
	struct rnic_conn_param cp = {.qp = qp[0]};
	struct rnic_qp *q;

	pair.a.rnic->ud.open = false;
	wire[0].open_rc = -EADDRINUSE;
	assert_int_equal(rnic_qp_create(pair.a.pd, &init, &q), -EADDRINUSE);
	pair.a.rnic->ud.net = NULL;
	assert_int_equal(rnic_qp_create(pair.a.pd, &init, &q), -EOPNOTSUPP);
	assert_int_equal(rnic_ud_max_message(pair.a.rnic), 0);
	pair.a.rnic->ud.net = &wire[0].net;
	pair.a.rnic->ud.open = true;
	assert_int_equal(rnic_ud_max_message(pair.a.rnic), MTU);
	/* Nothing connects it. */
	assert_int_equal(rnic_ep_connect(pair.a.ep, &cp), -EINVAL);
	rnic_ud_prepare(pair.a.rnic, &to_b.remote);
	assert_int_equal(wire[0].prepared, 1);
}

static unsigned remarks;

static void count_remarks(void *ctx, enum log_level level, const char *text)
{
	assert_int_equal(level, LOG_LEVEL_WARNING);
	assert_non_null(strstr(text, "not without TLS"));
	remarks++;
}

/** It is said to who wants them, once, and where there are none that is why. */
static void test_remark(void **state)
{
	const struct log_sink sink = {.line = count_remarks, .max_level = LOG_LEVEL_WARNING};
	struct rnic *r = pair.a.rnic;
	const struct log_sink *log = r->log;
	struct rnic_ep *ep;

	assert_false(rnic_ud_remark(r));
	r->log = &sink;
	r->ud.remark = "not without TLS";
	r->ud.net = NULL;
	assert_int_equal(remarks, 0);
	assert_int_equal(rnic_ep_create_ud(r, NULL, NULL, &ep), -EOPNOTSUPP);
	assert_int_equal(remarks, 1);
	assert_true(rnic_ud_remark(r));
	assert_int_equal(remarks, 1);
	r->ud.net = &wire[0].net;
	r->log = log;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
		TEST(test_message),
		TEST(test_immediate),
		TEST(test_gather_empty),
		TEST(test_scatter),
		TEST(test_srq),
		TEST(test_dropped),
		TEST(test_states),
		TEST(test_malformed),
		TEST(test_receive_without_memory),
		TEST(test_send_errors),
		TEST(test_no_way),
		TEST(test_waits),
		TEST(test_burst),
		TEST(test_destroyed),
		TEST(test_destroyed_while_posted_to),
		TEST(test_destroyed_by_a_send_that_fails),
		TEST(test_destroyed_at_a_full_cq),
		TEST(test_destroyed_without_a_way),
		TEST(test_sqd),
		TEST(test_not_there),
		TEST(test_remark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
