/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file claim.h
 * What one process of a host has alone: an IP address on an interface. With two the peers' ARP and
 * TCP would go to one or the other, and each would reset the other's connections. A claim is a file
 * in the directory of the slots (slot.h) with a lock of its process, so one that is killed gives it
 * back; a child after fork() has no part in it.
 */
#ifndef HOST_CLAIM_H
#define HOST_CLAIM_H

#include "host/config.h"

struct claim {
	int fd[CONFIG_MAX_ADDRESSES];
	unsigned n;
};

/**
 * Take the configuration's addresses on its port. Ports that no other process can open as well,
 * or that lead nowhere, need no claim: of devices made by DPDK those count that name an interface
 * of the kernel's, or a memif's socket (with both ends on one host they must differ too).
 * @param directory of the locks.
 * @return 0, or -EADDRINUSE with a sentence in @p e that names the other process. What cannot be
 *         locked for another reason is not claimed.
 */
int claim_take(
	struct claim *c, const char *directory, const struct config *cfg, struct config_error *e);

void claim_release(struct claim *c);

#endif
