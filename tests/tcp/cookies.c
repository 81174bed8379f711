/* SPDX-License-Identifier: BSD-2-Clause */
/* SYN floods (RFC 4987): cookies that keep the options, and what they must not let in. */
#include "states.h"

#include <errno.h>

static const struct uiwarp_tcp_config always = {.syn_cookies = UIWARP_TCP_COOKIES_ALWAYS};
static const struct uiwarp_tcp_config never = {.syn_cookies = UIWARP_TCP_COOKIES_OFF};

/** A SYN is answered, and forgotten. */
static void answered(struct script *s)
{
	listens(s);
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	state_is(s, "LISTEN");
	check(s, uiwarp_tcp_packets_in_use(s->h) == 0);
	check(s, uiwarp_tcp_next(s->h) == UIWARP_TCP_NEVER);
}

/* Section 3.6: the ACK alone makes the connection; timestamps bring the options back. */
static void the_ack_brings_it_all_back(struct script *s)
{
	struct uiwarp_tcp_info info;
	bool ts = s->way & TS;

	answered(s);
	silence(s, 5 * SEC);
	peer(s, ". 1 ack 1");
	accepts(s);
	info = script_info(s);
	check(s, info.timestamps == ts);
	check(s, info.sack == (ts && s->way & SACK));
	check(s, info.window_scale == (ts && s->way & WS));
	check(s, info.emss > 1200);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	peer(s, "P. 1:101 ack 101");
	host(s, ". 101 ack 101");
	reads(s, 100);
}

/* The ACK is lost, or has text: the first segment that comes will do. */
static void text_will_do(struct script *s)
{
	answered(s);
	peer(s, "P. 1:101 ack 1");
	host(s, ". 1 ack 101");
	accepts(s);
	reads(s, 100);
}

static void a_guessed_cookie(struct script *s)
{
	answered(s);
	peer(s, ". 1 ack 5001");
	host(s, "R 5001");
	peer(s, ". 100001 ack 1"); /* not the ISN that it was made for */
	host(s, "R 1");
	peer(s, ". 1 ack 100000001");
	host(s, "R 100000001");
	state_is(s, "LISTEN");
}

static void an_old_cookie(struct script *s)
{
	answered(s);
	silence(s, 600 * SEC);
	peer(s, ". 1 ack 1");
	host(s, "R 1");
	state_is(s, "LISTEN");
}

/* Where no cookie was ever sent, no ACK is taken for one. */
static void no_cookies_no_guessing(struct script *s)
{
	listens(s);
	s->base_known = true;
	for (uint32_t i = 0; i < 100; i++) {
		peer(s, ". 1 ack %u", i * 42949672);
		host(s, "R %u", i * 42949672);
	}
}

/** SYNs from @p n ports, of which nobody answers the SYN,ACKs. */
static void flood(struct script *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		s->to_peer.dport = (uint16_t)(1000 + i);
		s->base_known = s->edge_known = false;
		s->last.tsval = 0; /* each pair has a clock of its own */
		peer(s, "S 0 <%s>", offer(s));
		host(s, "S. 0 ack 1");
	}
	s->to_peer.dport = RPORT;
	s->base_known = s->peer_syn_known = s->edge_known = false;
	s->last.tsval = 0;
}

/* In a flood an honest peer gets in, by a cookie or in the place of the oldest. */
static void an_honest_peer_in_a_flood(struct script *s)
{
	listens(s);
	flood(s, 200);
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	peer(s, ". 1 ack 1");
	accepts(s);
	writes(s, 10);
	host(s, "P. 1:11 ack 1");
	peer(s, ". 1 ack 11");
}

const struct script_test script_tests[] = {
	SCRIPT_WITH(the_ack_brings_it_all_back, "RFC 4987 section 3.6", ALL_WAYS, 0, &always),
	SCRIPT_WITH(text_will_do, "RFC 4987 section 3.6", ALL_WAYS, 0, &always),
	SCRIPT_WITH(a_guessed_cookie, "RFC 4987 section 3.6", ALL_WAYS, 0, &always),
	SCRIPT_WITH(an_old_cookie, "RFC 4987 section 3.6", V6 | SACK | WS | WRAP, 0, &always),
	SCRIPT(no_cookies_no_guessing, "RFC 4987 section 3.6", V6, 0),
	SCRIPT(an_honest_peer_in_a_flood, "RFC 4987 section 3", V6 | TS | SACK | WS, 0),
	{"an_honest_peer_without_cookies", "RFC 4987 section 3.3", an_honest_peer_in_a_flood,
		V6 | TS | SACK | WS, 0, &never, NULL},
	SCRIPTS_END,
};
