/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A receiver that acknowledges what has not come, to hide losses or to be sent more (Savage et al.,
 * "TCP Congestion Control with a Misbehaving Receiver", section 2.3): RFC 9293 section 3.10.7.4 has
 * words only for what was never sent. So, now and then, a segment is not sent.
 */
#include "script.h"

#include <errno.h>
#include <string.h>

#define RTT (20 * MS)
/** At most so many segments until one is skipped: 4096, and as many again by chance. */
#define FIRST 8192

/**
 * The host sends ten segments, of which one may be missing. @return the number at which it should
 * begin; 0: none is.
 */
static uint32_t ten_segments(struct script *s)
{
	uint32_t at = s->written, gap = 0, came = 0;
	const struct seg *seg;

	writes(s, 10000);
	uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + RTT - MS);
	while ((seg = next(s))) {
		uint32_t left = seg->seq - s->base.seq;

		check(s, seg->len == 1000);
		if (left != at) {
			check(s, !gap && left == at + 1000);
			gap = at;
		}
		at = left + 1000;
		came++;
	}
	check(s, at == s->written && came == (gap ? 9 : 10));
	return gap;
}

/** Until one is skipped. @return where. */
static uint32_t until_one_is_missing(struct script *s, unsigned most)
{
	for (unsigned n = 0; n < most; n += 10) {
		uint32_t gap = ten_segments(s);

		if (gap)
			return gap;
		peer(s, ". 1 ack %u", s->written);
		pass(s, MS);
	}
	script_fail(s, "nothing is missing");
}

static void all_was_well(struct script *s)
{
	pass(s, MS);
	check(s, script_info(s).flight == 0);
	check(s, script_info(s).retransmits == 0);
	check(s, script_info(s).timeouts == 0);
	check(s, script_info(s).fast_recoveries == 0);
	state_is(s, "ESTABLISHED");
}

/* A receiver that reports what it has gets the rest at once, and nothing else comes of it; and then
 * there is peace for twice as long. */
static void an_honest_receiver(struct script *s)
{
	uint32_t gap, second;

	accepted_far(s, RTT);
	gap = until_one_is_missing(s, FIRST + 20);
	if (gap != s->written - 10000) { /* what is new is no duplicate yet */
		peer(s, ". 1 ack %u", gap);
		nothing(s);
	}
	if (s->way & SACK)
		peer(s, ". 1 ack %u <sack %u:%u>", gap, gap + 1000, gap + 2000);
	else
		peer(s, ". 1 ack %u", gap);
	host(s, ". %u:%u ack 1", gap, gap + 1000);
	for (uint32_t end = gap + 3000; end <= s->written; end += 1000)
		if (s->way & SACK)
			peer(s, ". 1 ack %u <sack %u:%u>", gap, gap + 1000, end);
		else
			peer(s, ". 1 ack %u", gap);
	nothing(s);
	silence(s, RTT / 2);
	peer(s, ". 1 ack %u", s->written);
	all_was_well(s);
	second = until_one_is_missing(s, 2 * FIRST + 20);
	check(s, second - gap >= FIRST * 1000);
	peer(s, ". 1 ack %u", s->written);
	host(s, "R. %u ack 1", s->written);
}

/* A receiver that hides the gap, as it would have hidden a loss, is found out. */
static void a_hidden_gap(struct script *s)
{
	accepted_far(s, RTT);
	until_one_is_missing(s, FIRST + 20);
	peer(s, ". 1 ack %u", s->written);
	host(s, "R. %u ack 1", s->written);
	receive_is(s, -ECONNABORTED);
}

/** Whatever has come: all before @p to is said to have. @return true: that was the end. */
static bool pretends(struct script *s, uint32_t to)
{
	while (next(s))
		;
	peer(s, ". 1 ack %u", to);
	if (strcmp(script_state(s), "CLOSED") != 0)
		return false;
	host(s, "R. %u ack 1", s->written);
	receive_is(s, -ECONNABORTED);
	return true;
}

/* So is one that acknowledges half a flight when its first segment may have come. */
static void acknowledged_early(struct script *s)
{
	accepted_far(s, RTT);
	for (unsigned n = 0; n < FIRST + 20; n += 10) {
		writes(s, 10000);
		uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + RTT);
		if (pretends(s, s->written - 5000) || pretends(s, s->written))
			return;
		uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + MS);
	}
	script_fail(s, "it was never found out");
}

/* A SACK block over it is an acknowledgment as well. */
static void a_sacked_gap(struct script *s)
{
	uint32_t gap;

	accepted_far(s, RTT);
	gap = until_one_is_missing(s, FIRST + 20);
	peer(s, ". 1 ack %u <sack %u:%u>", s->written - 10000, gap + 1, s->written);
	host(s, "R. %u ack 1", s->written);
	receive_is(s, -ECONNABORTED);
}

#define THEIRS "RFC 9293 section 3.10.7.4"
#define WAYS   (V6 | TS | SACK | WRAP)

const struct script_test script_tests[] = {
	SCRIPT(an_honest_receiver, THEIRS, WAYS, WS),
	SCRIPT(a_hidden_gap, THEIRS, WAYS, WS),
	SCRIPT(acknowledged_early, THEIRS, WAYS, WS),
	SCRIPT(a_sacked_gap, THEIRS, V6 | TS | WRAP, SACK | WS),
	SCRIPTS_END,
};
