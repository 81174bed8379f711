/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/unread.h"

#include "tcp/control.h"

#include <errno.h>
#include <stdlib.h>

/** Connections that are looked at for one that was refused a packet. */
#define UNREAD_LOOK 64
/**
 * So long the user must have taken nothing. What was refused is repeated some times meanwhile, so
 * that a user that only waits for room is not taken for one that does not want any.
 */
#define UNREAD_PATIENCE (1000 * TCP_MS)

int tcp_unreads_init(struct tcp_stack *s)
{
	TAILQ_INIT(&s->unreads.list);
	return peer_set_init(&s->unreads.peers, UNREAD_LOOK, &s->table.key);
}

void tcp_unreads_fini(struct tcp_stack *s)
{
	peer_set_fini(&s->unreads.peers);
}

void tcp_unread_add(struct tcp_conn *c)
{
	struct tcp_unread *u;

	if (c->orphan || c->has_unread)
		return;
	u = malloc(sizeof *u);
	if (!u)
		return;
	*u = (struct tcp_unread){.conn = c, .since = c->s->now};
	TAILQ_INSERT_TAIL(&c->s->unreads.list, u, link);
	c->unread = u;
	c->has_unread = true;
}

void tcp_unread_end(struct tcp_conn *c)
{
	if (!c->has_unread)
		return;
	TAILQ_REMOVE(&c->s->unreads.list, c->unread, link);
	free(c->unread);
	c->unread = NULL;
	c->has_unread = false;
}

uint32_t tcp_unread_held(const struct tcp_conn *c)
{
	return c->recvq.count + (c->ooo_state ? c->ooo_state->ooo.held : 0);
}

void tcp_unread_want(struct tcp_stack *s, uint32_t held)
{
	uint32_t wanted = held + 1;

	if (!s->rx_wanted || wanted < s->rx_wanted)
		s->rx_wanted = wanted;
}

/** What would be gained, and from how greedy a peer. */
static uint64_t tcp_unread_greed(const struct tcp_unread *u)
{
	const struct peer_entry *peer = u->charge.peer; /* NULL: there was no memory for it */

	return (uint64_t)tcp_unread_held(u->conn) * (peer ? peer->count : 1);
}

/**
 * Look at some, others each time, and forget those of which nothing waits any more.
 * @return how many of them, in @p found, hold more than @p wanted and do not move.
 */
static unsigned tcp_unread_look(
	struct tcp_stack *s, uint32_t wanted, struct tcp_unread *found[UNREAD_LOOK])
{
	const struct tcp_unread *last = TAILQ_LAST(&s->unreads.list, tcp_unread_list);
	bool all = !last;
	unsigned n = 0;

	for (unsigned i = 0; i < UNREAD_LOOK && !all; i++) {
		struct tcp_unread *u = TAILQ_FIRST(&s->unreads.list);

		all = u == last;
		if (!u->conn->recvq.count) {
			tcp_unread_end(u->conn);
			continue;
		}
		TAILQ_REMOVE(&s->unreads.list, u, link);
		TAILQ_INSERT_TAIL(&s->unreads.list, u, link);
		if (tcp_unread_held(u->conn) > wanted && s->now - u->since >= UNREAD_PATIENCE)
			found[n++] = u;
	}
	return n;
}

/** Reset it, and tell its user as if it had not answered. */
static void tcp_unread_give_up(struct tcp_unread *u)
{
	struct tcp_conn *c = u->conn;
	char remote[IP_ADDR_STRLEN];

	log_printf(c->s->cfg.log, log_level_of_count(++c->s->stats.unread_ended),
		"TCP: reset %s port %u, of which %u bytes wait in %u packets, none of them taken "
		"for %u s (the end of an FPDU is missing, or a receive), and others want the "
		"memory",
		ip_addr_format(&c->id.remote, remote), c->id.rport, c->recvq.bytes,
		tcp_unread_held(c), (unsigned)((c->s->now - u->since) / (1000 * TCP_MS)));
	tcp_send_rst(c);
	tcp_conn_close(c, -ETIMEDOUT);
}

void tcp_unread_relieve(struct tcp_stack *s)
{
	struct tcp_unread *found[UNREAD_LOOK], *most = NULL;
	unsigned n = tcp_unread_look(s, s->rx_wanted - 1, found);

	s->rx_wanted = 0;
	for (unsigned i = 0; i < n; i++)
		(void)peer_set_add(
			&s->unreads.peers, &found[i]->charge, &found[i]->conn->id.remote);
	for (unsigned i = 0; i < n; i++)
		if (!most || tcp_unread_greed(found[i]) > tcp_unread_greed(most))
			most = found[i];
	for (unsigned i = 0; i < n; i++)
		peer_set_remove(&s->unreads.peers, &found[i]->charge);
	if (most)
		tcp_unread_give_up(most);
}
