/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_tx.h"

#include <errno.h>
#include <fcntl.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define LINE 64u
/** The driver takes no larger ones. */
#define LOG2_SIZE_MAX 14
/** Smaller frames may be waited for, and are few lines: by the caches they are there sooner. */
#define LARGE 512u
/** Bytes of a burst that tell how fast it was. */
#define TELLING 8192u

int memif_tx_open(struct memif_tx *t, uint16_t id)
{
	const struct memif_queue *q = memif_ring_queue(rte_eth_fp_ops[id].txq.data, id);
	size_t ring_len;
	int r;

	memset(t, 0, sizeof *t);
	t->fd = -1;
	if (!q || q->type > 1 || q->log2_size > LOG2_SIZE_MAX || rte_intr_fd_get(q->interrupt) < 0)
		return -ENOENT;
	t->mask = (uint16_t)((1u << q->log2_size) - 1);
	t->client = q->type == 0;
	ring_len = sizeof *t->map.ring + ((size_t)t->mask + 1) * sizeof t->map.ring->desc[0];
	r = memif_ring_open_all(&t->map, q, ring_len);
	if (r)
		return r;
	/* One behind the other, all alike: the client's driver has laid them out. */
	if (t->client && t->mask)
		t->room = t->map.ring->desc[1].offset - t->map.ring->desc[0].offset;
	/* One of our own, as the driver may close its any time. */
	t->fd = fcntl(rte_intr_fd_get(q->interrupt), F_DUPFD_CLOEXEC, 0);
	if (t->fd < 0)
		memif_tx_close(t);
	return t->fd < 0 ? -errno : 0;
}

bool memif_tx_is_current(const struct memif_tx *t, uint16_t id)
{
	return memif_ring_queue(rte_eth_fp_ops[id].txq.data, id) && memif_ring_is_current(&t->map);
}

void memif_tx_close(struct memif_tx *t)
{
	if (t->map.ring && t->fd >= 0)
		close(t->fd);
	memif_ring_close(&t->map);
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

/** The buffer for the frame @p m in @p d; NULL: there is none for it, or the driver knows where. */
static uint8_t *memif_tx_buffer(
	const struct memif_tx *t, const struct memif_desc *d, const struct rte_mbuf *m)
{
	/* Once: the peer may change them. */
	uint32_t offset = *(const volatile uint32_t *)&d->offset;
	uint32_t room = t->client ? t->room : *(const volatile uint32_t *)&d->length;
	uint32_t need = RTE_ALIGN_CEIL((uint32_t)m->data_len, LINE);

	if (m->nb_segs != 1 || d->region != 0 || need > room || offset % LINE ||
		offset > t->map.len || t->map.len - offset < need)
		return NULL;
	return (uint8_t *)t->map.map + offset;
}

static unsigned memif_tx_copy_burst(struct memif_tx *t, enum memif_tx_way way, uint16_t slot,
	struct rte_mbuf **pkts, unsigned n, uint32_t *large)
{
	unsigned i;

	for (i = 0; i < n; i++, slot++) {
		struct memif_desc *d = &t->map.ring->desc[slot & t->mask];
		const struct rte_mbuf *m = pkts[i];
		uint8_t *to = memif_tx_buffer(t, d, m);

		if (!to)
			break;
		if (m->data_len < LARGE || way == MEMIF_TX_CACHED)
			memcpy(to, rte_pktmbuf_mtod(m, const void *), m->data_len);
		else
			memif_tx_copy_past(to, rte_pktmbuf_mtod(m, const void *), m->data_len);
		*large += m->data_len < LARGE ? 0 : m->data_len;
		d->flags = 0;
		d->length = m->data_len;
	}
#if defined(__x86_64__)
	_mm_sfence(); /* such stores are not in order with others */
#endif
	return i;
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

/** Where the next frame goes. @return how many have room. */
static uint16_t memif_tx_place(const struct memif_tx *t, uint16_t *slot)
{
	struct memif_ring *r = t->map.ring;

	if (t->client) {
		*slot = atomic_load_explicit(&r->head, memory_order_relaxed);
		return (uint16_t)(t->mask + 1 - *slot +
				  atomic_load_explicit(&r->tail, memory_order_acquire));
	}
	*slot = atomic_load_explicit(&r->tail, memory_order_relaxed);
	return (uint16_t)(atomic_load_explicit(&r->head, memory_order_acquire) - *slot);
}

static void memif_tx_publish(const struct memif_tx *t, uint16_t slot)
{
	struct memif_ring *r = t->map.ring;
	uint64_t one = 1;

	atomic_store_explicit(t->client ? &r->head : &r->tail, slot, memory_order_release);
	if (atomic_load_explicit(&r->flags, memory_order_relaxed) & MEMIF_RING_MASK_INT)
		return;
	if (write(t->fd, &one, sizeof one) < 0)
		return; /* the counter is full: it is awake */
}

unsigned memif_tx_burst(struct memif_tx *t, struct rte_mbuf **pkts, unsigned n)
{
	enum memif_tx_way way = memif_tx_choose(t);
	uint32_t large = 0;
	uint64_t begin;
	uint16_t slot;
	unsigned sent = RTE_MIN(n, (unsigned)memif_tx_place(t, &slot));

	begin = rte_rdtsc();
	sent = memif_tx_copy_burst(t, way, slot, pkts, sent, &large);
	if (large >= TELLING)
		memif_tx_learn(t, way, large, rte_rdtsc() - begin);
	if (!sent)
		return 0;
	memif_tx_publish(t, (uint16_t)(slot + sent));
	for (unsigned i = 0; i < sent; i++)
		rte_pktmbuf_free(pkts[i]);
	return sent;
}
