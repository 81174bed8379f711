/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/handshake.h"

/** Octets that an end may be on in the first segment that was captured behind its SYN. */
#define HANDSHAKE_AHEAD_MAX 65536

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

/* True if the segment goes on from there. A keep-alive is one octet before. */
static bool handshake_is_confirmed(const struct handshake *h, unsigned side, const struct packet *p)
{
	if (h->syn[side] && p->seq - h->isn[side] > HANDSHAKE_AHEAD_MAX)
		return false;
	if (h->syn[!side] && p->flags & PACKET_ACK &&
		p->ack - (h->isn[!side] + 1) > HANDSHAKE_AHEAD_MAX)
		return false;
	return !handshake_is_empty(h);
}

bool handshake_confirm(struct handshakes *h, unsigned side, const struct packet *p)
{
	if (handshake_is_confirmed(&h->now, side, p))
		return false;
	for (unsigned i = 0; i < HANDSHAKE_OTHERS; i++)
		if (handshake_is_confirmed(&h->other[i], side, p)) {
			struct handshake was = h->now;

			h->now = h->other[i];
			h->other[i] = was;
			return true;
		}
	return false;
}
