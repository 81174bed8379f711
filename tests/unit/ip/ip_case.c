/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip_case.h"

#include "ip/stack.h"

void ip_case_path(struct host *h, struct ip_path *p, const char *dst)
{
	struct ip_addr d = host_addr(dst), src;

	memset(p, 0, sizeof *p);
	assert_int_equal(ip_source(h->ip, &d, &src), 0);
	assert_int_equal(ip_path_init(h->ip, p, &src, &d, h->now), 0);
}

int ip_case_send(struct host *h, struct ip_path *p)
{
	return ip_send(h->ip, p, IP_PROTO_TCP, host_segment(h, 20), h->now);
}
