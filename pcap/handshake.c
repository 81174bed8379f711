/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/handshake.h"

/** Octets that an end may be on in the first segment that was captured behind its SYN. */
#define HANDSHAKE_AHEAD_MAX 65536
#define HANDSHAKE_FAR       UINT32_MAX

/* True if the SYN may be of @p h: it says nothing else. */
static bool handshake_has(const struct handshake *h, unsigned side, const struct packet *p)
{
	return (!h->syn[side] || h->isn[side] == p->seq) &&
	       (!(p->flags & PACKET_ACK) || !h->syn[!side] || h->isn[!side] == p->ack - 1);
}

static void handshake_add(struct handshake *h, unsigned side, const struct packet *p)
{
	h->answered |= h->syn[!side] && p->flags & PACKET_ACK;
	h->syn[side] = true;
	h->isn[side] = p->seq;
	if (!(p->flags & PACKET_ACK))
		return;
	h->syn[!side] = true;
	h->isn[!side] = p->ack - 1;
}

static bool handshake_is_empty(const struct handshake *h)
{
	return !h->syn[0] && !h->syn[1];
}

/* Another: whoever cannot see the ends' SYNs cannot answer them, so one with an answer stays. */
static struct handshake *handshake_new(struct handshakes *h)
{
	if (h->other[0].answered || !h->other[1].answered)
		h->other[1] = h->other[0];
	h->other[0] = (struct handshake){0};
	return &h->other[0];
}

void handshake_syn(struct handshakes *h, bool talked, unsigned side, const struct packet *p)
{
	struct handshake *found = NULL;

	if (!talked && handshake_has(&h->now, side, p))
		found = &h->now;
	for (unsigned i = 0; i < HANDSHAKE_OTHERS && !found; i++)
		if (!handshake_is_empty(&h->other[i]) && handshake_has(&h->other[i], side, p))
			found = &h->other[i];
	handshake_add(found ? found : handshake_new(h), side, p);
}

/*
 * How far the segment is behind the handshake that it goes on from. A keep-alive is one octet
 * before.
 * @return HANDSHAKE_FAR: it does not.
 */
static uint32_t handshake_distance(const struct handshake *h, unsigned side, const struct packet *p)
{
	uint32_t seq = h->syn[side] ? p->seq - h->isn[side] : 0, ack = 0;

	if (h->syn[!side] && p->flags & PACKET_ACK)
		ack = p->ack - (h->isn[!side] + 1);
	if (handshake_is_empty(h) || seq > HANDSHAKE_AHEAD_MAX || ack > HANDSHAKE_AHEAD_MAX)
		return HANDSHAKE_FAR;
	return seq > ack ? seq : ack;
}

/* The nearest one: the numbers of the next connection may be just behind those of the last. */
bool handshake_confirm(struct handshakes *h, unsigned side, const struct packet *p)
{
	uint32_t nearest = handshake_distance(&h->now, side, p);
	struct handshake *found = NULL, was = h->now;

	for (unsigned i = 0; i < HANDSHAKE_OTHERS; i++) {
		uint32_t distance = handshake_distance(&h->other[i], side, p);

		if (distance >= nearest)
			continue;
		nearest = distance;
		found = &h->other[i];
	}
	if (!found)
		return false;
	h->now = *found;
	*found = was;
	return true;
}
