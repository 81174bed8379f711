/* SPDX-License-Identifier: BSD-2-Clause */
/** @file selector.h Which packets a policy or an SA is for (RFC 4301 section 4.4.1.1). Pure. */
#ifndef ESP_SELECTOR_H
#define ESP_SELECTOR_H

#include "ip/ipsec.h"

struct esp_selector {
	struct ip_addr src, dst;     /**< of one family */
	unsigned src_len, dst_len;   /**< of the prefixes, in the family's own bits */
	uint8_t proto;               /**< 0: any */
	uint16_t src_port, dst_port; /**< 0: any */
};

/** Is the prefix one address? */
static inline bool esp_prefix_is_host(const struct ip_addr *a, unsigned len)
{
	return len == (ip_addr_is_v4(a) ? 32U : 128U);
}

/** Is the packet one of those? */
bool esp_selector_has(const struct esp_selector *s, const struct ip_flow *f);

/** The same, but by addresses alone. */
bool esp_selector_has_addresses(
	const struct esp_selector *s, const struct ip_addr *src, const struct ip_addr *dst);

#endif
