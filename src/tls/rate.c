/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/rate.h"

#include "base/peer_set.h"

#define SECOND_NS UINT64_C(1000000000)

/** @param taken false: only look. @return false: both buckets are empty. */
static bool tls_rate_of(struct tls_rate *r, const struct ip_addr *whose, uint64_t interval,
	uint64_t now, bool taken)
{
	bool any = false;

	for (unsigned i = 0; i < TLS_RATE_ROWS; i++) {
		uint64_t *full_at =
			&r->full_at[i][siphash(&r->key[i], whose, sizeof *whose) % TLS_RATE_PLACES];
		uint64_t next = (*full_at > now ? *full_at : now) + interval;

		if (next - now > TLS_RATE_SECONDS * SECOND_NS)
			continue;
		any = true;
		if (taken)
			*full_at = next;
	}
	return any;
}

bool tls_rate_take(struct tls_rate *r, const struct ip_addr *peer, uint64_t now)
{
	const struct ip_addr net = peer_set_network(peer);
	uint64_t of_net = r->interval / TLS_RATE_OF_NETWORK;

	if (r->interval == 0)
		return true;
	/* What its network may not must not cost those that share the address's buckets. */
	if (!ip_addr_is_v4(peer) && !tls_rate_of(r, &net, of_net, now, false))
		return false;
	if (!tls_rate_of(r, peer, r->interval, now, true))
		return false;
	return ip_addr_is_v4(peer) || tls_rate_of(r, &net, of_net, now, true);
}
