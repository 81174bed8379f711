/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RFC 9293 section 3.10.8: each time-out in each state. Rows of retransmission: the state; what
 * comes again; the state then. Of the user time-out: the state; what the user hears when it reads,
 * and, where that is the end as the peer said it, "unsent" if SEND tells of the time-out.
 */
#include "states.h"

#include <errno.h>
#include <string.h>

static void retransmission(struct script *s)
{
	const char *const *f = s->row->field;

	to_state(s, s->row->name);
	if (strstr(s->row->name, "SYN")) {
		host_after(s, SEC, "%s", f[0]);
		host_after(s, 2 * SEC, "%s", f[0]);
	} else if (*f[0]) {
		host_within(s, SEC, "%s", f[0]);
		host_within(s, 2 * SEC, "%s", f[0]);
		host_within(s, 4 * SEC, "%s", f[0]);
	} else {
		silence(s, 50 * SEC);
	}
	state_is(s, f[1]);
}

static void user_timeout(struct script *s)
{
	const char *const *f = s->row->field;

	to_state(s, s->row->name);
	pass(s, 400 * SEC);
	state_is(s, f[0]);
	user_sees(s, f[1]);
	if (f[2])
		check(s, uiwarp_tcp_send(s->h, s->fd, "", 1, 0) == -ETIMEDOUT);
}

/* Nobody is there any more to wait for: let go of, each state ends by itself, in a bounded time. */
static void let_go(struct script *s)
{
	to_state(s, s->row->name);
	if (s->fd < 0)
		accepts(s);
	closes(s);
	pass(s, 400 * SEC);
	check(s, uiwarp_tcp_connection(s->h, 0, NULL, NULL, NULL) == -ENOENT);
	check(s, uiwarp_tcp_packets_in_use(s->h) == 0);
}

static void time_wait(struct script *s)
{
	to_time_wait(s);
	silence(s, 60 * SEC - MS);
	state_is(s, "TIME-WAIT");
	silence(s, 2 * MS);
	state_is(s, "CLOSED");
	peer(s, ". 2 ack 2");
	host(s, "R 2");
}

static void sends_text_to_nobody(struct script *s)
{
	accepted(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	pass(s, 90 * SEC);
	state_is(s, "ESTABLISHED");
	pass(s, 30 * SEC);
	state_is(s, "CLOSED");
	receive_is(s, -ETIMEDOUT);
}

/* The last question is in time for an answer, however far the steps have doubled by then. */
static void the_last_question(struct script *s)
{
	accepted(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	pass(s, 29 * SEC);
	host_within(s, 900 * MS, "P. 1:11 ack 1");
	nothing(s);
	pass(s, 300 * MS);
	state_is(s, "CLOSED");
	receive_is(s, -ETIMEDOUT);
}

/* clang-format off */

static const struct script_row again[] = {
	{"LISTEN",       {"",            "LISTEN"}},
	{"SYN-SENT",     {"S 0",         "SYN-SENT"}},
	{"SYN-RECEIVED", {"S. 0 ack 1",  "SYN-RECEIVED"}},
	{"SYN-RECEIVED after active open", {"S. 0 ack 1", "SYN-RECEIVED"}},
	{"ESTABLISHED",  {"",            "ESTABLISHED"}},
	{"FIN-WAIT-1",   {"F. 1 ack 1",  "FIN-WAIT-1"}},
	{"FIN-WAIT-1 with text", {". 1:11 ack 1", "FIN-WAIT-1"}},
	{"FIN-WAIT-2",   {"",            "FIN-WAIT-2"}},
	{"CLOSE-WAIT",   {"",            "CLOSE-WAIT"}},
	{"CLOSE-WAIT with text", {"P. 1:11 ack 2", "CLOSE-WAIT"}},
	{"CLOSING",      {"F. 1 ack 2",  "CLOSING"}},
	{"LAST-ACK",     {"F. 1 ack 2",  "LAST-ACK"}},
	{"TIME-WAIT",    {"",            "TIME-WAIT"}},
	{NULL, {NULL}},
};

/* Where nothing waits for an answer there is nothing to time out (keep-alives are off). */
static const struct script_row user[] = {
	{"LISTEN",       {"LISTEN",      ""}},
	{"SYN-SENT",     {"CLOSED",      "ETIMEDOUT"}},
	{"SYN-RECEIVED", {"LISTEN",      ""}},
	{"SYN-RECEIVED after active open", {"CLOSED", "ETIMEDOUT"}},
	{"ESTABLISHED",  {"ESTABLISHED", "EAGAIN"}},
	{"FIN-WAIT-1",   {"CLOSED",      "ETIMEDOUT"}},
	{"FIN-WAIT-1 with text", {"CLOSED", "ETIMEDOUT"}},
	{"FIN-WAIT-2",   {"FIN-WAIT-2",  "EAGAIN"}},
	{"CLOSE-WAIT",   {"CLOSE-WAIT",  "end"}},
	{"CLOSE-WAIT with text", {"CLOSED", "end", "unsent"}},
	{"CLOSING",      {"CLOSED",      "end"}},
	{"LAST-ACK",     {"CLOSED",      "end"}},
	{"TIME-WAIT",    {"CLOSED",      "end"}},
	{NULL, {NULL}},
};

static const struct script_row orphans[] = {
	{"SYN-SENT",     {NULL}},
	{"SYN-RECEIVED after active open", {NULL}},
	{"ESTABLISHED",  {NULL}},
	{"FIN-WAIT-1",   {NULL}},
	{"FIN-WAIT-1 with text", {NULL}},
	{"FIN-WAIT-2",   {NULL}},
	{"CLOSE-WAIT",   {NULL}},
	{"CLOSE-WAIT with text", {NULL}},
	{"CLOSING",      {NULL}},
	{"LAST-ACK",     {NULL}},
	{"TIME-WAIT",    {NULL}},
	{NULL, {NULL}},
};

const struct script_test script_tests[] = {
	SCRIPT_ROWS("retransmission time-out", "RFC 9293 section 3.10.8", retransmission, V6 | TS | WRAP, 0, again),
	SCRIPT_ROWS("user time-out", "RFC 9293 section 3.10.8", user_timeout, V6 | TS | WRAP, 0, user),
	SCRIPT_ROWS("let go", "RFC 9293 section 3.6", let_go, V6 | TS | WRAP, 0, orphans),
	SCRIPT(time_wait, "RFC 9293 section 3.10.8", V6 | TS | WRAP, 0),
	SCRIPT(sends_text_to_nobody, "RFC 9293 section 3.8.3", V6 | TS | WRAP, 0),
	SCRIPT_WITH(the_last_question, "RFC 9293 section 3.8.3", V6 | TS | WRAP, 0, (&(const struct uiwarp_tcp_config){.user_timeout_ms = 30000})),
	SCRIPTS_END,
};
