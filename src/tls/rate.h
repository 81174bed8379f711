/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rate.h
 * How often each peer may begin a handshake: a token bucket as of a virtual scheduling algorithm
 * (ITU-T I.371), which is one time stamp. An IPv6 network of 64 bits may be one stranger, or a
 * site: it has a bucket beside those of its addresses.
 *
 * The buckets are in two rows, by keyed hashes, so strangers need no memory and cannot choose where
 * they are. A peer is refused if both of its buckets are empty: who shares one with an attacker has
 * the other.
 */
#ifndef TLS_RATE_H
#define TLS_RATE_H

#include "base/ip_addr.h"
#include "base/siphash.h"

#include <stdbool.h>
#include <stdint.h>

#define TLS_RATE_ROWS   2
#define TLS_RATE_PLACES 4096
/** A bucket holds the tokens of so many seconds: a cluster that begins anew needs many at once. */
#define TLS_RATE_SECONDS 4

/** All addresses of an IPv6 network together may begin so many times what one of them may. */
#define TLS_RATE_OF_NETWORK 4

struct tls_rate {
	uint64_t interval; /**< ns until the next token; 0: there is no limit */
	struct siphash_key key[TLS_RATE_ROWS];
	/** When the bucket is full again: in the past, or at most TLS_RATE_SECONDS from now. */
	uint64_t full_at[TLS_RATE_ROWS][TLS_RATE_PLACES];
};

/** @param now in ns, of a clock that does not go back. @return false: too many of @p peer. */
bool tls_rate_take(struct tls_rate *r, const struct ip_addr *peer, uint64_t now);

#endif
