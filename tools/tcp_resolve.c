/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tcp_resolve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static bool tcp_resolve_from_sockaddr(struct net *n, const struct sockaddr *sa, struct ip_addr *out)
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
		if (llp_has_scopes(net_llp(n)))
			*out = ip_addr_with_scope(out, in6.sin6_scope_id);
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

/** Of which interface is it? Only a stack that has several asks that. */
static bool tcp_resolve_lacks_scope(struct net *n, const struct ip_addr *a)
{
	return llp_has_scopes(net_llp(n)) && ip_addr_is_link_local(a) && !ip_addr_is_v4(a) &&
	       ip_addr_scope(a) == 0;
}

int tcp_resolve(struct net *n, const char *host, struct ip_addr *out, char why[TCP_RESOLVE_MAX])
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	bool found = false, lacks_scope = false;
	struct addrinfo *list;
	int r = getaddrinfo(host, NULL, &hints, &list);

	if (r != 0) {
		snprintf(why, TCP_RESOLVE_MAX, "\"%.100s\" is no host: %s", host, gai_strerror(r));
		return -ENOENT;
	}
	for (const struct addrinfo *a = list; a && !found; a = a->ai_next) {
		if (!tcp_resolve_from_sockaddr(n, a->ai_addr, out))
			continue;
		lacks_scope = tcp_resolve_lacks_scope(n, out);
		found = !lacks_scope && tcp_resolve_is_reachable(n, out);
	}
	freeaddrinfo(list);
	if (found)
		return 0;
	if (lacks_scope)
		snprintf(why, TCP_RESOLVE_MAX,
			"%.100s is link-local and does not say of which interface; expected such "
			"as %.100s%%eth0",
			host, host);
	else
		snprintf(why, TCP_RESOLVE_MAX, "there is no route to %.100s", host);
	return lacks_scope ? -EINVAL : -EHOSTUNREACH;
}
