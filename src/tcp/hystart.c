/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/hystart.h"

#include "tcp/seq.h"

/* RFC 9406 section 4.3, in microseconds; L is infinite, as we pace. */
#define MIN_RTT_THRESH  4000
#define MAX_RTT_THRESH  16000
#define MIN_RTT_DIVISOR 8
#define JITTER          200
#define N_RTT_SAMPLE    8
#define CSS_ROUNDS      5

/**
 * Section 4.2's RttThresh. Its least, 4 ms, would never be reached by the queue of a path that is
 * shorter than that; there, half a round trip more is a queue, but for jitter of our own machine.
 */
static uint32_t tcp_hystart_threshold(const struct tcp_hystart *h)
{
	uint32_t least = u32_min(u32_max(h->last_min / 2, JITTER), MIN_RTT_THRESH);

	return u32_max(least, u32_min(h->last_min / MIN_RTT_DIVISOR, MAX_RTT_THRESH));
}

static void tcp_hystart_begin_round(struct tcp_hystart *h, uint32_t snd_nxt)
{
	h->last_min = h->running ? h->round_min : UINT32_MAX;
	h->round_min = UINT32_MAX;
	h->samples = 0;
	h->group_min = UINT32_MAX;
	h->window_end = snd_nxt;
	h->running = true;
}

static void tcp_hystart_take(struct tcp_hystart *h, uint64_t rtt)
{
	uint32_t us = (uint32_t)u64_min(u64_max(rtt / 1000, 1), UINT32_MAX - 1);

	if (!rtt)
		return;
	if (h->samples == N_RTT_SAMPLE) {
		h->samples = 0;
		h->group_min = UINT32_MAX;
	}
	h->group_min = u32_min(h->group_min, us);
	h->round_min = u32_min(h->round_min, us);
	h->samples++;
}

/**
 * Section 4.2 compares the shortest round trip of a whole round, which is that of its first
 * packets: when a window outgrows the path, only its last packets find a queue. A round later there
 * are twice as many, and they overflow it. We do not send a window as a burst, which would queue by
 * itself, so any N_RTT_SAMPLE consecutive samples are enough.
 */
static bool tcp_hystart_queue_grows(const struct tcp_hystart *h)
{
	return h->last_min != UINT32_MAX && h->group_min >= h->last_min + tcp_hystart_threshold(h);
}

enum tcp_hystart_growth tcp_hystart_ack(
	struct tcp_hystart *h, uint64_t rtt, uint32_t snd_una, uint32_t snd_nxt)
{
	/* Its end is in flight, or it is over: however long ago, as nothing is asked here while the
	 * window does not grow. */
	bool over = h->running && h->window_end - snd_una - 1 >= snd_nxt - snd_una;

	/* Section 4.2: a CSS that lasted its rounds was right. */
	if (over && h->css_rounds && --h->css_rounds == 0)
		return TCP_HYSTART_DONE;
	if (over || !h->running)
		tcp_hystart_begin_round(h, snd_nxt);
	tcp_hystart_take(h, rtt);
	if (h->samples < N_RTT_SAMPLE)
		return h->css_rounds ? TCP_HYSTART_CSS : TCP_HYSTART_FULL;
	if (h->css_rounds) {
		/* The round trip is short again: it was jitter, slow start goes on. */
		if (h->round_min < h->css_baseline)
			h->css_rounds = 0;
	} else if (tcp_hystart_queue_grows(h)) {
		h->css_baseline = h->group_min;
		h->css_rounds = CSS_ROUNDS;
		h->round_min = UINT32_MAX; /* what came before in this round is no sign of jitter */
	}
	return h->css_rounds ? TCP_HYSTART_CSS : TCP_HYSTART_FULL;
}
