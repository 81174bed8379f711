/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_rx.h"

#include "dpdk-port/memif_eventfd.h"

#include "base/prefetch.h"

#include <rte_mbuf.h>
#include <string.h>

/**
 * So many bytes of a burst are on their way from the peer's core, or from memory, before their
 * turn. Where the two cores are far from each other a copy alone waits for them most of its time.
 */
#define AHEAD 6144u
/** A frame is copied in such pieces, and as much of what follows is fetched before each. */
#define PIECE 2048u

/** Offer all buffers that have been read. */
static void memif_rx_offer(struct memif_rx *rx)
{
	uint16_t end = (uint16_t)(rx->slot + rx->end.mask + 1);

	for (; rx->offered != end; rx->offered++)
		rx->end.ring->desc[rx->offered & rx->end.mask].length = rx->end.room;
	atomic_store_explicit(&rx->end.ring->head, end, memory_order_release);
}

/** Tell the peer what has been read. */
static void memif_rx_release(struct memif_rx *rx)
{
	if (rx->end.client)
		memif_rx_offer(rx);
	else
		atomic_store_explicit(&rx->end.ring->tail, rx->slot, memory_order_release);
}

int memif_rx_open(struct memif_rx *rx, const struct memif_regions *regions, uint16_t id)
{
	const struct memif_queue *q = memif_driver_rx_queue(id);
	struct memif_ring_end *e = &rx->end;
	int r = memif_ring_open(e, regions, q, false);

	if (r)
		return r;
	rx->armed = false;
	rx->pool = q->pool;
	rx->port = id;
	rx->slot = e->client ? q->last_tail : q->last_head;
	if (e->client) {
		rx->offered = atomic_load_explicit(&e->ring->head, memory_order_relaxed);
		if ((uint16_t)(rx->offered - rx->slot) > e->mask + 1)
			rx->offered = rx->slot;
		memif_rx_offer(rx);
	}
	return 0;
}

void memif_rx_arm(struct memif_rx *rx)
{
	rx->armed = true;
	atomic_fetch_and(&rx->end.ring->flags, (uint16_t)~MEMIF_RING_MASK_INT);
}

void memif_rx_mask(struct memif_rx *rx)
{
	rx->armed = false;
	atomic_fetch_or(&rx->end.ring->flags, MEMIF_RING_MASK_INT);
	memif_eventfd_take(rx->end.fd);
}

/** What descriptor @p d tells of. @return NULL: there is nothing. */
static const uint8_t *memif_rx_at(const struct memif_rx *rx, const struct memif_desc *d)
{
	return memif_regions_at(rx->end.regions, d->region, d->offset, d->length);
}

/** Fetch the next @p len bytes of the burst. */
static void memif_rx_fetch(struct memif_rx *rx, uint32_t len)
{
	struct memif_rx_ahead *a = &rx->ahead;

	while (len && (a->left || a->slot != a->end)) {
		uint32_t n = RTE_MIN(len, a->left);

		if (!a->left) {
			struct memif_desc d =
				memif_ring_read(&rx->end.ring->desc[a->slot++ & rx->end.mask]);

			a->from = memif_rx_at(rx, &d);
			a->left = a->from ? d.length : 0;
			continue;
		}
		prefetch_to_read(a->from, n);
		a->from += n;
		a->left -= n;
		len -= n;
	}
}

/** The burst is of @p have descriptors. */
static void memif_rx_fetch_first(struct memif_rx *rx, unsigned have)
{
	rx->ahead = (struct memif_rx_ahead){.slot = rx->slot, .end = (uint16_t)(rx->slot + have)};
	memif_rx_fetch(rx, AHEAD);
}

static void memif_rx_copy(struct memif_rx *rx, uint8_t *to, const uint8_t *from, uint32_t len)
{
	for (uint32_t n; len; len -= n) {
		n = RTE_MIN(len, PIECE);
		memif_rx_fetch(rx, n);
		memcpy(to, from, n);
		to += n;
		from += n;
	}
}

static bool memif_rx_append(struct memif_rx *rx, struct rte_mbuf *m, const struct memif_desc *d)
{
	const uint8_t *from = memif_rx_at(rx, d);

	if (!from || d->length > rte_pktmbuf_tailroom(m))
		return false;
	memif_rx_copy(rx, rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len), from, d->length);
	m->data_len = (uint16_t)(m->data_len + d->length);
	m->pkt_len = m->data_len;
	return true;
}

/** Read a frame of at most @p have descriptors into @p m. @return how many it had. */
static unsigned memif_rx_frame(struct memif_rx *rx, struct rte_mbuf *m, unsigned have, bool *whole)
{
	bool good = true, more;
	unsigned used = 0;

	do {
		struct memif_desc d =
			memif_ring_read(&rx->end.ring->desc[rx->slot++ & rx->end.mask]);

		more = d.flags & MEMIF_DESC_NEXT;
		good = good && memif_rx_append(rx, m, &d);
	} while (++used < have && more);
	*whole = good && !more && m->data_len;
	return used;
}

/** Read as many frames as there are, and as @p pkts has room for: @p n. @return how many. */
static unsigned memif_rx_frames(
	struct memif_rx *rx, struct rte_mbuf **pkts, unsigned n, unsigned have)
{
	unsigned got = 0;
	bool whole;

	memif_rx_fetch_first(rx, have);
	while (got < n && have) {
		struct rte_mbuf *m = pkts[got];

		m->port = rx->port;
		have -= memif_rx_frame(rx, m, have, &whole);
		if (likely(whole)) {
			got++;
		} else {
			rx->dropped++;
			rte_pktmbuf_reset(m);
		}
	}
	return got;
}

/** Up to @p n buffers: what a small pool has left. */
static unsigned memif_rx_alloc(struct memif_rx *rx, struct rte_mbuf **pkts, unsigned n)
{
	while (n && rte_pktmbuf_alloc_bulk(rx->pool, pkts, n))
		n /= 2;
	return n;
}

unsigned memif_rx_burst(struct memif_rx *rx, struct rte_mbuf **pkts, unsigned n)
{
	struct memif_ring *ring = rx->end.ring;
	unsigned have, got;
	uint16_t there;

	if (unlikely(rx->armed))
		memif_eventfd_take(rx->end.fd);
	there = atomic_load_explicit(
		rx->end.client ? &ring->tail : &ring->head, memory_order_acquire);
	have = (uint16_t)(there - rx->slot);
	if (!have)
		return 0;
	have = RTE_MIN(have, rx->end.mask + 1u);
	n = memif_rx_alloc(rx, pkts, RTE_MIN(n, have));
	got = memif_rx_frames(rx, pkts, n, have);
	rte_pktmbuf_free_bulk(pkts + got, n - got);
	memif_rx_release(rx);
	return got;
}
