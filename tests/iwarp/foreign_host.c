/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_host.h"

#include "support/engine_round.h"

#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RECV_ID   (UINT64_C(1) << 32)
#define SEND_MOST (MOST - 40)

/* ---- what it is like --------------------------------------------------------------------------
 */

static void draw_config(struct foreign_host *h, struct rnic_config *c)
{
	struct foreign_world *w = h->world;
	struct foreign_rnic *p = h->peer;

	*c = (struct rnic_config){
		.mpa = {.revision = world_chance(w, 0.75) ? 2 : 1,
			.crc = (uint8_t)world_below(w, 3),
			.markers = world_chance(w, 0.4),
			.peer_to_peer = world_chance(w, 0.5),
			.rtr = (uint8_t)(1 + world_below(w, 7)),
			.in_order = world_chance(w, 0.2),
			.send_imm = world_chance(w, 0.5),
			.tell_acked = world_chance(w, 0.3)},
		.rnr_timeout_ms = world_chance(w, 0.4) ? 600000 : 0,
	};
	/* It may not like a reply without the C bit: that is no fault of the peer's. */
	if (c->mpa.crc == MPA_CRC_REQUIRED)
		p->crc = true;
	w->waits = c->rnr_timeout_ms != 0;
	/* Else what is placed cannot wait. */
	c->mpa.in_order = c->mpa.in_order || w->waits;
	p->host_crc = c->mpa.crc != MPA_CRC_OFF;
	p->host_markers = c->mpa.markers;
	p->host_p2p = c->mpa.peer_to_peer;
	p->host_rtr = c->mpa.rtr;
	p->host_revision = c->mpa.revision;
	p->host_ird = (uint16_t)world_below(w, 9);
	p->host_ord = (uint16_t)world_below(w, 9);
	/* What both can do. */
	if (!(p->rtr & p->host_rtr))
		p->rtr |= p->host_rtr;
}

static void register_area(struct foreign_host *h, enum foreign_area area)
{
	static const unsigned access[AREAS] = {
		[AREA_RECV] = RNIC_ACCESS_LOCAL_WRITE,
		[AREA_SINK] = RNIC_ACCESS_LOCAL_WRITE,
		[AREA_WRITE] =
			RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_MW_BIND,
		[AREA_READ] = RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_MW_BIND,
		[AREA_ATOMIC] = RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_ATOMIC,
		[AREA_OTHER] = RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE |
			       RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC,
	};
	struct foreign_world *w = h->world;
	struct rnic_pd *pd = area == AREA_OTHER ? h->other : h->pair.a.pd;
	uint8_t *at = world_area(w, area);

	w->iova[area] = (uintptr_t)at;
	if (world_chance(w, 0.6))
		w->iova[area] =
			world_chance(w, 0.3) ? 0 : (prng_u64(&w->random) >> 1) & ~UINT64_C(7);
	assert_int_equal(
		rnic_mr_reg(pd, at, AREA_LEN, w->iova[area], access[area], &h->mr[area]), 0);
	w->stag[area] = rnic_mr_stag(h->mr[area]);
}

static void make_memory(struct foreign_host *h)
{
	struct foreign_world *w = h->world;

	w->memory = aligned_alloc(64, AREAS * (size_t)AREA_LEN);
	h->told = malloc(AREAS * (size_t)AREA_LEN);
	h->base = malloc(AREA_LEN);
	assert(w->memory && h->told && h->base);
	for (unsigned i = 0; i < AREAS; i++)
		memcpy(world_area(w, i), w->noise + 7919 * i % (NOISE_LEN - AREA_LEN), AREA_LEN);
	memcpy(h->told, w->memory, AREAS * (size_t)AREA_LEN);
	memcpy(h->base, world_area(w, AREA_WRITE), AREA_LEN);
	memcpy(w->atomic, world_area(w, AREA_ATOMIC), sizeof w->atomic);
}

void foreign_host_start(struct foreign_host *h, struct foreign_world *w, struct foreign_rnic *p)
{
	static const uint32_t emss[] = {536, 1448, 1448, 8948};
	const struct rnic_qp_attr rights = {.access = RNIC_ACCESS_REMOTE_WRITE |
						      RNIC_ACCESS_REMOTE_READ |
						      RNIC_ACCESS_REMOTE_ATOMIC};
	struct rnic_config config;

	memset(h, 0, sizeof *h);
	h->world = w;
	h->peer = p;
	draw_config(h, &config);
	pair_engine_init(&h->pair);
	h->pair.quiet = true;
	llp_mem_set_emss(h->pair.mem, emss[world_below(w, 4)]);
	w->whole = world_chance(w, 0.6);
	if (!w->whole)
		llp_mem_set_random_segment(
			h->pair.mem, 1 + world_below(w, 600), (uint32_t)prng_u64(&w->random) | 1);
	if (world_chance(w, 0.3))
		llp_mem_set_buffer(h->pair.mem, 2000 + world_below(w, 20000));
	pair_rnic(&h->pair, &h->pair.a, 0, &config);
	pair_side(&h->pair.a);
	assert_int_equal(rnic_qp_modify(h->pair.a.qp, RNIC_QP_ACCESS, &rights), 0);
	assert_int_equal(rnic_pd_alloc(h->pair.a.rnic, &h->other), 0);
	make_memory(h);
	for (unsigned i = 0; i < AREAS; i++)
		register_area(h, i);
	for (unsigned i = 0; i < WINDOWS; i++) {
		assert_int_equal(rnic_mw_alloc(h->pair.a.pd, RNIC_MW_TYPE_2, &h->mw[i]), 0);
		w->window[i].stag = rnic_mw_stag(h->mw[i]);
	}
}

void foreign_host_end(struct foreign_host *h)
{
	struct side *s = &h->pair.a;

	if (s->request)
		rnic_ep_destroy(s->request);
	s->request = NULL;
	if (s->qp)
		assert_int_equal(rnic_qp_destroy(s->qp), 0);
	s->qp = NULL;
	for (unsigned i = 0; i < WINDOWS; i++)
		assert_int_equal(rnic_mw_dealloc(h->mw[i]), 0);
	for (unsigned i = 0; i < AREAS; i++)
		assert_int_equal(rnic_mr_dereg(h->mr[i]), 0);
	assert_int_equal(rnic_pd_dealloc(h->other), 0);
	foreign_rnic_end(h->peer);
	pair_run(&h->pair);
	pair_fini(&h->pair);
	free(h->world->memory);
	free(h->told);
	free(h->base);
}

/* ---- connecting -------------------------------------------------------------------------------
 */

static struct rnic_conn_param conn_param(struct foreign_host *h)
{
	return (struct rnic_conn_param){.qp = h->pair.a.qp,
		.ird = h->peer->host_ird,
		.ord = h->peer->host_ord,
		.private_data = h->world->noise,
		.private_len =
			(uint16_t)world_below(h->world, world_chance(h->world, 0.2) ? 509 : 30)};
}

static void ask(struct foreign_host *h)
{
	struct ip_endpoint here = llp_mem_endpoint(h->pair.mem, 0, PAIR_PORT);
	struct ip_endpoint there = llp_mem_endpoint(h->pair.mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = conn_param(h);
	struct side *s = &h->pair.a;

	h->asked = true;
	if (h->peer->initiator) {
		assert_int_equal(rnic_ep_bind(s->ep, &here, false, false), 0);
		assert_int_equal(rnic_ep_listen(s->ep, 4), 0);
		llp_mem_peer_connect(&h->peer->tcp, h->pair.mem, 1, &here);
	} else {
		llp_mem_peer_listen(&h->peer->tcp, h->pair.mem, 1, PAIR_PORT);
		assert_int_equal(rnic_ep_resolve(s->ep, &there, 0), 0);
		assert_int_equal(rnic_ep_connect(s->ep, &cp), 0);
	}
}

void foreign_host_connect(struct foreign_host *h)
{
	struct side *s = &h->pair.a;
	struct rnic_conn_param cp = conn_param(h);

	if (!h->asked) {
		ask(h);
	} else if (s->request && !h->accepted) {
		rnic_ep_set_context(s->request, pair_ep_event, s);
		h->accepted = true;
		/* -ENOTCONN: the peer is gone already. */
		(void)rnic_ep_accept(s->request, &cp);
	}
}

bool foreign_host_is_connected(const struct foreign_host *h)
{
	return pair_count(&h->pair.a, RNIC_EP_ESTABLISHED) != 0;
}

bool foreign_host_has_all(const struct foreign_host *h)
{
	const struct foreign_rnic *p = h->peer;
	size_t held;

	return p->tcp.llp && !llp_mem_pending(p->tcp.llp, &held) && !p->out_len && !p->write.open &&
	       h->world->received == h->world->deliveries;
}

void foreign_host_disconnect(struct foreign_host *h)
{
	h->world->closed = true;
	(void)rnic_ep_disconnect(h->peer->initiator ? h->pair.a.request : h->pair.a.ep);
}

void foreign_host_stop(struct foreign_host *h)
{
	h->world->stopped = true;
	assert_int_equal(pair_go(h->pair.a.qp, RNIC_QP_ERROR), 0);
}

/** Segments overtake those before them. */
static void shuffle(struct foreign_host *h)
{
	struct foreign_world *w = h->world;

	if (!h->peer->tcp.llp || !h->peer->tcp.connected)
		return;
	engine_lock(&h->pair.engine);
	for (unsigned n = world_below(w, 4); n; n--) {
		if (!llp_mem_ooo(h->peer->tcp.llp, 1 + world_below(w, 4)))
			continue;
		w->shuffled = true;
		w->overtaken = w->overtaken || w->broken;
	}
	engine_unlock(&h->pair.engine);
}

bool foreign_host_move(struct foreign_host *h, unsigned steps)
{
	struct llp_mem *m = h->pair.mem;
	bool any = false, more = true;

	if (world_chance(h->world, 0.5))
		shuffle(h);
	while (steps-- && more) {
		engine_lock(&h->pair.engine);
		more = llp_mem_step(m);
		engine_unlock(&h->pair.engine);
		any = any || more;
	}
	(void)engine_round(&h->pair.engine);
	return any;
}

/* ---- posting ----------------------------------------------------------------------------------
 */

static struct rdmap_sge piece(
	const struct foreign_world *w, enum foreign_area area, uint32_t at, uint32_t len)
{
	return (struct rdmap_sge){w->iova[area] + at, len, w->stag[area]};
}

static void post_receive(struct foreign_host *h)
{
	struct foreign_world *w = h->world;
	struct receive *r = &w->receive[w->receives];
	uint32_t slot = w->receives % SLOTS * SLOT_LEN, half = SLOT_LEN / 2;
	struct rdmap_rqe *e;

	if (w->receives == MOST || w->posts_none || rnic_rq_begin(h->pair.a.qp) != 0)
		return;
	e = rnic_rq_next(h->pair.a.qp);
	if (e) {
		*r = (struct receive){.at = {slot, slot + half}};
		for (unsigned i = 0; i < 2; i++) {
			if (world_chance(w, 0.8))
				r->part[i] = world_below(w, half + 1);
			r->at[i] += world_below(w, half - r->part[i] + 1);
			e->sge[i] = piece(w, AREA_RECV, r->at[i], r->part[i]);
		}
		e->num_sge = 2;
		e->length = r->part[0] + r->part[1];
		e->wr_id = RECV_ID | w->receives;
		w->receives++;
		rnic_rq_commit(h->pair.a.qp);
	}
	rnic_rq_end(h->pair.a.qp);
}

void foreign_host_post_due(struct foreign_host *h)
{
	for (unsigned n = 0; n < SLOTS && h->world->receives < h->world->deliveries; n++)
		post_receive(h);
}

/** Two pieces of what is sent. */
static void draw_source(struct foreign_world *w, struct request *q, struct rdmap_wqe *e)
{
	uint32_t most = world_chance(w, 0.2) ? AREA_LEN / 2 : 300;

	for (unsigned i = 0; i < 2; i++) {
		if (world_chance(w, 0.7))
			q->part[i] = world_below(w, most + 1);
		q->from[i] = world_below(w, AREA_LEN - q->part[i] + 1);
		e->sge[i] = piece(w, AREA_SEND, q->from[i], q->part[i]);
	}
	e->num_sge = 2;
	q->len = q->part[0] + q->part[1];
}

static void draw_sink(struct foreign_world *w, struct request *q, struct rdmap_wqe *e, uint32_t len)
{
	q->slot = w->requests % SLOTS;
	q->len = len;
	e->num_sge = 1;
	e->sge[0] = piece(w, AREA_SINK, q->slot * SLOT_LEN, len);
}

static void draw_atomic(struct foreign_world *w, struct request *q, struct rdmap_wqe *e)
{
	for (unsigned i = 0; i < 4; i++)
		q->operand[i] = prng_u64(&w->random);
	e->atomic = (struct rdmap_atomic){.data = q->operand[0],
		.mask = q->operand[1],
		.compare = q->operand[2],
		.compare_mask = q->operand[3]};
	draw_sink(w, q, e, 8);
}

static void draw_bind(struct foreign_world *w, struct request *q, struct rdmap_wqe *e)
{
	struct window *window = &w->window[q->window];
	enum foreign_area area = window_area(q->window);
	bool zero = world_chance(w, 0.3);

	window->state = WINDOW_BINDING;
	/* Its key is another each time. */
	window->stag = (window->stag & ~UINT32_C(0xff)) | ((window->stag + 1) & 0xff);
	window->at = world_below(w, AREA_LEN - WINDOW_LEN + 1);
	window->base = zero ? 0 : w->iova[area] + window->at;
	e->remote_stag = window->stag;
	e->inv_stag = w->stag[area];
	e->local_arg[0] = w->iova[area] + window->at;
	e->local_arg[1] = WINDOW_LEN;
	e->local_arg[2] = (zero ? RNIC_ACCESS_ZERO_BASED : 0u) |
			  (area == AREA_WRITE ? RNIC_ACCESS_REMOTE_WRITE : RNIC_ACCESS_REMOTE_READ);
}

static void draw_request(struct foreign_world *w, struct request *q, struct rdmap_wqe *e)
{
	static const uint8_t op[] = {[REQUEST_SEND] = RDMAP_WR_SEND,
		[REQUEST_WRITE] = RDMAP_WR_WRITE,
		[REQUEST_WRITE_IMM] = RDMAP_WR_WRITE_IMM,
		[REQUEST_READ] = RDMAP_WR_READ,
		[REQUEST_FETCH_ADD] = RDMAP_WR_FETCH_ADD,
		[REQUEST_CMP_SWAP] = RDMAP_WR_CMP_SWAP,
		[REQUEST_BIND] = RDMAP_WR_BIND_MW,
		[REQUEST_INVALIDATE] = RDMAP_WR_LOCAL_INV};

	q->signaled = request_is_local(q) || world_chance(w, 0.7);
	q->fence = world_chance(w, 0.2);
	q->solicited = world_chance(w, 0.3);
	q->stag = (uint32_t)prng_u64(&w->random);
	q->to = prng_u64(&w->random) >> 1;
	q->imm = (uint32_t)prng_u64(&w->random);
	e->op = op[q->kind];
	e->remote_stag = q->stag;
	e->remote_to = q->to;
	if (q->kind == REQUEST_SEND && world_chance(w, 0.3)) {
		q->invalidates = true;
		e->op = RDMAP_WR_SEND_INV;
		e->inv_stag = q->stag;
	}
	if (q->kind == REQUEST_WRITE_IMM)
		e->imm = q->imm;
	if (q->kind <= REQUEST_WRITE_IMM)
		draw_source(w, q, e);
	else if (q->kind == REQUEST_READ)
		draw_sink(w, q, e, world_chance(w, 0.2) ? 0 : world_below(w, SLOT_LEN + 1));
	else if (request_is_read(q))
		draw_atomic(w, q, e);
	else if (q->kind == REQUEST_BIND)
		draw_bind(w, q, e);
	else
		e->inv_stag = w->window[q->window].stag;
	e->flags =
		(uint8_t)((q->signaled ? RDMAP_WR_SIGNALED : 0) | (q->fence ? RDMAP_WR_FENCE : 0) |
			  (q->solicited ? RDMAP_WR_SOLICITED : 0));
	e->length = q->len;
	e->wr_id = w->requests;
}

static bool may_post(struct foreign_host *h, struct request *q)
{
	struct foreign_world *w = h->world;
	const struct window *window = &w->window[q->window];

	if (request_is_read(q))
		return h->peer->answered && h->peer->host_ord && !w->asks_none;
	if (q->kind == REQUEST_BIND)
		return window->state == WINDOW_FREE;
	if (q->kind != REQUEST_INVALIDATE)
		return true;
	if (window->state != WINDOW_BOUND || h->peer->outbounds || !foreign_host_has_all(h))
		return false;
	w->window[q->window].state = WINDOW_ENDING;
	return true;
}

static void post_request(struct foreign_host *h)
{
	struct foreign_world *w = h->world;
	struct request *q = &w->request[w->requests];
	struct rnic_qp *qp = h->pair.a.qp;
	struct rdmap_wqe *e;

	*q = (struct request){
		.kind = world_below(w, REQUEST_INVALIDATE + 1), .window = world_below(w, WINDOWS)};
	if (w->requests >= SEND_MOST || !may_post(h, q) || rnic_sq_begin(qp) != 0)
		return;
	e = rnic_sq_next(qp);
	if (!e) {
		rnic_sq_abort(qp);
		if (q->kind == REQUEST_INVALIDATE)
			w->window[q->window].state = WINDOW_BOUND;
		return;
	}
	draw_request(w, q, e);
	w->requests++;
	if (w->trace)
		printf("host: request %u, kind %u, len %u%s\n", w->requests - 1, q->kind, q->len,
			q->fence ? ", fenced" : "");
	rnic_sq_commit(qp);
	(void)rnic_sq_end(qp);
}

void foreign_host_act(struct foreign_host *h)
{
	struct foreign_world *w = h->world;

	foreign_host_connect(h);
	if (world_chance(w, 0.4))
		post_receive(h);
	else if (foreign_host_is_connected(h) && !w->closed && !w->stopped && !h->peer->fin)
		post_request(h);
}

/* ---- completions ------------------------------------------------------------------------------
 */

static void succeeded(struct foreign_host *h, struct request *q)
{
	struct window *window = &h->world->window[q->window];

	if (h->send_failed)
		return world_wrong(h->world, "a request succeeds behind one that failed");
	if (request_is_read(q) && !q->answered)
		return world_wrong(h->world, "a Read or Atomic succeeds that was not answered");
	q->done = true;
	if (request_is_read(q))
		foreign_memory_answered(h, q);
	if (q->kind == REQUEST_BIND)
		window->state = WINDOW_BOUND;
	window->used = window->used || q->kind == REQUEST_BIND;
	if (q->kind == REQUEST_INVALIDATE)
		window->state = WINDOW_FREE;
}

static uint8_t op_of(const struct request *q)
{
	static const uint8_t op[] = {[REQUEST_SEND] = RDMAP_WC_SEND,
		[REQUEST_WRITE] = RDMAP_WC_WRITE,
		[REQUEST_WRITE_IMM] = RDMAP_WC_WRITE,
		[REQUEST_READ] = RDMAP_WC_READ,
		[REQUEST_FETCH_ADD] = RDMAP_WC_FETCH_ADD,
		[REQUEST_CMP_SWAP] = RDMAP_WC_CMP_SWAP,
		[REQUEST_BIND] = RDMAP_WC_BIND_MW,
		[REQUEST_INVALIDATE] = RDMAP_WC_LOCAL_INV};

	return op[q->kind];
}

static void request_done(struct foreign_host *h, const struct rdmap_wc *wc)
{
	struct foreign_world *w = h->world;
	struct request *q;

	/* Those before it that made no completion have succeeded. */
	while (w->polled < wc->wr_id && w->polled < w->requests && !w->request[w->polled].signaled)
		succeeded(h, &w->request[w->polled++]);
	if (wc->wr_id != w->polled || w->polled == w->requests)
		return world_wrong(w, "a request completes out of order, or twice");
	q = &w->request[w->polled++];
	if (wc->op != op_of(q))
		return world_wrong(w, "a completion is of another operation");
	if (wc->status == RDMAP_WC_SUCCESS && !q->signaled)
		return world_wrong(w, "a request completes that was not signaled");
	if (wc->status == RDMAP_WC_SUCCESS)
		return succeeded(h, q);
	h->send_failed = true;
}

static bool is_immediate(const struct delivery *d)
{
	return d->opcode == FOREIGN_IMMEDIATE || d->opcode == FOREIGN_IMMEDIATE_SE;
}

static bool is_invalidate(const struct delivery *d)
{
	return d->opcode == FOREIGN_SEND_INV || d->opcode == FOREIGN_SEND_SE_INV;
}

static void check_message(
	struct foreign_host *h, const struct rdmap_wc *wc, const struct delivery *d)
{
	bool solicited = d->opcode == FOREIGN_SEND_SE || d->opcode == FOREIGN_SEND_SE_INV ||
			 d->opcode == FOREIGN_IMMEDIATE_SE;
	unsigned flags = (solicited ? RDMAP_WC_SOLICITED : 0u) |
			 (is_invalidate(d) ? RDMAP_WC_WITH_INV : 0u) |
			 (is_immediate(d) ? RDMAP_WC_WITH_IMM : 0u);

	if (wc->flags != flags || wc->op != (is_immediate(d) ? RDMAP_WC_RECV_IMM : RDMAP_WC_RECV))
		world_wrong(h->world, "a message is told as another kind");
	else if (wc->byte_len != (is_immediate(d) ? d->write_len : d->len))
		world_wrong(h->world, "a message is told with another length");
	else if (is_immediate(d) ? wc->imm != d->imm : is_invalidate(d) && wc->inv_stag != d->stag)
		world_wrong(h->world, "a message is told with other data");
}

static void window_ended(struct foreign_world *w, uint32_t stag)
{
	for (unsigned i = 0; i < WINDOWS; i++)
		if (w->window[i].stag == stag)
			w->window[i].state = WINDOW_FREE;
}

static void receive_done(struct foreign_host *h, const struct rdmap_wc *wc)
{
	struct foreign_world *w = h->world;
	const struct delivery *d = &w->delivery[w->received];

	if (wc->wr_id != (RECV_ID | w->received) || w->received == w->receives)
		return world_wrong(w, "a receive completes out of order, or twice");
	w->received++;
	if (wc->status != RDMAP_WC_SUCCESS) {
		h->recv_failed = true;
		return;
	}
	if (h->recv_failed)
		return world_wrong(w, "a receive succeeds behind one that failed");
	if (w->received > w->deliveries || d->late)
		return world_wrong(w, "a receive succeeds without a message");
	w->receive[w->received - 1].done = true;
	check_message(h, wc, d);
	foreign_memory_received(h, &w->receive[w->received - 1], d);
	foreign_memory_check_writes(h, d->placed);
	if (is_invalidate(d))
		window_ended(w, d->stag);
}

void foreign_host_poll(struct foreign_host *h)
{
	struct rnic_wc wc;

	while (!h->world->wrong && rnic_cq_poll(h->pair.a.cq, 1, &wc) == 1) {
		if (h->world->trace)
			printf("host: completion of %llx, op %u, status %u\n",
				(unsigned long long)wc.wc.wr_id, wc.wc.op, wc.wc.status);
		if (wc.wc.wr_id & RECV_ID)
			receive_done(h, &wc.wc);
		else
			request_done(h, &wc.wc);
	}
}

bool foreign_host_is_idle(const struct foreign_host *h)
{
	const struct foreign_world *w = h->world;

	for (unsigned i = w->polled; i < w->requests; i++) {
		const struct request *q = &w->request[i];

		if (q->signaled || (!request_is_local(q) && !q->seen) ||
			(request_is_read(q) && !q->answered))
			return false;
	}
	return w->received >= w->deliveries;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static void check_clean(struct foreign_host *h)
{
	struct foreign_world *w = h->world;

	if (h->send_failed)
		world_wrong(w, "a request fails for no reason");
	while (!w->wrong && w->polled < w->requests && !w->request[w->polled].signaled)
		succeeded(h, &w->request[w->polled++]);
	for (unsigned i = 0; i < w->deliveries && i < w->receives; i++)
		if (!w->receive[i].done)
			return world_wrong(w, "a message is not told of");
	if (w->deliveries > w->receives)
		world_wrong(w, "the test has posted too few receives");
}

/** The peer was to blame, and the host has said so. */
static void check_bad_end(struct foreign_host *h)
{
	const struct side *s = &h->pair.a;
	bool cut_off = h->peer->terminate == FOREIGN_CODE(2, 0, 1);

	if (pair_last(s)->status != (cut_off ? -ECONNRESET : -EPROTO))
		world_wrong(h->world, "the end of the stream is told with another error");
	if (s->n_events != !cut_off)
		world_wrong(h->world, "an error of the peer is not told by one event");
}

void foreign_host_check_end(struct foreign_host *h, bool clean)
{
	struct foreign_world *w = h->world;
	const struct side *s = &h->pair.a;

	foreign_host_poll(h);
	if (clean)
		check_clean(h);
	while (w->polled < w->requests && !w->request[w->polled].signaled && !h->send_failed)
		w->polled++;
	if (w->polled != w->requests)
		world_wrong(w, "a request has no completion");
	if (w->received != w->receives)
		world_wrong(w, "a receive has no completion");
	if (pair_count(s, RNIC_EP_ESTABLISHED) > 1 || pair_count(s, RNIC_EP_DISCONNECTED) != 1)
		world_wrong(w, "the end of the stream is not told once");
	if (clean && pair_last(s)->status != 0)
		world_wrong(w, "an orderly end is told as an error");
	if (clean && s->n_events)
		world_wrong(w, "an orderly end is an event of the queue pair");
	if (w->broken && h->peer->terminate >= 0 && !w->excused && !w->stopped)
		check_bad_end(h);
	foreign_memory_check_end(h, clean);
}
