/* SPDX-License-Identifier: BSD-2-Clause */
#include "states.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void to_closed(struct script *s)
{
	s->base_known = true; /* there will be none: its numbers are the peer's acknowledgments */
}

void to_listen(struct script *s)
{
	listens(s);
	s->base_known = false;
}

void to_syn_sent(struct script *s)
{
	connects(s);
	host(s, "S 0");
	state_is(s, "SYN-SENT");
}

void to_syn_received(struct script *s)
{
	listens(s);
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	state_is(s, "SYN-RECEIVED");
}

void to_syn_received_active(struct script *s)
{
	to_syn_sent(s);
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	state_is(s, "SYN-RECEIVED");
}

void to_established(struct script *s)
{
	accepted(s);
	state_is(s, "ESTABLISHED");
}

void to_fin_wait_1(struct script *s)
{
	accepted(s);
	shuts(s);
	host(s, "F. 1 ack 1");
	state_is(s, "FIN-WAIT-1");
}

void to_fin_wait_2(struct script *s)
{
	to_fin_wait_1(s);
	peer(s, ". 1 ack 2");
	state_is(s, "FIN-WAIT-2");
}

void to_close_wait(struct script *s)
{
	accepted(s);
	peer(s, "F. 1 ack 1");
	host(s, ". 1 ack 2");
	state_is(s, "CLOSE-WAIT");
}

void to_fin_wait_1_with_text(struct script *s)
{
	accepted(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	shuts(s);
	host(s, "F. 11 ack 1");
	state_is(s, "FIN-WAIT-1");
}

void to_close_wait_with_text(struct script *s)
{
	to_close_wait(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 2");
	state_is(s, "CLOSE-WAIT");
}

void to_closing(struct script *s)
{
	to_fin_wait_1(s);
	peer(s, "F. 1 ack 1");
	host(s, ". 2 ack 2");
	state_is(s, "CLOSING");
}

void to_last_ack(struct script *s)
{
	to_close_wait(s);
	shuts(s);
	host(s, "F. 1 ack 2");
	state_is(s, "LAST-ACK");
}

void to_time_wait(struct script *s)
{
	to_fin_wait_1(s);
	peer(s, "F. 1 ack 2");
	host(s, ". 2 ack 2");
	state_is(s, "TIME-WAIT");
}

void to_state(struct script *s, const char *name)
{
	static const struct {
		const char *name;
		void (*to)(struct script *s);
	} states[] = {{"CLOSED", to_closed}, {"LISTEN", to_listen}, {"SYN-SENT", to_syn_sent},
		{"SYN-RECEIVED", to_syn_received}, {"ESTABLISHED", to_established},
		{"FIN-WAIT-1", to_fin_wait_1}, {"FIN-WAIT-2", to_fin_wait_2},
		{"CLOSE-WAIT", to_close_wait}, {"CLOSING", to_closing}, {"LAST-ACK", to_last_ack},
		{"TIME-WAIT", to_time_wait},
		{"SYN-RECEIVED after active open", to_syn_received_active},
		{"FIN-WAIT-1 with text", to_fin_wait_1_with_text},
		{"CLOSE-WAIT with text", to_close_wait_with_text}};

	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (strcmp(states[i].name, name) == 0) {
			states[i].to(s);
			return;
		}
	script_fail(s, "no such state: %s", name);
}

/** What is different in each way of running a row. */
static const char *by_way(const struct script *s, char name)
{
	if (name == 'P')
		return offer(s);
	if (!(s->way & SACK))
		return "";
	return name == 'S' ? "<sack 11:21>" : name == 'D' ? "<sack -4:1>" : "<sack -9:1>";
}

static int32_t variable(struct script *s, char name)
{
	const char *state = script_state(s);
	bool fin_sent = strstr("FIN-WAIT-1 FIN-WAIT-2 CLOSING LAST-ACK TIME-WAIT", state) != NULL;
	bool fin_acked = strstr("FIN-WAIT-2 TIME-WAIT", state) != NULL;
	bool fin_taken = strstr("CLOSE-WAIT CLOSING LAST-ACK TIME-WAIT", state) != NULL;
	bool syn_acked = strstr("SYN-SENT SYN-RECEIVED", state) == NULL;

	switch (name) {
	case 'R':
		return 1 + fin_taken;
	case 'U':
		return syn_acked + fin_acked;
	case 'N':
		return 1 + fin_sent;
	default:
		return (int32_t)(s->edge - s->base.ack);
	}
}

const char *with_numbers(struct script *s, const char *text, char *out, size_t len)
{
	size_t n = 0;

	while (*text && n + 16 < len) {
		int32_t v;

		if (*text != '$') {
			out[n++] = *text++;
			continue;
		}
		if (strchr("SDOP", text[1])) {
			n += (size_t)snprintf(out + n, len - n, "%s", by_way(s, text[1]));
			text += 2;
			continue;
		}
		v = variable(s, text[1]);
		text += 2;
		if (*text == '+' || *text == '-') {
			char *end;

			v += (int32_t)strtol(text, &end, 10);
			text = end;
		}
		n += (size_t)snprintf(out + n, len - n, "%d", v);
	}
	out[n] = '\0';
	return out;
}

void answers(struct script *s, const char *text)
{
	if (*text)
		host(s, "%s", text);
	nothing(s);
}

void user_sees(struct script *s, const char *what)
{
	static const struct {
		const char *name;
		int value;
	} results[] = {{"EAGAIN", -EAGAIN}, {"end", 0}, {"ECONNRESET", -ECONNRESET},
		{"ECONNREFUSED", -ECONNREFUSED}, {"ETIMEDOUT", -ETIMEDOUT},
		{"EHOSTUNREACH", -EHOSTUNREACH}, {"ENOTCONN", -ENOTCONN},
		{"ECONNABORTED", -ECONNABORTED}};
	unsigned bytes = 0;

	if (!*what)
		return;
	if (s->fd < 0)
		accepts(s);
	if (sscanf(what, "%u bytes", &bytes) == 1) {
		reads(s, bytes);
		receive_is(s, -EAGAIN);
		return;
	}
	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		if (strcmp(what, results[i].name) == 0) {
			receive_is(s, results[i].value);
			return;
		}
	script_fail(s, "no such result: %s", what);
}
