/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tcp_resolve.h Resolves a host's name to an address that our stack can reach. */
#ifndef TOOLS_TCP_RESOLVE_H
#define TOOLS_TCP_RESOLVE_H

#include "host/net.h"

#define TCP_RESOLVE_MAX 320

/**
 * The first address of @p host to which @p n has a route. A link-local address keeps its interface
 * ("fe80::1%eth0") where the stack has several.
 * @return 0; -ENOENT: there is no such host; -EINVAL: it does not say of which interface it is;
 *         -EHOSTUNREACH: there is no route. @p why is a sentence then.
 */
int tcp_resolve(struct net *n, const char *host, struct ip_addr *out, char why[TCP_RESOLVE_MAX]);

#endif
