/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a connection: three-way and simultaneous, with lost and old segments. */
#include "states.h"

#include <errno.h>

/* Figure 6 of section 3.5. */
static void passive_open(struct script *s)
{
	listens(s);
	peer(s, "S 0 <mss 1460>");
	host(s, "S. 0 ack 1 <mss %u>", s->way & V6 ? 1440 : 1460);
	check(s, !(s->way & WRAP) || s->base.seq > 0xffffff00 - 300);
	state_is(s, "SYN-RECEIVED");
	peer(s, ". 1 ack 1");
	nothing(s);
	accepts(s);
	state_is(s, "ESTABLISHED");
	peer(s, "P. 1:101 ack 1");
	reads(s, 100);
	receive_is(s, -EAGAIN);
	host(s, ". 1 ack 101");
}

static void active_open(struct script *s)
{
	connects(s);
	host(s, "S 0 <mss %u,sackOK,ts . 0>", s->way & V6 ? 1440 : 1460);
	check(s, !(s->way & WRAP) || s->base.seq > 0xffffff00 - 300);
	state_is(s, "SYN-SENT");
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
	state_is(s, "ESTABLISHED");
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	peer(s, ". 1 ack 101");
}

/* Both SYNs cross (figure 7). */
static void simultaneous_open(struct script *s)
{
	connects(s);
	host(s, "S 0");
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	state_is(s, "SYN-RECEIVED");
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	state_is(s, "ESTABLISHED");
	pass(s, 100 * MS);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	peer(s, "P. 1:11 ack 11");
	host(s, ". 11 ack 11");
	reads(s, 10);
}

/* An old duplicate SYN: the peer resets what our answer would open (figure 8). */
static void old_duplicate_syn(struct script *s)
{
	listens(s);
	peer(s, "S -5000 <%s>", offer(s));
	host(s, "S. 0 ack -4999");
	peer(s, "R -4999");
	state_is(s, "LISTEN");
	s->base_known = s->peer_syn_known = s->edge_known = false;
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	peer(s, ". 1 ack 1");
	accepts(s);
	state_is(s, "ESTABLISHED");
}

/* The peer forgot the connection: its SYN is answered by an ACK, its RST ends ours (figure 9). */
static void half_open_connection(struct script *s)
{
	accepted(s);
	peer(s, "S 777 <%s>", offer(s));
	host(s, ". 1 ack 1");
	peer(s, "R 1");
	receive_is(s, -ECONNRESET);
	state_is(s, "CLOSED");
}

/* A half-open connection is found out by what the other side sends (figure 10). */
static void active_side_finds_half_open(struct script *s)
{
	to_closed(s);
	peer(s, "P. 300:400 ack 100");
	host(s, "R 100");
}

/* The SYN,ACK is sent again after a second, two, four (RFC 6298 section 2.1, 5.5). */
static void lost_syn_ack(struct script *s)
{
	listens(s);
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	host_after(s, SEC, "S. 0 ack 1");
	host_after(s, 2 * SEC, "S. 0 ack 1");
	peer(s, ". 1 ack 1");
	accepts(s);
	silence(s, 60 * SEC);
	/* RFC 6298 section 5.7: three seconds after a lost SYN, without a sample. */
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	if (s->way & TS)
		pass(s, 10 * SEC);
	else
		host_after(s, 3 * SEC, "P. 1:11 ack 1");
}

static void lost_syn(struct script *s)
{
	connects(s);
	host(s, "S 0");
	host_after(s, SEC, "S 0");
	host_after(s, 2 * SEC, "S 0");
	host_after(s, 4 * SEC, "S 0");
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
	silence(s, 60 * SEC);
}

/* The last ACK of the handshake is lost: the peer's text brings it (RFC 9293 section 3.10.7.4). */
static void text_completes_the_handshake(struct script *s)
{
	listens(s);
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	accepts(s);
	reads(s, 100);
}

/* A SYN,ACK that arrives twice is answered by an ACK and changes nothing. */
static void syn_ack_twice(struct script *s)
{
	connected(s);
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
	state_is(s, "ESTABLISHED");
}

/* Section 3.10.2: what is queued in SYN-SENT goes out once the connection is established. */
static void text_queued_before_the_connection(struct script *s)
{
	connects(s);
	host(s, "S 0");
	writes(s, 100);
	nothing(s);
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, "P. 1:101 ack 1");
	state_is(s, "ESTABLISHED");
	peer(s, ". 1 ack 101");
}

/* No answer at all: the user hears of a time-out (section 3.8.3). */
static void nobody_answers(struct script *s)
{
	connects(s);
	host(s, "S 0");
	pass(s, 300 * SEC);
	receive_is(s, -ETIMEDOUT);
	state_is(s, "CLOSED");
}

const struct script_test script_tests[] = {
	SCRIPT(passive_open, "RFC 9293 section 3.5", ALL_WAYS, 0),
	SCRIPT(active_open, "RFC 9293 section 3.5", ALL_WAYS, 0),
	SCRIPT(simultaneous_open, "RFC 9293 section 3.5", ALL_WAYS, 0),
	SCRIPT(old_duplicate_syn, "RFC 9293 section 3.5", ALL_WAYS, 0),
	SCRIPT(half_open_connection, "RFC 9293 section 3.5.1", ALL_WAYS, 0),
	SCRIPT(active_side_finds_half_open, "RFC 9293 section 3.5.1", V6, 0),
	SCRIPT(lost_syn_ack, "RFC 6298 section 5", ALL_WAYS, 0),
	SCRIPT(lost_syn, "RFC 6298 section 5", ALL_WAYS, 0),
	SCRIPT(text_completes_the_handshake, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(syn_ack_twice, "RFC 9293 section 3.10.7.4", ALL_WAYS, 0),
	SCRIPT(text_queued_before_the_connection, "RFC 9293 section 3.10.2", ALL_WAYS, 0),
	SCRIPT(nobody_answers, "RFC 9293 section 3.8.3", ALL_WAYS, 0),
	SCRIPTS_END,
};
