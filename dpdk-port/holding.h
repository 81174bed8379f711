/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file holding.h
 * The descriptors by which DPDK's drivers hold what can be held once: a memif's socket (the
 * server's, and each connection), a queue of a TAP, a vhost-user's socket. The drivers make them to
 * be inherited. A copy in a child, after fork() or exec(), holds it still when the process is
 * killed: no other process gets the port, and the peer is not told.
 */
#ifndef DPDK_PORT_HOLDING_H
#define DPDK_PORT_HOLDING_H

#include <net/if.h>
#include <sys/un.h>

struct holding {
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)]; /**< "": none */
	char interface[IF_NAMESIZE];                              /**< of a TAP; "": none */
};

/**
 * What a port of these arguments holds.
 * @param device     as DPDK has taken them
 * @param interface  of the kernel's, or ""
 */
struct holding holding_of(const char *device, const char *interface);

/** Close all of its descriptors. For a child after fork(): no memory, no lock. */
void holding_close(const struct holding *h);

/** Have no program inherit them that the process executes, however it does. */
void holding_keep_private(const struct holding *h);

#endif
