/* SPDX-License-Identifier: BSD-2-Clause */
#include "ip_case.h"

#include "ip/stack.h"

struct host *ip_case_host(void)
{
	struct host *h = host_new_v6();
	struct ip_addr a = host_addr("10.0.0.1");

	assert_int_equal(ip_addr_add(h->ip, &a, 24, h->now), 0);
	host_run(h, 20 * SECOND);
	host_forget(h);
	return h;
}

void ip_case_answer(struct host *h)
{
	struct bytes reply = bytes(IP_CASE_ND_REPLY);

	fix_v6(&reply);
	host_input(h, &reply, 0);
	host_input_hex(h, IP_CASE_ARP_REPLY);
	host_forget(h);
}

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
