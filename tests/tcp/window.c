/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows: their scale, their edges, zero and back, silly ones, and probes. */
#include "script.h"

#include <errno.h>

static const struct uiwarp_tcp_config small = {.receive_buffer = 131072, .packets = 2048};

static const struct uiwarp_tcp_config short_timeout = {.user_timeout_ms = 30000};

/** The peer sends until the host's window is closed. @return the next sequence number. */
static uint32_t fill(struct script *s, uint32_t at)
{
	while (at < s->edge - s->base.ack) {
		uint32_t end = s->edge - s->base.ack;

		check(s, at < 400000);
		end = end - at > 1400 ? at + 1400 : end;
		peer(s, ". %u:%u ack 1", at, end);
		at = end;
		while (uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER)
			host(s, ". 1 ack %u", at);
	}
	pass(s, SEC);
	return at;
}

/* Every byte of the window that was told is taken, and the last ACK tells that it is closed. */
static void the_receiver_closes(struct script *s)
{
	uint32_t at;

	accepted(s);
	at = fill(s, 1);
	peer(s, ". %u ack 1", at - 1); /* a keep-alive: what does the window look like? */
	host(s, ". 1 ack %u win 0", at);
	/* A probe of a byte is not taken, but answered (RFC 9293 section 3.8.6.1). */
	peer(s, ". %u:%u ack 1", at, at + 1);
	host(s, ". 1 ack %u win 0", at);
	/* The user reads everything: the peer is told, without being asked. */
	reads(s, at - 1);
	host(s, ". 1 ack %u", at);
	check(s, s->last.win > 0);
	peer(s, ". %u:%u ack 1", at, at + 1000);
	host_within(s, 500 * MS, ". 1 ack %u", at + 1000);
	reads(s, 1000);
}

/* RFC 9293 section 3.8.6.2.2: small steps of the user do not open the window in small steps. */
static void no_silly_windows(struct script *s)
{
	uint32_t at, told = 0;

	accepted(s);
	at = fill(s, 1);
	peer(s, ". %u ack 1", at - 1);
	host(s, ". 1 ack %u win 0", at);
	for (unsigned i = 0; i < 100; i++) {
		uint32_t now;

		reads(s, 50);
		if (uiwarp_tcp_output_time(s->h) == UIWARP_TCP_NEVER) {
			silence(s, SEC); /* such answers are limited */
			peer(s, ". %u ack 1", at - 1);
		}
		host(s, ". 1 ack %u", at);
		now = s->edge - s->base.ack - at;
		check(s, now == told || now - told >= 1400);
		told = now;
	}
	check(s, told >= 2 * 1400);
}

/* The host's text fits the peer's window, scaled as it said; a SYN's window is not scaled. */
static void the_window_of_a_syn_is_not_scaled(struct script *s)
{
	listens(s);
	peer(s, "S 0 win 1000 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	check(s, script_info(s).snd_wnd == 1000);
	peer(s, ". 1 ack 1 win 1000");
	accepts(s);
	check(s, script_info(s).snd_wnd == (s->way & WS ? 128000 : 1000));
}

/* Nor is that of the SYN,ACK which completes a simultaneous open: never more than was told. */
static void the_window_of_a_syn_ack_is_not_scaled(struct script *s)
{
	connects(s);
	host(s, "S 0");
	peer(s, "S 0 win 1000 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	peer(s, "S. 0 ack 1 win 1000 <%s>", offer(s));
	state_is(s, "ESTABLISHED");
	check(s, script_info(s).snd_wnd <= 1000);
	check(s, script_info(s).snd_wnd > 1000 - 128); /* in units of the scale */
}

/* A shift of more than 14 is one of 14 (RFC 7323 section 2.3). */
static void a_shift_above_14(struct script *s)
{
	listens(s);
	peer(s, "S 0 <mss 1460,ws 15>");
	host(s, "S. 0 ack 1");
	peer(s, ". 1 ack 1 win 2");
	accepts(s);
	check(s, script_info(s).snd_wnd == 2 << 14);
}

/* A scale that only one side offers is not used (section 2.2). */
static void one_sided_scale(struct script *s)
{
	connects(s);
	host(s, "S 0");
	peer(s, "S. 0 ack 1 win 500 <mss 1460>");
	host(s, ". 1 ack 1");
	check(s, script_info(s).snd_wnd == 500);
	check(s, !script_info(s).window_scale);
	check(s, s->last.win >= 65000);
}

static void a_scale_that_was_not_offered(struct script *s)
{
	connects(s);
	host(s, "S 0");
	check(s, !(s->last.has & HAS_WS));
	peer(s, "S. 0 ack 1 win 500 <mss 1460,ws 7>");
	host(s, ". 1 ack 1");
	peer(s, ". 1 ack 1 win 500");
	check(s, script_info(s).snd_wnd == 500);
}

/* What is sent stops at the right edge, and goes on when it moves. */
static void the_sender_stops_at_the_edge(struct script *s)
{
	s->win = s->way & WS ? 16 : 2048;
	accepted(s);
	writes(s, 4000);
	pass(s, 0);
	check(s, script_info(s).flight <= 2048);
	peer(s, ". 1 ack 1 win %u", s->win * 2u);
	pass(s, 0);
	check(s, script_info(s).flight > 2048);
	check(s, script_info(s).flight <= 4096);
}

/*
 * Section 3.8.6.1: a closed window is probed, the first time after an RTO, then more and more
 * rarely, for as long as the peer answers. As Linux's, the probe is an octet that the peer has, and
 * no text: a part of a record that is taken would cut an FPDU in two.
 */
static void probes_of_a_closed_window(struct script *s)
{
	uint64_t before = 0;

	accepted(s);
	peer(s, ". 1 ack 1 win 0");
	writes(s, 100);
	nothing(s);
	for (unsigned i = 0; i < 12; i++) {
		uint64_t from = uiwarp_tcp_now(s->h), took;

		host_within(s, 61 * SEC, ". 0 ack 1");
		took = uiwarp_tcp_now(s->h) - from;
		check(s, took + MS >= before);
		check(s, took <= 60 * SEC + MS);
		before = took;
		peer(s, ". 1 ack 1 win 0");
		nothing(s);
	}
	check(s, before > 30 * SEC);
	state_is(s, "ESTABLISHED");
	peer(s, ". 1 ack 1 win 65535");
	host(s, "P. 1:101 ack 1");
	peer(s, ". 1 ack 101");
	silence(s, 200 * SEC);
}

/* However short the user time-out is: it is for those who do not answer. */
static void probes_that_are_answered(struct script *s)
{
	accepted(s);
	peer(s, ". 1 ack 1 win 0");
	writes(s, 100);
	for (unsigned i = 0; i < 60; i++) {
		host_within(s, 11 * SEC, ". 0 ack 1");
		peer(s, ". 1 ack 1 win 0");
		nothing(s);
	}
	state_is(s, "ESTABLISHED");
	peer(s, ". 1 ack 1 win 65535");
	host(s, "P. 1:101 ack 1");
}

/* A window that opens in answer to a probe: at once, without waiting for the next. */
static void a_lost_window_update(struct script *s)
{
	accepted(s);
	peer(s, ". 1 ack 1 win 0");
	writes(s, 2000);
	host_within(s, SEC, ". 0 ack 1");
	peer(s, ". 1 ack 1 win 65535");
	host(s, ". 1:%u ack 1", 1 + script_info(s).emss);
	host(s, "P. %u:2001 ack 1", 1 + script_info(s).emss);
}

/*
 * Section 3.8.6.2.1: a window that has room, but for less than what is next, gets that much when
 * an RTO has passed, each time.
 */
static void a_narrow_window(struct script *s)
{
	unsigned win = s->way & WS ? 1 : 128;

	accepted(s);
	peer(s, ". 1 ack 1 win %u", win);
	writes(s, 500);
	nothing(s);
	host_within(s, SEC, ". 1:129 ack 1");
	peer(s, ". 1 ack 129 win %u", win);
	nothing(s);
	host_within(s, SEC, ". 129:257 ack 1");
	peer(s, ". 1 ack 257 win 65535");
	host(s, "P. 257:501 ack 1");
	peer(s, ". 1 ack 501");
	silence(s, 200 * SEC);
}

/* A peer that never answers a probe is gone (section 3.8.3 bounds it). */
static void probes_without_an_answer(struct script *s)
{
	accepted(s);
	peer(s, ". 1 ack 1 win 0");
	writes(s, 100);
	pass(s, 300 * SEC);
	receive_is(s, -ETIMEDOUT);
}

/* Section 3.8.6: a peer that takes its window back is not liked, but survived. */
static void the_peer_shrinks_its_window(struct script *s)
{
	accepted(s);
	writes(s, 3000);
	pass(s, 0);
	peer(s, ". 1 ack 1 win 0"); /* three segments are in flight, outside of it now */
	pass(s, 30 * SEC);
	state_is(s, "ESTABLISHED");
	peer(s, ". 1 ack 3001 win 65535");
	pass(s, SEC);
	check(s, script_info(s).flight == 0);
	writes(s, 10);
	host(s, "P. 3001:3011 ack 1");
}

/* What has no text says so from within the window that is left: the peer would not look at it else.
 */
static void acks_stay_within_a_window_taken_back(struct script *s)
{
	unsigned scale = s->way & WS ? 7 : 0;

	accepted(s);
	writes(s, 3000);
	pass(s, 0);
	peer(s, ". 1 ack 1 win 0");
	peer(s, "P. 1:11 ack 1 win 0");
	host_within(s, 100 * MS, ". 1 ack 11");
	peer(s, "P. 11:21 ack 1 win %u", 1280u >> scale);
	host_within(s, 100 * MS, ". 1281 ack 21");
	peer(s, ". 21 ack 3001 win 65535");
	peer(s, "P. 21:31 ack 3001 win 0");
	host_within(s, 100 * MS, ". 3001 ack 31");
	reads(s, 30);
}

/* Nor would it believe in a reset (RFC 5961 section 3.2). */
static void a_reset_stays_within_a_window_taken_back(struct script *s)
{
	accepted(s);
	writes(s, 3000);
	pass(s, 0);
	peer(s, ". 1 ack 1 win 0");
	aborts(s);
	host(s, "R. 1 ack 1");
}

/* It opens again, long after: what was in flight goes at once, as what was not sent yet would. */
static void the_peer_opens_what_it_took_back(struct script *s)
{
	accepted(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	peer(s, ". 1 ack 1 win 0");
	for (unsigned i = 0; i < 20; i++) {
		host_within(s, 11 * SEC, "P. 1:101 ack 1");
		peer(s, ". 1 ack 1 win 0");
	}
	silence(s, 5 * SEC);
	peer(s, ". 1 ack 1 win 65535");
	host_within(s, MS, "P. 1:101 ack 1");
	peer(s, ". 1 ack 101");
	silence(s, 200 * SEC);
	state_is(s, "ESTABLISHED");
}

/* An old segment must not set the window back (section 3.10.7.4: SND.WL1, SND.WL2). */
static void old_windows_do_not_count(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 win 100");
	host(s, ". 1 ack 101");
	check(s, script_info(s).snd_wnd == 100u << (s->way & WS ? 7 : 0));
	peer(s, "P. 1:101 ack 1 win 50");
	pass(s, 0);
	check(s, script_info(s).snd_wnd == 100u << (s->way & WS ? 7 : 0));
	peer(s, ". 101 ack 1 win 200");
	check(s, script_info(s).snd_wnd == 200u << (s->way & WS ? 7 : 0));
}

/* SND.WL1 and SND.WL2: what was overtaken brings text, and no window. */
static void overtaken_windows_do_not_count(struct script *s)
{
	unsigned scale = s->way & WS ? 7 : 0;

	accepted(s);
	peer(s, "P. 101:201 ack 1 win 300");
	pass(s, 0);
	check(s, script_info(s).snd_wnd == 300u << scale);
	peer(s, "P. 1:101 ack 1 win 200");
	pass(s, 0);
	check(s, script_info(s).snd_wnd == 300u << scale);
	reads(s, 200);
	writes(s, 100);
	pass(s, 0);
	peer(s, ". 201 ack 101 win 400");
	check(s, script_info(s).snd_wnd == 400u << scale);
	peer(s, ". 201 ack 51 win 100");
	check(s, script_info(s).snd_wnd == 400u << scale);
}

/* Only SND.UNA =< SEG.ACK updates the window: an old one does not, however new its text is. */
static void old_acks_bring_no_window(struct script *s)
{
	unsigned scale = s->way & WS ? 7 : 0;

	accepted(s);
	writes(s, 100);
	pass(s, 0);
	peer(s, ". 1 ack 101 win 400");
	peer(s, "P. 101:201 ack 51 win 100");
	pass(s, 0);
	check(s, script_info(s).snd_wnd == 400u << scale);
	peer(s, "P. 201:301 ack 101 win 200");
	pass(s, 0);
	check(s, script_info(s).snd_wnd == 200u << scale);
}

/* Nor is a repetition old that acknowledges more than any before: it was sent later. */
static void repetitions_tell_the_window(struct script *s)
{
	unsigned scale = s->way & WS ? 7 : 0;

	accepted(s);
	writes(s, 1000);
	pass(s, 0);
	peer(s, ". 101 ack 1 win 4000");
	check(s, script_info(s).snd_wnd == 4000u << scale);
	peer(s, "P. 1:101 ack 1001 win 50");
	pass(s, 0);
	check(s, script_info(s).snd_wnd == 50u << scale);
	reads(s, 100);
}

/* The sender's FIN does not wait for a window that has no room for text. */
static void a_fin_for_a_closed_window(struct script *s)
{
	accepted(s);
	peer(s, ". 1 ack 1 win 0");
	closes(s);
	pass(s, 0);
	host_within(s, SEC, "F. 1 ack 1");
	peer(s, ". 1 ack 2 win 0");
	state_is(s, "FIN-WAIT-2");
}

/* The receiver takes a FIN, which needs no room, through a closed window's edge. */
static void a_fin_at_a_closed_window(struct script *s)
{
	uint32_t at;

	accepted(s);
	at = fill(s, 1);
	peer(s, "F. %u ack 1", at);
	host(s, ". 1 ack %u", at + 1);
	reads(s, at - 1);
	pass(s, 0);
	receive_is(s, 0);
}

/* It ends the connection, but not what the user has yet to read. */
static void a_fin_at_a_window_that_is_not_read(struct script *s)
{
	uint32_t at;

	accepted(s);
	at = fill(s, 1);
	shuts(s);
	host(s, "F. 1 ack %u", at);
	peer(s, ". %u ack 2", at);
	state_is(s, "FIN-WAIT-2");
	peer(s, "F. %u ack 2", at);
	host(s, ". 2 ack %u", at + 1);
	state_is(s, "TIME-WAIT");
	reads(s, at - 1);
	receive_is(s, 0);
}

/* A peer that has filled the window, and lost some of that, sends its ACKs from the right edge. */
static void acks_from_the_right_edge(struct script *s)
{
	accepted(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	peer(s, ". %u ack 101", s->edge - s->base.ack);
	check(s, script_info(s).flight == 0);
	silence(s, 10 * SEC);
	/* Nothing else is there: a byte has no room, and a reset would be too easy to guess. */
	peer(s, ". %u:%u ack 101", s->edge - s->base.ack, s->edge - s->base.ack + 1);
	host(s, ". 101 ack 1");
	peer(s, "R %u", s->edge - s->base.ack);
	silence(s, SEC);
	state_is(s, "ESTABLISHED");
}

#define WAYS (V6 | TS | SACK | WS | WRAP)

const struct script_test script_tests[] = {
	SCRIPT_WITH(the_receiver_closes, "RFC 9293 section 3.8.6", WAYS, 0, &small),
	SCRIPT_WITH(no_silly_windows, "RFC 9293 section 3.8.6.2.2", WAYS, 0, &small),
	SCRIPT(the_window_of_a_syn_is_not_scaled, "RFC 7323 section 2.2", V6 | WS, 0),
	SCRIPT(the_window_of_a_syn_ack_is_not_scaled, "RFC 7323 section 2.2", V6 | WS, 0),
	SCRIPT(a_shift_above_14, "RFC 7323 section 2.3", V6 | WRAP, 0),
	SCRIPT(one_sided_scale, "RFC 7323 section 2.2", V6 | WRAP, 0),
	SCRIPT_WITH(a_scale_that_was_not_offered, "RFC 7323 section 2.2", V6 | WRAP, 0,
		(&(const struct uiwarp_tcp_config){.no_window_scale = true})),
	SCRIPT(the_sender_stops_at_the_edge, "RFC 9293 section 3.8.6", WAYS, 0),
	SCRIPT(probes_of_a_closed_window, "RFC 9293 section 3.8.6.1", WAYS, 0),
	SCRIPT_WITH(probes_that_are_answered, "RFC 9293 section 3.8.6.1", WAYS, 0, &short_timeout),
	SCRIPT(a_lost_window_update, "RFC 9293 section 3.8.6.1", WAYS, 0),
	SCRIPT(a_narrow_window, "RFC 9293 section 3.8.6.2.1", WAYS, 0),
	SCRIPT(probes_without_an_answer, "RFC 9293 section 3.8.6.1", WAYS, 0),
	SCRIPT(the_peer_shrinks_its_window, "RFC 9293 section 3.8.6", WAYS, 0),
	SCRIPT(acks_stay_within_a_window_taken_back, "RFC 9293 section 3.8.6", WAYS, 0),
	SCRIPT(a_reset_stays_within_a_window_taken_back, "RFC 9293 section 3.8.6", WAYS, 0),
	SCRIPT_WITH(the_peer_opens_what_it_took_back, "RFC 9293 section 3.8.6", WAYS, 0,
		&short_timeout),
	SCRIPT(old_windows_do_not_count, "RFC 9293 section 3.10.7.4", WAYS, 0),
	SCRIPT(overtaken_windows_do_not_count, "RFC 9293 section 3.10.7.4", WAYS, 0),
	SCRIPT(old_acks_bring_no_window, "RFC 9293 section 3.10.7.4", WAYS, 0),
	SCRIPT(repetitions_tell_the_window, "RFC 9293 section 3.10.7.4", WAYS, 0),
	SCRIPT(a_fin_for_a_closed_window, "RFC 9293 section 3.8.6", WAYS, 0),
	SCRIPT_WITH(a_fin_at_a_closed_window, "RFC 9293 section 3.8.6", WAYS, 0, &small),
	SCRIPT_WITH(a_fin_at_a_window_that_is_not_read, "RFC 9293 section 3.8.6", WAYS, 0, &small),
	SCRIPT(acks_from_the_right_edge, "RFC 9293 section 3.10.7.4", WAYS, 0),
	SCRIPTS_END,
};
