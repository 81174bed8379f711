/* SPDX-License-Identifier: BSD-2-Clause */
/* Losses found by time (RFC 8985 section 6), reordering told from loss, lost retransmissions. */
#include "script.h"

#define RTT (100 * MS)

static const struct uiwarp_tcp_config newreno = {.congestion_control = "newreno"};

/** Ten segments of 1000 bytes are in flight and a round trip has passed since the first left. */
static void ten_in_flight(struct script *s)
{
	uint64_t begun;

	accepted_far(s, RTT);
	begun = uiwarp_tcp_now(s->h);
	writes(s, 10000);
	host_sends(s, 1, 10001, RTT);
	silence(s, begun + RTT - uiwarp_tcp_now(s->h));
}

/* Step 5: with fewer than three segments SACKed the reordering window of min_rtt / 4 is granted. */
static void a_hole_waits_for_the_reordering_window(struct script *s)
{
	uint64_t from;

	ten_in_flight(s);
	from = uiwarp_tcp_now(s->h);
	peer(s, ". 1 ack 1 <sack 1001:2001>");
	nothing(s);
	host_within(s, RTT, ". 1:1001 ack 1");
	check(s, uiwarp_tcp_now(s->h) - from >= RTT / 4 - 10 * MS);
	check(s, uiwarp_tcp_now(s->h) - from <= RTT / 4 + 10 * MS);
}

/* Three segments SACKed say it as duplicate ACKs would (step 3): no window, at once. */
static void three_sacked_are_enough(struct script *s)
{
	ten_in_flight(s);
	peer(s, ". 1 ack 1 <sack 1001:3001>");
	nothing(s);
	peer(s, ". 1 ack 1 <sack 1001:4001>");
	host(s, ". 1:1001 ack 1");
	check(s, script_info(s).fast_recoveries == 1);
}

/* What was only late fills the hole in time: nothing is sent again, nothing reduced. */
static void reordering_within_the_window(struct script *s)
{
	struct uiwarp_tcp_info before, after;

	ten_in_flight(s);
	before = script_info(s);
	peer(s, ". 1 ack 1 <sack 1001:2001>");
	silence(s, 15 * MS);
	peer(s, ". 1 ack 2001");
	silence(s, 5 * MS);
	peer(s, ". 1 ack 10001");
	silence(s, 10 * SEC);
	after = script_info(s);
	check(s, after.retransmits == 0);
	check(s, after.reordering_seen);
	check(s, after.cwnd >= before.cwnd);
}

/* Once reordering was seen, three SACKed segments are no proof any more (step 4). */
static void reordering_makes_patient(struct script *s)
{
	ten_in_flight(s);
	peer(s, ". 1 ack 1 <sack 1001:2001>");
	silence(s, 5 * MS);
	peer(s, ". 1 ack 2001");
	nothing(s);
	peer(s, ". 1 ack 2001 <sack 3001:7001>");
	nothing(s);
	host_within(s, RTT, ". 2001:3001 ack 1");
}

/* A D-SACK says that the window was too small: it grows (step 4). */
static void dsack_widens_the_window(struct script *s)
{
	ten_in_flight(s);
	peer(s, ". 1 ack 1 <sack 1001:4001>");
	host(s, ". 1:1001 ack 1");
	peer(s, ". 1 ack 4001"); /* it was late, not lost */
	pass(s, 10 * MS);
	peer(s, ". 1 ack 10001 <sack 1:1001>");
	pass(s, 0);
	check(s, script_info(s).dsacks == 1);
	check(s, script_info(s).reo_wnd >= script_info(s).min_rtt / 2 - US);
}

/* A retransmission that is lost, too, is found by what was sent after it: no time-out. */
static void a_lost_retransmission(struct script *s)
{
	ten_in_flight(s);
	writes(s, 10000);
	peer(s, ". 1 ack 1 <sack 1001:4001>");
	host(s, ". 1:1001 ack 1");
	pass(s, RTT / 2);
	peer(s, ". 1 ack 1 <sack 1001:10001>");
	pass(s, RTT / 2); /* new text goes out after the retransmission */
	check(s, script_info(s).flight > 10000);
	pass(s, RTT / 2);
	peer(s, ". 1 ack 1 <sack 1001:11001>");
	/* At once, though each loss of a retransmission is congestion, too. */
	host(s, ". 1:1001 ack 1");
	check(s, script_info(s).timeouts == 0);
}

/*
 * The same while new text goes out as well: four are lost, and of their retransmissions the second.
 * What proportional rate reduction leaves for the ACK that tells may be less than a segment: it
 * goes out all the same, as the next ACK may be a round trip away.
 */
static void a_lost_retransmission_among_others(struct script *s)
{
	accepted_far(s, 10 * MS);
	writes(s, 20000);
	host_sends(s, 1, 10001, 0);
	pass(s, 10 * MS);
	for (uint32_t i = 5; i <= 12; i++) {
		peer(s, ". 1 ack 1 <sack 4001:%u>", 1000 * i + 1);
		pass(s, 2 * MS);
	}
	check(s, script_info(s).retransmits == 4);
	pass(s, 8 * MS);
	peer(s, ". 1 ack 1001 <sack 4001:12001>");
	pass(s, 2 * MS);
	peer(s, ". 1 ack 1001 <sack 2001:12001>");
	host(s, ". 1001:2001 ack 1");
	pass(s, 2 * MS);
	peer(s, ". 1 ack 12001");
	pass(s, 2 * MS);
	check(s, script_info(s).retransmits == 5);
	check(s, script_info(s).timeouts == 0);
}

/* Many holes in one flight are all found and repaired in about a round trip, without time-outs. */
static void many_holes(struct script *s)
{
	unsigned again = 0;

	ten_in_flight(s);
	peer(s, ". 1 ack 1 <sack 1001:2001 3001:4001 5001:6001>");
	while (again < 3 && uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER) {
		host(s, ". %u:%u ack 1", 1 + 2000 * again, 1001 + 2000 * again);
		again++;
	}
	peer(s, ". 1 ack 1 <sack 9001:10001 7001:8001 1001:2001>");
	while (again < 5) {
		host_within(s, RTT, ". %u:%u ack 1", 1 + 2000 * again, 1001 + 2000 * again);
		again++;
		if (again < 5)
			peer(s, ". 1 ack %u", 2001 + 2000 * (again - 1));
	}
	check(s, script_info(s).timeouts == 0);
}

/* RFC 3042: the first SACKs of a loss let new text out, so that more SACKs come. */
static void limited_transmit(struct script *s)
{
	ten_in_flight(s);
	writes(s, 2000);
	silence(s, 0);
	peer(s, ". 1 ack 1 <sack 1001:2001>");
	host_within(s, 20 * MS, ". 10001:11001 ack 1");
	peer(s, ". 1 ack 1 <sack 1001:3001>");
	host_within(s, 20 * MS, "P. 11001:12001 ack 1");
}

/* RFC 5681 section 3.1: what limited transmit was sent for does not let the window grow as well,
 * until the path is known to reorder. */
static void reordering_after_limited_transmit(struct script *s)
{
	uint32_t cwnd;

	limited_transmit(s);
	cwnd = script_info(s).cwnd;
	peer(s, ". 1 ack 3001");
	check(s, script_info(s).cwnd == cwnd + 1000);
	check(s, script_info(s).reordering_seen);
	peer(s, ". 1 ack 3001 <sack 4001:6001>");
	check(s, script_info(s).cwnd == cwnd + 3000);
	peer(s, ". 1 ack 12001");
	check(s, script_info(s).cwnd == cwnd + 10000);
}

/* RFC 2018 section 8: a receiver may take a SACK back; a time-out sends everything again. */
static void a_peer_that_reneges(struct script *s)
{
	ten_in_flight(s);
	peer(s, ". 1 ack 1 <sack 1001:10001>");
	host(s, ". 1:1001 ack 1");
	peer(s, ". 1 ack 1001"); /* and nothing of what it had SACKed */
	for (uint32_t at = 1001; at < 10001;) {
		host_within(s, 5 * SEC, ". %u:%u ack 1", at, at + 1000);
		at += 1000;
		while (uiwarp_tcp_output_time(s->h) != UIWARP_TCP_NEVER) {
			host(s, ". %u:%u ack 1", at, at + 1000);
			at += 1000;
		}
		peer(s, ". 1 ack %u", at);
	}
	check(s, script_info(s).flight == 0);
}

/* Blocks that make no sense are nothing: outside the flight, backwards, of text never sent. */
static void nonsense_in_sack(struct script *s)
{
	ten_in_flight(s);
	peer(s, ". 1 ack 1 <sack 20001:30001>");
	nothing(s);
	peer(s, ". 1 ack 1 <sack 5001:4001>");
	nothing(s);
	peer(s, ". 1 ack 1 <sack 9001:20001>");
	nothing(s);
	peer(s, ". 1 ack 1 <sack 2147483649:2147483650 -1000:-1>");
	nothing(s);
	peer(s, ". 1 ack 1 <sack 1:1>");
	nothing(s);
	check(s, script_info(s).sacked == 0);
	peer(s, ". 1 ack 10001");
	silence(s, 10 * SEC);
}

#define WAYS (V6 | TS | WRAP)

const struct script_test script_tests[] = {
	SCRIPT_WITH(a_hole_waits_for_the_reordering_window, "RFC 8985 section 6.2", WAYS, SACK | WS,
		&newreno),
	SCRIPT_WITH(three_sacked_are_enough, "RFC 8985 section 6.2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(
		reordering_within_the_window, "RFC 8985 section 6.2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(reordering_makes_patient, "RFC 8985 section 6.2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(dsack_widens_the_window, "RFC 8985 section 6.2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(a_lost_retransmission, "RFC 8985 section 6.2", WAYS, SACK | WS, &newreno),
	SCRIPT(a_lost_retransmission_among_others, "RFC 8985 section 6.2", WAYS, SACK | WS),
	SCRIPT_WITH(many_holes, "RFC 8985 section 6.2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(limited_transmit, "RFC 3042 section 2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(reordering_after_limited_transmit, "RFC 5681 section 3.1", WAYS, SACK | WS,
		&newreno),
	SCRIPT_WITH(a_peer_that_reneges, "RFC 2018 section 8", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(nonsense_in_sack, "RFC 2018 section 3", WAYS, SACK | WS, &newreno),
	SCRIPTS_END,
};
