/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a connection: three-way and simultaneous, with lost and old segments. */
#include "script.h"

#include <errno.h>

/* Figure 6 of section 3.5. */
static void passive_open(struct script *s)
{
	listens(s);
	peer(s, "S 0 <mss 1460>");
	host(s, "S. 0 ack 1 <mss %u>", s->way & V6 ? 1440 : 1460);
	state_is(s, "SYN-RECEIVED");
	peer(s, ". 1 ack 1");
	nothing(s);
	accepts(s);
	state_is(s, "ESTABLISHED");
	peer(s, "P. 1:101 ack 1");
	reads(s, 100);
	receive_is(s, -EAGAIN);
	host(s, ". 1 ack 101");
}

static void active_open(struct script *s)
{
	connects(s);
	host(s, "S 0 <mss %u,sackOK,ts . 0,ws 5>", s->way & V6 ? 1440 : 1460);
	state_is(s, "SYN-SENT");
	peer(s, "S. 0 ack 1 <%s>", offer(s));
	host(s, ". 1 ack 1");
	state_is(s, "ESTABLISHED");
	writes(s, 100);
	host(s, "P. 1:101 ack 1");
	peer(s, ". 1 ack 101");
}

const struct script_test script_tests[] = {
	{"passive_open", "RFC 9293 section 3.5", passive_open, ALL_WAYS, 0, NULL},
	{"active_open", "RFC 9293 section 3.5", active_open, ALL_WAYS, 0, NULL},
	{0},
};
