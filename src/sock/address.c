/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/address.h"

#include "base/bytes.h"

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

/** Any port will do to ask for a route: nothing is sent. */
#define ADDRESS_ANY_PORT 9

int sock_family(const struct ip_addr *a)
{
	return ip_addr_is_v4(a) ? AF_INET : AF_INET6;
}

socklen_t sock_address_put(const struct ip_endpoint *e, struct sockaddr_storage *sa)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)sa;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)sa;
	struct ip_addr bare = ip_addr_with_scope(&e->addr, 0);

	memset(sa, 0, sizeof *sa);
	if (ip_addr_is_v4(&e->addr)) {
		v4->sin_family = AF_INET;
		store_be16(&v4->sin_port, e->port);
		memcpy(&v4->sin_addr, e->addr.b + 12, 4);
		return sizeof *v4;
	}
	v6->sin6_family = AF_INET6;
	store_be16(&v6->sin6_port, e->port);
	memcpy(&v6->sin6_addr, bare.b, 16);
	v6->sin6_scope_id = ip_addr_scope(&e->addr);
	return sizeof *v6;
}

void sock_address_get(const struct sockaddr_storage *sa, struct ip_endpoint *e)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)sa;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)sa;

	*e = (struct ip_endpoint){.port = 0};
	if (sa->ss_family == AF_INET) {
		e->addr = ip_addr_from_v4(&v4->sin_addr);
		e->port = load_be16(&v4->sin_port);
	} else if (sa->ss_family == AF_INET6) {
		e->addr = ip_addr_from_v6(&v6->sin6_addr);
		e->addr = ip_addr_with_scope(&e->addr, v6->sin6_scope_id);
		e->port = load_be16(&v6->sin6_port);
	}
}

int sock_address_local(int fd, struct ip_endpoint *e)
{
	struct sockaddr_storage sa = {0};
	socklen_t len = sizeof sa;

	if (getsockname(fd, (struct sockaddr *)&sa, &len))
		return -errno;
	sock_address_get(&sa, e);
	return 0;
}

int sock_address_remote(int fd, struct ip_endpoint *e)
{
	struct sockaddr_storage sa = {0};
	socklen_t len = sizeof sa;

	if (getpeername(fd, (struct sockaddr *)&sa, &len))
		return -errno;
	sock_address_get(&sa, e);
	return 0;
}

int sock_address_source(const struct ip_addr *remote, struct ip_addr *local)
{
	const struct ip_endpoint to = {*remote, ADDRESS_ANY_PORT};
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(&to, &sa);
	struct ip_endpoint e = {.port = 0};
	int fd = socket(sock_family(remote), SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return errno == EAFNOSUPPORT ? -ENETUNREACH : -errno;
	if (connect(fd, (struct sockaddr *)&sa, len))
		rc = -ENETUNREACH;
	else
		rc = sock_address_local(fd, &e);
	close(fd);
	if (!rc)
		*local = e.addr;
	return rc;
}

bool sock_address_is_host(const struct ip_addr *a)
{
	const struct ip_endpoint at = {*a, 0};
	struct sockaddr_storage sa;
	socklen_t len = sock_address_put(&at, &sa);
	int fd = socket(sock_family(a), SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is;

	/* What is wrong is not the address: the socket that it is for fails by that itself. */
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE;
	is = bind(fd, (struct sockaddr *)&sa, len) == 0;
	close(fd);
	return is;
}
