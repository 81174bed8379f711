/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file legacy.h
 * IRD and ORD as they were exchanged before RFC 6581.
 *
 * SMB Direct over iWARP puts IRD and ORD, two 32-bit words above zero, at the front of the private
 * data of a connection to its port, 5445 ([MS-SMBD] section 6.1). They should be in network order,
 * but older Linux clients sent them in host order.
 *
 * Private data belong to the user. So they are taken for such words only if all of this holds:
 *
 *  - the frame has no words of RFC 6581, which would take precedence;
 *  - the listening port is 5445, or the configuration says that the peer is SMB Direct;
 *  - they have exactly eight octets;
 *  - both words are from 1 to 16382 in network order, or else both are in the other byte order.
 *
 * Then they are the sender's IRD and ORD, for the negotiation only. The user gets the private data
 * unchanged. We never send such words ourselves. A user may.
 */
#ifndef MPA_LEGACY_H
#define MPA_LEGACY_H

#include "mpa/mpa.h"

/** True if the configuration says to look for such words. @param port of the side that listens. */
bool mpa_legacy_applies(uint8_t legacy, uint16_t port);

/** @return false: the private data are not such words. @p ird and @p ord are left alone. */
bool mpa_legacy_depths(const uint8_t *private_data, size_t len, uint16_t *ird, uint16_t *ord);

#endif
