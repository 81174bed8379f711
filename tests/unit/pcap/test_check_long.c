/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_case.h"

/*
 * Connections of more text than sequence numbers tell apart. Most of it is not captured.
 */

#define MIB (1u << 20)

/* What side 0 has sent, and side 1 acknowledged, is in no frame. Some frames tell of it. */
static void unseen(struct cap_maker *m, uint32_t len)
{
	m->seq[0] += len;
	for (unsigned i = 0; i < 40; i++) {
		cap_maker_packet(m, 1, m->seq[1], m->seq[0], 0x10, NULL, 0);
		cap_maker_write(m, 0, 100);
	}
}

/* The responder's first FPDU, when the initiator has sent so much. */
static void responder_late(struct cap_maker *m)
{
	cap_maker_start(m);
	cap_maker_send(m, 0, 1, 4);
	for (unsigned i = 0; i < 3; i++)
		unseen(m, 900 * MIB);
	cap_maker_send(m, 1, 1, 4);
}

/* The same, before the initiator's first FPDU had arrived. */
static void responder_early(struct cap_maker *m)
{
	uint32_t acked;

	cap_maker_start(m);
	acked = m->seq[0];
	cap_maker_send(m, 0, 1, 4);
	unseen(m, 32 * MIB);
	m->seq[0] = acked;
	cap_maker_send(m, 1, 1, 4);
}

/* A hole of so many octets, behind it as many segments, and then what is wrong. */
static void behind_hole(struct cap_maker *m, uint32_t len, unsigned segments)
{
	running(m);
	m->seq[0] += len;
	for (unsigned i = 0; i < segments; i++)
		cap_maker_write(m, 0, 100);
	fpdu(m, 0, "4149 00000000 00000000 00000077 00000000 01");
}

static void behind_1_gib(struct cap_maker *m)
{
	behind_hole(m, 1500 * MIB, 20);
}

static void behind_2_gib(struct cap_maker *m)
{
	behind_hole(m, 2500 * MIB, 20);
}

/* The end of the hole is at text that was there before, as far as numbers tell. */
static void behind_3_gib(struct cap_maker *m)
{
	behind_hole(m, 3900 * MIB, 5000);
}

/* Of both ends. */
static void behind_two(struct cap_maker *m)
{
	running(m);
	cap_maker_read_request(m, 0, 1, 8);
	m->seq[0] += 3900 * MIB;
	m->seq[1] += 1500 * MIB;
	for (unsigned i = 0; i < 20; i++)
		cap_maker_send(m, 1, 100 + i, 4);
	cap_maker_read_request(m, 0, 1000, 8);
	cap_maker_read_response(m, 1, 0x100, 8);
	fpdu(m, 0, "4149 00000000 00000000 00000077 00000000 01");
}

/* Segments with the numbers of elsewhere, and some between them that go on. */
static void forged(struct cap_maker *m)
{
	static const uint32_t far[] = {1500 * MIB, 2500 * MIB, 3900 * MIB};

	running(m);
	for (unsigned i = 0; i < 60; i++) {
		if (i % 8 == 7)
			cap_maker_write(m, 0, 100);
		else
			cap_maker_packet(m, 0, m->seq[0] + far[i % 3], m->seq[1], 0x18, "1234", 4);
	}
	fpdu(m, 0, "4149 00000000 00000000 00000002 00000000 01");
}

/* Another tap has it all again, late. */
static void late_tap(struct cap_maker *m)
{
	uint32_t was, now;

	running(m);
	was = m->seq[0];
	unseen(m, 100 * MIB);
	now = m->seq[0];
	m->seq[0] = was;
	for (unsigned i = 0; i < 2000; i++)
		cap_maker_packet(m, 0, was + i * 4, m->seq[1], 0x18, "1234", 4);
	m->seq[0] = now;
	fpdu(m, 0, "4149 00000000 00000000 00000077 00000000 01");
}

/* And has its copies of what was before the Terminate, and somebody forges one between them. */
static void late_tap_long(struct cap_maker *m)
{
	uint32_t was;

	m->crc = true;
	running(m);
	was = m->seq[0];
	unseen(m, 100 * MIB);
	fpdu(m, 0, TERMINATE "0207 0000");
	m->seq[0] = was;
	for (unsigned i = 0; i < 10000; i++) {
		cap_maker_write(m, 0, 100);
		if (i == 9000)
			cap_maker_packet(m, 0, was + 1500 * MIB, m->seq[1], 0x18, "1234", 4);
	}
}

/* Side 0 has more in flight than what can be sent again; side 1 acknowledges what was before. */
static void in_flight(struct cap_maker *m)
{
	uint32_t acked = m->seq[0];

	m->seq[0] += 100 * MIB;
	for (unsigned i = 0; i < 300; i++)
		cap_maker_write(m, 0, 100);
	for (unsigned i = 0; i < 40; i++) {
		uint32_t now = m->seq[0];

		m->seq[0] = acked + i;
		cap_maker_write(m, 1, 100);
		m->seq[0] = now;
		cap_maker_write(m, 0, 100);
	}
	m->seq[0] = acked + 40;
	fpdu(m, 1, "4149 00000000 00000000 00000077 00000000 01");
}

static void in_flight_behind_hole(struct cap_maker *m)
{
	running(m);
	m->seq[0] += 1500 * MIB;
	for (unsigned i = 0; i < 20; i++)
		cap_maker_write(m, 0, 100);
	in_flight(m);
}

static const struct check_case cases[] = {
	{"behind 1.5 GiB", behind_1_gib, "RDMAX-6.3-5", {NULL}},
	{"behind 2.4 GiB", behind_2_gib, "RDMAX-6.3-5", {NULL}},
	{"behind 3.8 GiB", behind_3_gib, "RDMAX-6.3-5", {NULL}},
	{"behind a hole of both ends", behind_two, "RDMAX-6.3-5", {NULL}},
	{"forged segments of elsewhere", forged, "RDMAX-6.3-5", {NULL}},
	{"a second tap, late", late_tap, "RDMAX-6.3-5", {NULL}},
	{"a second tap, late, and long", late_tap_long, "", {NULL}},
	{"a hole, and then more in flight than what is old", in_flight_behind_hole,
		"DDP-4.3-8 RDMAX-6.3-5", {NULL}},
	{"the responder's first FPDU, after 2.6 GiB", responder_late, "", {NULL}},
	{"the responder's first FPDU, too early", responder_early, "MPA-7.1.2-12", {NULL}},
};

static void test_cases(void **state)
{
	check_cases(cases, sizeof cases / sizeof *cases);
}

/* Joined in the middle, where nothing was acknowledged yet. */
static void test_joined_in_flight(void **state)
{
	static const struct follow_config config = {.ports = {7174}, .num_ports = 1};
	char ids[CHECK_IDS_LEN];
	struct cap_maker m;

	cap_maker_init(&m);
	m.crc = true;
	cap_maker_write(&m, 0, 100);
	in_flight(&m);
	check_found(&m, &config, ids);
	assert_string_equal(ids, "RDMAX-6.3-5");
	cap_maker_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined_in_flight),
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
