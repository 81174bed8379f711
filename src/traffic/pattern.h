/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file pattern.h
 * The contents of test traffic. Each byte follows from a seed and its place in the stream, so a
 * receiver can check it without those before. Byte i is splitmix64(seed + (i mod 65,521 + 1) *
 * 0x9e3779b97f4a7c15) >> 56. The period is a prime, so a shift by any number of segments or records
 * is noticed.
 */
#ifndef TRAFFIC_PATTERN_H
#define TRAFFIC_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define TRAFFIC_PATTERN_PERIOD 65521

/** Constant once it is made. Any number of streams may share it. */
struct traffic_pattern {
	uint8_t bytes[TRAFFIC_PATTERN_PERIOD];
};

void traffic_pattern_init(struct traffic_pattern *p, uint64_t seed);

/** Write the bytes at @p at ... @p at + @p len of the stream. */
void traffic_pattern_fill(const struct traffic_pattern *p, uint64_t at, void *to, size_t len);

/** @return how many bytes from the front of @p got are right: @p len if all are. */
size_t traffic_pattern_match(
	const struct traffic_pattern *p, uint64_t at, const void *got, size_t len);

#endif
