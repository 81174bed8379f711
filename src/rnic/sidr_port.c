/* SPDX-License-Identifier: BSD-2-Clause */
/* The UDP ports of endpoints of UD queue pairs. */
#include "rnic/device.h"
#include "rnic/sidr.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(RNIC_QP_SPACES + 1 == UD_PORTS, "one for each space, and that of groups");

/* ---- who has bound what -------------------------------------------------------------------- */

/** @return whether @p wild, which is bound so, takes what comes for @p a, too. */
static bool sidr_covers(const struct ip_addr *wild, bool v6only, const struct ip_addr *a)
{
	if (!ip_addr_is_any(wild))
		return ip_addr_equal(wild, a);
	if (ip_addr_is_v4(wild))
		return ip_addr_is_v4(a);
	return !v6only || !ip_addr_is_v4(a);
}

static bool sidr_overlap(const struct rnic_ep *other, const struct ip_endpoint *at, bool v6only)
{
	return other->bound.port == at->port &&
	       (sidr_covers(&other->bound.addr, other->v6only, &at->addr) ||
		       sidr_covers(&at->addr, v6only, &other->bound.addr));
}

static bool sidr_is_free(
	const struct rnic_ep *ep, const struct ip_endpoint *at, bool reuse, bool v6only)
{
	const struct rnic_ep *other;

	LIST_FOREACH (other, &ep->rnic->eps, link)
		if (other != ep && other->sidr && other->reserved &&
			sidr_overlap(other, at, v6only) &&
			!(reuse && other->reuse && other->state != EP_LISTENING))
			return false;
	return true;
}

bool sidr_is_listened(const struct rnic_ep *ep)
{
	const struct sidr *other;

	LIST_FOREACH (other, &ep->rnic->sidr->listeners, link)
		if (sidr_overlap(other->ep, &ep->bound, ep->v6only))
			return true;
	return false;
}

int sidr_reserve(struct rnic_ep *ep, struct ip_endpoint *at, bool reuse, bool v6only)
{
	struct ip_endpoint it = *at;

	if (!ip_addr_is_any(&at->addr) &&
		(!llp_is_local(ep->rnic->net, &at->addr) || !sidr_has_gid(ep->rnic, &at->addr)))
		return -EADDRNOTAVAIL;
	for (unsigned tries = at->port ? 1 : UD_PORT_DYNAMIC_TRIES; tries != 0; tries--) {
		if (!at->port)
			it.port = ud_port_draw(ep->rnic->ud.port, &ep->rnic->random);
		if (sidr_is_free(ep, &it, reuse, v6only)) {
			*at = it;
			return 0;
		}
	}
	return -EADDRINUSE;
}

struct rnic_ep *sidr_listener(const struct rnic *r, const struct ip_endpoint *at)
{
	struct rnic_ep *wild = NULL;
	const struct sidr *s;

	LIST_FOREACH (s, &r->sidr->listeners, link) {
		struct rnic_ep *ep = s->ep;

		if (ep->bound.port != at->port)
			continue;
		if (ip_addr_equal(&ep->bound.addr, &at->addr))
			return ep;
		if (sidr_covers(&ep->bound.addr, ep->v6only, &at->addr))
			wild = ep;
	}
	return wild;
}

/* ---- ports of UDP -------------------------------------------------------------------------- */

static struct sidr_port *sidr_port_find(const struct rnic *r, uint16_t number)
{
	struct sidr_port *p;

	LIST_FOREACH (p, &r->sidr->ports, link)
		if (p->number == number)
			return p;
	return NULL;
}

static int sidr_port_open(struct sidr_port *p, uint16_t number, const struct ud_port_user *user)
{
	const struct ud_net *net = p->rnic->ud.net;
	unsigned tries = number ? 1 : UD_PORT_DYNAMIC_TRIES;
	int rc = -EADDRINUSE;

	for (; rc == -EADDRINUSE && tries != 0; tries--) {
		p->number = number ? number : ud_port_draw(p->rnic->ud.port, &p->rnic->random);
		rc = net->port_open(net->ctx, p->number, user, &p->udp);
	}
	return rc;
}

int sidr_port_get(
	struct rnic *r, uint16_t number, const struct ud_port_user *user, struct sidr_port **out)
{
	struct sidr_port *p = number ? sidr_port_find(r, number) : NULL;
	int rc;

	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p)
			return -ENOMEM;
		p->rnic = r;
		rc = sidr_port_open(p, number, user);
		if (rc) {
			free(p);
			return rc;
		}
		LIST_INSERT_HEAD(&r->sidr->ports, p, link);
	}
	p->refs++;
	*out = p;
	return 0;
}

void sidr_port_ref(struct sidr_port *p)
{
	p->refs++;
}

void sidr_port_put(struct sidr_port *p)
{
	if (!p || --p->refs != 0)
		return;
	p->rnic->ud.net->port_close(p->udp);
	LIST_REMOVE(p, link);
	free(p);
}
