/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file crc.h
 * CRC32c as MPA uses it (RFC 5044 section 4.4, after iSCSI, RFC 3720 section 12.1). It starts with
 * all ones, ends with a complement, and its least significant byte comes first in the FPDU.
 */
#ifndef MPA_CRC_H
#define MPA_CRC_H

#include <stddef.h>
#include <stdint.h>

#define MPA_CRC_START UINT32_C(0xffffffff)

/** Add @p len bytes to a CRC that began with MPA_CRC_START. */
uint32_t mpa_crc_add(uint32_t crc, const void *bytes, size_t len);

/** The value for the CRC field (store_le32). */
static inline uint32_t mpa_crc_end(uint32_t crc)
{
	return ~crc;
}

#endif
