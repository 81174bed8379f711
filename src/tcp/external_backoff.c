/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/external_backoff.h"

/** How long copies are made at first, and how often that doubles: to an hour. */
#define BACKOFF_NS      (UINT64_C(60) * 1000 * 1000 * 1000)
#define BACKOFF_DOUBLED 6

static uint64_t tcp_external_backoff_begin(struct tcp_external_backoff *b, uint64_t now)
{
	uint64_t ns = BACKOFF_NS << b->times;

	b->bad = 0;
	b->times += b->times < BACKOFF_DOUBLED;
	b->until = now + ns;
	return ns;
}

uint64_t tcp_external_backoff_sent(struct tcp_external_backoff *b, uint64_t now)
{
	bool bad;

	if (++b->sent < TCP_EXTERNAL_SERIES)
		return 0;
	bad = b->lost > TCP_EXTERNAL_SERIES / 5;
	b->sent = b->lost = 0;
	b->bad = bad ? b->bad + 1 : 0;
	b->good = bad ? 0 : b->good + 1;
	if (b->good == TCP_EXTERNAL_GOOD)
		b->times = b->good = 0;
	return b->bad == TCP_EXTERNAL_BAD ? tcp_external_backoff_begin(b, now) : 0;
}
