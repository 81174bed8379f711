/* SPDX-License-Identifier: BSD-2-Clause */
/** @file local.h Our own addresses: the table, duplicate detection, source address selection. */
#ifndef IP_LOCAL_H
#define IP_LOCAL_H

#include "ip/ip.h"
#include "ip/nd.h"

/** Sixteen, and the link-local one that comes with IPv6. */
#define LOCAL_MAX 17

enum local_state {
	LOCAL_TENTATIVE, /**< being probed; in use already (RFC 4429) */
	LOCAL_PREFERRED,
	LOCAL_DUPLICATE, /**< IPv6 only: not in use (RFC 4862 section 5.4.5) */
};

struct local_addr {
	struct ip_addr addr;
	unsigned prefix_len; /**< in the family's own bits */
	enum local_state state;
	bool held;                   /**< it was in use on a link before this probing began */
	bool claimed;                /**< held, and another station has claimed it since */
	unsigned sent;               /**< probes and announcements */
	uint64_t defended;           /**< when we last answered a conflict; 0: never */
	uint64_t retry;              /**< ns that LOCAL_DUPLICATE lasts, about; 0: it never did */
	uint8_t nonce[ND_NONCE_LEN]; /**< of the last probe */
	struct timer timer;
	struct ip_stack *stack;
};

struct local_table {
	uint32_t v4[LOCAL_MAX]; /**< in network order, for ip_input() */
	unsigned n_v4;
	struct local_addr a[LOCAL_MAX];
	unsigned n;
};

/** @return our address that equals @p a and is in use, or NULL. */
struct local_addr *local_find(struct ip_stack *s, const struct ip_addr *a);

/**
 * True if @p dst is a broadcast address of a subnet of ours, or of all (RFC 1122 section 3.2.1.3).
 */
bool local_is_broadcast(const struct ip_stack *s, const struct ip_addr *dst);

/** Our source address towards @p remote via @p hop; NULL: there is none of its family. */
struct local_addr *local_source(
	struct ip_stack *s, const struct ip_addr *remote, const struct ip_addr *hop);

/**
 * May our link-layer address be told with solicitations from @p l, so that others take it for the
 * address's? RFC 4429 section 3.2: not while that is only tried, as it is when the link comes up
 * for the first time.
 */
static inline bool local_is_sure(const struct local_addr *l)
{
	return l->state == LOCAL_PREFERRED || (l->held && !l->claimed);
}

/**
 * The station @p mac uses our address @p l: log it, and defend the address or give it up.
 * @param yield the latter, if it is IPv6's and still being probed. One that was in use before is
 *              probed once more first: a single claim is soon forged.
 */
void local_conflict(
	struct ip_stack *s, struct local_addr *l, const uint8_t *mac, bool yield, uint64_t now);

/** Is this a probe of ours for @p a (RFC 7527 section 4.2)? */
bool local_has_probed(
	const struct ip_stack *s, const struct ip_addr *a, const uint8_t nonce[ND_NONCE_LEN]);

/** Another station has @p a, or tries to. If that is an address of ours which is not in use, and
 * is just being tried again, it stays so. */
void local_stay_away(struct ip_stack *s, const struct ip_addr *a, uint64_t now);

/**
 * Probe and announce all our addresses as if they had just been added: the link has come up (RFC
 * 4862 section 5.4, RFC 5227 section 2.1). Those that were taken out of use are used when nobody
 * has them any more.
 */
void local_begin_again(struct ip_stack *s, uint64_t now);

void local_fini(struct ip_stack *s);

#endif
