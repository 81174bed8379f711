/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/early.h"

#include "tcp/conn.h"

#include <stdlib.h>

struct tcp_early *tcp_early_get(struct tcp_conn *c)
{
	if (!c->early)
		c->early = calloc(1, sizeof *c->early);
	return c->early;
}

void tcp_early_done(struct tcp_conn *c)
{
	if (!c->early || c->early->ooo.n || (c->sack_on && tcp_sack_is_news(&c->early->sack)))
		return;
	free(c->early);
	c->early = NULL;
}

void tcp_early_clear(struct tcp_conn *c)
{
	if (!c->early)
		return;
	c->s->rx_held -= c->early->ooo.held;
	tcp_ooo_clear(&c->early->ooo);
	free(c->early);
	c->early = NULL;
}

void tcp_early_duplicate(struct tcp_conn *c, struct tcp_range r)
{
	struct tcp_early *e;

	c->s->stats.duplicate++;
	e = c->sack_on ? tcp_early_get(c) : NULL;
	/* Of one segment, the first run of such bytes is told (RFC 2883 section 4.2). */
	if (e && !e->sack.has_dup)
		tcp_sack_duplicate(&e->sack, r);
}
