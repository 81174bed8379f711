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
	unseen(m, 900 * MIB);
	m->seq[0] = acked;
	cap_maker_send(m, 1, 1, 4);
}

static const struct check_case cases[] = {
	{"the responder's first FPDU, after 2.6 GiB", responder_late, "", {NULL}},
	{"the responder's first FPDU, too early", responder_early, "MPA-7.1.2-12", {NULL}},
};

static void test_cases(void **state)
{
	check_cases(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
