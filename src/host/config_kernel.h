/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_kernel.h
 * `port = kernel`: iWARP over the host's own TCP. Addresses are the host's.
 */
#ifndef HOST_CONFIG_KERNEL_H
#define HOST_CONFIG_KERNEL_H

#include "host/config.h"

/** The value of `port`. */
#define CONFIG_KERNEL "kernel"

/** True if the port is the kernel. */
bool config_is_kernel(const struct config *c);

/** Check what does not go together with it. @return 0 or -EINVAL with @p e filled in. */
int config_kernel_check(const struct config *c, struct config_error *e);

/**
 * Look at the host's interfaces. If there is no `address`, the addresses are filled in: those that
 * lead somewhere first, those of the loopback network last. Link-local ones are left out.
 * @return 0; -EADDRNOTAVAIL: an `address` that no interface has, or there is none at all; or
 * -errno; with @p e filled in.
 */
int config_kernel_addresses(struct config *c, struct config_error *e);

/** Find the interface that has @p a. @param[out] name IF_NAMESIZE bytes. */
bool config_kernel_interface(const struct ip_addr *a, char *name);

#endif
