/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A receiver that acknowledges what has not come, to hide losses or to be sent more (Savage et al.,
 * "TCP Congestion Control with a Misbehaving Receiver", section 2.3). What was never sent is
 * refused. What was sent is acknowledged, whenever that is said: the window grows by its bytes, and
 * it is not sent again.
 */
#include "script.h"

#include <errno.h>

#define RTT (20 * MS)
/** Bytes of ten segments. */
#define FLIGHT 10000

/** Ten segments are in flight. @return where they begin. */
static uint32_t ten_segments(struct script *s)
{
	uint32_t at = s->written;

	writes(s, FLIGHT);
	uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + RTT - MS);
	while (at < s->written) {
		const struct seg *seg = next(s);

		check(s, seg && seg->len == 1000 && seg->seq - s->base.seq == at);
		at += 1000;
	}
	nothing(s);
	return s->written - FLIGHT;
}

/** Nothing was believed lost, and nothing is in flight. */
static void all_was_well(struct script *s)
{
	check(s, script_info(s).flight == 0);
	check(s, script_info(s).retransmits == 0);
	check(s, script_info(s).timeouts == 0);
	check(s, script_info(s).fast_recoveries == 0);
	state_is(s, "ESTABLISHED");
}

/* Beyond SND.NXT, by a byte or by much: an ACK is the answer, and nothing is acknowledged. */
static void never_sent(struct script *s)
{
	uint32_t cwnd;

	accepted_far(s, RTT);
	ten_segments(s);
	cwnd = script_info(s).cwnd;
	peer(s, ". 1 ack %u", s->written + 1);
	host(s, ". %u ack 1", s->written);
	peer(s, "P. 1:11 ack %u", s->written + 1000000);
	host(s, ". %u ack 1", s->written);
	receive_is(s, -EAGAIN);
	check(s, script_info(s).flight == FLIGHT);
	check(s, script_info(s).cwnd == cwnd);
	peer(s, ". 1 ack %u", s->written);
	all_was_well(s);
}

/* A SACK block that ends there says nothing of what is in flight either. */
static void never_sent_but_sacked(struct script *s)
{
	uint32_t at, cwnd;

	accepted_far(s, RTT);
	at = ten_segments(s);
	cwnd = script_info(s).cwnd;
	for (unsigned i = 0; i < 4; i++) {
		peer(s, ". 1 ack %u <sack %u:%u>", at, at + 1000, s->written + 1);
		nothing(s);
	}
	check(s, script_info(s).flight == FLIGHT);
	check(s, script_info(s).sacked == 0);
	check(s, script_info(s).cwnd == cwnd);
	peer(s, ". 1 ack %u", s->written);
	all_was_well(s);
}

/* Half a flight is acknowledged when its first segment may have come, and then the rest. */
static void acknowledged_early(struct script *s)
{
	accepted_far(s, RTT);
	for (unsigned n = 0; n < 100; n++) {
		uint32_t at = ten_segments(s), cwnd = script_info(s).cwnd;

		peer(s, ". 1 ack %u", at + FLIGHT / 2);
		nothing(s);
		check(s, script_info(s).flight == FLIGHT / 2);
		check(s, script_info(s).cwnd <= cwnd + FLIGHT / 2);
		peer(s, ". 1 ack %u", s->written);
		check(s, script_info(s).cwnd <= cwnd + FLIGHT);
		all_was_well(s);
	}
	silence(s, SEC);
}

/* What is acknowledged is gone: a later ACK that asks for it again brings nothing back. */
static void hidden_loss(struct script *s)
{
	uint32_t at;

	accepted_far(s, RTT);
	at = ten_segments(s);
	peer(s, ". 1 ack %u", s->written);
	for (unsigned i = 0; i < 4; i++) {
		peer(s, ". 1 ack %u", at);
		nothing(s);
	}
	silence(s, SEC);
	all_was_well(s);
}

#define THEIRS "RFC 9293 section 3.10.7.4"
#define WAYS   (V6 | TS | SACK | WRAP)

const struct script_test script_tests[] = {
	SCRIPT(never_sent, THEIRS, WAYS, WS),
	SCRIPT(never_sent_but_sacked, "RFC 2018 section 3", V6 | TS | WRAP, SACK | WS),
	SCRIPT(acknowledged_early, "RFC 5681 section 3.1", WAYS, WS),
	SCRIPT(hidden_loss, THEIRS, WAYS, WS),
	SCRIPTS_END,
};
