/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/held.h"

#include <errno.h>

/** Peers with something held, expected. */
#define HELD_PEERS 1024

/** Buffers are whole while they have this part of the memory. */
#define HELD_WHOLE 4

/** Least bytes of a buffer for what goes: a call for each small message would cost more. */
#define HELD_TX_LEAST (16u * 1024)

/** Then a peer that takes nothing is stalled. */
#define HELD_STALL_NS UINT64_C(1000000000)

int sock_held_init(struct sock_held *h, uint64_t most, const struct siphash_key *key)
{
	*h = (struct sock_held){.most = most};
	return peer_set_init(&h->waiting, HELD_PEERS, key);
}

void sock_held_fini(struct sock_held *h)
{
	peer_set_fini(&h->waiting);
}

/** Without memory to account for it, it is not found when others want memory. */
static void sock_held_charge(
	struct sock_held *h, struct sock_wait *w, const struct ip_addr *peer, uint32_t bytes)
{
	int32_t weight;

	if (!w->charge.peer && peer_set_add(&h->waiting, &w->charge, peer) != 0)
		return;
	weight = (int32_t)(bytes / 64);
	peer_set_weigh(&h->waiting, &w->charge, weight - w->weight);
	w->weight = weight;
}

static void sock_held_uncharge(struct sock_held *h, struct sock_wait *w)
{
	if (!w->charge.peer)
		return;
	peer_set_weigh(&h->waiting, &w->charge, -w->weight);
	w->weight = 0;
	peer_set_remove(&h->waiting, &w->charge);
}

static bool sock_held_are_many(const struct sock_held *h)
{
	return h->bytes > h->most / HELD_WHOLE;
}

/** @p b as large as what is in it, if that is less than half. */
static struct sock_buffer *sock_held_cut(
	struct sock_stack *s, struct sock_held *h, struct sock_buffer *b)
{
	struct sock_buffer *less;

	if (!sock_held_are_many(h) || b->len > b->size / 2)
		return b;
	less = sock_buffer_new(b->len);
	if (!less)
		return b;
	sock_buffer_move(less, b);
	h->bytes -= b->size - less->size;
	sock_buffer_give(&s->buffers, b);
	return less;
}

/** Others want its memory. */
static void sock_held_evict(struct sock_conn *c)
{
	sock_held_uncharge(&c->s->rx, &c->rx_wait);
	sock_held_uncharge(&c->s->tx, &c->tx_wait);
	c->s->stats.buffers_evicted++;
	c->error = -ECONNABORTED;
	sock_conn_mark_dirty(c);
}

/* ---- what comes -------------------------------------------------------------------------- */

bool sock_rx_take(struct sock_conn *c)
{
	struct sock_buffer *b, *cut = c->rx;

	if (cut && cut->size == SOCK_BUFFER)
		return true;
	b = sock_buffer_take(&c->s->buffers);
	if (!b)
		return false;
	c->s->rx.bytes += b->size;
	if (cut) {
		sock_buffer_move(b, cut);
		c->s->rx.bytes -= cut->size;
		sock_buffer_give(&c->s->buffers, cut);
	}
	c->rx = b;
	return true;
}

void sock_rx_give(struct sock_conn *c)
{
	if (!c->rx)
		return;
	sock_rx_went_on(c);
	c->s->rx.bytes -= c->rx->size;
	sock_buffer_give(&c->s->buffers, c->rx);
	c->rx = NULL;
}

void sock_rx_went_on(struct sock_conn *c)
{
	sock_held_uncharge(&c->s->rx, &c->rx_wait);
}

/** @return the bytes that others get, now or at the end of the round. */
static uint64_t sock_rx_make_room(struct sock_conn *victim)
{
	struct sock_held *h = &victim->s->rx;
	uint64_t has = victim->rx->size, before = h->bytes;

	/* One whose bytes are shown right now has them until the end of the round. */
	if (victim->showing) {
		sock_held_evict(victim);
		return has;
	}
	victim->rx = sock_held_cut(victim->s, h, victim->rx);
	if (h->bytes < before) {
		/* It goes behind others of its peer, which may be whole. */
		sock_held_uncharge(h, &victim->rx_wait);
		sock_held_charge(h, &victim->rx_wait, &victim->remote.addr, victim->rx->size);
	} else {
		sock_held_evict(victim);
		sock_rx_give(victim);
	}
	return before - h->bytes;
}

void sock_rx_keep(struct sock_conn *c)
{
	struct sock_held *h = &c->s->rx;
	struct peer_charge *out;
	int64_t over;

	c->rx = sock_held_cut(c->s, h, c->rx);
	sock_held_charge(h, &c->rx_wait, &c->remote.addr, c->rx->size);
	over = (int64_t)h->bytes - (int64_t)h->most;
	while (over > 0 && (out = peer_set_busiest(&h->waiting)) != NULL)
		over -= (int64_t)sock_rx_make_room(
			container_of(out, struct sock_conn, rx_wait.charge));
}

/* ---- what goes --------------------------------------------------------------------------- */

static void sock_tx_make_room(struct sock_stack *s)
{
	struct peer_charge *out = peer_set_busiest(&s->tx.waiting);
	struct sock_conn *victim;

	if (!out)
		return;
	victim = container_of(out, struct sock_conn, tx_wait.charge);
	/* It may be in use up the stack: the memory is had at the end of the round. */
	if (s->now - victim->sent_at >= HELD_STALL_NS)
		sock_held_evict(victim);
}

bool sock_tx_take(struct sock_conn *c, uint32_t len)
{
	struct sock_held *h = &c->s->tx;
	uint32_t least = len > HELD_TX_LEAST ? len : HELD_TX_LEAST;

	c->tx = sock_held_are_many(h) ? sock_buffer_new(least) : sock_buffer_take(&c->s->buffers);
	if (!c->tx)
		return false;
	h->bytes += c->tx->size;
	if (h->bytes > h->most)
		sock_tx_make_room(c->s);
	return true;
}

void sock_tx_give(struct sock_conn *c)
{
	if (!c->tx)
		return;
	sock_held_uncharge(&c->s->tx, &c->tx_wait);
	c->s->tx.bytes -= c->tx->size;
	sock_buffer_give(&c->s->buffers, c->tx);
	c->tx = NULL;
}

void sock_tx_keep(struct sock_conn *c)
{
	struct sock_held *h = &c->s->tx;

	c->tx = sock_held_cut(c->s, h, c->tx);
	/* The one that has waited longest is the first. */
	sock_held_uncharge(h, &c->tx_wait);
	sock_held_charge(h, &c->tx_wait, &c->remote.addr, c->tx->size);
}
