/* SPDX-License-Identifier: BSD-2-Clause */
#include "follow_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A SYN alone begins nothing; what is sent behind it does, where its answer was not captured. */
static void test_foreign_syn(void **state)
{
	struct cap_maker m;

	for (unsigned side = 0; side < 2; side++) {
		connected(&m);
		cap_maker_packet(&m, side, 0x70000000, 0, PACKET_SYN, NULL, 0);
		cap_maker_request(&m);
		cap_maker_reply(&m);
		cap_maker_packet(&m, side, 0x70000000, 0, PACKET_SYN, NULL, 0);
		cap_maker_send(&m, 0, 1, 10);
		expect(&m, "ORP>C");
	}
	cap_maker_init(&m);
	cap_maker_start(&m);
	m.seq[0] = 900000;
	m.at[0] = 0;
	cap_maker_packet(&m, 0, m.seq[0]++, 0, PACKET_SYN, NULL, 0);
	cap_maker_packet(&m, 0, m.seq[0], 700001, PACKET_ACK, NULL, 0);
	cap_maker_request(&m);
	expect(&m, "ORPCORC");
}

/* The answer to the second SYN is missing: the first one's says nothing of it. */
static void test_reused_half_seen(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_handshake(&m);
	cap_maker_packet(&m, 0, m.seq[0], 0, PACKET_RST, NULL, 0);
	m.seq[0] = 900000;
	cap_maker_packet(&m, 0, m.seq[0]++, 0, PACKET_SYN, NULL, 0);
	m.seq[1] = 0x70000001;
	cap_maker_packet(&m, 0, m.seq[0], m.seq[1], PACKET_ACK, NULL, 0);
	cap_maker_request(&m);
	cap_maker_reply(&m);
	cap_maker_send(&m, 0, 1, 10);
	expect(&m, "ORP>C");
}

/* The same addresses and ports again, with other sequence numbers. */
static void test_reused(void **state)
{
	static const struct follow_config config;
	struct cap_maker m;
	struct heard h;

	cap_maker_init(&m);
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	m.seq[0] = 90000;
	m.seq[1] = 70000;
	m.at[0] = 0;
	cap_maker_start(&m);
	cap_maker_send(&m, 0, 1, 10);
	follow(&m, &config, &h);
	assert_string_equal(h.text, "ORP>CORP>C");
	assert_int_equal(h.connections, 2);
}

/* A moment after the first, which was refused: its numbers are near (RFC 6528 section 3). */
static void test_reused_at_once(void **state)
{
	static const struct follow_config config;
	static const uint32_t ahead[] = {1, 250, 1250, 65000, 66000, 1000000};
	struct cap_maker m;
	struct heard h;

	for (unsigned i = 0; i < sizeof ahead / sizeof *ahead; i++) {
		cap_maker_init(&m);
		cap_maker_start(&m);
		cap_maker_packet(&m, 1, m.seq[1], m.seq[0], PACKET_RST | PACKET_ACK, NULL, 0);
		m.seq[0] += ahead[i];
		m.seq[1] += ahead[i];
		m.at[0] = 0;
		cap_maker_start(&m);
		cap_maker_send(&m, 0, 1, 10);
		follow(&m, &config, &h);
		assert_int_equal(h.connections, 2);
	}
}

static void syn(struct cap_maker *m, unsigned side, uint32_t seq, uint32_t ack)
{
	cap_maker_packet(m, side, seq, ack, ack ? PACKET_SYN | PACKET_ACK : PACKET_SYN, NULL, 0);
}

/* What the ends of cap_maker_handshake() send, SYN and SYN with ACK; then the ACK. */
static void real_syns(struct cap_maker *m)
{
	syn(m, 0, m->seq[0]++, 0);
	syn(m, 1, m->seq[1]++, m->seq[0]);
}

static void real_ack(struct cap_maker *m)
{
	cap_maker_packet(m, 0, m->seq[0], m->seq[1], PACKET_ACK, NULL, 0);
}

/*
 * SYNs that neither end has sent, or in another connection, before there is text: the handshake is
 * the one that the ACK and the text behind it go on from. The Request is in two segments: its key
 * tells nothing by itself.
 */
static void expect_whole_in_pieces(struct cap_maker *m)
{
	uint8_t frame[24] = MPA_REQUEST_KEY "\x50\2\0\4\0\4\0\4";

	cap_maker_text(m, 0, frame, 10);
	cap_maker_text(m, 0, frame + 10, sizeof frame - 10);
	cap_maker_reply(m);
	cap_maker_send(m, 0, 1, 10);
	expect(m, "ORP>C");
}

static void test_foreign_syn_ack(void **state)
{
	static const uint32_t acks[] = {1, 0x60000000, 1001};
	struct cap_maker m;

	for (unsigned i = 0; i < 8 * 3 * 2 * 2; i++) {
		unsigned where = i % 8, side = i / 24 % 2;
		uint32_t ack = acks[i / 8 % 3];

		cap_maker_init(&m);
		for (unsigned at = 0; at < 4; at++) {
			/* Where it says, and at the next place another of them. */
			if (where == at || (where >= 4 && where - 4 == at))
				syn(&m, side, 0x70000000, ack);
			if (where >= 4 && (where - 4 + 1) % 4 == at)
				syn(&m, !side, 0x20000000, ack + 7);
			if (at == 0)
				syn(&m, 0, m.seq[0]++, 0);
			else if (at == 1)
				syn(&m, 1, m.seq[1]++, m.seq[0]);
			else if (at == 2 && i < 48)
				real_ack(&m);
		}
		expect_whole_in_pieces(&m);
	}
}

/* The handshake of a connection that nobody used is followed by another. */
static void test_another_handshake(void **state)
{
	struct cap_maker m;

	cap_maker_init(&m);
	cap_maker_handshake(&m);
	m.seq[0] = 0x30000000;
	m.seq[1] = 0x40000000;
	real_syns(&m);
	real_ack(&m);
	expect_whole_in_pieces(&m);
	/* Between them, and behind them, one that nobody has sent. */
	cap_maker_init(&m);
	cap_maker_handshake(&m);
	m.seq[0] = 0x30000000;
	m.seq[1] = 0x40000000;
	syn(&m, 0, m.seq[0]++, 0);
	syn(&m, 1, 0x70000000, 0x60000000);
	syn(&m, 1, m.seq[1]++, m.seq[0]);
	syn(&m, 1, 0x70000000, 0x60000000);
	real_ack(&m);
	expect_whole_in_pieces(&m);
}

/* The real handshake is not in the capture: the text tells where it begins. */
static void test_foreign_syn_ack_alone(void **state)
{
	struct cap_maker m;

	for (unsigned side = 0; side < 2; side++) {
		cap_maker_init(&m);
		syn(&m, side, 0x70000000, 0x60000000);
		expect_whole(&m);
	}
}

/* Behind text that is not iWARP, or behind an end, a SYN that nobody answers begins nothing. */
static void test_foreign_syn_later(void **state)
{
	struct cap_maker m;

	for (unsigned side = 0; side < 4; side++) {
		connected(&m);
		cap_maker_text(&m, 0, "hello, shall we?", 16);
		syn(&m, side % 2, 0x70000000, side < 2 ? 0 : 0x60000000);
		cap_maker_text(&m, 1, "yes", 3);
		syn(&m, side % 2, 0x50000000, side < 2 ? 0 : 0x60000000);
		cap_maker_text(&m, 0, "now", 3);
		expect_whole(&m);
	}
	connected(&m);
	cap_maker_fin(&m, 0);
	cap_maker_fin(&m, 1);
	syn(&m, 0, 0x70000000, 0);
	m.seq[0] = 0x30000000;
	m.seq[1] = 0x40000000;
	real_syns(&m);
	syn(&m, 1, 0x70000000, 0x60000000);
	expect_whole_in_pieces(&m);
}

/* A connection that has ended is followed by another, whose handshake is partly in the capture. */
static void test_reused_behind_the_end(void **state)
{
	struct cap_maker m;

	for (unsigned seen = 1; seen < 8; seen++) {
		uint8_t frame[24] = MPA_REQUEST_KEY "\x50\2\0\4\0\4\0\4";

		cap_maker_init(&m);
		cap_maker_start(&m);
		cap_maker_fin(&m, 0);
		cap_maker_fin(&m, 1);
		m.seq[0] = 0x30000000;
		m.seq[1] = 0x40000000;
		m.at[0] = m.at[1] = 0;
		if (seen & 1)
			syn(&m, 0, m.seq[0], 0);
		m.seq[0]++;
		if (seen & 2)
			syn(&m, 1, m.seq[1], m.seq[0]);
		m.seq[1]++;
		if (seen & 4)
			real_ack(&m);
		cap_maker_text(&m, 0, frame, 10);
		cap_maker_text(&m, 0, frame + 10, sizeof frame - 10);
		cap_maker_reply(&m);
		cap_maker_send(&m, 0, 1, 10);
		expect(&m, seen == 4 ? "ORP..C" : "ORP..CORP>C");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign_syn),
		cmocka_unit_test(test_foreign_syn_ack),
		cmocka_unit_test(test_another_handshake),
		cmocka_unit_test(test_foreign_syn_ack_alone),
		cmocka_unit_test(test_foreign_syn_later),
		cmocka_unit_test(test_reused_behind_the_end),
		cmocka_unit_test(test_reused_half_seen),
		cmocka_unit_test(test_reused),
		cmocka_unit_test(test_reused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
