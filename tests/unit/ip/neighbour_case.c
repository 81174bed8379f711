/* SPDX-License-Identifier: BSD-2-Clause */
#include "neighbour_case.h"

#include "ip/stack.h"

struct ip_neighbour *neighbour_case_entry(struct host *h)
{
	struct ip_addr a = host_addr("10.0.0.2");

	return neighbour_get(h->ip, &a, h->now);
}

void neighbour_case_send(struct host *h, struct ip_path *p)
{
	host_send(h, p, "10.0.0.1", "10.0.0.2");
}
