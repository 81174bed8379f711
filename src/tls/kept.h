/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file kept.h
 * Memory for content that the user of a connection has left, an FPDU without its end or one for
 * which there is no receive, and the share of all connections of it. What has no room there stays
 * in the LLP's window, where it counts as all that is unread.
 *
 * A peer, all connections with its address (or IPv6 network of 64 bits), may have as much as it
 * leaves for others: one alone half, two a third each. Peers are told apart by a keyed hash into
 * few places: two that meet in one are one peer, and what that costs them is time.
 */
#ifndef TLS_KEPT_H
#define TLS_KEPT_H

#include "base/ip_addr.h"
#include "base/siphash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A power of two. */
#define TLS_KEPT_PLACES 1024
/** So much is kept at most of a user that waits for more; the longest FPDU is shorter. */
#define TLS_KEPT_MAX (128 * 1024)

/** Of a stack. */
struct tls_kept_share {
	size_t most; /**< octets; 0: no limit */
	size_t held;
	struct siphash_key key;
	size_t of_peer[TLS_KEPT_PLACES];
};

/** Of a connection. */
struct tls_kept {
	uint8_t *bytes; /**< NULL: there is none */
	size_t at, len, room;
	uint32_t place; /**< of its peer, while there is some */
};

/** What came of asking for room. */
enum tls_kept_result {
	TLS_KEPT,
	TLS_KEPT_NO_SHARE,
	TLS_KEPT_NO_MEMORY,
};

/** Have room for @p room octets. What is kept stays. */
enum tls_kept_result tls_kept_grow(
	struct tls_kept_share *s, struct tls_kept *k, size_t room, const struct ip_addr *peer);

/** Nothing is kept any more. */
void tls_kept_clear(struct tls_kept_share *s, struct tls_kept *k);

#endif
