/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pairing_service.h
 * Where the connections of pairings arrive: one port for all QPs of the RNIC. What comes before its
 * QP's program has said RTR is held, for PAIRING_HOLD_MS and PAIRING_HELD_MAX at a time.
 *
 * All under the engine's lock.
 */
#ifndef RNIC_PAIRING_SERVICE_H
#define RNIC_PAIRING_SERVICE_H

#include "rnic/pairing.h"

/** Less than an initiator's start-up may take, so that it is told and does not give up. */
#define PAIRING_HOLD_MS  5000
#define PAIRING_HELD_MAX 1024

/** Open it, if it is not yet. @return 0; -EOPNOTSUPP: pairing is off; -EADDRINUSE, -ENOMEM. */
int pairing_service_open(struct rnic *r);

/** Those that wait are reset. Nothing happens if it is not open. */
void pairing_service_close(struct rnic *r);

/** @p p waits from now on: see which requests have come already. */
void pairing_service_claim(struct pairing *p);

#endif
