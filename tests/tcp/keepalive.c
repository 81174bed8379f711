/* SPDX-License-Identifier: BSD-2-Clause */
/* Keep-alives (RFC 9293 section 3.8.4): off by default, and what they do when they are on. */
#include "states.h"

#include <errno.h>
#include <string.h>

static const struct uiwarp_tcp_config on = {.keepalive_ms = 10000};
static const struct uiwarp_tcp_config patient = {
	.keepalive_ms = 10000, .user_timeout_ms = 10000000};

static void off_by_default(struct script *s)
{
	accepted(s);
	silence(s, 7 * 24 * 3600 * SEC);
	state_is(s, "ESTABLISHED");
}

/* A segment of the byte before SND.NXT, without text, makes the peer send an ACK. */
static void a_peer_that_answers(struct script *s)
{
	accepted(s);
	for (unsigned i = 0; i < 30; i++) {
		host_after(s, 10 * SEC, ". 0 ack 1");
		peer(s, ". 1 ack 1");
	}
	state_is(s, "ESTABLISHED");
}

/* Anything that comes puts them off. */
static void idle_means_idle(struct script *s)
{
	accepted(s);
	silence(s, 9 * SEC);
	peer(s, "P. 1:11 ack 1");
	host(s, ". 1 ack 11");
	silence(s, 9900 * MS);
	host_within(s, 200 * MS, ". 0 ack 11");
}

static void a_peer_that_is_gone(struct script *s)
{
	unsigned probes = 0;

	accepted(s);
	while (uiwarp_tcp_now(s->h) < 1000000 * SEC && probes < 20) {
		if (strcmp(script_state(s), "ESTABLISHED") != 0)
			break;
		if (uiwarp_tcp_next(s->h) == UIWARP_TCP_NEVER)
			break;
		uiwarp_tcp_advance(s->h, uiwarp_tcp_next(s->h));
		while (uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER) {
			if (strcmp(script_state(s), "ESTABLISHED") != 0) {
				host(s, "R. 1 ack 1");
				break;
			}
			host(s, ". 0 ack 1");
			probes++;
		}
	}
	check(s, probes >= 5 && probes <= 10);
	receive_is(s, -ETIMEDOUT);
}

/* Where the user time-out does not end it first, nine probes are enough. */
static void nine_probes(struct script *s)
{
	accepted(s);
	for (unsigned i = 0; i < 9; i++)
		host_after(s, 10 * SEC, ". 0 ack 1");
	host_after(s, 10 * SEC, "R. 1 ack 1");
	receive_is(s, -ETIMEDOUT);
}

/* One that has restarted resets. */
static void a_peer_that_forgot(struct script *s)
{
	accepted(s);
	host_after(s, 10 * SEC, ". 0 ack 1");
	peer(s, "R 1");
	receive_is(s, -ECONNRESET);
}

/* While text waits for its ACK there is no need for them. */
static void not_while_text_is_in_flight(struct script *s)
{
	accepted(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	for (unsigned i = 0; i < 3; i++)
		host_within(s, 10 * SEC, "P. 1:11 ack 1");
	peer(s, ". 1 ack 11");
	host_after(s, 10 * SEC, ". 10 ack 1");
}

/*
 * Nor while it is sent again and again (MUST-26): a peer that lacks what was before it does not
 * answer a keep-alive, which lies in its window.
 */
static void not_while_text_is_lost(struct script *s)
{
	uint64_t until = uiwarp_tcp_now(s->h) + 50 * SEC;

	accepted(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	while (uiwarp_tcp_next(s->h) < until) {
		uiwarp_tcp_advance(s->h, uiwarp_tcp_next(s->h));
		while (uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER)
			host(s, "P. 1:11 ack 1");
	}
	peer(s, ". 1 ack 11");
	host_after(s, 10 * SEC, ". 10 ack 1");
}

/* Nor while it waits for a window, which is probed. */
static void not_while_the_window_is_closed(struct script *s)
{
	uint64_t until = uiwarp_tcp_now(s->h) + 50 * SEC;

	accepted(s);
	peer(s, ". 1 ack 1 win 0");
	writes(s, 10);
	while (uiwarp_tcp_next(s->h) < until) {
		uiwarp_tcp_advance(s->h, uiwarp_tcp_next(s->h));
		while (uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER) {
			host(s, ". 0 ack 1");
			peer(s, ". 1 ack 1 win 0");
		}
	}
}

/* The host answers those of others, with text or without (section 3.8.4). */
static void answers_others(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	reads(s, 100);
	peer(s, ". 100 ack 1");
	host(s, ". 1 ack 101");
	peer(s, ". 100:101 ack 1");
	host(s, ". 1 ack 101%s", s->way & SACK ? " <sack 100:101>" : "");
	receive_is(s, -EAGAIN);
}

const struct script_test script_tests[] = {
	SCRIPT(off_by_default, "RFC 9293 section 3.8.4", ALL_WAYS, 0),
	SCRIPT_WITH(a_peer_that_answers, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &on),
	SCRIPT_WITH(idle_means_idle, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &on),
	SCRIPT_WITH(a_peer_that_is_gone, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &on),
	SCRIPT_WITH(nine_probes, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &patient),
	SCRIPT_WITH(a_peer_that_forgot, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &on),
	SCRIPT_WITH(not_while_text_is_in_flight, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &on),
	SCRIPT_WITH(not_while_text_is_lost, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &on),
	SCRIPT_WITH(not_while_the_window_is_closed, "RFC 9293 section 3.8.4", ALL_WAYS, 0, &on),
	SCRIPT(answers_others, "RFC 9293 section 3.8.4", ALL_WAYS, 0),
	SCRIPTS_END,
};
