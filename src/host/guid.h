/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file guid.h
 * The node GUID, known before there is a port: of the configuration alone.
 */
#ifndef HOST_GUID_H
#define HOST_GUID_H

#include "host/config.h"

#include <stdint.h>

/**
 * The identifier of the EUI-64 form of `mac` (RFC 4291, appendix A); where none is given, one of
 * local scope that is the first address under SipHash: the same in every run, another for another
 * address.
 * @param c with its slot, if it wants one.
 * @return it in network byte order; never 0.
 */
uint64_t guid_from_config(const struct config *c);

#endif
