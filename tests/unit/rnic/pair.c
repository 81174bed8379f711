/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include "base/container_of.h"
#include "rnic/device.h"
#include "rnic/pairing_service.h"
#include "support/engine_round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* ---- the engine -------------------------------------------------------------------------- */

static uint64_t op_clock(void *ctx)
{
	return ((struct pair *)ctx)->clock;
}

static void op_nothing(void *ctx)
{
}

static unsigned op_poll(void *ctx, uint64_t now)
{
	struct pair *p = ctx;
	unsigned n = 0;

	timer_wheel_run(&p->engine.wheel, now);
	while (!p->quiet && p->mem && n < 100000 && llp_mem_step(p->mem))
		n++;
	return n;
}

static const struct engine_ops engine_ops = {
	.clock = op_clock,
	.enter = op_nothing,
	.leave = op_nothing,
	.poll = op_poll,
	.flush = op_nothing,
	.wake = op_nothing,
};

/** xorshift64: the same numbers in each run. */
void pair_random(void *ctx, void *buf, size_t len)
{
	struct pair *p = ctx;
	uint8_t *at = buf;

	while (len--) {
		p->random ^= p->random << 13;
		p->random ^= p->random >> 7;
		p->random ^= p->random << 17;
		*at++ = (uint8_t)(p->random >> 24);
	}
}

void pair_engine_init(struct pair *p)
{
	memset(p, 0, sizeof *p);
	p->clock = 1000 * PAIR_MS;
	p->random = 88172645463325252u;
	p->mem = llp_mem_create();
	engine_init(&p->engine, &engine_ops, p);
}

/* ---- a side ------------------------------------------------------------------------------ */

static void on_event(void *arg, const struct rnic_event *ev)
{
	struct side *s = arg;

	assert_true(s->n_events < EVENTS_MAX);
	s->events[s->n_events++] = *ev;
}

void pair_ep_event(const struct rnic_ep_event *ev)
{
	struct side *s = ev->context;
	struct ep_record *r = &s->ep_events[s->n_ep_events++];

	assert_true(s->n_ep_events <= EVENTS_MAX);
	*r = (struct ep_record){.type = ev->type,
		.ep = ev->ep,
		.status = ev->status,
		.private_len = ev->private_len,
		.ird = ev->ird,
		.ord = ev->ord,
		.ud_qp = ev->ud_qp,
		.ud_qkey = ev->ud_qkey};
	if (ev->private_len)
		memcpy(r->private_data, ev->private_data, ev->private_len);
	if (ev->type == RNIC_EP_CONNECT_REQUEST && s->refuses)
		*ev->refuse = true;
	else if (ev->type == RNIC_EP_CONNECT_REQUEST)
		s->request = ev->request;
}

static void on_notify(void *context)
{
	((struct side *)context)->notified++;
}

void pair_rnic(struct pair *p, struct side *s, unsigned host, const struct rnic_config *cfg)
{
	struct rnic_config c = {.mpa = {.revision = 2, .crc = true}};

	if (cfg)
		c = *cfg;
	c.engine = &p->engine;
	c.net = llp_mem_stack(p->mem, host);
	c.random = (struct random_source){pair_random, p};
	s->host = host;
	assert_int_equal(rnic_create(&c, &s->rnic), 0);
	rnic_set_event_handler(s->rnic, on_event, s);
}

struct rnic_qp *pair_qp(struct side *s, struct rnic_cq *cq, struct rnic_srq *srq)
{
	struct rnic_qp_init init = {.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.context = s,
		.max_send_wr = PAIR_DEPTH,
		.max_recv_wr = PAIR_DEPTH,
		.max_send_sge = 2,
		.max_recv_sge = 2,
		.max_inline = 64};
	struct rnic_qp_attr attr = {.state = RNIC_QP_INIT,
		.access = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ};
	struct rnic_qp *qp;

	assert_int_equal(rnic_qp_create(s->pd, &init, &qp), 0);
	assert_int_equal(rnic_qp_modify(qp, RNIC_QP_STATE | RNIC_QP_ACCESS, &attr), 0);
	return qp;
}

void pair_side(struct side *s)
{
	s->buf = calloc(1, PAIR_BUF);
	assert_non_null(s->buf);
	assert_int_equal(rnic_pd_alloc(s->rnic, &s->pd), 0);
	assert_int_equal(rnic_cq_create(s->rnic, 4 * PAIR_DEPTH, on_notify, s, &s->cq), 0);
	assert_int_equal(rnic_mr_reg(s->pd, s->buf, PAIR_BUF, (uintptr_t)s->buf,
				 RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE |
					 RNIC_ACCESS_REMOTE_READ,
				 &s->mr),
		0);
	s->qp = pair_qp(s, s->cq, NULL);
	assert_int_equal(rnic_ep_create(s->rnic, pair_ep_event, s, &s->ep), 0);
}

void pair_init(struct pair *p, const struct rnic_config *cfg)
{
	pair_engine_init(p);
	pair_rnic(p, &p->a, 0, cfg);
	pair_rnic(p, &p->b, 1, cfg);
	pair_side(&p->a);
	pair_side(&p->b);
}

static void side_fini(struct pair *p, struct side *s)
{
	/* First: a request that was not adopted goes with its listener. */
	if (s->request)
		rnic_ep_destroy(s->request);
	if (s->ep)
		rnic_ep_destroy(s->ep);
	if (s->qp)
		assert_int_equal(rnic_qp_destroy(s->qp), 0);
	if (s->mr)
		assert_int_equal(rnic_mr_dereg(s->mr), 0);
	if (s->cq)
		assert_int_equal(rnic_cq_destroy(s->cq), 0);
	if (s->pd)
		assert_int_equal(rnic_pd_dealloc(s->pd), 0);
	free(s->buf);
	s->buf = NULL;
	if (!s->rnic)
		return;
	engine_lock(&p->engine);
	pairing_service_close(s->rnic);
	engine_unlock(&p->engine);
	assert_int_equal(s->rnic->cq_count, 0);
	assert_int_equal(s->rnic->pd_count, 0);
	assert_int_equal(s->rnic->stags.count, 0);
	assert_int_equal(s->rnic->qps.count, 0);
	assert_true(LIST_EMPTY(&s->rnic->eps));
	assert_true(LIST_EMPTY(&s->rnic->conns));
	rnic_destroy(s->rnic);
}

void pair_fini(struct pair *p)
{
	side_fini(p, &p->a);
	side_fini(p, &p->b);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
	llp_mem_destroy(p->mem);
	engine_fini(&p->engine);
}

/* ---- moving ------------------------------------------------------------------------------ */

void pair_run(struct pair *p)
{
	bool quiet = p->quiet;

	p->quiet = false;
	while (engine_round(&p->engine) != 0)
		;
	p->quiet = quiet;
}

void pair_advance(struct pair *p, uint64_t ms)
{
	/* In small steps, as a timer that fires may start another. */
	while (ms--) {
		p->clock += PAIR_MS;
		pair_run(p);
	}
}

void pair_stand_still(struct pair *p, uint64_t ms)
{
	p->clock += ms * PAIR_MS;
	pair_run(p);
}

/* ---- connecting -------------------------------------------------------------------------- */

void pair_listen(struct pair *p, unsigned backlog)
{
	struct ip_endpoint at = llp_mem_endpoint(p->mem, 1, PAIR_PORT);

	assert_int_equal(rnic_ep_bind(p->b.ep, &at, false, false), 0);
	assert_int_equal(rnic_ep_listen(p->b.ep, backlog), 0);
}

void pair_request(struct pair *p, const struct rnic_conn_param *cp)
{
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param def = {.qp = p->a.qp, .ird = 4, .ord = 4};

	pair_listen(p, 4);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(p->a.ep, cp ? cp : &def), 0);
	pair_run(p);
	assert_non_null(p->b.request);
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
}

void pair_connect(struct pair *p)
{
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 4, .ord = 4};

	pair_request(p, NULL);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_run(p);
	assert_int_equal(pair_count(&p->a, RNIC_EP_ESTABLISHED), 1);
	assert_int_equal(pair_count(&p->b, RNIC_EP_ESTABLISHED), 1);
}

unsigned pair_count(const struct side *s, enum rnic_ep_event_type type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_ep_events; i++)
		n += s->ep_events[i].type == type;
	return n;
}

const struct ep_record *pair_last(const struct side *s)
{
	assert_true(s->n_ep_events > 0);
	return &s->ep_events[s->n_ep_events - 1];
}

unsigned pair_count_async(const struct side *s, enum rnic_event_type type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_events; i++)
		n += s->events[i].type == type;
	return n;
}

/* ---- work -------------------------------------------------------------------------------- */

int pair_go(struct rnic_qp *qp, enum rnic_qp_state to)
{
	return rnic_qp_modify(qp, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = to});
}

void pair_post_recv(struct side *s, struct rnic_qp *qp, uint64_t wr_id, uint32_t at, uint32_t len)
{
	struct rdmap_rqe *w;

	assert_int_equal(rnic_rq_begin(qp), 0);
	w = rnic_rq_next(qp);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){(uintptr_t)s->buf + at, len, rnic_mr_stag(s->mr)};
	rnic_rq_commit(qp);
	rnic_rq_end(qp);
}

void pair_post(struct side *s, struct rnic_qp *qp, uint64_t wr_id, enum rdmap_wr_op op, uint32_t at,
	uint32_t len, uint64_t to, uint32_t stag)
{
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(qp), 0);
	w = rnic_sq_next(qp);
	assert_non_null(w);
	w->wr_id = wr_id;
	w->op = (uint8_t)op;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = len;
	w->remote_to = to;
	w->remote_stag = w->inv_stag = stag;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){(uintptr_t)s->buf + at, len, rnic_mr_stag(s->mr)};
	rnic_sq_commit(qp);
	rnic_sq_end(qp);
}

struct rnic_wc pair_expect(struct pair *p, struct side *s, uint64_t wr_id, unsigned status)
{
	struct rnic_wc wc;

	pair_run(p);
	assert_int_equal(rnic_cq_poll(s->cq, 1, &wc), 1);
	assert_int_equal(wc.wc.wr_id, wr_id);
	assert_int_equal(wc.wc.status, status);
	return wc;
}

void pair_expect_none(struct pair *p, struct side *s)
{
	struct rnic_wc wc;

	pair_run(p);
	assert_int_equal(rnic_cq_poll(s->cq, 1, &wc), 0);
}

int pair_setup_apart(void **state)
{
	static struct pair pair;

	pair_init(&pair, NULL);
	*state = &pair;
	return 0;
}

int pair_setup(void **state)
{
	pair_setup_apart(state);
	pair_connect(*state);
	return 0;
}

int pair_teardown(void **state)
{
	pair_fini(*state);
	return 0;
}

uint64_t pair_addr(const struct side *s, uint32_t at)
{
	return (uintptr_t)s->buf + at;
}
