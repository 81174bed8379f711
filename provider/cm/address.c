/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/cm/address.h"

#include "base/bytes.h"
#include "provider/cm/event.h"

#include <errno.h>
#include <infiniband/ib.h>

/** The one of all ports: the default partition, with full rights. */
#define UCMA_PKEY 0xffff

int ucma_address_get(const void *sa, struct ip_endpoint *out, sa_family_t *family)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	memcpy(family, sa, sizeof *family);
	switch (*family) {
	case AF_INET:
		memcpy(&v4, sa, sizeof v4);
		out->addr = ip_addr_from_v4(&v4.sin_addr);
		out->port = load_be16(&v4.sin_port);
		return 0;
	case AF_INET6:
		memcpy(&v6, sa, sizeof v6);
		out->addr = ip_addr_from_v6(&v6.sin6_addr);
		out->port = load_be16(&v6.sin6_port);
		return 0;
	default:
		return -EINVAL;
	}
}

/* What the sockaddr says of the interface; nothing where there is one alone. */
static int ucma_scope_get(const void *sa, struct ip_addr *a)
{
	struct sockaddr_in6 v6;

	memcpy(&v6, sa, sizeof v6);
	if (!v6.sin6_scope_id)
		return -EINVAL;
	*a = ip_addr_with_scope(a, v6.sin6_scope_id);
	return 0;
}

int ucma_address_of(
	const struct ucma_call *c, const void *sa, struct ip_endpoint *out, sa_family_t *family)
{
	int err = ucma_address_get(sa, out, family);

	if (err || !ip_addr_is_link_local(&out->addr) || !rnic_ep_has_scopes(c->id->ep))
		return err;
	return ucma_scope_get(sa, &out->addr);
}

static size_t ucma_put_v4(const struct ip_endpoint *e, struct sockaddr_in6 *sa)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};

	store_be16(&v4.sin_port, e->port);
	memcpy(&v4.sin_addr, e->addr.b + 12, 4);
	memcpy(sa, &v4, sizeof v4);
	return sizeof v4;
}

size_t ucma_address_put(const struct ip_endpoint *e, sa_family_t family, struct sockaddr_in6 *sa)
{
	memset(sa, 0, sizeof *sa);
	if (family == AF_INET)
		return ucma_put_v4(e, sa);
	if (family != AF_INET6)
		return 0;
	sa->sin6_family = AF_INET6;
	store_be16(&sa->sin6_port, e->port);
	if (!ip_addr_is_any(&e->addr))
		memcpy(&sa->sin6_addr, e->addr.b, sizeof e->addr.b);
	return sizeof *sa;
}

/*
 * iWARP has reliable connections only, and our UD QPs. The kernel lets any id have an iWARP device
 * and refuses the QP. It is of no use, so it is refused at once.
 */
int ucma_check_port_space(const struct ucma_id *id)
{
	return id->port_space == RDMA_PS_TCP || id->ud ? 0 : -ENODEV;
}

int ucma_bind_to(struct ucma_call *c, const struct ip_endpoint *local, sa_family_t family)
{
	struct ucma_id *id = c->id;
	int err = ucma_check_port_space(id);

	if (err)
		return err;
	if (ucma_state(c) != UCMA_IDLE)
		return -EINVAL;
	/*
	 * As with the kernel's, the loopback network can be bound to, but there is no device in it,
	 * unless we stand on the host's own TCP.
	 * libfabric does so to ask for any of ours; it has no other use.
	 */
	id->loopback = ip_addr_is_loopback(&local->addr) && !rnic_ep_is_local(id->ep, &local->addr);
	err = id->loopback ? 0 : rnic_ep_bind(id->ep, local, id->reuse, id->v6only);
	if (err)
		return err;
	id->family = family;
	return ucma_step(c, UCMA_IDLE, UCMA_ADDR_BOUND);
}

static int ucma_bind_sockaddr(struct ucma_call *c, const void *sa)
{
	struct ip_endpoint local;
	sa_family_t family;
	int err = ucma_address_of(c, sa, &local, &family);

	return err ? err : ucma_bind_to(c, &local, family);
}

int ucma_bind_ip(struct ucma_call *c)
{
	return ucma_bind_sockaddr(c, &c->cmd.bind_ip.addr);
}

size_t ucma_sockaddr_size(const void *sa)
{
	sa_family_t family;

	memcpy(&family, sa, sizeof family);
	return family == AF_INET    ? sizeof(struct sockaddr_in)
	       : family == AF_INET6 ? sizeof(struct sockaddr_in6)
				    : 0;
}

int ucma_bind(struct ucma_call *c)
{
	const struct rdma_ucm_bind *q = &c->cmd.bind;

	if (q->reserved || !q->addr_size || q->addr_size != ucma_sockaddr_size(&q->addr))
		return -EINVAL;
	return ucma_bind_sockaddr(c, &q->addr);
}

/* The source that came with the destination, unless an earlier bind has settled it. */
static int ucma_bind_source(struct ucma_call *c, const void *src, sa_family_t dst_family)
{
	struct ip_endpoint local;
	sa_family_t family;
	int err;

	memcpy(&family, src, sizeof family);
	if (family == AF_UNSPEC || ucma_state(c) != UCMA_IDLE)
		return 0;
	err = ucma_address_of(c, src, &local, &family);
	if (err)
		return err;
	if (family != dst_family)
		return -EINVAL;
	if (ip_addr_is_any(&local.addr) && !local.port)
		return 0;
	return ucma_bind_to(c, &local, family);
}

static int ucma_start_resolution(
	struct ucma_call *c, const struct ip_endpoint *remote, sa_family_t fam, uint32_t timeout_ms)
{
	/* No time at all is time for a neighbour that is known. */
	uint64_t patience = timeout_ms ? timeout_ms * UINT64_C(1000000) : 1;
	struct ucma_id *id = c->id;
	enum ucma_id_state before = ucma_state(c);
	sa_family_t family_before = id->family;
	int err;

	if (before != UCMA_IDLE && before != UCMA_ADDR_BOUND)
		return -EINVAL;
	if (id->family != AF_UNSPEC && id->family != fam)
		return -EINVAL;
	if (id->loopback)
		return -EADDRNOTAVAIL;
	err = ucma_expect(c, 0, 1);
	if (err)
		return err;
	id->family = fam;
	id->unresolved = before;
	/* First the state: the answer may come before the call is back. */
	ucma_step(c, before, UCMA_ADDR_QUERY);
	err = rnic_ep_resolve(id->ep, remote, patience);
	if (err) {
		ucma_step(c, UCMA_ADDR_QUERY, before);
		id->family = family_before;
	}
	return err;
}

static int ucma_resolve(struct ucma_call *c, const void *src, const void *dst, uint32_t timeout_ms)
{
	struct ip_endpoint remote;
	sa_family_t family;
	int err = ucma_address_of(c, dst, &remote, &family);

	if (!err)
		err = ucma_check_port_space(c->id);
	if (!err)
		err = ucma_bind_source(c, src, family);
	return err ? err : ucma_start_resolution(c, &remote, family, timeout_ms);
}

int ucma_resolve_ip(struct ucma_call *c)
{
	return ucma_resolve(c, &c->cmd.resolve_ip.src_addr, &c->cmd.resolve_ip.dst_addr,
		c->cmd.resolve_ip.timeout_ms);
}

int ucma_resolve_addr(struct ucma_call *c)
{
	const struct rdma_ucm_resolve_addr *q = &c->cmd.resolve_addr;
	static const struct sockaddr_in6 none;

	if (q->reserved || (q->src_size && q->src_size != ucma_sockaddr_size(&q->src_addr)) ||
		!q->dst_size || q->dst_size != ucma_sockaddr_size(&q->dst_addr))
		return -EINVAL;
	return ucma_resolve(
		c, q->src_size ? (const void *)&q->src_addr : &none, &q->dst_addr, q->timeout_ms);
}

int ucma_resolve_route(struct ucma_call *c)
{
	int err;

	if (!c->cmd.resolve_route.timeout_ms)
		return -EINVAL;
	err = ucma_step(c, UCMA_ADDR_RESOLVED, UCMA_ROUTE_RESOLVED);
	if (err)
		return err;
	/* In IP the route was found with the address. */
	err = ucma_event_post(c->id, UCMA_EVENT_ROUTE_RESOLVED);
	if (err)
		ucma_step(c, UCMA_ROUTE_RESOLVED, UCMA_ADDR_RESOLVED);
	return err;
}

/* An endpoint of an id; where its address keeps a scope, that is told in its place. */
static size_t ucma_put(const struct ucma_id *id, const struct ip_endpoint *e, sa_family_t family,
	struct sockaddr_in6 *sa)
{
	uint32_t scope = rnic_ep_has_scopes(id->ep) ? ip_addr_scope(&e->addr) : 0;
	struct ip_endpoint bare = *e;
	size_t size;

	if (scope)
		bare.addr = ip_addr_with_scope(&e->addr, 0);
	size = ucma_address_put(&bare, family, sa);
	if (scope && family == AF_INET6)
		sa->sin6_scope_id = scope;
	return size;
}

static size_t ucma_put_remote(
	const struct ucma_id *id, const struct ip_endpoint *remote, struct sockaddr_in6 *sa)
{
	bool known = !ip_addr_is_any(&remote->addr) || remote->port;

	return ucma_put(id, remote, known ? id->family : AF_UNSPEC, sa);
}

int ucma_query_route(struct ucma_call *c)
{
	struct rdma_ucm_query_route_resp r = {0};
	struct ip_endpoint local, remote;

	rnic_ep_addresses(c->id->ep, &local, &remote);
	ucma_put(c->id, &local, c->id->family, &r.src_addr);
	ucma_put_remote(c->id, &remote, &r.dst_addr);
	if (rnic_ep_has_device(c->id->ep)) {
		r.node_guid = c->u->guid;
		r.port_num = 1;
	}
	/* ibdev_index stays as the program has set it: unknown, so the GUID decides (cma.c, match).
	 */
	ucma_respond(c, &r, offsetof(struct rdma_ucm_query_route_resp, ibdev_index));
	return 0;
}

/* With the device, if there is one. */
static void ucma_respond_addr(struct ucma_call *c, struct rdma_ucm_query_addr_resp *r)
{
	if (rnic_ep_has_device(c->id->ep)) {
		r->node_guid = c->u->guid;
		r->port_num = 1;
		r->pkey = UCMA_PKEY;
	}
	ucma_respond(c, r, offsetof(struct rdma_ucm_query_addr_resp, ibdev_index));
}

static int ucma_query_addr(struct ucma_call *c)
{
	struct rdma_ucm_query_addr_resp r = {0};
	struct ip_endpoint local, remote;
	struct sockaddr_in6 sa;

	if (c->out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	rnic_ep_addresses(c->id->ep, &local, &remote);
	r.src_size = (uint16_t)ucma_put(c->id, &local, c->id->family, &sa);
	memcpy(&r.src_addr, &sa, sizeof sa);
	r.dst_size = (uint16_t)ucma_put_remote(c->id, &remote, &sa);
	memcpy(&r.dst_addr, &sa, sizeof sa);
	ucma_respond_addr(c, &r);
	return 0;
}

/*
 * While librdmacm tries whether AF_IB is served, other threads of a program that begins believe so,
 * and their ids ask for this. GIDs are none, as in the answer to QUERY_ROUTE.
 */
static int ucma_query_gid(struct ucma_call *c)
{
	const struct sockaddr_ib none = {.sib_family = AF_IB, .sib_pkey = htons(UCMA_PKEY)};
	struct rdma_ucm_query_addr_resp r = {.src_size = sizeof none, .dst_size = sizeof none};

	if (c->out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return -ENOSPC;
	memcpy(&r.src_addr, &none, sizeof none);
	memcpy(&r.dst_addr, &none, sizeof none);
	ucma_respond_addr(c, &r);
	return 0;
}

static int ucma_query_path(struct ucma_call *c)
{
	static const struct rdma_ucm_query_path_resp none;

	if (c->out < sizeof none)
		return -ENOSPC;
	ucma_respond(c, &none, sizeof none);
	return 0;
}

int ucma_query(struct ucma_call *c)
{
	switch (c->cmd.query.option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return ucma_query_addr(c);
	case RDMA_USER_CM_QUERY_PATH:
		return ucma_query_path(c);
	case RDMA_USER_CM_QUERY_GID:
		return ucma_query_gid(c);
	default:
		return -ENOSYS;
	}
}
