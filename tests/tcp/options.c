/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options in every wrong form. A row: the form; the options of a SYN or SYN,ACK, or of a segment
 * with text; "taken" if the segment counts for all that, "dropped" if not; what it must have meant.
 */
#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A SYN with them: it opens a connection, or is as if it had never come. */
static void on_a_syn(struct script *s)
{
	const char *const *f = s->row->field;

	listens(s);
	peer(s, "S 0 <%s>", f[0]);
	if (strcmp(f[1], "dropped") == 0) {
		nothing(s);
		state_is(s, "LISTEN");
		return;
	}
	host(s, "S. 0 ack 1");
	peer(s, ". 1 ack 1");
	accepts(s);
	writes(s, 2000);
	host(s, ". 1:%s ack 1", f[2]);
	pass(s, 0);
}

/* A SYN,ACK with them: what is dropped leaves the attempt to one that is right. */
static void on_a_syn_ack(struct script *s)
{
	const char *const *f = s->row->field;
	bool dropped = strcmp(f[1], "dropped") == 0;

	connects(s);
	host(s, "S 0");
	peer(s, "S. 0 ack 1 <%s>", f[0]);
	if (dropped) {
		nothing(s);
		state_is(s, "SYN-SENT");
		s->peer_syn_known = false;
		peer(s, "S. 0 ack 1 <mss 1000>");
	}
	host(s, ". 1 ack 1");
	state_is(s, "ESTABLISHED");
	writes(s, 2000);
	host(s, ". 1:%s ack 1", dropped ? "1001" : f[2]);
	pass(s, 0);
}

/* Text with them, on a connection without timestamps and SACK. */
static void on_text(struct script *s)
{
	const char *const *f = s->row->field;

	accepted(s);
	peer(s, "P. 1:11 ack 1 <%s>", f[0]);
	if (strcmp(f[1], "dropped") == 0) {
		nothing(s);
		receive_is(s, -EAGAIN);
	} else {
		host(s, ". 1 ack 11");
		reads(s, 10);
	}
	state_is(s, "ESTABLISHED");
	/* Life goes on. */
	peer(s, "P. 1:21 ack 1");
	pass(s, 0);
}

/* The header's length field tells of less or more than there is. */
static void header_length(struct script *s)
{
	accepted(s);
	for (unsigned doff = 0; doff < 16; doff++) {
		if (doff == 5)
			continue;
		peer(s, "P. 1:5 ack 1 doff %u", doff);
		nothing(s);
		receive_is(s, -EAGAIN);
	}
	state_is(s, "ESTABLISHED");
}

/* Nobody says what an option means that comes twice: the first counts, as of MSS above. */
static void timestamps_twice(struct script *s)
{
	listens(s);
	peer(s, "S 0 <mss 1460,ts 100 0,ts 200 0>");
	host(s, "S. 0 ack 1 <ts . 100>");
	/* For PAWS as well: between the two. */
	peer(s, "P. 1:11 ack 1 <ts 150 .>");
	host(s, ". 1 ack 11 <ts . 150>");
	accepts(s);
	reads(s, 10);
}

static void scale_twice(struct script *s)
{
	listens(s);
	peer(s, "S 0 <mss 1000,ws 2,ws 7>");
	host(s, "S. 0 ack 1");
	peer(s, ". 1 ack 1 win 500"); /* 2000 bytes */
	accepts(s);
	writes(s, 5000);
	host(s, ". 1:1001 ack 1");
	host(s, ". 1001:2001 ack 1");
	nothing(s);
}

static void sack_permitted_twice(struct script *s)
{
	listens(s);
	peer(s, "S 0 <mss 1460,sackOK,sackOK>");
	host(s, "S. 0 ack 1 <sackOK>");
	peer(s, ". 1 ack 1");
	accepts(s);
	peer(s, "P. 11:21 ack 1");
	host(s, ". 1 ack 1 <sack 11:21>");
}

/* Section 3.7.1: without an MSS option 536, or 1220 over IPv6. */
static void no_mss(struct script *s)
{
	uint32_t mss = s->way & V6 ? 1220 : 536;

	listens(s);
	peer(s, "S 0");
	host(s, "S. 0 ack 1");
	peer(s, ". 1 ack 1");
	accepts(s);
	writes(s, 3000);
	host(s, ". 1:%u ack 1", 1 + mss);
	pass(s, 0);
}

/* The host's own MSS: what its link carries (section 3.7.1, MUST-16). */
static void own_mss(struct script *s)
{
	listens(s);
	peer(s, "S 0 <mss 9000>");
	host(s, "S. 0 ack 1 <mss %u>", s->way & V6 ? 1440 : 1460);
	peer(s, ". 1 ack 1");
	accepts(s);
	writes(s, 3000);
	host(s, ". 1:%u ack 1", s->way & V6 ? 1441 : 1461);
	pass(s, 0);
}

/* A tiny MSS must not make us send headers only. */
static void tiny_mss(struct script *s)
{
	for (unsigned mss = 0; mss <= 1; mss++) {
		s->base_known = s->peer_syn_known = s->edge_known = false;
		if (!mss)
			listens(s);
		s->to_peer.dport = (uint16_t)(RPORT + mss);
		peer(s, "S 0 <mss %u>", mss);
		host(s, "S. 0 ack 1");
		peer(s, ". 1 ack 1");
		accepts(s);
		s->written = 1;
		writes(s, 1000);
		host(s, ". 1:217 ack 1");
		pass(s, 0);
		aborts(s);
		pass(s, 0);
	}
}

/** The options of the segment that host() took last are those of @p kinds, in that order. */
static void kinds_are(struct script *s, const char *kinds)
{
	char got[64] = "";
	size_t n = 0;

	for (unsigned i = 0; i < s->last.n_options && n + 4 < sizeof got;) {
		uint8_t kind = s->last.options[i];

		n += (size_t)snprintf(got + n, sizeof got - n, "%s%u", n ? " " : "", kind);
		i += kind <= 1 ? 1 : s->last.options[i + 1];
	}
	if (strcmp(got, kinds) != 0)
		script_fail(s, "the kinds of its options are %s, not %s", got, kinds);
}

/** Linux's order: MSS 2, SACK-permitted 4 instead of two NOPs, timestamps 8, NOP, scale 3. */
static const char *linux_order(unsigned way)
{
	static const char *const orders[] = {"2", "2 1 1 8", "2 1 1 4", "2 4 8", "2 1 3",
		"2 1 1 8 1 3", "2 1 1 4 1 3", "2 4 8 1 3"};

	return orders[(way & (TS | SACK | WS)) / TS];
}

/* Middleboxes and others' scripts know one order. Ours are all on a SYN that asks first. */
static void order_on_a_syn(struct script *s)
{
	connects(s);
	host(s, "S 0");
	kinds_are(s, linux_order(TS | SACK | WS));
	peer(s, "S 0 <%s>", offer(s)); /* a simultaneous open: what both have */
	host(s, "S. 0 ack 1");
	kinds_are(s, linux_order(s->way));
}

static void order_on_a_syn_ack(struct script *s)
{
	listens(s);
	peer(s, "S 0 <%s>", offer(s));
	host(s, "S. 0 ack 1");
	kinds_are(s, linux_order(s->way));
}

/* clang-format off */

static const struct script_row syn_rows[] = {
	{"none",                     {"nop",                     "taken",   "537"}},
	{"MSS",                      {"mss 1000",                "taken",   "1001"}},
	{"MSS twice",                {"mss 1000,mss 500",        "taken",   "1001"}},
	{"end, then MSS",            {"eol,mss 1000",            "taken",   "537"}},
	{"NOPs before MSS",          {"nop,nop,nop,nop,mss 1000", "taken",  "1001"}},
	{"all NOPs",                 {"raw 0101010101010101 0101010101010101 0101010101010101 0101010101010101 0101010101010101", "taken", "537"}},
	{"unknown",                  {"raw fe04beef,mss 1000",   "taken",   "1001"}},
	{"unknown of two bytes",     {"raw fe02,mss 1000",       "taken",   "1001"}},
	{"MSS of length 3",          {"raw 020305,mss 1000",     "taken",   "1001"}},
	{"MSS of length 5",          {"raw 0205050505,mss 1000", "taken",   "1001"}},
	{"MSS of length 2",          {"raw 0202,mss 1000",       "taken",   "1001"}},
	{"length 0",                 {"raw 0200",                "dropped", ""}},
	{"length 1",                 {"raw 0201",                "dropped", ""}},
	{"length 0, unknown",        {"raw fe00",                "dropped", ""}},
	{"beyond the header",        {"raw 02040000 fe20",       "dropped", ""}},
	{"beyond by one",            {"raw fe05beef",            "dropped", ""}},
	{"kind alone at the end",    {"raw 010101fe",            "dropped", ""}},
	{"MSS cut short",            {"raw 01010204",            "dropped", ""}},
	{"length 255",               {"raw feff0000",            "dropped", ""}},
	{"scale of length 2",        {"raw 0302,mss 1000",       "taken",   "1001"}},
	{"scale of length 4",        {"raw 03040707,mss 1000",   "taken",   "1001"}},
	{"scale above 14",           {"ws 200,mss 1000",         "taken",   "1001"}},
	{"SACK-permitted of length 3", {"raw 040300,mss 1000",   "taken",   "1001"}},
	{"timestamp of length 9",    {"raw 080900000001000000,mss 1000", "taken", "1001"}},
	{"timestamp of length 11",   {"raw 080b000000010000000000,mss 1000", "taken", "1001"}},
	{"SACK blocks on a SYN",     {"raw 050a0000000100000002,mss 1000", "taken", "1001"}},
	{"fast open cookie",         {"raw 2206aabbccdd,mss 1000", "taken", "1001"}},
	{"MD5 signature",            {"raw 1312 00112233445566778899aabbccddeeff,mss 1000", "taken", "1001"}},
	{"multipath",                {"raw 1e0c00810011223344556677,mss 1000", "taken", "1001"}},
	{"garbage behind the end",   {"mss 1000,eol,raw feff0000", "taken", "1001"}},
	{NULL, {NULL}},
};

static const struct script_row text_rows[] = {
	{"none",                     {"nop",                     "taken"}},
	{"MSS",                      {"mss 100",                 "taken"}},
	{"scale",                    {"ws 14",                   "taken"}},
	{"SACK-permitted",           {"sackOK",                  "taken"}},
	{"timestamp",                {"ts 1 1",                  "taken"}},
	{"SACK",                     {"sack 1:2",                "taken"}},
	{"SACK of length 2",         {"raw 0502",                "taken"}},
	{"SACK of length 9",         {"raw 050900000001000000",  "taken"}},
	{"SACK of half a block",     {"raw 050600000001",        "taken"}},
	{"SACK of length 0",         {"raw 0500",                "dropped"}},
	{"SACK beyond the header",   {"raw 0522 0000000100000002", "dropped"}},
	{"timestamp beyond the header", {"raw 0101080a00000001", "dropped"}},
	{"timestamp of length 0",    {"raw 08000101",            "dropped"}},
	{"unknown",                  {"raw fe08112233445566",    "taken"}},
	{"kind alone at the end",    {"raw 010101fe",            "dropped"}},
	{"length 1",                 {"raw fe01",                "dropped"}},
	{"end first",                {"eol,raw 0000fe",          "taken"}},
	{"forty bytes of them",      {"raw fe28 0000000000000000 0000000000000000 0000000000000000 0000000000000000 000000000000", "taken"}},
	{NULL, {NULL}},
};

#define OPTIONS "RFC 9293 sections 3.1, 3.2"

const struct script_test script_tests[] = {
	SCRIPT_ROWS("SYN", OPTIONS, on_a_syn, WRAP, 0, syn_rows),
	SCRIPT_ROWS("answer to a SYN", OPTIONS, on_a_syn_ack, WRAP, 0, syn_rows),
	SCRIPT_ROWS("text", OPTIONS, on_text, V6 | WRAP, 0, text_rows),
	SCRIPT(timestamps_twice, OPTIONS, V6 | WRAP, 0),
	SCRIPT(scale_twice, OPTIONS, V6 | WRAP, 0),
	SCRIPT(sack_permitted_twice, OPTIONS, V6 | WRAP, 0),
	SCRIPT(header_length, OPTIONS, V6 | WS, 0),
	SCRIPT(no_mss, "RFC 9293 section 3.7.1", V6 | WRAP, 0),
	SCRIPT(own_mss, "RFC 9293 section 3.7.1", V6 | WRAP, 0),
	SCRIPT(order_on_a_syn, "RFC 9293 section 3.1", ALL_WAYS, 0),
	SCRIPT(order_on_a_syn_ack, "RFC 9293 section 3.1", ALL_WAYS, 0),
	SCRIPT(tiny_mss, "RFC 9293 section 3.7.1", V6, 0),
	SCRIPTS_END,
};
