/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file cksum.h
 * The Internet checksum (RFC 1071), the only implementation in the stack. Sums are unfolded and
 * made of 16-bit words in memory order. The ones' complement sum is independent of the byte order
 * (RFC 1071 section 2(B)), so neither words nor the result are swapped.
 */
#ifndef IP_CKSUM_H
#define IP_CKSUM_H

#include "base/cksum_plain.h"

struct rte_mbuf;

/** The sum of @p len bytes. If @p len is odd, a zero byte is added. */
uint64_t cksum_bytes(const void *data, size_t len);

/** The sum of the bytes of a chain from @p off to its end. */
uint64_t cksum_mbuf(const struct rte_mbuf *m, uint32_t off);

#endif
