/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file net_ud_port.h
 * Private: ud_net's port_open(), port_close() and port_send(), over a port of our own and over the
 * kernel's sockets. Who is let in is as for the queue pairs themselves (net_ud.c).
 */
#ifndef HOST_NET_UD_PORT_H
#define HOST_NET_UD_PORT_H

#include "ud/net.h"

struct net;

int net_ud_port_open(
	void *ctx, uint16_t number, const struct ud_port_user *user, struct ud_port **out);
void net_ud_port_close(struct ud_port *p);
void net_ud_port_send(struct ud_port *p, const struct ip_addr *from, const struct ip_endpoint *to,
	const void *data, size_t len);

int net_ud_port_open_kernel(
	void *ctx, uint16_t number, const struct ud_port_user *user, struct ud_port **out);
void net_ud_port_close_kernel(struct ud_port *p);
void net_ud_port_send_kernel(struct ud_port *p, const struct ip_addr *from,
	const struct ip_endpoint *to, const void *data, size_t len);

/** @return false: nothing is taken from there, which was counted. */
bool net_ud_lets_in(struct net *n, const struct ud_path *path);

#endif
