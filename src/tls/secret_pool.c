/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/secret_pool.h"

#include "base/secret_memory.h"

#include <openssl/crypto.h>

#define TLS_SECRET_CHUNK 65536
/** Cache lines: what lies beside is not disturbed. */
#define TLS_SECRET_ALIGN 64

struct tls_secret_place {
	struct tls_secret_place *next; /**< while it is free */
};

struct tls_secret_chunk {
	struct tls_secret_chunk *next;
};

void tls_secret_pool_init(struct tls_secret_pool *p, size_t size)
{
	*p = (struct tls_secret_pool){
		.size = (size + TLS_SECRET_ALIGN - 1) / TLS_SECRET_ALIGN * TLS_SECRET_ALIGN};
}

static bool tls_secret_pool_grow(struct tls_secret_pool *p)
{
	struct tls_secret_chunk *c = secret_memory_map(TLS_SECRET_CHUNK);

	if (!c)
		return false;
	c->next = p->chunks;
	p->chunks = c;
	for (size_t at = TLS_SECRET_ALIGN; p->size <= TLS_SECRET_CHUNK - at; at += p->size) {
		struct tls_secret_place *place = (void *)((uint8_t *)c + at);

		place->next = p->free;
		p->free = place;
	}
	return true;
}

void *tls_secret_pool_get(struct tls_secret_pool *p)
{
	struct tls_secret_place *place;

	if (!p->free && !tls_secret_pool_grow(p))
		return NULL;
	place = p->free;
	p->free = place->next;
	return place;
}

void tls_secret_pool_put(struct tls_secret_pool *p, void *secrets)
{
	struct tls_secret_place *place = secrets;

	if (!place)
		return;
	OPENSSL_cleanse(place, p->size);
	place->next = p->free;
	p->free = place;
}

void tls_secret_pool_fini(struct tls_secret_pool *p)
{
	while (p->chunks) {
		struct tls_secret_chunk *c = p->chunks;

		p->chunks = c->next;
		secret_memory_unmap(c, TLS_SECRET_CHUNK);
	}
	p->free = NULL;
}
