/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/inspect.h"

#include "pair.h"
#include "rnic/cq.h"
#include "rnic/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static int setup(void **state)
{
	static struct pair p;

	pair_init(&p, NULL);
	pair_connect(&p);
	*state = &p;
	return 0;
}

/** The next object of a walk over QPs; false: there are no more. */
static bool next_qp(struct rnic *r, struct rnic_qp_walk *w, struct rnic_qp_item *item)
{
	enum walk found;

	do
		found = rnic_qp_walk(r, w, item);
	while (found == WALK_NONE);
	return found == WALK_ITEM;
}

static struct rnic_qp_item the_qp(const struct side *s)
{
	struct rnic_qp_walk w = {0};
	struct rnic_qp_item item;

	while (next_qp(s->rnic, &w, &item))
		if (item.num == rnic_qp_num(s->qp))
			return item;
	fail_msg("the QP was not found");
	return item;
}

static void a_qp_tells_of_its_work(void **state)
{
	struct pair *p = *state;
	struct rnic_qp_item a, b;

	pair_post_recv(&p->b, p->b.qp, 7, 0, 64);
	pair_post_recv(&p->b, p->b.qp, 8, 64, 64);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 14, 0, 0);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_post(
		&p->a, p->a.qp, 2, RDMAP_WR_READ, 0, 8, (uintptr_t)p->b.buf, rnic_mr_stag(p->b.mr));
	pair_run(p);
	a = the_qp(&p->a);
	b = the_qp(&p->b);
	assert_int_equal(a.state, RNIC_QP_RTS);
	assert_true(a.connected && b.connected && !a.responder && b.responder);
	assert_int_equal(a.remote.port, b.local.port);
	assert_int_equal(b.local.port, PAIR_PORT);
	assert_int_equal(a.send_posted, 2);
	assert_int_equal(a.send_started, 2);
	assert_int_equal(a.send_completed, 2);
	assert_int_equal(a.sends_sent, 1);
	assert_int_equal(a.requests_sent, 1);
	assert_int_equal(b.sends_received, 1);
	assert_int_equal(b.requests_received, 1);
	assert_int_equal(b.recv_posted, 2);
	assert_int_equal(b.recv_completed, 1);
	assert_false(a.ended);
}

static void an_error_is_counted_by_its_code(void **state)
{
	struct pair *p = *state;
	struct rnic_inspection a, b;
	struct rnic_qp_item item;

	/* An STag that was never given out: RFC 5041 section 7.1, DDP tagged buffer, code 0. */
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 8, 0, 0xdeadbe00);
	pair_run(p);
	rnic_inspect(p->a.rnic, &a);
	rnic_inspect(p->b.rnic, &b);
	assert_int_equal(a.terminates.n, 1);
	assert_int_equal(a.terminates.code[0].received, 1);
	assert_int_equal(b.terminates.n, 1);
	assert_int_equal(b.terminates.code[0].sent, 1);
	assert_int_equal(b.terminates.code[0].layer, 1);
	assert_int_equal(b.terminates.code[0].etype, 1);
	assert_int_equal(b.terminates.code[0].code, 0);
	item = the_qp(&p->a);
	assert_int_equal(item.state, RNIC_QP_ERROR);
	assert_true(item.ended && !item.connected);
	assert_int_equal(item.end.kind, RDMAP_END_TERMINATE_RX);
}

/** Also where no stream tells: by the program, and by a deadline. */
static void whatever_ends_a_stream_is_noted(void **state)
{
	static const struct rnic_config cfg = {
		.mpa = {.revision = 2, .crc = true, .peer_to_peer = true, .rtr = MPA_RTR_WRITE}};
	struct pair *p = *state;
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 4, .ord = 4};
	struct rnic_inspection b;

	assert_int_equal(pair_go(p->a.qp, RNIC_QP_RESET), 0);
	pair_run(p);
	assert_true(the_qp(&p->a).ended);
	assert_int_equal(the_qp(&p->a).end.kind, RDMAP_END_CLOSED);
	pair_fini(p);
	pair_init(p, &cfg);
	pair_request(p, NULL);
	llp_mem_set_silent(p->mem, 0, true);
	cp.qp = p->b.qp;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_advance(p, 11000);
	assert_true(the_qp(&p->b).ended);
	assert_int_equal(the_qp(&p->b).end.kind, RDMAP_END_LOST);
	assert_int_equal(the_qp(&p->b).end.error, -ETIMEDOUT);
	rnic_inspect(p->b.rnic, &b);
	assert_int_equal(b.terminates.lost, 1);
}

/** A peer may send any code: those past the table are counted together, and none is lost. */
static void codes_are_bounded(void **state)
{
	struct rnic_term_counts t = {.n = 0};
	uint64_t received = 0;

	for (unsigned i = 0; i < 256; i++) {
		struct rdmap_end e = {.kind = RDMAP_END_TERMINATE_RX, .code = (uint8_t)i};

		rnic_count_end(&t, &e);
		rnic_count_end(&t, &e);
	}
	rnic_count_end(&t, &(struct rdmap_end){.kind = RDMAP_END_CLOSED});
	rnic_count_end(&t, &(struct rdmap_end){.kind = RDMAP_END_LOST});
	assert_int_equal(t.n, RNIC_TERM_COUNTS);
	for (unsigned i = 0; i < t.n; i++)
		received += t.code[i].received;
	assert_int_equal(received, 2 * RNIC_TERM_COUNTS);
	assert_int_equal(t.others_received, 2 * (256 - RNIC_TERM_COUNTS));
	assert_int_equal(t.closed, 1);
	assert_int_equal(t.lost, 1);
}

static void qps_come_and_go_during_a_walk(void **state)
{
	struct pair *p = *state;
	struct rnic_qp *qp[100];
	struct rnic_qp_walk w = {0};
	struct rnic_qp_item item;
	uint32_t last = 0;
	unsigned found = 0;

	for (unsigned i = 0; i < 100; i++)
		qp[i] = pair_qp(&p->a, p->a.cq, NULL);
	while (next_qp(p->a.rnic, &w, &item)) {
		assert_true(item.num > last);
		last = item.num;
		/* Every third goes right before the walk comes there. */
		if (found % 2 == 0 && found < 98 && item.num == rnic_qp_num(qp[found])) {
			assert_int_equal(rnic_qp_destroy(qp[found + 1]), 0);
			qp[found + 1] = NULL;
		}
		found++;
	}
	assert_in_range(found, 50, 101);
	for (unsigned i = 0; i < 100; i++)
		if (qp[i])
			assert_int_equal(rnic_qp_destroy(qp[i]), 0);
}

static void cqs_and_their_depth(void **state)
{
	struct pair *p = *state;
	struct rnic_cq_item item;
	struct rnic_cq *cq[3];

	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 0, 0, 0);
	pair_run(p);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(rnic_cq_create(p->a.rnic, 10, NULL, NULL, &cq[i]), 0);
	rnic_cq_walk_begin(p->a.rnic);
	/* The newest first; and the next goes before the walk is there. */
	assert_int_equal(rnic_cq_walk(p->a.rnic, &item), WALK_ITEM);
	assert_int_equal(item.num, cq[2]->num);
	assert_int_equal(item.size, 16);
	assert_int_equal(item.depth, 0);
	assert_int_equal(rnic_cq_destroy(cq[1]), 0);
	assert_int_equal(rnic_cq_walk(p->a.rnic, &item), WALK_ITEM);
	assert_int_equal(item.num, cq[0]->num);
	assert_int_equal(rnic_cq_walk(p->a.rnic, &item), WALK_ITEM);
	assert_int_equal(item.num, p->a.cq->num);
	assert_int_equal(item.depth, 1);
	assert_int_equal(rnic_cq_walk(p->a.rnic, &item), WALK_END);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	assert_int_equal(rnic_cq_destroy(cq[0]), 0);
	assert_int_equal(rnic_cq_destroy(cq[2]), 0);
}

static void regions_go_during_a_walk(void **state)
{
	struct pair *p = *state;
	struct rnic_mr *mr[3];
	struct rnic_mr_item item;

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(
			rnic_mr_reg(p->a.pd, p->a.buf, 100 + i, 5, RNIC_ACCESS_LOCAL_WRITE, &mr[i]),
			0);
	rnic_mr_walk_begin(p->a.rnic);
	assert_int_equal(rnic_mr_walk(p->a.rnic, &item), WALK_ITEM);
	assert_int_equal(item.length, 102);
	assert_int_equal(item.stag, rnic_mr_stag(mr[2]));
	assert_int_equal(item.iova, 5);
	assert_true(item.valid);
	assert_int_equal(rnic_mr_dereg(mr[1]), 0);
	assert_int_equal(rnic_mr_walk(p->a.rnic, &item), WALK_ITEM);
	assert_int_equal(item.length, 100);
	assert_int_equal(rnic_mr_walk(p->a.rnic, &item), WALK_ITEM);
	assert_int_equal(item.stag, rnic_mr_stag(p->a.mr));
	assert_int_equal(rnic_mr_walk(p->a.rnic, &item), WALK_END);
	assert_int_equal(rnic_mr_dereg(mr[0]), 0);
	assert_int_equal(rnic_mr_dereg(mr[2]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_qp_tells_of_its_work, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			an_error_is_counted_by_its_code, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			whatever_ends_a_stream_is_noted, setup, pair_teardown),
		cmocka_unit_test(codes_are_bounded),
		cmocka_unit_test_setup_teardown(
			qps_come_and_go_during_a_walk, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(cqs_and_their_depth, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(regions_go_during_a_walk, setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
