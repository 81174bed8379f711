/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/packet.h"

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define TCP  "\x9c\x40\x1c\x06\0\0\0\1\0\0\0\2\x50\x18\xff\xff\0\0\0\0"
#define IPV4 "\x45\0\0\x2b\0\0\0\0\x40\6\0\0\x0a\0\0\1\x0a\0\0\2"
#define IPV6(len, next)                        \
	"\x60\0\0\0\0" len next "\x40"         \
	"\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1" \
	"\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\2"
#define MACS "\2\0\0\0\0\1\2\0\0\0\0\2"
#define TEXT "xyz"

/* From the heap, so that a sanitizer sees what is read beyond. */
static enum packet_kind parse(
	uint32_t link, const char *text, size_t here, size_t sent, struct packet *p)
{
	static uint8_t *bytes;
	struct cap_frame f = {.link = link, .captured = (uint32_t)here, .len = (uint32_t)sent};

	free(bytes);
	bytes = malloc(here + 1);
	assert_non_null(bytes);
	memcpy(bytes, text, here);
	f.bytes = bytes;
	return packet_parse(&f, p);
}

#define PARSE(link, text, p) parse(link, text, sizeof(text) - 1, sizeof(text) - 1, p)

static void expect(const struct packet *p, bool v4)
{
	assert_int_equal(ip_addr_is_v4(&p->src.addr), v4);
	assert_int_equal(p->src.addr.b[15], 1);
	assert_int_equal(p->dst.addr.b[15], 2);
	assert_int_equal(p->src.port, 40000);
	assert_int_equal(p->dst.port, 7174);
	assert_int_equal(p->seq, 1);
	assert_int_equal(p->ack, 2);
	assert_int_equal(p->flags, PACKET_ACK | PACKET_PSH);
	assert_int_equal(p->len, 3);
	assert_int_equal(p->captured, 3);
	assert_memory_equal(p->text, TEXT, 3);
}

static void expect_fragment(
	const struct packet *p, uint32_t id, uint32_t offset, bool more, uint32_t len)
{
	assert_int_equal(p->src.addr.b[15], 1);
	assert_int_equal(p->dst.addr.b[15], 2);
	assert_int_equal(p->id, id);
	assert_int_equal(p->offset, offset);
	assert_int_equal(p->more, more);
	assert_int_equal(p->len, len);
	assert_int_equal(p->captured, len);
}

static void test_links(void **state)
{
	struct packet p;

	/* Padding to Ethernet's 60 octets is no text. */
	assert_int_equal(PARSE(1, MACS "\x08\0" IPV4 TCP TEXT "\0\0\0", &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(1, MACS "\x81\0\0\5\x08\0" IPV4 TCP TEXT, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(
		PARSE(1, MACS "\x88\xa8\0\5\x81\0\0\6\x08\0" IPV4 TCP TEXT, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(1, MACS "\x86\xdd" IPV6("\x17", "\6") TCP TEXT, &p), PACKET_TCP);
	expect(&p, false);
	assert_int_equal(
		PARSE(113, "\0\0\0\1\0\6\2\0\0\0\0\1\0\0\x08\0" IPV4 TCP TEXT, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(
		PARSE(276,
			"\x86\xdd\0\0\0\0\0\1\0\1\0\6\2\0\0\0\0\1\0\0" IPV6("\x17", "\6") TCP TEXT,
			&p),
		PACKET_TCP);
	expect(&p, false);
	assert_int_equal(PARSE(0, "\2\0\0\0" IPV4 TCP TEXT, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(108, "\0\0\0\x18" IPV6("\x17", "\6") TCP TEXT, &p), PACKET_TCP);
	expect(&p, false);
	assert_int_equal(PARSE(101, IPV4 TCP TEXT, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(12, IPV6("\x17", "\6") TCP TEXT, &p), PACKET_TCP);
	expect(&p, false);
	/* IEEE 802.3: a length, and SNAP. */
	assert_int_equal(
		PARSE(1, MACS "\0\x33\xaa\xaa\3\0\0\0\x08\0" IPV4 TCP TEXT, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(1, MACS "\x81\0\0\5\0\x33\xaa\xaa\3\0\0\0\x08\0" IPV4 TCP TEXT, &p),
		PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(1, MACS "\0\x33\xaa\xaa\3\0\0\x0c\x20\0" IPV4, &p), PACKET_OTHER);
	assert_non_null(p.unread);
	assert_int_equal(PARSE(1, MACS "\0\3\x42\x42\3", &p), PACKET_OTHER);
	assert_null(p.unread);
	assert_int_equal(PARSE(147, IPV4 TCP TEXT, &p), PACKET_OTHER);
	assert_int_equal(PARSE(1, MACS "\x08\6" IPV4 TCP TEXT, &p), PACKET_OTHER);
}

static void test_ipv6_extensions(void **state)
{
	struct packet p;

	assert_int_equal(PARSE(101,
				 IPV6("\x27", "\0") "\x3c\0\0\0\0\0\0\0"
						    "\6\0\0\0\0\0\0\0" TCP TEXT,
				 &p),
		PACKET_TCP);
	expect(&p, false);
	/* An authentication header counts in fours, less two. */
	assert_int_equal(PARSE(101, IPV6("\x23", "\x33") "\6\1\0\0\0\0\0\0\0\0\0\0" TCP TEXT, &p),
		PACKET_TCP);
	expect(&p, false);
	/* A fragment header on a packet that is whole, and on one that is not. */
	assert_int_equal(
		PARSE(101, IPV6("\x1f", "\x2c") "\6\0\0\0\0\0\0\1" TCP TEXT, &p), PACKET_TCP);
	expect(&p, false);
	assert_int_equal(PARSE(101, IPV6("\x20", "\x2c") "\6\0\0\1\1\2\3\4" TCP TEXT "!", &p),
		PACKET_FRAGMENT);
	expect_fragment(&p, 0x01020304, 0, true, 24);
	assert_int_equal(PARSE(101, IPV6("\x1f", "\x2c") "\6\0\1\x08\0\0\0\7" TCP TEXT, &p),
		PACKET_FRAGMENT);
	expect_fragment(&p, 7, 0x108, false, 23);
	/* Not in eights, but more is to follow; and nothing. */
	assert_int_equal(
		PARSE(101, IPV6("\x1f", "\x2c") "\6\0\0\1\0\0\0\1" TCP TEXT, &p), PACKET_BAD);
	assert_int_equal(PARSE(101, IPV6("\x08", "\x2c") "\6\0\0\x08\0\0\0\1", &p), PACKET_BAD);
	/* Of what may have TCP inside; and of ICMP, which has none. */
	assert_int_equal(PARSE(101, IPV6("\x20", "\x2c") "\x11\0\0\1\0\0\0\1" TCP TEXT "!", &p),
		PACKET_FRAGMENT);
	assert_int_equal(p.protocol, 17);
	assert_int_equal(PARSE(101, IPV6("\x20", "\x2c") "\x3a\0\0\1\0\0\0\1" TCP TEXT "!", &p),
		PACKET_OTHER);
	/* Extension headers behind that of a fragment that is whole. */
	assert_int_equal(
		PARSE(101, IPV6("\x27", "\x2c") "\x3c\0\0\0\0\0\0\1\6\0\1\4\0\0\0\0" TCP TEXT, &p),
		PACKET_TCP);
	expect(&p, false);
	assert_int_equal(PARSE(101, IPV6("\x17", "\x11") TCP TEXT, &p), PACKET_OTHER);
	/* An extension that is longer than the packet. */
	assert_int_equal(PARSE(101, IPV6("\x08", "\0") "\6\xff\0\0\0\0\0\0", &p), PACKET_BAD);
}

/** An IPv4 header with first octet, total length, Identification, fragment field and protocol
 * given. */
#define IP(first, len, id, fragment, protocol) \
	first "\0" len id fragment "\x40" protocol "\0\0\x0a\0\0\1\x0a\0\0\2"
#define BYTES(text) text, sizeof(text) - 1

static void test_ipv4(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum packet_kind kind;
	} t[] = {
		{BYTES(IP("\x45", "\0\x2b", "\0\0", "\0\0", "\6") TCP TEXT), PACKET_TCP},
		{BYTES(IP("\x46", "\0\x2f", "\0\0", "\0\0", "\6") "\1\1\1\1" TCP TEXT), PACKET_TCP},
		/* DF is no fragment. */
		{BYTES(IP("\x45", "\0\x2b", "\0\0", "\x40\0", "\6") TCP TEXT), PACKET_TCP},
		/* Total length 0: the NIC would have cut it into packets. */
		{BYTES(IP("\x45", "\0\0", "\0\0", "\0\0", "\6") TCP TEXT), PACKET_TCP},
		{BYTES(IP("\x45", "\0\x2b", "\0\0", "\0\0", "\x11") TCP TEXT), PACKET_OTHER},
		/* More is to follow what is not in eights; lengths that cannot be. */
		{BYTES(IP("\x45", "\0\x2b", "\0\0", "\x20\0", "\6") TCP TEXT), PACKET_BAD},
		{BYTES(IP("\x45", "\xff\x2b", "\0\0", "\0\0", "\6") TCP TEXT), PACKET_BAD},
		{BYTES(IP("\x44", "\0\x2b", "\0\0", "\0\0", "\6") TCP TEXT), PACKET_BAD},
	};
	struct packet p;

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		assert_int_equal(parse(101, t[i].bytes, t[i].len, t[i].len, &p), t[i].kind);
		if (t[i].kind == PACKET_TCP)
			expect(&p, true);
	}
}

static void test_ipv4_fragments(void **state)
{
	struct packet p;

	assert_int_equal(PARSE(101, IP("\x45", "\0\x2c", "\4\5", "\x20\0", "\6") TCP TEXT "!", &p),
		PACKET_FRAGMENT);
	expect_fragment(&p, 0x0405, 0, true, 24);
	assert_int_equal(PARSE(101, IP("\x45", "\0\x2b", "\0\0", "\0\1", "\6") TCP TEXT, &p),
		PACKET_FRAGMENT);
	expect_fragment(&p, 0, 8, false, 23);
}

/* Every length of what was captured: the headers are there or they are not. */
static void test_cut(void **state)
{
	static const char b[] = MACS "\x81\0\0\5\x08\0" IPV4 TCP TEXT;
	static const char b6[] = MACS "\x86\xdd" IPV6("\x1f", "\0") "\6\0\0\0\0\0\0\0" TCP TEXT;
	struct packet p;

	for (size_t here = 0; here < sizeof b - 1; here++) {
		size_t headers = 14 + 4 + 20 + 20;

		assert_int_equal(parse(1, b, here, sizeof b - 1, &p),
			here < headers ? PACKET_CUT : PACKET_TCP);
		if (here >= headers) {
			assert_int_equal(p.len, 3);
			assert_int_equal(p.captured, here - headers);
		}
		assert_int_not_equal(parse(1, b, here, here, &p), PACKET_TCP);
	}
	for (size_t here = 0; here < 14 + 40 + 8 + 20; here++)
		assert_int_equal(parse(1, b6, here, sizeof b6 - 1, &p), PACKET_CUT);
}

static void test_tcp(void **state)
{
	struct packet p;

	/* Options; cut off within them, the text has its length and nothing else. */
#define OPTIONS                                              \
	"\x45\0\0\x2f\0\0\0\0\x40\6\0\0\x0a\0\0\1\x0a\0\0\2" \
	"\x9c\x40\x1c\x06\0\0\0\1\0\0\0\2\x60\x18\xff\xff\0\0\0\0\1\1\1\1" TEXT
	assert_int_equal(PARSE(101, OPTIONS, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(parse(101, OPTIONS, 42, sizeof OPTIONS - 1, &p), PACKET_TCP);
	assert_int_equal(p.len, 3);
	assert_int_equal(p.captured, 0);
	/* A header of four words, and one longer than the packet. */
	assert_int_equal(
		PARSE(101, IPV4 "\x9c\x40\x1c\x06\0\0\0\1\0\0\0\2\x40\x18\xff\xff\0\0\0\0" TEXT,
			&p),
		PACKET_BAD);
	assert_int_equal(
		PARSE(101, IPV4 "\x9c\x40\x1c\x06\0\0\0\1\0\0\0\2\xf0\x18\xff\xff\0\0\0\0" TEXT,
			&p),
		PACKET_BAD);
}

/* What is in a tunnel, and in one in that. */
static void test_tunnels(void **state)
{
#define OUTER(protocol, len) "\x45\0" len "\0\0\0\0\x40" protocol "\0\0\xc0\0\2\1\xc0\0\2\2"
#define ETHER                MACS "\x08\0"
#define INNER                IPV4 TCP TEXT
	struct packet p;

	assert_int_equal(PARSE(1, ETHER OUTER("\x04", "\0\x3f") INNER, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(
		PARSE(1, ETHER OUTER("\x2f", "\0\x43") "\0\0\x08\0" INNER, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(
		PARSE(1, ETHER OUTER("\x2f", "\0\x55") "\x20\0\x65\x58\1\2\3\4" ETHER INNER, &p),
		PACKET_TCP);
	expect(&p, true);
	assert_int_equal(
		PARSE(1,
			ETHER OUTER("\x11",
				"\0\x5d") "\x12\x34\x12\xb5\0\x49\0\0\x08\0\0\0\0\0\1\0" ETHER
				INNER,
			&p),
		PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(1,
				 MACS "\x88\x47"
				      "\0\1\0\x40\0\2\1\x40" INNER,
				 &p),
		PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(1,
				 MACS "\x88\x47"
				      "\0\2\1\x40\0\0\0\0" ETHER INNER,
				 &p),
		PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(9, "\xff\3\0\x21" INNER, &p), PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(1,
				 MACS "\x88\x64"
				      "\x11\0\0\1\0\x2d\0\x21" INNER "padding",
				 &p),
		PACKET_TCP);
	expect(&p, true);
	assert_int_equal(PARSE(101, IPV6("\x2b", "\x04") INNER, &p), PACKET_TCP);
	expect(&p, true);
	/* Of UDP only VXLAN; labels without an end. */
	assert_int_equal(
		PARSE(1,
			ETHER OUTER("\x11",
				"\0\x5d") "\x12\x34\x12\xb6\0\x49\0\0\x08\0\0\0\0\0\1\0" ETHER
				INNER,
			&p),
		PACKET_OTHER);
	assert_int_equal(PARSE(1,
				 MACS "\x88\x47"
				      "\0\1\0\x40",
				 &p),
		PACKET_BAD);
}

/* Tunnels in each other have an end. */
static void test_deep_tunnels(void **state)
{
	uint8_t frame[14 + 4 * 4000];
	struct cap_frame f = {
		.link = 1, .captured = sizeof frame, .len = sizeof frame, .bytes = frame};
	struct packet p;

	/* MPLS, a control word, Ethernet with MPLS in it, and so on. */
	for (size_t i = 0; i + 22 <= sizeof frame; i += 22)
		memcpy(frame + i, MACS "\x88\x47\0\0\1\0\0\0\0\0", 22);
	assert_int_equal(packet_parse(&f, &p), PACKET_OTHER);
}

/* ---- TCP's checksum ------------------------------------------------------------------------- */

#define TCP_HEAD "\x9c\x40\x1c\x06\0\0\0\1\0\0\0\2\x50\x18\xff\xff"

#define PARSE_SUM(octets, want)                                        \
	do {                                                           \
		struct packet p_;                                      \
                                                                       \
		assert_int_equal(PARSE(101, octets, &p_), PACKET_TCP); \
		assert_int_equal(packet_sum(&p_), PACKET_SUM_##want);  \
	} while (0)

/* Computed by hand: with the pseudo header and "xyz", whose last octet has a zero behind it. */
static void test_sum(void **state)
{
	PARSE_SUM(IPV4 TCP_HEAD "\xf1\x03\0\0" TEXT, RIGHT);
	PARSE_SUM(IPV4 TCP_HEAD "\xf1\x03\0\0"
				"xyZ",
		WRONG);
	PARSE_SUM(IPV4 TCP_HEAD "\xf1\x04\0\0" TEXT, WRONG);
	PARSE_SUM(IPV4 TCP_HEAD "\0\0\0\0" TEXT, UNKNOWN);
	/* What is left to hardware: addresses, protocol, and the length or none. */
	PARSE_SUM(IPV4 TCP_HEAD "\x14\x20\0\0" TEXT, UNFILLED);
	PARSE_SUM(IPV4 TCP_HEAD "\x14\x09\0\0" TEXT, UNFILLED);
	PARSE_SUM(IPV6("\x17", "\6") TCP_HEAD "\x08\x02\0\0" TEXT, RIGHT);
	PARSE_SUM(IPV6("\x17", "\6") TCP_HEAD "\x08\x03\0\0" TEXT, WRONG);
	PARSE_SUM(IPV6("\x17", "\6") TCP_HEAD "\xfd\x21\0\0" TEXT, UNFILLED);
}

/* A source route: the sum is of the last address (RFC 8200 section 8.1), which is not looked for.
 */
static void test_sum_unknown(void **state)
{
	struct packet p;

	PARSE_SUM(IPV6("\x1f", "\x2b") "\6\0\0\0\0\0\0\0" TCP_HEAD "\1\1\0\0" TEXT, UNKNOWN);
	PARSE_SUM(IPV6("\x1f", "\0") "\6\0\0\0\0\0\0\0" TCP_HEAD "\1\1\0\0" TEXT, WRONG);
	/* Cut. */
	assert_int_equal(parse(101, IPV4 TCP_HEAD "\1\1\0\0" TEXT, 42, 43, &p), PACKET_TCP);
	assert_int_equal(packet_sum(&p), PACKET_SUM_UNKNOWN);
	/* Cut in the options, with no text behind them. */
	assert_int_equal(parse(101,
				 "\x45\0\0\x34\0\0\0\0\x40\6\0\0\x0a\0\0\1\x0a\0\0\2"
				 "\x9c\x40\x1c\x06\0\0\0\1\2\2\2\2\x80\x10\xff\xff\1\1\0\0\1\1\1\1",
				 44, 52, &p),
		PACKET_TCP);
	assert_int_equal(p.len, 0);
	assert_int_equal(packet_sum(&p), PACKET_SUM_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tunnels),
		cmocka_unit_test(test_deep_tunnels),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_ipv6_extensions),
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv4_fragments),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_sum_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
