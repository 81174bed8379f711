/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file forge.h
 * Somebody on the way who sees segments, and sends others in their sender's name, or ICMP errors
 * about them: what RFC 5961 and RFC 5927 are about, and what no stream survives.
 */
#ifndef TESTS_VOPR_FORGE_H
#define TESTS_VOPR_FORGE_H

#include "sim/element.h"
#include "sim/host.h"

struct forge {
	struct sim_element element;
	struct prng rng;
	double p;      /**< per segment; may be changed at any time */
	bool in_order; /**< what is sent behind a segment arrives behind it */
	bool text;     /**< somebody checks CRCs */
	struct sim_host *sender;
	/** Called before something is sent that may end streams of these hosts. */
	void (*told)(void *ctx, unsigned from, unsigned to);
	void *ctx;
};

/** Of what @p sender sends. */
struct forge *forge_create(
	struct sim_host *sender, void (*told)(void *, unsigned, unsigned), void *ctx);

#endif
