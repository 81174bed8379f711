/* SPDX-License-Identifier: BSD-2-Clause */
/** Connections: made, refused, ended, and that what is told of them is told once. */
#include "base/bytes.h"
#include "vopr/reason.h"
#include "vopr/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Private data of a request: which side asks, for which QP. */
#define HELLO_LEN 12
/** Reads and Atomics at a time, at most. */
#define DEPTH_MOST 16

struct request {
	struct world_host *h;
	struct rnic_ep *ep;
	uint8_t hello[HELLO_LEN];
	struct world_end *end;
};

static struct world_end *end_new(struct world_host *h, struct world_qp *q)
{
	struct world_end *e = calloc(1, sizeof *e);

	if (!e)
		abort();
	*e = (struct world_end){.h = h, .next = h->ends, .qp = q};
	h->ends = e;
	q->end = e;
	return e;
}

static void end_event(const struct rnic_ep_event *ev)
{
	struct world_end *e = ev->context;
	struct world *w = e->h->w;
	struct world_qp *q = e->qp;

	world_trace(w, "host %u: qp %d: CM event %u, status %d", e->h->index, q ? (int)q->slot : -1,
		ev->type, ev->status);
	if (ev->type == RNIC_EP_ADDR_RESOLVED && !e->established)
		return;
	if (e->over) {
		model_fail(&w->m, "host %u: CM event %u after the end", e->h->index, ev->type);
	} else if (ev->type == RNIC_EP_ESTABLISHED) {
		if (e->established)
			model_fail(&w->m, "host %u: established twice", e->h->index);
		e->established = true;
		w->established++;
		if (q)
			model_established(&q->model);
	} else {
		/* Where the network does nothing, the answer arrives. */
		if (e->refused && ev->type != RNIC_EP_REJECTED && ev->status != -ECONNABORTED &&
			w->program->profile.faults == 0)
			model_fail(&w->m, "host %u: CM event %u, but it was rejected", e->h->index,
				ev->type);
		if (!e->established && !e->refused && !e->closing && !e->over &&
			w->program->profile.faults == 0 && q && !reason_all(&q->model))
			model_fail(&w->m, "host %u: CM event %u, status %d, for no reason",
				e->h->index, ev->type, ev->status);
		if (e->established != (ev->type == RNIC_EP_DISCONNECTED))
			model_fail(&w->m, "host %u: CM event %u, %sestablished", e->h->index,
				ev->type, e->established ? "" : "not ");
		e->over = true;
		if (q && ev->type == RNIC_EP_DISCONNECTED)
			model_disconnected(&q->model, !ev->status);
	}
}

/* ---- the passive side -------------------------------------------------------------------- */

/** Is this attempt to connect still that of @p from? */
static bool is_of(const struct request *r, const struct world_qp *from)
{
	return from->qp && from->end && from->end->attempt == load_be32(r->hello + 4);
}

/** The QP that the request is for, if it is free, and that which asks, if it still does. */
static bool find_both(struct request *r, struct world_qp **to, struct world_qp **from)
{
	struct world *w = r->h->w;
	unsigned host = r->hello[0], slot = r->hello[1];

	if (host >= w->n || slot >= WORLD_QPS || r->hello[2] >= WORLD_QPS)
		return false;
	*to = &r->h->qp[r->hello[2]];
	*from = &w->host[host].qp[slot];
	if (is_of(r, *from)) {
		/* One whose answer is lost may be asked for again, with an older revision. */
		if ((*from)->end->asked && w->program->profile.faults == 0)
			model_fail(&w->m, "host %u: a request came twice", r->h->index);
		(*from)->end->asked = true;
	}
	return (*to)->qp && !(*to)->end && rnic_qp_get_state((*to)->qp) == RNIC_QP_INIT &&
	       !(*to)->paired && is_of(r, *from) && !(*from)->end->over && !(*from)->linked &&
	       *to != *from;
}

static void reject(struct request *r)
{
	struct world *w = r->h->w;
	struct world_qp *from = &w->host[r->hello[0]].qp[r->hello[1]];

	if (is_of(r, from))
		from->end->refused = true;
	rnic_ep_reject(r->ep, NULL, 0);
}

static void answer(void *ctx)
{
	struct request *r = ctx;
	struct world *w = r->h->w;
	struct world_qp *to, *from;
	struct rnic_conn_param cp = {.ird = r->hello[3], .ord = r->hello[3]};

	if (w->over) { /* the listener has ended, and what it was asked with it */
		free(r);
		return;
	}
	if (!find_both(r, &to, &from)) {
		reject(r);
		rnic_ep_destroy(r->ep);
		free(r);
		return;
	}
	cp.qp = to->qp;
	r->end = end_new(r->h, to);
	r->end->ep = r->ep;
	rnic_ep_set_context(r->ep, end_event, r->end);
	to->linked = from->linked = true;
	to->far = from->h->index;
	from->far = to->h->index;
	model_connect(&to->model, &from->model);
	world_trace(w, "host %u: qp %u accepts qp %u of host %u", r->h->index, to->slot, from->slot,
		from->h->index);
	if (rnic_ep_accept(r->ep, &cp) < 0)
		r->end->over = true; /* it went away meanwhile */
	free(r);
}

static void listener_event(const struct rnic_ep_event *ev)
{
	struct world_host *h = ev->context;
	struct request *r;

	if (ev->type != RNIC_EP_CONNECT_REQUEST) {
		model_fail(&h->w->m, "host %u: listener: event %u", h->index, ev->type);
		return;
	}
	r = calloc(1, sizeof *r);
	if (!r)
		abort();
	r->h = h;
	r->ep = ev->request;
	if (ev->private_len >= HELLO_LEN)
		memcpy(r->hello, ev->private_data, HELLO_LEN);
	else
		model_fail(&h->w->m, "host %u: a request with %u bytes", h->index, ev->private_len);
	/* A peer that was let go of in its first attempt asks again in revision 1, which tells no
	 * depths: programs must know them. */
	if (ev->ord > DEPTH_MOST)
		r->hello[3] = r->hello[8];
	sim_at(h->w->s, sim_now(h->w->s), answer, r);
}

void world_listen(struct world_host *h)
{
	struct ip_endpoint at = {sim_host_address(h->host), WORLD_PORT};

	world_must(h->w, rnic_ep_create(h->rnic, listener_event, h, &h->listener), "ep_create");
	world_must(h->w, rnic_ep_bind(h->listener, &at, false, false), "bind");
	world_must(h->w, rnic_ep_listen(h->listener, 64), "listen");
}

/* ---- the active side --------------------------------------------------------------------- */

static bool is_idle(const struct world_qp *q)
{
	return q->qp && !q->end && !q->paired && rnic_qp_get_state(q->qp) == RNIC_QP_INIT;
}

static struct world_qp *idle_qp(struct world_host *h, const struct world_qp *not_this)
{
	unsigned first = (unsigned)world_below(h->w, WORLD_QPS);

	for (unsigned i = 0; i < WORLD_QPS; i++) {
		struct world_qp *q = &h->qp[(first + i) % WORLD_QPS];

		if (q != not_this && is_idle(q))
			return q;
	}
	return NULL;
}

static bool begin_start(const struct world_end *e, const struct rnic_conn_param *cp)
{
	struct world *w = e->h->w;
	int r = rnic_ep_connect(e->ep, cp);

	/* While it resolved, a CQ of its queue pair has overflowed. */
	if (r == -EINVAL && rnic_qp_get_state(cp->qp) == RNIC_QP_ERROR)
		return false;
	return world_must(w, r, "connect");
}

void world_connect(struct world_host *h)
{
	struct world *w = h->w;
	struct world_host *peer = &w->host[world_below(w, w->n)];
	struct world_qp *q = idle_qp(h, NULL), *to;
	struct ip_endpoint at = {sim_host_address(peer->host), WORLD_PORT};
	uint8_t hello[HELLO_LEN] = {(uint8_t)h->index};
	struct rnic_conn_param cp = {.private_data = hello, .private_len = HELLO_LEN};
	struct world_end *e;

	if (peer == h && world_chance(w, 0.8))
		peer = &w->host[(h->index + 1) % w->n];
	at.addr = sim_host_address(peer->host);
	to = q ? idle_qp(peer, q) : NULL;
	if (!to)
		return;
	if (world_chance_since(w, 4, w->program->profile.pairs)) {
		world_pair(q, to);
		return;
	}
	e = end_new(h, q);
	cp.qp = q->qp;
	cp.ird = cp.ord = (uint16_t)(1 + world_below(w, DEPTH_MOST));
	hello[1] = (uint8_t)q->slot;
	hello[2] = (uint8_t)to->slot;
	hello[3] = (uint8_t)(1 + world_below(w, DEPTH_MOST));
	hello[8] = (uint8_t)cp.ird;
	e->attempt = (uint32_t)++w->attempts;
	store_be32(hello + 4, e->attempt);
	world_trace(w, "host %u: qp %u connects to qp %u of host %u", h->index, q->slot, to->slot,
		peer->index);
	if (!world_must(w, rnic_ep_create(h->rnic, end_event, e, &e->ep), "ep_create") ||
		!world_must(w, rnic_ep_resolve(e->ep, &at, 0), "resolve") || !begin_start(e, &cp))
		e->over = true;
}

/* ---- the end ----------------------------------------------------------------------------- */

static struct world_end *any_end(struct world_host *h)
{
	unsigned n = 0;
	struct world_end *e;

	for (e = h->ends; e; e = e->next)
		n++;
	n = (unsigned)world_below(h->w, n);
	for (e = h->ends; e && n; e = e->next)
		n--;
	return e;
}

void world_disconnect(struct world_host *h)
{
	struct world_end *e = any_end(h);

	if (!e || e->over)
		return;
	world_trace(h->w, "host %u: qp %d disconnects", h->index, e->qp ? (int)e->qp->slot : -1);
	if (e->qp)
		model_end(&e->qp->model);
	e->closing = true;
	rnic_ep_disconnect(e->ep);
}

void world_end_destroy(struct world_host *h)
{
	struct world_end *e = any_end(h);

	if (!e)
		return;
	world_trace(
		h->w, "host %u: qp %d: its endpoint ends", h->index, e->qp ? (int)e->qp->slot : -1);
	if (e->qp)
		model_end(&e->qp->model);
	e->given_up = true;
}

/** Its queue pair goes to ERROR with it, unless its stream closes already. */
static void destroy_end(const struct world_end *e)
{
	struct world_qp *q = e->qp;
	bool alive = q && rnic_qp_get_state(q->qp) != RNIC_QP_ERROR;

	rnic_ep_destroy(e->ep);
	if (alive && rnic_qp_get_state(q->qp) == RNIC_QP_ERROR)
		q->asked = q->told_drained = q->drained = q->model.held = false;
	if (q && e->established && rnic_qp_get_state(q->qp) == RNIC_QP_RTS)
		model_fail(&e->h->w->m, "host %u: qp %u goes on without its endpoint", e->h->index,
			q->slot);
}

void world_reap(struct world_host *h)
{
	struct world_end **at = &h->ends, *e;

	while ((e = *at)) {
		if (!e->over && !e->given_up) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		if (e->ep)
			destroy_end(e);
		if (e->qp)
			e->qp->end = NULL;
		/* It may have been accepted all the same: what is posted is of that connection. */
		if (e->qp && e->qp->linked && !e->established &&
			rnic_qp_get_state(e->qp->qp) != RNIC_QP_ERROR)
			world_qp_reset(e->qp);
		free(e);
	}
}
