/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pairing_service.h
 * Listens for the connections of pairings, on one port for all QPs of the RNIC. RNICs that share an
 * address have a port each, and the numbers of their QPs tell which (device.h). A request that
 * comes before its QP is in RTR is held for up to PAIRING_HOLD_MS. At most PAIRING_HELD_MAX are
 * held. When there are more, the oldest of the peer that has most is refused as busy; its initiator
 * asks again.
 *
 * All under the engine's lock.
 */
#ifndef RNIC_PAIRING_SERVICE_H
#define RNIC_PAIRING_SERVICE_H

#include "rnic/pairing.h"

/** Less than an initiator's start-up time-out, so that the initiator gets an answer. */
#define PAIRING_HOLD_MS  5000
#define PAIRING_HELD_MAX 1024

/**
 * Settle the space of QP numbers, once, before the first QP gets its own: the first of which the
 * port is free. The port of a space is pairing_port + space, and is reserved from then on.
 */
void pairing_service_settle(struct rnic *r);

/** Open it, if it is not open. @return 0; -EOPNOTSUPP: pairing is off; -EADDRINUSE, -ENOMEM. */
int pairing_service_open(struct rnic *r);

/** Close it, if it is open. Held requests are reset. */
void pairing_service_close(struct rnic *r);

/** @p p waits from now on: look for its request among those that are held. */
void pairing_service_claim(struct pairing *p);

#endif
