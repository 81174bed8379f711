/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file box.h
 * A middlebox in front of a host: rewrites headers, holds segments back and lets them go at once,
 * repeats old ones much later, and gives connections other ports in the middle of their lives, as a
 * translator of addresses does that was restarted. What it does to segments without breaking their
 * stream is what middleboxes of the Internet were seen to do (RFC 3234).
 */
#ifndef TESTS_VOPR_BOX_H
#define TESTS_VOPR_BOX_H

#include "sim/element.h"

enum box_act {
	BOX_CLAMP = 1,   /**< the MSS of SYNs */
	BOX_STRIP = 2,   /**< window scaling, SACK and timestamps out of SYNs that have no ACK */
	BOX_NO_SACK = 4, /**< SACK blocks out of all others */
	BOX_TTL = 8,     /**< another one for each packet */
	BOX_ECN = 16,    /**< ECN bits anyhow, each packet others */
	BOX_FLAGS = 32,  /**< PSH, ECE and CWR */
	BOX_WINDOW = 64, /**< some smaller windows */
	BOX_HOLD = 128,  /**< all that comes waits up to half a second */
	BOX_REPEAT = 256 /**< some of it comes again up to a minute later */
};

struct box;

/** No translation changes the ports of listeners, which are below 49152. */
struct box *box_create(struct sim *s);

/** From the host, and to it. */
struct sim_element *box_out(struct box *x);
struct sim_element *box_in(struct box *x);

/** @param acts of enum box_act, from now on. */
void box_set(struct box *x, unsigned acts);

/** Besides, this share of all comes again within seconds, as often within milliseconds. */
void box_repeat(struct box *x, double p);

/** All connections that the host has made go on from other ports. */
void box_rebind(struct box *x);

#endif
