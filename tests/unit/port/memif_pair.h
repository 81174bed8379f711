/* SPDX-License-Identifier: BSD-2-Clause */
/** @file memif_pair.h Both ends of a memif in one process. Whatever goes wrong fails the test. */
#ifndef UNIT_PORT_MEMIF_PAIR_H
#define UNIT_PORT_MEMIF_PAIR_H

#include "dpdk-port/port_private.h"

extern struct port *server, *client;

/**
 * Open both, and wait until they are up.
 * @param socket an abstract one: "@...".
 * @param client_arguments of its device, more of them: ",rsize=4", or "".
 */
void memif_pair_open(const char *socket, const char *client_arguments);

/** What the next client is opened with, beside its role and the socket. */
void memif_pair_client_arguments(const char *arguments);

/** The client once more, as it was. */
void memif_pair_open_client(void);

/** Wait until both have their link. */
void memif_pair_connect(void);

/** Between two looks at what another thread brings about; at most so many of them that LIMIT_S is
 * over. */
void memif_pair_nap(void);

/** Another pair beside it, a server and its client, which the caller closes. @p mtu 0: the port's.
 */
void memif_pair_open_second(const char *socket, uint16_t mtu, struct port *ends[2]);

void memif_pair_close(void);

#endif
