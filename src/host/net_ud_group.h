/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file net_ud_group.h
 * Private: multicast groups of UD queue pairs, over a port of our own or the kernel's sockets. What
 * is sent to them comes at one UDP port of its own, which over the kernel's sockets all processes
 * share. The functions of ud_net (ud/net.h), and what net_ud.c needs.
 */
#ifndef HOST_NET_UD_GROUP_H
#define HOST_NET_UD_GROUP_H

#include "host/net_priv.h"
#include "ip/udp.h"
#include "sock/datagrams.h"

int net_ud_group_join(void *ctx, const struct ip_addr *group, const struct ip_addr *local);
void net_ud_group_leave(void *ctx, const struct ip_addr *group, const struct ip_addr *local);
int net_ud_group_source(void *ctx, const struct ip_addr *group, struct ip_addr *local);

int net_ud_group_join_kernel(void *ctx, const struct ip_addr *group, const struct ip_addr *local);
void net_ud_group_leave_kernel(void *ctx, const struct ip_addr *group, const struct ip_addr *local);
int net_ud_group_source_kernel(void *ctx, const struct ip_addr *group, struct ip_addr *local);

/** ud_net.settle(). */
int net_ud_group_settle(void *ctx, const struct ip_addr *group, const struct ip_addr *local);

/** Nothing is received of groups any more, and all are left. */
void net_ud_group_close(struct net *n);

/**
 * Look which interfaces of the host have our addresses, and note them, unless we are in groups on
 * some. Without the engine's lock: the kernel may take long to tell.
 */
void net_ud_group_look(struct net *n);

/** The interface for a datagram to a group, as it was when last looked; 0: the host finds it. */
unsigned net_ud_group_interface(const struct net *n, const struct ud_path *path);

/* net_ud.c */

/** Is @p a a GID? Those are the addresses of the configuration (docs/connect.md). */
bool net_ud_has_gid(void *ctx, const struct ip_addr *a);

/* What came. */
void net_ud_own_input(void *ctx, const struct udp_datagram *d, uint64_t now);
sock_datagrams_fn net_ud_kernel_input;

#endif
