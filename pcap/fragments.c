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
	uint8_t protocol;
	uint32_t id;
	uint64_t begun, time; /**< by its first frame */
	unsigned n;
	struct fragments_part part[FRAGMENTS_PARTS]; /**< in order */
};

struct fragments {
	struct datagram datagram[PACKETS];
	struct fragments_part done[FRAGMENTS_PARTS]; /**< the segment that was complete last */
	uint8_t octets[OCTETS_MAX];                  /**< of a datagram */
};

struct fragments *fragments_new(void)
{
	return calloc(1, sizeof(struct fragments));
}

void fragments_free(struct fragments *t)
{
	free(t);
}

/* By addresses and Identification, and the protocol in IPv4 (RFC 791 section 3.2). */
static bool fragments_is_of(const struct datagram *d, const struct packet *p, uint64_t time)
{
	return d->used && d->id == p->id &&
	       (d->protocol == p->protocol || !ip_addr_is_v4(&p->src.addr)) &&
	       ip_addr_equal(&d->src, &p->src.addr) && ip_addr_equal(&d->dst, &p->dst.addr) &&
	       (time > d->time ? time - d->time : d->time - time) < WAIT_NS;
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
	room->protocol = p->protocol;
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
	d->part[i] = (struct fragments_part){.p = *p, .frame = frame};
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

/** Where the segment's text ends, which begins @p head->before octets on in the packet. */
static uint32_t fragments_text_end(const struct packet *head)
{
	return head->before + head->len;
}

/** What the checksum of the segment says, of which @p head has the header. */
static enum packet_sum fragments_sum(const struct datagram *d, const struct packet *head)
{
	uint32_t begin = head->before - head->header, end = fragments_text_end(head);
	struct digest sum = {0};

	for (unsigned i = 0; i < d->n && d->part[i].p.offset < end; i++) {
		const struct packet *p = &d->part[i].p;
		uint32_t from = i == 0 ? begin : 0, len = end - p->offset;

		if (p->captured != p->len)
			return PACKET_SUM_UNKNOWN;
		if (len > p->len)
			len = p->len;
		digest_add(&sum, DIGEST_SUM, p->text + from, len - from);
	}
	return packet_judge_sum(head, &sum, head->header + head->len);
}

/** What is no TCP: it is told which frames it was. @return how many. */
static unsigned fragments_make_other(
	const struct datagram *d, const struct packet *head, struct fragments_part *part)
{
	memcpy(part, d->part, d->n * sizeof *part);
	for (unsigned i = 0; i < d->n; i++)
		part[i].other = true;
	part[0].p.unread = head->unread;
	return d->n;
}

/** A datagram of the port mapper, up to what the snap length cut. @return as above. */
static unsigned fragments_make_mapper(struct fragments *t, const struct datagram *d)
{
	uint32_t len = fragments_end_of(&d->part[d->n - 1].p);
	struct packet whole = d->part[0].p;

	whole.captured = 0;
	for (unsigned i = 0; i < d->n && d->part[i].p.offset == whole.captured; i++) {
		const struct packet *p = &d->part[i].p;

		memcpy(t->octets + p->offset, p->text, p->captured);
		whole.captured += p->captured;
	}
	whole.text = t->octets;
	if (packet_parse_whole(&whole, len) != PACKET_MAPPER)
		return 0;
	memcpy(t->done, d->part, d->n * sizeof *d->part);
	t->done[0].p = whole;
	t->done[0].mapper = true;
	return d->n;
}

/** The part of the segment's text that fragment @p i has. */
static void fragments_make_part(
	const struct datagram *d, unsigned i, const struct packet *head, struct packet *p)
{
	const struct packet *own = &d->part[i].p;
	uint32_t skip = i == 0 ? head->before : 0, end = fragments_text_end(head);

	*p = *head;
	p->header = 0; /* the sum is not of this part */
	p->continues = i != 0;
	p->seq = head->seq + own->offset + skip - head->before;
	p->len = own->len - skip;
	if (p->len > end - own->offset - skip)
		p->len = end - own->offset - skip;
	p->captured = own->captured > skip ? own->captured - skip : 0;
	if (p->captured > p->len)
		p->captured = p->len;
	p->text = own->text + (own->captured > skip ? skip : own->captured);
}

/** The first has TCP's header; the others go on where it ends. @return how many parts. */
static unsigned fragments_make_segment(struct fragments *t, const struct datagram *d)
{
	struct fragments_part *part = t->done;
	struct packet head = d->part[0].p;
	enum packet_kind kind = packet_parse_whole(&head, fragments_end_of(&d->part[d->n - 1].p));
	unsigned n = 0;

	if (kind == PACKET_OTHER)
		return fragments_make_other(d, &head, part);
	if (kind == PACKET_MAPPER)
		return fragments_make_mapper(t, d);
	if (kind != PACKET_TCP || head.before > d->part[0].p.len)
		return 0;
	head.sum = fragments_sum(d, &head);
	do {
		part[n] = (struct fragments_part){
			.frame = d->part[n].frame, .counted = d->part[n].counted};
		fragments_make_part(d, n, &head, &part[n].p);
		/* What ends the segment does so once, behind its text. */
		if (n != 0)
			part[n - 1].p.flags &= (uint8_t) ~(PACKET_FIN | PACKET_RST | PACKET_PSH);
	} while (++n < d->n && d->part[n].p.offset < fragments_text_end(&head));
	return n;
}

/*
 * Identifications are used again: fragments that lost their others waited for those of a later
 * packet. The rest of that comes behind @p newest.
 */
static void fragments_begin_again(struct datagram *d, const struct packet *newest, uint64_t frame)
{
	d->part[0] = (struct fragments_part){.p = *newest, .frame = frame, .counted = true};
	d->n = 1;
	d->begun = frame;
	d->used = true;
}

unsigned fragments_take(struct fragments *t, const struct packet *p, const struct cap_frame *f,
	const struct fragments_part **parts)
{
	struct datagram *d = fragments_get(t, p, f);
	unsigned n;

	if (d->never)
		return 0;
	if (!fragments_insert(d, p, f->number)) {
		d->never = true;
		return 0;
	}
	if (!fragments_is_complete(d))
		return 0;
	d->used = false;
	*parts = t->done;
	n = fragments_make_segment(t, d);
	if (n > 1 && t->done[0].p.sum == PACKET_SUM_WRONG)
		fragments_begin_again(d, p, f->number);
	return n;
}
