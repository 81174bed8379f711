/* SPDX-License-Identifier: BSD-2-Clause */
/* Closing a connection: in turn, at the same time, one side only; TIME-WAIT and what wakes it. */
#include "states.h"

#include <errno.h>

/* Figure 12 of section 3.6. */
static void normal_close(struct script *s)
{
	accepted(s);
	shuts(s);
	host(s, "F. 1 ack 1");
	peer(s, ". 1 ack 2");
	state_is(s, "FIN-WAIT-2");
	peer(s, "F. 1 ack 2");
	host(s, ". 2 ack 2");
	state_is(s, "TIME-WAIT");
	receive_is(s, 0);
}

/* Figure 13. */
static void simultaneous_close(struct script *s)
{
	accepted(s);
	shuts(s);
	host(s, "F. 1 ack 1");
	peer(s, "F. 1 ack 1");
	host(s, ". 2 ack 2");
	state_is(s, "CLOSING");
	peer(s, ". 2 ack 2");
	state_is(s, "TIME-WAIT");
}

static void passive_close(struct script *s)
{
	accepted(s);
	peer(s, "F. 1 ack 1");
	host(s, ". 1 ack 2");
	receive_is(s, 0);
	shuts(s);
	host(s, "F. 1 ack 2");
	state_is(s, "LAST-ACK");
	peer(s, ". 2 ack 2");
	state_is(s, "CLOSED");
}

/* The last text and the FIN share a segment, or follow one another. */
static void text_before_the_fin(struct script *s)
{
	accepted(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	shuts(s);
	host(s, "F. 101 ack 1");
	peer(s, ". 1 ack 101");
	state_is(s, "FIN-WAIT-1");
	peer(s, ". 1 ack 102");
	state_is(s, "FIN-WAIT-2");
}

/* We closed; the peer goes on for long (section 3.6: the connection is closed one way only). */
static void half_close_receiving(struct script *s)
{
	accepted(s);
	shuts(s);
	host(s, "F. 1 ack 1");
	peer(s, ". 1 ack 2");
	for (uint32_t i = 0; i < 20; i++) {
		peer(s, "P. %u:%u ack 2", 1 + 1000 * i, 1001 + 1000 * i);
		host_within(s, 500 * MS, ". 2 ack %u", 1001 + 1000 * i);
		reads(s, 1000);
		silence(s, 30 * SEC);
	}
	state_is(s, "FIN-WAIT-2");
	peer(s, "F. 20001 ack 2");
	host(s, ". 2 ack 20002");
	receive_is(s, 0);
}

/* The peer closed; we go on for long. */
static void half_close_sending(struct script *s)
{
	accepted(s);
	peer(s, "F. 1 ack 1");
	host(s, ". 1 ack 2");
	receive_is(s, 0);
	for (uint32_t i = 0; i < 20; i++) {
		writes(s, 1000);
		host(s, "P. %u:%u ack 2", 1 + 1000 * i, 1001 + 1000 * i);
		pass(s, 10 * MS);
		peer(s, ". 2 ack %u", 1001 + 1000 * i);
	}
	shuts(s);
	host(s, "F. 20001 ack 2");
	peer(s, ". 2 ack 20002");
	state_is(s, "CLOSED");
}

/*
 * A socket that is gone: text that still comes is lost. Section 3.6.1 SHOULD have a reset tell the
 * peer; we drop it and acknowledge, as what we sent last (a Terminate of RDMAP, say) must be read
 * first, and a reset takes it from the peer's hands.
 */
static void text_after_close_is_dropped(struct script *s)
{
	accepted(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	closes(s);
	host(s, "F. 11 ack 1");
	peer(s, "P. 1:101 ack 1");
	host(s, ". 12 ack 101");
	peer(s, "F. 101 ack 12");
	host(s, ". 12 ack 102");
	state_is(s, "TIME-WAIT");
}

static void close_with_unread_text_resets(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	closes(s);
	host(s, "R. 1 ack 101");
	state_is(s, "LISTEN");
}

/* The peer's FIN again means that our ACK was lost: TIME-WAIT begins anew (section 3.10.7.4). */
static void fin_again_in_time_wait(struct script *s)
{
	to_time_wait(s);
	silence(s, 50 * SEC);
	peer(s, "F. 1 ack 2");
	host(s, ". 2 ack 2");
	silence(s, 59 * SEC);
	state_is(s, "TIME-WAIT");
	silence(s, 2 * SEC);
	state_is(s, "CLOSED");
}

/* Other old segments do not prolong it. */
static void old_segments_in_time_wait(struct script *s)
{
	to_time_wait(s);
	silence(s, 30 * SEC);
	peer(s, ". 2 ack 2");
	pass(s, 0);
	peer(s, ". 1 ack 1");
	pass(s, 0);
	silence(s, 31 * SEC);
	state_is(s, "CLOSED");
}

/* Section 3.6.1, MAY-2: a SYN of a later ISN opens the pair anew; ours is later, too. */
static void new_connection_in_time_wait(struct script *s)
{
	uint32_t last;

	to_time_wait(s);
	last = s->base.seq + 2;
	silence(s, 10 * SEC);
	s->base_known = s->peer_syn_known = s->edge_known = false;
	s->last.tsval = 0;
	s->base.ack += 100000;
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	check(s, (int32_t)(s->base.seq - last) > 0);
	peer(s, ". 1 ack 1");
	accepts(s);
	s->read = s->written = 1;
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
}

/* One of an earlier ISN and no later timestamp is an old duplicate: it is answered by an ACK. */
static void old_syn_in_time_wait(struct script *s)
{
	to_time_wait(s);
	if (s->way & TS)
		peer(s, "S -1000 <ts %u 0>", s->ts_clock - 1000);
	else
		peer(s, "S -1000 <mss 1460>");
	host(s, ". 2 ack 2");
	state_is(s, "TIME-WAIT");
}

/* RFC 6191: where there are timestamps, they decide, and not the ISN. */
static void timestamps_decide_in_time_wait(struct script *s)
{
	to_time_wait(s);
	silence(s, 10 * SEC);
	peer(s, "S 100000 <mss 1460,ts %u 0>", s->ts_clock - 1000);
	host(s, ". 2 ack 2");
	state_is(s, "TIME-WAIT");
	s->base_known = s->peer_syn_known = s->edge_known = false;
	s->last.tsval = 0;
	s->base.ack -= 100000;
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
}

/* Both FINs are lost: each comes again. */
static void lost_fins(struct script *s)
{
	accepted(s);
	shuts(s);
	host(s, "F. 1 ack 1");
	host_within(s, SEC, "F. 1 ack 1");
	peer(s, "F. 1 ack 2");
	host(s, ". 2 ack 2");
	peer(s, "F. 1 ack 2");
	host(s, ". 2 ack 2");
	state_is(s, "TIME-WAIT");
}

/* What waits for its turn takes the FIN along; what of it is lost comes again, with the FIN or
 * without. */
static void the_fin_rides_on_text(struct script *s)
{
	const uint32_t end = 10101;

	accepted_far(s, 10 * MS);
	writes(s, 10100);
	host_sends(s, 1, 10001, 0);
	shuts(s);
	state_is(s, "FIN-WAIT-1");
	nothing(s);
	peer(s, ". 1 ack 10001");
	host(s, "FP. 10001:%u ack 1", end);
	host_within(s, SEC, "FP. 10001:%u ack 1", end);
	peer(s, ". 1 ack %u", end); /* it took the text alone */
	state_is(s, "FIN-WAIT-1");
	host_within(s, SEC, "F. %u ack 1", end);
	peer(s, ". 1 ack %u", end + 1);
	state_is(s, "FIN-WAIT-2");
	peer(s, "F. 1 ack %u", end + 1);
	host(s, ". %u ack 2", end + 1);
}

/* Section 3.8.6.2.1: text that fits the window does not wait for the FIN's byte. */
static void the_fin_has_no_window(struct script *s)
{
	accepted_far(s, 10 * MS);
	writes(s, 10128);
	host_sends(s, 1, 10001, 0);
	peer(s, ". 1 ack 1 win 10128");
	shuts(s);
	nothing(s);
	peer(s, ". 1 ack 10001 win 128");
	host(s, ". 10001:10129 ack 1");
	nothing(s);
	peer(s, ". 1 ack 10129 win 1280");
	host(s, "F. 10129 ack 1");
}

#define CLOSE "RFC 9293 section 3.6"

const struct script_test script_tests[] = {
	SCRIPT(normal_close, CLOSE, ALL_WAYS, 0),
	SCRIPT(simultaneous_close, CLOSE, ALL_WAYS, 0),
	SCRIPT(passive_close, CLOSE, ALL_WAYS, 0),
	SCRIPT(text_before_the_fin, CLOSE, ALL_WAYS, 0),
	SCRIPT(half_close_receiving, CLOSE, ALL_WAYS, 0),
	SCRIPT(half_close_sending, CLOSE, ALL_WAYS, 0),
	SCRIPT(text_after_close_is_dropped, "RFC 9293 section 3.6.1", ALL_WAYS, 0),
	SCRIPT(close_with_unread_text_resets, "RFC 9293 section 3.6.1", ALL_WAYS, 0),
	SCRIPT(fin_again_in_time_wait, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(old_segments_in_time_wait, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(new_connection_in_time_wait, "RFC 9293 section 3.6.1", ALL_WAYS, 0),
	SCRIPT(old_syn_in_time_wait, "RFC 9293 section 3.6.1", ALL_WAYS, 0),
	SCRIPT(timestamps_decide_in_time_wait, "RFC 6191 section 2", V6 | SACK | WS | WRAP, TS),
	SCRIPT(lost_fins, CLOSE, ALL_WAYS, 0),
	SCRIPT(the_fin_rides_on_text, CLOSE, ALL_WAYS, 0),
	SCRIPT(the_fin_has_no_window, "RFC 9293 section 3.8.6", V6 | TS | SACK | WRAP, 0),
	SCRIPTS_END,
};
