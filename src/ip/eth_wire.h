/* SPDX-License-Identifier: BSD-2-Clause */
/** @file eth_wire.h The Ethernet II header: offsets, types, address helpers. */
#ifndef IP_ETH_WIRE_H
#define IP_ETH_WIRE_H

#include "base/bytes.h"

#include <stdbool.h>

enum {
	ETH_DST = 0,
	ETH_SRC = 6,
	ETH_TYPE = 12,
	ETH_LEN = 14,
	ETH_ADDR_LEN = 6,
};

/** IEEE 802.1Q section 9.6: what is behind ETH_TYPE_VLAN, before the type of what follows. */
enum {
	ETH_TAG_TCI = 0,
	ETH_TAG_TYPE = 2,
	ETH_TAG_LEN = 4,
	ETH_TAG_ID_MASK = 0x0fff,
};

enum {
	ETH_TYPE_IPV4 = 0x0800,
	ETH_TYPE_ARP = 0x0806,
	ETH_TYPE_VLAN = 0x8100,
	ETH_TYPE_IPV6 = 0x86dd,
};

/** For printf(): the format of an address, and its arguments. */
#define ETH_ADDR_FORMAT  "%02x:%02x:%02x:%02x:%02x:%02x"
#define ETH_ADDR_ARGS(a) (a)[0], (a)[1], (a)[2], (a)[3], (a)[4], (a)[5]

/** The group bit: multicast and broadcast. */
static inline bool eth_addr_is_group(const uint8_t *mac)
{
	return mac[0] & 1;
}

static inline bool eth_addr_equal(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, ETH_ADDR_LEN) == 0;
}

/** True if this can be the address of one station: not a group, not all zeros. */
static inline bool eth_addr_is_station(const uint8_t *mac)
{
	static const uint8_t zero[ETH_ADDR_LEN];

	return !eth_addr_is_group(mac) && !eth_addr_equal(mac, zero);
}

static inline void eth_store(uint8_t *h, const uint8_t *dst, const uint8_t *src, uint16_t type)
{
	memcpy(h + ETH_DST, dst, ETH_ADDR_LEN);
	memcpy(h + ETH_SRC, src, ETH_ADDR_LEN);
	store_be16(h + ETH_TYPE, type);
}

/** RFC 2464 section 7: 33:33 and the last four bytes of the multicast address. */
static inline void eth_multicast_v6(uint8_t *mac, const uint8_t *v6)
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, v6 + 12, 4);
}

#endif
