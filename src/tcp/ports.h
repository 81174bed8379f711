/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ports.h
 * Local ports: which are reserved or in use, and unpredictable ephemeral ones (RFC 6056).
 */
#ifndef TCP_PORTS_H
#define TCP_PORTS_H

#include "base/ip_addr.h"
#include "base/siphash.h"
#include "llp/llp.h"

/** RFC 6335 section 6: the dynamic ports. */
#define TCP_PORT_FIRST 49152
#define TCP_PORT_COUNT (65536 - TCP_PORT_FIRST)

struct tcp_port_reservation {
	struct tcp_port_reservation *next;
	struct ip_endpoint local;
	unsigned flags; /**< enum llp_port_flags */
};

struct tcp_ports {
	struct tcp_port_reservation *reserved;
	uint32_t counter; /**< next_ephemeral of RFC 6056 section 3.3.3 */
};

/**
 * True if one packet could be meant for both: the same port, and equal or wildcard addresses.
 * @param a_flags, b_flags LLP_PORT_V6ONLY counts, and only of a [::].
 */
bool tcp_endpoint_overlaps(const struct ip_endpoint *a, unsigned a_flags,
	const struct ip_endpoint *b, unsigned b_flags);

/** True if an overlapping endpoint is reserved that cannot be shared. @p flags: of @p local. */
bool tcp_ports_reserved(const struct tcp_ports *p, const struct ip_endpoint *local, unsigned flags);

/** @return 0, -EADDRINUSE, -ENOMEM. */
int tcp_ports_reserve(struct tcp_ports *p, const struct ip_endpoint *local, unsigned flags);

/**
 * Somebody will listen there. If it is reserved, from now on nobody else may.
 * @param flags what it was reserved with.
 * @return 0, -EADDRINUSE: others have reserved what overlaps.
 */
int tcp_ports_listen(struct tcp_ports *p, const struct ip_endpoint *local, unsigned *flags);

/** Give one such reservation back; nothing happens if there is none. */
void tcp_ports_release(struct tcp_ports *p, const struct ip_endpoint *local);

void tcp_ports_fini(struct tcp_ports *p);

/**
 * RFC 6056 section 3.3.3 (algorithm 3): the first ephemeral port, in an order that depends on
 * @p key and the pair of addresses, that @p free_fn agrees to.
 * @return the port, or 0 when none is free.
 */
uint16_t tcp_ports_ephemeral(struct tcp_ports *p, const struct siphash_key *key,
	const struct ip_addr *local, const struct ip_endpoint *remote,
	bool (*free_fn)(void *ctx, uint16_t port), void *ctx);

#endif
