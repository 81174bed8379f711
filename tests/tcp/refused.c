/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is refused changes nothing: each segment of RFC 9293 section 3.10.7 that ends in a drop, an
 * ACK or a reset leaves the TCB as it was, to the byte (tcb.h has the exceptions), whatever its
 * other fields and options say. That is so for every combination of control bits, place in the
 * window, acknowledgment, text and time stamp, in each state, and in the middle of each thing that
 * TCP can be about.
 */
#include "states.h"
#include "support/thorough.h"
#include "tcb.h"

#include <stdio.h>
#include <string.h>

static const struct uiwarp_tcp_config busy = {
	.keepalive_ms = 7200000, .receive_buffer = 65536, .congestion_control = "newreno"};

static const char *const controls[] = {"", "F", "S", "SF", "R", "RF", "RS"};
enum { REPEATED, BEFORE, EXACT, INSIDE, LAST, BEHIND, FAR, PLACES };
enum { NO_ACK, ANCIENT, OLD, UNA, NXT, FUTURE, ABSURD, ACKS };
/** The time stamp: far ahead, with all else that might do harm; usual; old; none. */
enum { AHEAD, USUAL, STALE, MISSING, STAMPS };
#define CONTROLS (sizeof controls / sizeof *controls)
#define TEXT     10
#define SEGMENTS (CONTROLS * PLACES * ACKS * 2 * STAMPS)

/** A segment, and what it meets; numbers are relative, but time stamps. */
struct event {
	bool fin, syn, rst, has_ack;
	int32_t seq, ack, len;
	unsigned which_ack, stamp;
	uint32_t tsval;
	int32_t rcv_nxt, edge, snd_una, snd_nxt;
};

/* ---- what must be refused ------------------------------------------------------------------- */

static bool acceptable(const struct event *e)
{
	int64_t space = (int64_t)e->len + e->syn + e->fin;
	int64_t last = e->seq + (space ? space : 1) - 1;

	if (!space && !e->rst) /* ACKs of a peer that has filled the window are at its very edge */
		return e->seq >= e->rcv_nxt && e->seq <= e->edge;
	if (e->edge == e->rcv_nxt) /* a closed window: ACK and RST are still valid */
		return e->seq == e->rcv_nxt;
	return (e->seq >= e->rcv_nxt && e->seq < e->edge) || (last >= e->rcv_nxt && last < e->edge);
}

/* Section 3.10.7.2. */
static bool refused_in_listen(const struct event *e)
{
	return e->rst || e->has_ack || !e->syn || e->fin;
}

/* Section 3.10.7.3. */
static bool refused_in_syn_sent(const struct event *e)
{
	bool ack_ok = e->has_ack && e->ack > e->snd_una && e->ack <= e->snd_nxt;

	if (e->has_ack && !ack_ok)
		return true;
	return e->rst ? !ack_ok : !e->syn;
}

/** RFC 7323 section 5.3, R1, and section 3.2. */
static bool refused_by_paws(const struct script *s, const struct event *e)
{
	return (s->way & TS) && !e->rst && (e->stamp == STALE || e->stamp == MISSING);
}

/* Section 3.10.7.4, SYN-RECEIVED. */
static bool refused_in_syn_received(const struct script *s, struct event e, bool passive)
{
	if (refused_by_paws(s, &e))
		return true;
	if (e.syn && !e.rst && e.seq == e.rcv_nxt - 1) {
		if (!e.has_ack) /* the peer's SYN again: ours goes again */
			return false;
		if (passive)
			return true;
		e.seq++; /* figure 8: the ACK of our SYN */
		e.syn = false;
	}
	if (!acceptable(&e))
		return true;
	if (e.rst)
		return e.seq != e.rcv_nxt;
	if (e.syn) /* back to LISTEN, if the open was passive */
		return !passive;
	return !e.has_ack || e.ack <= e.snd_una || e.ack > e.snd_nxt;
}

/** A SYN that opens a pair in TIME-WAIT anew (RFC 9293 section 3.6.1, RFC 6191). */
static bool opens_anew(const struct script *s, const struct event *e)
{
	if (!e->syn || e->fin || e->rst || e->has_ack)
		return false;
	if ((s->way & TS) && (e->stamp == AHEAD || e->stamp == STALE))
		return e->stamp == AHEAD;
	return e->seq > e->rcv_nxt;
}

/* Section 3.10.7.4, all other states. */
static bool refused_when_synchronized(const struct script *s, const struct event *e, bool time_wait)
{
	bool bad_ack = !e->has_ack || e->which_ack == ANCIENT || e->which_ack >= FUTURE;

	if (time_wait && opens_anew(s, e))
		return false;
	if (refused_by_paws(s, e))
		return true;
	if (!acceptable(e)) /* the FIN again: the time of TIME-WAIT begins anew */
		return !(time_wait && e->fin && !e->syn && !e->rst && !bad_ack &&
			 e->seq + e->len == e->rcv_nxt - 1);
	if (e->rst)
		return e->seq != e->rcv_nxt || time_wait;
	return e->syn || bad_ack;
}

static bool refused(const struct script *s, const struct event *e, const char *state)
{
	if (strcmp(state, "LISTEN") == 0)
		return refused_in_listen(e);
	if (strcmp(state, "SYN-SENT") == 0)
		return refused_in_syn_sent(e);
	if (strcmp(state, "SYN-RECEIVED") == 0)
		return refused_in_syn_received(s, *e, s->fd < 0);
	return refused_when_synchronized(s, e, strcmp(state, "TIME-WAIT") == 0);
}

/* ---- in the middle of what ------------------------------------------------------------------ */

static void in_state(struct script *s)
{
	to_state(s, s->test->name);
}

/** Text is in flight. */
static void flies(struct script *s)
{
	accepted(s);
	for (unsigned i = 0; i < 6; i++) {
		writes(s, 10);
		host(s, "P. %u:%u ack 1", 1 + 10 * i, 11 + 10 * i);
	}
}

static void loses(struct script *s)
{
	flies(s);
	peer(s, ". 1 ack 1 <sack 21:61>");
	pass(s, 0);
	for (unsigned i = 0; i < 3; i++) {
		peer(s, ". 1 ack 1");
		pass(s, 0);
	}
	check(s, script_info(s).fast_recoveries == 1);
}

static void timed_out(struct script *s)
{
	flies(s);
	while (!script_info(s).timeouts)
		pass(s, 10 * MS);
}

static void has_a_gap(struct script *s)
{
	accepted(s);
	peer(s, "P. 11:21 ack 1");
	pass(s, 0);
	peer(s, "P. 31:41 ack 1");
	pass(s, 0);
	peer(s, "F. 51 ack 1");
	pass(s, 0);
}

/** Text is received and not acknowledged yet. */
static void owes_an_ack(struct script *s)
{
	uint32_t at = 1;

	accepted(s);
	do {
		peer(s, "P. %u:%u ack 1", at, at + 10);
		at += 10;
	} while (next(s));
	s->read = at; /* nobody will */
}

static void is_full(struct script *s)
{
	uint32_t at = 1, end;

	accepted(s);
	while ((end = s->edge - s->base.ack) > at) {
		end = end - at > 1400 ? at + 1400 : end;
		peer(s, ". %u:%u ack 1", at, end);
		pass(s, 50 * MS);
		at = end;
	}
}

/** The peer's window is closed: it is probed. */
static void persists(struct script *s)
{
	accepted(s);
	peer(s, ". 1 ack 1 win 0");
	writes(s, 100);
	pass(s, SEC);
}

/** Both ends have met marks. */
static void sees_marks(struct script *s)
{
	listens(s);
	peer(s, "SEC 0 <%s>", offer(s));
	host(s, "S.E 0 ack 1");
	peer(s, ". 1 ack 1");
	accepts(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1 ect0");
	peer(s, "P.E 1:11 ack 11 ce");
	host(s, ".E 11 ack 11");
	check(s, script_info(s).ce_received && script_info(s).ece_received);
	writes(s, 10);
	host(s, "P.EC 11:21 ack 11 ect0");
}

/** Large segments vanish: a smaller MTU is in use, a larger one is searched for. */
static void searches(struct script *s)
{
	uint32_t emss;

	accepted(s);
	emss = script_info(s).emss;
	writes(s, 3 * emss);
	while (script_info(s).emss == emss)
		pass(s, 50 * MS);
}

/* ---- running it ----------------------------------------------------------------------------- */

static int32_t number(struct script *s, uint32_t n, uint32_t base)
{
	return (int32_t)(n - base);
}

/** What the segment meets, as @p t has it. */
static void meet(struct script *s, const struct tcb *t, struct event *e)
{
	const struct tcp_conn *c = &t->conn;

	if (t->connections) {
		e->rcv_nxt = c->state == TCP_SYN_SENT ? 1 : number(s, c->rcv_nxt, s->base.ack);
		e->edge = c->state == TCP_SYN_SENT ? 65536 : number(s, c->rcv_adv, s->base.ack);
		e->snd_una = number(s, c->snd_una, s->base.seq);
		e->snd_nxt =
			number(s, c->snd_max, s->base.seq); /* a FIN may be, behind the window */
		e->tsval = c->ts_recent;
	} else {
		e->rcv_nxt = 1;
		e->edge = 65536;
		e->snd_una = 0;
		e->snd_nxt = 1;
		e->tsval = t->entry.e.ts_recent;
	}
}

/** Number @p i of all segments. */
static void choose(unsigned i, struct event *e)
{
	const char *control = controls[i % CONTROLS];
	unsigned place = i / CONTROLS % PLACES;

	e->which_ack = i / CONTROLS / PLACES % ACKS;
	e->len = i / CONTROLS / PLACES / ACKS % 2 ? TEXT : 0;
	e->stamp = i / CONTROLS / PLACES / ACKS / 2;
	e->fin = strchr(control, 'F') != NULL;
	e->syn = strchr(control, 'S') != NULL;
	e->rst = strchr(control, 'R') != NULL;
	e->has_ack = e->which_ack != NO_ACK;
	e->seq = (const int32_t[]){e->rcv_nxt - TEXT, e->rcv_nxt - 1, e->rcv_nxt, e->rcv_nxt + 1,
		e->edge - 1, e->edge, e->rcv_nxt + 1000000000}[place];
	e->ack = (const int32_t[]){0, e->snd_una - 100000000, e->snd_una - 1, e->snd_una,
		e->snd_nxt, e->snd_nxt + 1, e->snd_nxt + 1000000000}[e->which_ack];
	e->tsval += (const uint32_t[]){1u << 30, 0, -100000u, 0}[e->stamp];
}

static void sends(struct script *s, const struct event *e)
{
	char text[200];
	int n = snprintf(text, sizeof text, "-%s%s%s%s%s %d:%d", e->fin ? "F" : "",
		e->syn ? "S" : "", e->rst ? "R" : "", e->has_ack ? "." : "",
		e->stamp == AHEAD ? "EC" : "", e->seq, e->seq + e->len);

	if (e->has_ack)
		n += snprintf(text + n, sizeof text - (size_t)n, " ack %d", e->ack);
	if (e->stamp == AHEAD)
		snprintf(text + n, sizeof text - (size_t)n,
			" win 7 ce <mss 100,ws 14,sackOK,ts %u %u,sack %d:%d %d:%d>", e->tsval,
			s->ts_echo, e->snd_una - 5, e->snd_una, e->snd_nxt - 5, e->snd_nxt);
	else if (e->stamp == MISSING)
		snprintf(text + n, sizeof text - (size_t)n, " win 9 <no-ts>");
	else
		snprintf(text + n, sizeof text - (size_t)n, " win 8 <ts %u %u>", e->tsval,
			s->ts_echo);
	/* "-" is for no flag at all. */
	peer(s, "%s", text[1] == ' ' ? text : text + 1);
}

/** By a D-SACK (RFC 2883 section 4). */
static bool tells_of_repetition(const struct seg *seg)
{
	return seg->n_sack && (int32_t)(seg->sack[0].left - seg->ack) < 0;
}

/**
 * Text that the peer has sent before is refused, and yet its ACK says that it came: the peer sends
 * it again because it does not know. That is of the ACK alone, and only if SEG.ACK could be the
 * peer's (RFC 5961 section 5.2), lest a stranger has us tell what he likes.
 */
static void may_tell_of_repetition(struct script *s, const struct event *e)
{
	check(s, e->len && e->seq + e->len <= e->rcv_nxt && !e->syn);
	check(s, e->which_ack == OLD || e->which_ack == UNA || e->which_ack == NXT);
}

/** All of them, one after the other: it is as if none had come. */
static void arrive(struct script *s)
{
	static struct tcb before;
	const char *state = script_state(s);
	unsigned n = 0;

	pass(s, MS);
	for (unsigned i = 0; i < SEGMENTS; i += THOROUGH_STEP(5)) {
		struct event e = {0};
		const struct seg *seg;
		bool acknowledged = false;

		tcb_take(s, &before);
		meet(s, &before, &e);
		choose(i, &e);
		if (!refused(s, &e, state))
			continue;
		sends(s, &e);
		while ((seg = next(s))) {
			acknowledged |= (seg->flags & (SYN | RST | ACK)) == ACK;
			if (tells_of_repetition(seg))
				may_tell_of_repetition(s, &e);
		}
		tcb_is_unchanged(s, &before, acknowledged);
		n++;
	}
	check(s, n > SEGMENTS / THOROUGH_STEP(5) / 4);
	state_is(s, state);
}

#define IN(what)                                  \
	static void when_##what(struct script *s) \
	{                                         \
		what(s);                          \
		arrive(s);                        \
	}

IN(in_state)
IN(flies)
IN(loses)
IN(timed_out)
IN(has_a_gap)
IN(owes_an_ack)
IN(is_full)
IN(persists)
IN(sees_marks)
IN(searches)

#define WAYS    (V6 | TS | SACK | WS)
#define REFUSED "RFC 9293 section 3.10.7"

/* clang-format off */

const struct script_test script_tests[] = {
	{"LISTEN",                        REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"SYN-SENT",                      REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"SYN-RECEIVED",                  REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"SYN-RECEIVED after active open", REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"ESTABLISHED",                   REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"FIN-WAIT-1",                    REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"FIN-WAIT-1 with text",          REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"FIN-WAIT-2",                    REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"CLOSE-WAIT",                    REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"CLOSE-WAIT with text",          REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"CLOSING",                       REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"LAST-ACK",                      REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"TIME-WAIT",                     REFUSED, when_in_state, WAYS, WRAP, &busy, NULL},
	{"text in flight",                REFUSED, when_flies, WAYS, WRAP, &busy, NULL},
	{"recovery",                      REFUSED, when_loses, WAYS, WRAP, &busy, NULL},
	{"after a time-out",              REFUSED, when_timed_out, WAYS, WRAP, &busy, NULL},
	{"text and a FIN beyond gaps",    REFUSED, when_has_a_gap, WAYS, WRAP, &busy, NULL},
	{"an ACK is owed",                REFUSED, when_owes_an_ack, WAYS, WRAP, &busy, NULL},
	{"its window is closed",          REFUSED, when_is_full, WAYS, WRAP, &busy, NULL},
	{"the peer's window is closed",   REFUSED, when_persists, WAYS, WRAP, &busy, NULL},
	{"marks both ways",               REFUSED, when_sees_marks, WAYS, WRAP, &busy, NULL},
	{"a search for the path's MTU",   REFUSED, when_searches, WAYS, WRAP, &busy, NULL},
	SCRIPTS_END,
};
