/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/ports.h"

#include <errno.h>
#include <stdlib.h>

/** [::] stands for both families, unless it is told not to; 0.0.0.0 for IPv4 alone (llp.h). */
static bool tcp_ports_covers(const struct ip_addr *wild, unsigned flags, const struct ip_addr *a)
{
	static const struct ip_addr any6;

	if (ip_addr_equal(wild, &any6))
		return !(flags & LLP_PORT_V6ONLY) || !ip_addr_is_v4(a);
	return ip_addr_is_any(wild) && ip_addr_is_v4(a);
}

bool tcp_endpoint_overlaps(const struct ip_endpoint *a, unsigned a_flags,
	const struct ip_endpoint *b, unsigned b_flags)
{
	return a->port == b->port && (ip_addr_equal(&a->addr, &b->addr) ||
					     tcp_ports_covers(&a->addr, a_flags, &b->addr) ||
					     tcp_ports_covers(&b->addr, b_flags, &a->addr));
}

bool tcp_ports_reserved(const struct tcp_ports *p, const struct ip_endpoint *local, unsigned flags)
{
	for (const struct tcp_port_reservation *r = p->reserved; r; r = r->next)
		if (!(flags & r->flags & LLP_PORT_REUSE) &&
			tcp_endpoint_overlaps(&r->local, r->flags, local, flags))
			return true;
	return false;
}

int tcp_ports_reserve(struct tcp_ports *p, const struct ip_endpoint *local, unsigned flags)
{
	struct tcp_port_reservation *r;

	if (tcp_ports_reserved(p, local, flags))
		return -EADDRINUSE;
	r = malloc(sizeof *r);
	if (!r)
		return -ENOMEM;
	*r = (struct tcp_port_reservation){p->reserved, *local, flags};
	p->reserved = r;
	return 0;
}

static bool tcp_ports_is_at(const struct tcp_port_reservation *r, const struct ip_endpoint *local)
{
	return r->local.port == local->port && ip_addr_equal(&r->local.addr, &local->addr);
}

int tcp_ports_listen(struct tcp_ports *p, const struct ip_endpoint *local, unsigned *flags)
{
	struct tcp_port_reservation *own = p->reserved;

	*flags = 0;
	while (own && !tcp_ports_is_at(own, local))
		own = own->next;
	if (!own)
		return 0;
	for (const struct tcp_port_reservation *r = p->reserved; r; r = r->next)
		if (r != own && tcp_endpoint_overlaps(&r->local, r->flags, local, own->flags))
			return -EADDRINUSE;
	own->flags &= ~(unsigned)LLP_PORT_REUSE;
	*flags = own->flags;
	return 0;
}

void tcp_ports_release(struct tcp_ports *p, const struct ip_endpoint *local)
{
	for (struct tcp_port_reservation **r = &p->reserved; *r; r = &(*r)->next) {
		if (tcp_ports_is_at(*r, local)) {
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
