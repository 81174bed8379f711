/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/idle.h"

/** Looks in a row before the application is taken to be one that polls on. */
#define POLLING_LOOKS 3

static uint64_t idle_min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool idle_look(struct idle *p, uint64_t now, uint64_t rounds)
{
	uint64_t passed = now - p->last_look, count = rounds - p->last_rounds;
	bool polling = count && count >= passed / IDLE_INLINE_NS;

	p->last_look = now;
	p->last_rounds = rounds;
	p->polled = polling ? p->polled + 1 : 0;
	/* The first few times look after the packets all the same: an application that polls its
	 * CQ for the end of each message, and memory in between, polls now and then only. */
	return p->polled > POLLING_LOOKS;
}

struct idle_step idle_away(struct idle *p)
{
	p->sleep =
		idle_min64(p->sleep < IDLE_SHORT_NS ? IDLE_SHORT_NS : p->sleep * 2, IDLE_AWAY_NS);
	return (struct idle_step){.sleep = p->sleep};
}

static bool idle_is_recent(const struct idle *p, uint64_t now)
{
	return p->last_packet && now - p->last_packet < IDLE_RECENT_NS;
}

static struct idle_step idle_after_relaxed(
	struct idle *p, uint64_t now, unsigned handled, uint64_t deadline)
{
	uint64_t most = p->tells ? IDLE_LINK_NS : IDLE_BLIND_NS;
	uint64_t rest = deadline > now ? deadline - now : 0;
	bool recent = idle_is_recent(p, now);

	if (handled >= IDLE_FULL_ROUND)
		return (struct idle_step){0};
	p->sleep = recent || p->sleep < IDLE_RELAXED_NS ? IDLE_RELAXED_NS
							: idle_min64(p->sleep * 2, most);
	rest = idle_min64(p->sleep, rest > IDLE_RELAXED_NS ? rest : IDLE_RELAXED_NS);
	return (struct idle_step){
		.sleep = rest, .wait_rx = p->tells && !recent, .wait_wake = rest > IDLE_AWAY_NS};
}

struct idle_step idle_after(struct idle *p, uint64_t now, unsigned handled, uint64_t deadline)
{
	struct idle_step s = {0};
	uint64_t most = p->tells ? IDLE_LINK_NS : IDLE_BLIND_NS;

	if (handled)
		p->last_packet = now;
	if (p->relaxed)
		return idle_after_relaxed(p, now, handled, deadline);
	if (p->last_packet && now - p->last_packet < IDLE_SPIN_NS)
		return s;
	s.wait_rx = p->tells;
	if (idle_is_recent(p, now)) {
		/* What tells of packets wakes in time by itself, and costs less than looking. */
		p->sleep = p->tells ? most : IDLE_SHORT_NS;
	} else {
		p->sleep =
			idle_min64(p->sleep < IDLE_SHORT_NS ? IDLE_SHORT_NS : p->sleep * 2, most);
	}
	s.sleep = p->sleep;
	if (deadline <= now)
		s.sleep = 0;
	else
		s.sleep = idle_min64(s.sleep, deadline - now);
	/* An earlier deadline is worth a system call only when it would be late. */
	s.wait_wake = s.sleep > IDLE_AWAY_NS;
	return s;
}

bool idle_learn(struct idle *p, uint64_t slept, bool woken, unsigned packets)
{
	/* What the application took in the meantime proves nothing: it may have come too early to
	 * be told of. */
	if (!packets || !p->tells)
		return false;
	if (woken) {
		p->silent = 0;
		return false;
	}
	if (slept < IDLE_DOUBT_NS || ++p->silent < IDLE_DOUBTS)
		return false;
	p->tells = false;
	return true;
}
