/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/pattern.h"

#include <string.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/** Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014), mix64variant13. */
static uint64_t pattern_splitmix64(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void traffic_pattern_init(struct traffic_pattern *p, uint64_t seed)
{
	for (uint64_t i = 0; i < TRAFFIC_PATTERN_PERIOD; i++)
		p->bytes[i] = (uint8_t)(pattern_splitmix64(seed + (i + 1) * GOLDEN) >> 56);
}

/** The longest piece that lies in one period, from @p at on. */
static size_t pattern_piece(
	uint64_t at, size_t len, const struct traffic_pattern *p, const uint8_t **from)
{
	size_t offset = at % TRAFFIC_PATTERN_PERIOD;
	size_t rest = TRAFFIC_PATTERN_PERIOD - offset;

	*from = p->bytes + offset;
	return len < rest ? len : rest;
}

void traffic_pattern_fill(const struct traffic_pattern *p, uint64_t at, void *to, size_t len)
{
	uint8_t *out = to;
	const uint8_t *from;

	while (len) {
		size_t n = pattern_piece(at, len, p, &from);

		memcpy(out, from, n);
		out += n;
		at += n;
		len -= n;
	}
}

size_t traffic_pattern_match(
	const struct traffic_pattern *p, uint64_t at, const void *got, size_t len)
{
	const uint8_t *in = got;
	const uint8_t *from;
	size_t done = 0;

	while (done < len) {
		size_t n = pattern_piece(at + done, len - done, p, &from);

		if (memcmp(in + done, from, n) != 0) {
			while (in[done] == *from++)
				done++;
			return done;
		}
		done += n;
	}
	return len;
}
