/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cookies.h
 * SYN cookies (RFC 4987 section 3.6): the state of a handshake, kept by the peer. The initial
 * sequence number of the SYN,ACK proves that its receiver exists and carries its MSS; the low bits
 * of the timestamp carry the other options. Without timestamps those are refused.
 */
#ifndef TCP_COOKIES_H
#define TCP_COOKIES_H

#include "base/random.h"
#include "base/siphash.h"
#include "tcp/table.h"
#include "tcp/tcp_wire.h"

#include <stdbool.h>
#include <stdint.h>

/** Cookies are counted in steps of this, and hold for the step they were made in and the next. */
#define TCP_COOKIE_STEP UINT64_C(64000000000)
/** After so many steps there is a new secret; the one before it still opens what it made. */
#define TCP_COOKIE_STEPS_PER_SECRET 64

struct tcp_cookies {
	struct siphash_key base_key;
	struct siphash_key secret[2]; /**< of the even and of the odd periods */
	uint64_t period[2];           /**< for which each was drawn, plus 1; 0: none yet */
	uint64_t step;                /**< in which the last cookie was made */
	bool any;
};

/** What the timestamp of a SYN,ACK with a cookie tells of the peer's SYN. */
struct tcp_cookie_options {
	uint8_t has; /**< of TCP_HAS_WSCALE and TCP_HAS_SACK_PERMITTED */
	uint8_t wscale;
	bool ecn;
};

void tcp_cookies_init(struct tcp_cookies *k, const struct random_source *r);

/** @return the initial sequence number to answer a SYN from @p id with. @p mss: the peer's. */
uint32_t tcp_cookie_make(struct tcp_cookies *k, const struct random_source *r,
	const struct tcp_tuple *id, uint32_t irs, uint16_t mss, uint64_t now);

/**
 * Is @p iss a cookie that was made for @p id and @p irs not long ago?
 * @return the peer's MSS, rounded down to one of eight; 0: no.
 */
uint16_t tcp_cookie_check(const struct tcp_cookies *k, const struct tcp_tuple *id, uint32_t irs,
	uint32_t iss, uint64_t now);

/** Could there be a peer with a cookie at all? Otherwise nobody gets a guess. */
bool tcp_cookies_about(const struct tcp_cookies *k, uint64_t now);

/** @return the timestamp, not later than @p tsval, that carries @p o. */
uint32_t tcp_cookie_stamp(uint32_t tsval, const struct tcp_cookie_options *o);

/**
 * Read the options back from an echoed timestamp.
 * @param tsval what we would stamp now.
 * @return false: we cannot have sent @p tsecr while the cookie was good.
 */
bool tcp_cookie_unstamp(uint32_t tsecr, uint32_t tsval, struct tcp_cookie_options *o);

#endif
