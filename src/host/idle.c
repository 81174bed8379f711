/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/idle.h"

static uint64_t idle_min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/** The application was given the time to show that it polls, and did not. */
static void idle_trial_failed(struct idle *p, uint64_t now)
{
	p->trial_gap =
		p->trial_gap ? idle_min64(p->trial_gap * 2, IDLE_TRIAL_MOST_NS) : IDLE_TRIAL_GAP_NS;
	p->next_trial = now + p->trial_gap;
}

/** The application has come by @p count times since the thread has decided what to do. */
static void idle_judge(struct idle *p, uint64_t now, uint64_t count, bool held)
{
	uint64_t passed = now - p->since;
	bool polls = held || (count && count >= passed / IDLE_POLL_NS);
	bool tried = p->trying;

	p->trying = false;
	if (p->away) {
		p->away = polls;
	} else if (tried) {
		p->away = polls;
		if (!polls)
			idle_trial_failed(p, now);
	} else if (count >= IDLE_BUSY_VISITS && count >= passed / IDLE_BUSY_NS) {
		p->away = true;
	} else {
		p->trying = count && now >= p->next_trial;
	}
	if (!p->away)
		p->watch = 0;
}

bool idle_look(struct idle *p, uint64_t now, uint64_t visits, bool held)
{
	uint64_t count = visits - p->visits;

	p->visits = visits;
	if (count) {
		p->last_visit = now;
		p->turn = IDLE_TURN_NS;
	}
	idle_judge(p, now, count, held);
	return p->away || p->trying;
}

struct idle_step idle_away(struct idle *p, uint64_t now)
{
	p->since = now;
	p->turning = false;
	if (!p->away)
		return (struct idle_step){.sleep = IDLE_TRIAL_NS};
	p->watch = p->watch ? idle_min64(p->watch * 2, IDLE_AWAY_NS) : IDLE_TRIAL_NS;
	return (struct idle_step){.sleep = p->watch};
}

struct idle_step idle_has_woken(struct idle *p, uint64_t now)
{
	p->last_packet = now;
	p->trying = true;
	return idle_away(p, now);
}

void idle_recall(struct idle *p, uint64_t now, uint64_t visits)
{
	p->away = p->trying = false;
	p->watch = 0;
	p->visits = visits;
	p->since = now;
	p->next_trial = now + IDLE_TRIAL_GAP_NS;
}

uint64_t idle_tried(struct idle *p, bool had)
{
	p->missed = had ? 0 : p->missed ? idle_min64(p->missed * 2, IDLE_MISSED_NS) : IDLE_SHORT_NS;
	return p->missed;
}

static bool idle_is_recent(const struct idle *p, uint64_t now)
{
	return p->last_packet && now - p->last_packet < IDLE_RECENT_NS;
}

/** No application has come by for a while: nobody waits for this core, as far as is known. */
static bool idle_is_alone(const struct idle *p, uint64_t now)
{
	return !p->last_visit || now - p->last_visit >= IDLE_ALIVE_NS;
}

/** There is more to do, or soon will be. */
static bool idle_goes_on(const struct idle *p, uint64_t now, unsigned handled)
{
	if (p->relaxed || !idle_is_alone(p, now))
		return handled >= IDLE_FULL_ROUND;
	return p->last_packet && now - p->last_packet < IDLE_SPIN_NS;
}

/** Go on; but when the turn is over, let the application show itself first. */
static struct idle_step idle_go_on(struct idle *p, uint64_t now)
{
	if (!p->turning) {
		p->turn_start = now;
		p->turn = p->turn ? p->turn : IDLE_TURN_NS;
	}
	p->turning = now - p->turn_start < p->turn;
	if (p->turning)
		return (struct idle_step){0};
	p->turn = idle_min64(p->turn * 2, IDLE_TURN_MOST_NS);
	p->trying = true;
	return (struct idle_step){.sleep = IDLE_TRIAL_NS};
}

/** The longest sleep. */
static uint64_t idle_most(const struct idle *p)
{
	if (!p->tells)
		return IDLE_BLIND_NS;
	return p->unwatched ? IDLE_LONGEST_NS : IDLE_LINK_NS;
}

static struct idle_step idle_after_relaxed(struct idle *p, uint64_t now, uint64_t deadline)
{
	uint64_t most = idle_most(p);
	uint64_t rest = deadline > now ? deadline - now : 0;
	bool recent = idle_is_recent(p, now);

	p->sleep = recent || p->sleep < IDLE_RELAXED_NS ? IDLE_RELAXED_NS
							: idle_min64(p->sleep * 2, most);
	rest = idle_min64(p->sleep, rest > IDLE_RELAXED_NS ? rest : IDLE_RELAXED_NS);
	return (struct idle_step){
		.sleep = rest, .wait_rx = p->tells && !recent, .wait_wake = rest > IDLE_AWAY_NS};
}

/** How long to sleep if no timer is due before. */
static uint64_t idle_length(struct idle *p, uint64_t now, bool backlog)
{
	uint64_t most = idle_most(p);

	if (backlog)
		return IDLE_SHORT_NS;
	if (p->tells && p->unwatched && idle_is_alone(p, now))
		return most;
	if (!idle_is_recent(p, now))
		return idle_min64(p->sleep < IDLE_SHORT_NS ? IDLE_SHORT_NS : p->sleep * 2, most);
	if (!p->tells)
		return IDLE_SHORT_NS;
	/* What tells of packets wakes in time by itself, and costs less than looking. But an
	 * application that polls may take the packet and what tells of it. */
	return idle_is_alone(p, now) ? most : IDLE_AWAY_NS;
}

struct idle_step idle_after(
	struct idle *p, uint64_t now, unsigned handled, bool backlog, uint64_t deadline)
{
	struct idle_step s;

	p->since = now;
	if (handled)
		p->last_packet = now;
	if (idle_goes_on(p, now, handled) || (deadline <= now && !p->relaxed))
		return idle_go_on(p, now);
	p->turning = false;
	if (p->relaxed && !backlog)
		return idle_after_relaxed(p, now, deadline);
	p->sleep = idle_length(p, now, backlog);
	s.sleep = idle_min64(p->sleep, deadline > now ? deadline - now : 0);
	/* TCP's pacing makes up for what is late. */
	if (s.sleep < IDLE_SHORT_NS && !idle_is_alone(p, now))
		s.sleep = IDLE_SHORT_NS;
	s.wait_rx = p->tells;
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
