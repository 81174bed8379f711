/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/cc.h"

#include <stddef.h>
#include <string.h>

/** Far above what a scaled window can be; sums of it and a segment do not wrap. */
#define SSTHRESH_INFINITE 0x7fffffffu

static const struct tcp_cc_ops *const table[] = {&tcp_cc_newreno, &tcp_cc_cubic};

const struct tcp_cc_ops *tcp_cc_find(const char *name)
{
	if (!name)
		return table[0];
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	return NULL;
}

void tcp_cc_init(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t smss, bool syn_lost)
{
	uint32_t floor = 2 * smss > 14600 ? 2 * smss : 14600;

	*cc = (struct tcp_cc){.ops = ops, .smss = smss, .ssthresh = SSTHRESH_INFINITE};
	/* RFC 6928 section 2: min(10 MSS, max(2 MSS, 14600)); RFC 5681 section 3.1 after a SYN's
	 * loss. */
	cc->cwnd = 10 * smss < floor ? 10 * smss : floor;
	if (syn_lost)
		cc->cwnd = smss;
	ops->init(cc);
}

void tcp_cc_set_smss(struct tcp_cc *cc, uint32_t smss)
{
	cc->smss = smss;
	if (cc->cwnd < smss)
		cc->cwnd = smss;
}

uint32_t tcp_cc_slow_start(struct tcp_cc *cc, uint32_t acked)
{
	uint32_t room = cc->ssthresh - cc->cwnd;
	uint32_t n = acked < room ? acked : room;

	cc->cwnd += n;
	return acked - n;
}

uint32_t tcp_cc_floor(const struct tcp_cc *cc, uint32_t w)
{
	return w > 2 * cc->smss ? w : 2 * cc->smss;
}
