/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Active endpoints, and the common part of all endpoints. ep_resolve.c resolves addresses;
 * ep_listen.c has passive endpoints.
 */
#include "rnic/ep.h"

#include "rnic/ep_priv.h"
#include "rnic/qp.h"
#include "rnic/sidr.h"

#include <errno.h>
#include <stdlib.h>

/* ---- life -------------------------------------------------------------------------------- */

struct rnic_ep *ep_new(struct rnic *r, rnic_ep_event_fn *fn, void *context)
{
	struct rnic_ep *ep = calloc(1, sizeof *ep);

	if (!ep)
		return NULL;
	ep->rnic = r;
	ep->fn = fn;
	ep->context = context;
	LIST_INSERT_HEAD(&r->eps, ep, link);
	return ep;
}

int rnic_ep_create(struct rnic *r, rnic_ep_event_fn *fn, void *context, struct rnic_ep **out)
{
	engine_lock(r->engine);
	*out = ep_new(r, fn, context);
	engine_unlock(r->engine);
	return *out ? 0 : -ENOMEM;
}

static int ep_create_ud(struct rnic *r, rnic_ep_event_fn *fn, void *context, struct rnic_ep **out)
{
	struct rnic_ep *ep = ep_new(r, fn, context);
	int rc = ep ? sidr_init(ep) : -ENOMEM;

	if (rc && ep)
		ep_free(ep);
	*out = rc ? NULL : ep;
	return rc;
}

int rnic_ep_create_ud(struct rnic *r, rnic_ep_event_fn *fn, void *context, struct rnic_ep **out)
{
	return ENGINE_LOCKED(r->engine, ep_create_ud(r, fn, context, out));
}

void ep_adopt(struct rnic_ep *ep, rnic_ep_event_fn *fn, void *context)
{
	ep->fn = fn;
	ep->context = context;
	ep_request_taken(ep);
}

void rnic_ep_set_context(struct rnic_ep *ep, rnic_ep_event_fn *fn, void *context)
{
	engine_lock(ep->rnic->engine);
	ep_adopt(ep, fn, context);
	engine_unlock(ep->rnic->engine);
}

static void ep_release(struct rnic_ep *ep)
{
	if (!ep->sidr)
		llp_port_release(ep->rnic->net, &ep->bound);
}

void ep_free(struct rnic_ep *ep)
{
	struct conn *c = ep->conn;

	ep->conn = NULL;
	if (c) {
		c->ep = NULL;
		/* A stream stays with its QP; a start-up ends with its endpoint. */
		if (ep->state == EP_REQUEST)
			conn_refuse(c);
		else if (c->phase == CONN_START)
			conn_abort(c, -ECONNABORTED);
	}
	ep_stop_resolving(ep);
	ep_request_taken(ep);
	ep_leave_listener(ep);
	ep_unlisten(ep);
	if (ep->reserved)
		ep_release(ep);
	sidr_fini(ep);
	LIST_REMOVE(ep, link);
	free(ep);
}

/** @return the QP of its stream, which nobody has closed yet; or NULL. */
static struct rnic_qp *ep_stream_of(const struct rnic_ep *ep)
{
	const struct conn *c = ep->conn;

	return c && c->phase == CONN_STREAM && !c->qp->closing ? c->qp : NULL;
}

void rnic_ep_destroy(struct rnic_ep *ep)
{
	struct rnic *r = ep->rnic;
	struct rnic_qp *qp;
	bool ud;

	engine_lock(r->engine);
	ud = ep->sidr != NULL;
	qp = ep_stream_of(ep);
	ep_free(ep);
	/* The kernel's iwcm.c, destroy_cm_id(): nobody can end the connection any more, and its
	 * peer would wait for that as long as this QP lives. */
	if (qp)
		qp_modify_fail(qp);
	engine_unlock(r->engine);
	if (ud)
		(void)mcast_commit(r, NULL, NULL);
}

/* ---- addresses --------------------------------------------------------------------------- */

static int ep_reserve(struct rnic_ep *ep, struct ip_endpoint *at, bool reuse, bool v6only)
{
	unsigned flags = (reuse ? LLP_PORT_REUSE : 0) | (v6only ? LLP_PORT_V6ONLY : 0);

	if (ep->sidr)
		return sidr_reserve(ep, at, reuse, v6only);
	return llp_port_reserve(ep->rnic->net, at, flags);
}

int ep_bind(struct rnic_ep *ep, const struct ip_endpoint *local, bool reuse, bool v6only)
{
	struct ip_endpoint at = *local;
	int rc;

	if (ep->state != EP_IDLE)
		return -EINVAL;
	rc = ep_reserve(ep, &at, reuse, v6only);
	if (rc)
		return rc;
	ep->bound = ep->local = at;
	ep->reserved = true;
	ep->reuse = reuse;
	ep->v6only = v6only;
	ep->state = EP_BOUND;
	return 0;
}

int rnic_ep_bind(struct rnic_ep *ep, const struct ip_endpoint *local, bool reuse, bool v6only)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_bind(ep, local, reuse, v6only));
}

static int ep_rebind(struct rnic_ep *ep, bool reuse, bool v6only)
{
	int rc;

	if (ep->state != EP_BOUND)
		return -EINVAL;
	ep_release(ep);
	rc = ep_reserve(ep, &ep->bound, reuse, v6only);
	if (rc) {
		/* Nobody can have come between. */
		ep->reserved = !ep_reserve(ep, &ep->bound, ep->reuse, ep->v6only);
		return rc;
	}
	ep->reuse = reuse;
	ep->v6only = v6only;
	return 0;
}

int rnic_ep_rebind(struct rnic_ep *ep, bool reuse, bool v6only)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_rebind(ep, reuse, v6only));
}

void rnic_ep_addresses(
	const struct rnic_ep *ep, struct ip_endpoint *local, struct ip_endpoint *remote)
{
	struct engine *e = ep->rnic->engine;

	engine_lock(e);
	*local = ep->local;
	*remote = ep->remote;
	engine_unlock(e);
}

bool rnic_ep_is_local(const struct rnic_ep *ep, const struct ip_addr *a)
{
	return ENGINE_LOCKED(ep->rnic->engine, llp_is_local(ep->rnic->net, a));
}

bool rnic_ep_has_scopes(const struct rnic_ep *ep)
{
	return llp_has_scopes(ep->rnic->net);
}

static bool ep_has_device(const struct rnic_ep *ep)
{
	return ep->state != EP_IDLE && !ip_addr_is_any(&ep->local.addr);
}

bool rnic_ep_has_device(const struct rnic_ep *ep)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_has_device(ep));
}

/* ---- connect ----------------------------------------------------------------------------- */

struct rnic_qp *ep_param_verify(
	const struct rnic_ep *ep, const struct rnic_conn_param *p, bool enhanced)
{
	struct rnic *r = ep->rnic;
	struct rnic_qp *qp = p->qp ? p->qp : rnic_qp_find(r, p->qp_num);
	unsigned max = MPA_PRIVATE_MAX - (enhanced ? MPA_ENHANCED_LEN : 0);

	if (!qp || qp->rnic != r || qp->ud || qp->conn || qp->leaving)
		return NULL;
	/* One that its program has told a peer connects by itself, and by nothing else. */
	if (!qp->pairing == ep->paired)
		return NULL;
	/* The program of a pairing may be in SQD before there is a stream. */
	if (qp_state(qp) > (qp->pairing ? RNIC_QP_SQD : RNIC_QP_RTS))
		return NULL;
	if (p->ird > r->limits.max_ird || p->ord > r->limits.max_ord || p->private_len > max)
		return NULL;
	return qp;
}

int ep_connect(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	struct rnic *r = ep->rnic;
	struct llp_connect_params params = {
		.local = ep->local, .remote = ep->remote, .tos = p->tos};
	struct rnic_qp *qp;
	struct conn *c;
	int rc;

	if (ep->sidr)
		return sidr_connect(ep, p);
	qp = ep_param_verify(ep, p, ep->paired || r->mpa.revision >= 2);
	if (ep->state != EP_RESOLVED || !qp)
		return -EINVAL;
	c = conn_create(r);
	if (!c)
		return -ENOMEM;
	c->paired = ep->paired;
	c->ird = p->ird;
	c->ord = p->ord;
	c->any_port = !ep->reserved;
	rc = conn_keep_private(c, p->private_data, p->private_len);
	if (!rc)
		rc = conn_connect(c, &params);
	if (rc) {
		conn_destroy(c);
		return rc;
	}
	ep_on_attempt(ep, c);
	c->ep = ep;
	c->qp = qp;
	ep->closing = false;
	ep->conn = qp->conn = c;
	ep->state = EP_CONNECTING;
	return 0;
}

int rnic_ep_connect(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_connect(ep, p));
}

/* ---- disconnect -------------------------------------------------------------------------- */

int rnic_ep_disconnect(struct rnic_ep *ep)
{
	struct engine *e = ep->rnic->engine;
	int rc = 0;

	engine_lock(e);
	if (ep->sidr)
		rc = -EINVAL;
	else if (ep->state == EP_CONNECTED || ep->state == EP_ACCEPTED)
		qp_close(ep->conn->qp);
	else if (ep->state == EP_CONNECTING)
		ep->closing = true;
	else if (!ep->was_connected)
		rc = -ENOTCONN;
	engine_unlock(e);
	return rc;
}

/* ---- what a connection tells ------------------------------------------------------------- */

void ep_tell(struct rnic_ep *ep, struct rnic_ep_event *ev)
{
	ev->ep = ep;
	ev->context = ep->context;
	ep->fn(ev);
}

/** A request that is not adopted has no program; a pairing's hears of it by its QP's device. */
static bool ep_hears_of_removal(const struct rnic_ep *ep)
{
	return ep_has_device(ep) && !ep->paired && (!ep->parent || ep->adopted);
}

void ep_tell_removal(struct rnic *r)
{
	struct rnic_ep *ep;

	LIST_FOREACH (ep, &r->eps, link)
		if (ep_hears_of_removal(ep))
			ep_tell(ep, &(struct rnic_ep_event){.type = RNIC_EP_DEVICE_REMOVAL});
}

void ep_failed(const struct rnic_ep *ep, const struct rnic_failure *f)
{
	const struct rnic *r = ep->rnic;

	/* A pairing comes before its peer as often as not, and tries again. */
	if (r->failure_fn && !(ep->paired && f->status == -ECONNREFUSED))
		r->failure_fn(r->failure_arg, f);
}

void ep_on_attempt(struct rnic_ep *ep, const struct conn *c)
{
	struct ip_endpoint mapped;

	/* The program keeps seeing the port that it asked for, as with the kernel's iw_cm. */
	if (mpa_llp(&c->mpa))
		llp_endpoints(mpa_llp(&c->mpa), &ep->local, &mapped);
}

void ep_on_reply(struct rnic_ep *ep, const struct mpa_start *st, uint16_t ird, uint16_t ord)
{
	struct rnic_ep_event ev = {.type = RNIC_EP_ESTABLISHED,
		.private_data = st->private_data,
		.private_len = st->private_len,
		.ird = ird,
		.ord = ord};
	struct rnic_qp *closing = ep->closing ? ep->conn->qp : NULL;

	ep->state = EP_CONNECTED;
	ep->was_connected = true;
	ep_tell(ep, &ev); /* a pairing may free it */
	if (closing)
		qp_close(closing);
}

/** How a start-up that failed is told, in the terms of the kernel's iWARP CM. */
static enum rnic_ep_event_type ep_failure(int status, bool active)
{
	switch (status) {
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -EKEYREJECTED: /* by TLS: one side does not believe the other */
		return active ? RNIC_EP_REJECTED : RNIC_EP_CONNECT_ERROR;
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return RNIC_EP_UNREACHABLE;
	default:
		return RNIC_EP_CONNECT_ERROR;
	}
}

void ep_on_over(struct rnic_ep *ep, const struct conn_end *end)
{
	struct rnic_ep_event ev = {.status = end->status};
	enum ep_state was = ep->state;

	ep->state = EP_OVER;
	switch (was) {
	case EP_CONNECTING:
		ep->state = EP_RESOLVED; /* another attempt may be made */
		ev.type = ep_failure(end->status, true);
		if (end->rejected) {
			ev.private_data = end->rejected->private_data;
			ev.private_len = end->rejected->private_len;
			ev.ird = ep_depth(end->rejected->ord, ep->rnic->limits.max_ird);
			ev.ord = ep_depth(end->rejected->ird, ep->rnic->limits.max_ord);
		} else if (!end->own) {
			ep_failed(ep, &(struct rnic_failure){.remote = ep->remote,
					      .status = end->status,
					      .mapper = end->mapper});
		}
		break;
	case EP_ACCEPTED:
		if (!ev.status)
			ev.status = -ECONNRESET;
		ev.type = ep_failure(ev.status, false);
		break;
	case EP_CONNECTED:
		ev.type = RNIC_EP_DISCONNECTED;
		break;
	default:
		/* Gone before the user answered: accept will tell. */
		return;
	}
	ep_tell(ep, &ev);
}
