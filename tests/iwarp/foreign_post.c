/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_host.h"

#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEND_MOST (MOST - 40)

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
		e->wr_id = FOREIGN_RECV_ID | w->receives;
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
