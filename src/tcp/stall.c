/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/stall.h"

#include <stdlib.h>

void tcp_stall_begin(struct tcp_conn *c)
{
	struct tcp_stall *t;

	if (c->stalled || c->orphan)
		return;
	t = malloc(sizeof *t);
	if (!t)
		return;
	t->since = c->progress_at;
	c->stall = t;
	c->stalled = true;
}

void tcp_stall_end(struct tcp_conn *c)
{
	if (!c->stalled)
		return;
	free(c->stall);
	c->stall = NULL;
	c->stalled = false;
}

uint64_t tcp_stall_deadline(const struct tcp_conn *c)
{
	uint64_t ms = c->s->cfg.zero_window_timeout_ms;

	return c->stalled && ms ? c->stall->since + ms * TCP_MS : TIMER_NEVER;
}

void tcp_stall_log(const struct tcp_conn *c, const char *why)
{
	char remote[IP_ADDR_STRLEN];

	log_printf(c->s->cfg.log, LOG_LEVEL_WARNING,
		"TCP: reset %s port %u, of which %u bytes wait: its window was closed %s",
		ip_addr_format(&c->id.remote, remote), c->id.rport, c->sendq.bytes, why);
}
