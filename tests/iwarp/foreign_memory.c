/* SPDX-License-Identifier: BSD-2-Clause */
/* What the host's memory must be. */
#include "foreign_host.h"

#include <string.h>

static uint8_t *told(const struct foreign_host *h, enum foreign_area area)
{
	return h->told + area * (size_t)AREA_LEN;
}

/* ---- AREA_WRITE -------------------------------------------------------------------------------
 */

/** May another segment have put @p octet there? A later one, unless they were placed in any order.
 */
static bool may_be(const struct foreign_host *h, uint32_t at, uint8_t octet)
{
	const struct foreign_world *w = h->world;

	for (unsigned i = w->shuffled ? 0 : h->placed; i < w->placings; i++) {
		const struct placed *p = &w->placed[i];

		if ((!p->late || w->overtaken) && at >= p->at && at - p->at < p->len &&
			p->payload[at - p->at] == octet)
			return true;
	}
	return false;
}

void foreign_memory_check_writes(struct foreign_host *h, unsigned n)
{
	const uint8_t *is = world_area(h->world, AREA_WRITE);

	for (; h->placed < n; h->placed++) {
		const struct placed *p = &h->world->placed[h->placed];

		memcpy(h->base + p->at, p->payload, p->len);
	}
	if (!memcmp(is, h->base, AREA_LEN))
		return;
	for (uint32_t i = 0; i < AREA_LEN; i++) {
		if (is[i] != h->base[i] && !may_be(h, i, is[i]))
			return world_wrong(h->world, "an octet that the peer wrote is wrong");
	}
}

/* ---- receives and sinks -----------------------------------------------------------------------
 */

static void put(uint8_t *area, const struct receive *r, const uint8_t *payload, uint32_t len)
{
	uint32_t first = len < r->part[0] ? len : r->part[0];

	memcpy(area + r->at[0], payload, first);
	memcpy(area + r->at[1], payload + first, len - first);
}

void foreign_memory_received(
	struct foreign_host *h, const struct receive *r, const struct delivery *d)
{
	const uint8_t *is = world_area(h->world, AREA_RECV);
	uint32_t left = d->len;

	if (d->payload)
		put(told(h, AREA_RECV), r, d->payload, d->len);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t n = left < r->part[i] ? left : r->part[i];

		left -= n;
		/* Behind it may be what named this message too, was illegal, and came first. */
		if (!h->world->overtaken)
			n = r->part[i];
		if (memcmp(told(h, AREA_RECV) + r->at[i], is + r->at[i], n))
			world_wrong(h->world, "a receive has other text than the peer sent");
	}
}

void foreign_memory_answered(struct foreign_host *h, const struct request *q)
{
	size_t at = q->slot * SLOT_LEN;

	memcpy(told(h, AREA_SINK) + at, q->answer, q->len);
	/* One that made no completion is noticed late: the slot may have another answer. */
	if ((size_t)(q - h->world->request) + SLOTS < h->world->requests)
		return;
	if (memcmp(told(h, AREA_SINK) + at, world_area(h->world, AREA_SINK) + at, SLOT_LEN))
		world_wrong(h->world, "a sink has other text than the peer answered");
}

/** What began to come when the stream ended: that text may be there, or some of it. */
static void add_begun(const struct foreign_host *h, uint8_t *recv, uint8_t *sink)
{
	const struct foreign_world *w = h->world;

	for (unsigned i = 0; i < w->deliveries && i < w->receives; i++) {
		const struct delivery *d = &w->delivery[i];

		if (!w->receive[i].done && (!d->late || d->begun) && d->payload)
			put(recv, &w->receive[i], d->payload, d->len);
	}
	for (unsigned i = 0; i < w->requests; i++) {
		const struct request *q = &w->request[i];

		if ((q->begun || (q->late_begun && world_takes_answers_only(w))) && !q->done)
			memcpy(sink + q->slot * SLOT_LEN, q->answer, q->len);
	}
}

/** What came behind the illegal thing was placed before it: anything may be in these buffers. */
static void add_anything(const struct foreign_host *h, uint8_t *recv, uint8_t *sink)
{
	const struct foreign_world *w = h->world;

	for (unsigned i = 0; i < w->receives; i++) {
		const struct receive *r = &w->receive[i];

		for (unsigned k = 0; k < 2; k++)
			memcpy(recv + r->at[k], world_area(w, AREA_RECV) + r->at[k], r->part[k]);
	}
	for (unsigned i = 0; i < w->requests; i++) {
		const struct request *q = &w->request[i];
		size_t at = q->slot * SLOT_LEN;

		if (request_is_read(q) && !q->done)
			memcpy(sink + at, world_area(w, AREA_SINK) + at, q->len);
	}
}

static void check_begun(struct foreign_host *h, enum foreign_area area, const uint8_t *may)
{
	const uint8_t *is = world_area(h->world, area), *must = told(h, area);

	for (uint32_t i = 0; i < AREA_LEN; i++) {
		if (is[i] != must[i] && is[i] != may[i])
			return world_wrong(h->world,
				area == AREA_RECV ? "an octet beside a receive has changed"
						  : "an octet beside a sink has changed");
	}
}

void foreign_memory_check_end(struct foreign_host *h, bool clean)
{
	static uint8_t recv[AREA_LEN], sink[AREA_LEN];
	struct foreign_world *w = h->world;
	const uint8_t *atomic = world_area(w, AREA_ATOMIC);
	size_t atomics = clean && !h->peer->outbounds ? 0 : sizeof w->atomic;

	foreign_memory_check_writes(h, clean ? w->placings : h->placed);
	memcpy(recv, told(h, AREA_RECV), AREA_LEN);
	memcpy(sink, told(h, AREA_SINK), AREA_LEN);
	if (w->overtaken)
		add_anything(h, recv, sink);
	else if (!clean)
		add_begun(h, recv, sink);
	check_begun(h, AREA_RECV, recv);
	check_begun(h, AREA_SINK, sink);
	if (memcmp(world_area(w, AREA_SEND), told(h, AREA_SEND), AREA_LEN) ||
		memcmp(world_area(w, AREA_READ), told(h, AREA_READ), AREA_LEN) ||
		memcmp(world_area(w, AREA_OTHER), told(h, AREA_OTHER), AREA_LEN))
		world_wrong(w, "memory has changed that nobody may write to");
	memcpy(told(h, AREA_ATOMIC), w->atomic, sizeof w->atomic);
	if (memcmp(atomic + atomics, told(h, AREA_ATOMIC) + atomics, AREA_LEN - atomics))
		world_wrong(w, "what Atomics change has another value");
}
