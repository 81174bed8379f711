/* SPDX-License-Identifier: BSD-2-Clause */
/* More UDP ports for UD queue pairs, by which rdma_cm asks for one: of our own, or the kernel's. */
#include "host/net_ud_port.h"

#include "host/net_priv.h"
#include "ip/udp.h"
#include "sock/udp.h"

#include <errno.h>
#include <stdlib.h>

#define NET_UDP_LEN 8

_Static_assert(UD_PORT_MAX <= UDP_DATA_MAX && UD_PORT_MAX <= SOCK_UDP_DATA_MAX, "both take it");

struct ud_port {
	struct net *net;
	struct ud_port_user user;
	uint16_t number;         /**< of our own UDP */
	struct sock_udp *socket; /**< of the kernel's; or NULL */
};

static void net_ud_port_input(void *ctx, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const uint8_t *data, size_t len, uint64_t now)
{
	struct ud_port *p = ctx;
	const struct ud_path path = {.local = to->addr, .remote = from->addr};

	if (net_ud_lets_in(p->net, &path))
		p->user.input(p->user.ctx, from, to, data, len);
}

/** @return NULL: no memory. */
static struct ud_port *net_ud_port_new(
	struct net *n, uint16_t number, const struct ud_port_user *user)
{
	struct ud_port *p = calloc(1, sizeof *p);

	if (p)
		*p = (struct ud_port){.net = n, .user = *user, .number = number};
	return p;
}

/* ---- over a port of our own ---------------------------------------------------------------- */

static void net_ud_port_icmp(
	void *ctx, const struct ip_endpoint *to, const struct ip_error *e, uint64_t now)
{
	struct ud_port *p = ctx;

	if (e->kind != IP_ERROR_MTU && e->kind != IP_ERROR_TIME)
		p->user.error(p->user.ctx, to, e->l4 + NET_UDP_LEN, e->l4_len - NET_UDP_LEN);
}

int net_ud_port_open(
	void *ctx, uint16_t number, const struct ud_port_user *user, struct ud_port **out)
{
	struct net *n = ctx;
	struct ud_port *p = net_ud_port_new(n, number, user);
	const struct udp_user u = {.input = net_ud_port_input, .error = net_ud_port_icmp, .ctx = p};
	int rc = p ? udp_open(n->ip, number, &u) : -ENOMEM;

	if (rc)
		free(p);
	else
		*out = p;
	return rc;
}

void net_ud_port_close(struct ud_port *p)
{
	udp_close(p->net->ip, p->number);
	free(p);
}

void net_ud_port_send(struct ud_port *p, const struct ip_addr *from, const struct ip_endpoint *to,
	const void *data, size_t len)
{
	const struct ip_endpoint at = {.addr = *from, .port = p->number};

	(void)udp_send(p->net->ip, &at, to, data, len, p->net->engine.now);
}

/* ---- over the kernel's --------------------------------------------------------------------- */

static void net_ud_port_error(
	void *ctx, const struct ip_endpoint *to, const uint8_t *data, size_t len, uint64_t now)
{
	struct ud_port *p = ctx;

	p->user.error(p->user.ctx, to, data, len);
}

int net_ud_port_open_kernel(
	void *ctx, uint16_t number, const struct ud_port_user *user, struct ud_port **out)
{
	struct net *n = ctx;
	struct ud_port *p = net_ud_port_new(n, number, user);
	const struct sock_udp_user u = {
		.input = net_ud_port_input, .error = net_ud_port_error, .ctx = p};
	int rc = p ? sock_udp_open(n->sock, number, &u, &p->socket) : -ENOMEM;

	if (rc)
		free(p);
	else
		*out = p;
	return rc;
}

void net_ud_port_close_kernel(struct ud_port *p)
{
	sock_udp_close(p->socket);
	free(p);
}

void net_ud_port_send_kernel(struct ud_port *p, const struct ip_addr *from,
	const struct ip_endpoint *to, const void *data, size_t len)
{
	sock_udp_send(p->socket, from, to, data, len);
}
