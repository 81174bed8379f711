/* SPDX-License-Identifier: BSD-2-Clause */
/** Verbs promise that every call may come from any thread. Meant for ThreadSanitizer, too. */
#include "pair.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS   2
#define ROUNDS    2000
#define POSTS_MAX 20000

/** A second pair of QPs with their own CQs, over the same listener. */
struct lane {
	struct rnic_cq *cq;
	struct rnic_qp *a, *b;
	struct rnic_ep *active, *passive;
};

static void lane_create(struct pair *p, struct lane *l)
{
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {.ird = 1, .ord = 1};

	assert_int_equal(rnic_cq_create(p->a.rnic, 64, NULL, NULL, &l->cq), 0);
	l->a = pair_qp(&p->a, l->cq, NULL);
	l->b = pair_qp(&p->b, p->b.cq, NULL);
	assert_int_equal(rnic_ep_create(p->a.rnic, pair_ep_event, &p->a, &l->active), 0);
	assert_int_equal(rnic_ep_resolve(l->active, &to, 0), 0);
	cp.qp = l->a;
	p->b.request = NULL;
	assert_int_equal(rnic_ep_connect(l->active, &cp), 0);
	pair_run(p);
	l->passive = p->b.request;
	p->b.request = NULL;
	assert_non_null(l->passive);
	rnic_ep_set_context(l->passive, pair_ep_event, &p->b);
	cp.qp = l->b;
	assert_int_equal(rnic_ep_accept(l->passive, &cp), 0);
	pair_run(p);
}

static void lane_destroy(struct lane *l)
{
	rnic_ep_destroy(l->active);
	rnic_ep_destroy(l->passive);
	assert_int_equal(rnic_qp_destroy(l->a), 0);
	assert_int_equal(rnic_qp_destroy(l->b), 0);
	assert_int_equal(rnic_cq_destroy(l->cq), 0);
}

/** Post without asserting (another thread than cmocka's). @return false: full. */
static bool post_write(struct pair *p, struct rnic_qp *qp, uint64_t wr_id, uint32_t at)
{
	struct rdmap_wqe *w;
	bool room;

	if (rnic_sq_begin(qp))
		return false;
	w = rnic_sq_next(qp);
	room = w != NULL;
	if (room) {
		w->wr_id = wr_id;
		w->op = RDMAP_WR_WRITE;
		w->flags = RDMAP_WR_SIGNALED;
		w->length = 8;
		w->remote_to = (uintptr_t)p->b.buf + at;
		w->remote_stag = rnic_mr_stag(p->b.mr);
		w->num_sge = 1;
		w->sge[0] = (struct rdmap_sge){(uintptr_t)p->a.buf + at, 8, rnic_mr_stag(p->a.mr)};
		rnic_sq_commit(qp);
	}
	rnic_sq_end(qp);
	return room;
}

struct worker {
	struct pair *p;
	struct rnic_qp *qp;
	struct rnic_cq *cq;
	uint32_t at;
	_Atomic unsigned *done; /**< completions of all that share the CQ */
	unsigned target;
	unsigned bad;
};

static void *post_and_poll(void *arg)
{
	struct worker *w = arg;
	struct rnic_wc wc[4];
	unsigned posted = 0;

	while (*w->done < w->target) {
		int n;

		if (posted < ROUNDS && post_write(w->p, w->qp, posted, w->at))
			posted++;
		n = rnic_cq_poll(w->cq, 4, wc);
		if (n < 0) {
			w->bad++;
			break;
		}
		for (int i = 0; i < n; i++)
			w->bad += wc[i].wc.status != RDMAP_WC_SUCCESS;
		*w->done += (unsigned)n;
		if (!n)
			sched_yield();
	}
	return NULL;
}

static void run_workers(struct worker *w)
{
	pthread_t t[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, post_and_poll, &w[i]), 0);
	for (unsigned i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < WORKERS; i++)
		assert_int_equal(w[i].bad, 0);
}

static void threads_share_a_qp_and_a_cq(void **state)
{
	struct worker w[WORKERS];
	_Atomic unsigned done = 0;
	struct pair p;

	pair_init(&p, NULL);
	pair_connect(&p);
	for (unsigned i = 0; i < WORKERS; i++) {
		memset(p.a.buf + 16 * i, (int)(i + 1), 8);
		w[i] = (struct worker){&p, p.a.qp, p.a.cq, 16 * i, &done, WORKERS * ROUNDS, 0};
	}
	run_workers(w);
	assert_int_equal(done, WORKERS * ROUNDS);
	assert_memory_equal(p.a.buf, p.b.buf, 16 * WORKERS);
	pair_fini(&p);
}

static void threads_have_a_qp_each(void **state)
{
	struct worker w[WORKERS];
	struct lane lane[WORKERS];
	_Atomic unsigned done[WORKERS] = {0};
	struct pair p;

	pair_init(&p, NULL);
	pair_listen(&p, 0);
	for (unsigned i = 0; i < WORKERS; i++) {
		lane_create(&p, &lane[i]);
		w[i] = (struct worker){&p, lane[i].a, lane[i].cq, 16 * i, &done[i], ROUNDS, 0};
	}
	run_workers(w);
	for (unsigned i = 0; i < WORKERS; i++)
		assert_int_equal(done[i], ROUNDS);
	for (unsigned i = 0; i < WORKERS; i++)
		lane_destroy(&lane[i]);
	pair_fini(&p);
}

/* ---- control beside traffic -------------------------------------------------------------- */

struct control {
	struct pair *p;
	_Atomic bool stop;
	unsigned bad;
};

static void *come_and_go(void *arg)
{
	struct control *c = arg;
	struct side *s = &c->p->a;

	do {
		struct rnic_qp_init init = {.max_send_wr = 4, .max_recv_wr = 4};
		struct rnic_mr *mr;
		struct rnic_cq *cq;
		struct rnic_qp *qp;

		c->bad += rnic_mr_reg(s->pd, s->buf, 64, 0, 0, &mr) != 0;
		c->bad += rnic_cq_create(s->rnic, 8, NULL, NULL, &cq) != 0;
		init.send_cq = s->cq;
		init.recv_cq = cq;
		c->bad += rnic_qp_create(s->pd, &init, &qp) != 0;
		c->bad += rnic_cq_arm(s->cq, false) != 0;
		c->bad += rnic_qp_modify(qp, RNIC_QP_STATE,
				  &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}) != 0;
		c->bad += rnic_qp_destroy(qp) != 0;
		c->bad += rnic_cq_resize(s->cq, 4 * PAIR_DEPTH) != 0;
		c->bad += rnic_cq_destroy(cq) != 0;
		c->bad += rnic_mr_dereg(mr) != 0;
	} while (!c->stop);
	return NULL;
}

/** The control thread gets its turn although the others poll without a pause. */
static void control_calls_beside_traffic(void **state)
{
	struct worker w[WORKERS];
	_Atomic unsigned done = 0;
	struct control c;
	struct pair p;
	pthread_t t;

	pair_init(&p, NULL);
	pair_connect(&p);
	for (unsigned i = 0; i < WORKERS; i++)
		w[i] = (struct worker){&p, p.a.qp, p.a.cq, 16 * i, &done, WORKERS * ROUNDS, 0};
	c = (struct control){.p = &p};
	/* The traffic may be over before the other thread has begun. */
	assert_int_equal(rnic_cq_arm(p.a.cq, false), 0);
	assert_int_equal(pthread_create(&t, NULL, come_and_go, &c), 0);
	run_workers(w);
	c.stop = true;
	pthread_join(t, NULL);
	assert_int_equal(c.bad, 0);
	assert_true(p.a.notified > 0);
	pair_fini(&p);
}

/* ---- posting into an error --------------------------------------------------------------- */

struct poster {
	struct pair *p;
	_Atomic unsigned sends, recvs;
	_Atomic bool stop;
};

static void *post_both(void *arg)
{
	struct poster *w = arg;
	struct rnic_qp *qp = w->p->a.qp;

	while (!w->stop) {
		struct rdmap_rqe *e;

		if (post_write(w->p, qp, 1, 0))
			w->sends++;
		if (rnic_rq_begin(qp))
			continue;
		e = rnic_rq_next(qp);
		if (e) {
			e->wr_id = 2;
			rnic_rq_commit(qp);
			w->recvs++;
		}
		rnic_rq_end(qp);
		if (w->sends >= POSTS_MAX)
			break;
	}
	return NULL;
}

static void take(struct pair *p, unsigned *sends, unsigned *recvs)
{
	struct rnic_wc wc;

	while (rnic_cq_poll(p->a.cq, 1, &wc) == 1) {
		*sends += wc.wc.wr_id == 1;
		*recvs += wc.wc.wr_id == 2;
	}
}

/** Whatever the moment: each element that was posted completes, once. */
static void posted_while_it_fails(void **state)
{
	for (unsigned round = 0; round < 30; round++) {
		unsigned sends = 0, recvs = 0;
		struct poster w;
		struct pair p;
		pthread_t t;

		pair_init(&p, NULL);
		/* Room for all that can come: a post into an error is not pushed back. */
		assert_int_equal(rnic_cq_resize(p.a.cq, 4 * POSTS_MAX), 0);
		pair_connect(&p);
		w = (struct poster){.p = &p};
		assert_int_equal(pthread_create(&t, NULL, post_both, &w), 0);
		while (w.sends < 10 * round)
			take(&p, &sends, &recvs);
		assert_int_equal(rnic_qp_modify(p.a.qp, RNIC_QP_STATE,
					 &(struct rnic_qp_attr){.state = RNIC_QP_ERROR}),
			0);
		for (unsigned i = 0; i < 10; i++)
			take(&p, &sends, &recvs);
		w.stop = true;
		pthread_join(t, NULL);
		take(&p, &sends, &recvs);
		assert_int_equal(sends, w.sends);
		assert_int_equal(recvs, w.recvs);
		pair_fini(&p);
	}
}

/* ---- posting into a reset ---------------------------------------------------------------- */

static void to_rts(struct rnic_qp *qp)
{
	assert_int_equal(pair_go(qp, RNIC_QP_INIT), 0);
	assert_int_equal(pair_go(qp, RNIC_QP_RTR), 0);
	assert_int_equal(pair_go(qp, RNIC_QP_RTS), 0);
}

/** Whatever the moment: a reset waits for nobody, and all the room is there again. */
static void posted_while_it_is_reset(void **state)
{
	struct poster w;
	struct pair p;
	pthread_t t;
	unsigned room;

	pair_init(&p, NULL);
	to_rts(p.a.qp);
	w = (struct poster){.p = &p};
	assert_int_equal(pthread_create(&t, NULL, post_both, &w), 0);
	for (unsigned round = 0; round < 500; round++) {
		assert_int_equal(pair_go(p.a.qp, RNIC_QP_RESET), 0);
		to_rts(p.a.qp);
		if (round % 2)
			assert_int_equal(pair_go(p.a.qp, RNIC_QP_ERROR), 0);
	}
	w.stop = true;
	pthread_join(t, NULL);
	assert_int_equal(pair_go(p.a.qp, RNIC_QP_RESET), 0);
	to_rts(p.a.qp);
	for (room = 0; post_write(&p, p.a.qp, 1, 0); room++)
		;
	assert_int_equal(room, p.a.qp->sq.size);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_qp_and_a_cq),
		cmocka_unit_test(threads_have_a_qp_each),
		cmocka_unit_test(control_calls_beside_traffic),
		cmocka_unit_test(posted_while_it_fails),
		cmocka_unit_test(posted_while_it_is_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
