/* SPDX-License-Identifier: BSD-2-Clause */
/* The path's MTU found by what arrives (RFC 8899, RFC 4821): black holes, and the way up again. */
#include "script.h"

#define RTT (20 * MS)

/** A peer behind a path of this MTU, through which larger packets do not come: until it has all. */
static void a_path_of(struct script *s, uint32_t mtu, uint64_t ns)
{
	uint64_t end = uiwarp_tcp_now(s->h) + ns;
	uint32_t text = mtu - (s->way & V6 ? 60 : 40), got = 1;

	while (uiwarp_tcp_now(s->h) < end && got < s->written) {
		uint32_t acks = 0;
		const struct seg *seg;

		while ((seg = next(s))) {
			uint32_t left = seg->seq - s->base.seq;

			if (!seg->len || seg->len > text)
				continue;
			acks++;
			if (left <= got && left + seg->len > got)
				got = left + seg->len;
		}
		if (acks)
			peer(s, ". 1 ack %u", got);
		if (uiwarp_tcp_output_time(s->h) == UIWARP_TCP_NEVER)
			uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + RTT);
	}
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

const struct script_test script_tests[] = {
	SCRIPT(a_black_hole, "RFC 8899 section 4.3", V6 | SACK | WS | WRAP, 0),
	SCRIPT(small_segments_are_above_suspicion, "RFC 8899 section 4.3", ALL_WAYS, 0),
	SCRIPTS_END,
};
