/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much is sent while losses are repaired (RFC 6937), recovery without SACK (RFC 6582), and
 * what is taken back when the loss was none (RFC 5682, 3522, 2883).
 */
#include "script.h"

#define RTT (100 * MS)

static const struct uiwarp_tcp_config newreno = {.congestion_control = "newreno"};

static void in_flight(struct script *s, uint32_t n)
{
	uint64_t begun;

	accepted_far(s, RTT);
	begun = uiwarp_tcp_now(s->h);
	writes(s, 1000 * n);
	host_sends(s, 1, 1000 * (n < 10 ? n : 10) + 1, RTT);
	silence(s, begun + RTT - uiwarp_tcp_now(s->h));
}

/*
 * One of ten is lost, new text waits: what is sent in recovery is, all in all, the share of what
 * arrives that the reduction leaves (newreno: half), and the window is ssthresh in the end.
 */
static void proportional_rate_reduction(struct script *s)
{
	uint64_t before;

	accepted_far(s, 0); /* no round trip, no pacing: what may be sent is sent at once */
	writes(s, 40000);
	host_sends(s, 1, 10001, 0);
	silence(s, MS);
	before = script_info(s).bytes_sent;
	peer(s, ". 1 ack 1 <sack 1001:4001>");
	host(s, ". 1:1001 ack 1");
	check(s, script_info(s).ssthresh == 5000);
	for (uint32_t i = 5; i <= 10; i++) {
		peer(s, ". 1 ack 1 <sack 1001:%u>", 1000 * i + 1);
		pass(s, 50 * US);
		/* Never more than the share of what has arrived, rounded up to a segment. */
		check(s, script_info(s).bytes_sent - before <= (i - 1) * 500 + 1000);
	}
	check(s, script_info(s).bytes_sent - before >= 4000);
	peer(s, ". 1 ack 10001");
	pass(s, 50 * US);
	check(s, script_info(s).cwnd == 5000);
	check(s, script_info(s).flight <= 5000);
}

/* Little is in flight after heavy loss: not a burst of ssthresh, but what arrives allows. */
static void no_burst_after_heavy_loss(struct script *s)
{
	in_flight(s, 40);
	peer(s, ". 1 ack 1 <sack 9001:10001>");
	pass(s, RTT / 3);
	check(s, script_info(s).lost == 9000);
	check(s, script_info(s).bytes_sent <= 10000 + 2000);
}

/*
 * The first repair goes when the loss is known, however far behind its rate the connection is: what
 * it makes up for has left the network.
 */
static void the_first_repair_is_not_paced(struct script *s)
{
	in_flight(s, 40);
	peer(s, ". 1 ack 2001");
	pass(s, 0);
	check(s, script_info(s).flight < script_info(s).cwnd); /* more waits for its time */
	peer(s, ". 1 ack 2001 <sack 3001:6001>");
	host(s, ". 2001:3001 ack 1");
	nothing(s);
	check(s, script_info(s).fast_recoveries == 1);
}

/* Without SACK: three duplicate ACKs, and a partial ACK tells of the next loss (RFC 6582). */
static void newreno_without_sack(struct script *s)
{
	in_flight(s, 10);
	for (unsigned i = 0; i < 2; i++) {
		peer(s, ". 1 ack 1");
		nothing(s);
	}
	peer(s, ". 1 ack 1");
	host_within(s, 30 * MS, ". 1:1001 ack 1");
	for (unsigned i = 0; i < 5; i++) {
		peer(s, ". 1 ack 1");
		pass(s, MS);
	}
	peer(s, ". 1 ack 3001"); /* 3001 is lost, too */
	host_within(s, 30 * MS, ". 3001:4001 ack 1");
	peer(s, ". 1 ack 10001");
	pass(s, MS);
	check(s, script_info(s).timeouts == 0);
	check(s, script_info(s).fast_recoveries == 1);
	check(s, script_info(s).ssthresh == 5000);
}

/* RFC 5681 section 3.2: an ACK with text, or with another window, is no duplicate. */
static void what_is_no_duplicate(struct script *s)
{
	in_flight(s, 10);
	for (uint32_t i = 0; i < 5; i++) {
		peer(s, "P. %u:%u ack 1", 1 + 10 * i, 11 + 10 * i);
		pass(s, 0);
	}
	for (unsigned i = 1; i < 6; i++)
		peer(s, ". 51 ack 1 win %u", 60000 - i);
	check(s, script_info(s).retransmits == 0);
}

/* F-RTO, steps 2 and 3: what was late arrives after the time-out, and the reduction is undone. */
static void a_spurious_timeout(struct script *s)
{
	uint32_t cwnd, first;

	in_flight(s, 10);
	first = s->ts_echo;
	writes(s, 10000);
	cwnd = script_info(s).cwnd;
	while (script_info(s).timeouts == 0)
		pass(s, 10 * MS);
	check(s, script_info(s).cwnd <= 2000);
	/* Nothing was lost: the ACKs of the first flight come, late, one after the other. */
	for (uint32_t i = 1; i <= 10; i++) {
		s->ts_echo = first;
		peer(s, ". 1 ack %u", 1 + 1000 * i);
		pass(s, MS);
	}
	check(s, script_info(s).spurious_timeouts == 1);
	check(s, script_info(s).cwnd >= cwnd);
	check(s, script_info(s).retransmits <= 3);
}

/* Step 2b's ACK, and then duplicates: the rest is lost after all, and is sent again. */
static void a_genuine_timeout(struct script *s)
{
	in_flight(s, 10);
	while (script_info(s).timeouts == 0)
		pass(s, 10 * MS);
	peer(s, ". 1 ack 1001");
	pass(s, RTT);
	peer(s, ". 1 ack 2001");
	for (uint32_t i = 3; i <= 10; i++) {
		pass(s, RTT);
		peer(s, ". 1 ack %u", 1 + 1000 * i);
	}
	check(s, script_info(s).flight == 0);
	check(s, script_info(s).cwnd < 10000);
}

/* Eifel (RFC 3522): the ACK's echo is older than the retransmission: the first copy arrived. */
static void timestamps_tell_of_a_spurious_recovery(struct script *s)
{
	uint32_t first, cwnd;

	in_flight(s, 10);
	first = s->ts_echo;
	cwnd = script_info(s).cwnd;
	peer(s, ". 1 ack 1 <sack 1001:4001>");
	host(s, ". 1:1001 ack 1");
	silence(s, 10 * MS);
	peer(s, ". 1 ack 4001 <ts . %u>", first);
	pass(s, MS);
	check(s, script_info(s).spurious_recoveries == 1);
	check(s, script_info(s).cwnd >= cwnd);
}

/* RFC 2883, and 3708 in spirit: every retransmission was reported as a duplicate. */
static void dsack_tells_of_a_spurious_recovery(struct script *s)
{
	uint32_t cwnd;

	in_flight(s, 10);
	cwnd = script_info(s).cwnd;
	peer(s, ". 1 ack 1 <sack 1001:4001>");
	host(s, ". 1:1001 ack 1");
	peer(s, ". 1 ack 4001");
	pass(s, 50 * MS);
	peer(s, ". 1 ack 10001 <sack 1:1001>");
	pass(s, MS);
	check(s, script_info(s).spurious_recoveries == 1);
	check(s, script_info(s).cwnd >= cwnd);
}

/*
 * The ACK that has the D-SACK was overtaken by those of text sent since: it is below SND.UNA,
 * recovery is over and all that was sent meanwhile acknowledged. It tells the same.
 */
static void dsack_below_snd_una(struct script *s)
{
	uint32_t cwnd;

	in_flight(s, 10);
	cwnd = script_info(s).cwnd;
	peer(s, ". 1 ack 1 <sack 1001:4001>");
	host(s, ". 1:1001 ack 1");
	writes(s, 4000);
	pass(s, RTT / 4);
	peer(s, ". 1 ack 10001");
	host_sends(s, 10001, 13001, RTT);
	host_within(s, RTT, "P. 13001:14001 ack 1");
	check(s, script_info(s).cwnd < cwnd);
	peer(s, ". 1 ack 13001");
	pass(s, 0);
	peer(s, ". 1 ack 10001 <sack 1:1001>");
	pass(s, 0);
	check(s, script_info(s).spurious_recoveries == 1);
	check(s, script_info(s).cwnd >= cwnd);
}

/* RFC 5681 section 4.1: after a pause the window is not what it was. */
static void restart_after_a_pause(struct script *s)
{
	uint32_t cwnd;

	in_flight(s, 10);
	for (uint32_t at = 10001; at <= 200001; at += 10000) {
		peer(s, ". 1 ack %u", at);
		writes(s, 10000);
		pass(s, RTT);
	}
	peer(s, ". 1 ack %u", s->written);
	cwnd = script_info(s).cwnd;
	pass(s, 60 * SEC);
	writes(s, 100000);
	pass(s, MS);
	check(s, script_info(s).flight <= 10000);
	check(s, cwnd >= 10000);
}

/* ACKs of single bytes are no reason to grow fast (RFC 3465; RFC 5681 section 3.1). */
static void ack_division(struct script *s)
{
	uint32_t cwnd;

	in_flight(s, 10);
	cwnd = script_info(s).cwnd;
	for (uint32_t i = 2; i <= 1001; i++)
		peer(s, ". 1 ack %u", i);
	check(s, script_info(s).cwnd <= cwnd + 1000);
}

#define WAYS (V6 | TS | WRAP)

const struct script_test script_tests[] = {
	SCRIPT_WITH(proportional_rate_reduction, "RFC 6937 section 3", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(the_first_repair_is_not_paced, "RFC 6937 section 3", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(no_burst_after_heavy_loss, "RFC 6937 section 3", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(newreno_without_sack, "RFC 6582 section 3.2", WAYS, WS, &newreno),
	SCRIPT_WITH(what_is_no_duplicate, "RFC 5681 section 2", WAYS, WS, &newreno),
	SCRIPT_WITH(a_spurious_timeout, "RFC 5682 section 2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(a_genuine_timeout, "RFC 5682 section 2", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(timestamps_tell_of_a_spurious_recovery, "RFC 3522 section 3.2", V6 | WRAP,
		TS | SACK | WS, &newreno),
	SCRIPT_WITH(dsack_tells_of_a_spurious_recovery, "RFC 2883 section 5", WAYS, SACK | WS,
		&newreno),
	SCRIPT_WITH(dsack_below_snd_una, "RFC 2883 section 5", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(restart_after_a_pause, "RFC 5681 section 4.1", WAYS, SACK | WS, &newreno),
	SCRIPT_WITH(ack_division, "RFC 5681 section 3.1", WAYS, SACK | WS, &newreno),
	SCRIPTS_END,
};
