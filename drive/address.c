/* SPDX-License-Identifier: BSD-2-Clause */
#include "drive/address.h"

#include <errno.h>
#include <netinet/in.h>

int address_load(const struct sockaddr *a, socklen_t len, struct ip_endpoint *out)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (len < sizeof a->sa_family)
		return -EINVAL;
	if (a->sa_family == AF_INET) {
		if (len < sizeof v4)
			return -EINVAL;
		memcpy(&v4, a, sizeof v4);
		*out = (struct ip_endpoint){ip_addr_from_v4(&v4.sin_addr), ntohs(v4.sin_port)};
		return 0;
	}
	if (a->sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (len < sizeof v6)
		return -EINVAL;
	memcpy(&v6, a, sizeof v6);
	*out = (struct ip_endpoint){ip_addr_from_v6(&v6.sin6_addr), ntohs(v6.sin6_port)};
	return 0;
}

static socklen_t address_store_sockaddr(const struct ip_endpoint *e, struct sockaddr_storage *out)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(e->port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(e->port)};

	*out = (struct sockaddr_storage){0};
	if (ip_addr_is_v4(&e->addr)) {
		memcpy(&v4.sin_addr, e->addr.b + 12, 4);
		memcpy(out, &v4, sizeof v4);
		return sizeof v4;
	}
	memcpy(&v6.sin6_addr, e->addr.b, 16);
	memcpy(out, &v6, sizeof v6);
	return sizeof v6;
}

void address_store(const struct ip_endpoint *e, struct sockaddr_storage *out)
{
	address_store_sockaddr(e, out);
}

void address_copy(const struct ip_endpoint *e, struct sockaddr *a, socklen_t *len)
{
	struct sockaddr_storage all;
	socklen_t n;

	if (!a || !len)
		return;
	n = address_store_sockaddr(e, &all);
	memcpy(a, &all, *len < n ? *len : n);
	*len = n;
}
