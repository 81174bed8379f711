/* SPDX-License-Identifier: BSD-2-Clause */
#include "iwpm/hosts.h"

#define HOSTS_KEEP_NS UINT64_C(60000000000)

static unsigned iwpm_hosts_place(const struct iwpm_hosts *h, const struct ip_addr *addr)
{
	return (unsigned)(siphash(&h->key, addr, sizeof *addr) % IWPM_HOSTS_MAX);
}

enum iwpm_host_state iwpm_hosts_get(
	const struct iwpm_hosts *h, const struct ip_addr *addr, uint64_t now)
{
	const struct iwpm_host *e = &h->host[iwpm_hosts_place(h, addr)];

	return ip_addr_equal(&e->addr, addr) && now < e->until ? e->state : IWPM_HOST_UNKNOWN;
}

void iwpm_hosts_set(
	struct iwpm_hosts *h, const struct ip_addr *addr, enum iwpm_host_state state, uint64_t now)
{
	h->host[iwpm_hosts_place(h, addr)] =
		(struct iwpm_host){.addr = *addr, .state = state, .until = now + HOSTS_KEEP_NS};
}
