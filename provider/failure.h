/* SPDX-License-Identifier: BSD-2-Clause */
/** @file failure.h Why a peer could not be reached, in one sentence. */
#ifndef PROVIDER_FAILURE_H
#define PROVIDER_FAILURE_H

#include "host/net.h"
#include "rnic/rnic.h"

/** Room for the sentence. */
#define FAILURE_MAX 480

/**
 * What is known here of the reason: the link, the route, the next hop, the peer's refusal. To be
 * called under the engine's lock, right after the attempt.
 */
void failure_explain(struct net *n, const struct rnic_failure *f, char text[FAILURE_MAX]);

#endif
