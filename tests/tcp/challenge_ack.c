/* SPDX-License-Identifier: BSD-2-Clause */
/* Blind resets, SYNs and acknowledgments (RFC 5961), and how many answers they get. */
#include "script.h"

#include <errno.h>

/* Section 3.2: in the window but not exact. The peer, if it means it, resets again, exactly. */
static void reset_in_the_window(struct script *s)
{
	accepted(s);
	peer(s, "R 100");
	host(s, ". 1 ack 1");
	peer(s, "R 1");
	nothing(s);
	receive_is(s, -ECONNRESET);
}

static void reset_after_text(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	peer(s, "R 1"); /* it was sent before the text */
	nothing(s);
	peer(s, "R 101");
	state_is(s, "CLOSED");
}

/* Section 4.2: a SYN, wherever, never resets. */
static void syn_in_the_window(struct script *s)
{
	accepted(s);
	peer(s, "S 100");
	host(s, ". 1 ack 1");
	state_is(s, "ESTABLISHED");
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
}

/* Section 5.2: MAX.SND.WND behind SND.UNA is acceptable, further is not; nor is the future. */
static void blind_acknowledgments(struct script *s)
{
	uint32_t wnd = s->way & WS ? 65535 << 7 : 65535;

	accepted(s);
	peer(s, ". 1 ack 1");
	nothing(s);
	peer(s, ". 1 ack %d", 1 - (int)wnd - 1);
	host(s, ". 1 ack 1");
	peer(s, "P. 1:11 ack %d", 1 - (int)wnd - 1000000);
	host(s, ". 1 ack 1");
	peer(s, "P. 1:11 ack 2");
	host(s, ". 1 ack 1");
	receive_is(s, -EAGAIN);
	peer(s, "P. 1:11 ack %d", 1 - (int)wnd);
	host(s, ". 1 ack 11");
	reads(s, 10);
}

/* Section 7: ten in five seconds, then silence; the next period has its own. */
static void their_number_is_limited(struct script *s)
{
	accepted(s);
	for (unsigned i = 0; i < 10; i++) {
		peer(s, "R 100");
		host(s, ". 1 ack 1");
	}
	for (unsigned i = 0; i < 100; i++) {
		peer(s, "R 100");
		nothing(s);
		peer(s, "S 100");
		nothing(s);
	}
	pass(s, 5 * SEC);
	peer(s, "R 100");
	host(s, ". 1 ack 1");
	/* What is due anyway is not part of it. */
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	state_is(s, "ESTABLISHED");
}

/* Two ends with numbers that disagree do not answer one another for ever. */
static void no_war_of_acknowledgments(struct script *s)
{
	unsigned answers = 0;

	accepted(s);
	for (unsigned i = 0; i < 200; i++) {
		peer(s, ". 1 ack 1000");
		if (uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER) {
			host(s, ". 1 ack 1");
			answers++;
		}
	}
	check(s, answers <= 10);
}

/* Outside the window a reset is nothing, and gets nothing. */
static void reset_outside_the_window(struct script *s)
{
	accepted(s);
	peer(s, "R 0");
	nothing(s);
	peer(s, "R -100000");
	nothing(s);
	peer(s, "R 100000000");
	nothing(s);
	state_is(s, "ESTABLISHED");
}

/* With a closed window only the exact number resets (RFC 9293 section 3.10.7.4). */
static void reset_of_a_closed_window(struct script *s)
{
	uint32_t at = 1;

	accepted(s);
	while (at < s->edge - s->base.ack) {
		uint32_t end = s->edge - s->base.ack;

		end = end - at > 1000 ? at + 1000 : end;
		peer(s, ". %u:%u ack 1", at, end);
		pass(s, SEC);
		at = end;
		if (at > 10000000)
			break;
	}
	peer(s, "R %u", at + 1);
	pass(s, 0);
	state_is(s, "ESTABLISHED");
	peer(s, "R %u", at);
	state_is(s, "CLOSED");
}

static const struct uiwarp_tcp_config small = {.receive_buffer = 131072, .packets = 2048};

const struct script_test script_tests[] = {
	SCRIPT(reset_in_the_window, "RFC 5961 section 3.2", ALL_WAYS, 0),
	SCRIPT(reset_after_text, "RFC 5961 section 3.2", ALL_WAYS, 0),
	SCRIPT(syn_in_the_window, "RFC 5961 section 4.2", ALL_WAYS, 0),
	SCRIPT(blind_acknowledgments, "RFC 5961 section 5.2", ALL_WAYS, 0),
	SCRIPT(their_number_is_limited, "RFC 5961 section 7", ALL_WAYS, 0),
	SCRIPT(no_war_of_acknowledgments, "RFC 5961 section 7", ALL_WAYS, 0),
	SCRIPT(reset_outside_the_window, "RFC 5961 section 3.2", ALL_WAYS, 0),
	SCRIPT_WITH(
		reset_of_a_closed_window, "RFC 5961 section 3.2", V6 | TS | WS | WRAP, 0, &small),
	SCRIPTS_END,
};
