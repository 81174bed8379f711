/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file secret_pool.h
 * Memory for the secrets of connections, which is left out of core dumps (MADV_DONTDUMP): a pool
 * has places of one size. The keys that OpenSSL expands are in memory of its own.
 */
#ifndef TLS_SECRET_POOL_H
#define TLS_SECRET_POOL_H

#include "tls/suite.h"

/** The present application traffic secrets of a connection. */
struct tls_secrets {
	uint8_t tx[TLS_SECRET_MAX], rx[TLS_SECRET_MAX];
};

#define TLS_SECRET_PLACE_MAX 4096

struct tls_secret_chunk;
struct tls_secret_place;

struct tls_secret_pool {
	size_t size; /**< of a place */
	struct tls_secret_chunk *chunks;
	struct tls_secret_place *free;
};

/** An empty pool with places for @p size bytes, at most TLS_SECRET_PLACE_MAX. */
void tls_secret_pool_init(struct tls_secret_pool *p, size_t size);

/** @return a place, aligned to 64 bytes. NULL: no memory. */
void *tls_secret_pool_get(struct tls_secret_pool *p);

/** Wipe a place and give it back. NULL is allowed. */
void tls_secret_pool_put(struct tls_secret_pool *p, void *secrets);

/** Free all memory. */
void tls_secret_pool_fini(struct tls_secret_pool *p);

#endif
