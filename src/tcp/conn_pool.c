/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/conn_pool.h"

#include "base/huge_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_PIECE (16u << 10)
/** Rings kept for the next connection that needs one: a small one for each of 100,000, say. */
#define RING_BYTES_MAX (16u << 20)

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
/** Each connection on its own, so that a use after its end is seen. */
#ifdef __SANITIZE_ADDRESS__
#define PIECES false
#else
#define PIECES true
#endif

struct tcp_ring {
	struct tcp_ring *next;
};

/** The head of a piece; connections follow in the next cache line. */
struct piece {
	struct piece *next;
	size_t len;
};

static size_t tcp_conn_pool_rounded(size_t size)
{
	return (size + TCP_CACHE_LINE - 1) & ~(size_t)(TCP_CACHE_LINE - 1);
}

static bool tcp_conn_pool_more(struct tcp_conn_pool *s, size_t size)
{
	size_t len = s->next_piece ? s->next_piece : FIRST_PIECE;
	struct piece *p =
		len < HUGE_PAGE ? aligned_alloc(TCP_CACHE_LINE, len) : huge_pages_map(HUGE_PAGE);
	char *at = (char *)p + TCP_CACHE_LINE;

	if (!p)
		return false;
	*p = (struct piece){s->pieces, len};
	s->pieces = p;
	s->next_piece = len < HUGE_PAGE ? 2 * len : len;
	for (size = tcp_conn_pool_rounded(size); (size_t)((char *)p + len - at) >= size; at += size)
		tcp_conn_pool_put(s, at);
	return true;
}

void *tcp_conn_pool_get(struct tcp_conn_pool *s, size_t size)
{
	void *c;

	if (!PIECES) {
		c = aligned_alloc(TCP_CACHE_LINE, tcp_conn_pool_rounded(size));
		return c ? memset(c, 0, size) : NULL;
	}
	if (!s->free_conns && !tcp_conn_pool_more(s, size))
		return NULL;
	c = s->free_conns;
	memcpy(&s->free_conns, c, sizeof s->free_conns);
	return memset(c, 0, size);
}

void tcp_conn_pool_put(struct tcp_conn_pool *s, void *conn)
{
	if (!PIECES) {
		free(conn);
		return;
	}
	memcpy(conn, &s->free_conns, sizeof s->free_conns);
	s->free_conns = conn;
}

static unsigned tcp_conn_pool_class_of(uint32_t n)
{
	return n < 2 ? 0 : 32u - (unsigned)__builtin_clz(n - 1);
}

void *tcp_conn_pool_ring(struct tcp_conn_pool *s, uint32_t n, size_t size, uint32_t *cap)
{
	unsigned k = tcp_conn_pool_class_of(n);
	struct tcp_ring *r = k < TCP_RING_CLASSES ? s->rings[k] : NULL;

	*cap = 1u << k;
	if (!r)
		return aligned_alloc(TCP_CACHE_LINE, tcp_conn_pool_rounded(*cap * size));
	s->rings[k] = r->next;
	__builtin_prefetch(r->next, 1); /* the next one's, which comes soon if at all */
	s->ring_bytes -= *cap * size;
	return r;
}

void tcp_conn_pool_ring_free(struct tcp_conn_pool *s, void *ring, uint32_t cap, size_t size)
{
	unsigned k = tcp_conn_pool_class_of(cap);
	struct tcp_ring *r = ring;

	if (k >= TCP_RING_CLASSES || s->ring_bytes + cap * size > RING_BYTES_MAX) {
		free(ring);
		return;
	}
	s->ring_bytes += cap * size;
	r->next = s->rings[k];
	s->rings[k] = r;
}

void tcp_conn_pool_fini(struct tcp_conn_pool *s)
{
	for (unsigned k = 0; k < TCP_RING_CLASSES; k++) {
		struct tcp_ring *next;

		for (struct tcp_ring *r = s->rings[k]; r; r = next) {
			next = r->next;
			free(r);
		}
	}
	for (struct piece *p = s->pieces, *next; p; p = next) {
		next = p->next;
		if (p->len < HUGE_PAGE)
			free(p);
		else
			munmap(p, HUGE_PAGE);
	}
	*s = (struct tcp_conn_pool){0};
}
