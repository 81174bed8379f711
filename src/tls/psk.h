/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file psk.h
 * External pre-shared keys (RFC 8446 section 2.2), always with (EC)DHE. A file has a line
 * identity:key for each, with the key in hexadecimal. We connect with the first, and answer all.
 */
#ifndef TLS_PSK_H
#define TLS_PSK_H

#include "tls/tls.h"

#include <openssl/ssl.h>

struct tls_psk_list;

/** @return 0, or a negative errno with a sentence in @p e. */
int tls_psk_read(const char *path, struct tls_psk_list **out, struct tls_error *e);

/** Wipe and free. NULL is allowed. */
void tls_psk_free(struct tls_psk_list *l);

/** Use them for connections of @p ctx, which must not outlive them. @return false: no memory. */
bool tls_psk_use(struct tls_psk_list *l, SSL_CTX *ctx);

#endif
