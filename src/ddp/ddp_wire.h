/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ddp_wire.h DDP on the wire: RFC 5041 section 4. */
#ifndef DDP_DDP_WIRE_H
#define DDP_DDP_WIRE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* Offsets common to both headers. */
#define DDP_AT_CONTROL 0
#define DDP_AT_ULP     1 /**< RsvdULP, its first octet */

/* Tagged (section 4.2). */
#define DDP_AT_STAG    2
#define DDP_AT_TO      6
#define DDP_TAGGED_LEN 14

/* Untagged (section 4.3). */
#define DDP_AT_ULP32     2 /**< RsvdULP[8:39] */
#define DDP_AT_QN        6
#define DDP_AT_MSN       10
#define DDP_AT_MO        14
#define DDP_UNTAGGED_LEN 18

#define DDP_HEADER_MAX DDP_UNTAGGED_LEN

/* The control field (section 4.1). */
#define DDP_CONTROL_TAGGED   0x80
#define DDP_CONTROL_LAST     0x40
#define DDP_CONTROL_RESERVED 0x3c
#define DDP_CONTROL_VERSION  0x03
#define DDP_VERSION          1

/** Write a tagged header of DDP_TAGGED_LEN bytes. */
static inline void ddp_put_tagged(uint8_t *p, bool last, uint8_t ulp, uint32_t stag, uint64_t to)
{
	p[DDP_AT_CONTROL] = DDP_CONTROL_TAGGED | (last ? DDP_CONTROL_LAST : 0) | DDP_VERSION;
	p[DDP_AT_ULP] = ulp;
	store_be32(p + DDP_AT_STAG, stag);
	store_be64(p + DDP_AT_TO, to);
}

/** Write an untagged header of DDP_UNTAGGED_LEN bytes. */
static inline void ddp_put_untagged(
	uint8_t *p, bool last, uint8_t ulp, uint32_t ulp32, uint32_t qn, uint32_t msn, uint32_t mo)
{
	p[DDP_AT_CONTROL] = (last ? DDP_CONTROL_LAST : 0) | DDP_VERSION;
	p[DDP_AT_ULP] = ulp;
	store_be32(p + DDP_AT_ULP32, ulp32);
	store_be32(p + DDP_AT_QN, qn);
	store_be32(p + DDP_AT_MSN, msn);
	store_be32(p + DDP_AT_MO, mo);
}

#endif
