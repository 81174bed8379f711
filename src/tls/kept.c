/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/kept.h"

#include "base/peer_set.h"

#include <stdlib.h>

static uint32_t tls_kept_place(const struct tls_kept_share *s, const struct ip_addr *peer)
{
	const struct ip_addr net = peer_set_network(peer);

	return (uint32_t)(siphash(&s->key, &net, sizeof net) % TLS_KEPT_PLACES);
}

static bool tls_kept_has_share(const struct tls_kept_share *s, uint32_t place, size_t more)
{
	size_t left = s->most > s->held ? s->most - s->held : 0;

	/* No less is left then than the peer has. */
	return s->most == 0 || (more <= left && s->of_peer[place] + more <= left - more);
}

enum tls_kept_result tls_kept_grow(
	struct tls_kept_share *s, struct tls_kept *k, size_t room, const struct ip_addr *peer)
{
	uint32_t place = k->bytes ? k->place : tls_kept_place(s, peer);
	size_t more;
	uint8_t *bytes;

	if (room <= k->room)
		return TLS_KEPT;
	more = room - k->room;
	if (!tls_kept_has_share(s, place, more))
		return TLS_KEPT_NO_SHARE;
	bytes = realloc(k->bytes, room);
	if (!bytes)
		return TLS_KEPT_NO_MEMORY;
	k->bytes = bytes;
	k->room = room;
	k->place = place;
	s->held += more;
	s->of_peer[place] += more;
	return TLS_KEPT;
}

void tls_kept_clear(struct tls_kept_share *s, struct tls_kept *k)
{
	s->held -= k->room;
	s->of_peer[k->place] -= k->room;
	free(k->bytes);
	*k = (struct tls_kept){0};
}
