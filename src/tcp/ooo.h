/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ooo.h
 * Segments that came before the ones they follow, sorted by sequence number, bounded.
 * Entries may overlap; what was delivered already is cut off when they are taken out.
 */
#ifndef TCP_OOO_H
#define TCP_OOO_H

#include "tcp/seq.h"

#include <rte_mbuf.h>
#include <stdint.h>

/** Segments that one connection may hold back. */
#define TCP_OOO_MAX 1024

struct tcp_ooo_entry {
	struct rte_mbuf *m; /**< a chain perhaps; its text alone */
	uint32_t seq, len;
};

/** Zero-initialised is empty and holds no memory. */
struct tcp_ooo {
	struct tcp_ooo_entry *v;
	uint32_t n, cap;
	uint32_t held; /**< mbufs in all: a peer may have text come in many small ones */
};

/**
 * Keep @p m, whose text of @p len bytes begins at @p seq; owns it.
 * @return 0; -EEXIST (all of it is there already), -ENOMEM, -ENOSPC (full): @p m is freed.
 */
int tcp_ooo_insert(struct tcp_ooo *o, struct rte_mbuf *m, uint32_t seq, uint32_t len);

/**
 * Take the first entry if it reaches or passes @p next, cut to begin there.
 * @param[out] len bytes of text in it.
 * @return the mbuf, now the caller's, or NULL.
 */
struct rte_mbuf *tcp_ooo_take(struct tcp_ooo *o, uint32_t next, uint32_t *len);

void tcp_ooo_clear(struct tcp_ooo *o);

/** Cut @p n bytes, fewer than it has, off the front of the chain @p m. @return what is left. */
struct rte_mbuf *tcp_mbuf_trim_front(struct rte_mbuf *m, uint32_t n);

/** Cut @p n bytes, no more than it has, off the end of the chain @p m, whose first mbuf stays. */
void tcp_mbuf_trim_back(struct rte_mbuf *m, uint32_t n);

#endif
