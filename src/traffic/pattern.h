/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pattern.h
 * What test traffic consists of: bytes that follow from a seed and from their place in the stream,
 * so that a receiver can check each without having seen those before it. Byte i is
 * splitmix64(seed + (i mod 65,521 + 1) * 0x9e3779b97f4a7c15) >> 56: the period is a prime, so no
 * shift by a number of segments or records goes unseen.
 */
#ifndef TRAFFIC_PATTERN_H
#define TRAFFIC_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define TRAFFIC_PATTERN_PERIOD 65521

/** Never changes once it is made; any number of streams may share it. */
struct traffic_pattern {
	uint8_t bytes[TRAFFIC_PATTERN_PERIOD];
};

void traffic_pattern_init(struct traffic_pattern *p, uint64_t seed);

/** Write the bytes at @p at ... @p at + @p len of the stream. */
void traffic_pattern_fill(const struct traffic_pattern *p, uint64_t at, void *to, size_t len);

/** @return how many bytes from the front of @p got are as they should be: @p len if all are. */
size_t traffic_pattern_match(
	const struct traffic_pattern *p, uint64_t at, const void *got, size_t len);

#endif
