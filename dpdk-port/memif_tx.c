/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_tx.h"

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define LINE 64u
/** Smaller frames may be waited for, and are few lines: by the caches they are there sooner. */
#define LARGE 512u
/** Bytes of a burst that tell how fast it was. */
#define TELLING 8192u

int memif_tx_open(struct memif_tx *t, const struct memif_regions *regions, uint16_t id,
	struct memif_waker *waker)
{
	memset(t, 0, sizeof *t);
	t->waker = waker;
	return memif_ring_open(&t->end, regions, memif_driver_tx_queue(id), true);
}

/** Whole lines: @p to has room for them. */
static void memif_tx_copy_past(uint8_t *to, const uint8_t *from, uint32_t len)
{
#if defined(__x86_64__)
	uint8_t last[LINE] = {0};

	for (; len; to += LINE, from += LINE, len -= LINE) {
		if (len < LINE) {
			memcpy(last, from, len);
			from = last;
			len = LINE;
		}
		for (unsigned i = 0; i < LINE; i += sizeof(__m128i))
			_mm_stream_si128((__m128i *)(void *)(to + i),
				_mm_loadu_si128((const __m128i *)(const void *)(from + i)));
	}
#else
	memcpy(to, from, len);
#endif
}

/** What descriptor @p d has room for: a server is told of each. */
static uint32_t memif_tx_room(const struct memif_tx *t, struct memif_desc d)
{
	return t->end.client ? t->end.room : d.length;
}

/** How many of @p free buffers from @p slot on take @p len octets; 0: there are too few. */
static unsigned memif_tx_need(const struct memif_tx *t, uint16_t slot, unsigned free, uint32_t len)
{
	uint64_t room = 0;
	unsigned n = 0;

	do {
		if (n == free)
			return 0;
		room += memif_tx_room(
			t, memif_ring_read(&t->end.ring->desc[(slot + n++) & t->end.mask]));
	} while (room < len);
	return n;
}

/** A part of a frame, to a buffer with @p room for it. */
static void memif_tx_copy(
	enum memif_tx_way way, uint8_t *to, const uint8_t *from, uint32_t len, uint32_t room)
{
	if (len < LARGE || way == MEMIF_TX_CACHED || (uintptr_t)to % LINE ||
		room < RTE_ALIGN_CEIL(len, LINE))
		memcpy(to, from, len);
	else
		memif_tx_copy_past(to, from, len);
}

/** Where the next octet of a frame goes. */
struct memif_tx_place {
	struct memif_desc *desc;
	uint8_t *to;
	uint32_t room;
};

/** Begin with descriptor @p slot. @return false: it has no buffer. */
static bool memif_tx_begin(const struct memif_tx *t, struct memif_tx_place *p, uint16_t slot)
{
	struct memif_desc *desc = &t->end.ring->desc[slot & t->end.mask];
	struct memif_desc d = memif_ring_read(desc);

	p->desc = desc;
	p->room = memif_tx_room(t, d);
	p->to = memif_regions_at(t->end.regions, d.region, d.offset, p->room);
	desc->flags = 0;
	desc->length = 0;
	return p->to;
}

/** Put segment @p m at @p p, and on into the descriptors after @p slot. */
static bool memif_tx_segment(const struct memif_tx *t, enum memif_tx_way way, uint16_t *slot,
	uint16_t last, struct memif_tx_place *p, const struct rte_mbuf *m)
{
	const uint8_t *from = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t left = m->data_len;

	while (left) {
		uint32_t len = RTE_MIN(left, p->room);

		memif_tx_copy(way, p->to, from, len, p->room);
		p->desc->length += len;
		p->to += len;
		p->room -= len;
		from += len;
		left -= len;
		if (!left)
			break;
		if (*slot == last)
			return false;
		p->desc->flags = MEMIF_DESC_NEXT;
		if (!memif_tx_begin(t, p, ++*slot))
			return false;
	}
	return true;
}

/**
 * Put frame @p m into the @p n buffers from @p slot on, which have the room for it. A peer that
 * takes them back meanwhile gets less.
 */
static void memif_tx_frame(const struct memif_tx *t, enum memif_tx_way way, uint16_t slot,
	unsigned n, const struct rte_mbuf *m)
{
	uint16_t last = (uint16_t)(slot + n - 1);
	struct memif_tx_place p;
	bool there = memif_tx_begin(t, &p, slot);

	for (; m && there; m = m->next)
		there = memif_tx_segment(t, way, &slot, last, &p, m);
}

/** The other way, if it is its turn. */
static enum memif_tx_way memif_tx_choose(const struct memif_tx *t)
{
	return t->bursts < MEMIF_TX_BURSTS_PER_TRY ? t->way : MEMIF_TX_WAYS - 1 - t->way;
}

/**
 * A burst of @p bytes in large frames went one way, in @p cycles. What goes past the caches the
 * peer has to fetch from memory, which the sender's time does not tell: the price is put at as much
 * again. A try goes around the ring, as the first burst pays for where the other way left its
 * lines.
 */
static void memif_tx_learn(
	struct memif_tx *t, enum memif_tx_way way, uint32_t bytes, uint64_t cycles)
{
	uint64_t cost = cycles * 1024 / bytes * (way == MEMIF_TX_PAST ? 2 : 1) + 1;

	t->cost[way] = t->cost[way] ? (7 * t->cost[way] + cost) / 8 : cost;
	if (++t->bursts < MEMIF_TX_BURSTS_PER_TRY + MEMIF_TX_BURSTS_OF_TRY)
		return;
	t->bursts = 0;
	if (t->cost[way] < t->cost[t->way])
		t->way = way;
}

/** Where the next frame goes. @return how many buffers there are for it. */
static unsigned memif_tx_free(const struct memif_tx *t, uint16_t *slot)
{
	struct memif_ring *r = t->end.ring;
	uint16_t free;

	if (t->end.client) {
		*slot = atomic_load_explicit(&r->head, memory_order_relaxed);
		free = (uint16_t)(t->end.mask + 1 - *slot +
				  atomic_load_explicit(&r->tail, memory_order_acquire));
	} else {
		*slot = atomic_load_explicit(&r->tail, memory_order_relaxed);
		free = (uint16_t)(atomic_load_explicit(&r->head, memory_order_acquire) - *slot);
	}
	return RTE_MIN(free, t->end.mask + 1u);
}

static void memif_tx_publish(const struct memif_tx *t, uint16_t slot)
{
	struct memif_ring *r = t->end.ring;

	atomic_store_explicit(t->end.client ? &r->head : &r->tail, slot, memory_order_release);
	if (!(atomic_load_explicit(&r->flags, memory_order_relaxed) & MEMIF_RING_MASK_INT))
		memif_waker_wake(t->waker, t->end.fd);
}

/** @return how many of @p pkts are in the ring now, behind @p slot. */
static unsigned memif_tx_frames(struct memif_tx *t, enum memif_tx_way way, uint16_t *slot,
	unsigned free, struct rte_mbuf **pkts, unsigned n)
{
	uint64_t begin = rte_rdtsc();
	uint32_t large = 0;
	unsigned sent, used;

	for (sent = 0; sent < n; sent++) {
		used = memif_tx_need(t, *slot, free, pkts[sent]->pkt_len);
		if (!used)
			break;
		memif_tx_frame(t, way, *slot, used, pkts[sent]);
		large += pkts[sent]->pkt_len < LARGE ? 0 : pkts[sent]->pkt_len;
		*slot = (uint16_t)(*slot + used);
		free -= used;
	}
#if defined(__x86_64__)
	_mm_sfence(); /* such stores are not in order with others */
#endif
	if (large >= TELLING)
		memif_tx_learn(t, way, large, rte_rdtsc() - begin);
	return sent;
}

unsigned memif_tx_burst(struct memif_tx *t, struct rte_mbuf **pkts, unsigned n)
{
	uint16_t slot;
	unsigned free = memif_tx_free(t, &slot);
	unsigned sent = memif_tx_frames(t, memif_tx_choose(t), &slot, free, pkts, n);

	if (sent)
		memif_tx_publish(t, slot);
	else if (free > t->end.mask)
		sent = 1; /* it never fits */
	for (unsigned i = 0; i < sent; i++)
		rte_pktmbuf_free(pkts[i]);
	return sent;
}
