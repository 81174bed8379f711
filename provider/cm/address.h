/* SPDX-License-Identifier: BSD-2-Clause */
/** @file address.h The commands about addresses: bind, resolve, query. */
#ifndef PROVIDER_CM_ADDRESS_H
#define PROVIDER_CM_ADDRESS_H

#include "provider/cm/call.h"

/**
 * @param sa a sockaddr_in or sockaddr_in6 in a field large enough for both.
 * @return 0, -EINVAL: another family (AF_IB is refused: librdmacm then uses the plain commands).
 */
int ucma_address_get(const void *sa, struct ip_endpoint *out, sa_family_t *family);

/**
 * The same for the call's id. A scope is kept where link-local addresses have one: then they need
 * it, as with the kernel's. @return also -EINVAL: it has none.
 */
int ucma_address_of(
	const struct ucma_call *c, const void *sa, struct ip_endpoint *out, sa_family_t *family);

/**
 * @param family of the id; AF_UNSPEC leaves @p sa zero.
 * @return used bytes of @p sa; 0 for AF_UNSPEC.
 */
size_t ucma_address_put(const struct ip_endpoint *e, sa_family_t family, struct sockaddr_in6 *sa);

/** The size that a sockaddr's own family asks for; 0 for one that we do not serve. */
size_t ucma_sockaddr_size(const void *sa);

/** @return 0; -ENODEV: an id of that kind is of no use here. */
int ucma_check_port_space(const struct ucma_id *id);

/**
 * Bind the call's id. @return as rnic_ep_bind(); -EINVAL: bound before; -ENODEV.
 */
int ucma_bind_to(struct ucma_call *c, const struct ip_endpoint *local, sa_family_t family);

ucma_handler ucma_bind_ip, ucma_bind, ucma_resolve_ip, ucma_resolve_addr, ucma_resolve_route,
	ucma_query_route, ucma_query;

#endif
