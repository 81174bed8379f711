/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/sidr.h"

#include "base/container_of.h"
#include "rnic/device.h"

#include <errno.h>
#include <stdlib.h>

static struct sidr_list *sidr_asking(struct sidr_service *s, uint64_t number)
{
	/* By ourselves at random: what a stranger says names no other bucket more often. */
	return &s->asking[number % SIDR_BUCKETS];
}

static struct sidr_list *sidr_requests(
	struct sidr_service *s, const struct ip_endpoint *from, uint64_t number)
{
	struct {
		uint64_t number, port;
		struct ip_addr addr;
	} who = {.number = number, .port = from->port, .addr = from->addr};

	return &s->requests[siphash(&s->key, &who, sizeof who) % SIDR_BUCKETS];
}

static void sidr_enter(struct sidr *s, struct sidr_list *list)
{
	LIST_INSERT_HEAD(list, s, link);
	s->listed = true;
}

static void sidr_leave(struct sidr *s)
{
	if (s->listed)
		LIST_REMOVE(s, link);
	s->listed = false;
}

static void sidr_send(const struct sidr_port *p, const struct ip_addr *from,
	const struct ip_endpoint *to, const uint8_t message[SIDR_LEN])
{
	p->rnic->ud.net->port_send(p->udp, from, to, message, SIDR_LEN);
}

static void sidr_stop_asking(struct sidr *s)
{
	timer_stop(&s->ep->rnic->engine->wheel, &s->again);
	sidr_leave(s);
}

/* ---- asking -------------------------------------------------------------------------------- */

/** @param status -errno, or enum sidr_status. */
static void sidr_fail(struct sidr *s, int status, const struct sidr_message *m)
{
	struct rnic_ep_event ev = {.type = RNIC_EP_UNREACHABLE, .status = status};

	if (m) {
		ev.private_data = m->private_data;
		ev.private_len = m->private_len;
	}
	sidr_stop_asking(s);
	s->ep->state = EP_RESOLVED;  /* another attempt may be made */
	if (status != SIDR_REJECTED) /* else the program was reached */
		ep_failed(s->ep, &(struct rnic_failure){.remote = s->ep->remote,
					 .status = status < 0 ? status : -ECONNREFUSED});
	ep_tell(s->ep, &ev);
}

static void sidr_ask(struct sidr *s)
{
	struct rnic_ep *ep = s->ep;
	uint64_t now = ep->rnic->engine->now;

	sidr_send(ep->rnic->sidr->client, &ep->local.addr, &ep->remote, s->message);
	timer_start(&ep->rnic->engine->wheel, &s->again,
		now + s->wait < s->deadline ? now + s->wait : s->deadline);
	s->wait = s->wait < SIDR_WAIT_LAST_NS / 2 ? s->wait * 2 : SIDR_WAIT_LAST_NS;
}

static void sidr_on_again(struct timer *t, uint64_t now)
{
	struct sidr *s = container_of(t, struct sidr, again);

	s->deadline += timer_stood_still(t, now);
	if (now >= s->deadline)
		sidr_fail(s, -ETIMEDOUT, NULL);
	else
		sidr_ask(s);
}

static struct sidr *sidr_find_asking(struct rnic *r, const struct ip_endpoint *at, uint64_t number)
{
	struct sidr *s;

	LIST_FOREACH (s, sidr_asking(r->sidr, number), link)
		if (s->number == number && s->ep->remote.port == at->port &&
			ip_addr_equal(&s->ep->remote.addr, &at->addr))
			return s;
	return NULL;
}

static void sidr_on_reply(
	struct rnic *r, const struct ip_endpoint *from, const struct sidr_message *m)
{
	struct sidr *s = sidr_find_asking(r, from, m->number);
	struct rnic_ep_event ev = {.type = RNIC_EP_ESTABLISHED,
		.private_data = m->private_data,
		.private_len = m->private_len,
		.ud_qp = m->qp,
		.ud_qkey = m->qkey};

	if (!s)
		return;
	ev.ud_local = s->ep->local.addr;
	ev.ud_remote = s->ep->remote.addr;
	if (m->status != SIDR_ACCEPTED) {
		sidr_fail(s, m->status, m);
		return;
	}
	sidr_stop_asking(s);
	s->ep->state = EP_CONNECTED;
	s->ep->was_connected = true;
	ep_tell(s->ep, &ev);
}

bool sidr_has_gid(const struct rnic *r, const struct ip_addr *local)
{
	const struct ud_net *net = r->ud.net;

	return !net->has_gid || net->has_gid(net->ctx, local);
}

/* ---- being asked --------------------------------------------------------------------------- */

static void sidr_answer(struct sidr *s, const struct sidr_message *m)
{
	sidr_put(s->message, m);
	sidr_send(s->port, &s->ep->local.addr, &s->ep->remote, s->message);
}

static void sidr_refuse(const struct sidr_port *p, const struct ip_endpoint *from,
	const struct ip_endpoint *to, uint64_t number)
{
	const struct sidr_message m = {
		.kind = SIDR_REPLY, .status = SIDR_NOBODY_LISTENS, .number = number};
	uint8_t message[SIDR_LEN];

	sidr_put(message, &m);
	sidr_send(p, &to->addr, from, message);
}

static struct sidr *sidr_find_request(struct rnic *r, const struct ip_endpoint *from,
	const struct ip_endpoint *to, uint64_t number)
{
	struct sidr *s;

	LIST_FOREACH (s, sidr_requests(r->sidr, from, number), link)
		if (s->number == number && s->ep->remote.port == from->port &&
			s->ep->local.port == to->port &&
			ip_addr_equal(&s->ep->remote.addr, &from->addr) &&
			ip_addr_equal(&s->ep->local.addr, &to->addr))
			return s;
	return NULL;
}

/** @return NULL: the backlog is full, or no memory. It will ask again. */
static struct rnic_ep *sidr_new_request(struct rnic_ep *listener, struct sidr_port *p,
	const struct ip_endpoint *from, const struct ip_endpoint *to, uint64_t number)
{
	struct rnic_ep *ep = ep_new_request(listener, to, from);

	if (!ep)
		return NULL;
	if (sidr_init(ep)) {
		ep_free(ep);
		return NULL;
	}
	ep->sidr->number = number;
	ep->sidr->port = p;
	sidr_port_ref(p);
	sidr_enter(ep->sidr, sidr_requests(p->rnic->sidr, from, number));
	return ep;
}

static void sidr_on_request(struct sidr_port *p, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const struct sidr_message *m)
{
	struct sidr *known = sidr_find_request(p->rnic, from, to, m->number);
	struct rnic_ep *listener =
		sidr_has_gid(p->rnic, &to->addr) ? sidr_listener(p->rnic, to) : NULL;
	struct rnic_ep_event ev = {.type = RNIC_EP_CONNECT_REQUEST,
		.private_data = m->private_data,
		.private_len = m->private_len};

	if (known) {
		if (known->ep->state != EP_REQUEST) /* the answer was lost */
			sidr_send(p, &to->addr, from, known->message);
		return;
	}
	if (!listener) {
		sidr_refuse(p, from, to, m->number);
		return;
	}
	ev.request = sidr_new_request(listener, p, from, to, m->number);
	if (ev.request)
		ep_tell_request(listener, &ev);
}

/* ---- datagrams ----------------------------------------------------------------------------- */

static void sidr_input(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const uint8_t *data, size_t len)
{
	struct rnic *r = ctx;
	struct sidr_port *p;
	struct sidr_message m;

	if (!sidr_parse(data, len, &m)) {
		r->ud.stats.bad++;
		return;
	}
	if (m.kind == SIDR_REPLY) {
		sidr_on_reply(r, from, &m);
		return;
	}
	LIST_FOREACH (p, &r->sidr->ports, link)
		if (p->number == to->port) {
			sidr_on_request(p, from, to, &m);
			return;
		}
}

/** Nobody has the port there. Who can quote the number of the request has seen it. */
static void sidr_error(void *ctx, const struct ip_endpoint *to, const uint8_t *data, size_t len)
{
	struct rnic *r = ctx;
	struct sidr_message m;
	struct sidr *s;

	if (!sidr_parse(data, len, &m) || m.kind != SIDR_REQUEST)
		return;
	s = sidr_find_asking(r, to, m.number);
	if (s)
		sidr_fail(s, SIDR_NOBODY_LISTENS, NULL);
}

static struct ud_port_user sidr_user(struct rnic *r)
{
	return (struct ud_port_user){.input = sidr_input, .error = sidr_error, .ctx = r};
}

/* ---- life ---------------------------------------------------------------------------------- */

static int sidr_service_open(struct rnic *r)
{
	(void)rnic_ud_remark(r);
	if (rnic_ud_max_message(r) == 0 || !r->pairing_port)
		return -EOPNOTSUPP;
	if (r->sidr)
		return 0;
	r->sidr = calloc(1, sizeof *r->sidr);
	if (!r->sidr)
		return -ENOMEM;
	r->random.fill(r->random.ctx, &r->sidr->key, sizeof r->sidr->key);
	return 0;
}

void sidr_service_close(struct rnic *r)
{
	if (!r->sidr)
		return;
	sidr_port_put(r->sidr->client);
	free(r->sidr);
	r->sidr = NULL;
}

int sidr_init(struct rnic_ep *ep)
{
	int rc = sidr_service_open(ep->rnic);

	if (rc)
		return rc;
	ep->sidr = calloc(1, sizeof *ep->sidr);
	if (!ep->sidr)
		return -ENOMEM;
	ep->sidr->ep = ep;
	timer_init(&ep->sidr->again, sidr_on_again);
	return 0;
}

void sidr_fini(struct rnic_ep *ep)
{
	struct sidr *s = ep->sidr;

	if (!s)
		return;
	if (ep->state == EP_REQUEST)
		(void)sidr_reject(ep, NULL, 0);
	sidr_stop_asking(s);
	mcast_leave_all(ep->rnic, &s->joined);
	sidr_port_put(s->port);
	ep->sidr = NULL;
	free(s);
}

/* ---- the functions of ep.h ----------------------------------------------------------------- */

int sidr_listen(struct rnic_ep *ep)
{
	const struct ud_port_user user = sidr_user(ep->rnic);
	int rc = sidr_is_listened(ep)
			 ? -EADDRINUSE
			 : sidr_port_get(ep->rnic, ep->bound.port, &user, &ep->sidr->port);

	if (!rc)
		sidr_enter(ep->sidr, &ep->rnic->sidr->listeners);
	return rc;
}

void sidr_unlisten(struct rnic_ep *ep)
{
	sidr_leave(ep->sidr);
	sidr_port_put(ep->sidr->port);
	ep->sidr->port = NULL;
}

int sidr_connect(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	struct rnic *r = ep->rnic;
	const struct ud_port_user user = sidr_user(r);
	struct sidr *s = ep->sidr;
	struct sidr_message m = {.kind = SIDR_REQUEST,
		.private_data = p->private_data,
		.private_len = (uint8_t)p->private_len};
	int rc;

	if (ep->state != EP_RESOLVED || p->private_len > SIDR_PRIVATE_MAX ||
		ip_addr_is_multicast(&ep->remote.addr))
		return -EINVAL;
	rc = r->sidr->client ? 0 : sidr_port_get(r, 0, &user, &r->sidr->client);
	if (rc)
		return rc;
	r->random.fill(r->random.ctx, &s->number, sizeof s->number);
	m.number = s->number;
	sidr_put(s->message, &m);
	sidr_enter(s, sidr_asking(r->sidr, s->number));
	s->wait = SIDR_WAIT_FIRST_NS;
	s->deadline = r->engine->now + r->start_timeout;
	ep->state = EP_CONNECTING;
	sidr_ask(s);
	return 0;
}

int sidr_accept(struct rnic_ep *ep, const struct rnic_conn_param *p)
{
	const struct sidr_message m = {.kind = SIDR_REPLY,
		.status = SIDR_ACCEPTED,
		.number = ep->sidr->number,
		.qp = p->ud_qp,
		.qkey = p->ud_qkey,
		.private_data = p->private_data,
		.private_len = (uint8_t)p->private_len};

	if (ep->state != EP_REQUEST || p->private_len > SIDR_PRIVATE_MAX || p->ud_qp > 0xffffff)
		return -EINVAL;
	ep->state = EP_CONNECTED;
	ep->was_connected = true;
	sidr_answer(ep->sidr, &m);
	return 0;
}

int sidr_reject(struct rnic_ep *ep, const void *private_data, uint16_t len)
{
	const struct sidr_message m = {.kind = SIDR_REPLY,
		.status = SIDR_REJECTED,
		.number = ep->sidr->number,
		.private_data = private_data,
		.private_len = (uint8_t)len};

	if (ep->state != EP_REQUEST || len > SIDR_PRIVATE_MAX)
		return -EINVAL;
	ep->state = EP_OVER;
	sidr_answer(ep->sidr, &m);
	return 0;
}

static int sidr_join(struct rnic_ep *ep, const struct ip_addr *group)
{
	if (!ep->sidr || (ep->state != EP_BOUND && ep->state != EP_RESOLVED) ||
		ip_addr_is_any(&ep->local.addr) ||
		ip_addr_is_v4(&ep->local.addr) != ip_addr_is_v4(group))
		return -EINVAL;
	return mcast_join(ep->rnic, &ep->sidr->joined, group, &ep->local.addr);
}

int rnic_ep_join(struct rnic_ep *ep, const struct ip_addr *group)
{
	struct ip_addr local;
	int rc;

	if (!ip_addr_is_multicast(group))
		return -EINVAL;
	rnic_ud_prepare(ep->rnic, group);
	engine_lock(ep->rnic->engine);
	rc = sidr_join(ep, group);
	local = ep->local.addr;
	engine_unlock(ep->rnic->engine);
	if (rc) {
		(void)mcast_commit(ep->rnic, NULL, NULL);
		return rc;
	}
	rc = mcast_commit(ep->rnic, group, &local);
	if (rc)
		(void)rnic_ep_leave(ep, group);
	return rc;
}

static int sidr_leave_group(struct rnic_ep *ep, const struct ip_addr *group)
{
	return ep->sidr ? mcast_leave(ep->rnic, &ep->sidr->joined, group) : -EINVAL;
}

int rnic_ep_leave(struct rnic_ep *ep, const struct ip_addr *group)
{
	int rc = ENGINE_LOCKED(ep->rnic->engine, sidr_leave_group(ep, group));

	/* A QP that is attached may need the group on all links now. */
	(void)mcast_commit(ep->rnic, group, NULL);
	return rc;
}
