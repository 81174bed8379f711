/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/guid.h"

#include "base/siphash.h"

#include <string.h>

/* In the first octet of a modified EUI-64, where a universal identifier has the first bit set. */
#define UNIVERSAL 2
#define GROUP     1

static uint64_t guid_from_mac(const uint8_t mac[6])
{
	const uint8_t b[8] = {
		mac[0] ^ UNIVERSAL, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
	uint64_t guid;

	memcpy(&guid, b, sizeof guid);
	return guid;
}

static uint64_t guid_from_address(const struct ip_addr *a)
{
	/* No secret: every run must come to the same. */
	static const struct siphash_key key = {{0x756977617270, 5040}};
	uint64_t hash = siphash(&key, a->b, sizeof a->b);
	uint8_t b[8];

	for (unsigned i = 0; i < sizeof b; i++)
		b[i] = (uint8_t)(hash >> 8 * i);
	b[0] &= (uint8_t) ~(UNIVERSAL | GROUP);
	/* Never 0, and never the form that a MAC address has. */
	b[3] = 0xfe;
	memcpy(&hash, b, sizeof hash);
	return hash;
}

uint64_t guid_from_config(const struct config *c)
{
	static const uint8_t none[6];

	return memcmp(c->mac, none, sizeof none) != 0 ? guid_from_mac(c->mac)
						      : guid_from_address(&c->address[0].addr);
}
