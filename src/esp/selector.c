/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/selector.h"

bool esp_selector_has_addresses(
	const struct esp_selector *s, const struct ip_addr *src, const struct ip_addr *dst)
{
	return ip_addr_in_prefix(src, &s->src, s->src_len) &&
	       ip_addr_in_prefix(dst, &s->dst, s->dst_len);
}

bool esp_selector_has(const struct esp_selector *s, const struct ip_flow *f)
{
	return (s->proto == 0 || s->proto == f->proto) &&
	       (s->src_port == 0 || s->src_port == f->src_port) &&
	       (s->dst_port == 0 || s->dst_port == f->dst_port) &&
	       esp_selector_has_addresses(s, &f->src, &f->dst);
}
