/* SPDX-License-Identifier: BSD-2-Clause */
/* Tail loss probes (RFC 8985 section 7) and the retransmission time-out (RFC 6298). */
#include "script.h"

#include <errno.h>

#define RTT (100 * MS)

static const struct uiwarp_tcp_config newreno = {.congestion_control = "newreno"};
static const struct uiwarp_tcp_config patient = {
	.congestion_control = "newreno", .max_ack_delay_ms = 80};

/** @p n segments leave; time stands where the last one did. */
static void in_flight(struct script *s, uint32_t n)
{
	accepted_far(s, RTT);
	writes(s, 1000 * n);
	host_sends(s, 1, 1000 * n + 1, RTT);
}

/* Section 7.2: two round trips after the last segment, when there is no new text, it comes again.
 */
static void the_last_segment_is_the_probe(struct script *s)
{
	uint64_t from;

	in_flight(s, 4);
	from = uiwarp_tcp_now(s->h);
	host_within(s, 3 * RTT, "P. 3001:4001 ack 1");
	check(s, uiwarp_tcp_now(s->h) - from >= 2 * RTT);
	check(s, uiwarp_tcp_now(s->h) - from <= 2 * RTT + 10 * MS);
	check(s, script_info(s).tlp_probes == 1);
}

/* A single segment may be waiting for the peer's delayed ACK: more patience. */
static void a_single_segment_waits(struct script *s, uint64_t patience)
{
	uint64_t from;

	in_flight(s, 1);
	from = uiwarp_tcp_now(s->h);
	host_within(s, SEC, "P. 1:1001 ack 1");
	check(s, uiwarp_tcp_now(s->h) - from >= 2 * RTT + patience);
}

static void a_single_segment(struct script *s)
{
	a_single_segment_waits(s, 20 * MS);
}

/* TLP.max_ack_delay is a setting. */
static void a_peer_that_delays_its_acks(struct script *s)
{
	a_single_segment_waits(s, 80 * MS);
}

/* Section 7.3: new text, if there is some, says as much and may be needed anyway. */
static void new_text_is_the_better_probe(struct script *s)
{
	in_flight(s, 10);
	writes(s, 1000);
	nothing(s); /* cwnd is full */
	host_within(s, 3 * RTT, "P. 10001:11001 ack 1");
}

/* The last three of ten are lost: the probe's SACK finds the rest, and no time-out is needed. */
static void tail_loss_without_a_timeout(struct script *s)
{
	in_flight(s, 10);
	pass(s, RTT);
	peer(s, ". 1 ack 7001");
	host_within(s, 3 * RTT, "P. 9001:10001 ack 1");
	silence(s, RTT);
	peer(s, ". 1 ack 7001 <sack 9001:10001>");
	host_within(s, RTT, ". 7001:8001 ack 1");
	silence(s, RTT); /* one for the one that arrived (RFC 9937's conservative bound) */
	peer(s, ". 1 ack 8001 <sack 9001:10001>");
	host_within(s, RTT, ". 8001:9001 ack 1");
	peer(s, ". 1 ack 10001");
	silence(s, 10 * SEC);
	check(s, script_info(s).timeouts == 0);
}

/* Section 7.4: the probe repaired the loss; the network was congested all the same. */
static void a_probe_that_repairs_is_a_loss(struct script *s)
{
	in_flight(s, 10);
	pass(s, RTT);
	peer(s, ". 1 ack 9001");
	host_within(s, 3 * RTT, "P. 9001:10001 ack 1");
	silence(s, RTT);
	peer(s, ". 1 ack 10001");
	writes(s, 1000); /* what tells is an ACK behind the probe's end */
	host_within(s, RTT, "P. 10001:11001 ack 1");
	silence(s, RTT);
	peer(s, ". 1 ack 11001");
	/* RFC 5681 equation 4, of the ten that were in flight when the last was lost. */
	check(s, script_info(s).ssthresh == 10 * 1000 / 2);
	check(s, script_info(s).cwnd <= 10 * 1000 / 2 + 1000);
}

/** The original had only been slow, and the peer says so by its answer to the probe. */
static void a_probe_in_vain(struct script *s, bool dsack)
{
	uint32_t cwnd;

	in_flight(s, 10);
	pass(s, RTT);
	peer(s, ". 1 ack 9001");
	cwnd = script_info(s).cwnd;
	host_within(s, 3 * RTT, "P. 9001:10001 ack 1");
	peer(s, ". 1 ack 10001");
	silence(s, RTT);
	if (dsack)
		peer(s, ". 1 ack 10001 <sack 9001:10001>");
	else
		peer(s, ". 1 ack 10001");
	writes(s, 1000);
	host_within(s, RTT, "P. 10001:11001 ack 1");
	silence(s, RTT);
	peer(s, ". 1 ack 11001");
	check(s, script_info(s).cwnd >= cwnd);
}

static void a_probe_in_vain_costs_nothing(struct script *s)
{
	a_probe_in_vain(s, true);
}

/* Section 7.4.2, case 2: nor at a peer that has SACK but not D-SACK. */
static void a_probe_in_vain_without_dsack(struct script *s)
{
	a_probe_in_vain(s, false);
}

/* One probe, then the time-out: of the first segment, and twice as late each time (RFC 6298). */
static void probe_then_timeouts(struct script *s)
{
	uint64_t before = 0;

	accepted_far(s, RTT);
	for (uint32_t i = 0; i < 4; i++) { /* small, so that nobody suspects the path's MTU */
		writes(s, 100);
		host_within(s, RTT, "P. %u:%u ack 1", 1 + 100 * i, 101 + 100 * i);
	}
	host_within(s, 4 * RTT, "P. 301:401 ack 1");
	for (unsigned i = 0; i < 6; i++) {
		uint64_t from = uiwarp_tcp_now(s->h), took;

		host_within(s, 60 * SEC, ". 1:101 ack 1");
		took = uiwarp_tcp_now(s->h) - from;
		if (i > 1) {
			check(s, took >= 2 * before - MS);
			check(s, took <= 2 * before + MS);
		}
		before = took;
	}
	check(s, script_info(s).timeouts == 6);
	check(s, script_info(s).cwnd == 1000);
}

/* Section 2.2: the first sample gives SRTT = R and RTTVAR = R / 2; no SACK, so no probe. */
static void the_first_timeout(struct script *s)
{
	uint64_t from;

	accepted_far(s, RTT);
	writes(s, 1000);
	host(s, "P. 1:1001 ack 1");
	from = uiwarp_tcp_now(s->h);
	host_within(s, SEC, "P. 1:1001 ack 1");
	check(s, uiwarp_tcp_now(s->h) - from >= RTT + 4 * RTT / 2 - 2 * MS);
	check(s, uiwarp_tcp_now(s->h) - from <= RTT + 4 * RTT / 2 + 2 * MS);
}

/* Section 5.5 and 2.5: the time-out grows, but not beyond its maximum, of at least 60 s. */
static void the_longest_timeout(struct script *s)
{
	uint64_t longest = 0;

	accepted_far(s, RTT);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	for (;;) {
		uint64_t from = uiwarp_tcp_now(s->h);

		if (script_info(s).timeouts >= 8)
			break;
		host_within(s, 120 * SEC, "P. 1:101 ack 1");
		check(s, uiwarp_tcp_now(s->h) - from + MS >= longest);
		longest = uiwarp_tcp_now(s->h) - from;
	}
	check(s, longest > 30 * SEC);
	check(s, longest <= 61 * SEC);
}

/* Section 5.3: an ACK of new text starts the timer again. */
static void acknowledgments_restart_the_timer(struct script *s)
{
	accepted_far(s, RTT);
	writes(s, 5000);
	host_sends(s, 1, 5001, RTT);
	for (uint32_t i = 1; i < 5; i++) {
		silence(s, 250 * MS);
		peer(s, ". 1 ack %u", 1 + 1000 * i);
	}
	silence(s, 300 * MS);
	host_within(s, 5 * SEC, "P. 4001:5001 ack 1");
}

/* Section 3, Karn: the ACK of what was sent twice measures nothing; a timestamp does. */
static void karn(struct script *s)
{
	struct uiwarp_tcp_info before;

	accepted_far(s, RTT);
	before = script_info(s);
	writes(s, 1000);
	host(s, "P. 1:1001 ack 1");
	host_within(s, SEC, "P. 1:1001 ack 1");
	silence(s, 250 * MS);
	peer(s, ". 1 ack 1001");
	if (!(s->way & TS))
		check(s, script_info(s).srtt == before.srtt);
	check(s, script_info(s).srtt < 2 * RTT);
}

/** A request, and its answer @p rtt later. @return how often it was sent again meanwhile. */
static uint32_t request(struct script *s, uint64_t rtt)
{
	uint32_t before = script_info(s).retransmits, copies, to;

	writes(s, 100);
	to = s->written;
	pass(s, rtt);
	copies = script_info(s).retransmits - before;
	peer(s, ". 1 ack %u", to);
	for (uint32_t i = 0; i < copies; i++) {
		pass(s, 100 * MS);
		if (s->way & SACK)
			peer(s, ". 1 ack %u <sack %u:%u>", to, to - 100, to);
		else
			peer(s, ". 1 ack %u", to);
	}
	pass(s, SEC);
	return copies;
}

/* RFC 1122 section 4.2.3.1, Karn: what each request had to wait for its one copy of stays, until
 * one was sent once and measures the new path. */
static void a_path_becomes_slower(struct script *s, uint64_t rtt)
{
	accepted_far(s, 50 * MS);
	for (unsigned i = 0; i < 10; i++)
		check(s, request(s, 50 * MS) == 0);
	for (unsigned i = 0; i < 24; i++) /* SRTT comes near by an eighth of the way */
		request(s, rtt);
	for (unsigned i = 0; i < 6; i++)
		check(s, request(s, rtt) == 0);
	check(s, script_info(s).srtt > rtt / 2);
}

static void a_slower_path(struct script *s)
{
	a_path_becomes_slower(s, 2 * SEC);
}

static void a_very_slow_path(struct script *s)
{
	a_path_becomes_slower(s, 5 * SEC);
}

/* The doubling of a long outage does not outlive it. */
static void an_outage_is_over(struct script *s)
{
	uint64_t from;

	accepted_far(s, RTT);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	while (script_info(s).timeouts < 8)
		host_within(s, 120 * SEC, "P. 1:101 ack 1");
	peer(s, ". 1 ack 101");
	writes(s, 100);
	host(s, "P. 101:201 ack 1");
	from = uiwarp_tcp_now(s->h);
	host_within(s, 10 * SEC, "P. 101:201 ack 1");
	check(s, uiwarp_tcp_now(s->h) - from <= 4 * SEC + MS);
}

/* On a path of less than a millisecond an echo is no sample, but the sign that it is short. */
static void a_short_path_lost_something(struct script *s)
{
	uint64_t from;

	accepted_far(s, MS / 10);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	host_within(s, SEC, "P. 1:101 ack 1");
	pass(s, MS / 10);
	peer(s, ". 1 ack 101");
	writes(s, 100);
	host(s, "P. 101:201 ack 1");
	from = uiwarp_tcp_now(s->h);
	host_within(s, SEC, "P. 101:201 ack 1");
	check(s, uiwarp_tcp_now(s->h) - from <= 210 * MS);
}

#define WAYS (V6 | TS | WRAP)

const struct script_test script_tests[] = {
	SCRIPT_WITH(
		the_last_segment_is_the_probe, "RFC 8985 section 7.3", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(a_single_segment, "RFC 8985 section 7.2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(a_peer_that_delays_its_acks, "RFC 8985 section 7.2", WAYS, SACK | WS, &patient),
	SCRIPT_WITH(
		new_text_is_the_better_probe, "RFC 8985 section 7.3", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(tail_loss_without_a_timeout, "RFC 8985 section 7", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(
		a_probe_that_repairs_is_a_loss, "RFC 8985 section 7.4", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(
		a_probe_in_vain_costs_nothing, "RFC 8985 section 7.4", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(
		a_probe_in_vain_without_dsack, "RFC 8985 section 7.4", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(probe_then_timeouts, "RFC 6298 section 5", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(the_first_timeout, "RFC 6298 section 2", WAYS, WS, &newreno),
	SCRIPT_WITH(the_longest_timeout, "RFC 6298 section 2", WAYS, WS, &newreno),
	SCRIPT_WITH(acknowledgments_restart_the_timer, "RFC 6298 section 5", WAYS, WS, &newreno),
	SCRIPT_WITH(karn, "RFC 6298 section 3", WAYS, WS, &newreno),
	SCRIPT_WITH(a_slower_path, "RFC 6298 section 5", V6 | SACK | WRAP, WS, &newreno),
	SCRIPT_WITH(a_very_slow_path, "RFC 6298 section 5", V6 | SACK | WRAP, WS, &newreno),
	SCRIPT_WITH(
		a_short_path_lost_something, "RFC 6298 section 5", V6 | WRAP, WS | TS, &newreno),
	SCRIPT_WITH(an_outage_is_over, "RFC 6298 section 5", WAYS | SACK, WS, &newreno),
	SCRIPTS_END,
};
