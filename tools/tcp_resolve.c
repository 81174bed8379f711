/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tcp_resolve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static bool tcp_resolve_from_sockaddr(const struct sockaddr *sa, struct ip_addr *out)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	switch (sa->sa_family) {
	case AF_INET:
		memcpy(&in, sa, sizeof in);
		*out = ip_addr_from_v4(&in.sin_addr);
		return true;
	case AF_INET6:
		memcpy(&in6, sa, sizeof in6);
		*out = ip_addr_from_v6(&in6.sin6_addr);
		return true;
	default:
		return false;
	}
}

static bool tcp_resolve_is_reachable(struct net *n, const struct ip_addr *a)
{
	struct ip_addr local;
	int r;

	engine_lock(net_engine(n));
	r = llp_source(net_llp(n), a, &local);
	engine_unlock(net_engine(n));
	return r == 0;
}

int tcp_resolve(struct net *n, const char *command, const char *host, struct ip_addr *out)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	bool found = false;
	int r = getaddrinfo(host, NULL, &hints, &list);

	if (r != 0) {
		fprintf(stderr, "%s: \"%s\" is no host: %s\n", command, host, gai_strerror(r));
		return -EHOSTUNREACH;
	}
	for (const struct addrinfo *a = list; a && !found; a = a->ai_next)
		found = tcp_resolve_from_sockaddr(a->ai_addr, out) &&
			tcp_resolve_is_reachable(n, out);
	freeaddrinfo(list);
	if (found)
		return 0;
	fprintf(stderr,
		"%s: there is no route to %s; expected it in the network of an "
		"\"address\", or a \"gateway\"\n",
		command, host);
	return -EHOSTUNREACH;
}
