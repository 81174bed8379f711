/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/secret_pool.h"

#include <openssl/crypto.h>
#include <sys/mman.h>

#define TLS_SECRET_CHUNK 65536

union tls_secret_slot {
	union tls_secret_slot *next; /**< while it is free */
	struct tls_secrets secrets;
};

struct tls_secret_chunk {
	struct tls_secret_chunk *next;
	union tls_secret_slot slot[];
};

#define TLS_SECRET_SLOTS \
	((TLS_SECRET_CHUNK - sizeof(struct tls_secret_chunk)) / sizeof(union tls_secret_slot))

static bool tls_secret_pool_grow(struct tls_secret_pool *p)
{
	struct tls_secret_chunk *c = mmap(
		NULL, TLS_SECRET_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (c == MAP_FAILED)
		return false;
	/* A kernel without it dumps them: no reason to refuse to work. */
	(void)madvise(c, TLS_SECRET_CHUNK, MADV_DONTDUMP);
	c->next = p->chunks;
	p->chunks = c;
	for (size_t i = 0; i < TLS_SECRET_SLOTS; i++) {
		c->slot[i].next = p->free;
		p->free = &c->slot[i];
	}
	return true;
}

struct tls_secrets *tls_secret_pool_get(struct tls_secret_pool *p)
{
	union tls_secret_slot *s;

	if (!p->free && !tls_secret_pool_grow(p))
		return NULL;
	s = p->free;
	p->free = s->next;
	return &s->secrets;
}

void tls_secret_pool_put(struct tls_secret_pool *p, struct tls_secrets *secrets)
{
	union tls_secret_slot *s = (union tls_secret_slot *)(void *)secrets;

	if (!s)
		return;
	OPENSSL_cleanse(s, sizeof *s);
	s->next = p->free;
	p->free = s;
}

void tls_secret_pool_fini(struct tls_secret_pool *p)
{
	while (p->chunks) {
		struct tls_secret_chunk *c = p->chunks;

		p->chunks = c->next;
		OPENSSL_cleanse(c, TLS_SECRET_CHUNK);
		munmap(c, TLS_SECRET_CHUNK);
	}
	p->free = NULL;
}
