/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tcp_resolve.h Resolves a host's name to an address that our stack can reach. */
#ifndef TOOLS_TCP_RESOLVE_H
#define TOOLS_TCP_RESOLVE_H

#include "host/net.h"

/**
 * The first address of @p host to which @p n has a route.
 * @param command begins the sentence: "uiwarp tcp".
 * @return 0, or -EHOSTUNREACH with a sentence on stderr.
 */
int tcp_resolve(struct net *n, const char *command, const char *host, struct ip_addr *out);

#endif
