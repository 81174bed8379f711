/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP errors: which are believed, and how far (RFC 5927, RFC 1191, RFC 8201). */
#include "states.h"

#include <errno.h>

/* Section 5.2: an attempt to connect ends at once; anything else goes on. */
static void hard_errors_end_attempts(struct script *s)
{
	connects(s);
	host(s, "S 0");
	peer_icmp(s, ICMP_PORT, 0, 0);
	receive_is(s, -ECONNREFUSED);
}

static void soft_errors_do_not(struct script *s)
{
	connects(s);
	host(s, "S 0");
	peer_icmp(s, ICMP_HOST, 0, 0);
	state_is(s, "SYN-SENT");
	peer_icmp(s, ICMP_NET, 0, 0);
	state_is(s, "SYN-SENT");
	host_after(s, SEC, "S 0");
	pass(s, 300 * SEC);
	receive_is(s, -ENETUNREACH); /* what the user hears when it ends (RFC 9293, 3.9.2.2) */
}

static void nothing_ends_a_connection(struct script *s)
{
	accepted(s);
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	for (enum icmp_kind k = ICMP_PORT; k <= ICMP_TIME; k++)
		if (k != ICMP_TOO_BIG)
			peer_icmp(s, k, 1, 0);
	state_is(s, "ESTABLISHED");
	peer(s, ". 1 ack 101");
	silence(s, 10 * SEC);
	receive_is(s, -EAGAIN);
}

/* Section 4.1: only what quotes a segment in flight is looked at. */
static void blind_errors_are_ignored(struct script *s)
{
	connects(s);
	host(s, "S 0");
	peer_icmp(s, ICMP_PORT, 1, 0);
	peer_icmp(s, ICMP_PORT, 1000, 0);
	peer_icmp(s, ICMP_PORT, (uint32_t)-1, 0);
	state_is(s, "SYN-SENT");
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
	peer_icmp(s, ICMP_TOO_BIG, 1, 1300); /* nothing is in flight */
	peer_icmp(s, ICMP_TOO_BIG, 1000000, 1300);
	check(s, script_info(s).mtu == 1500);
}

/* RFC 1191 section 6.4: what was too big comes again, smaller, and cwnd stays as it is. */
static void too_big(struct script *s)
{
	uint32_t mss = (s->way & V6 ? 1300 - 60 : 1300 - 40) - (s->way & TS ? 12 : 0);
	uint32_t first = (s->way & V6 ? 1440 : 1460) - (s->way & TS ? 12 : 0), cwnd;

	accepted(s);
	writes(s, first);
	host(s, "P. 1:%u ack 1", 1 + first);
	cwnd = script_info(s).cwnd;
	peer_icmp(s, ICMP_TOO_BIG, 1, 1300);
	host(s, ". 1:%u ack 1", 1 + mss);
	host(s, "P. %u:%u ack 1", 1 + mss, 1 + first);
	check(s, script_info(s).emss == mss);
	check(s, script_info(s).cwnd * 1460ull >= (uint64_t)cwnd * mss - 1460 * 1460);
	/* The same again says nothing new. */
	peer_icmp(s, ICMP_TOO_BIG, 1, 1300);
	nothing(s);
	peer(s, ". 1 ack %u", 1 + first);
	writes(s, mss);
	host(s, "P. %u:%u ack 1", 1 + first, 1 + first + mss);
}

/* RFC 1191 section 7: a router that does not tell the size; the next one that links have. */
static void too_big_without_a_size(struct script *s)
{
	uint32_t first = 1460 - (s->way & TS ? 12 : 0);

	accepted(s);
	writes(s, first);
	host(s, "P. 1:%u ack 1", 1 + first);
	peer_icmp(s, ICMP_TOO_BIG, 1, 0);
	host(s, ". 1:%u ack 1", 1 + first - 8);
	host(s, "P. %u:%u ack 1", 1 + first - 8, 1 + first);
	check(s, script_info(s).mtu == 1492);
}

/** A full segment has arrived, and another is under way when somebody says that it was too big. */
static uint32_t told_where_larger_passed(struct script *s)
{
	uint32_t first = (s->way & V6 ? 1440 : 1460) - (s->way & TS ? 12 : 0);

	accepted(s);
	writes(s, first);
	host(s, "P. 1:%u ack 1", 1 + first);
	peer(s, ". 1 ack %u", 1 + first);
	writes(s, first);
	host(s, "P. %u:%u ack 1", 1 + first, 1 + 2 * first);
	peer_icmp(s, ICMP_TOO_BIG, 1 + first, 1300);
	nothing(s);
	check(s, script_info(s).mtu == 1500);
	return first;
}

/* RFC 5927 section 7.2: nothing is lost: the message was forged. */
static void too_big_is_not_believed(struct script *s)
{
	uint32_t first = told_where_larger_passed(s);

	peer(s, ". 1 ack %u", 1 + 2 * first);
	for (uint32_t i = 2; i < 5; i++) {
		writes(s, first);
		host(s, "P. %u:%u ack 1", 1 + i * first, 1 + (i + 1) * first);
		peer(s, ". 1 ack %u", 1 + (i + 1) * first);
	}
	check(s, script_info(s).mtu == 1500);
}

/* It is lost, as was said: the path has changed. */
static void too_big_is_believed_then(struct script *s)
{
	uint32_t first = told_where_larger_passed(s);

	while (script_info(s).timeouts == 0)
		pass(s, 10 * MS);
	pass(s, MS);
	check(s, script_info(s).mtu == 1300);
	peer(s, ". 1 ack %u", 1 + 2 * first);
}

/* Larger than what is sent, or absurdly small: nobody's link (RFC 5927 section 7). */
static void absurd_sizes(struct script *s)
{
	uint32_t first = s->way & V6 ? 1440 : 1460;

	accepted(s);
	writes(s, first);
	host(s, "P. 1:%u ack 1", 1 + first);
	peer_icmp(s, ICMP_TOO_BIG, 1, 1500);
	peer_icmp(s, ICMP_TOO_BIG, 1, 9000);
	nothing(s);
	check(s, script_info(s).mtu == 1500);
	peer_icmp(s, ICMP_TOO_BIG, 1, 68);
	pass(s, 0);
	/* IPv4 links may be small, but 576 bytes pass. A smaller one than 1280 bytes of IPv6 there
	 * is not: that message is no news (RFC 8201 section 4). */
	check(s, script_info(s).mtu == (s->way & V6 ? 1500 : 576));
}

const struct script_test script_tests[] = {
	SCRIPT(hard_errors_end_attempts, "RFC 9293 section 3.9.2.2", V6 | WRAP, 0),
	SCRIPT(soft_errors_do_not, "RFC 9293 section 3.9.2.2", V6 | WRAP, 0),
	SCRIPT(nothing_ends_a_connection, "RFC 5927 section 5.2", ALL_WAYS, 0),
	SCRIPT(blind_errors_are_ignored, "RFC 5927 section 4.1", ALL_WAYS, 0),
	SCRIPT(too_big, "RFC 1191 section 6.4", ALL_WAYS, 0),
	SCRIPT(too_big_without_a_size, "RFC 1191 section 7", TS | SACK | WS | WRAP, 0),
	SCRIPT(too_big_is_not_believed, "RFC 5927 section 7.2", ALL_WAYS, 0),
	SCRIPT(too_big_is_believed_then, "RFC 5927 section 7.2", ALL_WAYS, 0),
	SCRIPT(absurd_sizes, "RFC 5927 section 7", V6 | SACK | WS | WRAP, 0),
	SCRIPTS_END,
};
