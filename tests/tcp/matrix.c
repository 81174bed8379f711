/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RFC 9293 section 3.10.7, SEGMENT ARRIVES, without a gap: in each state each combination of
 * control bits, place in the receive window, acknowledgment and text. What must come of it is
 * worked out below from the RFC's text (with RFC 5961 and RFC 1337, and what segment_arrives.c says
 * of our choices), step by step as it stands there.
 */
#include "states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const controls[] = {"", "F", "S", "SF", "R"};
static const char *const places[] = {
	"before", "exact", "inside", "last byte", "behind", "far away"};
static const char *const acks[] = {"no ACK", "ancient", "old", "SND.UNA", "SND.NXT", "future"};
enum { BEFORE, EXACT, INSIDE, LAST, BEHIND, FAR, PLACES };
enum { NO_ACK, ANCIENT, OLD, UNA, NXT, FUTURE, ACKS };
#define CONTROLS 5
#define TEXT     10
#define SEGMENTS (CONTROLS * PLACES * ACKS * 2)

/** The segment, and what it meets; numbers are relative. */
struct event {
	bool fin, syn, rst, has_ack;
	int32_t seq, ack;
	int32_t len;
	int32_t rcv_nxt, edge, snd_una, snd_nxt;
	int place, which_ack;
};

enum answer { SILENCE, AN_ACK, A_RESET, A_RESET_ACK, A_SYN_ACK, ANOTHER_SYN_ACK };

struct outcome {
	enum answer answer;
	int32_t seq, ack;
	const char *state; /**< NULL: as before */
};

static int32_t space(const struct event *e)
{
	return e->len + e->syn + e->fin;
}

static struct outcome silence_in(const char *state)
{
	return (struct outcome){.answer = SILENCE, .state = state};
}

static struct outcome ack_in(const struct event *e, int32_t ack, const char *state)
{
	return (struct outcome){AN_ACK, e->snd_nxt, ack, state};
}

static struct outcome reset_for(const struct event *e)
{
	if (e->has_ack)
		return (struct outcome){.answer = A_RESET, .seq = e->ack};
	return (struct outcome){.answer = A_RESET_ACK, .ack = e->seq + space(e)};
}

/* Section 3.10.7.1. */
static struct outcome closed(const struct event *e)
{
	return e->rst ? silence_in(NULL) : reset_for(e);
}

/* Section 3.10.7.2. SYN with FIN is dropped (segment_arrives.c). */
static struct outcome listening(const struct event *e)
{
	if (e->rst)
		return silence_in(NULL);
	if (e->has_ack)
		return reset_for(e);
	if (!e->syn || e->fin)
		return silence_in(NULL);
	return (struct outcome){A_SYN_ACK, 0, e->seq + 1, "SYN-RECEIVED"};
}

/* Section 3.10.7.3. */
static struct outcome syn_sent(const struct event *e)
{
	bool ack_ok = e->has_ack && e->ack > 0 && e->ack <= e->snd_nxt;

	if (e->has_ack && !ack_ok)
		return e->rst ? silence_in(NULL) : reset_for(e);
	if (e->rst)
		return silence_in(ack_ok ? "CLOSED" : NULL);
	if (!e->syn)
		return silence_in(NULL);
	if (!e->has_ack) /* text and FIN come again when the connection is there */
		return (struct outcome){A_SYN_ACK, 0, e->seq + 1, "SYN-RECEIVED"};
	return ack_in(e, e->seq + space(e), e->fin ? "CLOSE-WAIT" : "ESTABLISHED");
}

/** First: the table of section 3.4, for a window that is open; and ACKs at its very edge. */
static bool acceptable(const struct event *e)
{
	int64_t last = (int64_t)e->seq + (space(e) ? space(e) : 1) - 1;

	if (!space(e) && !e->rst && e->seq == e->edge)
		return true;
	return (e->seq >= e->rcv_nxt && e->seq < e->edge) || (last >= e->rcv_nxt && last < e->edge);
}

/** Seventh and eighth; @p state as the ACK has left it. */
static struct outcome text_and_fin(const struct event *e, const char *state, const char *changed)
{
	bool in_order = e->seq <= e->rcv_nxt;
	const char *after = changed;

	if (!strstr("ESTABLISHED FIN-WAIT-1 FIN-WAIT-2", state) || (!e->len && !e->fin))
		return silence_in(changed);
	if (!in_order)
		return ack_in(e, e->rcv_nxt, changed);
	if (e->fin)
		after = strcmp(state, "ESTABLISHED") == 0  ? "CLOSE-WAIT"
			: strcmp(state, "FIN-WAIT-1") == 0 ? "CLOSING"
							   : "TIME-WAIT";
	return ack_in(e, e->seq + e->len + e->fin, after);
}

/* Section 3.10.7.4, SYN-RECEIVED. A way back leads to LISTEN if the open was passive. */
static struct outcome syn_received(const struct event *e, bool passive)
{
	const struct event as_ack = {.fin = e->fin,
		.has_ack = true,
		.seq = e->seq + 1,
		.ack = e->ack,
		.len = e->len,
		.rcv_nxt = e->rcv_nxt,
		.edge = e->edge,
		.snd_una = e->snd_una,
		.snd_nxt = e->snd_nxt};

	/* The peer's SYN again: ours was lost; with an ACK it is figure 8's, if both were active.
	 */
	if (e->syn && !e->rst && e->seq == e->rcv_nxt - 1) {
		if (!e->has_ack)
			return (struct outcome){A_SYN_ACK, 0, e->rcv_nxt, NULL};
		if (passive)
			return ack_in(e, e->rcv_nxt, NULL);
		e = &as_ack;
	}
	if (!acceptable(e))
		return e->rst ? silence_in(NULL) : ack_in(e, e->rcv_nxt, NULL);
	if (e->rst && e->seq != e->rcv_nxt)
		return ack_in(e, e->rcv_nxt, NULL);
	if (e->rst)
		return silence_in(passive ? "LISTEN" : "CLOSED");
	if (e->syn)
		return passive ? silence_in("LISTEN") : ack_in(e, e->rcv_nxt, NULL);
	if (!e->has_ack)
		return silence_in(NULL);
	if (e->ack <= e->snd_una || e->ack > e->snd_nxt)
		return reset_for(e);
	return text_and_fin(e, "ESTABLISHED", "ESTABLISHED");
}

/** Fifth: what the acknowledgment of our FIN changes. */
static const char *after_ack(const struct event *e, const char *state)
{
	if (e->ack != e->snd_nxt)
		return NULL;
	if (strcmp(state, "FIN-WAIT-1") == 0)
		return "FIN-WAIT-2";
	if (strcmp(state, "CLOSING") == 0)
		return "TIME-WAIT";
	return strcmp(state, "LAST-ACK") == 0 ? "CLOSED" : NULL;
}

/* Section 3.10.7.4, all other states. */
static struct outcome synchronized(const struct event *e, const char *state)
{
	bool waits = strcmp(state, "TIME-WAIT") == 0;
	const char *changed;

	/* Section 3.6.1: a new connection in the place of one in TIME-WAIT. */
	if (waits && e->syn && !e->fin && !e->rst && !e->has_ack && e->seq > e->rcv_nxt)
		return (struct outcome){ANOTHER_SYN_ACK, 0, e->seq + 1, "SYN-RECEIVED"};
	if (!acceptable(e))
		return e->rst ? silence_in(NULL) : ack_in(e, e->rcv_nxt, NULL);
	if (e->rst && e->seq != e->rcv_nxt)
		return ack_in(e, e->rcv_nxt, NULL);
	if (e->rst) /* RFC 1337 section 3 */
		return silence_in(waits ? NULL : "CLOSED");
	if (e->syn)
		return ack_in(e, e->rcv_nxt, NULL);
	if (!e->has_ack)
		return silence_in(NULL);
	if (e->which_ack == FUTURE || e->which_ack == ANCIENT)
		return ack_in(e, e->rcv_nxt, NULL);
	changed = waits ? NULL : after_ack(e, state);
	return text_and_fin(e, changed ? changed : state, changed);
}

static struct outcome expected(const struct event *e, const char *state)
{
	if (strcmp(state, "CLOSED") == 0)
		return closed(e);
	if (strcmp(state, "LISTEN") == 0)
		return listening(e);
	if (strcmp(state, "SYN-SENT") == 0)
		return syn_sent(e);
	if (strstr(state, "SYN-RECEIVED"))
		return syn_received(e, strcmp(state, "SYN-RECEIVED") == 0);
	return synchronized(e, state);
}

/* ---- running it ---------------------------------------------------------------------------- */

static int32_t number(struct script *s, const char *name)
{
	char text[32];

	return (int32_t)strtol(with_numbers(s, name, text, sizeof text), NULL, 10);
}

static struct script_row rows[SEGMENTS + 1];

/** Row number @p i's segment, as it is in the present state. */
static struct event event_of(struct script *s, unsigned i)
{
	const char *control = controls[i % CONTROLS];
	struct event e = {.place = (int)(i / CONTROLS % PLACES),
		.which_ack = (int)(i / CONTROLS / PLACES % ACKS),
		.len = i / CONTROLS / PLACES / ACKS ? TEXT : 0,
		.rcv_nxt = number(s, "$R"),
		.snd_una = number(s, "$U"),
		.snd_nxt = number(s, "$N")};

	e.edge = s->edge_known ? number(s, "$W") : e.rcv_nxt + 65535;
	e.fin = strchr(control, 'F') != NULL;
	e.syn = strchr(control, 'S') != NULL;
	e.rst = strchr(control, 'R') != NULL;
	e.has_ack = e.which_ack != NO_ACK;
	e.seq = (const int32_t[]){e.rcv_nxt - 1, e.rcv_nxt, e.rcv_nxt + 1, e.edge - 1, e.edge,
		e.rcv_nxt + 1000000000}[e.place];
	e.ack = (const int32_t[]){0, e.snd_una - 100000000, e.snd_una - 1, e.snd_una, e.snd_nxt,
		e.snd_nxt + 1}[e.which_ack];
	return e;
}

static void sends(struct script *s, const struct event *e)
{
	char text[80];
	int n = snprintf(text, sizeof text, "%s%s%s%s %d", e->fin ? "F" : "", e->syn ? "S" : "",
		e->rst ? "R" : "", e->has_ack ? "." : "", e->seq);

	if (n && text[0] == ' ') {
		memmove(text + 1, text, (size_t)n + 1);
		text[0] = '-';
		n++;
	}
	if (e->len)
		n += snprintf(text + n, sizeof text - (size_t)n, ":%d", e->seq + e->len);
	if (e->has_ack)
		snprintf(text + n, sizeof text - (size_t)n, " ack %d", e->ack);
	peer(s, "%s", text);
}

static void answers_as(struct script *s, const struct outcome *o, const struct event *e)
{
	const struct seg *seg;

	switch (o->answer) {
	case AN_ACK:
		host(s, ". %d ack %d", o->seq, o->ack);
		break;
	case A_RESET: /* in LISTEN our own numbers are not known */
		host(s, "R =%u", s->base.seq + (uint32_t)e->ack);
		break;
	case A_RESET_ACK:
		host(s, "R. =0 ack %d", o->ack);
		break;
	case A_SYN_ACK:
		host(s, "S. 0 ack %d", o->ack);
		break;
	case ANOTHER_SYN_ACK:
		seg = next(s);
		check(s, seg && seg->flags == (SYN | ACK));
		check(s, seg->ack - s->base.ack == (uint32_t)o->ack);
		break;
	default:
		break;
	}
	nothing(s);
}

static void arrives(struct script *s)
{
	const char *name = s->test->name;
	struct outcome o;
	struct event e;

	to_state(s, name);
	e = event_of(s, (unsigned)(s->row - rows));
	o = expected(&e, name);
	sends(s, &e);
	answers_as(s, &o, &e);
	if (!o.state)
		o.state = strstr(name, "SYN-RECEIVED") ? "SYN-RECEIVED" : name;
	state_is(s, o.state);
}

/** Before main(), which reads them. */
static __attribute__((constructor)) void name_rows(void)
{
	static char names[SEGMENTS][64];

	for (unsigned i = 0; i < SEGMENTS; i++) {
		snprintf(names[i], sizeof names[i], "%s %s, %s%s", controls[i % CONTROLS],
			places[i / CONTROLS % PLACES], acks[i / CONTROLS / PLACES % ACKS],
			i / CONTROLS / PLACES / ACKS ? ", text" : "");
		rows[i].name = names[i];
	}
}

#define SYNCHRONIZED "RFC 9293 section 3.10.7.4"

const struct script_test script_tests[] = {
	SCRIPT_ROWS("CLOSED", "RFC 9293 section 3.10.7.1", arrives, V6, 0, rows),
	SCRIPT_ROWS("LISTEN", "RFC 9293 section 3.10.7.2", arrives, V6, 0, rows),
	SCRIPT_ROWS("SYN-SENT", "RFC 9293 section 3.10.7.3", arrives, V6, 0, rows),
	SCRIPT_ROWS("SYN-RECEIVED", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("SYN-RECEIVED after active open", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("ESTABLISHED", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("FIN-WAIT-1", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("FIN-WAIT-2", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("CLOSE-WAIT", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("CLOSING", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("LAST-ACK", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPT_ROWS("TIME-WAIT", SYNCHRONIZED, arrives, V6, 0, rows),
	SCRIPTS_END,
};
