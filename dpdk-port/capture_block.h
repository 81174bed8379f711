/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capture_block.h
 * The blocks of a pcapng file (draft-ietf-opsawg-pcapng), in the host's byte order, which the
 * format allows. Each function writes a block at @p b and returns its length.
 */
#ifndef DPDK_PORT_CAPTURE_BLOCK_H
#define DPDK_PORT_CAPTURE_BLOCK_H

#include "dpdk-port/capture.h"

#include <stddef.h>

#define CAPTURE_HEAD_MAX       256
#define CAPTURE_STATISTICS_LEN 40

/** Section header of program @p app, and the only interface, with time stamps in nanoseconds. */
size_t capture_head(uint8_t b[CAPTURE_HEAD_MAX], const char *app, const char *ifname);

/** Length of the block for a frame of @p frame_len bytes. */
static inline uint32_t capture_packet_len(uint32_t frame_len)
{
	return 28 + (frame_len + 3) / 4 * 4 + 12 + 4;
}

/**
 * Enhanced packet block of @p m, capture_packet_len() bytes, its offloaded checksums filled in.
 * @param when ns since 1970.
 */
void capture_packet_block(
	uint8_t *b, const struct rte_mbuf *m, enum capture_direction dir, uint64_t when);

/** Interface statistics block: how many frames are missing. */
size_t capture_statistics(uint8_t b[CAPTURE_STATISTICS_LEN], uint64_t when, uint64_t dropped);

#endif
