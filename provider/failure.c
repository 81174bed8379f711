/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/failure.h"

#include "dpdk-port/memif.h"
#include "ip/ip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/** The way to a peer, as IP knows it. */
struct failure_hop {
	struct ip_addr addr;
	bool found, answers;
};

static void failure_see_hop(
	void *ctx, const struct ip_addr *a, const uint8_t mac[6], const char *state)
{
	struct failure_hop *h = ctx;

	if (!ip_addr_equal(a, &h->addr))
		return;
	h->found = true;
	h->answers = strcmp(state, "REACHABLE") == 0 || strcmp(state, "STALE") == 0 ||
		     strcmp(state, "DELAY") == 0 || strcmp(state, "PROBE") == 0;
}

static void failure_of_memif(const struct net *n, char text[FAILURE_MAX])
{
	char socket[160];

	switch (memif_why_absent(net_config(n)->port, socket, sizeof socket)) {
	case MEMIF_NO_CLIENT:
		snprintf(text, FAILURE_MAX,
			"no other process has come to the memif socket %s, where this one is the "
			"server: the other end needs role=client",
			socket);
		break;
	case MEMIF_NO_SERVER:
		snprintf(text, FAILURE_MAX,
			"nobody listens at the memif socket %s: one end, started first, needs "
			"role=server, and this one has role=client",
			socket);
		break;
	case MEMIF_TAKEN:
		snprintf(text, FAILURE_MAX,
			"the process at the memif socket %s does not take this one: a memif joins "
			"two, and it has its other end; give each pair a socket of its own",
			socket);
		break;
	}
}

static void failure_of_link(const struct net *n, char text[FAILURE_MAX])
{
	if (memif_is_named(net_config(n)->port))
		failure_of_memif(n, text);
	else
		snprintf(text, FAILURE_MAX, "the link of port %.200s is down", net_config(n)->port);
}

/** @return false: there is one, and @p hop is the next on it. */
static bool failure_of_route(
	struct net *n, const struct ip_addr *to, struct ip_addr *hop, char text[FAILURE_MAX])
{
	char peer[IP_ADDR_STRLEN];

	if (ip_next_hop(net_ip(n), to, hop) >= 0)
		return false;
	snprintf(text, FAILURE_MAX,
		"there is no route to %s: it is in the network of no \"address\", and no "
		"\"gateway\" "
		"has its address family",
		ip_addr_format(to, peer));
	return true;
}

/** @return false: nothing is wrong with the way as far as @p next. */
static bool failure_of_hop(
	struct net *n, const struct ip_addr *to, const struct ip_addr *next, char text[FAILURE_MAX])
{
	struct failure_hop hop = {.addr = *next};
	char peer[IP_ADDR_STRLEN], router[IP_ADDR_STRLEN];
	const char *protocol = ip_addr_is_v4(to) ? "ARP" : "neighbour solicitations (ND)";

	ip_addr_format(to, peer);
	ip_neighbour_each(net_ip(n), failure_see_hop, &hop);
	if (hop.answers)
		return false;
	if (ip_addr_equal(&hop.addr, to))
		snprintf(text, FAILURE_MAX, "%s does not answer %s", peer, protocol);
	else
		snprintf(text, FAILURE_MAX, "the gateway %s, on the way to %s, does not answer %s",
			ip_addr_format(&hop.addr, router), peer, protocol);
	return true;
}

/** @return false: the peer's port mapper has nothing to do with it. */
static bool failure_of_mapper(
	const struct rnic_failure *f, const char *peer, char text[FAILURE_MAX])
{
	switch (f->mapper) {
	case RNIC_MAPPER_NONE:
		return false;
	case RNIC_MAPPER_ABSENT:
		snprintf(text, FAILURE_MAX,
			"%s has no port mapper: nothing is at its UDP port %u, and port_mapper is "
			"\"required\"",
			peer, IWPM_PORT);
		break;
	case RNIC_MAPPER_REJECTS:
		snprintf(text, FAILURE_MAX,
			"the port mapper of %s does not know port %u: no program listens there",
			peer, f->remote.port);
		break;
	case RNIC_MAPPER_SILENT:
		snprintf(text, FAILURE_MAX,
			"the port mapper of %s does not answer at UDP port %u: there is none, or "
			"something on the way drops the packets",
			peer, IWPM_PORT);
		break;
	}
	return true;
}

/** Of the kernel's TCP, which does not tell more. */
static const char failure_no_route[] = "the host has no route to %s (\"ip route get\" tells more)";
static const char failure_no_neighbour[] =
	"%s cannot be reached: it answers neither ARP nor ND (\"ip neigh\" tells more), or a "
	"router on the way says so";

static void failure_of_source(
	const struct rnic_failure *f, const char *peer, char text[FAILURE_MAX])
{
	char local[IP_ADDR_STRLEN];

	if (ip_addr_is_any(&f->local))
		snprintf(text, FAILURE_MAX,
			"no local port is left for %s, port %u, or the local address is gone", peer,
			f->remote.port);
	else
		snprintf(text, FAILURE_MAX,
			"%s is reached from %s, which is no \"address\" of the configuration: UD "
			"queue pairs send from those alone",
			peer, ip_addr_format(&f->local, local));
}

static void failure_of_peer(
	struct net *n, const struct rnic_failure *f, const char *peer, char text[FAILURE_MAX])
{
	bool own = llp_is_local(net_llp(n), &f->remote.addr);
	bool kernel = !net_ip(n);

	if (failure_of_mapper(f, peer, text))
		return;
	switch (f->status) {
	case -ECONNREFUSED:
		snprintf(text, FAILURE_MAX,
			own && !kernel ? "%s is an address of this very process, where nothing "
					 "listens at port %u: have both ends the same address?"
				       : "%s refuses: no program listens there at port %u",
			peer, f->remote.port);
		break;
	case -ECONNRESET:
		snprintf(text, FAILURE_MAX,
			"%s reset the connection to port %u: no RDMA program listens there, or it "
			"has ended, or one end has \"tls\" and the other has not",
			peer, f->remote.port);
		break;
	case -ETIMEDOUT:
		snprintf(text, FAILURE_MAX,
			"%s does not answer at port %u%s: its host or program is down, or "
			"something "
			"on the way drops the packets",
			peer, f->remote.port, kernel ? "" : ", though the next hop is there");
		break;
	case -EADDRNOTAVAIL:
		failure_of_source(f, peer, text);
		break;
	case -ENETUNREACH:
	case -EHOSTUNREACH:
		snprintf(text, FAILURE_MAX,
			!kernel ? "a router on the way says that it cannot reach %s"
			: f->status == -ENETUNREACH ? failure_no_route
						    : failure_no_neighbour,
			peer);
		break;
	case -EPROTO:
		snprintf(text, FAILURE_MAX,
			"what port %u of %s answers is not understood: no RDMA program listens "
			"there, or one end has \"tls\" and the other has not",
			f->remote.port, peer);
		break;
	case -EKEYREJECTED:
		snprintf(text, FAILURE_MAX,
			"%s, port %u, and this host do not believe each other: the line of \"tls\" "
			"before this one says why",
			peer, f->remote.port);
		break;
	default:
		snprintf(text, FAILURE_MAX, "%s, port %u: %s", peer, f->remote.port,
			strerror(-f->status));
		break;
	}
}

void failure_explain(struct net *n, const struct rnic_failure *f, char text[FAILURE_MAX])
{
	const struct ip_addr *to = &f->remote.addr;
	char peer[IP_ADDR_STRLEN];
	struct ip_addr hop;

	ip_addr_format(to, peer);
	if (!net_ip(n) || ip_addr_is_local(net_ip(n), to) || f->status == -ECONNREFUSED ||
		f->status == -ECONNRESET || f->status == -EADDRNOTAVAIL)
		failure_of_peer(n, f, peer, text);
	else if (failure_of_route(n, to, &hop, text))
		return; /* whatever the link is like */
	else if (!net_has_link(n))
		failure_of_link(n, text);
	else if (!failure_of_hop(n, to, &hop, text))
		failure_of_peer(n, f, peer, text);
}
