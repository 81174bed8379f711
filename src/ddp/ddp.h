/* SPDX-License-Identifier: BSD-2-Clause */
/** @file ddp.h DDP (RFC 5041): segmentation, headers, tagged and untagged placement. */
#ifndef DDP_DDP_H
#define DDP_DDP_H
#include <stdint.h>
struct ddp {
	uint32_t placeholder;
};
#endif
