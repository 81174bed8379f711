/* SPDX-License-Identifier: BSD-2-Clause */
/** @file peer_name.h Does a certificate have a name that we want (RFC 9525)? */
#ifndef TLS_PEER_NAME_H
#define TLS_PEER_NAME_H

#include "base/ip_addr.h"

#include <openssl/x509.h>
#include <stdbool.h>

/**
 * @param names as tls_config.peer_name.
 * @return true: one of them is among the subject's alternative names. Its common name does not
 *         count.
 */
bool tls_peer_name_matches(X509 *certificate, const char *names);

/** The same of an address. */
bool tls_peer_name_has_addr(X509 *certificate, const struct ip_addr *addr);

#endif
