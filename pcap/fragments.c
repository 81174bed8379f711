/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/fragments.h"

#include <stdlib.h>

/** Packets in the making at one time. */
#define PACKETS 64

/** What a TCP segment in an IP packet can have at most. */
#define OCTETS_MAX 65535

/** RFC 8200 section 4.5: after that the rest will not come, and Identifications are used again. */
#define WAIT_NS UINT64_C(60000000000)

struct datagram {
	bool used;
	bool never; /**< its fragments contradict each other: its rest is dropped as well */
	struct ip_addr src, dst;
	uint32_t id;
	uint64_t begun, time; /**< by its first frame */
	unsigned n;
	struct fragments_part part[FRAGMENTS_PARTS]; /**< in order */
};

struct fragments {
	struct datagram datagram[PACKETS];
};

struct fragments *fragments_new(void)
{
	return calloc(1, sizeof(struct fragments));
}

void fragments_free(struct fragments *t)
{
	free(t);
}

/* By addresses and Identification; the protocol is TCP in all. */
static bool fragments_is_of(const struct datagram *d, const struct packet *p, uint64_t time)
{
	return d->used && d->id == p->id && ip_addr_equal(&d->src, &p->src.addr) &&
	       ip_addr_equal(&d->dst, &p->dst.addr) && time - d->time < WAIT_NS;
}

/** That which @p p is a part of, or room for it: a free place, or the oldest. */
static struct datagram *fragments_get(
	struct fragments *t, const struct packet *p, const struct cap_frame *f)
{
	struct datagram *room = &t->datagram[0];

	for (unsigned i = 0; i < PACKETS; i++) {
		struct datagram *d = &t->datagram[i];

		if (fragments_is_of(d, p, f->time))
			return d;
		if (room->used && (!d->used || d->begun < room->begun))
			room = d;
	}
	room->used = true;
	room->never = false;
	room->src = p->src.addr;
	room->dst = p->dst.addr;
	room->id = p->id;
	room->begun = f->number;
	room->time = f->time;
	room->n = 0;
	return room;
}

static uint32_t fragments_end_of(const struct packet *p)
{
	return p->offset + p->len;
}

static bool fragments_is_again(const struct packet *a, const struct packet *b)
{
	return a->offset == b->offset && a->len == b->len && a->more == b->more;
}

/** @return false: it cannot be. */
static bool fragments_insert(struct datagram *d, const struct packet *p, uint64_t frame)
{
	unsigned i = d->n;

	while (i != 0 && d->part[i - 1].p.offset >= p->offset)
		i--;
	if (i < d->n && fragments_is_again(&d->part[i].p, p))
		return true; /* captured, or sent, twice */
	if (d->n == FRAGMENTS_PARTS || fragments_end_of(p) > OCTETS_MAX)
		return false;
	if (i != 0 && (fragments_end_of(&d->part[i - 1].p) > p->offset || !d->part[i - 1].p.more))
		return false;
	if (i < d->n && (fragments_end_of(p) > d->part[i].p.offset || !p->more))
		return false;
	memmove(&d->part[i + 1], &d->part[i], (d->n - i) * sizeof d->part[0]);
	d->part[i] = (struct fragments_part){*p, frame};
	d->n++;
	return true;
}

static bool fragments_is_complete(const struct datagram *d)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < d->n; i++) {
		if (d->part[i].p.offset != at)
			return false;
		at = fragments_end_of(&d->part[i].p);
	}
	return !d->part[d->n - 1].p.more;
}

/* The first has TCP's header; the others go on where it ends. */
static bool fragments_make_segment(struct datagram *d)
{
	struct packet head = d->part[0].p;
	uint32_t header;

	if (packet_parse_tcp(&head) != PACKET_TCP)
		return false;
	header = d->part[0].p.len - head.len;
	d->part[0].p = head;
	for (unsigned i = 1; i < d->n; i++) {
		struct packet *p = &d->part[i].p, own = *p;

		*p = head;
		p->seq = head.seq + own.offset - header;
		p->text = own.text;
		p->len = own.len;
		p->captured = own.captured;
		p->continues = true;
		/* What ends the segment does so once, behind its text. */
		d->part[i - 1].p.flags &= (uint8_t) ~(PACKET_FIN | PACKET_RST | PACKET_PSH);
	}
	return true;
}

unsigned fragments_take(struct fragments *t, const struct packet *p, const struct cap_frame *f,
	const struct fragments_part **parts)
{
	struct datagram *d = fragments_get(t, p, f);

	if (d->never)
		return 0;
	if (!fragments_insert(d, p, f->number)) {
		d->never = true;
		return 0;
	}
	if (!fragments_is_complete(d))
		return 0;
	d->used = false;
	*parts = d->part;
	return fragments_make_segment(d) ? d->n : 0;
}
