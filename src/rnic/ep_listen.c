/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints that listen, and the requests that come to them. */
#include "rnic/ep_priv.h"
#include "rnic/qp.h"
#include "rnic/sidr.h"

#include <errno.h>
#include <stdlib.h>

/* ---- listen ------------------------------------------------------------------------------ */

static int ep_listen_on_accept(void *user, struct llp *l)
{
	struct rnic_ep *ep = user;
	struct conn *c;

	int rc;

	c = conn_create(ep->rnic);
	if (!c)
		return -ENOMEM;
	rc = conn_accepted(c, l, ep);
	if (rc)
		conn_destroy(c);
	return rc;
}

/** Begin to listen with @p l, which is zeroed. */
static int ep_listen_begin(struct rnic_ep *ep, struct ep_listener *l, unsigned backlog)
{
	struct rnic *r = ep->rnic;
	uint32_t max = r->limits.max_listen_backlog;
	struct siphash_key key;
	int rc;

	l->backlog = backlog && backlog < max ? backlog : max;
	r->random.fill(r->random.ctx, &key, sizeof key);
	if (peer_set_init(&l->waiting, l->backlog, &key))
		return -ENOMEM;
	if (ep->sidr)
		rc = sidr_listen(ep);
	else
		rc = llp_listen(r->net, &ep->local, max, ep_listen_on_accept, ep, &l->llp);
	if (rc) {
		peer_set_fini(&l->waiting);
		return rc;
	}
	ep->listener = l;
	ep->state = EP_LISTENING;
	if (r->mapper && !ep->paired && !ep->sidr)
		iwpm_listen(r->mapper, &l->mapped, &ep->local, ep->v6only);
	return 0;
}

int ep_listen(struct rnic_ep *ep, unsigned backlog)
{
	struct ep_listener *l;
	char text[IP_ADDR_STRLEN];
	int rc;

	if (ep->state != EP_BOUND)
		return -EINVAL;
	l = calloc(1, sizeof *l);
	rc = l ? ep_listen_begin(ep, l, backlog) : -ENOMEM;
	if (rc) {
		free(l);
		return rc;
	}
	log_printf(ep->rnic->log, LOG_LEVEL_INFO, "rnic: listening on %s port %u",
		ip_addr_format(&ep->local.addr, text), ep->local.port);
	return 0;
}

int rnic_ep_listen(struct rnic_ep *ep, unsigned backlog)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_listen(ep, backlog));
}

void ep_unlisten(struct rnic_ep *ep)
{
	struct ep_listener *l = ep->listener;
	struct rnic_ep *request;

	if (!l)
		return;
	iwpm_unlisten(&l->mapped);
	if (ep->sidr)
		sidr_unlisten(ep);
	else
		llp_unlisten(ep->rnic->net, l->llp);
	while (!LIST_EMPTY(&l->pending))
		conn_abort(LIST_FIRST(&l->pending), -ECONNABORTED);
	while ((request = LIST_FIRST(&l->requests)) != NULL) {
		/* What the program has not seen yet it cannot destroy: we do. */
		if (request->adopted)
			ep_leave_listener(request);
		else
			ep_free(request);
	}
	peer_set_fini(&l->waiting);
	ep->listener = NULL;
	free(l);
}

/* ---- requests ---------------------------------------------------------------------------- */

uint16_t ep_depth(uint16_t told, uint32_t max)
{
	/* Not told (revision 1, or left to the user): whatever we can. */
	return told == MPA_DEPTH_UNKNOWN || told > max ? (uint16_t)max : told;
}

/**
 * One peer that fills the backlog of a program that is slow must not keep the others out. Beyond it
 * there are as many places again, one for each peer that has none.
 */
static bool ep_listen_has_room(const struct ep_listener *l, const struct ip_addr *peer)
{
	uint32_t n = l->waiting.count;

	return n < l->backlog ||
	       (n - l->backlog < l->backlog && !peer_set_count(&l->waiting, peer));
}

struct rnic_ep *ep_new_request(
	struct rnic_ep *ep, const struct ip_endpoint *local, const struct ip_endpoint *remote)
{
	struct rnic_ep *request;

	if (!ep_listen_has_room(ep->listener, &remote->addr))
		return NULL;
	request = ep_new(ep->rnic, ep->fn, ep->context);
	if (!request)
		return NULL;
	if (peer_set_add(&ep->listener->waiting, &request->charge, &remote->addr)) {
		ep_free(request);
		return NULL;
	}
	request->state = EP_REQUEST;
	request->paired = ep->paired;
	request->local = *local;
	request->remote = *remote;
	request->parent = ep;
	LIST_INSERT_HEAD(&ep->listener->requests, request, request_link);
	return request;
}

void ep_tell_request(struct rnic_ep *ep, struct rnic_ep_event *ev)
{
	bool refuse = false;

	ev->refuse = &refuse;
	ep_tell(ep, ev);
	if (!refuse)
		return;
	log_printf(ep->rnic->log, log_level_of_count(++ep->rnic->requests_refused),
		"rnic: a request to connect is rejected: no memory or no number for it");
	ep_free(ev->request);
}

void ep_on_request(struct rnic_ep *ep, struct conn *c, const struct mpa_start *st)
{
	const struct rnic_limits *l = &ep->rnic->limits;
	struct ip_endpoint local, remote;
	struct rnic_ep *request;
	struct rnic_ep_event ev = {.type = RNIC_EP_CONNECT_REQUEST,
		.private_data = st->private_data,
		.private_len = st->private_len,
		.ird = ep_depth(st->ord, l->max_ird),
		.ord = ep_depth(st->ird, l->max_ord)};

	llp_endpoints(mpa_llp(&c->mpa), &local, &remote);
	request = ep_new_request(ep, &local, &remote);
	if (!request) {
		log_printf(ep->rnic->log, LOG_LEVEL_DEBUG, "rnic: backlog full, request rejected");
		conn_refuse(c);
		return;
	}
	request->conn = c;
	c->ep = request;
	ev.request = request;
	ep_tell_request(ep, &ev);
}

void ep_request_taken(struct rnic_ep *ep)
{
	if (ep->parent && !ep->adopted)
		peer_set_remove(&ep->parent->listener->waiting, &ep->charge);
	ep->adopted = true;
}

void ep_leave_listener(struct rnic_ep *ep)
{
	if (!ep->parent)
		return;
	ep->parent = NULL;
	LIST_REMOVE(ep, request_link);
}

/* ---- accept ------------------------------------------------------------------------------ */

struct terms {
	uint16_t ird, ord;             /**< what we use */
	uint16_t reply_ird, reply_ord; /**< what the reply says */
	uint8_t rtr;
};

/** RFC 6581 section 9.1, the responder's part. */
static struct terms ep_listen_negotiate(const struct conn *c, const struct rnic_conn_param *p)
{
	struct terms t = {.ird = p->ird, .ord = p->ord};

	/* Section 9.2: "the responder SHOULD set" all it can do of what the initiator can. */
	if (c->peer_to_peer)
		t.rtr = conn_common_rtr(c);
	/* "greater than or equal to the initiator ORD", as far as we can. The program of a pairing
	 * has told what it takes: there the peer's ORD is what its device can, and the reply lowers
	 * it. */
	if (!c->paired && c->peer_ord != MPA_DEPTH_UNKNOWN && t.ird < c->peer_ord)
		t.ird = ep_depth(c->peer_ord, c->rnic->limits.max_ird);
	if (t.rtr & MPA_RTR_READ && !t.ird)
		t.ird = 1;
	/* "The responder MUST set its ORD at most to the initiator IRD." */
	if (c->peer_ird != MPA_DEPTH_UNKNOWN && t.ord > c->peer_ird)
		t.ord = c->peer_ird;
	/* All ones: not negotiated here. Each side keeps its own, and says all ones. */
	t.reply_ird = c->peer_ord == MPA_DEPTH_UNKNOWN ? MPA_DEPTH_UNKNOWN : t.ird;
	t.reply_ord = c->peer_ird == MPA_DEPTH_UNKNOWN ? MPA_DEPTH_UNKNOWN : t.ord;
	return t;
}

static void ep_listen_passive_established(struct rnic_ep *ep, const struct conn *c)
{
	struct rnic_ep_event ev = {.type = RNIC_EP_ESTABLISHED, .ird = c->ird, .ord = c->ord};

	ep->state = EP_CONNECTED;
	ep->was_connected = true;
	ep_tell(ep, &ev);
}

int ep_accept(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	struct conn *c = ep->conn;
	struct rnic_qp *qp;
	struct terms t;
	int rc;

	if (ep->sidr)
		return sidr_accept(ep, p);
	if (ep->state == EP_OVER)
		return -ENOTCONN;
	if (ep->state != EP_REQUEST)
		return -EINVAL;
	qp = ep_param_verify(ep, p, c->enhanced);
	if (!qp)
		return -EINVAL;
	t = ep_listen_negotiate(c, p);
	rc = conn_prepare_stream(c, t.ird);
	if (rc)
		return rc;
	/* rdma_set_option(RDMA_OPTION_ID_TOS), which a request has from its listener. */
	llp_set_tos(mpa_llp(&c->mpa), p->tos);
	rc = mpa_accept(&c->mpa, t.reply_ird, t.reply_ord, t.rtr, p->private_data, p->private_len);
	if (rc)
		return rc;
	c->ord = t.ord;
	c->qp = qp;
	qp->conn = c;
	ep->state = EP_ACCEPTED;
	if (c->peer_to_peer)
		conn_set_deadline(c, ep->rnic->start_timeout);
	qp_connect(qp, c, c->peer_to_peer ? t.rtr : 0);
	/* RFC 6581 section 9.3: with an RTR frame nothing is sure before that. Without one it is,
	 * unless the connection has ended in there, and a pairing's endpoint with it. */
	if (!c->peer_to_peer && c->ep)
		ep_on_operational(c->ep);
	return 0;
}

int rnic_ep_accept(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_accept(ep, p));
}

void ep_on_operational(struct rnic_ep *ep)
{
	if (ep->state != EP_ACCEPTED)
		return;
	ep_listen_passive_established(ep, ep->conn);
}

int ep_reject(struct rnic_ep *ep, const void *private_data, uint16_t len)
{
	if (ep->sidr)
		return sidr_reject(ep, private_data, len);
	if (ep->state == EP_OVER)
		return -ENOTCONN;
	if (ep->state != EP_REQUEST)
		return -EINVAL;
	return conn_reject(ep->conn, private_data, len);
}

int rnic_ep_reject(struct rnic_ep *ep, const void *private_data, uint16_t len)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_reject(ep, private_data, len));
}
