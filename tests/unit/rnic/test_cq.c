/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/cq.h"

#include "pair.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

static int setup(void **state)
{
	static struct pair p;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, NULL);
	*state = &p;
	return 0;
}

static void on_notify(void *context)
{
	++*(unsigned *)context;
}

/** Nothing but numbers, and counts of what was polled. */
/** They have no RNIC that they could fail in. */
static struct rnic_qp qps[3] = {{.num = 1, .cq_failed = true}, {.num = 2, .cq_failed = true},
	{.num = 3, .cq_failed = true}};

static void push_as(
	struct rnic_cq *cq, uint64_t wr_id, unsigned status, unsigned flags, struct rnic_qp *qp)
{
	struct rdmap_wc wc = {.wr_id = wr_id, .status = (uint8_t)status, .flags = (uint8_t)flags};

	engine_lock(cq->rnic->engine);
	cq_push(cq, &wc, qp);
	engine_unlock(cq->rnic->engine);
}

static void push(struct rnic_cq *cq, uint64_t wr_id)
{
	push_as(cq, wr_id, RDMAP_WC_SUCCESS, 0, &qps[0]);
}

static struct rnic_cq *create(struct pair *p, uint32_t cqe, unsigned *notified)
{
	struct rnic_cq *cq;

	assert_int_equal(rnic_cq_create(p->a.rnic, cqe, on_notify, notified, &cq), 0);
	return cq;
}

static void expect(struct rnic_cq *cq, uint64_t wr_id)
{
	struct rnic_wc wc;

	assert_int_equal(rnic_cq_poll(cq, 1, &wc), 1);
	assert_int_equal(wc.wc.wr_id, wr_id);
}

static void expect_empty(struct rnic_cq *cq)
{
	struct rnic_wc wc;

	assert_int_equal(rnic_cq_poll(cq, 1, &wc), 0);
}

static void sizes(void **state)
{
	struct pair *p = *state;
	struct rnic_cq *cq;
	unsigned n = 0;

	assert_int_equal(rnic_cq_create(p->a.rnic, 0, NULL, NULL, &cq), -EINVAL);
	assert_int_equal(rnic_cq_create(p->a.rnic, (1 << 22) + 1, NULL, NULL, &cq), -EINVAL);
	cq = create(p, 1, &n);
	assert_int_equal(rnic_cq_size(cq), 1);
	assert_int_equal(rnic_cq_destroy(cq), 0);
	cq = create(p, 100, &n);
	assert_int_equal(rnic_cq_size(cq), 128);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static void limit_is_kept(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_cq = 1};
	struct pair p;
	struct rnic_cq *cq, *more;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, &cfg);
	cq = create(&p, 1, NULL);
	assert_int_equal(rnic_cq_create(p.a.rnic, 1, NULL, NULL, &more), -ENOMEM);
	assert_int_equal(rnic_cq_destroy(cq), 0);
	pair_fini(&p);
}

static void in_order_and_several_at_once(void **state)
{
	struct pair *p = *state;
	struct rnic_cq *cq = create(p, 4, NULL);
	struct rnic_wc wc[8];
	uint64_t in = 0, out = 0;

	assert_int_equal(rnic_cq_poll(cq, 0, wc), 0);
	assert_int_equal(rnic_cq_poll(cq, -1, wc), -EINVAL);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 1 + round % 4; i++)
			push(cq, in++);
		assert_int_equal(rnic_cq_poll(cq, 8, wc), 1 + round % 4);
		for (unsigned i = 0; i < 1 + round % 4; i++)
			assert_int_equal(wc[i].wc.wr_id, out++);
		expect_empty(cq);
	}
	push(cq, 1);
	push(cq, 2);
	push(cq, 3);
	assert_int_equal(rnic_cq_poll(cq, 2, wc), 2);
	expect(cq, 3);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static void an_empty_poll_drives_the_engine(void **state)
{
	struct pair *p = *state;
	struct rnic_cq *cq = create(p, 4, NULL);
	uint64_t before = p->engine.visits.rounds;

	push(cq, 1);
	expect(cq, 1);
	assert_int_equal(p->engine.visits.rounds, before);
	expect_empty(cq);
	assert_int_equal(p->engine.visits.rounds, before + 1);
	/* So does one that takes all there is and has room for more. */
	push(cq, 2);
	assert_int_equal(rnic_cq_poll(cq, 4, (struct rnic_wc[4]){{.qp_num = 0}}), 1);
	assert_int_equal(p->engine.visits.rounds, before + 2);
	/* While another drives it, a poll comes back at once, however often. */
	engine_lock(&p->engine);
	for (unsigned i = 0; i < 200; i++)
		expect_empty(cq);
	engine_unlock(&p->engine);
	assert_int_equal(p->engine.visits.rounds, before + 2);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static unsigned flushes;
static struct rnic_cq *pushed_to;

static void count_flush(void *ctx)
{
	flushes++;
}

static bool flush_may_wait(void *ctx)
{
	return true;
}

static unsigned push_in_a_round(void *ctx, uint64_t now)
{
	const struct rdmap_wc wc = {.wr_id = 7};

	if (!pushed_to)
		return 0;
	cq_push(pushed_to, &wc, &qps[0]);
	pushed_to = NULL;
	return 1;
}

/** A poll that found what it looked for does not wait for the end of the round. */
static void a_completion_comes_before_the_rounds_end(void **state)
{
	struct pair *p = *state;
	const struct engine_ops *before = p->engine.ops;
	struct engine_ops ops = *before;
	struct rnic_cq *cq = create(p, 4, NULL);

	ops.poll = push_in_a_round;
	ops.flush = count_flush;
	ops.flush_may_wait = flush_may_wait;
	p->engine.ops = &ops;
	flushes = 0;
	expect_empty(cq);
	assert_int_equal(flushes, 1);
	pushed_to = cq;
	expect(cq, 7);
	assert_int_equal(flushes, 1);
	expect_empty(cq);
	assert_int_equal(flushes, 2);
	p->engine.ops = before;
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

/** Who arms a CQ sleeps until it is told: the engine's thread has to drive from then on. */
static void arming_hands_the_engine_over(void **state)
{
	struct pair *p = *state;
	struct rnic_cq *cq = create(p, 4, NULL);

	for (int solicited = 0; solicited < 2; solicited++) {
		assert_false(engine_is_handed_over(&p->engine));
		assert_int_equal(rnic_cq_arm(cq, solicited), 0);
		assert_true(engine_is_handed_over(&p->engine));
	}
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static void armed_once_notified_once(void **state)
{
	struct pair *p = *state;
	unsigned n = 0;
	struct rnic_cq *cq = create(p, 16, &n);

	push(cq, 1);
	assert_int_equal(n, 0);
	/* What came before the arming does not count. */
	assert_int_equal(rnic_cq_arm(cq, false), 0);
	assert_int_equal(n, 0);
	push(cq, 2);
	push(cq, 3);
	assert_int_equal(n, 1);
	rnic_cq_arm(cq, false);
	rnic_cq_arm(cq, false);
	push(cq, 4);
	push(cq, 5);
	assert_int_equal(n, 2);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static void solicited_only(void **state)
{
	struct pair *p = *state;
	unsigned n = 0;
	struct rnic_cq *cq = create(p, 16, &n);

	rnic_cq_arm(cq, true);
	push(cq, 1);
	assert_int_equal(n, 0);
	push_as(cq, 2, RDMAP_WC_SUCCESS, RDMAP_WC_SOLICITED, &qps[0]);
	assert_int_equal(n, 1);
	rnic_cq_arm(cq, true);
	push_as(cq, 3, RDMAP_WC_WR_FLUSH_ERR, 0, &qps[0]);
	assert_int_equal(n, 2);
	/* "Any" outweighs "solicited", before and after. */
	rnic_cq_arm(cq, true);
	rnic_cq_arm(cq, false);
	push(cq, 4);
	assert_int_equal(n, 3);
	rnic_cq_arm(cq, false);
	rnic_cq_arm(cq, true);
	push(cq, 5);
	assert_int_equal(n, 4);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static void resize_keeps_what_is_there(void **state)
{
	struct pair *p = *state;
	struct rnic_cq *cq = create(p, 4, NULL);

	/* Somewhere in the middle of the ring. */
	for (unsigned i = 0; i < 3; i++) {
		push(cq, i);
		expect(cq, i);
	}
	for (unsigned i = 0; i < 4; i++)
		push(cq, 10 + i);
	assert_int_equal(rnic_cq_resize(cq, 2), -EINVAL);
	assert_int_equal(rnic_cq_resize(cq, 0), -EINVAL);
	assert_int_equal(rnic_cq_resize(cq, (1 << 22) + 1), -EINVAL);
	assert_int_equal(rnic_cq_size(cq), 4);
	assert_int_equal(rnic_cq_resize(cq, 5), 0);
	assert_int_equal(rnic_cq_size(cq), 8);
	for (unsigned i = 0; i < 4; i++)
		push(cq, 20 + i);
	for (unsigned i = 0; i < 4; i++)
		expect(cq, 10 + i);
	assert_int_equal(rnic_cq_resize(cq, 4), 0);
	for (unsigned i = 0; i < 4; i++)
		expect(cq, 20 + i);
	expect_empty(cq);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static void purge_takes_one_qps_out(void **state)
{
	struct pair *p = *state;
	struct rnic_cq *cq = create(p, 8, NULL);

	for (unsigned i = 0; i < 6; i++) {
		push(cq, i);
		expect(cq, i);
	}
	for (unsigned i = 0; i < 8; i++)
		push_as(cq, i, RDMAP_WC_SUCCESS, 0, &qps[i % 2]);
	engine_lock(&p->engine);
	cq_purge(cq, &qps[1]);
	cq_purge(cq, &qps[2]);
	engine_unlock(&p->engine);
	/* The room is there again. */
	for (unsigned i = 0; i < 4; i++)
		push(cq, 100 + i);
	for (unsigned i = 0; i < 8; i += 2)
		expect(cq, i);
	for (unsigned i = 0; i < 4; i++)
		expect(cq, 100 + i);
	expect_empty(cq);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

/** Nothing is lost silently: what fits is polled, then the overflow is told, for good. */
static void overflow_is_told(void **state)
{
	struct pair *p = *state;
	unsigned n = 0;
	struct rnic_cq *cq = create(p, 2, &n);
	struct rnic_wc wc;

	push(cq, 1);
	push(cq, 2);
	assert_int_equal(p->a.n_events, 0);
	rnic_cq_arm(cq, true);
	push(cq, 3);
	push(cq, 4);
	assert_int_equal(pair_count_async(&p->a, RNIC_EVENT_CQ_ERROR), 1);
	assert_ptr_equal(p->a.events[0].context, &n);
	assert_int_equal(n, 1);
	expect(cq, 1);
	expect(cq, 2);
	assert_int_equal(rnic_cq_poll(cq, 1, &wc), -EOVERFLOW);
	assert_int_equal(rnic_cq_poll(cq, 1, &wc), -EOVERFLOW);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

/** The newest stay, and what is lost counts as polled. */
static void an_overrun_that_is_ignored(void **state)
{
	struct pair *p = *state;
	unsigned n = 0;
	struct rnic_cq *cq = create(p, 2, &n);
	uint32_t polled = atomic_load(&qps[0].sq_polled);

	rnic_cq_ignore_overrun(cq);
	for (uint64_t i = 1; i <= 9; i++)
		push(cq, i);
	assert_int_equal(atomic_load(&qps[0].sq_polled) - polled, 7);
	expect(cq, 8);
	push(cq, 10);
	expect(cq, 9);
	expect(cq, 10);
	expect_empty(cq);
	assert_int_equal(atomic_load(&qps[0].sq_polled) - polled, 10);
	/* It tells of what comes, as ever. */
	push(cq, 11);
	push(cq, 12);
	rnic_cq_arm(cq, false);
	push(cq, 13);
	assert_int_equal(n, 1);
	assert_int_equal(p->a.n_events, 0);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

/** Room that is there again does not make up for what is lost: nothing comes behind it. */
static void nothing_follows_what_is_lost(void **state)
{
	struct pair *p = *state;
	unsigned n = 0;
	struct rnic_cq *cq = create(p, 2, &n);
	struct rnic_wc wc;

	push(cq, 1);
	push(cq, 2);
	push(cq, 3);
	expect(cq, 1);
	push(cq, 4);
	expect(cq, 2);
	assert_int_equal(rnic_cq_poll(cq, 1, &wc), -EOVERFLOW);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

static void overflow_fails_the_qps(void **state)
{
	struct pair p;
	struct rnic_cq *small;
	struct rnic_qp *idle, *reset, *other, *late;
	struct rnic_qp_attr to = {.state = RNIC_QP_RESET};
	unsigned n = 0;

	pair_init(&p, NULL);
	assert_int_equal(rnic_cq_create(p.a.rnic, 2, on_notify, &n, &small), 0);
	idle = pair_qp(&p.a, small, NULL);
	reset = pair_qp(&p.a, small, NULL);
	assert_int_equal(rnic_qp_modify(reset, RNIC_QP_STATE, &to), 0);
	other = pair_qp(&p.a, p.a.cq, NULL);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = pair_qp(&p.a, small, NULL);
	pair_connect(&p);
	assert_int_equal(rnic_cq_destroy(small), -EBUSY);
	for (unsigned i = 0; i < 3; i++)
		pair_post(&p.a, p.a.qp, i, RDMAP_WR_WRITE, 0, 8, (uintptr_t)p.b.buf,
			rnic_mr_stag(p.b.mr));
	pair_run(&p);
	assert_int_equal(pair_count_async(&p.a, RNIC_EVENT_CQ_ERROR), 1);
	assert_int_equal(rnic_qp_get_state(p.a.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_qp_get_state(idle), RNIC_QP_ERROR);
	/* Its program may be about to use it anew. */
	assert_int_equal(rnic_qp_get_state(reset), RNIC_QP_RESET);
	to.state = RNIC_QP_INIT;
	assert_int_equal(rnic_qp_modify(reset, RNIC_QP_STATE, &to), 0);
	assert_int_equal(rnic_qp_get_state(other), RNIC_QP_INIT);
	assert_int_equal(rnic_qp_get_state(p.b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_count(&p.a, RNIC_EP_DISCONNECTED), 1);
	assert_int_equal(pair_count(&p.b, RNIC_EP_DISCONNECTED), 1);
	/* Nor does one that comes to such a CQ later go on behind a completion that is lost. */
	late = pair_qp(&p.a, small, NULL);
	assert_int_equal(rnic_qp_get_state(late), RNIC_QP_INIT);
	engine_lock(&p.engine);
	cq_push(small, &(struct rdmap_wc){.op = RDMAP_WC_SEND}, late);
	engine_unlock(&p.engine);
	assert_int_equal(rnic_qp_get_state(late), RNIC_QP_ERROR);
	assert_int_equal(rnic_qp_destroy(late), 0);
	assert_int_equal(rnic_qp_destroy(idle), 0);
	assert_int_equal(rnic_qp_destroy(reset), 0);
	assert_int_equal(rnic_qp_destroy(other), 0);
	assert_int_equal(rnic_qp_destroy(p.a.qp), 0);
	p.a.qp = NULL;
	assert_int_equal(rnic_cq_destroy(small), 0);
	pair_fini(&p);
}

static void serve_nothing(struct engine_doorbell *d)
{
}

/* Also when the caller drives, as something waits to be done, and finds one more behind it. */
static void a_time_is_that_of_its_completion(void **state)
{
	struct pair *p = *state;
	struct engine_doorbell waits = {.serve = serve_nothing};
	unsigned notified = 0;
	struct rnic_cq *cq = create(p, 4, &notified);
	uint64_t first, time = 0;
	struct rnic_wc wc;

	assert_int_equal(rnic_cq_keep_times(cq), 0);
	push(cq, 1);
	first = p->engine.now;
	p->clock += PAIR_MS;
	push(cq, 2);
	engine_defer(&p->engine, &waits);
	assert_int_equal(rnic_cq_poll_timed(cq, &wc, &time), 1);
	assert_int_equal(wc.wc.wr_id, 1);
	assert_int_equal(time, first);
	assert_int_equal(rnic_cq_poll_timed(cq, &wc, &time), 1);
	assert_int_equal(wc.wc.wr_id, 2);
	assert_int_equal(time, first + PAIR_MS);
	assert_int_equal(rnic_cq_destroy(cq), 0);
}

/** B's QP has more posted, at a CQ that another shares, than fits there; so has the other. */
static void leaves_quietly(struct pair *p, bool reset)
{
	struct rnic_qp *other;
	struct rnic_wc wc;
	unsigned n;

	pair_init(p, NULL);
	assert_int_equal(rnic_cq_resize(p->b.cq, PAIR_DEPTH / 2), 0);
	other = pair_qp(&p->b, p->b.cq, NULL);
	pair_connect(p);
	for (unsigned i = 0; i < PAIR_DEPTH; i++) {
		pair_post_recv(&p->b, p->b.qp, i, 0, 8);
		pair_post_recv(&p->b, other, i, 0, 8);
	}
	/* One completion is due already, and a request is under way. */
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_run(p);
	p->quiet = true;
	pair_post(&p->b, p->b.qp, 20, RDMAP_WR_READ, 0, 8, (uintptr_t)p->a.buf,
		rnic_mr_stag(p->a.mr));
	n = p->b.notified;
	assert_int_equal(rnic_cq_arm(p->b.cq, false), 0);
	if (reset) {
		assert_int_equal(pair_go(p->b.qp, RNIC_QP_RESET), 0);
	} else {
		assert_int_equal(rnic_qp_destroy(p->b.qp), 0);
		p->b.qp = NULL;
	}
	assert_int_equal(pair_count_async(&p->b, RNIC_EVENT_CQ_ERROR), 0);
	assert_int_equal(rnic_qp_get_state(other), RNIC_QP_INIT);
	assert_int_equal(rnic_cq_poll(p->b.cq, 1, &wc), 0);
	assert_int_equal(p->b.notified, n);
	assert_int_equal(atomic_load(&p->b.cq->armed), CQ_ARM_NEXT);
	p->quiet = false;
	pair_run(p);
	if (reset) {
		/* It is as new, and completes again what is flushed. */
		assert_int_equal(pair_go(p->b.qp, RNIC_QP_INIT), 0);
		for (unsigned i = 0; i < PAIR_DEPTH / 2; i++)
			pair_post_recv(&p->b, p->b.qp, 30 + i, 0, 8);
		assert_int_equal(pair_go(p->b.qp, RNIC_QP_ERROR), 0);
		assert_int_equal(p->b.notified, n + 1);
		for (unsigned i = 0; i < PAIR_DEPTH / 2; i++)
			pair_expect(p, &p->b, 30 + i, RDMAP_WC_WR_FLUSH_ERR);
		pair_expect_none(p, &p->b);
	}
	assert_int_equal(rnic_qp_destroy(other), 0);
	pair_fini(p);
}

static void a_qp_that_is_destroyed_completes_nothing(void **state)
{
	static struct pair p;

	leaves_quietly(&p, false);
}

static void a_qp_that_is_reset_completes_nothing(void **state)
{
	static struct pair p;

	leaves_quietly(&p, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_time_is_that_of_its_completion, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(sizes, setup, pair_teardown),
		cmocka_unit_test(limit_is_kept),
		cmocka_unit_test_setup_teardown(in_order_and_several_at_once, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			an_empty_poll_drives_the_engine, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_completion_comes_before_the_rounds_end, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(arming_hands_the_engine_over, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(armed_once_notified_once, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(solicited_only, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(resize_keeps_what_is_there, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(purge_takes_one_qps_out, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(overflow_is_told, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(an_overrun_that_is_ignored, setup, pair_teardown),
		cmocka_unit_test_setup_teardown(nothing_follows_what_is_lost, setup, pair_teardown),
		cmocka_unit_test(overflow_fails_the_qps),
		cmocka_unit_test(a_qp_that_is_destroyed_completes_nothing),
		cmocka_unit_test(a_qp_that_is_reset_completes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
