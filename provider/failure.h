/* SPDX-License-Identifier: BSD-2-Clause */
/** @file failure.h Explains in one sentence why a peer could not be reached. */
#ifndef PROVIDER_FAILURE_H
#define PROVIDER_FAILURE_H

#include "host/net.h"
#include "rnic/rnic.h"

/** Size of the sentence. */
#define FAILURE_MAX 480

/**
 * Find the reason: the link, the route, the next hop, or the peer's refusal. Call it under the
 * engine's lock, right after the attempt.
 */
void failure_explain(struct net *n, const struct rnic_failure *f, char text[FAILURE_MAX]);

#endif
