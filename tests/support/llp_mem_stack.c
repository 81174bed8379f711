/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/llp_mem_priv.h"

#include <errno.h>

static struct host *host_of(struct llp_stack *s)
{
	return container_of(s, struct host, stack);
}

static bool mem_is_local(struct llp_stack *s, const struct ip_addr *a)
{
	return ip_addr_equal(&host_of(s)->addr, a);
}

static int mem_source(struct llp_stack *s, const struct ip_addr *remote, struct ip_addr *local)
{
	if (llp_mem_host_by_addr(host_of(s)->m, remote) == NULL)
		return -ENETUNREACH;
	*local = host_of(s)->addr;
	return 0;
}

static int mem_reach(struct llp_stack *s, const struct ip_addr *remote)
{
	const struct host *h = llp_mem_host_by_addr(host_of(s)->m, remote);

	if (h == NULL)
		return -ENETUNREACH;
	return h->silent ? -EAGAIN : 0;
}

static bool pair_exists(
	struct llp_mem *m, const struct ip_endpoint *local, const struct ip_endpoint *remote)
{
	for (struct mem_conn *c = m->conns; c != NULL; c = c->next) {
		if (c->end[0].handle != NULL && local->port == c->end[0].local.port &&
			remote->port == c->end[0].remote.port &&
			ip_addr_equal(&local->addr, &c->end[0].local.addr) &&
			ip_addr_equal(&remote->addr, &c->end[0].remote.addr))
			return true;
	}
	return false;
}

static int mem_connect(struct llp_stack *s, const struct llp_connect_params *p,
	const struct llp_user_ops *ops, void *user, struct llp **out)
{
	struct host *h = host_of(s);
	struct ip_endpoint local = p->local;
	struct mem_conn *c;

	if (llp_mem_host_by_addr(h->m, &p->remote.addr) == NULL)
		return -ENETUNREACH;
	if (is_any(&local.addr))
		local.addr = h->addr;
	else if (!mem_is_local(s, &local.addr))
		return -EADDRNOTAVAIL;
	if (local.port == 0)
		local.port = h->next_port++;
	if (pair_exists(h->m, &local, &p->remote))
		return -EADDRINUSE;
	c = llp_mem_conn(h->m);
	c->end[0].local = c->end[1].remote = local;
	c->end[0].remote = c->end[1].local = p->remote;
	c->end[0].tos = p->tos;
	*out = llp_mem_handle(&c->end[0]);
	llp_set_user(*out, ops, user);
	return 0;
}

static int mem_listen(struct llp_stack *s, const struct ip_endpoint *local, unsigned backlog,
	llp_accept_fn *accept, void *user, struct llp_listener **out)
{
	struct host *h = host_of(s);
	struct llp_listener *l;

	if (!is_any(&local->addr) && !mem_is_local(s, &local->addr))
		return -EADDRNOTAVAIL;
	for (l = h->listeners; l != NULL; l = l->next) {
		if (l->local.port == local->port && ip_addr_equal(&l->local.addr, &local->addr))
			return -EADDRINUSE;
	}
	l = must(calloc(1, sizeof *l));
	*l = (struct llp_listener){.next = h->listeners, .host = h, .local = *local};
	for (struct reservation *r = h->reservations; r != NULL; r = r->next) {
		if (r->local.port == local->port && ip_addr_equal(&r->local.addr, &local->addr))
			l->flags = r->flags;
	}
	l->accept = accept;
	l->user = user;
	h->listeners = l;
	*out = l;
	return 0;
}

static void mem_unlisten(struct llp_listener *l)
{
	struct llp_listener **at = &l->host->listeners;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	free(l);
}

static int mem_port_reserve(struct llp_stack *s, struct ip_endpoint *local, unsigned flags)
{
	struct host *h = host_of(s);
	struct reservation *r;

	if (!is_any(&local->addr) && !mem_is_local(s, &local->addr))
		return -EADDRNOTAVAIL;
	if (local->port == 0)
		local->port = h->next_port++;
	for (r = h->reservations; r != NULL; r = r->next) {
		if (r->local.port == local->port && !(flags & r->flags & LLP_PORT_REUSE))
			return -EADDRINUSE;
	}
	for (struct llp_listener *l = h->listeners; l != NULL; l = l->next) {
		if (l->local.port == local->port && !(flags & LLP_PORT_REUSE))
			return -EADDRINUSE;
	}
	r = must(calloc(1, sizeof *r));
	*r = (struct reservation){.next = h->reservations, .local = *local, .flags = flags};
	h->reservations = r;
	return 0;
}

static void mem_port_release(struct llp_stack *s, const struct ip_endpoint *local)
{
	for (struct reservation **at = &host_of(s)->reservations; *at != NULL; at = &(*at)->next) {
		struct reservation *r = *at;

		if (r->local.port != local->port || !ip_addr_equal(&r->local.addr, &local->addr))
			continue;
		*at = r->next;
		free(r);
		return;
	}
}

static uint16_t mem_port_choose(
	struct llp_stack *s, const struct ip_addr *local, const struct ip_endpoint *remote)
{
	return host_of(s)->next_port++;
}

/* An allocation each, so that one that is used after its end is seen. */
static struct llp_memory *mem_memory_add(struct llp_stack *s, void *addr, size_t len)
{
	if (!host_of(s)->m->external)
		return NULL;
	host_of(s)->m->memories++;
	return must(malloc(1));
}

static void mem_memory_remove(struct llp_stack *s, struct llp_memory *memory)
{
	host_of(s)->m->memories--;
	free(memory);
}

const struct llp_stack_ops llp_mem_stack_ops = {
	.connect = mem_connect,
	.listen = mem_listen,
	.unlisten = mem_unlisten,
	.source = mem_source,
	.reach = mem_reach,
	.is_local = mem_is_local,
	.port_reserve = mem_port_reserve,
	.port_release = mem_port_release,
	.port_choose = mem_port_choose,
	.memory_add = mem_memory_add,
	.memory_remove = mem_memory_remove,
};
