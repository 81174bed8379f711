/* SPDX-License-Identifier: BSD-2-Clause */
/* Explicit congestion notification (RFC 3168): its negotiation, marks received, marks echoed. */
#include "script.h"

static const struct uiwarp_tcp_config on = {
	.ecn = UIWARP_TCP_ECN_ON, .congestion_control = "newreno"};
static const struct uiwarp_tcp_config off = {.ecn = UIWARP_TCP_ECN_OFF};
static const struct uiwarp_tcp_config newreno = {.congestion_control = "newreno"};
static const struct uiwarp_tcp_config small = {.receive_buffer = 65536};

/** The peer asks for ECN, and gets it. */
static void accepted_with_ecn(struct script *s)
{
	listens(s);
	peer(s, "SEC 0 <%s>", offer(s));
	host(s, "S.E 0 ack 1 not-ect");
	peer(s, ". 1 ack 1");
	accepts(s);
	check(s, script_info(s).ecn);
}

/* Sections 6.1.1 and 6.1.4: new text says that it may be marked; ACKs alone do not. */
static void text_is_capable_and_acks_are_not(struct script *s)
{
	accepted_with_ecn(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1 ect0");
	peer(s, "P. 1:101 ack 101 ect0");
	host(s, ". 101 ack 101 not-ect");
}

/* Section 6.1.5: what is sent again must not. */
static void retransmissions_are_not(struct script *s)
{
	accepted_with_ecn(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1 ect0");
	host_within(s, 2 * SEC, "P. 1:101 ack 1 not-ect");
}

/* Section 6.1.6: nor probes of a closed window. */
static void window_probes_are_not(struct script *s)
{
	accepted_with_ecn(s);
	peer(s, ". 1 ack 1 win 0");
	writes(s, 100);
	host_within(s, SEC, ". 0 ack 1 not-ect");
	peer(s, ". 1 ack 1 win 65535");
	host(s, "P. 1:101 ack 1 ect0");
}

/* Section 6.1.3: a mark is echoed by every ACK until the peer says that it has slowed down. */
static void marks_are_echoed_until_cwr(struct script *s)
{
	accepted_with_ecn(s);
	peer(s, "P. 1:101 ack 1 ect0");
	host(s, ". 1 ack 101");
	peer(s, "P. 101:201 ack 1 ce");
	host(s, ".E 1 ack 201");
	peer(s, "P. 201:301 ack 1 ect0");
	host(s, ".E 1 ack 301");
	writes(s, 10);
	host(s, "P.E 1:11 ack 301");
	peer(s, "PC. 301:401 ack 11 ect0");
	host(s, ". 11 ack 401");
	peer(s, "PC. 401:501 ack 11 ce"); /* slowed down, and marked again */
	host(s, ".E 11 ack 501");
	check(s, script_info(s).ce_received == 2);
}

/*
 * Section 6.1.5: a mark on text that is not taken is nobody's congestion: behind the peer's FIN,
 * where all text is ignored, and in a closed window: its probes are no sign of the path.
 */
static void marks_on_what_is_not_taken(struct script *s)
{
	accepted_with_ecn(s);
	peer(s, "F. 1 ack 1");
	host(s, ". 1 ack 2");
	peer(s, "P. 2:12 ack 1 ce");
	nothing(s);
	check(s, script_info(s).ce_received == 0);
	writes(s, 10);
	host(s, "P. 1:11 ack 2"); /* and no ECE */
}

static void marks_on_window_probes(struct script *s)
{
	uint32_t at = 1, end;

	accepted_with_ecn(s);
	while ((end = s->edge - s->base.ack) > at) {
		end = end - at > 1400 ? at + 1400 : end;
		peer(s, ". %u:%u ack 1", at, end);
		pass(s, 50 * MS);
		at = end;
	}
	peer(s, ". %u:%u ack 1 ce", at, at + 1);
	host(s, ". 1 ack %u win 0", at);
	check(s, script_info(s).ce_received == 0);
}

/* Section 6.1.2: an echo reduces the window, once in a round trip, and CWR says so, once. */
static void an_echo_is_congestion(struct script *s)
{
	unsigned told = 0;

	listens(s);
	peer(s, "SEC 0 <mss 1000>");
	host(s, "S.E 0 ack 1");
	silence(s, 100 * MS);
	peer(s, ". 1 ack 1");
	accepts(s);
	writes(s, 30000);
	host_sends(s, 1, 10001, 50 * MS);
	silence(s, 90 * MS);
	peer(s, ".E 1 ack 1001");
	check(s, script_info(s).ssthresh <= 8000); /* RFC 8511: not as far as for a loss */
	for (uint32_t i = 2; i <= 10; i++) {
		const struct seg *seg;

		peer(s, ".E 1 ack %u", 1000 * i + 1);
		uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + MS);
		while ((seg = next(s)))
			told += (seg->flags & CWR) != 0;
	}
	check(s, told == 1);
	pass(s, 20 * MS);
	check(s, script_info(s).cwnd <= 8000);
	check(s, script_info(s).cwnd >= 4000);
	check(s, script_info(s).retransmits == 0);
}

/* RFC 6937 section 3: what leaves while the window comes down for an echo is what has arrived. */
static void an_echo_lets_out_no_more_than_arrives(struct script *s)
{
	listens(s);
	peer(s, "SEC 0 <mss 1000>");
	host(s, "S.E 0 ack 1");
	silence(s, 100 * MS);
	peer(s, ". 1 ack 1");
	accepts(s);
	writes(s, 4000);
	host_sends(s, 1, 4001, 100 * MS);
	peer(s, ".E 1 ack 1001");
	check(s, script_info(s).cwnd == script_info(s).flight + 1000);
}

/* Without its being agreed upon, marks and echoes mean nothing. */
static void not_agreed_upon(struct script *s)
{
	accepted(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1 not-ect");
	peer(s, "P.E 1:101 ack 101 ce");
	host(s, ". 101 ack 101");
	check(s, script_info(s).ce_received == 0);
	check(s, script_info(s).ece_received == 0);
}

static void refused_when_off(struct script *s)
{
	listens(s);
	peer(s, "SEC 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
}

static void asked_for(struct script *s)
{
	connects(s);
	host(s, "SEC 0 not-ect");
	peer(s, "S.E 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1 not-ect");
	writes(s, 100);
	host(s, "P. 1:101 ack 1 ect0");
}

static void asked_for_in_vain(struct script *s)
{
	connects(s);
	host(s, "SEC 0");
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
	writes(s, 100);
	host(s, "P. 1:101 ack 1 not-ect");
}

/* Section 6.1.1: both flags back: somebody mirrors what is reserved. */
static void mirrored_flags(struct script *s)
{
	connects(s);
	host(s, "SEC 0");
	peer(s, "S.EC 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
	writes(s, 100);
	host(s, "P. 1:101 ack 1 not-ect");
}

/* Section 6.1.1.1: a path that drops such SYNs: the next one is without. */
static void a_syn_that_vanishes(struct script *s)
{
	connects(s);
	host(s, "SEC 0");
	host_after(s, SEC, "S 0");
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
}

const struct script_test script_tests[] = {
	SCRIPT(text_is_capable_and_acks_are_not, "RFC 3168 section 6.1.4", ALL_WAYS, 0),
	SCRIPT(retransmissions_are_not, "RFC 3168 section 6.1.5", ALL_WAYS, 0),
	SCRIPT(window_probes_are_not, "RFC 3168 section 6.1.6", ALL_WAYS, 0),
	SCRIPT(marks_are_echoed_until_cwr, "RFC 3168 section 6.1.3", ALL_WAYS, 0),
	SCRIPT(marks_on_what_is_not_taken, "RFC 3168 section 6.1.5", ALL_WAYS, 0),
	SCRIPT_WITH(marks_on_window_probes, "RFC 3168 section 6.1.5", ALL_WAYS, 0, &small),
	SCRIPT_WITH(an_echo_is_congestion, "RFC 3168 section 6.1.2", V6 | WRAP, 0, &newreno),
	SCRIPT(an_echo_lets_out_no_more_than_arrives, "RFC 6937 section 3", V6 | WRAP, 0),
	SCRIPT(not_agreed_upon, "RFC 3168 section 6.1.1", ALL_WAYS, 0),
	SCRIPT_WITH(refused_when_off, "RFC 3168 section 6.1.1", ALL_WAYS, 0, &off),
	SCRIPT_WITH(asked_for, "RFC 3168 section 6.1.1", ALL_WAYS, 0, &on),
	SCRIPT_WITH(asked_for_in_vain, "RFC 3168 section 6.1.1", ALL_WAYS, 0, &on),
	SCRIPT_WITH(mirrored_flags, "RFC 3168 section 6.1.1", ALL_WAYS, 0, &on),
	SCRIPT_WITH(a_syn_that_vanishes, "RFC 3168 section 6.1.1", ALL_WAYS, 0, &on),
	SCRIPTS_END,
};
