/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file terms.h
 * What the two start-up frames make of CRCs and markers (RFC 5044 section 7.1.1). No state.
 *
 * CRCs are for both directions or for none, and a side that asks for them gets them: no peer can
 * turn them off. What `required` adds is that an initiator does not go on with a peer that leaves
 * the C bit out of its reply to a request that has it. Such a peer may obey the RFC all the same,
 * but may as well be one that makes no CRCs.
 *
 *     we initiate | C of our request | C of the reply | then
 *     ------------|------------------|----------------|-------------
 *      off        |        0         |       0        | no CRCs
 *      off        |        0         |       1        | CRCs
 *      preferred  |        1         |     0 or 1     | CRCs
 *      required   |        1         |       0        | CRCs; we end it
 *      required   |        1         |       1        | CRCs
 *
 *     we respond  | C of the request | C of our reply | then
 *     ------------|------------------|----------------|-------------
 *      off        |        0         |       0        | no CRCs
 *      off        |        1         |       1        | CRCs
 *      preferred  |      0 or 1      |       1        | CRCs
 *      required   |      0 or 1      |       1        | CRCs
 *
 * Each direction has its own markers, and the receiver decides: the M bit of a frame tells the
 * *other* side to put markers into what it sends. A side that is told so must, and we do.
 *
 *     markers, ours | M of the peer | we send them | the peer sends them
 *     --------------|---------------|--------------|--------------------
 *          off      |       0       |     no       |       no
 *          off      |       1       |     yes      |       no
 *          on       |       0       |     no       |       yes
 *          on       |       1       |     yes      |       yes
 */
#ifndef MPA_TERMS_H
#define MPA_TERMS_H

#include "mpa/mpa.h"

/** What holds in full operation. */
struct mpa_terms {
	bool crc;        /**< both ways */
	bool tx_markers; /**< in what we send */
	bool rx_markers; /**< in what comes */
};

/**
 * @param peer its request (we respond) or its reply, not a rejection (we initiate).
 * @return NULL, or why we do not go on with this initiator's connection; @p t holds even then, for
 *         a Terminate.
 */
const char *mpa_terms_of(const struct mpa_config *ours, enum mpa_role role,
	const struct mpa_start *peer, struct mpa_terms *t);

#endif
