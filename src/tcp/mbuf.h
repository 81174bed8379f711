/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file mbuf.h
 * What lies in the mbufs of a record (sendq.h) and of received text (mbufs.h). Apart from these, as
 * the definition of an mbuf takes a compiler longer than most of what includes them.
 */
#ifndef TCP_MBUF_H
#define TCP_MBUF_H

#include "llp/llp.h"
#include "tcp/sendq.h"

#include <rte_mbuf.h>
#include <stdint.h>

/** So many bytes of the text of @p r, which was not sent yet, are in its first mbuf. */
static inline uint32_t tcp_record_head(const struct tcp_record *r)
{
	if (!(r->flags & TCP_REC_EXTERNAL))
		return r->len;
	return (uint32_t)r->len - r->m->next->data_len - r->m->next->next->data_len;
}

/** The text of @p r, which is not external. */
static inline uint8_t *tcp_record_text(const struct tcp_record *r)
{
	return (uint8_t *)r->m->buf_addr + r->off;
}

/**
 * The CRC32c of a received packet's first bytes of text, if it was made while they were summed
 * (llp_iov). It is where a port may leave the packet's hash, which we do not use, with the place of
 * the text: so it is forgotten where that is cut off in front. Who cuts off at the end forgets it.
 */
static inline void tcp_mbuf_set_crc(struct rte_mbuf *m, uint32_t len, uint32_t crc)
{
	m->hash.fdir.lo = m->data_off | len << 16;
	m->hash.fdir.hi = crc;
}

/** Nothing is known of any mbuf of the chain @p m. */
static inline void tcp_mbuf_forget_crc(struct rte_mbuf *m)
{
	for (; m; m = m->next)
		m->hash.fdir.lo = 0;
}

/** The text of one mbuf, and what is known of it. */
static inline struct llp_iov tcp_mbuf_iov(const struct rte_mbuf *m)
{
	struct llp_iov v = {.base = rte_pktmbuf_mtod(m, const uint8_t *), .len = m->data_len};
	uint32_t known = m->hash.fdir.lo;

	if ((uint16_t)known == m->data_off && known >> 16 <= m->data_len) {
		v.crc_len = known >> 16;
		v.crc = m->hash.fdir.hi;
	}
	return v;
}

#endif
