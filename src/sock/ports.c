/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/ports.h"

#include "sock/address.h"
#include "sock/option.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int sock_port_bind(int fd, const struct ip_endpoint *at)
{
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(at, &sa);

	return bind(fd, (struct sockaddr *)&sa, len) ? -errno : 0;
}

/**
 * A port of which only TIME-WAIT is left may be had again: RDMA knows no such thing. Otherwise the
 * kernel gives a port to one socket, which says so by having no SO_REUSEADDR.
 */
static int sock_port_bind_strictly(int fd, const struct ip_endpoint *at)
{
	int rc = sock_port_bind(fd, at);

	if (rc != -EADDRINUSE)
		return rc;
	(void)sock_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	rc = sock_port_bind(fd, at);
	(void)sock_option(fd, SOL_SOCKET, SO_REUSEADDR, 0);
	return rc;
}

/** A host without IPv6 has no [::]; to listen on all addresses is to listen on all of IPv4 there.
 */
static int sock_port_open(struct sock_stack *s, struct ip_endpoint *at, unsigned flags)
{
	static const uint8_t any_v4[4];
	int fd = sock_open(s, sock_family(&at->addr));

	if (fd == -EAFNOSUPPORT && ip_addr_is_any(&at->addr) && !(flags & LLP_PORT_V6ONLY)) {
		at->addr = ip_addr_from_v4(any_v4);
		fd = sock_open(s, AF_INET);
	}
	if (fd >= 0 && sock_family(&at->addr) == AF_INET6)
		(void)sock_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, (flags & LLP_PORT_V6ONLY) != 0);
	return fd == -EAFNOSUPPORT ? -EADDRNOTAVAIL : fd;
}

/**
 * Where a socket for @p local binds. Is only one address ours, all that are ours are that one:
 * other processes may have the same port of the host's others.
 */
static struct ip_endpoint sock_port_place(
	const struct sock_stack *s, const struct ip_endpoint *local, unsigned flags)
{
	const struct ip_addr *only = s->cfg.num_addresses == 1 ? &s->addresses[0] : NULL;
	struct ip_endpoint at = *local;

	if (only && ip_addr_is_any(&local->addr) &&
		(sock_family(only) == sock_family(&local->addr) ||
			(ip_addr_is_v4(only) && !(flags & LLP_PORT_V6ONLY))))
		at.addr = *only;
	return at;
}

/** @return a socket that is bound to @p local, whose port is filled in; or -errno. */
static int sock_port_bound(struct sock_stack *s, struct ip_endpoint *local, unsigned flags)
{
	struct ip_endpoint at = sock_port_place(s, local, flags), got;
	int fd, rc;

	if (!ip_addr_is_any(&local->addr) && !sock_is_ours(s, &local->addr))
		return -EADDRNOTAVAIL;
	fd = sock_port_open(s, &at, flags);
	if (fd < 0)
		return fd;
	if (flags & LLP_PORT_REUSE) {
		(void)sock_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
		rc = sock_port_bind(fd, &at);
	} else {
		rc = sock_port_bind_strictly(fd, &at);
	}
	if (!rc)
		rc = sock_address_local(fd, &got);
	if (rc) {
		close(fd);
		return rc;
	}
	local->port = got.port;
	return fd;
}

static struct sock_port *sock_port_find(struct sock_stack *s, const struct ip_endpoint *local)
{
	struct sock_port *p;

	LIST_FOREACH (p, &s->ports, link)
		if (p->local.port == local->port && ip_addr_equal(&p->local.addr, &local->addr))
			return p;
	return NULL;
}

int sock_port_reserve(struct sock_stack *s, struct ip_endpoint *local, unsigned flags)
{
	struct sock_port *p = malloc(sizeof *p);
	int fd;

	if (!p)
		return -ENOMEM;
	fd = sock_port_bound(s, local, flags);
	if (fd < 0) {
		free(p);
		return fd;
	}
	*p = (struct sock_port){.local = *local, .flags = flags, .fd = fd};
	LIST_INSERT_HEAD(&s->ports, p, link);
	return 0;
}

void sock_port_release(struct sock_stack *s, const struct ip_endpoint *local)
{
	struct sock_port *p = sock_port_find(s, local);

	if (!p)
		return;
	LIST_REMOVE(p, link);
	if (p->fd >= 0) {
		/* A child may have a copy for a moment, which keeps the port, but not from us. */
		(void)sock_option(p->fd, SOL_SOCKET, SO_REUSEADDR, 1);
		close(p->fd);
	}
	free(p);
}

uint16_t sock_port_choose(
	struct sock_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	struct ip_endpoint at = {.addr = *local};
	int fd = sock_port_bound(s, &at, 0);

	if (fd < 0)
		return 0;
	close(fd);
	return at.port;
}

int sock_port_take(struct sock_stack *s, const struct ip_endpoint *local)
{
	struct sock_port *p = sock_port_find(s, local);
	struct ip_endpoint at = *local;
	int fd;

	if (p && p->fd >= 0) {
		fd = p->fd;
		p->fd = -1;
	} else {
		fd = sock_port_bound(s, &at, p ? p->flags : 0);
	}
	if (fd < 0)
		return fd;
	/* What it accepts has these, too, and does not keep the port in TIME-WAIT. */
	(void)sock_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	sock_option_congestion_control(s, fd, s->cfg.congestion_control);
	return fd;
}

void sock_port_share(struct sock_stack *s, const struct ip_endpoint *local)
{
	struct sock_port *p;

	/* It may be reserved of all addresses. */
	LIST_FOREACH (p, &s->ports, link)
		if (p->local.port == local->port && p->fd >= 0 &&
			(ip_addr_equal(&p->local.addr, &local->addr) ||
				ip_addr_is_any(&p->local.addr)))
			(void)sock_option(p->fd, SOL_SOCKET, SO_REUSEADDR, 1);
}
