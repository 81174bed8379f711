/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint finds its way: source address, route, and the neighbour that it leads over. */
#include "base/container_of.h"
#include "rnic/ep.h"
#include "rnic/ep_priv.h"
#include "rnic/sidr.h"

#include <errno.h>

/*
 * How often the neighbour's entry is checked. ARP and ND decide how often the neighbour is asked.
 * On a quiet link the answer comes within microseconds.
 */
#define LOOK_FIRST_NS UINT64_C(20000)
#define LOOK_MOST_NS  UINT64_C(10000000)

/*
 * A link loses the first frames after it comes up, because the other end or a switch is not ready
 * yet. Unlike the kernel's links, ours comes up when the program starts. ARP and ND ask once a
 * second. So resolution does not fail before the third request could be answered.
 */
#define LINK_YOUNG_NS UINT64_C(3000000000)

static struct timer_wheel *ep_resolve_wheel_of(const struct rnic_ep *ep)
{
	return &ep->rnic->engine->wheel;
}

/** The program has bound no address: the route's source is it. */
static bool ep_resolve_takes_source(const struct rnic_ep *ep)
{
	return !ep->reserved || ip_addr_is_any(&ep->local.addr);
}

static void ep_resolve_resolved(struct rnic_ep *ep, const struct ip_addr *source)
{
	struct rnic_ep_event ev = {.type = RNIC_EP_ADDR_RESOLVED};

	if (ep_resolve_takes_source(ep))
		ep->local.addr = *source;
	/* The user may ask for it from now on. */
	if (!ep->reserved)
		ep->local.port = llp_port_choose(ep->rnic->net, &ep->local.addr, &ep->remote);
	ep->state = EP_RESOLVED;
	ep_tell(ep, &ev);
}

static void ep_resolve_unresolved(struct rnic_ep *ep, int status, const struct ip_addr *source)
{
	struct rnic_ep_event ev = {.type = RNIC_EP_ADDR_ERROR, .status = status};
	struct rnic_failure f = {.remote = ep->remote, .status = status};

	if (status == -EADDRNOTAVAIL)
		f.local = *source;
	ep_failed(ep, &f);
	ep->state = ep->reserved ? EP_BOUND : EP_IDLE;
	ep->remote = (struct ip_endpoint){.port = 0};
	ep_tell(ep, &ev);
}

/** The next look, the deadline itself the last. @return false: that is past. */
static bool ep_resolve_look_again(struct rnic_ep *ep)
{
	uint64_t now = ep->rnic->engine->now, at = now + ep->look_ns;

	if (now >= ep->resolve_deadline)
		return false;
	if (ep->look_ns < LOOK_MOST_NS)
		ep->look_ns *= 2;
	timer_start(ep_resolve_wheel_of(ep), &ep->look,
		at < ep->resolve_deadline ? at : ep->resolve_deadline);
	return true;
}

/** A group is on the link of the address that the program has bound, or of the usual one. */
static int ep_resolve_group(const struct rnic_ep *ep, struct ip_addr *source)
{
	const struct ud_net *net = ep->rnic->ud.net;

	*source = ep->local.addr;
	return ep_resolve_takes_source(ep) ? net->group_source(net->ctx, &ep->remote.addr, source)
					   : 0;
}

/** The route's source may be an address of ours that is no GID: an IPv6 temporary one, say. */
static int ep_resolve_gid(const struct rnic_ep *ep, struct ip_addr *source)
{
	const struct ud_net *net = ep->rnic->ud.net;

	if (!ep_resolve_takes_source(ep) || sidr_has_gid(ep->rnic, source))
		return 0;
	return net->gid_source(net->ctx, &ep->remote.addr, source);
}

static int ep_resolve_find(const struct rnic_ep *ep, struct ip_addr *source)
{
	struct llp_stack *net = ep->rnic->net;
	int rc;

	if (ip_addr_is_multicast(&ep->remote.addr))
		return ep_resolve_group(ep, source);
	rc = llp_source(net, &ep->remote.addr, source);
	if (!rc && ep->sidr)
		rc = ep_resolve_gid(ep, source);
	return !rc && ep->ask ? llp_reach(net, &ep->remote.addr) : rc;
}

/** The kernel's addr.c: without a route at once, without a neighbour not before the time is up. */
static void ep_resolve_look(struct rnic_ep *ep)
{
	struct ip_addr source = {{0}};
	int rc = ep_resolve_find(ep, &source);

	if (rc == -EAGAIN) {
		if (ep_resolve_look_again(ep))
			return;
		rc = -ETIMEDOUT;
	}
	if (rc)
		ep_resolve_unresolved(ep, rc, &source);
	else
		ep_resolve_resolved(ep, &source);
}

static void ep_resolve_on_look(struct timer *t, uint64_t now)
{
	struct rnic_ep *ep = container_of(t, struct rnic_ep, look);
	uint64_t paused = timer_stood_still(t, now);

	ep->resolve_deadline += paused < UINT64_MAX - ep->resolve_deadline ? paused : 0;
	ep_resolve_look(ep);
}

static uint64_t ep_resolve_deadline(const struct rnic *r, uint64_t patience)
{
	uint64_t now = r->engine->now, young = r->up_since + LINK_YOUNG_NS;

	if (patience >= UINT64_MAX - now)
		return UINT64_MAX;
	return now + patience > young ? now + patience : young;
}

static int ep_resolve(struct rnic_ep *ep, const struct ip_endpoint *remote, uint64_t patience)
{
	if (ep->state != EP_IDLE && ep->state != EP_BOUND)
		return -EINVAL;
	if (ip_addr_is_any(&remote->addr) || (ip_addr_is_multicast(&remote->addr) && !ep->sidr))
		return -EINVAL;
	if (ep->state == EP_BOUND && !ip_addr_is_any(&ep->local.addr) &&
		ip_addr_is_v4(&ep->local.addr) != ip_addr_is_v4(&remote->addr))
		return -EINVAL;
	ep->state = EP_RESOLVING;
	ep->remote = *remote;
	ep->ask = patience != 0;
	ep->resolve_deadline = ep_resolve_deadline(ep->rnic, patience);
	ep->look_ns = LOOK_FIRST_NS;
	timer_init(&ep->look, ep_resolve_on_look);
	ep_resolve_look(ep);
	return 0;
}

int rnic_ep_resolve(struct rnic_ep *ep, const struct ip_endpoint *remote, uint64_t patience)
{
	return ENGINE_LOCKED(ep->rnic->engine, ep_resolve(ep, remote, patience));
}

void ep_stop_resolving(struct rnic_ep *ep)
{
	if (ep->state == EP_RESOLVING)
		timer_stop(ep_resolve_wheel_of(ep), &ep->look);
}
