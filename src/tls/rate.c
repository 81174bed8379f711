/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/rate.h"

#include "base/peer_set.h"

#define SECOND_NS UINT64_C(1000000000)

bool tls_rate_take(struct tls_rate *r, const struct ip_addr *peer, uint64_t now)
{
	const struct ip_addr net = peer_set_network(peer);
	bool any = false;

	if (r->interval == 0)
		return true;
	for (unsigned i = 0; i < TLS_RATE_ROWS; i++) {
		uint64_t *full_at =
			&r->full_at[i][siphash(&r->key[i], &net, sizeof net) % TLS_RATE_PLACES];
		uint64_t next = (*full_at > now ? *full_at : now) + r->interval;

		if (next - now > TLS_RATE_SECONDS * SECOND_NS)
			continue;
		*full_at = next;
		any = true;
	}
	return any;
}
