/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The datagrams of UD queue pairs (docs/ud.md): over our own UDP, or over the kernel's, and who is
 * let in.
 */
#include "host/net_priv.h"
#include "host/net_ud_group.h"
#include "host/net_ud_port.h"
#include "ip/udp.h"
#include "sock/datagrams.h"
#include "ud/datagram.h"

#include <errno.h>
#include <rte_mbuf.h>

#define NET_UD_IP_LEN  40 /* the larger header */
#define NET_UD_UDP_LEN 8
/**
 * Of the buffers, in 1/n, those whose datagrams may wait for a port of our own, and not more than
 * half of its queue: TCP has 3/8 for each direction, and stands in that queue, too.
 */
#define NET_UD_SHARE 8

/* ---- who is let in ------------------------------------------------------------------------- */

bool net_ud_has_gid(void *ctx, const struct ip_addr *a)
{
	const struct net *n = ctx;

	for (unsigned i = 0; i < n->config.num_addresses; i++)
		if (ip_addr_equal(&n->config.address[i].addr, a))
			return true;
	return false;
}

/** Neither a link's addresses nor the host's own are known elsewhere. */
static bool net_ud_can_reach(const struct ip_addr *a, const struct ip_addr *remote)
{
	return ip_addr_is_v4(a) == ip_addr_is_v4(remote) &&
	       ip_addr_is_link_local(a) == ip_addr_is_link_local(remote) &&
	       ip_addr_scope(a) == ip_addr_scope(remote) &&
	       ip_addr_is_loopback(a) == ip_addr_is_loopback(remote);
}

/** The one of the peer's subnet, or else the first: a host prefers addresses that come and go. */
static int net_ud_gid_source(void *ctx, const struct ip_addr *remote, struct ip_addr *local)
{
	const struct net *n = ctx;
	const struct config_address *found = NULL;

	for (unsigned i = 0; i < n->config.num_addresses; i++) {
		const struct config_address *a = &n->config.address[i];
		bool near = ip_addr_in_prefix(remote, &a->addr, a->prefix_len);

		if (!net_ud_can_reach(&a->addr, remote) || (found && !near))
			continue;
		found = a;
		if (near)
			break;
	}
	if (!found)
		return -EADDRNOTAVAIL;
	*local = found->addr;
	return 0;
}

static bool net_ud_is_own(struct net *n, const struct ip_addr *a)
{
	/* It has a link-local one that the configuration does not name. */
	return n->ip ? ip_addr_is_local(n->ip, a) : net_ud_has_gid(n, a);
}

/**
 * A group has no subnet of its own: that of any of our addresses will do. What is link-local at
 * either end was forwarded by no router (RFC 4291 section 2.5.6); a port of our own has one link.
 */
static bool net_ud_is_near(struct net *n, const struct ud_path *path)
{
	bool group = ip_addr_is_multicast(&path->local);

	if (n->ip && (ip_addr_is_link_local(&path->local) || ip_addr_is_link_local(&path->remote)))
		return true;
	for (unsigned i = 0; i < n->config.num_addresses; i++) {
		const struct config_address *a = &n->config.address[i];

		if ((group || ip_addr_equal(&a->addr, &path->local)) &&
			ip_addr_in_prefix(&path->remote, &a->addr, a->prefix_len))
			return true;
	}
	return net_ud_is_own(n, &path->remote);
}

bool net_ud_lets_in(struct net *n, const struct ud_path *path)
{
	bool in = n->config.ud != CONFIG_UD_SUBNET || net_ud_is_near(n, path);

	n->ud.refused += !in;
	return in;
}

static void net_ud_input(struct net *n, const struct ud_path *path, const uint8_t *data, size_t len)
{
	if (net_ud_lets_in(n, path))
		n->ud_input(n->ud_user, path, data, len);
}

/** To a group as far as the configuration lets it go, and not beyond the subnet by default. */
static uint8_t net_ud_ttl(const struct net *n, const struct ud_path *path)
{
	return ip_addr_is_multicast(&path->remote) && path->ttl > n->ud.group_ttl ? n->ud.group_ttl
										  : path->ttl;
}

static uint32_t net_ud_max_message(struct net *n)
{
	uint32_t mtu = n->ops->mtu(n), overhead = NET_UD_IP_LEN + NET_UD_UDP_LEN + UD_OVERHEAD;
	uint32_t most = UD_MESSAGE_MAX;

	/* InfiniBand's sizes: a port has one of these. */
	while (most > 256 && most + overhead > mtu)
		most /= 2;
	return most;
}

/* ---- over a port of our own ---------------------------------------------------------------- */

void net_ud_own_input(void *ctx, const struct udp_datagram *d, uint64_t now)
{
	struct net *n = ctx;
	const struct ud_path path = {.local = d->to.addr,
		.remote = d->from.addr,
		.tos = d->tos,
		.ttl = d->ttl,
		.own = net_ud_is_own(n, &d->from.addr)};

	net_ud_input(ctx, &path, d->data, d->len);
}

static int net_ud_own_open(
	void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user)
{
	struct net *n = ctx;
	struct udp_user u = {.datagram = net_ud_own_input, .max = UD_DATAGRAM_MAX, .ctx = n};

	n->ud_port = port;
	n->ud_groups.port = group_port;
	n->ud_input = input;
	n->ud_user = user;
	return udp_open(n->ip, port, &u);
}

static void net_ud_own_close(void *ctx)
{
	struct net *n = ctx;

	net_ud_group_close(n);
	udp_close(n->ip, n->ud_port);
}

static bool net_ud_own_has_room(struct net *n)
{
	if (port_is_past(n->port, n->ud_queue_end))
		n->ud_waiting = 0;
	return n->ud_waiting < RTE_MIN(port_pool(n->port)->size / NET_UD_SHARE, PORT_QUEUE / 2);
}

static int net_ud_own_begin(
	void *ctx, const struct ud_path *path, uint16_t port, size_t len, uint8_t **room)
{
	struct net *n = ctx;
	struct udp_datagram d = {.from = {.addr = path->local, .port = n->ud_port},
		.to = {.addr = path->remote, .port = port},
		.tos = path->tos,
		.ttl = net_ud_ttl(n, path),
		.len = len};
	int rc = net_ud_own_has_room(n) ? udp_begin(n->ip, &n->ud_out, &d, room, n->engine.now)
					: -EAGAIN;

	return rc == -ENOMEM ? -EAGAIN : rc;
}

static void net_ud_own_commit(void *ctx, uint16_t sum)
{
	struct net *n = ctx;

	(void)udp_commit(n->ip, &n->ud_out, sum, n->engine.now);
	n->ud_waiting++;
	n->ud_queue_end = port_queue_end(n->port);
}

static void net_ud_own_cancel(void *ctx)
{
	struct net *n = ctx;

	udp_cancel(&n->ud_out);
}

static bool net_ud_own_flush(void *ctx)
{
	struct net *n = ctx;

	ip_expedite(n->ip);
	return true;
}

static void net_ud_own_prepare(void *ctx, const struct ip_addr *remote)
{
	struct net *n = ctx;

	if (ip_addr_is_multicast(remote))
		return;
	engine_lock(&n->engine);
	(void)ip_reach(n->ip, remote, n->engine.now);
	engine_unlock(&n->engine);
}

/* ---- over the kernel's --------------------------------------------------------------------- */

void net_ud_kernel_input(
	void *ctx, const struct sock_datagrams_path *p, const uint8_t *data, size_t len)
{
	struct net *n = ctx;
	const struct ud_path path = {.local = p->local,
		.remote = p->remote.addr,
		.tos = p->tos,
		.ttl = p->ttl,
		.own = net_ud_is_own(n, &p->remote.addr)};

	net_ud_input(ctx, &path, data, len);
}

static int net_ud_kernel_open(
	void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user)
{
	struct net *n = ctx;

	n->ud_groups.port = group_port;
	n->ud_input = input;
	n->ud_user = user;
	return sock_datagrams_open(
		n->sock, port, UD_DATAGRAM_MAX, net_ud_kernel_input, n, &n->ud_socket);
}

static void net_ud_kernel_close(void *ctx)
{
	struct net *n = ctx;

	net_ud_group_close(n);
	sock_datagrams_close(n->ud_socket);
	n->ud_socket = NULL;
}

static int net_ud_kernel_begin(
	void *ctx, const struct ud_path *path, uint16_t port, size_t len, uint8_t **room)
{
	struct net *n = ctx;
	const struct sock_datagrams_path p = {.local = path->local,
		.remote = {.addr = path->remote, .port = port},
		.interface = net_ud_group_interface(n, path),
		.tos = path->tos,
		.ttl = net_ud_ttl(n, path)};

	return sock_datagrams_begin(n->ud_socket, &p, len, room);
}

static void net_ud_kernel_commit(void *ctx, uint16_t sum)
{
	struct net *n = ctx;

	sock_datagrams_commit(n->ud_socket);
}

static void net_ud_kernel_cancel(void *ctx)
{
}

static bool net_ud_kernel_flush(void *ctx)
{
	struct net *n = ctx;

	return sock_datagrams_flush(n->ud_socket);
}

static void net_ud_kernel_prepare(void *ctx, const struct ip_addr *remote)
{
	if (ip_addr_is_multicast(remote))
		net_ud_group_look(ctx);
}

/* ---- both ---------------------------------------------------------------------------------- */

static const struct ud_net net_ud_own_net = {
	.open = net_ud_own_open,
	.close = net_ud_own_close,
	.begin = net_ud_own_begin,
	.commit = net_ud_own_commit,
	.cancel = net_ud_own_cancel,
	.flush = net_ud_own_flush,
	.prepare = net_ud_own_prepare,
	.join = net_ud_group_join,
	.leave = net_ud_group_leave,
	.has_gid = net_ud_has_gid,
	.gid_source = net_ud_gid_source,
	.group_source = net_ud_group_source,
	.port_open = net_ud_port_open,
	.port_close = net_ud_port_close,
	.port_send = net_ud_port_send,
};

static const struct ud_net net_ud_kernel_net = {
	.open = net_ud_kernel_open,
	.close = net_ud_kernel_close,
	.begin = net_ud_kernel_begin,
	.commit = net_ud_kernel_commit,
	.cancel = net_ud_kernel_cancel,
	.flush = net_ud_kernel_flush,
	.prepare = net_ud_kernel_prepare,
	.join = net_ud_group_join_kernel,
	.leave = net_ud_group_leave_kernel,
	.settle = net_ud_group_settle,
	.has_gid = net_ud_has_gid,
	.gid_source = net_ud_gid_source,
	.group_source = net_ud_group_source_kernel,
	.port_open = net_ud_port_open_kernel,
	.port_close = net_ud_port_close_kernel,
	.port_send = net_ud_port_send_kernel,
};

static bool net_ud_is_on(const struct net *n)
{
	return n->config.ud != CONFIG_UD_OFF && config_pairing_port(&n->config);
}

/** What TLS is to protect, and IPsec does not. */
static enum tls_mode net_ud_bare(const struct net *n)
{
	return n->config.ipsec[0] == '\0' ? n->config.tls.mode : TLS_OFF;
}

const char *net_ud_remark(const struct net *n)
{
	if (!net_ud_is_on(n))
		return NULL;
	switch (net_ud_bare(n)) {
	case TLS_REQUIRED:
		return "there are no UD queue pairs: tls = required, and there is no TLS for "
		       "datagrams. \"ipsec\" protects them; with tls = on they go in the clear";
	case TLS_ON:
		return "UD queue pairs go in the clear: there is no TLS for datagrams. \"ipsec\" "
		       "protects them; ud = off does without them";
	default:
		return NULL;
	}
}

const struct ud_net *net_ud(struct net *n)
{
	if (!net_ud_is_on(n) || net_ud_bare(n) == TLS_REQUIRED)
		return NULL;
	if (!n->ud.ctx) {
		n->ud = n->ip ? net_ud_own_net : net_ud_kernel_net;
		n->ud.max_message = net_ud_max_message(n);
		n->ud.group_ttl = n->config.ud == CONFIG_UD_SUBNET ? 1 : UINT8_MAX;
		n->ud.ctx = n;
	}
	return &n->ud;
}
