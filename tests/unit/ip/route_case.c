/* SPDX-License-Identifier: BSD-2-Clause */
#include "route_case.h"

#include "ip/stack.h"

int route_case_add(struct host *h, const char *prefix, unsigned len, const char *gateway)
{
	struct ip_addr p = host_addr(prefix), g;

	if (gateway)
		g = host_addr(gateway);
	return ip_route_add(h->ip, &p, len, gateway ? &g : NULL);
}

void route_case_expect_hop(struct host *h, const char *dst, const char *hop)
{
	struct ip_addr d = host_addr(dst), got;
	char text[IP_ADDR_STRLEN];

	assert_int_equal(route_next_hop(h->ip, &d, &got), 0);
	assert_string_equal(ip_addr_format(&got, text), hop);
}

void route_case_advertise(struct host *h, unsigned of, unsigned seconds)
{
	struct route r = {
		.prefix = host_addr("::"),
		.has_gateway = true,
		.gateway = host_addr("fe80::"),
		.origin = ROUTE_ADVERTISED,
		.expires = h->now + seconds * SECOND,
	};

	r.gateway.b[15] = (uint8_t)of;
	route_advertise(h->ip, &r, h->now);
}
