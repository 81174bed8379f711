/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/stall.h"

#include "base/container_of.h"
#include "tcp/control.h"

#include <errno.h>
#include <stdlib.h>

/** Connections that are looked at for one that was refused a packet. */
#define STALLS_LOOK 64
/** A stall that this much was taken of is over, however much still waits. */
#define STALLS_ENOUGH (64u << 10)
/** Peers that are kept well apart. */
#define STALLS_PEERS 1024

int tcp_stalls_init(struct tcp_stack *s)
{
	TAILQ_INIT(&s->stalls.list);
	return peer_set_init(&s->stalls.peers, STALLS_PEERS, &s->table.key);
}

void tcp_stalls_fini(struct tcp_stack *s)
{
	peer_set_fini(&s->stalls.peers);
}

/** Reset it, and tell its user as if it had not answered. */
static void tcp_stall_give_up(struct tcp_stall *t, const char *why)
{
	struct tcp_conn *c = t->conn;

	c->s->stats.stalls_ended++;
	tcp_stall_log(c, why);
	tcp_send_rst(c);
	tcp_conn_close(c, -ETIMEDOUT);
}

/** The peer of @p c has as many as it may. */
static void tcp_stall_make_room(const struct tcp_conn *c)
{
	const struct peer_charge *oldest = peer_set_oldest(&c->s->stalls.peers, &c->id.remote);
	struct tcp_stall *most = NULL;
	struct peer_charge *charge;

	TAILQ_FOREACH (charge, &oldest->peer->charges, link) {
		struct tcp_stall *t = container_of(charge, struct tcp_stall, charge);

		if (!most || t->conn->sendq.count > most->conn->sendq.count)
			most = t;
	}
	tcp_stall_give_up(most, "and so was that of as many others of this peer as may be");
}

void tcp_stall_begin(struct tcp_conn *c)
{
	struct tcp_stalls *all = &c->s->stalls;
	uint32_t most = c->s->cfg.max_stalled_per_peer;
	struct tcp_stall *t;

	if (c->stalled || c->orphan)
		return;
	if (most && peer_set_count(&all->peers, &c->id.remote) >= most)
		tcp_stall_make_room(c);
	/* The other's user was told, and may have ended this one. */
	if (c->state == TCP_CLOSED || c->orphan)
		return;
	t = malloc(sizeof *t);
	if (!t)
		return;
	*t = (struct tcp_stall){.conn = c, .since = c->progress_at, .bytes_acked = c->bytes_acked};
	if (peer_set_add(&all->peers, &t->charge, &c->id.remote)) {
		free(t);
		return;
	}
	TAILQ_INSERT_TAIL(&all->list, t, link);
	c->stall = t;
	c->stalled = true;
}

void tcp_stall_end(struct tcp_conn *c)
{
	if (!c->stalled)
		return;
	TAILQ_REMOVE(&c->s->stalls.list, c->stall, link);
	peer_set_remove(&c->s->stalls.peers, &c->stall->charge);
	free(c->stall);
	c->stall = NULL;
	c->stalled = false;
}

void tcp_stall_progress(struct tcp_conn *c)
{
	uint64_t taken;

	if (!c->stalled)
		return;
	taken = c->bytes_acked - c->stall->bytes_acked;
	if (taken >= u64_min((taken + c->sendq.bytes) / 4, STALLS_ENOUGH))
		tcp_stall_end(c);
}

uint64_t tcp_stall_deadline(const struct tcp_conn *c)
{
	uint64_t ms = c->s->cfg.zero_window_timeout_ms;

	return c->stalled && ms ? c->stall->since + ms * TCP_MS : TIMER_NEVER;
}

void tcp_stall_log(const struct tcp_conn *c, const char *why)
{
	const struct tcp_stats *st = &c->s->stats;
	char remote[IP_ADDR_STRLEN];

	log_printf(c->s->cfg.log, log_level_of_count(st->zero_window_timeouts + st->stalls_ended),
		"TCP: reset %s port %u, for which %u bytes wait: its window was closed, and "
		"it took %llu in %u s, %s",
		ip_addr_format(&c->id.remote, remote), c->id.rport, c->sendq.bytes,
		(unsigned long long)(c->bytes_acked - c->stall->bytes_acked),
		(unsigned)((c->s->now - c->stall->since) / (1000 * TCP_MS)), why);
}

/** What would be gained, and from how greedy a peer. */
static uint64_t tcp_stall_greed(const struct tcp_stall *t)
{
	return (uint64_t)t->conn->sendq.count * t->charge.peer->count;
}

void tcp_stalls_relieve(struct tcp_stack *s)
{
	uint32_t wanted = s->tx_wanted - 1;
	struct tcp_stall *t, *last = TAILQ_LAST(&s->stalls.list, tcp_stall_list), *most = NULL;

	s->tx_wanted = 0;
	if (!last)
		return;
	for (unsigned i = 0; i < STALLS_LOOK; i++) {
		t = TAILQ_FIRST(&s->stalls.list);
		TAILQ_REMOVE(&s->stalls.list, t, link);
		TAILQ_INSERT_TAIL(&s->stalls.list, t, link);
		if (t->conn->sendq.count > wanted &&
			(!most || tcp_stall_greed(t) > tcp_stall_greed(most)))
			most = t;
		if (t == last)
			break;
	}
	if (most)
		tcp_stall_give_up(most, "and others want the memory");
}
