/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcb.h"

#include "drive/host.h"
#include "tcp/pmtu.h"

#include <string.h>

_Static_assert(sizeof(struct tcp_pmtu) <= sizeof((struct tcb *)0)->pmtu, "it fits");

static void take_entry(const struct tcp_synq *t, struct tcb *out)
{
	for (uint32_t i = 0; t->count && i <= t->mask; i++)
		if (t->bucket[i])
			memcpy(&out->entry, t->bucket[i], sizeof out->entry);
}

static void take_conn(struct script *s, const struct tcp_conn *c, struct tcb *out)
{
	memcpy(&out->conn, c, sizeof out->conn);
	if (c->sendq.count > TCB_RECORDS)
		script_fail(s, "more records than can be compared");
	for (uint32_t i = 0; i < c->sendq.count; i++)
		memcpy(&out->record[i], tcp_sendq_at(&c->sendq, i), sizeof out->record[i]);
	if (c->ooo_state) {
		const struct tcp_ooo *o = &c->ooo_state->ooo;

		memcpy(&out->ooo_state, c->ooo_state, sizeof out->ooo_state);
		for (uint32_t i = 0; i < o->n && i < TCB_ISLANDS; i++)
			out->island[i] = tcp_ooo_at(o, i)->r;
	}
	if (c->pmtu)
		memcpy(out->pmtu, c->pmtu, sizeof *c->pmtu);
}

void tcb_take(struct script *s, struct tcb *out)
{
	struct tcp_stack *t = s->h->tcp;

	memset(out, 0, sizeof *out);
	out->connections = t->table.count;
	out->synq = t->synq.count;
	if (out->connections + out->synq > 1)
		script_fail(s, "there is more than one connection");
	if (out->connections)
		take_conn(s, tcp_table_get(&t->table, 0), out);
	take_entry(&t->synq, out);
	out->time_wait = t->time_wait.count;
	out->orphans = t->orphans.count;
	out->tx_held = t->tx_held;
	out->rx_held = t->rx_held;
	out->rx_claimed = t->rx_claimed;
}

/** Take out what may change; @p acknowledged: with what an ACK tells. */
static void leave_out(struct tcb *t, bool acknowledged)
{
	struct tcp_conn *c = &t->conn;

	c->segments_in = c->segments_out = 0;
	c->challenges = 0;
	c->challenge_ms = 0;
	c->dirty_next = NULL; /* of a list that it is not in any more */
	if (!acknowledged)
		return;
	c->last_ack_sent = c->rcv_adv = 0;
	c->ack_now = false;
	c->delack_at = 0;
}

void tcb_is_unchanged(struct script *s, const struct tcb *was, bool acknowledged)
{
	static struct tcb before, now;
	const uint8_t *a = (const uint8_t *)&before, *b = (const uint8_t *)&now;
	size_t at = 0, conn = offsetof(struct tcb, conn);

	memcpy(&before, was, sizeof before);
	tcb_take(s, &now);
	leave_out(&before, acknowledged);
	leave_out(&now, acknowledged);
	while (at < sizeof now && a[at] == b[at])
		at++;
	if (at == sizeof now)
		return;
	if (at >= conn && at < conn + sizeof now.conn)
		script_fail(s, "byte %zu of struct tcp_conn is not what it was: %02x, was %02x",
			at - conn, b[at], a[at]);
	script_fail(
		s, "byte %zu of struct tcb is not what it was: %02x, was %02x", at, b[at], a[at]);
}
