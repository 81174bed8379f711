/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file plain_sum.h The Internet checksum byte by byte (RFC 1071), independent of the stack's code.
 */
#ifndef TESTS_SUPPORT_PLAIN_SUM_H
#define TESTS_SUPPORT_PLAIN_SUM_H

#include "base/bytes.h"

#include <stddef.h>

/** Add @p len bytes to @p sum, a sum of 16-bit words in the host's order; folded to 16 bits. */
static inline uint32_t plain_sum(const uint8_t *p, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/** Write the checksum of a TCP, UDP, ICMP or ICMPv6 header, unless that is cut off before it. */
static inline void plain_sum_fix_l4(uint8_t *l4, size_t len, uint8_t proto, uint32_t pseudo)
{
	size_t at = proto == 6 ? 16 : proto == 17 ? 6 : 2;

	if (len < at + 2)
		return;
	store_be16(l4 + at, 0);
	store_be16(l4 + at, (uint16_t)~plain_sum(l4, len, pseudo));
}

#endif
