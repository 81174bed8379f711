/* SPDX-License-Identifier: BSD-2-Clause */
/** @file address.h Endpoints as the kernel's sockets have them. */
#ifndef SOCK_ADDRESS_H
#define SOCK_ADDRESS_H

#include "base/ip_addr.h"

#include <stdbool.h>
#include <sys/socket.h>

/** AF_INET or AF_INET6. */
int sock_family(const struct ip_addr *a);

/** The scope of a link-local address becomes that of @p sa. @return the length of what is there. */
socklen_t sock_address_put(const struct ip_endpoint *e, struct sockaddr_storage *sa);

/** The same back. IPv4 and IPv4-mapped addresses become the same. Other families: the any-address.
 */
void sock_address_get(const struct sockaddr_storage *sa, struct ip_endpoint *e);

/** The endpoints of a socket. @return 0 or -errno. */
int sock_address_local(int fd, struct ip_endpoint *e);
int sock_address_remote(int fd, struct ip_endpoint *e);

/** Find the host's address for connections to @p remote. @return 0, -ENETUNREACH, or -errno. */
int sock_address_source(const struct ip_addr *remote, struct ip_addr *local);

/** True if @p a is one of the host's, also if there is no descriptor to ask by. */
bool sock_address_is_host(const struct ip_addr *a);

#endif
