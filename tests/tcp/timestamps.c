/* SPDX-License-Identifier: BSD-2-Clause */
/* Timestamps: which is echoed (RFC 7323 section 4), PAWS (section 5), clocks that jump. */
#include "states.h"

#include <errno.h>

#define DAY (UINT64_C(24) * 3600 * SEC)

/* Section 4.3: TS.Recent is of the segment that begins at the last ACK sent, not of later ones. */
static void echo_of_delayed_acks(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <ts 6000 .>");
	host(s, ". 1 ack 101 <ts . 6000>");
	peer(s, "P. 101:201 ack 1 <ts 6001 .>");
	host(s, ". 1 ack 201 <ts . 6001>");
}

/* Section 4.3, example B: a gap, and what fills it. */
static void echo_across_a_gap(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <ts 6001 .>"); /* A */
	host(s, ". 1 ack 101 <ts . 6001>");
	peer(s, "P. 201:301 ack 1 <ts 6003 .>"); /* C: beyond a gap, not echoed */
	pass(s, 0);
	check(s, s->last.tsecr == 6001);
	peer(s, "P. 101:201 ack 1 <ts 6002 .>"); /* B */
	host(s, ". 1 ack 301 <ts . 6002>");
	peer(s, "P. 301:401 ack 1 <ts 6005 .>");
	host(s, ". 1 ack 401 <ts . 6005>");
}

/* Section 5.3, R1: older than TS.Recent: an ACK, and no effect. */
static void paws(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <ts 6000 .>");
	host(s, ". 1 ack 101 <ts . 6000>");
	peer(s, "P. 101:201 ack 1 <ts 5999 .>");
	host(s, ". 1 ack 101 <ts . 6000>");
	peer(s, "F. 101 ack 1 <ts 5000 .>");
	host(s, ". 1 ack 101 <ts . 6000>");
	reads(s, 100);
	receive_is(s, -EAGAIN);
	peer(s, "P. 101:201 ack 1 <ts 6000 .>");
	host(s, ". 1 ack 201 <ts . 6000>");
	reads(s, 100);
}

/* A reset is not checked so (section 5.2). */
static void paws_spares_resets(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <ts 6000 .>");
	host(s, ". 1 ack 101 <ts . 6000>");
	peer(s, "R 101 <ts 5000 0>");
	state_is(s, "CLOSED");
}

static void reset_without_timestamp(struct script *s)
{
	accepted(s);
	peer(s, "R 1 <no-ts>");
	state_is(s, "CLOSED");
}

/* Section 3.2: once agreed upon, a segment without is dropped and not answered. */
static void missing(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <no-ts>");
	nothing(s);
	peer(s, "F. 1 ack 1 <no-ts>");
	nothing(s);
	receive_is(s, -EAGAIN);
	state_is(s, "ESTABLISHED");
}

/* But a SYN is answered (RFC 5961 section 4.2): a peer that has begun anew finds us by it. */
static void missing_on_a_syn(struct script *s)
{
	accepted(s);
	peer(s, "S -90000 <mss 1460,no-ts>");
	host(s, ". 1 ack 1");
	peer(s, "R 1 <no-ts>");
	receive_is(s, -ECONNRESET);
}

/* Where it was not agreed upon, one is of no importance. */
static void not_agreed_upon(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <ts 6000 77>");
	host(s, ". 1 ack 101 <no-ts>");
	peer(s, "P. 101:201 ack 1 <ts 1 77>");
	host(s, ". 1 ack 201 <no-ts>");
	reads(s, 200);
}

/* The clock of the peer wraps between two segments. */
static void clock_wraps(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <ts %u .>", s->ts_clock + 0x7ffffff0u);
	host(s, ". 1 ack 101 <ts . %u>", s->ts_clock + 0x7ffffff0u);
	peer(s, "P. 101:201 ack 1 <ts %u .>", s->ts_clock + 0xffffff00u);
	host(s, ". 1 ack 201 <ts . %u>", s->ts_clock + 0xffffff00u);
	peer(s, "P. 201:301 ack 1 <ts %u .>", s->ts_clock + 0x100u);
	host(s, ". 1 ack 301 <ts . %u>", s->ts_clock + 0x100u);
	peer(s, "P. 301:401 ack 1 <ts %u .>", s->ts_clock + 0xffffff00u);
	host(s, ". 1 ack 301 <ts . %u>", s->ts_clock + 0x100u);
	reads(s, 300);
	receive_is(s, -EAGAIN);
}

/* Section 5.5: after 24 days of silence TS.Recent is of no use. */
static void silence_of_24_days(struct script *s)
{
	accepted(s);
	peer(s, "P. 1:101 ack 1 <ts 6000 .>");
	host(s, ". 1 ack 101");
	silence(s, 23 * DAY);
	peer(s, "P. 101:201 ack 1 <ts 5999 .>");
	host(s, ". 1 ack 101");
	silence(s, 2 * DAY);
	peer(s, "P. 101:201 ack 1 <ts 5999 .>");
	host(s, ". 1 ack 201 <ts . 5999>");
}

/*
 * TS.Recent is of what was accepted: a segment in the window that fails a later check, with a clock
 * far ahead, does not make everything old that the peer sends from then on.
 */
static void what_is_refused_sets_no_clock(struct script *s)
{
	static const char *const refused[] = {". 1 ack 1000000000", ". 1:11 ack 1000000000",
		". 1 ack -100000000", "F. 1 ack 2", "R 2", "S 1", "S. 1 ack 1", "- 1", "F 1"};

	accepted(s);
	for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
		peer(s, "%s <ts 1000000000 %u>", refused[i], s->ts_echo);
		pass(s, 0);
	}
	check(s, s->last.tsecr != 1000000000);
	peer(s, "P. 1:11 ack 1");
	host(s, ". 1 ack 11");
	check(s, s->last.tsecr != 1000000000);
	reads(s, 10);
}

/* An echo of what was never sent, or of long ago, does not make a round trip time. */
static void echo_of_the_future(struct script *s)
{
	struct uiwarp_tcp_info before, after;

	accepted(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	before = script_info(s);
	pass(s, 10 * MS);
	peer(s, ". 1 ack 101 <ts . %u>", s->ts_echo + 100000);
	after = script_info(s);
	check(s, after.srtt < before.srtt + 20 * MS);
	check(s, after.rto < SEC);
	/* Zero is no echo at all. */
	writes(s, 100);
	host(s, "P. 101:201 ack 1");
	pass(s, 10 * MS);
	peer(s, ". 1 ack 201 <ts . 0>");
	after = script_info(s);
	check(s, after.rto < SEC);
}

/* An old SYN,ACK of another incarnation in SYN-SENT; section 5.2 does not apply there. */
static void syn_ack_without(struct script *s)
{
	connects(s);
	host(s, "S 0 <ts . 0>");
	peer(s, "S. 0 ack 1 <mss 1460>");
	host(s, ". 1 ack 1 <no-ts>");
	writes(s, 10);
	host(s, "P. 1:11 ack 1 <no-ts>");
}

/* Section 3.2 allows it, and so the MSS has to make room (RFC 6691). */
static void text_makes_room(struct script *s)
{
	uint32_t mss = (s->way & V6 ? 1440 : 1460) - (s->way & TS ? 12 : 0);

	accepted(s);
	writes(s, 2 * mss);
	host(s, ". 1:%u ack 1", 1 + mss);
	host(s, ". %u:%u ack 1", 1 + mss, 1 + 2 * mss);
}

#define WAYS (V6 | SACK | WS | WRAP)

const struct script_test script_tests[] = {
	SCRIPT(echo_of_delayed_acks, "RFC 7323 section 4.3", V6 | SACK | WS, TS),
	SCRIPT(echo_across_a_gap, "RFC 7323 section 4.3", V6 | SACK | WS, TS),
	SCRIPT(paws, "RFC 7323 section 5.3", V6 | SACK | WS, TS),
	SCRIPT(paws_spares_resets, "RFC 7323 section 5.2", V6 | SACK | WS, TS),
	SCRIPT(reset_without_timestamp, "RFC 7323 section 3.2", WAYS, TS),
	SCRIPT(what_is_refused_sets_no_clock, "RFC 7323 section 4.3", WAYS, TS),
	SCRIPT(missing, "RFC 7323 section 3.2", WAYS, TS),
	SCRIPT(missing_on_a_syn, "RFC 5961 section 4.2", WAYS, TS),
	SCRIPT(not_agreed_upon, "RFC 7323 section 3.2", WAYS, 0),
	SCRIPT(clock_wraps, "RFC 7323 section 5.3", WAYS, TS),
	SCRIPT(silence_of_24_days, "RFC 7323 section 5.5", V6 | SACK | WS, TS),
	SCRIPT(echo_of_the_future, "RFC 7323 section 4.1", WAYS, TS),
	SCRIPT(syn_ack_without, "RFC 7323 section 3.2", V6 | SACK | WS, 0),
	SCRIPT(text_makes_room, "RFC 6691 section 2", ALL_WAYS, 0),
	SCRIPTS_END,
};
