/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/net_ud_group.h"

#include "host/config_kernel.h"
#include "sock/address.h"
#include "ud/datagram.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

/* ---- addresses ----------------------------------------------------------------------------- */

static bool net_ud_group_is_of(const struct ip_addr *group, const struct ip_addr *a)
{
	return ip_addr_is_v4(group) == ip_addr_is_v4(a);
}

/** The first address of the group's family: those of the loopback interface are the last ones. */
static int net_ud_group_first_source(
	const struct net *n, const struct ip_addr *group, struct ip_addr *local)
{
	for (unsigned i = 0; i < n->config.num_addresses; i++)
		if (net_ud_group_is_of(group, &n->config.address[i].addr)) {
			*local = n->config.address[i].addr;
			return 0;
		}
	return -ENETUNREACH;
}

/* ---- over a port of our own ---------------------------------------------------------------- */

int net_ud_group_join(void *ctx, const struct ip_addr *group, const struct ip_addr *local)
{
	struct net *n = ctx;
	const struct udp_user u = {
		.datagram = net_ud_own_input, .groups = true, .max = UD_DATAGRAM_MAX, .ctx = n};
	struct ip_addr any;
	int rc = net_ud_group_first_source(n, group, &any) ? -EADDRNOTAVAIL : 0;

	if (!rc && !n->ud_groups.open)
		rc = udp_open(n->ip, n->ud_groups.port, &u);
	if (rc)
		return rc;
	n->ud_groups.open = true;
	return ip_group_join(n->ip, group, n->engine.now);
}

void net_ud_group_leave(void *ctx, const struct ip_addr *group, const struct ip_addr *local)
{
	struct net *n = ctx;

	ip_group_leave(n->ip, group, n->engine.now);
}

int net_ud_group_source(void *ctx, const struct ip_addr *group, struct ip_addr *local)
{
	return net_ud_group_first_source(ctx, group, local);
}

/* ---- over the kernel's: interfaces --------------------------------------------------------- */

struct net_ud_membership {
	LIST_ENTRY(net_ud_membership) link;
	struct ip_addr group;
	unsigned interface;
	unsigned users; /**< 0: it is to be left */
	bool entered;   /**< the host knows */
	int refused;    /**< negative: the host did so when it was told last */
};

void net_ud_group_look(struct net *n)
{
	unsigned interface[CONFIG_MAX_ADDRESSES] = {0};
	char name[IF_NAMESIZE];

	for (unsigned i = 0; i < n->config.num_addresses; i++)
		if (config_kernel_interface(&n->config.address[i].addr, name))
			interface[i] = if_nametoindex(name);
	engine_lock(&n->engine);
	/* Those are left where they were joined. */
	if (LIST_EMPTY(&n->ud_groups.memberships))
		memcpy(n->ud_groups.interface, interface, sizeof interface);
	engine_unlock(&n->engine);
}

unsigned net_ud_group_interface(const struct net *n, const struct ud_path *path)
{
	if (!ip_addr_is_multicast(&path->remote))
		return 0;
	for (unsigned i = 0; i < n->config.num_addresses; i++)
		if (ip_addr_equal(&n->config.address[i].addr, &path->local))
			return n->ud_groups.interface[i];
	return ip_addr_scope(&path->local);
}

/** The host's own way to the group, if it is by an address of ours. */
int net_ud_group_source_kernel(void *ctx, const struct ip_addr *group, struct ip_addr *local)
{
	struct ip_addr a;

	if (sock_address_source(group, &a) == 0 && net_ud_has_gid(ctx, &a)) {
		*local = a;
		return 0;
	}
	return net_ud_group_first_source(ctx, group, local);
}

/* ---- over the kernel's: memberships -------------------------------------------------------- */

static struct net_ud_membership *net_ud_group_find(
	struct net *n, const struct ip_addr *group, unsigned interface)
{
	struct net_ud_membership *m;

	LIST_FOREACH (m, &n->ud_groups.memberships, link)
		if (m->interface == interface && ip_addr_equal(&m->group, group))
			return m;
	return NULL;
}

static int net_ud_group_enter(struct net *n, const struct ip_addr *group, unsigned interface)
{
	struct net_ud_membership *m = net_ud_group_find(n, group, interface);

	if (!m) {
		m = calloc(1, sizeof *m);
		if (!m)
			return -ENOMEM;
		m->group = *group;
		m->interface = interface;
		LIST_INSERT_HEAD(&n->ud_groups.memberships, m, link);
	}
	m->users++;
	return 0;
}

static void net_ud_group_exit(struct net *n, const struct ip_addr *group, unsigned interface)
{
	struct net_ud_membership *m = net_ud_group_find(n, group, interface);

	if (m && m->users != 0)
		m->users--;
}

/** The i-th address has a link that @p local stands for, and no address before it has it. */
static bool net_ud_group_is_link(
	const struct net *n, unsigned i, const struct ip_addr *group, const struct ip_addr *local)
{
	const struct ip_addr *a = &n->config.address[i].addr;
	unsigned interface = n->ud_groups.interface[i];

	if (interface == 0 || !net_ud_group_is_of(group, a))
		return false;
	if (!ip_addr_is_any(local))
		return ip_addr_equal(a, local);
	for (unsigned k = 0; k < i; k++)
		if (n->ud_groups.interface[k] == interface &&
			net_ud_group_is_of(group, &n->config.address[k].addr))
			return false;
	return true;
}

static void net_ud_group_exit_first(
	struct net *n, const struct ip_addr *group, const struct ip_addr *local, unsigned addresses)
{
	for (unsigned i = 0; i < addresses; i++)
		if (net_ud_group_is_link(n, i, group, local))
			net_ud_group_exit(n, group, n->ud_groups.interface[i]);
}

static int net_ud_group_enter_all(
	struct net *n, const struct ip_addr *group, const struct ip_addr *local)
{
	int rc = -EADDRNOTAVAIL;

	for (unsigned i = 0; i < n->config.num_addresses; i++) {
		if (!net_ud_group_is_link(n, i, group, local))
			continue;
		rc = net_ud_group_enter(n, group, n->ud_groups.interface[i]);
		if (rc) {
			net_ud_group_exit_first(n, group, local, i);
			return rc;
		}
	}
	return rc;
}

int net_ud_group_join_kernel(void *ctx, const struct ip_addr *group, const struct ip_addr *local)
{
	struct net *n = ctx;
	int rc = 0;

	if (!n->ud_groups.socket)
		rc = sock_datagrams_open_shared(n->sock, n->ud_groups.port, UD_DATAGRAM_MAX,
			net_ud_kernel_input, n, &n->ud_groups.socket);
	return rc ? rc : net_ud_group_enter_all(n, group, local);
}

void net_ud_group_leave_kernel(void *ctx, const struct ip_addr *group, const struct ip_addr *local)
{
	struct net *n = ctx;

	net_ud_group_exit_first(n, group, local, n->config.num_addresses);
}

/* ---- over the kernel's: what the host is told ---------------------------------------------- */

static struct net_ud_membership *net_ud_group_unsettled(struct net *n)
{
	struct net_ud_membership *m;

	LIST_FOREACH (m, &n->ud_groups.memberships, link)
		if (m->users == 0 || (!m->entered && !m->refused))
			return m;
	return NULL;
}

/** Whoever joined it may be gone, and have nobody to tell. */
static void net_ud_group_log(struct net *n, const struct net_ud_membership *m, int error)
{
	char group[IP_ADDR_STRLEN], name[IF_NAMESIZE];

	log_printf(&n->log.sink, LOG_LEVEL_WARNING,
		"the host does not let us join the group %s on %s: %s",
		ip_addr_format(&m->group, group),
		if_indextoname(m->interface, name) ? name : "an interface that is gone",
		strerror(-error));
}

/** Enter or leave. Both wait for who configures any interface of the host: the engine goes on. */
static void net_ud_group_tell(struct net *n, struct net_ud_membership *m)
{
	bool enter = m->users != 0;
	int rc = 0;

	engine_unlock(&n->engine);
	if (enter)
		rc = sock_datagrams_join(n->ud_groups.socket, &m->group, m->interface);
	else
		sock_datagrams_leave(n->ud_groups.socket, &m->group, m->interface);
	if (rc)
		net_ud_group_log(n, m, rc);
	engine_lock(&n->engine);
	n->ud.groups_refused += rc != 0;
	m->entered = enter && !rc;
	m->refused = rc;
}

static void net_ud_group_settle_one(struct net *n, struct net_ud_membership *m)
{
	if (m->users != 0 || m->entered) {
		net_ud_group_tell(n, m);
		return;
	}
	LIST_REMOVE(m, link);
	free(m);
}

/** What the host said of @p group. @param again it is to be asked again. */
static int net_ud_group_refused(
	struct net *n, const struct ip_addr *group, const struct ip_addr *local, bool again)
{
	int rc = 0;

	for (unsigned i = 0; i < n->config.num_addresses; i++) {
		struct net_ud_membership *m =
			net_ud_group_is_link(n, i, group, local)
				? net_ud_group_find(n, group, n->ud_groups.interface[i])
				: NULL;

		if (m && m->refused)
			rc = m->refused;
		if (m && again)
			m->refused = 0;
	}
	return rc;
}

/**
 * One settles at a time, and until nothing is left to do. It gives its turn back under the engine's
 * lock, so who finds it taken there knows that all will be done.
 * @return false: it is taken, and no answer is waited for.
 */
static bool net_ud_group_begin(struct net *n, bool answer)
{
	if (answer)
		pthread_mutex_lock(&n->ud_groups.settling);
	engine_lock(&n->engine);
	if (answer || pthread_mutex_trylock(&n->ud_groups.settling) == 0)
		return true;
	engine_unlock(&n->engine);
	return false;
}

int net_ud_group_settle(void *ctx, const struct ip_addr *group, const struct ip_addr *local)
{
	struct net *n = ctx;
	struct net_ud_membership *m;
	int rc = 0;

	if (!net_ud_group_begin(n, group != NULL))
		return 0;
	if (group)
		(void)net_ud_group_refused(n, group, local, true);
	while ((m = net_ud_group_unsettled(n)))
		net_ud_group_settle_one(n, m);
	if (group)
		rc = net_ud_group_refused(n, group, local, false);
	pthread_mutex_unlock(&n->ud_groups.settling);
	engine_unlock(&n->engine);
	return rc;
}

/* ---- both ---------------------------------------------------------------------------------- */

void net_ud_group_close(struct net *n)
{
	struct net_ud_groups *g = &n->ud_groups;

	while (!LIST_EMPTY(&g->memberships)) {
		struct net_ud_membership *m = LIST_FIRST(&g->memberships);

		LIST_REMOVE(m, link);
		free(m);
	}
	/* The host leaves the groups of a socket that is closed. */
	sock_datagrams_close(g->socket);
	g->socket = NULL;
	if (g->open)
		udp_close(n->ip, g->port);
	g->open = false;
}
