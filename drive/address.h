/* SPDX-License-Identifier: BSD-2-Clause */
/** @file address.h Converts between struct sockaddr and struct ip_endpoint. */
#ifndef DRIVE_ADDRESS_H
#define DRIVE_ADDRESS_H

#include "base/ip_addr.h"

#include <sys/socket.h>

/** @return 0, -EINVAL (too short), -EAFNOSUPPORT. */
int address_load(const struct sockaddr *a, socklen_t len, struct ip_endpoint *out);

/** Write @p e as AF_INET or AF_INET6. */
void address_store(const struct ip_endpoint *e, struct sockaddr_storage *out);

/** Write @p e into a buffer of *@p len bytes, as getsockname() does. Does nothing with NULL. */
void address_copy(const struct ip_endpoint *e, struct sockaddr *a, socklen_t *len);

#endif
