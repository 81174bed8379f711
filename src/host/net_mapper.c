/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port mapper's datagrams: over our own UDP, or over the kernel's.
 *
 * On the kernel's ports we ask peers ourselves, from a socket of our own. Who answers peers is who
 * has UDP port 3935 of the host. If the host's iwpmd has it, peers are told that it does not know
 * our ports, and connect to them as they are, which is right. It learns of ports by netlink from
 * the kernel's RDMA alone, so we could not tell it of ours. If nobody has it, the first of us that
 * listens takes it, and answers for all: each port of the host is what it is. When who has it goes,
 * another of us that listens takes it.
 */
#include "host/net_priv.h"
#include "ip/udp.h"
#include "sock/udp.h"
#include "ud/net.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void net_mapper_input(void *ctx, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const uint8_t *data, size_t len, uint64_t now)
{
	struct net *n = ctx;

	iwpm_input(n->mapper, from, to, data, len, now);
}

/* ---- over a port of our own --------------------------------------------------------------- */

static void net_mapper_port_error(
	void *ctx, const struct ip_endpoint *to, const struct ip_error *e, uint64_t now)
{
	struct net *n = ctx;

	if (e->kind != IP_ERROR_MTU && e->kind != IP_ERROR_TIME)
		iwpm_unreachable(n->mapper, to, e->l4 + 8, e->l4_len - 8, now);
}

static struct udp_user net_mapper_user(struct net *n)
{
	return (struct udp_user){
		.input = net_mapper_input, .error = net_mapper_port_error, .ctx = n};
}

static void net_mapper_port_send(void *ctx, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const void *data, size_t len, uint64_t now)
{
	struct net *n = ctx;

	(void)udp_send(n->ip, from, to, data, len, now);
}

static bool net_mapper_port_serve(void *ctx, bool on)
{
	struct net *n = ctx;
	struct udp_user user = net_mapper_user(n);

	if (on)
		return udp_open(n->ip, IWPM_PORT, &user) == 0;
	udp_close(n->ip, IWPM_PORT);
	return true;
}

int net_mapper_open_port(struct net *n, struct iwpm_config *cfg)
{
	struct udp_user user = net_mapper_user(n);
	int rc = -EADDRINUSE;

	cfg->send = net_mapper_port_send;
	cfg->serve = net_mapper_port_serve;
	for (unsigned i = 0; i < UD_PORT_DYNAMIC_TRIES && rc == -EADDRINUSE; i++) {
		cfg->client_port = ud_port_draw(n->config.ud_port, &net_random);
		rc = udp_open(n->ip, cfg->client_port, &user);
	}
	return rc;
}

/* ---- over the kernel's -------------------------------------------------------------------- */

static void net_mapper_kernel_error(
	void *ctx, const struct ip_endpoint *to, const uint8_t *data, size_t len, uint64_t now)
{
	struct net *n = ctx;

	iwpm_unreachable(n->mapper, to, data, len, now);
}

static void net_mapper_kernel_send(void *ctx, const struct ip_endpoint *from,
	const struct ip_endpoint *to, const void *data, size_t len, uint64_t now)
{
	struct net *n = ctx;
	struct sock_udp *u = from->port == IWPM_PORT ? n->mapper_server : n->mapper_client;

	if (u)
		sock_udp_send(u, &from->addr, to, data, len);
}

static struct sock_udp_user net_mapper_sock_user(struct net *n)
{
	return (struct sock_udp_user){
		.input = net_mapper_input, .error = net_mapper_kernel_error, .ctx = n};
}

static bool net_mapper_kernel_serve(void *ctx, bool on)
{
	struct net *n = ctx;
	struct sock_udp_user user = net_mapper_sock_user(n);
	int rc;

	if (!on) {
		sock_udp_close(n->mapper_server);
		n->mapper_server = NULL;
		return true;
	}
	rc = sock_udp_open(n->sock, IWPM_PORT, &user, &n->mapper_server);
	/* Not each time that it is tried. */
	if (rc && !n->mapper_refused)
		log_printf(&n->log.sink, LOG_LEVEL_INFO,
			"UDP port %u is not ours (%s): whoever has it answers for the host",
			IWPM_PORT, strerror(-rc));
	n->mapper_refused = rc != 0;
	return rc == 0;
}

int net_mapper_open_kernel(struct net *n, struct iwpm_config *cfg)
{
	struct sock_udp_user user = net_mapper_sock_user(n);
	int rc = -EADDRINUSE;

	cfg->send = net_mapper_kernel_send;
	cfg->serve = net_mapper_kernel_serve;
	cfg->accept_all = true;
	/* The kernel might choose one that a UD QP needs later. */
	for (unsigned i = 0; i < UD_PORT_DYNAMIC_TRIES && rc == -EADDRINUSE; i++)
		rc = sock_udp_open(n->sock, ud_port_draw(n->config.ud_port, &net_random), &user,
			&n->mapper_client);
	/* A host may let nobody name one, or those that have come up are all in use. */
	if (rc)
		rc = sock_udp_open(n->sock, 0, &user, &n->mapper_client);
	return rc;
}

/* ---- both --------------------------------------------------------------------------------- */

int net_mapper_open(struct net *n, struct config_error *e)
{
	struct iwpm_config cfg = {
		.wheel = &n->engine.wheel, .random = net_random, .log = &n->log.sink, .ctx = n};
	int rc;

	if (n->config.port_mapper == PORT_MAPPER_OFF)
		return 0;
	e->step = CONFIG_STEP_STACK;
	rc = n->ops->open_mapper(n, &cfg);
	if (!rc)
		rc = iwpm_create(&cfg, &n->mapper);
	if (rc)
		snprintf(e->text, sizeof e->text, "the port mapper does not start: %s",
			strerror(-rc));
	return rc;
}

void net_mapper_close(struct net *n)
{
	iwpm_destroy(n->mapper);
	n->mapper = NULL;
}
