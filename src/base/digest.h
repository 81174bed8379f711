/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file digest.h
 * What goes over payload on its way, in one pass: CRC32c (RFC 3720 section 12.1, for MPA's FPDUs),
 * the Internet checksum (RFC 1071, for TCP), and the copy out of the program's memory.
 *
 * A digest carries on from piece to piece, wherever the pieces are cut. The kernels are in the
 * digest_*.c, one for each set of instructions; the best that this processor has is taken.
 *
 * Any thread may call these; there is no state but the digest.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is wanted of a pass. */
enum digest_what { DIGEST_CRC = 1, DIGEST_SUM = 2, DIGEST_BOTH = DIGEST_CRC | DIGEST_SUM };

/** Of some bytes, in order, so far. What is not wanted is not touched. */
struct digest {
	uint32_t crc; /**< as it begins with DIGEST_CRC_START; complement it at the end */
	bool odd;     /**< an odd number of bytes was summed: the next one ends a word */
	uint64_t sum; /**< 16-bit words in memory order, unfolded; digest_fold() */
};

#define DIGEST_CRC_START UINT32_C(0xffffffff)

/** A sum of 16-bit words, folded to one (RFC 1071 section 1); 0 only if all were 0. */
static inline uint16_t digest_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/** @p sum of bytes that begin at an odd place: their words lie across (RFC 1071 section 2(B)). */
static inline uint64_t digest_shift(uint64_t sum, bool odd)
{
	return odd ? __builtin_bswap16(digest_fold(sum)) : sum;
}

/** Take @p len bytes more, read once. */
void digest_add(struct digest *d, enum digest_what what, const void *bytes, size_t len);

/**
 * The same, and copy them out of the program's memory, by the rule of guarded.h. The digest is of
 * what was copied, even if the program writes meanwhile. The places do not overlap.
 * @return false: @p from is not there; any part may have been copied, and @p d is of no use.
 */
bool digest_copy_from(
	struct digest *d, enum digest_what what, void *to, const void *from, size_t len);

#endif
