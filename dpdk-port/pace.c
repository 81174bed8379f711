/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/pace.h"

/** Looks in a row before the application is taken to be one that polls on. */
#define POLLING_LOOKS 3

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool pace_look(struct pace *p, uint64_t now, uint64_t rounds)
{
	uint64_t passed = now - p->last_look, count = rounds - p->last_rounds;
	bool polling = count && count >= passed / PACE_INLINE_NS;

	p->last_look = now;
	p->last_rounds = rounds;
	p->polled = polling ? p->polled + 1 : 0;
	/* The first few times look after the packets all the same: an application that polls its
	 * CQ for the end of each message, and memory in between, polls now and then only. */
	return p->polled > POLLING_LOOKS;
}

struct pace_step pace_away(struct pace *p)
{
	p->sleep = min64(p->sleep < PACE_SHORT_NS ? PACE_SHORT_NS : p->sleep * 2, PACE_AWAY_NS);
	return (struct pace_step){.sleep = p->sleep};
}

static bool is_recent(const struct pace *p, uint64_t now)
{
	return p->last_packet && now - p->last_packet < PACE_RECENT_NS;
}

static struct pace_step after_relaxed(
	struct pace *p, uint64_t now, unsigned handled, uint64_t deadline)
{
	uint64_t most = p->tells ? PACE_LINK_NS : PACE_IDLE_NS;
	uint64_t rest = deadline > now ? deadline - now : 0;
	bool recent = is_recent(p, now);

	if (handled >= PACE_FULL_ROUND)
		return (struct pace_step){0};
	p->sleep = recent || p->sleep < PACE_GATHER_NS ? PACE_GATHER_NS : min64(p->sleep * 2, most);
	rest = min64(p->sleep, rest > PACE_GATHER_NS ? rest : PACE_GATHER_NS);
	return (struct pace_step){
		.sleep = rest, .wait_rx = p->tells && !recent, .wait_wake = rest > PACE_AWAY_NS};
}

struct pace_step pace_after(struct pace *p, uint64_t now, unsigned handled, uint64_t deadline)
{
	struct pace_step s = {0};
	uint64_t most = p->tells ? PACE_LINK_NS : PACE_IDLE_NS;

	if (handled)
		p->last_packet = now;
	if (p->relaxed)
		return after_relaxed(p, now, handled, deadline);
	if (p->last_packet && now - p->last_packet < PACE_SPIN_NS)
		return s;
	s.wait_rx = p->tells;
	if (is_recent(p, now)) {
		/* What tells of packets wakes in time by itself, and costs less than looking. */
		p->sleep = p->tells ? most : PACE_SHORT_NS;
	} else {
		p->sleep = min64(p->sleep < PACE_SHORT_NS ? PACE_SHORT_NS : p->sleep * 2, most);
	}
	s.sleep = p->sleep;
	if (deadline <= now)
		s.sleep = 0;
	else
		s.sleep = min64(s.sleep, deadline - now);
	/* An earlier deadline is worth a system call only when it would be late. */
	s.wait_wake = s.sleep > PACE_AWAY_NS;
	return s;
}

bool pace_learn(struct pace *p, uint64_t slept, bool woken, unsigned packets)
{
	/* What the application took in the meantime proves nothing: it may have come too early to
	 * be told of. */
	if (!packets || !p->tells)
		return false;
	if (woken) {
		p->silent = 0;
		return false;
	}
	if (slept < PACE_DOUBT_NS || ++p->silent < PACE_DOUBTS)
		return false;
	p->tells = false;
	return true;
}
