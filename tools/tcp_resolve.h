/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tcp_resolve.h From a host's name to an address that a stack of ours can reach. */
#ifndef TOOLS_TCP_RESOLVE_H
#define TOOLS_TCP_RESOLVE_H

#include "host/net.h"

/**
 * The first address of @p host to which @p n has a route.
 * @param who begins the sentence: "uiwarp tcp".
 * @return 0, or -EHOSTUNREACH with a sentence on stderr.
 */
int tcp_resolve(struct net *n, const char *who, const char *host, struct ip_addr *out);

#endif
