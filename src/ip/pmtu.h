/* SPDX-License-Identifier: BSD-2-Clause */
/** @file pmtu.h The cache of path MTUs by destination, for ten minutes (RFC 1191, 8201). */
#ifndef IP_PMTU_H
#define IP_PMTU_H

#include "ip/ip.h"

#define PMTU_BUCKETS 64
#define PMTU_WAYS    4

struct pmtu_entry {
	struct ip_addr dst;
	uint16_t mtu; /**< 0: free */
	uint64_t expires;
};

struct pmtu_cache {
	struct pmtu_entry e[PMTU_BUCKETS][PMTU_WAYS];
	struct timer expiry;
};

void pmtu_init(struct ip_stack *s);

/** The link's MTU towards @p dst. */
uint16_t pmtu_link(const struct ip_stack *s, const struct ip_addr *dst);

/** The MTU towards @p dst now: the link's, or less. */
uint16_t pmtu_get(const struct ip_stack *s, const struct ip_addr *dst);

/** Lower it to @p mtu, but not below the family's minimum. @return the MTU from now on. */
uint16_t pmtu_lower(struct ip_stack *s, const struct ip_addr *dst, uint16_t mtu, uint64_t now);

void pmtu_fini(struct ip_stack *s);

#endif
