/* SPDX-License-Identifier: BSD-2-Clause */
/* SACK blocks that the host sends (RFC 2018) and duplicates that it reports (RFC 2883). */
#include "script.h"

#include <errno.h>

/* Section 4: the block with the segment that caused the ACK comes first. */
static void newest_first(struct script *s)
{
	accepted(s);
	peer(s, ". 201:301 ack 1");
	host(s, ". 1 ack 1 <sack 201:301>");
	peer(s, ". 601:701 ack 1");
	host(s, ". 1 ack 1 <sack 601:701 201:301>");
	peer(s, ". 401:501 ack 1");
	host(s, ". 1 ack 1 <sack 401:501 601:701 201:301>");
	/* Section 5.1, case 3: a block that grows is the newest. */
	peer(s, ". 301:401 ack 1");
	host(s, ". 1 ack 1 <sack 201:501 601:701>");
	peer(s, ". 1:201 ack 1");
	host(s, ". 1 ack 501 <sack 601:701>");
	peer(s, ". 501:601 ack 1");
	host(s, ". 1 ack 701");
	reads(s, 700);
}

/* As many as fit: four, or three beside a timestamp; the newest of them. */
static void as_many_as_fit(struct script *s)
{
	accepted(s);
	for (uint32_t i = 1; i <= 6; i++) {
		peer(s, ". %u:%u ack 1", 200 * i + 1, 200 * i + 101);
		pass(s, 0);
	}
	peer(s, ". 1401:1501 ack 1");
	if (s->way & TS)
		host(s, ". 1 ack 1 <sack 1401:1501 1201:1301 1001:1101>");
	else
		host(s, ". 1 ack 1 <sack 1401:1501 1201:1301 1001:1101 801:901>");
}

/* Each block is told in several ACKs, as the network may lose some (section 4). */
static void blocks_are_repeated(struct script *s)
{
	accepted(s);
	peer(s, ". 201:301 ack 1");
	host(s, ". 1 ack 1 <sack 201:301>");
	peer(s, ". 301:401 ack 1");
	host(s, ". 1 ack 1 <sack 201:401>");
	peer(s, ". 501:601 ack 1");
	host(s, ". 1 ack 1 <sack 501:601 201:401>");
	peer(s, ". 601:701 ack 1");
	host(s, ". 1 ack 1 <sack 501:701 201:401>");
}

/* Text that carries the ACK carries the blocks, too, where there is room for them. */
static void on_text(struct script *s)
{
	accepted(s);
	peer(s, ". 201:301 ack 1");
	host(s, ". 1 ack 1 <sack 201:301>");
	writes(s, 100);
	host(s, "P. 1:101 ack 1 <sack 201:301>");
}

/* RFC 2883 section 4.1.1: a whole segment twice. */
static void duplicate_below_the_ack(struct script *s)
{
	accepted(s);
	peer(s, ". 1:501 ack 1");
	host(s, ". 1 ack 501");
	peer(s, ". 1:501 ack 1");
	host(s, ". 1 ack 501 <sack 1:501>");
	/* Told once (section 4). */
	peer(s, ". 501:601 ack 1");
	host(s, ". 1 ack 601");
}

/* Section 4.1.2, figure 2's case: a duplicate while other text waits behind a gap. */
static void duplicate_with_a_gap(struct script *s)
{
	accepted(s);
	peer(s, ". 1:501 ack 1");
	host(s, ". 1 ack 501");
	peer(s, ". 1001:1501 ack 1");
	host(s, ". 1 ack 501 <sack 1001:1501>");
	peer(s, ". 1:501 ack 1");
	host(s, ". 1 ack 501 <sack 1:501 1001:1501>");
}

/* Section 4.1.3, case 2: what is twice is above the ACK; its block follows. */
static void duplicate_above_the_ack(struct script *s)
{
	accepted(s);
	peer(s, ". 501:1001 ack 1");
	host(s, ". 1 ack 1 <sack 501:1001>");
	peer(s, ". 501:1001 ack 1");
	host(s, ". 1 ack 1 <sack 501:1001 501:1001>");
	peer(s, ". 1001:1501 ack 1");
	host(s, ". 1 ack 1 <sack 501:1501>");
	peer(s, ". 1001:1501 ack 1");
	host(s, ". 1 ack 1 <sack 1001:1501 501:1501>");
}

/* Section 4.2: only a part of a segment is there already. */
static void partly_duplicate(struct script *s)
{
	accepted(s);
	peer(s, ". 1:501 ack 1");
	host(s, ". 1 ack 501");
	peer(s, ". 301:1001 ack 1");
	host(s, ". 1 ack 1001 <sack 301:501>");
	reads(s, 1000);
}

/* Without SACK nothing of the kind is sent: check_always() sees to it. */
static void not_agreed_upon(struct script *s)
{
	accepted(s);
	peer(s, ". 201:301 ack 1");
	host(s, ". 1 ack 1");
	peer(s, ". 201:301 ack 1");
	host(s, ". 1 ack 1");
	peer(s, ". 1:201 ack 1");
	host(s, ". 1 ack 301");
	peer(s, ". 1:201 ack 1");
	host(s, ". 1 ack 301");
}

#define WAYS (V6 | TS | WS | WRAP)

const struct script_test script_tests[] = {
	SCRIPT(newest_first, "RFC 2018 section 4", WAYS, SACK),
	SCRIPT(as_many_as_fit, "RFC 2018 section 3", WAYS, SACK),
	SCRIPT(blocks_are_repeated, "RFC 2018 section 4", WAYS, SACK),
	SCRIPT(on_text, "RFC 2018 section 3", WAYS, SACK),
	SCRIPT(duplicate_below_the_ack, "RFC 2883 section 4.1", WAYS, SACK),
	SCRIPT(duplicate_with_a_gap, "RFC 2883 section 4.1", WAYS, SACK),
	SCRIPT(duplicate_above_the_ack, "RFC 2883 section 4.1", WAYS, SACK),
	SCRIPT(partly_duplicate, "RFC 2883 section 4.2", WAYS, SACK),
	SCRIPT(not_agreed_upon, "RFC 2018 section 2", WAYS, 0),
	SCRIPTS_END,
};
