/* SPDX-License-Identifier: BSD-2-Clause */
/* The path's MTU found by what arrives (RFC 8899, RFC 4821): black holes, and the way up again. */
#include "script.h"

#define RTT (20 * MS)

/**
 * A peer behind a path of this MTU, through which larger packets do not come: until it has all.
 * What it had before, it reports by a D-SACK, where SACK is on. @return how many were too large.
 */
static unsigned a_path_of(struct script *s, uint32_t mtu, uint64_t ns)
{
	uint64_t end = uiwarp_tcp_now(s->h) + ns;
	uint32_t text = mtu - (s->way & V6 ? 60 : 40) - (s->way & TS ? 12 : 0);
	uint32_t got = 1 + (uint32_t)script_info(s).bytes_acked;
	unsigned too_large = 0;

	while (uiwarp_tcp_now(s->h) < end && got < s->written) {
		uint32_t acks = 0;
		const struct seg *seg;

		while ((seg = next(s))) {
			uint32_t left = seg->seq - s->base.seq, right = left + seg->len;

			too_large += seg->len > text;
			if (!seg->len || seg->len > text)
				continue;
			if (right <= got && s->way & SACK)
				peer(s, ". 1 ack %u <sack %u:%u>", got, left, right);
			acks += right > got;
			if (left <= got && right > got)
				got = right;
		}
		if (acks)
			peer(s, ". 1 ack %u", got);
		if (uiwarp_tcp_output_time(s->h) == UIWARP_TCP_NEVER)
			uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + RTT);
	}
	return too_large;
}

/** So many times some text goes over this path. @return how many were too large. */
static unsigned transfers(struct script *s, unsigned n, uint32_t mtu)
{
	unsigned too_large = 0;

	while (n--) {
		writes(s, 8000);
		too_large += a_path_of(s, mtu, 10 * SEC);
		check(s, script_info(s).flight == 0);
		pass(s, 300 * MS); /* what is not answered by now is lost */
	}
	return too_large;
}

/* RFC 8899 section 4.3: large segments vanish without a word: smaller ones get through. */
static void a_black_hole(struct script *s)
{
	uint32_t emss;

	accepted(s);
	emss = script_info(s).emss;
	writes(s, 4000);
	a_path_of(s, s->way & V6 ? 1280 : 900, 120 * SEC);
	check(s, script_info(s).flight == 0);
	check(s, script_info(s).bytes_acked == 4000);
	check(s, script_info(s).emss < emss);
	check(s, script_info(s).mtu >= (s->way & V6 ? 1280 : 576));
}

/* Small segments that are lost are no reason to suspect the MTU. */
static void small_segments_are_above_suspicion(struct script *s)
{
	uint32_t emss;

	accepted(s);
	emss = script_info(s).emss;
	writes(s, 100);
	pass(s, 60 * SEC);
	check(s, script_info(s).timeouts >= 3);
	check(s, script_info(s).emss == emss);
}

/* Section 5.3: the size between, by probes that cost nobody anything; not to the last byte. */
static void a_search_finds_the_size(struct script *s)
{
	uint64_t timeouts;

	accepted(s);
	writes(s, 4000);
	a_path_of(s, 1450, 120 * SEC);
	check(s, script_info(s).mtu < 1400);
	timeouts = script_info(s).timeouts;
	/* Five sizes at most, three probes of each. */
	check(s, transfers(s, 60, 1450) <= 15);
	check(s, script_info(s).mtu > 1450 - 32 && script_info(s).mtu <= 1450);
	check(s, transfers(s, 20, 1450) == 0);
	check(s, script_info(s).timeouts == timeouts);
}

/** A path on which the probe that follows these is lost, whatever its size. */
static void a_lost_probe(struct script *s, uint32_t first, uint32_t second)
{
	uint64_t timeouts = script_info(s).timeouts;

	writes(s, first);
	pass(s, 0);
	writes(s, second);
	while (next(s))
		;
	peer(s, ". 1 ack %u", s->written);
	pass(s, 400 * MS);
	check(s, script_info(s).timeouts == timeouts);
}

/* Section 5.1.3, PROBE_COUNT: what is in flight decides how large a probe is. Two large ones that
 * the path does not take and a small one by chance say nothing of the small one's size. */
static void probes_of_different_sizes(struct script *s)
{
	accepted(s);
	writes(s, 4000);
	a_path_of(s, 1450, 120 * SEC);
	pass(s, 2 * SEC);
	check(s, script_info(s).mtu < 1240);
	a_lost_probe(s, 1160, 1160);
	a_lost_probe(s, 1160, 1160);
	a_lost_probe(s, 1160, 40);
	transfers(s, 40, 1450);
	check(s, script_info(s).mtu > 1450 - 32 && script_info(s).mtu <= 1450);
}

/* RFC 2883 section 4: only a D-SACK answers a probe. What it repeats may be behind a gap, where the
 * text itself is reported by the same numbers. */
static void a_sack_is_no_answer(struct script *s)
{
	const struct seg *seg;
	uint32_t mtu, from, probe = 0;

	accepted(s);
	writes(s, 4000);
	a_path_of(s, 1450, 120 * SEC);
	mtu = script_info(s).mtu;
	from = 1 + (uint32_t)script_info(s).bytes_acked;
	check(s, mtu < 1400);
	writes(s, 100);
	host(s, "P. %u:%u ack 1", from, from + 100); /* is lost */
	writes(s, 730);
	writes(s, 730);
	while ((seg = next(s)))
		if (seg->len > 730 && probe++ == 0)
			check(s, seg->seq - s->base.seq == from + 100);
	check(s, probe == 1);
	peer(s, ". 1 ack %u <sack %u:%u>", from, from + 100, from + 1560);
	pass(s, 0);
	check(s, script_info(s).mtu == mtu);
}

/*
 * Section 5.2, PMTU_RAISE_TIMER: ten minutes after the search has ended the path may be wider.
 * Peers without SACK cannot answer a probe: there it is tried.
 */
static void raised_after_ten_minutes(struct script *s, uint32_t narrow)
{
	uint32_t mtu;

	accepted(s);
	writes(s, 4000);
	a_path_of(s, narrow, 120 * SEC);
	transfers(s, 60, narrow);
	mtu = script_info(s).mtu;
	check(s, mtu <= narrow);
	check(s, transfers(s, 10, 1500) == 0);
	pass(s, 500 * SEC);
	check(s, transfers(s, 10, 1500) == 0);
	check(s, script_info(s).mtu == mtu);
	pass(s, 101 * SEC);
	transfers(s, 10, 1500);
	check(s, script_info(s).mtu == 1500);
}

static void ten_minutes_later(struct script *s)
{
	raised_after_ten_minutes(s, s->way & V6 ? 1300 : 1100);
}

/* Where the search has stopped short of the size, for what was left was too little. */
static void ten_minutes_after_all_but_all(struct script *s)
{
	raised_after_ten_minutes(s, 1450);
}

const struct script_test script_tests[] = {
	SCRIPT(a_black_hole, "RFC 8899 section 4.3", V6 | SACK | WS | WRAP, 0),
	SCRIPT(small_segments_are_above_suspicion, "RFC 8899 section 4.3", ALL_WAYS, 0),
	SCRIPT(a_search_finds_the_size, "RFC 8899 section 5.3", V6 | TS | WRAP, SACK | WS),
	SCRIPT(probes_of_different_sizes, "RFC 8899 section 5.1", WRAP, SACK | WS),
	SCRIPT(a_sack_is_no_answer, "RFC 2883 section 4", WRAP, SACK | WS),
	SCRIPT(ten_minutes_later, "RFC 8899 section 5.2", V6 | TS | SACK | WRAP, WS),
	SCRIPT(ten_minutes_after_all_but_all, "RFC 8899 section 5.2", V6 | TS | SACK | WRAP, WS),
	SCRIPTS_END,
};
