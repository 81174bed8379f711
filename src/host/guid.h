/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file guid.h
 * The node GUID. It follows from the configuration alone, so it is known before there is a port.
 */
#ifndef HOST_GUID_H
#define HOST_GUID_H

#include "host/config.h"

#include <stdint.h>

/**
 * The EUI-64 form of `mac` (RFC 4291, appendix A). Without `mac` it is an identifier of local
 * scope, the SipHash of the first address: constant for an address, and different for another.
 * @param c with its slot, if it needs one.
 * @return the GUID in network byte order; never 0.
 */
uint64_t guid_from_config(const struct config *c);

#endif
