/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DOUBLE_LATE UINT64_C(50000000) /* a packet's double comes this much later, at most */

static void put(struct foreign_path *p, uint64_t at, bool to_host, const uint8_t *bytes, size_t len)
{
	struct foreign_packet *packet = malloc(sizeof *packet + len), **before = &p->first;

	assert(packet);
	while (*before && (*before)->at <= at)
		before = &(*before)->next;
	*packet =
		(struct foreign_packet){.next = *before, .at = at, .to_host = to_host, .len = len};
	memcpy(packet->bytes, bytes, len);
	*before = packet;
}

void foreign_path_send(
	struct foreign_path *p, uint64_t now, bool to_host, const uint8_t *bytes, size_t len)
{
	uint64_t at = now + p->delay;

	if (p->whole) {
		put(p, at, to_host, bytes, len);
		return;
	}
	if (prng_chance(p->random, p->loss))
		return;
	at += prng_below(p->random, p->jitter);
	put(p, at, to_host, bytes, len);
	if (prng_chance(p->random, p->doubles))
		put(p, at + prng_below(p->random, DOUBLE_LATE), to_host, bytes, len);
}

uint64_t foreign_path_next(const struct foreign_path *p)
{
	return p->first ? p->first->at : UINT64_MAX;
}

struct foreign_packet *foreign_path_take(struct foreign_path *p, uint64_t now)
{
	struct foreign_packet *packet = p->first;

	if (!packet || packet->at > now)
		return NULL;
	p->first = packet->next;
	return packet;
}

void foreign_path_end(struct foreign_path *p)
{
	struct foreign_packet *packet;

	while ((packet = foreign_path_take(p, UINT64_MAX)))
		free(packet);
}
