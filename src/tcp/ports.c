/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ports.h"

#include <errno.h>
#include <stdlib.h>

bool tcp_endpoint_overlaps(const struct ip_endpoint *a, const struct ip_endpoint *b)
{
	static const struct ip_addr any6;

	if (a->port != b->port)
		return false;
	if (ip_addr_equal(&a->addr, &b->addr))
		return true;
	/* [::] stands for both families, 0.0.0.0 for IPv4 alone (llp.h). */
	if (ip_addr_equal(&a->addr, &any6) || ip_addr_equal(&b->addr, &any6))
		return true;
	return ip_addr_is_v4(&a->addr) && ip_addr_is_v4(&b->addr) &&
	       (ip_addr_is_any(&a->addr) || ip_addr_is_any(&b->addr));
}

bool tcp_ports_reserved(const struct tcp_ports *p, const struct ip_endpoint *local, bool reuse)
{
	for (const struct tcp_port_reservation *r = p->reserved; r; r = r->next)
		if (tcp_endpoint_overlaps(&r->local, local) && !(reuse && r->reuse))
			return true;
	return false;
}

int tcp_ports_reserve(struct tcp_ports *p, const struct ip_endpoint *local, bool reuse)
{
	struct tcp_port_reservation *r;

	if (tcp_ports_reserved(p, local, reuse))
		return -EADDRINUSE;
	r = malloc(sizeof *r);
	if (!r)
		return -ENOMEM;
	*r = (struct tcp_port_reservation){p->reserved, *local, reuse};
	p->reserved = r;
	return 0;
}

void tcp_ports_release(struct tcp_ports *p, const struct ip_endpoint *local)
{
	for (struct tcp_port_reservation **r = &p->reserved; *r; r = &(*r)->next) {
		if ((*r)->local.port == local->port &&
			ip_addr_equal(&(*r)->local.addr, &local->addr)) {
			struct tcp_port_reservation *gone = *r;

			*r = gone->next;
			free(gone);
			return;
		}
	}
}

void tcp_ports_fini(struct tcp_ports *p)
{
	while (p->reserved) {
		struct tcp_port_reservation *r = p->reserved;

		p->reserved = r->next;
		free(r);
	}
}

uint16_t tcp_ports_ephemeral(struct tcp_ports *p, const struct siphash_key *key,
	const struct ip_addr *local, const struct ip_endpoint *remote,
	bool (*free_fn)(void *ctx, uint16_t port), void *ctx)
{
	uint8_t input[34];
	uint32_t offset;

	memcpy(input, local->b, 16);
	memcpy(input + 16, remote->addr.b, 16);
	memcpy(input + 32, &remote->port, 2);
	offset = (uint32_t)siphash(key, input, sizeof input);
	for (unsigned i = 0; i < TCP_PORT_COUNT; i++) {
		uint16_t port =
			(uint16_t)(TCP_PORT_FIRST + (offset + p->counter++) % TCP_PORT_COUNT);

		if (free_fn(ctx, port))
			return port;
	}
	return 0;
}
