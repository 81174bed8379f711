/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file terms.h
 * Negotiates CRCs and markers from the two start-up frames (RFC 5044 section 7.1.1). No state.
 *
 * CRCs are used in both directions or in none. A side that asks for them gets them: no peer can
 * turn them off. With `required`, an initiator also ends a connection if the reply to its request
 * has no C bit. Such a peer may obey the RFC, but it may also be one that computes no CRCs. Over
 * an LLP that protects what it carries, `preferred` is as `off`.
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
 * Markers are negotiated for each direction, and the receiver decides. The M bit of a frame tells
 * the *other* side to send markers. That side must obey, and we do.
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

/** The terms of full operation. */
struct mpa_terms {
	bool crc;        /**< in both directions */
	bool tx_markers; /**< in what we send */
	bool rx_markers; /**< in what we receive */
};

/**
 * @param peer the peer's request, or its reply, which must not be a rejection.
 * @return NULL, or why we, as initiator, end the connection. @p t is valid even then, for a
 *         Terminate.
 */
const char *mpa_terms_of(const struct mpa_config *ours, enum mpa_role role,
	const struct mpa_start *peer, struct mpa_terms *t);

#endif
