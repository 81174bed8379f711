/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file secret_pool.h
 * Memory for the traffic secrets of connections, which is left out of core dumps
 * (MADV_DONTDUMP). OpenSSL's expanded keys are in memory of its own.
 */
#ifndef TLS_SECRET_POOL_H
#define TLS_SECRET_POOL_H

#include "tls/suite.h"

/** The present application traffic secrets of a connection. */
struct tls_secrets {
	uint8_t tx[TLS_SECRET_MAX], rx[TLS_SECRET_MAX];
};

struct tls_secret_chunk;
union tls_secret_slot;

/** Zero-initialised is empty. */
struct tls_secret_pool {
	struct tls_secret_chunk *chunks;
	union tls_secret_slot *free;
};

/** @return NULL: no memory. */
struct tls_secrets *tls_secret_pool_get(struct tls_secret_pool *p);

/** Wipe them and give them back. NULL is allowed. */
void tls_secret_pool_put(struct tls_secret_pool *p, struct tls_secrets *s);

/** Free all memory. */
void tls_secret_pool_fini(struct tls_secret_pool *p);

#endif
