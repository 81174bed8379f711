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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign_syn),
		cmocka_unit_test(test_reused_half_seen),
		cmocka_unit_test(test_reused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
