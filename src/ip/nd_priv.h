/* SPDX-License-Identifier: BSD-2-Clause */
/** @file nd_priv.h What the neighbours' part of ND (nd.c) and the routers' (nd_router.c) share. */
#ifndef IP_ND_PRIV_H
#define IP_ND_PRIV_H

#include "ip/nd.h"
#include "ip/neighbour.h"

/** One message of ours: type, word after the checksum, a target and an option or none. */
struct nd_message {
	const struct ip_addr *src, *dst;
	const uint8_t *mac; /**< NULL: dst is a group */
	const struct ip_addr *target;
	uint32_t word;
	uint8_t type;
	uint8_t option; /**< ND_OPT_SOURCE or _TARGET with our MAC, or ND_OPT_NONCE; 0: none */
	const uint8_t *nonce;
};

void nd_send(struct ip_stack *s, const struct nd_message *nd);

/** The options of a message that we use. */
struct nd_options {
	const uint8_t *source, *target; /**< link-layer addresses */
	const uint8_t *mtu;
	const uint8_t *nonce; /**< of the length of ours */
	const uint8_t *prefix[8];
	unsigned prefixes;
};

/**
 * @return false: the whole message must be dropped (RFC 4861 section 4.6: an option of length 0).
 */
bool nd_parse_options(struct nd_options *o, const uint8_t *p, uint32_t len);

/**
 * Is the station @p mac, as far as is known before it is heard, another one than that of the router
 * @p addr? Then it does not speak for the router. That is the station that answers, or else the one
 * that advertised it. @p n is the router as a neighbour, or NULL.
 */
bool nd_is_other(struct ip_stack *s, const struct ip_neighbour *n, const struct ip_addr *addr,
	const uint8_t *mac);

/** A router advertisement, checked as nd_input() does (RFC 4861 sections 6.1.2 and 6.3.4). */
void nd_ra_input(
	struct ip_stack *s, const struct ip_rx *rx, const uint8_t *p, uint32_t len, uint64_t now);

#endif
