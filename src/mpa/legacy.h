/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file legacy.h
 * IRD and ORD as they were told before RFC 6581.
 *
 * SMB Direct over iWARP puts two 32-bit words, IRD and ORD, both above zero, at the front of the
 * private data of a connection to its port, 5445 ([MS-SMBD] section 6.1). They belong in network
 * order, but older Linux clients sent them as their processor has them.
 *
 * Private data are the user's, so a buffer is taken for such words only if all of this holds:
 *
 *  - the frame has no words of RFC 6581; those would rule;
 *  - the listening side's port is 5445, or the configuration says that the peer is SMB Direct;
 *  - it is eight octets long, no more and no less;
 *  - both words are from 1 to 16382 in network order, or, if not, both are in the other one.
 *
 * Then they are IRD and ORD of the sender, for the negotiation only: the user gets the private data
 * as they came. We never send such words ourselves; a user may.
 */
#ifndef MPA_LEGACY_H
#define MPA_LEGACY_H

#include "mpa/mpa.h"

/** Does the configuration allow to look for them? @param port of the side that listens. */
bool mpa_legacy_applies(uint8_t legacy, uint16_t port);

/** @return false: these private data are none, and @p ird and @p ord are left alone. */
bool mpa_legacy_depths(const uint8_t *private_data, size_t len, uint16_t *ird, uint16_t *ord);

#endif
